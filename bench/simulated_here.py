# SPDX-License-Identifier: BSD-3-Clause
"""Machines that were calibrated, and how far their own runs lie from what that predicts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from turns import processor, taken

from haloscope.analysis.dossier import open_folder
from haloscope.analysis.validation.predictions import Errors
from haloscope.analysis.validation.residuals import of_times
from haloscope.predict.local_validation import validate
from haloscope.report.draw.markdown import pipes
from haloscope.report.predictions.residuals import residual_tables
from haloscope.run.progress import Teller

TITLE = "## Machines, predicted from their calibration"
MEDIAN = 0.10
AIMS = MappingProxyType({"pingpong": "2.7 %", "poisson_cg": f"{MEDIAN:.0%}"})
"""Of messages what there was before a node's memory was shared; of solves what was wanted."""
HEAD = (
    "| machine | measured | kernel | times | median error | aim | largest error |",
    "|---|---|---|---|---|---|---|",
)


def local(folder: Path, before: Sequence[str]) -> list[str]:
    """A row per machine, turn, and kernel, this turn's anew; then where its errors are.

    before: the section as it is.
    """
    done = validate(folder, Teller(Console(stderr=True)), disturbed=True)
    records = open_folder(folder).records
    launches = len({record.launch for record in records})
    when = min(record.started or "" for record in records)[:16].replace("T", " ")
    this = f"| {processor()} | {when} | "
    parts = {
        name: [one for one in done.predictions if one.kernel == name]
        for name in dict.fromkeys(one.kernel for one in done.predictions)
    }
    known = takewhile(str.strip, before[len(HEAD) + 2 :])  # below the title and the table's head
    rows = [line for line in known if not line.startswith(this)]
    for name, times in {**parts, "all": done.predictions}.items():
        of = Errors.of(times)
        figures = f"{of.number} | {of.median:.1%} | {AIMS.get(name, '')} | {of.worst:.1%}"
        rows.append(f"{this}{name} | {figures} |")
    lines = [TITLE, "", *HEAD, *rows, ""]
    lines += [
        f"{taken()} The times are from `haloscope run validate-local --launches {launches}`, "
        "which alternates the calibration's cases with the other cases, and from `haloscope "
        "validate local "
        "--from DIR --residuals`.",
        *(f'The calibration is marked as disturbed ("{mark}").' for mark in done.model.disturbed),
        "",
    ]
    far = [one for one in done.predictions if abs(one.error) > 2 * MEDIAN]
    errors = [f"| {one.kernel}, {one.what} | {one.error:+.0%} |" for one in far]
    head = [f"| case with an error above {2 * MEDIAN:.0%} | error |", "|---|---|"]
    lines += [*head, *errors, ""] if far else []
    for name, times in parts.items():
        for one in residual_tables(of_times(times), name):
            if one.rows and len(one.rows) < len(times):  # not a list of all of them
                lines += [f"{one.title} ({name})", "", *pipes(one), ""]
    return lines
