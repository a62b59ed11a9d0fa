# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that sweep inside one launch: the records' points as samples over launches.

A point is a size (and an operation); each launch gives one number a point, the median over its
steady repetitions. Sizes of stream are bytes of all arrays of one rank, those of pingpong of one
message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.models.sweep import ONE_WAY
from haloscope.records.points import point_key
from haloscope.stats.estimates import Estimate
from haloscope.stats.sequential import Warmup, steady_medians, warmup_if_any
from haloscope.study.case import node_bind

SweepPoint = Mapping[str, Any]


@dataclass(frozen=True)
class Swept:
    """One point of a sweep over all good launches of a case.

    sample: seconds of one step, one number a launch; time: their median with its spread.
    of: the places of these launches among the good ones of the case, of which some may lack it.
    bytes: moved in a step, over all ranks.
    result: what the kernel says of this point in the first launch.
    warmup: what was found in the repetitions; None where they are too few to find any.
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
        """Bytes a second."""
        return self.time.rate(self.bytes)

    @property
    def one_way(self) -> Estimate:
        """Seconds one way, of a step that goes there and back."""
        return self.time.times(ONE_WAY)

    @property
    def sample_one_way(self) -> tuple[float, ...]:
        """Likewise, one number a launch."""
        return tuple(ONE_WAY * time_s for time_s in self.sample)


@lru_cache(maxsize=256)
def sweep(case: MeasuredCase) -> tuple[Swept, ...]:
    """The points of a case, by operation and size; those of launches that lack one count less."""
    found: dict[tuple[str | None, int], list[tuple[int, SweepPoint]]] = {}
    for place, record in enumerate(case.launches):
        for point in record.points:
            if point["times_s"]:
                found.setdefault(point_key(point), []).append((place, point))
    points = [_swept(case, *key, own) for key, own in found.items()]
    return tuple(sorted(points, key=lambda point: (point.operation or "", point.size_bytes)))


def _swept(
    case: MeasuredCase,
    operation: str | None,
    size_bytes: int,
    own: Sequence[tuple[int, SweepPoint]],
) -> Swept:
    places, points = zip(*own, strict=True)
    launches = [point["times_s"] for point in points]
    sample = steady_medians(launches)
    time = case.estimate(sample, [t for times_s in launches for t in times_s], places)
    if time is None:
        raise ValueError("a point without a launch")
    first = points[0]
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
    """The memory level that a working set of all ranks of a case fits in: "L2", "memory".

    "" where no caches are known.
    """
    held = capacities(case, machine)
    return next((level for level, bytes_ in held if size_bytes <= bytes_), "memory" if held else "")


def capacities(case: MeasuredCase, machine: Mapping[str, Any] | None) -> list[tuple[str, float]]:
    """What each cache level holds for all cores of a case, in bytes: [("L1", 65536.0), ...].

    A cache counts once for all of these cores that share it. Ranks that are spread over a node
    reach all of its caches, if there are as many of them.
    """
    known = machine or {}
    if "cores" not in known:
        return []
    nodes = case.number("nodes")
    cores = -(-case.cores // nodes)
    spread = node_bind(case.settings) == "spread"
    found = []
    for cache in sorted(known.get("caches") or [], key=lambda cache: int(cache["level"])):
        sharing = max(1, cache.get("shared_by") or 1)
        there = -(-known["cores"] // sharing)
        reached = min(cores, there) if spread else -(-cores // sharing)
        found.append((f"L{cache['level']}", float(cache["size_bytes"] * reached * nodes)))
    return found
