# SPDX-License-Identifier: BSD-3-Clause
"""Summary of several launches of one case, and its timeline picture."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.grouping import group
from haloscope.analysis.sweeps import sweep
from haloscope.commands.screen import Screen
from haloscope.paths import dated_folder, write_whole
from haloscope.quantities import count, listed, seconds
from haloscope.records.points import point_name
from haloscope.records.record import Record
from haloscope.report.draw.figures import Drawing
from haloscope.topics import figures


def show(records: Sequence[Record], out: Screen) -> None:
    """Print the median over launches, and write the timeline of the last good one as SVG."""
    (case,) = group(records)
    if len(records) > 1:
        out.print(Text(f"over {count(len(records), 'launch', 'launches')}", style="bold"))
        out.lines(f"  {_over_launches(case)}")
    for drawing in (one for several in _timelines(case).values() for one in several):
        folder = dated_folder(f"once-{case.kernel}")
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{drawing.name}.svg", drawing.svg)
        out.lines(f"timeline: {folder / f'{drawing.name}.svg'}")


def _over_launches(case: MeasuredCase) -> str:
    if case.time is None:
        return "no successful launch"
    several = "a step of every size" if len(sweep(case)) > 1 else "a step"
    if lacking := [point_name(key, case.size_unit) for key in case.lacking]:
        several += f" that all launches have (without {listed(lacking)})"
    time = case.time
    text = f"median of {several}: {seconds(time.value)}"
    if time.low is None or time.high is None:
        return text
    low, high = seconds(time.low), seconds(time.high)
    if time.confidence is None:
        return f"{text}, from {low} to {high}: too few launches for an interval"
    return f"{text} [{low}, {high}], confidence {100 * time.confidence:.1f} %"


def _timelines(case: MeasuredCase) -> dict[str, list[Drawing]]:
    if not (found := figures.build("timeline", [case], Context(all_cases=[case]))):
        return {}
    from haloscope.report.draw.figures.panels import draw_all  # loads matplotlib

    return draw_all(found)
