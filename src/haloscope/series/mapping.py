"""Time by tasks in each pattern, relative to the fewest tasks on the fewest nodes: weak scaling."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.case import PATTERNS
from haloscope.evidence import Facet, MeasuredCase
from haloscope.mappings import Spread, spreads
from haloscope.quantities import number
from haloscope.series.model import Axis, Curve, Figure, Lines, counts, mark
from haloscope.tables.context import Context


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for every comparison with several numbers of tasks, a panel for each mapping."""
    return [
        _figure(part, found, context)
        for part, found in spreads(cases)
        if len({one.tasks for one in found}) > 1 and _reference(found)
    ]


def _figure(part: Facet, found: Sequence[Spread], context: Context) -> Figure:
    names = list(dict.fromkeys(one.name for one in found))
    reference = _reference(found)
    panels = tuple(
        _panel(index, name, [one for one in found if one.name == name], reference)
        for index, name in enumerate(names)
    )
    told = ", ".join(
        f"{one.name} {number(one.distributed)}"
        for one in found
        if one.tasks == found[-1].tasks and one.distributed
    )
    return Figure(
        id="mapping",
        kind="mapping",
        title=context.title(
            f"Time by tasks, on few nodes and on many, {part.cases[0].kernel}", part.label
        ),
        panels=panels,
        alt=f"Time by tasks; {found[-1].tasks} tasks, distributed over concentrated: {told}.",
    )


def _reference(found: Sequence[Spread]) -> float:
    """Seconds of the fewest tasks, concentrated; 0 where that case has no time."""
    case = found[0].cases.get(PATTERNS[0])
    return case.time.value if case and case.time else 0.0


def _panel(index: int, name: str, own: Sequence[Spread], reference: float) -> Lines:
    curves = tuple(
        Curve(
            pattern,
            tuple(
                mark(one.tasks, case.time.times(1 / reference))
                for one in own
                if (case := one.cases.get(pattern)) and case.time
            ),
            joined=False,
            style=style,
        )
        for style, pattern in enumerate(PATTERNS)
    )
    return Lines(
        f"mapping-{index}",
        name,
        Axis("tasks", "log2", counts([one.tasks for one in own])),
        Axis("time, the first concentrated = 1"),
        tuple(curve for curve in curves if curve.marks),
    )
