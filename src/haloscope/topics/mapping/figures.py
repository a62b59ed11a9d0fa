# SPDX-License-Identifier: BSD-3-Clause
"""Figures of mappings and of weak scaling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet
from haloscope.quantities import count, number
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    around_one,
    bars,
    counts,
    mark,
)
from haloscope.topics.mapping import (
    PATTERNS,
    Effect,
    Spread,
    WeakScaling,
    effects,
    named,
    printed,
    spreads,
    weak_scalings,
)


def mapping_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Time of the same tasks by nodes, relative to the fewest nodes, one panel per kernel."""
    panels = [
        panel
        for index, (part, found) in enumerate(spreads(cases))
        if (panel := _mapping_panel(index, part, found, context)).values_of_x > 1
    ]
    if not panels:
        return
    yield Figure(
        kind="mapping",
        title=context.title("Time on more nodes, by tasks"),
        panels=tuple(panels),
        alt="Time relative to the fewest nodes. " + " ".join(map(_mapping_in_words, panels)),
        notes=_notes(panels),
        cases=tuple(case.id for part, _ in spreads(cases) for case in part.cases),
    )


def _notes(panels: Sequence[Lines]) -> tuple[str, ...]:
    curves = [curve for panel in panels for curve in panel.curves]
    marks = [mark for curve in curves for mark in curve.marks]
    ranged = any(mark.low is not None and mark.low != mark.high for mark in marks)
    sentences = [
        "Below 1, more nodes are faster.",
        f"Points: block mapping{'; bars: range over all mappings' if ranged else ''}.",
    ]
    if any(curve.published for curve in curves):
        sentences += [
            "Published values: run times of other programs, relative to their fewest nodes.",
            "Published percentages are taken as relative to the shorter time.",
        ]
    return tuple(sentences)


def _mapping_panel(index: int, part: Facet, found: Sequence[Spread], context: Context) -> Lines:
    curves = [
        Curve(count(tasks, "task"), marks)
        for tasks in dict.fromkeys(one.tasks for one in found)
        if len(marks := tuple(_mapping_marks([one for one in found if one.tasks == tasks]))) > 1
    ]
    if curves:
        curves += _published(part.cases[0].kernel, context)
    drawn = [mark for curve in curves for mark in curve.marks]
    heights = [y for mark in drawn for y in (mark.low, mark.y, mark.high) if y]
    return Lines(
        f"mapping-{index}",
        named(part),
        Axis("nodes", "log2", counts(sorted({int(mark.x) for mark in drawn} or {1}))),
        around_one("time relative to the fewest nodes", heights),
        tuple(curves),
    )


def _published(kernel: str, context: Context) -> Iterator[Curve]:
    """Yield published times by nodes per program, and single values for the most nodes."""
    cluster = context.host
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


def _mapping_marks(own: Sequence[Spread]) -> Iterator[Mark]:
    """Yield the first mapping's time by nodes, with the range over all mappings."""
    first = next(iter(own[0].cases.values())).time
    for nodes, case in own[0].cases.items():
        every = [one.cases[nodes].time for one in own if nodes in one.cases]
        ratios = [time.value / first.value for time in every if time and first]
        if case.time and ratios:
            yield Mark(nodes, ratios[0], min(ratios), max(ratios))


def _mapping_in_words(panel: Lines) -> str:
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves]
    values = "; ".join(f"{label}: {number(mark.y)} on {mark.x:g} nodes" for label, mark in last)
    return f"{panel.title}: {values}."


def weak_scaling_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Weak scaling: time relative to the fewest tasks on one node, one curve per pattern."""
    found = weak_scalings(cases)
    panels = [_weak_panel(index, *one, context.seed) for index, one in enumerate(found)]
    if not panels:
        return
    shown = [case for _, one in found for spread in one.spreads for case in spread.cases.values()]
    references = dict.fromkeys(
        f"{named(part)}: {count(scaling.reference.ranks, 'task')} on one node"
        for part, scaling in found
    )
    yield Figure(
        kind="weak_scaling",
        title=context.title("Weak scaling, by tasks"),
        panels=tuple(panels),
        fewest=OVER_PROCESSES,
        alt="Time relative to the reference. " + " ".join(map(_weak_in_words, panels)),
        notes=(f"Reference: {'; '.join(references)}.", *bars(shown, panels)),
    )


def _weak_panel(index: int, part: Facet, scaling: WeakScaling, seed: int) -> Lines:
    curves = tuple(
        Curve(pattern, marks, style=style)
        for style, pattern in enumerate(PATTERNS)
        if (marks := tuple(_weak_marks(pattern, scaling, seed)))
    )
    tasks = sorted({int(point.x) for curve in curves for point in curve.marks})
    ideal = Curve("ideal", tuple(Mark(x, 1.0) for x in tasks), bound=True)
    return Lines(
        f"weak-scaling-{index}",
        named(part),
        Axis("tasks", "log2", counts(tasks)),
        Axis("time / reference"),
        (ideal, *curves),
    )


def _weak_marks(pattern: str, scaling: WeakScaling, seed: int) -> Iterator[Mark]:
    for one in scaling.spreads:
        case = one.patterns.get(pattern)
        ratio = scaling.over_reference(case, seed) if case else None
        if ratio is not None:
            yield mark(one.tasks, ratio)


def _weak_in_words(panel: Lines) -> str:
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves if not curve.bound]
    values = ", ".join(f"{label} {number(point.y)} with {point.x:g} tasks" for label, point in last)
    return f"{panel.title}: {values}."
