# SPDX-License-Identifier: BSD-3-Clause
"""Findings on Jacobi sweeps: model errors, their causes, and memory bandwidth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.study.settings import Settings
from haloscope.topics.common.making import made
from haloscope.topics.jacobi import (
    JacobiCase,
    JacobiScaling,
    measured_parts,
    memory_bounds,
    root_mean_square,
    scalings,
)

SMALL = 0.01
"""SMALL is the largest error of a part, as a share of a sweep, that is not named as a cause."""
RATE = Metric("updates per second", "", "higher")


def model(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the error of a model over a scaling, then the largest one and the responsible parts."""
    modelled = [one for one in scalings(cases, context.all_cases) if one.models]
    if not modelled:
        return
    known = [(scaling, *_errors(scaling)) for scaling in modelled]
    scaling, name, off = max(known, key=lambda each: max(map(abs, each[2].values())))
    worst = max(off, key=lambda one: abs(off[one]))
    swept = [one.case for each, _, _ in known for one in each.swept]
    mean = Claim({"statistic": "root mean square"}, share=root_mean_square(off.values()))
    largest = Claim(_settings(worst), share=off[worst])
    causes = _causes(scaling, name, worst)
    for kind, question, parts in (
        ("model_error", f"Jacobi, error of the {name} model", [mean]),
        ("largest_error", f"Jacobi, largest error of the {name} model", [largest, *causes]),
    ):
        yield made(
            context,
            swept,
            question,
            FindingShape.BREAKDOWN,
            parts,
            topic="jacobi",
            kind=kind,
            metric=RATE,
            of=len(known),
            caveats=[Caveat.IN_SAMPLE] * all(case.simulated for case in swept),
            but=(*PROCESSES, "topology"),
        )


def _errors(scaling: JacobiScaling) -> tuple[str, dict[JacobiCase, float]]:
    """Return the most detailed model, and the errors of its updates per second on several ranks."""
    name = "detailed" if "detailed" in scaling.models else "textbook"
    return name, scaling.errors(name)


def _settings(one: JacobiCase) -> Settings:
    nodes = {"nodes": one.sweep.nodes} if one.sweep.nodes > 1 else {}
    return {"ranks": one.sweep.ranks, **nodes, "grid": "x".join(map(str, one.sweep.grid))}


def _causes(scaling: JacobiScaling, name: str, one: JacobiCase) -> list[Claim]:
    """Return the parts of a sweep whose errors have the sign of the total, as shares of
    the sweep.
    """
    measured = measured_parts(one)
    if measured is None:
        return []
    modelled = scaling.models[name].parts(one.sweep)
    outside = one.seconds - measured.update_s - measured.ghosts_s
    whole = one.seconds - modelled.update_s - modelled.ghosts_s
    off = {
        "from updates of points": (measured.update_s - modelled.update_s) / one.seconds,
        "from ghosts": (measured.ghosts_s - modelled.ghosts_s) / one.seconds,
        "from outside phases": outside / one.seconds,
    }
    alike = {part: share for part, share in off.items() if share * whole > 0}
    least = max(SMALL, max(map(abs, alike.values()), default=0.0) / 2)
    return [
        Claim({"part": part}, share=alike[part])
        for part in sorted(alike, key=lambda part: -abs(alike[part]))
        if abs(alike[part]) >= least
    ]


def memory_bound(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the share of the memory bandwidth for each variant, on its fewest and its
    most cores.
    """
    bounds = memory_bounds(cases, context.all_cases, context.machine)
    for variant, own in grouped(bounds, lambda bound: bound.variant).items():
        ends = list(dict.fromkeys((own[0], own[-1])))
        parts = [Claim({one.case.counted: one.case.cores}, share=one.share) for one in ends]
        updating = [one.updating for one in ends if one.share <= 1 and one.updating is not None]
        yield made(
            context,
            [one.case for one in ends],
            f"Jacobi ({variant}), updates per second",
            FindingShape.BOUND,
            parts,
            topic="jacobi",
            kind=f"memory_bound.{variant}",
            metric=RATE,
            bound="memory bandwidth (triad)",
            caveats=[Caveat.PARTLY_CACHED] * any(one.share > 1 for one in ends),
            but=(*PROCESSES, "variant", "topology"),
        )
        if updating:
            yield made(
                context,
                [one.case for one in ends],
                f"Jacobi ({variant}), time of a sweep by part",
                FindingShape.BREAKDOWN,
                [
                    Claim({"part": "updates of points"}, share=min(updating)),
                    Claim({"part": "ghosts and waiting"}, share=1 - min(updating)),
                ],
                topic="jacobi",
                kind=f"sweep.{variant}",
                but=(*PROCESSES, "variant", "topology"),
            )
