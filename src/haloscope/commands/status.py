# SPDX-License-Identifier: BSD-3-Clause
"""haloscope status: how the jobs of a result folder stand."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.commands.screen import Screen
from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.run import following, submission


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `status`, and add its argument."""
    parser.description = (
        "What is measured, what the jobs of DIR are at, and why those wait that wait. What is "
        "measured is what DIR/records.jsonl has; the batch system explains what is missing."
    )
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")


def execute(arguments: argparse.Namespace) -> int:
    """Print it; 0."""
    out = Screen()
    jobs = submission.of_folder(arguments.directory)
    left = jobs.left()
    out.print(f"{count(len(left), 'launch', 'launches')} left", soft_wrap=True)
    try:
        jobs.found_again()
        states = jobs.states()
    except (NoAnswerError, RefusedError) as error:
        out.print(f"no answer from the batch system: {error}", soft_wrap=True)
        states = {}
    for job, state in states.items():
        out.print(following.in_words({job: state}), soft_wrap=True)
    for problem in submission.lacking(jobs.directory):
        out.print(str(problem), soft_wrap=True)
    if left:
        out.print(following.last_heard(jobs.directory), soft_wrap=True)
        if states and all(state.over for state in states.values()):
            folder = in_a_shell(arguments.directory)
            out.print(f"to go on: haloscope run --resume {folder}", soft_wrap=True)
    return 0
