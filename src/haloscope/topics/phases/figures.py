# SPDX-License-Identifier: BSD-3-Clause
"""Figures of where the time goes: phases, sections of LAMMPS, timelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from haloscope.analysis.cases import MeasuredCase, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.facets import facets, labelled_by_kernel
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.quantities import SECONDS, count, listed, number, seconds, size, unit_of
from haloscope.topics.common.figure import Bar, Bars, Figure, Gantt
from haloscope.topics.common.words import shares_between
from haloscope.topics.phases import REST, in_sections, shares

MOST_BARS = 30
"""With more bars, those inside a grid of nodes and processes per node are omitted."""


BARS_A_PANEL = 18
"""With more bars, a printed page would be illegible."""


def phases_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Share of the time of a step spent in each phase, as stacked bars."""
    phased = [case for case in cases if len(shares(case)) > 1]
    return [
        bars_of(own, f"Time by phase, {kernel}", "phases", context)
        for kernel, own in grouped(phased, lambda case: case.kernel).items()
    ]


def _at_the_edges(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    kept = []
    for part in facets(cases, PROCESSES):
        most = max(case.layout.ppn for case in part.cases)
        kept += [c for c in part.cases if c.layout.nodes == 1 or c.layout.ppn == most]
    return kept


def bars_of(every: Sequence[MeasuredCase], title: str, kind: str, context: Context) -> Figure:
    """Return a bar per case with the shares of its phases, each named if there are
    several kernels.
    """
    cases = _at_the_edges(every) if len(every) > MOST_BARS else every
    left_out = len(every) - len(cases)
    by_case = [{phase.name: phase for phase in shares(case)} for case in cases]
    names = list(dict.fromkeys(name for own in by_case for name in own))
    names.sort(key=lambda name: name == REST)
    parts = tuple(
        (name, tuple(own[name].share.value if name in own else 0.0 for own in by_case))
        for name in names
    )
    largest = max(parts, key=lambda part: sum(part[1]))
    whole = zip(*(values for _, values in parts), strict=True)
    return Figure(
        kind=kind,
        title=context.title(title),
        panels=tuple(_panels(cases, parts)),
        alt=f"Share of step time by phase for {count(len(cases), 'case')}. "
        f"Largest share{' over all cases' * (len(cases) > 1)}: {largest[0]}, "
        f"{shares_between(largest[1])}.",
        notes=(
            "Times are means over ranks and medians over launches.",
            *([_UNEVEN] if any(abs(1 - sum(own)) > UNSEEN for own in whole) else []),
            *([_left_out(left_out)] if left_out else []),
        ),
        cases=tuple(case.id for case in cases),
    )


_Parts = Sequence[tuple[str, tuple[float, ...]]]


def _panels(cases: Sequence[MeasuredCase], parts: _Parts) -> Iterator[Bars]:
    names = [row_name(case, cases) for case in cases]
    totals = [seconds(case.time.value) if case.time else "" for case in cases]
    number = -(-len(cases) // BARS_A_PANEL)
    ends = [len(cases) * part // number for part in range(number + 1)]
    for index, (begin, end) in enumerate(pairwise(ends), start=1):
        yield Bars(
            "shares" if number == 1 else f"shares-{index}",
            "" if number == 1 else f"{index} of {number}",
            tuple(names[begin:end]),
            tuple((name, values[begin:end]) for name, values in parts),
            tuple(totals[begin:end]),
        )


UNSEEN = 0.01
"""UNSEEN is the invisible share of a bar that may be missing, or too much."""
_UNEVEN = "Shares are separate medians and need not add up to 100 %."


def _left_out(number: int) -> str:
    what = "on several nodes with fewer than the maximum number of processes per node"
    return f"Not drawn: {count(number, 'case')} {what}."


def sections_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Time by section of LAMMPS, as stacked bars."""
    own = [found for case in cases if (found := in_sections(case)) and shares(found)]
    return [bars_of(own, "Time by section of LAMMPS", "sections", context)] if own else []


MOST_ROWS = 16

Call = Sequence[Any]
"""As in a record: name, depth, begin and end in seconds; for a device's work, its stream."""


def timeline_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Timeline of one step by rank (as in figures 8, 10, 11, 13, 14 of the report on Summit)."""
    own = [case for case in cases if _recorded(case)]
    return [_figure(case, name, context) for case, name in labelled_by_kernel(own).items()]


def _recorded(case: MeasuredCase) -> Sequence[Mapping[str, Any]]:
    return case.launches[-1].timeline if case.launches else ()


def _figure(case: MeasuredCase, name: str, context: Context) -> Figure:
    traces = _recorded(case)
    chosen = sorted({0, len(traces) - 1})
    panels = tuple(_panel(case, traces[point], point) for point in chosen)
    worst = max(trace["clock_error_s"] for trace in traces)
    notes = [
        "One additional step of one launch, after a warm-up step, with the overhead of timing its "
        "parts.",
        f"Clocks agree within {seconds(worst)}." if worst else "All ranks read one clock.",
        *([_THIN] if any(bar.outer for one in panels for bar in one.bars) else []),
    ]
    if any(" stream " in row for panel in panels for row in panel.rows):
        notes.append(
            "Rows of streams: times when a device was busy, named after the phase that "
            "launched the work."
        )
    if not all(_took_time(call) for point in chosen for call in _calls(traces[point])):
        notes.append("Phases without measurable time are not drawn.")
    if case.emulated:
        notes.append("Emulated device: timings are not representative of a GPU.")
    if note := _cut(case, panels):
        notes.append(note)
    ranks = min(len(_shown(traces[point])) for point in chosen)
    if case.ranks > ranks:
        notes.append(f"The first {ranks} of {case.ranks} ranks.")
    return Figure(
        kind="timeline",
        title=context.title("One step by rank", case.kernel, name),
        panels=panels,
        alt=f"Phases of {count(ranks, 'rank')} over time. Longest: {listed(_longest(panels))}."
        + (f" Cut off {ends}." if (ends := _ends_in_words(panels[-1])) else ""),
        notes=tuple(notes),
        cases=(case.id,),
    )


_THIN = "Thin bars: phases that contain other phases."


def _longest(panels: Sequence[Gantt]) -> list[str]:
    inner = [[bar for bar in one.bars if not bar.outer] for one in panels]
    names = [max(own, key=lambda bar: bar.end - bar.begin).name for own in inner]
    return [
        f"{name} ({panel.title})" if len(panels) > 1 else name
        for name, panel in zip(names, panels, strict=True)
    ]


def _cut(case: MeasuredCase, panels: Sequence[Gantt]) -> str:
    ends = [words for panel in panels if (words := _ends_in_words(panel))]
    if not ends:
        return ""
    most = case.settings.get("timeline")
    return (
        f"Each rank kept its first {most} phases, so rows that end with a line and dots "
        f"({'; '.join(ends)}) may continue."
    )


def _ends_in_words(panel: Gantt) -> str:
    """Describe where a panel's truncated rows end: "8 B: from 10.1 to 12 µs"."""
    if not panel.ends:
        return ""
    times = [end for _, end in panel.ends]
    low, high = number(min(times)), number(max(times))
    unit = panel.x.removeprefix("time (").removesuffix(")")
    where = f"at {low} {unit}" if low == high else f"from {low} to {high} {unit}"
    return f"{panel.title}: {where}" if panel.title else where


def _shown(trace: Mapping[str, Any]) -> list[dict[str, list[Call]]]:
    ranks: list[dict[str, list[Call]]] = []
    for rank, calls in enumerate(trace["ranks"]):
        rows: dict[str, list[Call]] = {f"rank {rank}": [call for call in calls if len(call) == 4]}
        for stream in sorted({call[4] for call in calls if len(call) > 4}):
            rows[f"rank {rank}, stream {stream}"] = [call for call in calls if call[4:] == [stream]]
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
    """Return whether a call took time.

    In simulations, calls without computation, messages, or waits take none. They would have a
    colour and a name for nothing, and appear to be inside neighbouring calls.
    """
    return float(call[3]) > float(call[2])


def _holds_others(calls: Sequence[Call], depth: int, begin: float, end: float) -> bool:
    return any(one[1] > depth and begin <= one[2] and one[3] <= end for one in calls)


def _name(case: MeasuredCase, point: int) -> str:
    points = case.launches[-1].points
    if not points:
        return ""
    values = points[point]
    at = f"n = {values['n']}" if "n" in values else size(values["size_bytes"])
    return ", ".join(filter(None, (values.get("operation"), at)))
