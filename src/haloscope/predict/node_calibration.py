# SPDX-License-Identifier: BSD-3-Clause
"""A node's parameters from the records of the study `calibrate`: arithmetic, caches, memory.

Bandwidths are those of all STREAM loops together, including write-allocate traffic. The node model
(halobench/machine/node_model.hpp) divides a phase's bytes by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import level_of, sweep
from haloscope.clusters.node import Cache, Memory, Node, ParallelRegion
from haloscope.clusters.quantity import Quantity
from haloscope.errors import Problem, UserError
from haloscope.models.intervals import bootstrapped
from haloscope.models.sweep import Array
from haloscope.quantities import count, percent, size
from haloscope.stats.estimates import Estimate

ARITHMETIC = ("poisson_cg", "fused", "sweep")
"""ARITHMETIC is the kernel, variant, and phase whose flop rate with all data in cache is the core
rate of a cluster file.
"""
REGIONS = "parallel_region"
"""REGIONS is the kernel that measures the cost of a parallel region."""
FOUND = "reported by the operating system"
"""FOUND is the source of numbers that a calibration does not measure."""
_SWEPT = 4.0
"""_SWEPT is the smallest ratio of a working set to a cache's size at which the cache holds almost
nothing of a sweep.
"""
_STORED = {"copy": 2 / 3, "scale": 2 / 3, "add": 1 / 2, "triad": 1 / 2, "dot": 0.0}
"""_STORED are STREAM's loops with the share of their bytes that are written, or read only to be
overwritten.
"""
_COSTS = (0.05, 4.0)
"""_COSTS are the bounds of the cost of a stored byte: noise makes a small cost negative, and no
memory stores as slowly as the upper bound.
"""
RESAMPLES = 200
"""RESAMPLES is the number of bootstrap samples; it is small because each is a fit of some
milliseconds.
"""


def quantity(estimate: Estimate, source: str) -> Quantity:
    """Return a measured number with its source and interval, without ends that are unbounded.

    If all bootstrap draws are on one side of the number, it is itself an end.
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
    """Return the node of the measured cases. Raise UserError if its memory was not measured."""
    packed, spread = streams(cases, "close"), streams(cases, "spread")
    if not packed or packed[0].cores != 1 or not _traffic(packed[0]):
        remedy = "complete haloscope calibrate: stream on one core has too few successful launches"
        raise UserError(Problem("calibrate", "the memory bandwidth is unknown", remedy))
    memory = _memory(packed)
    sockets, shared = _shares(machine)
    caches = [_cache(cache, packed, machine, shared) for cache in machine["caches"]]
    sharpness = None
    if caches:
        caches[-1], sharpness = _last_cache(packed, caches, memory, sockets, machine["cores"])
    if sockets > 1 and spread:
        memory = _memory(spread)
    return Node(
        cpu=str(machine["cpu"]),
        sockets=sockets,
        cores=machine["cores"],
        threads_per_core=machine["threads_per_core"],
        memory_bytes=machine["memory_bytes"],
        source=FOUND,
        core_flops_per_s=_arithmetic(cases),
        sharpness=sharpness,
        memory=memory,
        caches=tuple(caches),
        regions=tuple(_regions(cases)),
    )


def streams(cases: Sequence[MeasuredCase], bind: str) -> list[MeasuredCase]:
    """Return the cases of stream with this binding, the fewest cores first."""
    found = [case for case in cases if case.kernel == "stream" and sweep(case)]
    own = [case for case in found if (case.settings.get("bind") or "close") == bind]
    return sorted(own, key=lambda case: case.cores)


def memory_bandwidth(case: MeasuredCase) -> Quantity:
    """Return the combined memory bandwidth of the ranks of a stream case."""
    return _bandwidth(case, max(_traffic(case)), 1)


def _memory(cases: Sequence[MeasuredCase]) -> tuple[Memory, ...]:
    costs = [_store_cost(case) for case in cases]
    known = all(cost is not None for cost in costs)
    return tuple(
        Memory(
            cores=case.cores,
            bandwidth_bytes_per_s=memory_bandwidth(case),
            store_cost=cost if known else None,
        )
        for case, cost in zip(cases, costs, strict=True)
    )


def _traffic(case: MeasuredCase) -> dict[int, list[float]]:
    """Return bytes per second by working set of a rank, one number per launch: all
    loops together.
    """
    found = {}
    for bytes_ in sorted({point.size_bytes for point in sweep(case)}):
        loops = [point for point in sweep(case) if point.size_bytes == bytes_]
        moved = [point.result.get("traffic_bytes") for point in loops]
        if None not in moved:
            total = sum(one for one in moved if one is not None)
            times = zip(*(point.sample for point in loops), strict=True)
            found[bytes_] = [total / sum(launch) for launch in times]
    return found


