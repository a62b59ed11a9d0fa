"""One step as each rank saw it, as in figures 8, 10 and 11 of the report on Summit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import Facet, MeasuredCase, facets_by_kernel
from haloscope.quantities import SECONDS, count, listed, number, seconds, size, unit_of
from haloscope.report.context import Context
from haloscope.report.figures.model import Bar, Figure, Gantt

MOST_RANKS = 16
"""MOST_RANKS is the largest number of rows that can be read."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure a case with a timeline: its first point and its last."""
    own = [case for case in cases if _recorded(case)]
    return [_figure(part, context) for part in facets_by_kernel(own)]


def _recorded(case: MeasuredCase) -> Sequence[Mapping[str, Any]]:
    """The last launch's timelines, one a point."""
    return case.launches[-1].timeline if case.launches else ()


def _figure(part: Facet, context: Context) -> Figure:
    (case,) = part.cases
    traces = _recorded(case)
    chosen = sorted({0, len(traces) - 1})
    panels = tuple(_panel(case, traces[point], point) for point in chosen)
    worst = max(trace["clock_error_s"] for trace in traces)
    notes = [
        "One step of its own, of one launch, after one that warmed up; its parts are timed, which "
        "takes time. Thin bars: phases that the bars above them are parts of.",
        f"Clocks agree to {seconds(worst)}." if worst else "All ranks read one clock.",
    ]
    if told := _cut(case, panels):
        notes.append(told)
    ranks = len(traces[0]["ranks"])
    if case.ranks > min(ranks, MOST_RANKS):
        notes.append(f"The first {min(ranks, MOST_RANKS)} of {case.ranks} ranks.")
    return Figure(
        id="timeline",
        kind="timeline",
        title=context.title(f"One step by rank, {case.kernel}", part.label),
        panels=panels,
        alt=f"Phases of {count(ranks, 'rank')} over time. Longest: {listed(_longest(panels))}."
        + (f" Cut off {ends}." if (ends := _ends_in_words(panels[-1])) else ""),
        notes=tuple(notes),
    )


def _longest(panels: Sequence[Gantt]) -> list[str]:
    """The longest phase of each panel, and which one it is where there are several."""
    names = [max(one.bars, key=lambda bar: bar.end - bar.begin).name for one in panels]
    return [
        f"{name} ({panel.title})" if len(panels) > 1 else name
        for name, panel in zip(names, panels, strict=True)
    ]


def _cut(case: MeasuredCase, panels: Sequence[Gantt]) -> str:
    """That rows end before their step does, as no more phases were to be kept, and where."""
    told = [words for panel in panels if (words := _ends_in_words(panel))]
    if not told:
        return ""
    most = case.settings.get("timeline")
    return (
        f"Of each rank the first {most} phases were kept: rows that end with a line and dots "
        f"({'; '.join(told)}) may go on after it."
    )


def _ends_in_words(panel: Gantt) -> str:
    """Where a panel's rows end that are cut: "8 B: from 10.1 to 12 µs"."""
    if not panel.ends:
        return ""
    times = [end for _, end in panel.ends]
    low, high = number(min(times)), number(max(times))
    unit = panel.x.removeprefix("time (").removesuffix(")")
    where = f"at {low} {unit}" if low == high else f"from {low} to {high} {unit}"
    return f"{panel.title}: {where}" if panel.title else where


def _panel(case: MeasuredCase, trace: Mapping[str, Any], point: int) -> Gantt:
    ranks = trace["ranks"][:MOST_RANKS]
    start_s = min((span[2] for spans in ranks for span in spans), default=0.0)
    end_s = max((span[3] for spans in ranks for span in spans), default=0.0)
    factor, unit = unit_of(end_s - start_s, SECONDS)

    def at(time_s: float) -> float:
        return (time_s - start_s) / factor

    bars = tuple(
        Bar(rank, name, at(begin), at(end), _holds_others(spans, depth, begin, end))
        for rank, spans in enumerate(ranks)
        for name, depth, begin, end in spans
    )
    most = case.settings.get("timeline")
    return Gantt(
        f"point{point}",
        _name(case, point),
        f"time ({unit})",
        tuple(f"rank {rank}" for rank in range(len(ranks))),
        bars,
        tuple(
            (rank, at(max(end for *_, end in spans)))
            for rank, spans in enumerate(ranks)
            if spans and len(spans) == most
        ),
    )


def _holds_others(
    spans: Sequence[tuple[str, int, float, float]], depth: int, begin: float, end: float
) -> bool:
    return any(one[1] > depth and begin <= one[2] and one[3] <= end for one in spans)


def _name(case: MeasuredCase, point: int) -> str:
    points = case.launches[-1].points
    if not points:
        return ""
    told = points[point]
    return f"n = {told['n']}" if "n" in told else size(told["size_bytes"])
