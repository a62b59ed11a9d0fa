# SPDX-License-Identifier: BSD-3-Clause
"""Time of the same tasks by nodes, relative to the fewest nodes, one panel per kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.mappings import Effect, Spread, effects, named, printed, spreads
from haloscope.quantities import count, number
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark, around_one, counts


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure of every comparison with tasks on several numbers of nodes."""
    panels = [
        panel
        for index, (part, found) in enumerate(spreads(cases))
        if (panel := _panel(index, part, found, context)).values_of_x > 1
    ]
    if not panels:
        return []
    return [
        Figure(
            id="mapping",
            kind="mapping",
            title=context.title("Time on more nodes, by tasks"),
            panels=tuple(panels),
            alt="Time over that on the fewest nodes. " + " ".join(map(_in_words, panels)),
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
            "Published: whole runs of other programs, over the fewest nodes of those runs; a "
            "percentage is taken as of the shorter time."
        )
    return (" ".join(told),)


def _panel(index: int, part: Facet, found: Sequence[Spread], context: Context) -> Lines:
    """A curve for each number of tasks, and what was published of programs that are like it."""
    curves = [
        Curve(count(tasks, "task"), marks)
        for tasks in dict.fromkeys(one.tasks for one in found)
        if len(marks := tuple(_marks([one for one in found if one.tasks == tasks]))) > 1
    ]
    if curves:
        curves += _published(part.cases[0].kernel, context)
    drawn = [mark for curve in curves for mark in curve.marks]
    heights = [y for mark in drawn for y in (mark.low, mark.y, mark.high) if y]
    return Lines(
        f"mapping-{index}",
        named(part),
        Axis("nodes", "log2", counts(sorted({int(mark.x) for mark in drawn} or {1}))),
        around_one("time, fewest nodes = 1", heights),
        tuple(curves),
    )


def _published(kernel: str, context: Context) -> Iterator[Curve]:
    """Program by program: times by nodes, and one number of the most nodes where it is printed."""
    cluster = str((context.machine or {}).get("host"))
    timed = set()
    for one in printed(context.library, cluster, kernel):
        timed.add((one.program, one.tasks))
        marks = tuple(Mark(nodes, one.over_fewest(nodes)) for nodes in one.times_s)
        yield _hollow(one.program, one.tasks, marks)
    for effect in effects(context.library, cluster, kernel):
        if effect.tasks and (effect.program, effect.tasks) not in timed and (end := _end(effect)):
            yield _hollow(effect.program, effect.tasks, (end,))


def _end(effect: Effect) -> Mark | None:
    return Mark(effect.nodes, effect.ratio) if effect.nodes and effect.ratio else None


def _hollow(program: str, tasks: int, marks: tuple[Mark, ...]) -> Curve:
    of = count(tasks, "task")
    return Curve(f"{of}, {program}, published", marks, joined=False, published=True, like=of)


def _marks(own: Sequence[Spread]) -> Iterator[Mark]:
    """The first mapping's time by nodes, with the range over all mappings."""
    first = next(iter(own[0].cases.values())).time
    for nodes, case in own[0].cases.items():
        every = [one.cases[nodes].time for one in own if nodes in one.cases]
        ratios = [time.value / first.value for time in every if time and first]
        if case.time and ratios:
            yield Mark(nodes, ratios[0], min(ratios), max(ratios))


def _in_words(panel: Lines) -> str:
    """The last point of every curve."""
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves]
    told = "; ".join(f"{label}: {number(mark.y)} on {mark.x:g} nodes" for label, mark in last)
    return f"{panel.title}: {told}."
