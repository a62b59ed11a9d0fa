# SPDX-License-Identifier: BSD-3-Clause
"""Message models fitted to measured times, and the size at which sends start to wait."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from math import inf
from operator import itemgetter
from statistics import median
from typing import Any

import numpy as np

from haloscope.analysis import remembered
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.host.machine import GROUPS
from haloscope.layout import Layout
from haloscope.models import curve, hockney, loggp, piecewise_hockney, ring
from haloscope.models.hockney import Ends
from haloscope.models.intervals import Intervals
from haloscope.models.model import Model
from haloscope.models.sweep import Sweep
from haloscope.models.sweep import sweep as sweep_of
from haloscope.quantities import parse_cpu_list


def rendezvous_bytes(case: MeasuredCase) -> int | None:
    """Return the smallest message of a loggp case whose send took as long as its receive was late.

    None if no size waited: all are eager. Raise ValueError if that was not measured.
    """
    sizes = sweep(case)
    if not sizes or not all({"send_s", "wait_s"} <= point.result.keys() for point in sizes):
        raise ValueError("no send was timed with a late receive")
    return min((point.size_bytes for point in sizes if _waits(case, point)), default=None)


def _waits(case: MeasuredCase, point: Swept) -> bool:
    """Return whether the send took most of the wait, over the launches."""
    own = [
        one["result"]
        for record in case.launches
        for one in record.points
        if one["size_bytes"] == point.size_bytes
    ]
    return bool(median(one["send_s"] / one["wait_s"] for one in own) > 0.5)


ROUND_TRIPS = ("imb", "osu")
FEWEST_SIZES = 4
_FROM_REPORT = Ends()
HOCKNEY = (
    "Hockney, least squares",
    "Hockney, relative",
    "Hockney, extrapolated",
    "piecewise Hockney",
)


def exchanges(case: MeasuredCase) -> bool:
    """Return whether a case is a ping-pong, in which half a round trip is the time of a message."""
    return case.kernel == "pingpong" and case.settings.get("mode", "imb") in ROUND_TRIPS


@remembered(256)
def one_way(case: MeasuredCase) -> Sweep | None:
    """Return one-way message times in seconds, by size and launch; None with too few sizes.

    None also for other programs, one rank (no messages), sizes in elements, and collective
    operations. Only launches with every size are used, because the times of one launch vary
    together.
    """
    points = sweep(case)
    whole = max((point.of for point in points), key=len, default=())
    points = tuple(point for point in points if point.of == whole)
    operations = {point.operation for point in points}
    sent = case.external and case.ranks > 1 and case.size_unit == "B" and len(operations) == 1
    if (
        not (exchanges(case) or (sent and not _is_collective(case, *operations)))
        or len(points) < FEWEST_SIZES
    ):
        return None
    samples = [message_sample(case, point) for point in points]
    return sweep_of([point.size_bytes for point in points], samples)


_COLLECTIVE = re.compile(
    r"bcast|broadcast|reduce|scatter|gather|all_?to_?all|barrier|scan|neighbo", re.I
)


def _is_collective(case: MeasuredCase, operation: str | None) -> bool:
    """Return whether the name or operation is a collective, or an imported test ran on
    many ranks.
    """
    imported = any(record.imported for record in case.launches)
    named = _COLLECTIVE.search(f"{case.kernel} {operation or ''}")
    return bool(named) or (imported and case.ranks > 2)


def message_sample(case: MeasuredCase, point: Swept) -> tuple[float, ...]:
    """Return seconds per message, one number per launch; for external programs as printed."""
    return point.sample_one_way if exchanges(case) else point.sample


@dataclass(frozen=True)
class Unfitted:
    """A model that could not be fitted to a case, and the reason, as a clause."""

    name: str
    reason: str


def message_models(case: MeasuredCase) -> tuple[tuple[str, Model], ...]:
    """Return every model of message times that fits a case, with its display name."""
    return tuple(
        (name, found) for name, found in _attempts(case) if not isinstance(found, Unfitted)
    )


def unfitted(case: MeasuredCase) -> tuple[Unfitted, ...]:
    """Return the models of message times that were tried and do not fit the data of a case."""
    return tuple(found for _, found in _attempts(case) if isinstance(found, Unfitted))


@remembered(256)
def _attempts(case: MeasuredCase) -> tuple[tuple[str, Model | Unfitted], ...]:
    """Return all models for the case's kernel; none with too few sizes."""
    if case.kernel == "loggp":
        return (("LogGP", _tried("LogGP", partial(loggp_model, case))),) if case.launches else ()
    data = one_way(case)
    if data is None:
        return ()
    ways: Sequence[Callable[[], Model]] = (
        partial(hockney.fit, data, "least_squares"),
        partial(hockney.fit, data, "log"),
        partial(hockney.fit, data, "extrapolation", ends=_ends(data)),
        partial(piecewise_hockney.fit, data),
    )
    return tuple((name, _tried(name, fit)) for name, fit in zip(HOCKNEY, ways, strict=True))


