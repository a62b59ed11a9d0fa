# SPDX-License-Identifier: BSD-3-Clause
"""haloscope cancel: cancel the jobs of a result folder; its records stay."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.commands.screen import Screen
from haloscope.quantities import count
from haloscope.run.jobs import following, submission


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `cancel`, and add its argument."""
    parser.description = (
        "Cancel the waiting and running jobs of DIR. Finished launches are kept; haloscope run "
        "--resume DIR submits the remaining ones."
    )
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")


def execute(arguments: argparse.Namespace) -> int:
    """Cancel them; return 0. Raise UserError if the batch system does not answer."""
    jobs = submission.of_folder(arguments.directory)
    with submission.answered(jobs):
        jobs.found_again()
        cancelled = jobs.cancel()
    out = Screen()
    out.print(f"{count(len(cancelled), 'job')} cancelled")
    if left := following.tidy(jobs):
        out.print(f"removed {count(left, 'folder')} of killed launches")
    return 0
