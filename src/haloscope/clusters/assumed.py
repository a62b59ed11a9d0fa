# SPDX-License-Identifier: BSD-3-Clause
"""What of a cluster file is assumed, or taken where it says nothing: places, numbers, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.defaults import Keys, defaults
from haloscope.errors import dotted

_ASSUMED = re.compile(r"\bassumed\b")
"""What a source says of what no data sheet, paper or calibration has."""


@dataclass(frozen=True)
class Assumed:
    """A number with its unit in its key, or (value None) counts and names beside a source.

    place: the keys that lead to it in the file. given: whether it is there; else it is what
    simulations take (defaults.py). scalable: whether `scaled` can make another one of it.
    """

    place: Keys
    value: float | None
    source: str
    given: bool = True
    scalable: bool = True

    @property
    def where(self) -> str:
        """The place, as messages and cluster files have it."""
        return dotted(self.place)


def assumed(cluster: Cluster) -> tuple[Assumed, ...]:
    """All of them: what the file assumes in the order of its tables, then what it does not say."""
    said = cluster.model_dump(exclude_none=True)
    absent = (Assumed(d.place, d.value, d.source, False, d.scalable) for d in defaults(cluster))
    return (*_found(said), *absent)


def numbers(cluster: Cluster) -> tuple[Assumed, ...]:
    """Those that are one number each, of which another could be tried."""
    return tuple(one for one in assumed(cluster) if one.value is not None and one.scalable)


def scaled(cluster: Cluster, one: Assumed, factor: float) -> Cluster:
    """The same cluster with that number multiplied. ValueError for what is no number."""
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
