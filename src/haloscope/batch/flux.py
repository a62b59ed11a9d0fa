# SPDX-License-Identifier: BSD-3-Clause
"""Flux: jobs submitted, found, followed, and cancelled by its own commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from haloscope.batch import asking
from haloscope.batch.allocation import Allocation, names_of
from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.batch.scheduler import GONE, JobAsked, JobState, asked_by_site, of_folder, own_name
from haloscope.batch.slurm import rows
from haloscope.errors import UserError
from haloscope.sites.schema import BatchSite

_AWAY = re.compile(r"flux_open|Unable to connect|[Cc]onnection (refused|timed out|reset)")
_STATES = {
    **dict.fromkeys(("NEW", "DEPEND", "PRIORITY", "SCHED"), "PENDING"),
    "RUN": "RUNNING",
    "CLEANUP": "COMPLETING",
}
_RESULTS = {"COMPLETED": "COMPLETED", "CANCELED": "CANCELLED", "TIMEOUT": "TIMEOUT"}
_FIELDS = "{id.dec}|{name}|{state}|{result}|{nodelist}"


class Flux:
    """Flux, as batch/scheduler.py says what a scheduler is."""

    title: ClassVar = "Flux"
    submits: ClassVar = "flux batch"
    directive: ClassVar = "#FLUX:"
    warns: ClassVar = False
    logs: ClassVar = False

    def output(self, *words: str) -> str:
        """Return what `flux` printed. Errors as of `asking.output_of`."""
        return asking.output_of(
            ("flux", *words), asking.environment(re.compile(r"(?!)"), {}), _AWAY
        )

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Whole nodes, each a slot, and whatever else the site file asks for."""
        after = [f"afterok:{job.after}"] if job.after else []
        after += [f"afterany:{job.behind}"] if job.behind else []
        return [
            f"--job-name={job.own_name}",
            f"--queue={site.partition}",
            *(f"{option}={value}" for option, value in asked_by_site(site)),
            f"--nodes={job.nodes}",
            f"--nslots={job.nodes}",
            "--exclusive",
            f"--time-limit={job.minutes}m",
            *(f"--dependency={one}" for one in after),
            "--output=/dev/null",
            "--error=/dev/null",
        ]

    def overriding(self, environment: Mapping[str, str]) -> list[str]:
        """None: what flux batch does is said in the script."""
        return []

    def submitted(self, script: Path) -> str:
        """The id of a job that is submitted now."""
        printed = self.output("batch", str(script)).strip()
        try:
            number = self.output("job", "id", "--to=dec", printed).strip()
        except RefusedError as error:
            raise NoAnswerError(f"flux batch printed no job id, but {printed!r}") from error
        if not number.isdecimal():
            raise NoAnswerError(f"flux batch printed no job id, but {printed!r}")
        return number

    def found(self, name: str, comment: str) -> str | None:
        """The id of the job of its own name, waiting, at work or ended; else None."""
        asked = ("jobs", "-a", "--no-header", f"--name={own_name(name, comment)}")
        printed = self.output(*asked, "--format={id.dec}")
        return next((word for word in printed.split() if word.isdecimal()), None)

    def named(self, name: str, jobs: Iterable[str]) -> set[str]:
        """Those of the jobs whose own names begin with this one."""
        return of_folder(name, self.states(jobs))

    def tested(self, script: Path) -> str:
        """Nothing: Flux has no such question."""
        return "Flux does not report an expected start time"

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """How each job stands, by flux jobs."""
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
        """Not known: inside a job, its own Flux answers, which knows nothing of the job itself.

        It ends with the job: the driver is then killed.
        """
        raise NoAnswerError("the Flux instance inside a job cannot report the job's state")

    def cancel(self, job: str) -> None:
        """Cancel a job. RefusedError where it has ended."""
        self.output("cancel", job)

    def require_queue(self, name: str) -> None:
        """RefusedError where there is no queue of that name."""
        self.output("queue", "status", name)

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """The nodes of the Flux that this job's script runs in; None outside of one."""
        try:
            job = self.output(
                "job", "id", "--to=dec", self.output("getattr", "jobid").strip()
            ).strip()
        except (RefusedError, NoAnswerError, UserError):
            return None
        nodes = names_of(self.output("getattr", "hostlist").strip(), "flux getattr hostlist")
        queue = site.partition
        return Allocation(site.name, "flux", job, queue, nodes, switches=None, restarts=0)
