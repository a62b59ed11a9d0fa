# SPDX-License-Identifier: BSD-3-Clause
"""Distance between the ranks of a case, from the processors they reported or were simulated on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.host.machine import GROUPS
from haloscope.layout import Layout
from haloscope.quantities import parse_cpu_list

OVERSUBSCRIBED = "oversubscribed"
SAME_NODE, OTHER_SOCKET, OTHER_NODE = "same-node", "other-socket", "other-node"
"""Same node: at an unknown place on it, if processors or topology are unknown."""

_Place = tuple[str, frozenset[int]]
_Groups = Mapping[str, Sequence[frozenset[int]]]


def widest(case: MeasuredCase) -> str | None:
    """Return the largest distance between consecutive ranks, including from the last to the first.

    One of "same-core" (two of its hardware threads), "same-cache" (the last level), "same-numa",
    "same-socket", "other-socket", "same-node" (if no more is known), "other-node"; followed by ",
    cores shared" if some core has two ranks but not all ranks are that close; "oversubscribed" if
    ranks share processors. None for one rank, and if ranks did not report their places.
    """
    record = next(iter(case.launches), None)
    if record is None or case.ranks < 2:
        return None
    machine = record.machine or {}
    if case.simulated:
        seen, groups = _simulated(record.layout, machine)
    else:
        seen, groups = record.layout.get("seen") or [], _groups(machine)
    if len(seen) != case.ranks:
        return None
    places = [(str(rank["host"]), frozenset(rank.get("cpus") or ())) for rank in seen]
    if case.oversubscribed or _shared(places):
        return OVERSUBSCRIBED
    around = [*places[1:], places[0]]
    found = {_relation(*pair, groups) for pair in zip(places, around, strict=True)}
    far = max(found, key=_ORDER.index)
    cores = [_core(place, groups) for place in places if place[1]]
    return f"{far}, cores shared" if far != _ORDER[0] and len({*cores}) < len(cores) else far


_ORDER = (*(f"same-{name}" for name in GROUPS), OTHER_SOCKET, SAME_NODE, OTHER_NODE)


def _simulated(
    layout: Mapping[str, Any], machine: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], _Groups]:
    """Return the nodes and processors of simulated ranks, as requested, and the sockets.

    Processors are numbered socket by socket. They are unknown if the machine's cores are unknown.
    """
    asked = Layout.recorded(layout)
    nodes = asked.nodes_of_ranks
    a_core = machine.get("threads_per_core") or 1 if asked.places == "threads" else 1
    processors = (machine.get("cores") or 0) * a_core
    if processors < max(Counter(nodes).values()) * asked.threads:
        return [{"host": node} for node in nodes], {}
    every = range(processors)
    left = {node: iter(asked.seats(every, ranks)) for node, ranks in Counter(nodes).items()}
    own = processors // (machine.get("sockets") or 1)
    sockets = [frozenset(every[first : first + own]) for first in range(0, processors, own)]
    return [{"host": node, "cpus": next(left[node])} for node in nodes], {"socket": sockets}


def _shared(places: Sequence[_Place]) -> bool:
    taken = [(host, cpu) for host, cpus in places for cpu in cpus]
    return len(set(taken)) < len(taken)


def _groups(machine: Mapping[str, Any]) -> _Groups:
    topology = machine.get("topology") or {}
    return {
        name: [frozenset(parse_cpu_list(text)) for text in topology[name]]
        for name in GROUPS
        if name in topology
    }


def _relation(one: _Place, other: _Place, groups: _Groups) -> str:
    if one[0] != other[0]:
        return OTHER_NODE
    both = one[1] | other[1]
    if not (one[1] and other[1] and groups):
        return SAME_NODE
    inside = (name for name, those in groups.items() if any(both <= group for group in those))
    return next((f"same-{name}" for name in inside), OTHER_SOCKET)


def _core(place: _Place, groups: _Groups) -> tuple[str, int]:
    """Return the core of a rank: the first hardware thread of its first processor."""
    host, cpus = place
    first = min(cpus)
    return host, min(next((core for core in groups.get("core", ()) if first in core), {first}))
