# SPDX-License-Identifier: BSD-3-Clause
"""Timeline of one step by rank (as figures 8, 10, 11, 13, and 14 of the report on Summit)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import Facet, MeasuredCase, facets_by_kernel
from haloscope.analysis.context import Context
from haloscope.quantities import SECONDS, count, listed, number, seconds, size, unit_of
from haloscope.report.figures.model import Bar, Figure, Gantt

MOST_ROWS = 16
"""MOST_ROWS is the largest number of rows that can be read."""

Call = Sequence[Any]
"""As a record has it: name, depth, begin and end in seconds; of a device's work, its stream."""


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
        f"takes time.{_THIN if any(bar.outer for one in panels for bar in one.bars) else ''}",
        f"Clocks agree to {seconds(worst)}." if worst else "All ranks read one clock.",
    ]
    if any(" stream " in row for panel in panels for row in panel.rows):
        notes.append(
            "Rows of streams: when a device was at work, by the name of the phase that launched "
            "it; what is too short to be seen is a line."
        )
    if not all(_took_time(call) for point in chosen for call in _calls(traces[point])):
        notes.append("Phases that took no time are not drawn.")
    if case.emulated:
        notes.append("On an emulated device: times say nothing of a real one.")
    if told := _cut(case, panels):
        notes.append(told)
    ranks = min(len(_shown(traces[point])) for point in chosen)
    if case.ranks > ranks:
        notes.append(f"The first {ranks} of {case.ranks} ranks.")
    return Figure(
        id="timeline",
        kind="timeline",
        title=context.title(f"One step by rank, {case.kernel}", part.label),
        panels=panels,
        alt=f"Phases of {count(ranks, 'rank')} over time. Longest: {listed(_longest(panels))}."
        + (f" Cut off {ends}." if (ends := _ends_in_words(panels[-1])) else ""),
        notes=tuple(notes),
    )


_THIN = " Thin bars: phases that the bars above them are parts of."


def _longest(panels: Sequence[Gantt]) -> list[str]:
    """The longest phase of each panel that others do not lie within; of several, which panel's."""
    inner = [[bar for bar in one.bars if not bar.outer] for one in panels]
    names = [max(own, key=lambda bar: bar.end - bar.begin).name for own in inner]
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


def _rows(rank: int, calls: Sequence[Call]) -> dict[str, list[Call]]:
    """The rows of a rank by their names: its own calls, and the works of each stream that has any.

    "rank 1", then "rank 1, stream 0" for each stream of its device.
    """
    rows: dict[str, list[Call]] = {f"rank {rank}": [call for call in calls if len(call) == 4]}
    for stream in sorted({call[4] for call in calls if len(call) > 4}):
        rows[f"rank {rank}, stream {stream}"] = [call for call in calls if call[4:] == [stream]]
    return rows


def _shown(trace: Mapping[str, Any]) -> list[dict[str, list[Call]]]:
    """The rows of the first ranks, as many as can be read; of one rank at least."""
    ranks: list[dict[str, list[Call]]] = []
    for rank, calls in enumerate(trace["ranks"]):
        rows = _rows(rank, calls)
        if ranks and sum(map(len, ranks)) + len(rows) > MOST_ROWS:
            break
        ranks.append(rows)
    return ranks


def _calls(trace: Mapping[str, Any]) -> Iterator[Call]:
    return (call for rank in _shown(trace) for calls in rank.values() for call in calls)


def _panel(case: MeasuredCase, trace: Mapping[str, Any], point: int) -> Gantt:
    rows = {name: calls for rank in _shown(trace) for name, calls in rank.items()}
    start_s = min((call[2] for calls in rows.values() for call in calls), default=0.0)
    end_s = max((call[3] for calls in rows.values() for call in calls), default=0.0)
    factor, unit = unit_of(end_s - start_s, SECONDS)

    def at(time_s: float) -> float:
        return (time_s - start_s) / factor

    drawn = [[call for call in calls if _took_time(call)] for calls in rows.values()]
    bars = tuple(
        Bar(row, name, at(begin), at(end), _holds_others(calls, depth, begin, end))
        for row, calls in enumerate(drawn if any(drawn) else rows.values())
        for name, depth, begin, end, *_ in calls
    )
    most = case.settings.get("timeline")
    return Gantt(
        f"point{point}",
        _name(case, point),
        f"time ({unit})",
        tuple(rows),
        bars,
        tuple(
            (row, at(max(call[3] for call in calls)))
            for row, calls in enumerate(rows.values())
            if calls and len(calls) == most
        ),
    )


def _took_time(call: Call) -> bool:
    """Others would have a colour and a name for nothing, and look as if they lay in what ends or
    begins there: under simulation, all that is not computed, sent or waited for."""
    return float(call[3]) > float(call[2])


def _holds_others(calls: Sequence[Call], depth: int, begin: float, end: float) -> bool:
    return any(one[1] > depth and begin <= one[2] and one[3] <= end for one in calls)


def _name(case: MeasuredCase, point: int) -> str:
    points = case.launches[-1].points
    if not points:
        return ""
    told = points[point]
    at = f"n = {told['n']}" if "n" in told else size(told["size_bytes"])
    return ", ".join(filter(None, (told.get("operation"), at)))
