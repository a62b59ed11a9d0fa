# SPDX-License-Identifier: BSD-3-Clause
"""The end of a campaign: its summary, its report, and its exit code."""

from __future__ import annotations

from rich.console import Console

from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.report import writing
from haloscope.run.campaign.campaign import Campaign


def conclude(campaign: Campaign, out: Console, *, write: bool) -> int:
    """Show the summary and write the report if requested; return the exit code."""
    path = campaign.folder.path
    document = writing.composed(path)
    out.print(writing.summary(document))
    if write:
        written = writing.write(document, path)
        out.print(f"report: {written}", markup=False, soft_wrap=True)
    bad, _ = campaign.launches_left()
    if bad:
        what = count(len(bad), "launch", "launches")
        line = f"{what} failed; to retry: run --resume {in_a_shell(path)}"
        out.print(line, markup=False, soft_wrap=True)
    return 1 if bad else 0
