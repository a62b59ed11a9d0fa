"""Where the time goes, as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.evidence import MeasuredCase, label_of
from haloscope.quantities import count, percent, seconds
from haloscope.series.model import Bars, Figure
from haloscope.tables.context import Context
from haloscope.tables.phases import shares


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Stacked bars: each phase's share of a step, a bar a case, a figure a kernel."""
    found = []
    for kernel in dict.fromkeys(case.kernel for case in cases):
        own = [case for case in cases if case.kernel == kernel and len(shares(case)) > 1]
        if own and not any(record.points for record in own[0].launches):
            found.append(_phases_figure(kernel, own, context))
    return found


def _phases_figure(kernel: str, cases: Sequence[MeasuredCase], context: Context) -> Figure:
    by_case = [{phase.name: phase for phase in shares(case)} for case in cases]
    names = list(dict.fromkeys(name for own in by_case for name in own))
    names.sort(key=lambda name: name == "outside phases")
    parts = tuple(
        (name, tuple(own[name].share.value if name in own else 0.0 for own in by_case))
        for name in names
    )
    largest = max(parts, key=lambda part: sum(part[1]))
    return Figure(
        id="phases",
        kind="phases",
        title=context.title(f"Time by phase, {kernel}"),
        panels=(
            Bars(
                "shares",
                "",
                tuple(label_of(case, cases) for case in cases),
                parts,
                tuple(seconds(case.time.value) if case.time else "" for case in cases),
            ),
        ),
        alt=f"Share of a step by phase for {count(len(cases), 'case')}. Largest: {largest[0]}, "
        f"{percent(min(largest[1]))} to {percent(max(largest[1]))}.",
        notes=("Mean over ranks, median over launches. After each name: the time of a step.",),
    )
