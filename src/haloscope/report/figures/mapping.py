"""Time by tasks on more nodes, relative to the concentrated pattern: a panel for each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.mappings import Spread, effects, named, spreads
from haloscope.quantities import number
from haloscope.report.context import Context
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark, counts, powers_of_two
from haloscope.study.case import PATTERNS


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure of every comparison with several numbers of tasks."""
    several = [
        (part, found) for part, found in spreads(cases) if len({one.tasks for one in found}) > 1
    ]
    panels = [
        panel
        for index, (part, found) in enumerate(several)
        if (panel := _panel(index, part, found, context)).curves
    ]
    if not panels:
        return []
    return [
        Figure(
            id="mapping",
            kind="mapping",
            title=context.title("Time on more nodes, by tasks"),
            panels=tuple(panels),
            alt="Time over that of concentrated tasks. " + " ".join(map(_in_words, panels)),
            notes=_notes(panels),
        )
    ]


def _notes(panels: Sequence[Lines]) -> tuple[str, ...]:
    """What points, bars and published points are, where there are any."""
    curves = [curve for panel in panels for curve in panel.curves]
    marks = [mark for curve in curves for mark in curve.marks]
    told = ["Points: ranks placed block by block."]
    if any(mark.low is not None and mark.low != mark.high for mark in marks):
        told.append("Bars: from the fastest to the slowest of all mappings.")
    told.append("Below 1, more nodes are faster.")
    if any(curve.published for curve in curves):
        told.append(
            "Published: on the most nodes over the fewest, of other programs; a percentage is "
            "taken as of the shorter time."
        )
    return (" ".join(told),)


def _panel(index: int, part: Facet, found: Sequence[Spread], context: Context) -> Lines:
    """A curve for each pattern, and the published times of programs that communicate alike."""
    curves = tuple(
        Curve(pattern, marks, joined=False, style=style)
        for style, pattern in enumerate(PATTERNS)
        if (marks := tuple(_marks(pattern, found)))
    )
    if curves:
        curves = (*curves, *_published(part.cases[0].kernel, context))
    drawn = [mark for curve in curves for mark in curve.marks]
    heights = [y for mark in drawn for y in (mark.low, mark.y, mark.high) if y]
    return Lines(
        f"mapping-{index}",
        named(part),
        Axis("tasks", "log2", counts(sorted({int(mark.x) for mark in drawn} or {1}))),
        Axis("time, concentrated = 1", "log2", powers_of_two([1.0, *heights])),
        curves,
    )


def _published(kernel: str, context: Context) -> Iterator[Curve]:
    """On the most nodes over the fewest, program by program, where one number is printed."""
    cluster = str((context.machine or {}).get("host"))
    points: dict[str, dict[int, float]] = {}
    for one in effects(context.library, cluster, kernel):
        if one.tasks is not None and one.ratio is not None:
            points.setdefault(one.program, {})[one.tasks] = one.ratio
    for style, (program, ratios) in enumerate(points.items(), start=len(PATTERNS)):
        marks = tuple(Mark(tasks, ratios[tasks]) for tasks in sorted(ratios))
        yield Curve(f"{program}, published", marks, joined=False, style=style, published=True)


def _marks(pattern: str, found: Sequence[Spread]) -> Iterator[Mark]:
    """The first mapping's time on each number of nodes, with the range over all mappings."""
    for tasks in dict.fromkeys(one.tasks for one in found):
        own = [one for one in found if one.tasks == tasks]
        reference = next(iter(_times(PATTERNS[0], own).values()), None)
        if reference is None:
            continue
        for times in _times(pattern, own).values():
            ratios = [time / reference[0] for time in times]
            yield Mark(tasks, ratios[0], min(ratios), max(ratios))


def _times(pattern: str, spreads_of_tasks: Sequence[Spread]) -> dict[int, list[float]]:
    """Seconds in a pattern by nodes, mapping by mapping."""
    by_nodes: dict[int, list[float]] = {}
    for case in (case for one in spreads_of_tasks for case in one.of(pattern)):
        if case.time:
            by_nodes.setdefault(case.number("nodes"), []).append(case.time.value)
    return by_nodes


def _in_words(panel: Lines) -> str:
    """The last point of every curve, each with the tasks that it is of."""
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves[1:]]
    told = ", ".join(f"{label} {number(mark.y)} with {mark.x:g} tasks" for label, mark in last)
    return f"{panel.title}: {told}."
