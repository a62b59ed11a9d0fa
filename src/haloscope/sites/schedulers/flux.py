# SPDX-License-Identifier: BSD-3-Clause
"""Flux: jobs submitted, found, followed, and cancelled by its own commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from haloscope.errors import UserError
from haloscope.sites.schedulers.allocation import Allocation, names_of
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobAsked, JobState, Scheduler, own_name
from haloscope.sites.schedulers.slurm import rows
from haloscope.sites.schema import BatchSite

_STATES = {
    **dict.fromkeys(("NEW", "DEPEND", "PRIORITY", "SCHED"), "PENDING"),
    "RUN": "RUNNING",
    "CLEANUP": "COMPLETING",
}
_RESULTS = {"COMPLETED": "COMPLETED", "CANCELED": "CANCELLED", "TIMEOUT": "TIMEOUT"}
_FIELDS = "{id.dec}|{name}|{state}|{result}|{nodelist}"


class Flux(Scheduler):
    """The Flux scheduler; see sites/schedulers/scheduler.py for the interface."""

    name: ClassVar = "flux"
    title: ClassVar = "Flux"
    submits: ClassVar = "flux batch"
    directive: ClassVar = "#FLUX:"
    asked_by: ClassVar = {"account": "--bank", "constraint": "--requires"}
    prefix: ClassVar = ("flux",)
    away: ClassVar = re.compile(
        r"flux_open|Unable to connect|[Cc]onnection (refused|timed out|reset)"
    )
    cancels: ClassVar = ("cancel",)
    shows_queue: ClassVar = ("queue", "status")

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Return whole nodes, one slot each, and the options of the site file."""
        after = [f"afterok:{job.after}"] if job.after else []
        after += [f"afterany:{job.behind}"] if job.behind else []
        return [
            f"--job-name={job.own_name}",
            f"--queue={site.partition}",
            *(f"{option}={value}" for option, value in self.asked_by_site(site)),
            f"--nodes={job.nodes}",
            f"--nslots={job.nodes}",
            "--exclusive",
            f"--time-limit={job.minutes}m",
            *(f"--dependency={one}" for one in after),
            "--output=/dev/null",
            "--error=/dev/null",
        ]

    def submitted(self, script: Path) -> str:
        """Submit a job and return its id."""
        printed = self.output("batch", str(script)).strip()
        try:
            number = self.output("job", "id", "--to=dec", printed).strip()
        except RefusedError as error:
            raise NoAnswerError(f"flux batch printed no job id, but {printed!r}") from error
        if not number.isdecimal():
            raise NoAnswerError(f"flux batch printed no job id, but {printed!r}")
        return number

    def found(self, name: str, comment: str) -> str | None:
        """Return the id of the job with this own name, pending, running, or just ended;
        else None.
        """
        asked = ("jobs", "-a", "--no-header", f"--name={own_name(name, comment)}")
        printed = self.output(*asked, "--format={id.dec}")
        return next((word for word in printed.split() if word.isdecimal()), None)

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job, from `flux jobs`."""
        return {job: self._state(job) for job in jobs}

    def _state(self, job: str) -> JobState:
        try:
            printed = self.output("jobs", "-a", "--no-header", f"--format={_FIELDS}", job)
        except RefusedError as error:
            if re.search(r"unknown|not found", str(error), re.IGNORECASE):
                return JobState(GONE)
            raise NoAnswerError(str(error)) from error
        for number, name, state, result, nodes in rows(printed, 5):
            if number == job:
                word = _STATES.get(state) or _RESULTS.get(result, "FAILED")
                return JobState(word, nodes=nodes, name=name)
        return JobState(GONE)

    def state_within(self, job: str) -> JobState:
        """Raise NoAnswerError: inside a job its own Flux answers, which does not know the job
        itself.

        That Flux ends with the job, and the driver is then killed.
        """
        raise NoAnswerError("the Flux instance inside a job cannot report the job's state")

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the nodes of the Flux instance that runs this job's script; None outside a job."""
        try:
            job = self.output(
                "job", "id", "--to=dec", self.output("getattr", "jobid").strip()
            ).strip()
        except (RefusedError, NoAnswerError, UserError):
            return None
        nodes = names_of(self.output("getattr", "hostlist").strip(), "flux getattr hostlist")
        queue = site.partition
        return Allocation(site.name, "flux", job, queue, nodes, switches=None, restarts=0)