def _tried(name: str, fit: Callable[[], Model]) -> Model | Unfitted:
    """Return the fitted model, or the reason in the ValueError if the data do not suffice."""
    try:
        found = fit()
        if isinstance(found, hockney.Hockney) and found.bandwidth_bytes_per_s.value < 0:
            raise ValueError("time does not grow with size; measure larger messages")
        return found
    except ValueError as error:
        return Unfitted(name, str(error))


def loggp_model(case: MeasuredCase, of: MeasuredCase | None = None) -> loggp.LogGP:
    """Fit LogGP to eager messages. Raise ValueError if the data do not suffice.

    of: the case that determines which messages are eager, if `case` has only some of its launches.
    """
    waits = rendezvous_bytes(of or case) or inf
    launches = [
        [point for point in record.points if point["size_bytes"] < waits]
        for record in case.launches
    ]
    if not launches:
        raise ValueError("no launch")
    names = ("round_trip_s", "burst_s", "delayed_s", "delay_s", "receive_s")
    arrays = {
        name: np.array([[point["result"][name] for point in points] for points in launches])
        for name in names
    }
    sizes = np.array([point["size_bytes"] for point in launches[0]], dtype=np.float64)
    return loggp.fit(loggp.Measurements(sizes, int(case.number("burst")), **arrays))


@remembered(256)
def loggp_by_launch(case: MeasuredCase) -> tuple[loggp.LogGP, ...]:
    """Return LogGP fitted to each launch separately, without launches whose data do not suffice."""
    own = (replace(case, launches=(record,)) for record in case.launches)
    found = (_tried("LogGP", partial(loggp_model, one, case)) for one in own)
    return tuple(model for model in found if isinstance(model, loggp.LogGP))


def _ends(data: Sweep) -> Ends:
    """Return the report's sizes for extrapolation; without large sizes, the largest two octaves."""
    if data.x[-1] >= _FROM_REPORT.bandwidth_bytes[0]:
        return _FROM_REPORT
    return Ends(_FROM_REPORT.latency_bytes, (data.x[-1] / 4, data.x[-1]))


@remembered(256)
def bandwidth_curve(case: MeasuredCase) -> curve.BandwidthCurve | None:
    """Return peak and asymptotic bandwidth, n_1/2, and in-cache peak; None with too few sizes."""
    data = one_way(case)
    return curve.describe(data) if data is not None else None


def cycles(cases: Sequence[MeasuredCase]) -> Sweep | None:
    """Return seconds per cycle of the ring by number of ranks; None with only one number."""
    timed = (case for case in cases if case.times_s and min(case.times_s) > 0)
    own = sorted(timed, key=lambda case: case.ranks)
    if len({case.ranks for case in own}) < 2 or len({case.ranks for case in own}) != len(own):
        return None
    return sweep_of([case.ranks for case in own], [case.times_s for case in own], joint=False)


def ring_levels(cases: Sequence[MeasuredCase]) -> list[ring.RingLevel]:
    """Return the ranges of ranks with the same measured distance."""
    ordered = sorted(cases, key=lambda case: case.ranks)
    far = [(case.ranks, name) for case in ordered if (name := widest(case))]
    return [
        ring.RingLevel(name, own[0], own[-1])
        for name, group in groupby(far, key=itemgetter(1))
        for own in [[ranks for ranks, _ in group]]
    ]


def no_ring(cases: Sequence[MeasuredCase]) -> str | None:
    """Return why a ring's time has no linear pieces, as a clause; None if it has."""
    data = cycles(cases)
    if data is None:
        return "measured with only one number of processes"
    try:
        ring.fit(data, ring_levels(cases), Intervals("none"))
    except ValueError as error:
        return str(error)
    return None


def ring_model(cases: Sequence[MeasuredCase]) -> ring.Ring | None:
    """Return the linear pieces of the ring's time; None if no level has two numbers of ranks."""
    data = cycles(cases)
    if data is None:
        return None
    try:
        return ring.fit(data, ring_levels(cases))
    except ValueError:
        return None


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
