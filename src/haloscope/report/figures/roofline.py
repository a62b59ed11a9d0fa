# SPDX-License-Identifier: BSD-3-Clause
"""Roofline of the variants of jacobi3d: limits of memory and core, and the rate of each variant.

After Williams, Waterman and Patterson, Communications of the ACM 52, 2009: a program that does so
many operations on each byte of memory can't do more than the memory's bandwidth times as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.jacobi import in_cache, operations_of_update
from haloscope.analysis.memory_use import memory_triads
from haloscope.quantities import count, listed, number
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark, mark, powers_of_two
from haloscope.stats.estimates import Estimate


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure, where the memory's bandwidth was measured and a mesh larger than the caches."""
    swept = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    memory = memory_triads(context.all_cases, context.machine)
    best = _best(
        case for case in swept if not in_cache(case, context.machine) and case.cores in memory
    )
    if not best:
        return []
    cores = sorted({case.cores for case in best})
    guides = {_variant(case): _intensity(case) for case in best}
    ends = min(guides.values()) / 2, max(guides.values()) * 2
    operations = operations_of_update(swept)
    bounds = _bounds(swept, cores, ends, operations, context)
    curves = [*_reached(best, cores, operations), *bounds]
    y = Axis("Gflop/s", "log2", powers_of_two([m.y for curve in curves for m in curve.marks]))
    return [
        Figure(
            id="roofline",
            kind="roofline",
            title=context.title("Roofline of the variants of jacobi3d"),
            panels=(
                Lines(
                    "roofline",
                    "",
                    Axis("operations on each byte of memory", "log2", _TICKS),
                    y,
                    tuple(curves),
                    tuple((x, name) for name, x in guides.items()),
                ),
            ),
            fewest=1,
            alt=". ".join(_told(case) for case in best),
            notes=(
                "Dashed: what the triad moves, the lines among it that are read only to be "
                "overwritten, as for the sweeps, times the operations on each byte; an update is "
                f"{operations} operations. Bytes are those that the variant's algorithm "
                "moves: caches can't make them fewer. Of several settings of a variant on as many "
                "cores, the fastest.",
                *([_ABOVE] if _above(curves) else []),
            ),
        )
    ]


_ABOVE = (
    "A point is above its line: a cache served a part of what the algorithm moves, or something "
    "disturbed the triad."
)


def _above(curves: Sequence[Curve]) -> bool:
    """Whether a variant did more than the memory allows by its triad."""
    slopes: dict[int | None, float] = {
        curve.style: curve.marks[0].y / curve.marks[0].x for curve in curves if curve.bound
    }
    reached = [curve for curve in curves if not curve.bound]
    return any(mark.y > slopes[curve.style] * mark.x for curve in reached for mark in curve.marks)


def why_none(cases: Sequence[MeasuredCase], context: Context) -> str | None:
    """What a roofline lacks where meshes were swept: a bound, or a mesh that it bounds."""
    swept = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    if not swept:
        return None
    large = [case for case in swept if not in_cache(case, context.machine)]
    if not large:
        return "the caches hold all meshes, and the memory's bandwidth is no bound of theirs"
    cores = listed([str(n) for n in sorted({case.cores for case in large})])
    on = f"on {cores} {'core' if cores == '1' else 'cores'}"
    if any(case.kernel == "stream" and case.launches for case in context.all_cases):
        return f"no triad of stream {on} had arrays that no cache holds"
    return f"the memory's bandwidth was not measured {on} (stream)"


_TICKS = tuple((2.0**k, f"1/{2**-k}" if k < 0 else f"{2**k}") for k in range(-4, 7))


def _best(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    """The fastest case of each variant on each number of cores."""
    best: dict[tuple[str, int], MeasuredCase] = {}
    for case in cases:
        key = (_variant(case), case.cores)
        if key not in best or _mlups(case).value > _mlups(best[key]).value:
            best[key] = case
    return [best[key] for key in sorted(best)]


def _bounds(
    swept: Sequence[MeasuredCase],
    cores: Sequence[int],
    ends: tuple[float, float],
    operations: int,
    context: Context,
) -> Iterator[Curve]:
    """What memory allows by operations on each byte, and the cache, which has no such limit."""
    memory = memory_triads(context.all_cases, context.machine)
    for style, number_ in enumerate(cores):
        marks = tuple(Mark(x, x * memory[number_].moved.value / 1e9) for x in ends)
        yield Curve(f"memory, {count(number_, 'core')}", marks, bound=True, style=style)
    alone = [case for case in swept if case.cores == 1 and in_cache(case, context.machine)]
    if alone:
        highest = max(alone, key=lambda case: _mlups(case).value)
        marks = tuple(Mark(x, _rate(highest, operations).value / 1e9) for x in ends)
        yield Curve("in the cache, 1 core", marks, bound=True)


def _reached(
    best: Sequence[MeasuredCase], cores: Sequence[int], operations: int
) -> Iterator[Curve]:
    """A curve for each number of cores, with a mark for each variant."""
    for style, number_ in enumerate(cores):
        own = [case for case in best if case.cores == number_]
        marks = tuple(mark(_intensity(case), _rate(case, operations).times(1e-9)) for case in own)
        yield Curve(f"reached, {count(number_, 'core')}", marks, joined=False, style=style)


def _variant(case: MeasuredCase) -> str:
    return str(case.settings["variant"])


def _mlups(case: MeasuredCase) -> Estimate:
    """Millions of updates a second, over all ranks."""
    mlups = case.estimate(case.sample(lambda record: record.result["mlups"]))
    assert mlups is not None
    return mlups


def _rate(case: MeasuredCase, operations: int) -> Estimate:
    """Operations a second, of so many an update."""
    return _mlups(case).times(1e6 * operations)


def _intensity(case: MeasuredCase) -> float:
    (phase,) = (each for each in case.launches[0].phases if each["name"] == "sweep")
    return float(phase["flops"] / phase["bytes"])


def _told(case: MeasuredCase) -> str:
    return f"{_variant(case)}, {count(case.cores, 'core')}: {number(_mlups(case).value)} MLUP/s"
