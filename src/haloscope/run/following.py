# SPDX-License-Identifier: BSD-3-Clause
"""A campaign's jobs, followed to their end, and how they stand in words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.batch.job_state import GONE, JobState
from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell
from haloscope.records import strict_json
from haloscope.records.attempts import attempts
from haloscope.run.driving import HEARTBEAT, remove_left
from haloscope.run.progress import Teller
from haloscope.run.submission import Submission, lacking, submit_all

FIRST_POLL_S = 30.0
LAST_POLL_S = 300.0
"""FIRST_POLL_S and LAST_POLL_S: how long to wait between questions to the batch system, at first
and at most; half as long again each time that nothing has changed."""


def follow(
    submission: Submission,
    tell: Teller,
    *,
    wait: Callable[[float], None] = time.sleep,
    poll_s: float = FIRST_POLL_S,
) -> None:
    """Submit, wait, and submit again what a job's end has left, as long as that gets on.

    What has not ended well is tried again; where it does no better, that is for the report to tell.
    UserError where the nodes lack something, or a round of jobs brings no record.
    """
    while True:
        before, records = submission.to_do(), len(attempts(submission.folder.records))
        if before == (0, 0):
            tidy(submission)
            return
        jobs = submit_all(submission, tell)
        _until_over(submission, jobs, tell, wait, poll_s)
        if problems := lacking(submission.directory):
            raise UserError(problems)
        if (now := submission.to_do()) >= before:
            if now[1] or len(attempts(submission.folder.records)) == records:
                raise UserError(_stuck(submission, jobs))
            tidy(submission)
            return


def _until_over(
    submission: Submission,
    jobs: Sequence[str],
    tell: Teller,
    wait: Callable[[float], None],
    poll_s: float,
) -> None:
    """Wait for jobs, saying what changes. A controller that does not answer is asked again."""
    pause, told = poll_s, ""
    while True:
        try:
            states = submission.batch.states(jobs)
        except (NoAnswerError, RefusedError) as error:
            line, over, show = f"no answer from the batch system: {error}", False, tell.warn
        else:
            line, over = in_words(states), all(state.over for state in states.values())
            show = tell.say
        if line != told:
            show(line)
            pause, told = poll_s, line
        if over:
            return
        wait(pause)
        pause = min(LAST_POLL_S, 1.5 * pause)


def tidy(submission: Submission) -> int:
    """Remove what killed launches left in the folder; how many. None while a job may be at work."""
    try:
        if submission.waiting():
            return 0
        with submission.folder.alone():
            return remove_left(submission.directory)
    except (NoAnswerError, RefusedError, UserError):  # another job, or the next command, does it
        return 0


def in_words(states: Mapping[str, JobState]) -> str:
    """How jobs stand, on a line: the ones that wait say why."""
    words = []
    for job, state in states.items():
        why = f" ({state.reason})" if state.state == "PENDING" and state.reason else ""
        where = f" on {state.nodes}" if state.nodes and not state.over else ""
        words.append(f"job {job} {state.state.lower().replace('_', ' ')}{where}{why}")
    return "; ".join(words)


def _stuck(submission: Submission, jobs: Sequence[str]) -> Problem:
    """No record came of jobs: why, by their states and the ends of what they printed."""
    try:
        states = submission.batch.states(jobs)
    except (NoAnswerError, RefusedError):  # away again: nobody knows them now
        states = dict.fromkeys(jobs, JobState(GONE))
    ends = Counter(state.state for state in states.values())
    what = ", ".join(f"{number} {name.lower()}" for name, number in ends.items())
    if GONE in ends:
        what += f" ({last_heard(submission.directory)})"
    logs = submission.directory / "jobs"
    mend = f"see {logs}/*.log; then: haloscope run --resume {in_a_shell(submission.directory)}"
    return Problem(str(submission.directory), f"jobs ended without a launch more: {what}", mend)


def last_heard(directory: Path) -> str:
    """What a job was doing last, by its heartbeat."""
    try:
        beat = strict_json.json_object(strict_json.content(directory / HEARTBEAT))
        return f"job {beat['job']} last began a launch at {beat['at']}, of {beat['case']}"
    except (UserError, OSError, ValueError, KeyError):
        return "no job has begun a launch yet"
