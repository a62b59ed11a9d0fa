# SPDX-License-Identifier: BSD-3-Clause
"""Batch jobs: submitted once whatever happens, looked for, cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.batch.scheduler import AT_WORK, LEAVING, JobState, Scheduler
from haloscope.batch.slurm import line_that_says_it
from haloscope.errors import Problem, UserError

_TRIES = 5
_PAUSE_S = 5.0


@dataclass(frozen=True)
class Batch:
    """The jobs of a site. wait: how to let time pass."""

    scheduler: Scheduler
    wait: Callable[[float], None] = time.sleep

    def submit(self, script: Path, name: str, comment: str) -> str:
        """The id of a job that is submitted now, or was before under the same name and comment.

        Where the controller does not answer, the job is looked for before it is asked again.
        UserError where it refuses the job, or never answers.
        """
        said = ""
        for number in range(1, _TRIES + 1):
            try:
                if (there := self.scheduler.found(name, comment)) is not None:
                    return there
                return self.scheduler.submitted(script)
            except NoAnswerError as error:
                said = str(error)
            except RefusedError as error:
                raise UserError(self._refused(str(script), error)) from error
            self.wait(number * _PAUSE_S)
        remedy = "resume later; if the job was accepted, it will be found and not submitted again"
        raise UserError(Problem(f"{self.scheduler.submits} {script}", said, remedy))

    def _refused(self, script: str, error: RefusedError) -> Problem:
        remedy = "correct the study's layout, --minutes, or the site file, as the message indicates"
        where = f"{self.scheduler.submits} {script}"
        return Problem(where, line_that_says_it(str(error)), remedy)

    def tested(self, script: Path) -> str:
        """When a job would begin, in words. UserError where it would be refused."""
        try:
            return self.scheduler.tested(script)
        except RefusedError as error:
            raise UserError(self._refused("(a job not submitted yet)", error)) from error

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """How each job stands. NoAnswerError if nobody says."""
        return self.scheduler.states(jobs)

    def has_its_nodes(self, job: str, restarts: int) -> bool:
        """Whether a job that was begun anew so often still is at work; so if nobody answers.

        A job whose node failed may be begun anew while what it ran there before goes on.
        """
        try:
            state = self.scheduler.state_within(job)
        except (NoAnswerError, UserError):  # the controller is away, or nodes have no commands
            return True
        at_work = state.state in AT_WORK and state.state not in LEAVING
        return at_work and state.restarts == restarts

    def cancel(self, jobs: Iterable[str]) -> None:
        """Cancel jobs; those that have ended stay as they are. UserError for others that stay."""
        refused = {}
        for job in jobs:
            try:
                self.scheduler.cancel(job)
            except RefusedError as error:
                refused[job] = str(error)
        states = self.states(refused) if refused else {}
        if problems := [
            Problem(f"job {job}", f"not cancelled: {words}", "try again, or cancel it by hand")
            for job, words in refused.items()
            if not states[job].over
        ]:
            raise UserError(problems)
