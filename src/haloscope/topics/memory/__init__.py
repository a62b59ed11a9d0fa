# SPDX-License-Identifier: BSD-3-Clause
"""Memory traffic and working sets of kernels, and their distance from cache sizes.

A triad limits a solve only if its data are in the same place: with the same cores and binding, and
a working set that fits the same cache level, or only the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, capacities, level_of, sweep
from haloscope.stats.estimates import Estimate

VECTORS = {"textbook": 4, "fused": 3, "pipelined": 7, "sstep": 3}
"""Vectors of a mesh that each variant sweeps over repeatedly, as its kernel declares them."""

USE_NEAR = 3.0
"""Beyond this ratio, a cache may serve a part of the triad's working set but nothing of the
solve's.
"""


@dataclass(frozen=True)
class Triad:
    """A triad of stream: its traffic over all ranks. level: that of its working set."""

    case: MeasuredCase
    point: Swept
    level: str

    @property
    def working_set_bytes(self) -> float:
        """Working set of all ranks together."""
        return float(self.point.size_bytes * self.case.ranks)

    @property
    def moved(self) -> Estimate:
        """Bytes per second, including write-allocate traffic."""
        return self.point.time.rate(self.point.result.get("traffic_bytes", self.point.bytes))


@dataclass(frozen=True)
class Use:
    """Memory use of one Poisson case.

    bytes_per_point: declared, per mesh point and iteration. iteration_s: seconds per iteration.
    achieved: declared bytes per second, over all ranks. working_set_bytes: of one sweep over the
    mesh, over all ranks. level: that of the working set. triad: of stream, with a similar working
    set, or None.
    """

    case: MeasuredCase
    bytes_per_point: float
    iteration: Estimate
    achieved: Estimate
    working_set_bytes: float
    level: str
    triad: Triad | None

    @property
    def share(self) -> float | None:
        """Achieved bandwidth over that of the triad; None if the triad is slower and no limit."""
        if self.triad is None or self.exceeds:
            return None
        return self.achieved.value / self.triad.moved.value

    @property
    def exceeds(self) -> bool:
        """Whether the solve exceeded the bandwidth of the triad, which is then not a limit."""
        return self.triad is not None and self.achieved.value > self.triad.moved.value


def uses(
    cases: Sequence[MeasuredCase],
    all_cases: Sequence[MeasuredCase],
    machine: Mapping[str, Any] | None,
) -> list[Use]:
    """Return the memory use of every Poisson case that declares its traffic."""
    every = [triad for case in all_cases for triad in _triads(case, machine)]
    found = (_use(case, every, machine) for case in cases if case.kernel == "poisson_cg")
    return [use for use in found if use is not None]


def memory_triads(
    cases: Sequence[MeasuredCase], machine: Mapping[str, Any] | None, bind: object = None
) -> dict[int, Triad]:
    """Return by cores the fastest triad with the largest working set of its case, beyond all
    caches.

    Of any working set if no caches are known. bind: prefer triads with that binding on the same
    number of cores, because part of a node's cores may be on one socket or on several.
    """
    found: dict[int, Triad] = {}
    for case in cases:
        for triad in _triads(case, machine)[-1:]:
            known = found.get(case.cores)
            if triad.level in ("memory", "") and (
                known is None or _nearness(known, bind) < _nearness(triad, bind)
            ):
                found[case.cores] = triad
    return found


def _nearness(triad: Triad, bind: object) -> tuple[bool, float]:
    """Return the sort key of triads: equal binding first, then bandwidth."""
    return triad.case.settings.get("bind") == bind, triad.point.rate.value


def _triads(case: MeasuredCase, machine: Mapping[str, Any] | None) -> list[Triad]:
    if case.kernel != "stream":
        return []
    return [
        Triad(case, point, level_of(point.size_bytes * case.ranks, case, machine))
        for point in sweep(case)
        if point.operation == "triad"
    ]


def swept_bytes(case: MeasuredCase) -> float:
    """Return the data of one sweep of the Poisson solver over its mesh, of all
    processes, in bytes.
    """
    points = case.result("points") or case.number("n") ** 2
    return float(8.0 * VECTORS[str(case.settings["variant"])] * points)


def _use(
    case: MeasuredCase, triads: Sequence[Triad], machine: Mapping[str, Any] | None
) -> Use | None:
    per_point, iterations = case.result("bytes_per_point_iteration"), case.result("iterations")
    if case.time is None or not per_point or not iterations:
        return None
    points = case.result("points") or case.number("n") ** 2
    swept = swept_bytes(case)
    level = level_of(swept, case, machine)
    alike = [triad for triad in triads if triad.level == level and _limits(triad, case, swept)]
    return Use(
        case,
        per_point,
        case.time.times(1 / iterations),
        case.time.rate(per_point * points * iterations),
        swept,
        level,
        max(alike, key=lambda triad: _preferred(triad, swept)) if alike else None,
    )


_ALIKE = ("toolchain", "clock", "nodes")


def _limits(triad: Triad, case: MeasuredCase, working_set: float) -> bool:
    """Return whether a triad ran in a case's place, with a working set that is not much larger."""
    if triad.case.cores != case.cores or triad.working_set_bytes > USE_NEAR * working_set:
        return False
    one, other = triad.case.settings, case.settings
    names = _ALIKE if case.cores == 1 else (*_ALIKE, "places")
    lies_alike = case.cores == 1 or triad.case.layout.cores_bound == case.layout.cores_bound
    return lies_alike and all(one.get(name) == other.get(name) for name in names)


def _preferred(triad: Triad, working_set: float) -> tuple[float, float]:
    """Return the sort key of triads: ratio of working sets, then bandwidth."""
    ratio = triad.working_set_bytes / working_set
    return -max(ratio, 1 / ratio), triad.moved.value


STEP_NEAR = 1.25
"""Around a cache's size: the measured bandwidth falls between levels over about this factor."""


def step_near(case: MeasuredCase, machine: Mapping[str, Any] | None) -> str | None:
    """Return the cache level whose size is near a simulated sweep's working set, or None.

    In the model, caches below the last hold a sweep completely or not at all. Working sets of
    Poisson solves are known.
    """
    if case.kernel != "poisson_cg" or not case.simulated or not case.launches:
        return None
    swept = swept_bytes(case)
    below_the_last = capacities(case, machine)[:-1]
    near = (level for level, held in below_the_last if 1 / STEP_NEAR <= swept / held <= STEP_NEAR)
    return next(near, None)