def _store_cost(case: MeasuredCase) -> Quantity | None:
    """Return the cost of a stored byte relative to a loaded one, at stream's largest working set.

    Least squares of each launch's times over loaded and stored bytes. None if not all loops were
    measured.
    """
    bytes_ = max(_traffic(case))
    loops = [point for point in sweep(case) if point.size_bytes == bytes_]
    if {point.operation for point in loops} != {*_STORED}:
        return None
    stored = np.array([_STORED[str(point.operation)] for point in loops])
    parts = np.stack([1 - stored, stored], axis=1)
    moved = np.array([point.result["traffic_bytes"] for point in loops])
    launches = np.array([point.sample for point in loops]) / moved[:, None]
    loaded_s, stored_s = np.linalg.lstsq(parts, launches, rcond=None)[0]
    costs = [float(np.clip(cost, *_COSTS)) for cost in stored_s / loaded_s]
    found = case.estimate(costs)
    source = f"stream, separate loops, {count(case.cores, 'core')}, {size(bytes_)} per core"
    return quantity(found, source) if found else None


def _bandwidth(case: MeasuredCase, bytes_: int, share: int) -> Quantity:
    """Return the bandwidth at a working set. share: number of cores by which it is divided."""
    sample = [rate / share for rate in _traffic(case)[bytes_]]
    found = case.estimate(sample)
    if found is None:
        raise ValueError("a sweep without a launch")
    each = "" if share == 1 else ", of each"
    return quantity(
        found, f"stream, all loops, {count(case.cores, 'core')}, {size(bytes_)} per core{each}"
    )


def _shares(machine: Mapping[str, Any]) -> tuple[int, dict[int, int]]:
    """Return the sockets and, for each level, the cores that share a cache, in equal parts.

    Virtual machines report impossible topologies, such as three cores on two sockets, or caches
    shared by sockets. Those are treated as one socket, with caches of a part of it.
    """
    sockets = machine["sockets"] if machine["cores"] % machine["sockets"] == 0 else 1
    own = machine["cores"] // sockets
    parts = [part for part in range(1, own + 1) if own % part == 0]
    levels = {cache["level"]: cache["shared_by"] for cache in machine["caches"]}
    return sockets, {
        level: max(part for part in parts if part <= max(1, shared or 1))
        for level, shared in levels.items()
    }


