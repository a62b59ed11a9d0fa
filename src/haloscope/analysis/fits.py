# SPDX-License-Identifier: BSD-3-Clause
"""Models of messages fitted to measured times, and where messages begin to wait."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from math import inf
from operator import itemgetter
from statistics import median

import numpy as np

from haloscope.analysis import distance
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.models import curve, hockney, loggp, piecewise_hockney, ring
from haloscope.models.hockney import Ends
from haloscope.models.intervals import Intervals
from haloscope.models.model import Model
from haloscope.models.sweep import Sweep
from haloscope.models.sweep import sweep as sweep_of


def rendezvous_bytes(case: MeasuredCase) -> int | None:
    """The smallest message of a loggp case whose send took as long as its receive came late.

    None where no size waited: all are eager. ValueError where that was not measured.
    """
    sizes = sweep(case)
    if not sizes or not all({"send_s", "wait_s"} <= point.result.keys() for point in sizes):
        raise ValueError("no send was timed with a late receive")
    return min((point.size_bytes for point in sizes if _waits(case, point)), default=None)


def _waits(case: MeasuredCase, point: Swept) -> bool:
    """Whether the send took most of the wait, over the launches."""
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
    """Whether a case is a ping-pong: half of its round trip is the time of a message."""
    return case.kernel == "pingpong" and case.settings.get("mode", "imb") in ROUND_TRIPS


@lru_cache(maxsize=256)
def one_way(case: MeasuredCase) -> Sweep | None:
    """Seconds of a message one way, by size, launch by launch; None where there are few sizes.

    Of other programs, nor on one rank, where a sweep is of no messages, nor of sizes in elements,
    nor of collective operations.

    Only launches that have every size count: those of one launch vary together.
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
    """Whether its name or that of its operation says so, or an imported test ran on many ranks."""
    imported = any(record.imported for record in case.launches)
    named = _COLLECTIVE.search(f"{case.kernel} {operation or ''}")
    return bool(named) or (imported and case.ranks > 2)


def message_sample(case: MeasuredCase, point: Swept) -> tuple[float, ...]:
    """Seconds of a message, one number a launch; of an external program, as it prints them."""
    return point.sample_one_way if exchanges(case) else point.sample


@dataclass(frozen=True)
class Unfitted:
    """A model that could not be fitted to a case, and why not, as a sentence goes on."""

    name: str
    reason: str


def message_models(case: MeasuredCase) -> tuple[tuple[str, Model], ...]:
    """Every model of a message's time that a case allows, with its name for people."""
    return tuple(
        (name, found) for name, found in _attempts(case) if not isinstance(found, Unfitted)
    )


def unfitted(case: MeasuredCase) -> tuple[Unfitted, ...]:
    """The models of a message's time that were tried on a case and do not suit its data."""
    return tuple(found for _, found in _attempts(case) if isinstance(found, Unfitted))


@lru_cache(maxsize=256)
def _attempts(case: MeasuredCase) -> tuple[tuple[str, Model | Unfitted], ...]:
    """All models that are for the case's kernel; none for too few sizes to try any."""
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
    """The model; where the data lack what it needs, what it says of that by ValueError."""
    try:
        found = fit()
        if isinstance(found, hockney.Hockney) and found.bandwidth_bytes_per_s.value < 0:
            raise ValueError("time does not grow with size; measure larger messages")
        return found
    except ValueError as error:
        return Unfitted(name, str(error))


def loggp_model(case: MeasuredCase, of: MeasuredCase | None = None) -> loggp.LogGP:
    """LogGP from the messages that travel eagerly. ValueError where the data lack what it needs.

    of: the case that says which are eager, where `case` has only some of its launches.
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


@lru_cache(maxsize=256)
def loggp_by_launch(case: MeasuredCase) -> tuple[loggp.LogGP, ...]:
    """LogGP fitted to every launch by itself; without those whose data do not suit it."""
    own = (replace(case, launches=(record,)) for record in case.launches)
    found = (_tried("LogGP", partial(loggp_model, one, case)) for one in own)
    return tuple(model for model in found if isinstance(model, loggp.LogGP))


def _ends(data: Sweep) -> Ends:
    """The report's sizes for extrapolation; without any so large, the largest two octaves."""
    if data.x[-1] >= _FROM_REPORT.bandwidth_bytes[0]:
        return _FROM_REPORT
    return Ends(_FROM_REPORT.latency_bytes, (data.x[-1] / 4, data.x[-1]))


@lru_cache(maxsize=256)
def bandwidth_curve(case: MeasuredCase) -> curve.BandwidthCurve | None:
    """Peak and asymptotic bandwidth, n_1/2, in-cache hump; None where there are few sizes."""
    data = one_way(case)
    return curve.describe(data) if data is not None else None


def cycles(cases: Sequence[MeasuredCase]) -> Sweep | None:
    """Seconds of a cycle of the ring by number of ranks; None where one number only was run."""
    timed = (case for case in cases if case.times_s and min(case.times_s) > 0)
    own = sorted(timed, key=lambda case: case.ranks)
    if len({case.ranks for case in own}) < 2 or len({case.ranks for case in own}) != len(own):
        return None
    return sweep_of([case.ranks for case in own], [case.times_s for case in own], joint=False)


def ring_levels(cases: Sequence[MeasuredCase]) -> list[ring.RingLevel]:
    """Numbers of ranks that follow one another and reach equally far, as they really lay."""
    ordered = sorted(cases, key=lambda case: case.ranks)
    far = [(case.ranks, name) for case in ordered if (name := distance.widest(case))]
    return [
        ring.RingLevel(name, own[0], own[-1])
        for name, group in groupby(far, key=itemgetter(1))
        for own in [[ranks for ranks, _ in group]]
    ]


def no_ring(cases: Sequence[MeasuredCase]) -> str | None:
    """Why a ring's time has no straight pieces, as a sentence goes on; None where it has."""
    data = cycles(cases)
    if data is None:
        return "measured with only one number of processes"
    try:
        ring.fit(data, ring_levels(cases), Intervals("none"))
    except ValueError as error:
        return str(error)
    return None


def ring_model(cases: Sequence[MeasuredCase]) -> ring.Ring | None:
    """The straight pieces of the ring's time; None where no level has two numbers of ranks."""
    data = cycles(cases)
    if data is None:
        return None
    try:
        return ring.fit(data, ring_levels(cases))
    except ValueError:
        return None
