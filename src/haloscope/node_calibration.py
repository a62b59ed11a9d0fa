"""A node's numbers from the records of the study `calibrate`: arithmetic, caches, memory.

Bandwidths are those of all of STREAM's loops together, with the lines that a store reads first:
what the node model (halobench/machine/node_model.hpp) divides a phase's bytes by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, exp, log
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from haloscope.cluster import Cache, Memory, Node, Quantity
from haloscope.errors import Problem, UserError
from haloscope.evidence import MeasuredCase
from haloscope.points import level_of, sweep
from haloscope.stats import Estimate

ARITHMETIC = ("poisson_cg", "fused", "sweep")
"""Kernel, variant and phase whose flops a second in cache are taken for a core's."""
FOUND = "what the operating system says"
_SWEPT = 4.0
"""Working sets this many times a cache's size hold next to nothing of a sweep in it."""


def quantity(estimate: Estimate, source: str) -> Quantity:
    """A measured number, how it came about, and its ends: none where it is not bounded.

    Where all draws of a bootstrap lie on one side of the number, it is an end itself.
    """
    low, high = (
        end if end is not None and np.isfinite(end) else None
        for end in (estimate.low, estimate.high)
    )
    method = "no interval" if estimate.method == "none" else estimate.method
    how = f"{source}; {method} over {estimate.n} launches"
    if estimate.high is not None and high is None:
        how += ", unbounded above"
    value = estimate.value
    low = None if low is None else min(low, value)
    high = None if high is None else max(high, value)
    return Quantity(value=value, low=low, high=high, source=how)


def node(cases: Sequence[MeasuredCase], machine: Mapping[str, Any]) -> Node:
    """The node that the cases were measured on. UserError where its memory was not measured."""
    streams = sorted(
        (case for case in cases if case.kernel == "stream" and sweep(case)), key=lambda c: c.cores
    )
    if not streams or streams[0].cores != 1 or not _traffic(streams[0]):
        mend = "run haloscope calibrate to its end: stream on one core was not measured well"
        raise UserError(Problem("calibrate", "nothing tells the memory's bandwidth", mend))
    memory = tuple(
        Memory(cores=case.cores, bandwidth_bytes_per_s=_bandwidth(case, max(_traffic(case)), 1))
        for case in streams
    )
    caches = [_cache(cache, streams, machine) for cache in machine["caches"]]
    usable, sharpness = _replacement(streams, caches, memory, machine["cores"])
    if usable is not None:
        caches[-1] = caches[-1].model_copy(update={"usable_bytes": usable})
    return Node(
        cpu=str(machine["cpu"]),
        sockets=machine["sockets"],
        cores=machine["cores"],
        threads_per_core=machine["threads_per_core"],
        memory_bytes=machine["memory_bytes"],
        source=FOUND,
        core_flops_per_s=_arithmetic(cases),
        sharpness=sharpness,
        memory=memory,
        caches=tuple(caches),
    )


def _traffic(case: MeasuredCase) -> dict[int, list[float]]:
    """Bytes a second by working set of a rank, one number a launch: all loops together."""
    found = {}
    for size in sorted({point.size_bytes for point in sweep(case)}):
        loops = [point for point in sweep(case) if point.size_bytes == size]
        moved = [point.result.get("traffic_bytes") for point in loops]
        if None not in moved:
            total = sum(one for one in moved if one is not None)
            times = zip(*(point.sample for point in loops), strict=True)
            found[size] = [total / sum(launch) for launch in times]
    return found


def _bandwidth(case: MeasuredCase, size: int, share: int) -> Quantity:
    """The bandwidth at a working set; with share, what each of so many cores has of it."""
    sample = [rate / share for rate in _traffic(case)[size]]
    found = case.estimate(sample)
    if found is None:
        raise ValueError("a sweep without a launch")
    each = "" if share == 1 else ", of each"
    return quantity(found, f"stream, all loops, {size} bytes a core, {case.cores} cores{each}")


