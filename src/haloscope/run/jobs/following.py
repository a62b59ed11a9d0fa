# SPDX-License-Identifier: BSD-3-Clause
"""Follow the jobs of a campaign to their end, and print their states."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from haloscope.errors import Problem, UserError, reject
from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.records import strict_json
from haloscope.records.attempts import attempts
from haloscope.run.campaign.campaign import earlier_walls
from haloscope.run.jobs.driving import remove_left
from haloscope.run.jobs.job_notes import HEARTBEAT, checked, lacking
from haloscope.run.jobs.standing import standing
from haloscope.run.jobs.submission import Submission, submit_all
from haloscope.run.progress import Teller
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import CANCELLED, GONE, JobState

FIRST_POLL_S = 30.0
LAST_POLL_S = 300.0
"""FIRST_POLL_S and LAST_POLL_S are the first and the longest interval between queries of the batch
system; it grows by half each time that nothing has changed.
"""
LOOK_S = 5.0
"""LOOK_S is how often the folder is checked in between, without a query to the batch system."""
PROGRESS_S = 30.0


def follow(
    submission: Submission,
    tell: Teller,
    *,
    wait: Callable[[float], None] = time.sleep,
    poll_s: float = FIRST_POLL_S,
    again: bool = True,
) -> None:
    """Submit, wait, and resubmit what remains after a job's end, as long as there is progress.

    Failed launches are tried again; repeated failures are left to the report. again: False: do not
    resubmit. Raise UserError when the preflight check fails, after cancelling the other jobs, and
    when a round of jobs adds no record.
    """
    walls = earlier_walls(submission.folder, submission.plan)
    while True:
        before, records = submission.to_do(), len(attempts(submission.folder.records))
        if before == (0, 0):
            tidy(submission)
            return
        jobs = submit_all(submission, tell)
        watch = Watch(submission, jobs, tell, wait, walls)
        try:
            watch.until_over(poll_s)
        except UserError:
            _cancel(submission)
            raise
        stuck = (now := submission.to_do()) >= before
        if stuck and (now[1] or len(attempts(submission.folder.records)) == records):
            raise UserError(_stuck(submission, jobs))
        if stuck or not again:
            tidy(submission)
            return


@dataclass
class Watch:
    """Jobs of a folder that are followed until they end.

    wait: function that sleeps. walls: durations of earlier launches in seconds, by case.
    """

    submission: Submission
    jobs: Sequence[str]
    tell: Teller
    wait: Callable[[float], None]
    walls: Mapping[str, Sequence[float]]
    _states: Mapping[str, JobState] = field(default_factory=dict)
    _quiet_s: float = PROGRESS_S
    _printed: str = ""
    _done: int | None = None

    def until_over(self, poll_s: float = FIRST_POLL_S) -> None:
        """Wait and print changes. A controller that does not answer is queried again.

        Raise UserError as soon as the preflight check has found that nodes lack something.
        """
        pause = poll_s
        while True:
            self._require_nodes()
            changed, over = self._ask()
            if over:
                self._require_nodes()
                self._say_how_far()
                return
            if changed:
                pause = poll_s
            left = pause
            while left > 0:
                self._require_nodes()
                self._say_how_far()
                self.wait(min(LOOK_S, left))
                self._quiet_s += min(LOOK_S, left)
                left -= LOOK_S
            pause = min(LAST_POLL_S, 1.5 * pause)

    def _ask(self) -> tuple[bool, bool]:
        """Query the batch system; return whether states changed, and whether all jobs
        have ended.
        """
        try:
            states = self.submission.batch.states(self.jobs)
        except (NoAnswerError, RefusedError) as error:
            line, over, show = f"the batch system does not answer: {error}", False, self.tell.warn
        else:
            line, over = in_words(states), all(state.over for state in states.values())
            show = self.tell.say
            for job, state in states.items():
                before = self._states.get(job)
                if _failed(state) and not (before and _failed(before)):
                    self._report_failed(job, state)
            self._states = states
        changed = line != self._printed
        if changed:
            show(line)
            self._printed = line
        return changed, over

    def _report_failed(self, job: str, state: JobState) -> None:
        """Print the last output of a failed job. Raise UserError for the preflight check."""
        words = self.submission.last_words(job)
        ended = state.state.lower().replace("_", " ")
        asks = any(one.check and one.job == job for one in self.submission.noted())
        if asks and not checked(self.submission.directory).exists():
            why = words or f"no output, see {self.submission.directory}/jobs"
            what = f"the preflight check failed ({ended}): {why}"
            remedy = "correct the cause, then run haloscope run --resume "
            remedy += in_a_shell(self.submission.directory)
            raise UserError(Problem(f"job {job}", what, remedy))
        if not asks and words:
            self.tell.warn(f"job {job} {ended}: {words}")

    def _require_nodes(self) -> None:
        reject(lacking(self.submission.directory))

    def _say_how_far(self) -> None:
        """Print the progress of launches, if it changed since the last time."""
        if self._quiet_s < PROGRESS_S:
            return
        site = self.submission.site
        via = self.submission.plan.via
        cores = via.nodes * site.described.used.cores if via else 1
        now = standing(self.submission, self._states, self.walls, cores)
        if now.done != self._done:
            self.tell.say(str(now))
            self._done, self._quiet_s = now.done, 0.0


def _failed(state: JobState) -> bool:
    return state.over and state.state not in ("COMPLETED", CANCELLED, GONE)


def _cancel(submission: Submission) -> None:
    with suppress(NoAnswerError, RefusedError, UserError):
        submission.cancel()


def tidy(submission: Submission) -> int:
    """Remove files of killed launches in the folder; return their number. None while a
    job may run.
    """
    try:
        if submission.waiting():
            return 0
        with submission.folder.alone():
            return remove_left(submission.directory)
    # another job, or the next command, removes them
    except (NoAnswerError, RefusedError, UserError):
        return 0


def in_words(states: Mapping[str, JobState]) -> str:
    """Return the states of jobs as one line, with the reasons of pending ones."""
    words = []
    for job, state in states.items():
        why = f" ({state.reason})" if state.state == "PENDING" and state.reason else ""
        where = f" on {state.nodes}" if state.nodes and not state.over else ""
        words.append(f"job {job} {state.state.lower().replace('_', ' ')}{where}{why}")
    return "; ".join(words)


def _stuck(submission: Submission, jobs: Sequence[str]) -> Problem:
    try:
        states = submission.batch.states(jobs)
    except (NoAnswerError, RefusedError):  # no answer again
        states = dict.fromkeys(jobs, JobState(GONE))
    ends = Counter(state.state for state in states.values())
    ended = {GONE: "no longer known to the batch system"}
    what = ", ".join(
        f"{count(number, 'job')} {ended.get(name, name.lower())}" for name, number in ends.items()
    )
    if GONE in ends:
        what += f" ({last_heard(submission.directory)})"
    if words := [said for job in jobs if (said := submission.last_words(job))]:
        what += f"; last output: {words[-1]}"
    logs = submission.directory / "jobs"
    remedy = f"see {logs}/*.log, then run haloscope run --resume {in_a_shell(submission.directory)}"
    return Problem(
        str(submission.directory), f"the jobs ended without a new record: {what}", remedy
    )


def last_heard(directory: Path) -> str:
    """Describe what a job was doing last, from its heartbeat."""
    try:
        beat = strict_json.json_object(strict_json.content(directory / HEARTBEAT))
        return f"job {beat['job']} began its last launch at {beat['at']}: {beat['case']}"
    except (UserError, OSError, ValueError, KeyError):
        return "no job has begun a launch"
