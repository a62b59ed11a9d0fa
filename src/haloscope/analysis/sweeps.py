# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that sweep within one launch: the points of records as samples over launches.

A point is a size (and an operation). Each launch gives one number per point, the median over its
steady repetitions. Sizes of stream are bytes of all arrays of a rank, those of pingpong bytes of a
message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haloscope.analysis import remembered
from haloscope.analysis.cases import MeasuredCase
from haloscope.models.sweep import ONE_WAY
from haloscope.records.points import PointKey, point_key
from haloscope.stats.estimates import Estimate
from haloscope.stats.sequential import Warmup, steady_medians, warmup_if_any

SweepPoint = Mapping[str, Any]


@dataclass(frozen=True)
class Swept:
    """One point of a sweep over all good launches of a case.

    sample: seconds per step, one number per launch. time: their median with its spread. of: indices
    of these launches among the good ones of the case, some of which may lack the point. bytes:
    moved per step, over all ranks. result: the kernel's results for this point in the first launch.
    warmup: warm-up found in the repetitions; None if they are too few to detect one.
    """

    size_bytes: int
    operation: str | None
    sample: tuple[float, ...]
    time: Estimate
    bytes: float
    result: Mapping[str, float]
    warmup: Warmup | None = None
    of: tuple[int, ...] = ()

    @property
    def rate(self) -> Estimate:
        """Bandwidth in bytes per second."""
        return self.time.rate(self.bytes)

    @property
    def one_way(self) -> Estimate:
        """One-way time in seconds, for a step that is a round trip."""
        return self.time.times(ONE_WAY)

    @property
    def sample_one_way(self) -> tuple[float, ...]:
        """The same, one number per launch."""
        return tuple(ONE_WAY * time_s for time_s in self.sample)


@remembered(256)
def sweep(case: MeasuredCase) -> tuple[Swept, ...]:
    """Return the points of a case, by operation and size; launches without a point are omitted
    there.
    """
    firsts: dict[PointKey, SweepPoint] = {}
    times: dict[PointKey, list[tuple[int, list[float]]]] = {}
    for place, record in enumerate(case.launches):
        for point in record.points:
            if point["times_s"]:
                firsts.setdefault(key := point_key(point), point)
                times.setdefault(key, []).append((place, point["times_s"]))
    points = [_swept(case, *key, firsts[key], own) for key, own in times.items()]
    return tuple(sorted(points, key=lambda point: (point.operation or "", point.size_bytes)))


def _swept(
    case: MeasuredCase,
    operation: str | None,
    size_bytes: int,
    first: SweepPoint,
    own: Sequence[tuple[int, list[float]]],
) -> Swept:
    places, launches = zip(*own, strict=True)
    sample = steady_medians(launches)
    time = case.estimate(sample, [t for times_s in launches for t in times_s], places)
    if time is None:
        raise ValueError("a point without a launch")
    return Swept(
        size_bytes,
        operation,
        tuple(sample),
        time,
        first["bytes"],
        first.get("result") or {},
        warmup_if_any(launches),
        places,
    )


def level_of(size_bytes: float, case: MeasuredCase, machine: Mapping[str, Any] | None) -> str:
    """Return the smallest memory level that holds the working sets of all ranks: "L2", "memory".

    "" if no caches are known.
    """
    held = capacities(case, machine)
    return next((level for level, bytes_ in held if size_bytes <= bytes_), "memory" if held else "")


def capacities(case: MeasuredCase, machine: Mapping[str, Any] | None) -> list[tuple[str, float]]:
    """Return each cache level's capacity in bytes for all cores of a case: [("L1", 65536.0), ...].

    A cache shared by several of these cores counts once. Ranks that are spread over a node use all
    of its caches, if there are as many ranks.
    """
    known = machine or {}
    if "cores" not in known:
        return []
    nodes = case.layout.nodes
    cores = -(-case.cores // nodes)
    spread = case.layout.cores_bound == "spread"
    found = []
    for cache in sorted(known.get("caches") or [], key=lambda cache: int(cache["level"])):
        sharing = max(1, cache.get("shared_by") or 1)
        there = -(-known["cores"] // sharing)
        reached = min(cores, there) if spread else -(-cores // sharing)
        found.append((f"L{cache['level']}", float(cache["size_bytes"] * reached * nodes)))
    return found
