# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that kernels move and keep, and how near a working set is to the size of a cache.

A triad limits a solve only where its data come from as far: on as many cores, bound alike, over a
working set that the same cache level holds, or the memory where none does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, capacities, level_of, sweep
from haloscope.stats.estimates import Estimate
from haloscope.study.case import node_bind

VECTORS = {"textbook": 4, "fused": 3, "pipelined": 7, "sstep": 3}
"""Vectors of a mesh that each variant sweeps over again and again, as its kernel declares them."""

USE_NEAR = 3.0
"""Beyond, a cache may serve a part of the triad's working set and nothing of the solve's."""


@dataclass(frozen=True)
class Triad:
    """A triad of stream: what it moved, over all ranks. level: where its working set lies."""

    case: MeasuredCase
    point: Swept
    level: str

    @property
    def working_set_bytes(self) -> float:
        """Of all ranks together."""
        return float(self.point.size_bytes * self.case.ranks)

    @property
    def moved(self) -> Estimate:
        """Bytes a second, with the lines that are read only to be overwritten."""
        return self.point.time.rate(self.point.result.get("traffic_bytes", self.point.bytes))


@dataclass(frozen=True)
class Use:
    """One Poisson case's use of the memory.

    bytes_per_point: declared, for a mesh point and an iteration. iteration_s: seconds of one.
    achieved:  declared bytes a second, over all ranks.
    working_set_bytes: of one sweep over the mesh, over all ranks. level: where these lie.
    triad:     of stream, over a working set like it; None without one.
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
        """Achieved over what the triad moved; None where that is no bound, as less was moved."""
        if self.triad is None or self.exceeds:
            return None
        return self.achieved.value / self.triad.moved.value

    @property
    def exceeds(self) -> bool:
        """Whether the solve moved more than the triad did, which then limits nothing."""
        return self.triad is not None and self.achieved.value > self.triad.moved.value


def uses(
    cases: Sequence[MeasuredCase],
    all_cases: Sequence[MeasuredCase],
    machine: Mapping[str, Any] | None,
) -> list[Use]:
    """The use of the memory by every Poisson case that declares its traffic."""
    every = [triad for case in all_cases for triad in _triads(case, machine)]
    found = (_use(case, every, machine) for case in cases if case.kernel == "poisson_cg")
    return [use for use in found if use is not None]


def memory_triads(
    cases: Sequence[MeasuredCase], machine: Mapping[str, Any] | None, bind: object = None
) -> dict[int, Triad]:
    """By cores, the fastest triad over a working set that no cache holds, the largest of its case.

    Of any working set where no caches are known. bind: of the triads of that binding where there
    are some on as many cores, as part of a node's cores may lie on one socket or on several.
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
    """The largest is of the triad to choose: bound alike first, then fast."""
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
    """What a sweep of the Poisson solver over its mesh goes through, of all processes, in bytes."""
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
    """Whether a triad ran where a case did, over no much larger a working set."""
    if triad.case.cores != case.cores or triad.working_set_bytes > USE_NEAR * working_set:
        return False
    one, other = triad.case.settings, case.settings
    names = _ALIKE if case.cores == 1 else (*_ALIKE, "places")
    lies_alike = case.cores == 1 or node_bind(one) == node_bind(other)
    return lies_alike and all(one.get(name) == other.get(name) for name in names)


def _preferred(triad: Triad, working_set: float) -> tuple[float, float]:
    """The nearest in working set (by ratio), then the fastest."""
    ratio = triad.working_set_bytes / working_set
    return -max(ratio, 1 / ratio), triad.moved.value


STEP_NEAR = 1.25
"""Around a cache's size: measured bandwidth falls from one level's to the next over about this."""


def step_near(case: MeasuredCase, machine: Mapping[str, Any] | None) -> str | None:
    """The cache level whose size a simulated sweep's working set is near; None where none is.

    By the model, caches below the last hold all of a sweep or nothing; those of Poisson solves are
    known.
    """
    if case.kernel != "poisson_cg" or not case.simulated or not case.launches:
        return None
    swept = swept_bytes(case)
    below_the_last = capacities(case, machine)[:-1]
    near = (level for level, held in below_the_last if 1 / STEP_NEAR <= swept / held <= STEP_NEAR)
    return next(near, None)
