"""How far apart the ranks of a case really ran: what each said of its processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.cpulist import parse_cpu_list
from haloscope.evidence import MeasuredCase
from haloscope.machine import GROUPS

OVERSUBSCRIBED = "oversubscribed"
SAME_NODE, OTHER_SOCKET, OTHER_NODE = "same-node", "other-socket", "other-node"
"""Same node: somewhere on it, where its topology is not known."""

_Place = tuple[str, frozenset[int]]


def widest(case: MeasuredCase) -> str | None:
    """The farthest that a rank lies from the next, the last from the first.

    One of "same-core" (two of its hardware threads), "same-cache" (the last one), "same-numa",
    "same-socket", "other-socket", "same-node" (where no topology is known), "other-node"; with
    ", cores shared" where some core has two ranks but not all lie so; "oversubscribed" where ranks
    share processors. None for one rank, and where ranks did not say where they were.
    """
    record = next(iter(case.launches), None)
    if record is None or case.ranks < 2 or len(record.layout.get("seen") or ()) != case.ranks:
        return None
    places = _places(record.layout["seen"])
    if case.oversubscribed or _shared(places):
        return OVERSUBSCRIBED
    groups = _groups(record.machine or {})
    around = [*places[1:], places[0]]
    found = {_relation(*pair, groups) for pair in zip(places, around, strict=True)}
    far = max(found, key=_ORDER.index)
    cores = [_core(place, groups) for place in places]
    return f"{far}, cores shared" if far != _ORDER[0] and len({*cores}) < len(cores) else far


_ORDER = (*(f"same-{name}" for name in GROUPS), OTHER_SOCKET, SAME_NODE, OTHER_NODE)


def _places(seen: Sequence[Mapping[str, Any]]) -> list[_Place]:
    """Host and processors of each rank; simulated ones, which name none, fill a node in order."""
    before: dict[str, int] = {}
    places = []
    for rank in seen:
        host = rank["host"]
        place = before[host] = before.get(host, -1) + 1
        places.append((host, frozenset(rank.get("cpus") or [place])))
    return places


def _shared(places: Sequence[_Place]) -> bool:
    taken = [(host, cpu) for host, cpus in places for cpu in cpus]
    return len(set(taken)) < len(taken)


def _groups(machine: Mapping[str, Any]) -> dict[str, list[frozenset[int]]]:
    told = machine.get("topology") or {}
    return {
        name: [frozenset(parse_cpu_list(text)) for text in told[name]]
        for name in GROUPS
        if name in told
    }


def _relation(one: _Place, other: _Place, groups: Mapping[str, Sequence[frozenset[int]]]) -> str:
    if one[0] != other[0]:
        return OTHER_NODE
    both = one[1] | other[1]
    inside = (name for name, those in groups.items() if any(both <= group for group in those))
    return next((f"same-{name}" for name in inside), OTHER_SOCKET if groups else SAME_NODE)


def _core(place: _Place, groups: Mapping[str, Sequence[frozenset[int]]]) -> tuple[str, int]:
    """Where a rank's core is: its first processor's first hardware thread."""
    host, cpus = place
    first = min(cpus)
    return host, min(next((core for core in groups.get("core", ()) if first in core), {first}))
