"""What a solver makes of the memory: its declared traffic over its time, against stream's triad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, at_size, sweep
from haloscope.stats.estimates import Estimate


@dataclass(frozen=True)
class Use:
    """One Poisson case's use of the memory.

    bytes_per_point: declared, for a mesh point and an iteration. iteration_s: seconds of one.
    achieved:  declared bytes a second, over all ranks.
    working_set_bytes: what the case allocated, over all ranks.
    triad:     of stream on as many cores, its working set nearest to that; None without one.
    """

    case: MeasuredCase
    bytes_per_point: float
    iteration: Estimate
    achieved: Estimate
    working_set_bytes: float
    triad: Swept | None
    triad_case: MeasuredCase | None

    @property
    def share(self) -> float | None:
        """Achieved over triad's bandwidth."""
        return None if self.triad is None else self.achieved.value / self.triad.rate.value


def uses(cases: Sequence[MeasuredCase], all_cases: Sequence[MeasuredCase]) -> list[Use]:
    """The use of the memory by every Poisson case that declares its traffic."""
    streams = [case for case in all_cases if case.kernel == "stream" and case.launches]
    found = (_use(case, streams) for case in cases if case.kernel == "poisson_cg")
    return [use for use in found if use is not None]


def _use(case: MeasuredCase, streams: Sequence[MeasuredCase]) -> Use | None:
    per_point, iterations = case.result("bytes_per_point_iteration"), case.result("iterations")
    if case.time is None or not per_point or not iterations:
        return None
    points = case.result("points") or case.number("n") ** 2
    memory = case.launches[0].memory or {}
    working_set = memory.get("allocated_bytes") or memory.get("predicted_bytes") or 0
    triad_case, triad = _triad(case, working_set, streams)
    return Use(
        case,
        per_point,
        case.time.times(1 / iterations),
        case.time.rate(per_point * points * iterations),
        working_set,
        triad,
        triad_case,
    )


def _triad(
    case: MeasuredCase, working_set: float, streams: Sequence[MeasuredCase]
) -> tuple[MeasuredCase | None, Swept | None]:
    """The fastest triad on as many cores, of the same toolchain, nearest in working set."""
    same = ("toolchain", "clock", "nodes")
    best: tuple[MeasuredCase | None, Swept | None] = (None, None)
    for stream in streams:
        if stream.cores != case.cores or not working_set:
            continue
        if any(stream.settings.get(key) != case.settings.get(key) for key in same):
            continue
        found = at_size(sweep(stream), "triad", working_set / stream.ranks)
        if found and (best[1] is None or found.rate.value > best[1].rate.value):
            best = (stream, found)
    return best
