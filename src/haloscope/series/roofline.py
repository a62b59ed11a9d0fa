"""Roofline of jacobi3d's variants: what memory and core allow, and what each variant reaches.

After Williams, Waterman and Patterson, Communications of the ACM 52, 2009: a program that does so
many operations on each byte of memory can't do more than the memory's bandwidth times as many.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.evidence import MeasuredCase, facets
from haloscope.jacobi_cases import AXES, triads
from haloscope.points import capacities
from haloscope.quantities import count, number
from haloscope.series.model import Axis, Curve, Figure, Lines, Mark, mark, powers_of_two
from haloscope.stats import Estimate
from haloscope.tables.context import Context

FLOPS_PER_UPDATE = 6


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure, where the memory's bandwidth was measured and a mesh larger than the caches."""
    swept = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    memory = triads(context.all_cases)
    large = [case for case in swept if not _in_cache(case, context)]
    cores = sorted({case.cores for case in large} & memory.keys())
    if not cores:
        return []
    curves = [curve for count_ in cores for curve in _curves(count_, large, memory[count_])]
    ceiling = max(
        (_rate(case).value for case in swept if case.cores == 1 and _in_cache(case, context)),
        default=None,
    )
    if ceiling is not None:
        across = tuple(Mark(x, ceiling / 1e9) for x in (1 / 8, 8.0))
        curves.append(Curve("plain in the cache, 1 core", across, bound=True))
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
                    Axis("Gflop/s", "log2", powers_of_two([m.y for c in curves for m in c.marks])),
                    tuple(curves),
                ),
            ),
            alt=". ".join(_told(case) for case in large if case.cores in cores),
            notes=(
                "Dashed: the triad's bandwidth times the operations on each byte; an update is "
                f"{FLOPS_PER_UPDATE} operations. Bytes are those that the variant's algorithm "
                "moves: caches can't make them fewer.",
            ),
        )
    ]


_TICKS = (
    (0.125, "1/8"),
    (0.25, "1/4"),
    (0.5, "1/2"),
    (1.0, "1"),
    (2.0, "2"),
    (4.0, "4"),
    (8.0, "8"),
)


def _curves(cores: int, large: Sequence[MeasuredCase], memory: Estimate) -> list[Curve]:
    bound = tuple(Mark(x, x * memory.value / 1e9) for x in (1 / 8, 8.0))
    name = count(cores, "core")
    curves = [Curve(f"memory, {name}", bound, bound=True)]
    for part in facets([case for case in large if case.cores == cores], AXES):
        for case in part.cases[:1]:
            at = mark(_intensity(case), _rate(case).times(1e-9))
            curves.append(Curve(f"{case.settings['variant']}, {name}", (at,)))
    return curves


def _in_cache(case: MeasuredCase, context: Context) -> bool:
    """Do both meshes of a rank fit into its share of the last cache?"""
    held = capacities(case.cores, context.machine)
    points = case.number("L") ** 3 if case.settings.get("size") == "cubes" else float("inf")
    return bool(held) and 2 * 8 * points * case.ranks <= held[-1][1]


def _rate(case: MeasuredCase) -> Estimate:
    found = case.estimate(case.sample(lambda record: record.result["mlups"]))
    assert found is not None
    return found.times(1e6 * FLOPS_PER_UPDATE)


def _intensity(case: MeasuredCase) -> float:
    (phase,) = (each for each in case.launches[0].phases if each["name"] == "sweep")
    return float(phase["flops"] / phase["bytes"])


def _told(case: MeasuredCase) -> str:
    rate = _rate(case).value / FLOPS_PER_UPDATE / 1e6
    return f"{case.settings['variant']}, {count(case.cores, 'core')}: {number(rate)} MLUP/s"
