# SPDX-License-Identifier: BSD-3-Clause
"""Assumed numbers of a cluster file, and defaults of missing ones: place, value, and reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.defaults import Keys, defaults
from haloscope.errors import dotted

_ASSUMED = re.compile(r"\bassumed\b")
"""The word in a source that marks a value without a data sheet, paper, or calibration."""


@dataclass(frozen=True)
class Assumed:
    """An assumed number with the unit in its key, or (value None) counts and names with a source.

    place: the keys that lead to it in the file. given: whether the file contains it; otherwise it
    is a default of simulations (defaults.py). scalable: whether `scaled` can change it.
    """

    place: Keys
    value: float | None
    source: str
    given: bool = True
    scalable: bool = True

    @property
    def where(self) -> str:
        """The place, as in messages and cluster files."""
        return dotted(self.place)


def assumed(cluster: Cluster) -> tuple[Assumed, ...]:
    """Return all of them: assumptions of the file in the order of its tables, then defaults."""
    said = cluster.model_dump(exclude_none=True)
    absent = (Assumed(d.place, d.value, d.source, False, d.scalable) for d in defaults(cluster))
    return (*_found(said), *absent)


def numbers(cluster: Cluster) -> tuple[Assumed, ...]:
    """Return those that are a single number that can be varied."""
    return tuple(one for one in assumed(cluster) if one.value is not None and one.scalable)


def scaled(cluster: Cluster, one: Assumed, factor: float) -> Cluster:
    """Return the cluster with that number multiplied. Raise ValueError if it is not a number."""
    if one.value is None or not one.scalable:
        raise ValueError(f"{one.where} is not a number")
    data = cluster.model_dump()
    *way, last = one.place
    table: Any = data
    for key in way:
        table = table[key]
    before = table.get(last) or {}
    kept = {"set_by": before["set_by"]} if "set_by" in before else {}
    table[last] = {"value": one.value * factor, "source": one.source, **kept}
    return Cluster.model_validate({**data, "name": cluster.name})


def _found(data: Any, place: Keys = ()) -> Iterator[Assumed]:
    if isinstance(data, dict):
        source = data.get("source")
        if isinstance(source, str) and _ASSUMED.search(source):
            yield Assumed(place, data.get("value"), source)
    if isinstance(data, dict | list | tuple):
        parts = data.items() if isinstance(data, dict) else enumerate(data)
        for key, part in parts:
            yield from _found(part, (*place, key))
