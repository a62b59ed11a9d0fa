"""How far apart the ranks of a case really ran: what each said of its processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.host.cpulist import parse_cpu_list
from haloscope.host.machine import GROUPS
from haloscope.study.case import Layout

OVERSUBSCRIBED = "oversubscribed"
SAME_NODE, OTHER_SOCKET, OTHER_NODE = "same-node", "other-socket", "other-node"
"""Same node: somewhere on it, where processors or topology are not known, as in simulations."""

_Place = tuple[str, frozenset[int]]


def widest(case: MeasuredCase) -> str | None:
    """The farthest that a rank lies from the next, the last from the first.

    One of "same-core" (two of its hardware threads), "same-cache" (the last one), "same-numa",
    "same-socket", "other-socket", "same-node" (where no more is known), "other-node"; with
    ", cores shared" where some core has two ranks but not all lie so; "oversubscribed" where ranks
    share processors. None for one rank, and where ranks did not say where they were.
    """
    record = next(iter(case.launches), None)
    seen = record.layout.get("seen") if record else None
    if record is not None and case.simulated:
        seen = _simulated(record.layout)
    if record is None or case.ranks < 2 or not seen or len(seen) != case.ranks:
        return None
    places = [(str(rank["host"]), frozenset(rank.get("cpus") or ())) for rank in seen]
    if case.oversubscribed or _shared(places):
        return OVERSUBSCRIBED
    groups = _groups(record.machine or {})
    around = [*places[1:], places[0]]
    found = {_relation(*pair, groups) for pair in zip(places, around, strict=True)}
    far = max(found, key=_ORDER.index)
    cores = [_core(place, groups) for place in places if place[1]]
    return f"{far}, cores shared" if far != _ORDER[0] and len({*cores}) < len(cores) else far


_ORDER = (*(f"same-{name}" for name in GROUPS), OTHER_SOCKET, SAME_NODE, OTHER_NODE)


def _simulated(layout: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The nodes of simulated ranks, which are where they were asked to be."""
    keys = ("nodes", "ppn", "tasks", "mapping", "mapping_seed")
    asked = Layout(**{key: layout[key] for key in keys if layout.get(key) is not None})
    return [{"host": node} for node in asked.nodes_of_ranks]


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
    if not (one[1] and other[1] and groups):
        return SAME_NODE
    inside = (name for name, those in groups.items() if any(both <= group for group in those))
    return next((f"same-{name}" for name in inside), OTHER_SOCKET)


def _core(place: _Place, groups: Mapping[str, Sequence[frozenset[int]]]) -> tuple[str, int]:
    """Where a rank's core is: its first processor's first hardware thread."""
    host, cpus = place
    first = min(cpus)
    return host, min(next((core for core in groups.get("core", ()) if first in core), {first}))