def _cache(
    cache: Mapping[str, int], streams: Sequence[MeasuredCase], machine: Mapping[str, Any]
) -> Cache:
    """A level with the typical rate of the working sets that it holds and no smaller one does.

    That of the one in the middle, by rate: the best of several was lucky.
    """
    rates = []
    for case in (streams[0], streams[-1]):
        held = sorted(
            (median(sample), size)
            for size, sample in _traffic(case).items()
            if level_of(size * case.cores, case, machine) == f"L{cache['level']}"
        )
        middle = held[len(held) // 2][1] if held else None
        rates.append(_bandwidth(case, middle, case.cores) if middle else None)
    alone, crowded = rates
    return Cache(
        **cache,
        source=FOUND,
        bandwidth_bytes_per_s=alone,
        crowded_bytes_per_s=crowded if streams[-1].cores > 1 else None,
    )


def _arithmetic(cases: Sequence[MeasuredCase]) -> Quantity | None:
    """Flops a second of one core: those of the fused sweep of poisson_cg, in cache."""
    kernel, variant, name = ARITHMETIC
    for case in cases:
        if (case.kernel, case.settings.get("variant"), case.cores) == (kernel, variant, 1):
            phases = [p for record in case.launches for p in record.phases if p["name"] == name]
            found = case.estimate([p["flops"] / p["time_s"]["mean"] for p in phases])
            size = case.settings["n"]
            where = f"{kernel}, {variant}, n = {size}, phase {name}"
            return quantity(found, where) if found else None
    return None


def _replacement(
    streams: Sequence[MeasuredCase], caches: Sequence[Cache], memory: Sequence[Memory], cores: int
) -> tuple[Quantity | None, Quantity | None]:
    """What a sweep finds room for in the last cache, and how soon a larger one finds nothing.

    Least squares of the logarithms of times a byte by working set, from where the level below
    holds next to nothing. None where no working set is larger than the last cache.
    """
    points = list(_beyond(streams, caches, memory, cores))
    if not caches or not any(share < 1 for share, *_ in points):
        return None, None
    shares, cached, direct, times = np.array(points).T
    last = caches[-1].size_bytes

    def misfit(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        usable, sharpness = np.exp(logs)
        held = np.minimum(1.0, usable * shares) ** sharpness
        return np.asarray(np.log((held * cached + (1 - held) * direct) / times))

    limits = ([log(1 / 16), log(0.25)], [0.0, log(8)])
    starts = ([log(part), log(1.5)] for part in (0.125, 0.25, 0.5, 0.9))  # it has several minima
    solved = min(
        (
            least_squares(misfit, start, bounds=limits, loss="soft_l1", f_scale=0.1)
            for start in starts
        ),
        key=lambda one: float(one.cost),
    )
    usable, sharpness = (exp(one) for one in solved.x)
    off = median(abs(one) for one in misfit(solved.x))
    source = f"stream, {len(points)} working sets about the last cache, median misfit {off:.0%}"
    return Quantity(value=usable * last, source=source), Quantity(value=sharpness, source=source)


def _beyond(
    streams: Sequence[MeasuredCase], caches: Sequence[Cache], memory: Sequence[Memory], cores: int
) -> Iterator[tuple[float, float, float, float]]:
    """Of a core's working set, the share that the last cache has room for; and seconds a byte.

    Seconds: all of it found there, none of it, as measured.
    """
    if not caches or (alone := caches[-1].bandwidth_bytes_per_s) is None:
        return
    last = caches[-1]
    crowded = last.crowded_bytes_per_s or alone
    below = max((cache.size_bytes for cache in caches[:-1]), default=0)
    for case, from_memory in zip(streams, memory, strict=True):
        crowd = (case.cores - 1) / (cores - 1) if cores > 1 else 0.0
        cached = alone.value + crowd * (crowded.value - alone.value)
        sharing = max(1, ceil(case.cores * last.shared_by / cores))
        for size, sample in _traffic(case).items():
            if size >= _SWEPT * below:
                direct = case.cores / from_memory.bandwidth_bytes_per_s.value
                share = last.size_bytes / sharing / size
                yield share, 1 / cached, direct, case.cores / median(sample)
