# SPDX-License-Identifier: BSD-3-Clause
"""haloscope collect: summarise and report the launches that jobs have finished."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.report import writing
from haloscope.run.jobs import following, job_notes, submission


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `collect`, and add its argument."""
    parser.description = (
        "Write a report on the launches that the jobs of DIR have completed, and list those "
        "still missing."
    )
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")


def execute(arguments: argparse.Namespace) -> int:
    """Write the report; return 1 if launches are missing."""
    out = Screen()
    jobs = job_notes.of(arguments.directory)
    submission.require_of_a_site(jobs)
    left = jobs.left()
    with suppress(UserError):  # a missing site has no running jobs
        following.tidy(submission.of_folder(arguments.directory))
    out.lines(*job_notes.lacking(jobs.directory))
    writing.conclude(arguments.directory, out)
    if left:
        missing = count(len(left), "launch", "launches")
        folder = in_a_shell(arguments.directory)
        out.lines(f"{missing} missing: haloscope status {folder}")
    return 1 if left else 0
