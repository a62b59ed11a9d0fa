"""Models fitted to measured cases: what tables of fits show, and what figures draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import groupby
from math import inf
from operator import itemgetter

import numpy as np

from haloscope import distance
from haloscope.evidence import MeasuredCase
from haloscope.models import curve, hockney, loggp, piecewise_hockney, ring
from haloscope.models.hockney import Ends
from haloscope.models.model import Model
from haloscope.models.sweep import Sweep
from haloscope.models.sweep import sweep as sweep_of
from haloscope.points import sweep
from haloscope.rendezvous import rendezvous_bytes

ROUND_TRIPS = ("imb", "osu")
"""Modes of pingpong whose step is a message there and one back."""
FEWEST_SIZES = 4
_FROM_REPORT = Ends()


def exchanges(case: MeasuredCase) -> bool:
    """Is it a ping-pong whose half round trip is the time of a message?"""
    return case.kernel == "pingpong" and case.settings.get("mode", "imb") in ROUND_TRIPS


@lru_cache(maxsize=256)
def one_way(case: MeasuredCase) -> Sweep | None:
    """Seconds of a message one way, by size, launch by launch; None where there are few sizes.

    Only launches that have every size count: those of one launch vary together.
    """
    points = sweep(case)
    whole = max((len(point.sample) for point in points), default=0)
    points = tuple(point for point in points if len(point.sample) == whole)
    if not exchanges(case) or len(points) < FEWEST_SIZES:
        return None
    return sweep_of(
        [point.size_bytes for point in points],
        [[0.5 * time for time in point.sample] for point in points],
    )


@lru_cache(maxsize=256)
def message_models(case: MeasuredCase) -> tuple[tuple[str, Model], ...]:
    """Every model of a message's time that a case allows, with its name for people."""
    if case.kernel == "loggp":
        found = _if_possible(partial(loggp_model, case))
        return (("LogGP", found),) if found else ()
    data = one_way(case)
    if data is None:
        return ()
    ways: Sequence[tuple[str, Callable[[], Model]]] = (
        ("Hockney, least squares", partial(hockney.fit, data, "least_squares")),
        ("Hockney, relative", partial(hockney.fit, data, "log")),
        ("Hockney, extrapolated", partial(hockney.fit, data, "extrapolation", ends=_ends(data))),
        ("piecewise Hockney", partial(piecewise_hockney.fit, data)),
    )
    return tuple((name, model) for name, fit in ways if (model := _if_possible(fit)))


def _if_possible(fit: Callable[[], Model]) -> Model | None:
    """The model; None where the data lack what it needs, as it says by ValueError."""
    try:
        return fit()
    except ValueError:
        return None


def loggp_model(case: MeasuredCase) -> loggp.LogGP:
    """LogGP from the messages that travel eagerly. ValueError where the data lack what it needs."""
    waits = rendezvous_bytes(case) or inf
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


def _ends(data: Sweep) -> Ends:
    """The report's sizes for extrapolation; without any so large, the largest two octaves."""
    if data.x[-1] >= _FROM_REPORT.bandwidth_bytes[0]:
        return _FROM_REPORT
    return Ends(_FROM_REPORT.latency_bytes, (data.x[-1] / 4, data.x[-1]))


@lru_cache(maxsize=256)
def bandwidth_curve(case: MeasuredCase) -> curve.Curve | None:
    """Peak and asymptotic bandwidth, n_1/2, in-cache hump; None where there are few sizes."""
    data = one_way(case)
    return curve.describe(data) if data is not None else None


def cycles(cases: Sequence[MeasuredCase]) -> Sweep | None:
    """Seconds of a cycle of the ring by number of ranks; None where one number only was run."""
    own = sorted((case for case in cases if case.times_s), key=lambda case: case.ranks)
    if len({case.ranks for case in own}) < 2 or len({case.ranks for case in own}) != len(own):
        return None
    return sweep_of([case.ranks for case in own], [case.times_s for case in own], joint=False)


def ring_levels(cases: Sequence[MeasuredCase]) -> list[ring.Level]:
    """Numbers of ranks that follow one another and reach equally far, as they really lay.

    One rank is in none: what it passes to itself is no message between ranks.
    """
    ordered = sorted(cases, key=lambda case: case.ranks)
    far = [(case.ranks, name) for case in ordered if (name := distance.widest(case))]
    return [
        ring.Level(name, own[0], own[-1])
        for name, group in groupby(far, key=itemgetter(1))
        for own in [[ranks for ranks, _ in group]]
    ]


def ring_model(cases: Sequence[MeasuredCase]) -> ring.Ring | None:
    """The straight pieces of the ring's time; None where no level has two numbers of ranks."""
    data = cycles(cases)
    if data is None:
        return None
    try:
        return ring.fit(data, ring_levels(cases))
    except ValueError:
        return None