def _cache(
    cache: Mapping[str, int],
    streams: Sequence[MeasuredCase],
    machine: Mapping[str, Any],
    shared: Mapping[int, int],
) -> Cache:
    """Return a level with the median rate of the working sets that fit it and no smaller level.

    The median avoids a lucky best value.
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
        level=cache["level"],
        size_bytes=cache["size_bytes"],
        shared_by=shared[cache["level"]],
        source=FOUND,
        bandwidth_bytes_per_s=alone,
        crowded_bytes_per_s=crowded if streams[-1].cores > 1 else None,
    )


def _arithmetic(cases: Sequence[MeasuredCase]) -> Quantity | None:
    """Return the flop rate of one core: the fused sweep of poisson_cg, in cache."""
    kernel, variant, name = ARITHMETIC
    for case in cases:
        if (case.kernel, case.settings.get("variant"), case.cores) == (kernel, variant, 1):
            phases = [p for record in case.launches for p in record.phases if p["name"] == name]
            found = case.estimate([p["flops"] / p["time_s"]["mean"] for p in phases])
            size = case.settings["n"]
            where = f"{kernel}, {variant}, n = {size}, phase {name}"
            return quantity(found, where) if found else None
    return None


def _regions(cases: Sequence[MeasuredCase]) -> Iterator[ParallelRegion]:
    """Yield the cost of parallel regions, by number of threads, ascending."""
    measured = (case for case in cases if case.kernel == REGIONS and case.launches)
    for case in sorted(measured, key=lambda one: one.layout.threads):
        threads = case.layout.threads
        found = case.estimate(case.sample(lambda record: record.result.get("region_s")))
        if threads > 1 and found and found.value > 0:
            cost = quantity(found, f"{REGIONS}, {count(threads, 'thread')}")
            yield ParallelRegion(threads=threads, cost_s=cost)


@dataclass(frozen=True)
class _Swept:
    """A working set of which levels below the last cache hold almost nothing, on one core.

    share: the fraction that fits the last cache. crowd: fraction of the other cores that are busy.
    direct: seconds per byte from memory. times: as measured, one number per launch.
    """

    share: float
    crowd: float
    direct: float
    times: tuple[float, ...]


def _last_cache(
    streams: Sequence[MeasuredCase],
    caches: Sequence[Cache],
    memory: Sequence[Memory],
    sockets: int,
    cores: int,
) -> tuple[Cache, Quantity | None]:
    """Return the last cache as used by a sweep, and its sharpness: the decline for larger sweeps.

    With several sockets, from one core and from all: some fill only one socket's cache. Its rate
    alone and with all cores busy, and the usable size, which is less than its size if others use it
    too (a virtual machine), are fitted together: least squares of the logarithms of times per byte
    by working set, with intervals by the bootstrap over launches. Unchanged if no working set is
    larger.
    """
    last = caches[-1]
    pairs = list(zip(streams, memory, strict=True))
    even = [pair for pair in pairs if sockets == 1 or pair[0].cores in (1, cores)]
    swept = list(_beyond(even, caches, cores))
    if not any(one.share < 1 for one in swept) or last.bandwidth_bytes_per_s is None:
        return last, None
    share, crowd, direct = np.array([(one.share, one.crowd, one.direct) for one in swept]).T

    def misfit(logs: Array, times: Array) -> Array:
        usable, sharpness, alone, left = np.exp(logs)
        held = np.minimum(1.0, usable * share) ** sharpness
        cached = 1 / (alone * (1 + crowd * (left - 1)))
        return np.asarray(np.log((held * cached + (1 - held) * direct) / times))

    rates = [one.bandwidth_bytes_per_s.value / one.cores for one in memory]
    above = caches[-2].bandwidth_bytes_per_s if len(caches) > 1 else None
    slowest, fastest = log(min(rates) / 2), log(above.value if above else 1e13)
    limits = [log(1 / 16), log(0.25), slowest, log(0.1)], [0.0, log(8), fastest, 0.0]

    def fitted(times: Array, starts: Iterable[Array]) -> Array:
        found = (
            least_squares(misfit, start, bounds=limits, loss="soft_l1", f_scale=0.1, args=(times,))
            for start in starts
        )
        return np.asarray(min(found, key=lambda one: float(one.cost)).x)

    times = np.array([median(one.times) for one in swept])
    typical = log(last.bandwidth_bytes_per_s.value)
    parts = (0.125, 0.25, 0.5, 0.9)  # the fit has several minima
    starts = [np.array([log(part), log(1.5), typical, log(0.9)]) for part in parts]
    best = fitted(times, starts)
    draws = np.array([fitted(_redrawn(swept, seed), [best]) for seed in range(RESAMPLES)])
    off = median(abs(one) for one in misfit(best, times))
    source = (
        f"stream, {len(swept)} working sets near the size of the last cache, median misfit "
        f"{percent(off)}"
    )
    launches = min(len(one.times) for one in swept)

    def as_quantity(*indices: int, unit: float = 1.0) -> Quantity:
        value, drawn = (unit * np.exp(logs[..., indices].sum(-1)) for logs in (best, draws))
        return quantity(bootstrapped(float(value), drawn, launches, 0.95), source)

    found = {
        "usable_bytes": as_quantity(0, unit=last.size_bytes),
        "bandwidth_bytes_per_s": as_quantity(2),
        "crowded_bytes_per_s": as_quantity(2, 3) if last.crowded_bytes_per_s else None,
    }
    return last.model_copy(update=found), as_quantity(1)


def _redrawn(swept: Sequence[_Swept], seed: int) -> Array:
    """Return times of launches drawn with replacement; those with the same cores share launches."""
    draw = np.random.default_rng(seed)
    launches = {one.crowd: len(one.times) for one in swept}
    drawn = {crowd: draw.integers(n, size=n) for crowd, n in launches.items()}
    return np.array([np.median(np.array(one.times)[drawn[one.crowd]]) for one in swept])


def _beyond(
    streams: Sequence[tuple[MeasuredCase, Memory]], caches: Sequence[Cache], cores: int
) -> Iterator[_Swept]:
    last = caches[-1]
    below = max((cache.size_bytes for cache in caches[:-1]), default=0)
    for case, from_memory in streams:
        crowd = (case.cores - 1) / (cores - 1) if cores > 1 else 0.0
        sharing = max(1, ceil(case.cores * last.shared_by / cores))
        direct = case.cores / from_memory.bandwidth_bytes_per_s.value
        for bytes_, sample in _traffic(case).items():
            if bytes_ >= _SWEPT * below:
                times = tuple(case.cores / rate for rate in sample)
                yield _Swept(last.size_bytes / sharing / bytes_, crowd, direct, times)
