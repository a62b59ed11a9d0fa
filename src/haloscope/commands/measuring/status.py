# SPDX-License-Identifier: BSD-3-Clause
"""haloscope status: show the batch jobs of a result folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.run.campaign.campaign import earlier_walls
from haloscope.run.jobs import following, job_notes, submission
from haloscope.run.jobs.job_notes import FolderJobs
from haloscope.run.jobs.standing import standing
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import JobState


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `status`, and add its argument."""
    parser.description = (
        "Show the progress of a batch run: finished and remaining launches, job states, and "
        "reasons for waiting. Launches are counted in DIR/records.jsonl, so the "
        "command also works where the batch system is not available."
    )
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")


def execute(arguments: argparse.Namespace) -> int:
    """Print the status; return 0. Raise UserError for a folder that no site measures."""
    out = Screen()
    jobs = job_notes.of(arguments.directory)
    submission.require_of_a_site(jobs)
    states, silent = _states(arguments.directory)
    walls = earlier_walls(jobs.folder, jobs.plan)
    if silent:
        out.lines(silent)
    out.lines(standing(jobs, states, walls))
    if silent:
        _show_noted(jobs, out)
    for job, state in states.items():
        out.lines(following.in_words({job: state}))
    out.lines(*job_notes.lacking(jobs.directory))
    if jobs.left():
        out.lines(following.last_heard(jobs.directory))
        if states and all(state.over for state in states.values()):
            folder = in_a_shell(arguments.directory)
            out.lines(f"to continue: haloscope run --resume {folder}")
    return 0


def _states(directory: Path) -> tuple[dict[str, JobState], str]:
    try:
        jobs = submission.of_folder(directory)
        jobs.found_again()
        return jobs.states(), ""
    except UserError as error:
        problem = error.problems[0]
        return {}, f"batch system not queried: {problem.where}: {problem.what}"
    except (NoAnswerError, RefusedError) as error:
        return {}, f"the batch system is not responding: {error}"


def _show_noted(jobs: FolderJobs, out: Screen) -> None:
    for one in jobs.noted():
        what = "preflight check" if one.check else count(one.nodes, "node")
        name = f"job {one.job}" if one.job else f"script {one.script}"
        state = "cancelled" if one.cancelled else "state unknown" if one.job else "not submitted"
        limit = count(one.minutes, "minute")
        out.lines(f"{name}: {state}; {what}, up to {limit}")
