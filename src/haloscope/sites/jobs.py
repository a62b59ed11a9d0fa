# SPDX-License-Identifier: BSD-3-Clause
"""Batch jobs: submit each exactly once, query, and cancel them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from haloscope.errors import Problem, UserError, reject
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import AT_WORK, LEAVING, JobState, Scheduler
from haloscope.sites.schedulers.slurm import line_that_says_it

_TRIES = 5
_PAUSE_S = 5.0


@dataclass(frozen=True)
class Batch:
    """The jobs of a site. wait: function that sleeps."""

    scheduler: Scheduler
    wait: Callable[[float], None] = time.sleep

    def submit(self, script: Path, name: str, comment: str) -> str:
        """Submit a job, or find it if it was submitted before under this name and comment; return
        its id.

        If the controller does not answer, the job is looked for before the request is repeated.
        Raise UserError if the job is refused or the controller never answers.
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
        """Return when a job would start, in words. Raise UserError if it would be refused."""
        try:
            return self.scheduler.tested(script)
        except RefusedError as error:
            raise UserError(self._refused("(a job not submitted yet)", error)) from error

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job. Raise NoAnswerError if no command knows."""
        return self.scheduler.states(jobs)

    def has_its_nodes(self, job: str, restarts: int) -> bool:
        """Return whether a job with that number of restarts is still running; True without an
        answer.

        A job whose node failed may be restarted while its earlier processes still run there.
        """
        try:
            state = self.scheduler.state_within(job)
        # the controller does not answer, or nodes have no commands
        except (NoAnswerError, UserError):
            return True
        at_work = state.state in AT_WORK and state.state not in LEAVING
        return at_work and state.restarts == restarts

    def cancel(self, jobs: Iterable[str]) -> None:
        """Cancel jobs that have not ended. Raise UserError if others cannot be cancelled."""
        refused = {}
        for job in jobs:
            try:
                self.scheduler.cancel(job)
            except RefusedError as error:
                refused[job] = str(error)
        states = self.states(refused) if refused else {}
        reject(
            Problem(
                f"job {job}", f"could not be cancelled: {words}", "try again, or cancel it manually"
            )
            for job, words in refused.items()
            if not states[job].over
        )
