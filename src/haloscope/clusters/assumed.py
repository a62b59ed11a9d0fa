"""What of a cluster file is assumed: its places, its numbers, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from haloscope.clusters.schema import Cluster
from haloscope.errors import dotted

_ASSUMED = re.compile(r"\bassumed\b")
"""What a source says of what no data sheet, paper or calibration has."""

Keys = tuple[int | str, ...]


@dataclass(frozen=True)
class Assumed:
    """A number with its unit in its key, or (value None) counts and names beside a source.

    place: the keys that lead to it in the file.
    """

    place: Keys
    value: float | None
    source: str

    @property
    def where(self) -> str:
        """The place, as messages and cluster files have it."""
        return dotted(self.place)


def assumed(cluster: Cluster) -> tuple[Assumed, ...]:
    """All of them, in the order of the file's tables."""
    return tuple(_found(cluster.model_dump(exclude_none=True)))


def numbers(cluster: Cluster) -> tuple[Assumed, ...]:
    """Those that are one number each."""
    return tuple(one for one in assumed(cluster) if one.value is not None)


def scaled(cluster: Cluster, one: Assumed, factor: float) -> Cluster:
    """The same cluster with that number multiplied. ValueError for what is no number."""
    if one.value is None:
        raise ValueError(f"{one.where} is no number")
    data = cluster.model_dump()
    table: Any = data
    for key in one.place:
        table = table[key]
    table.update(value=one.value * factor, low=None, high=None)
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
