# SPDX-License-Identifier: BSD-3-Clause
"""PBS Pro and OpenPBS: jobs submitted by qsub, found and followed by qselect and qstat."""

from __future__ import annotations

import getpass
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from haloscope.errors import Problem, UserError
from haloscope.sites.schedulers import asking
from haloscope.sites.schedulers.allocation import INSIDE, Allocation, of_lines
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobAsked, JobState, Scheduler, own_name
from haloscope.sites.schema import BatchSite

_OURS_TO_SAY = re.compile(r"PBS_(?!CONF_FILE$|EXEC$|HOME$|SERVER$|DEFAULT$)")
"""_OURS_TO_SAY matches variables of a user's shell, or of an outer job, that would change what the
commands do. With PBS_DPREFIX, for example, qsub would not see the script's #PBS lines.
"""
_AWAY = re.compile(
    r"cannot connect to server|Connection (refused|timed out|reset)|No route to host"
)
_STATES = {
    **dict.fromkeys("QHWTM", "PENDING"),
    **dict.fromkeys("RB", "RUNNING"),
    **dict.fromkeys("SU", "SUSPENDED"),
    "E": "COMPLETING",
}
_KILLED = 256
"""_KILLED plus a signal number is the exit status of a job that the signal ended."""
_WALL_TIME = -29
"""_WALL_TIME is the exit status of a job that exceeded its time limit."""


class Pbs(Scheduler):
    """The PBS scheduler; see sites/schedulers/scheduler.py for the interface."""

    name: ClassVar = "pbs"
    title: ClassVar = "PBS"
    submits: ClassVar = "qsub"
    directive: ClassVar = "#PBS"
    asked_by: ClassVar = {"account": "-A"}

    def output(self, *words: str) -> str:
        """Return what a command printed. Errors as of `asking.output_of`."""
        return asking.output_of(words, asking.environment(_OURS_TO_SAY, self.environment), _AWAY)

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Return whole nodes, no automatic restart, and the options of the site file."""
        cores = site.used.cores
        hours, minutes = divmod(job.minutes, 60)
        after = [f"afterok:{job.after}"] if job.after else []
        after += [f"afterany:{job.behind}"] if job.behind else []
        return [
            f"-N {job.own_name}",
            f"-q {site.partition}",
            *(f"{option} {value}" for option, value in self.asked_by_site(site)),
            f"-l select={job.nodes}:ncpus={cores}:mpiprocs={cores}",
            "-l place=scatter:exclhost",
            f"-l walltime={hours:02}:{minutes:02}:00",
            *([f"-W depend={','.join(after)}"] if after else []),
            "-r n",
            "-o /dev/null",
            "-e /dev/null",
        ]

    def overriding(self, environment: Mapping[str, str]) -> list[str]:
        """Return the variables of a user's shell that would have changed what qsub does."""
        return sorted(name for name in environment if name in ("PBS_DPREFIX", "PBS_O_QUEUE"))

    def submitted(self, script: Path) -> str:
        """Submit a job and return its id."""
        job = self.output("qsub", str(script)).strip()
        if not re.fullmatch(r"\d\S*", job):
            raise NoAnswerError(f"qsub printed no job id, but {job!r}")
        return job

    def found(self, name: str, comment: str) -> str | None:
        """Return the id of the job with this own name, pending, running, or just ended;
        else None.
        """
        words = ("qselect", "-u", getpass.getuser(), "-N", own_name(name, comment))
        return next(iter(self._with_history(*words).split()), None)

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job, from qstat, which lists ended jobs as long as it keeps a
        history.
        """
        return {job: self.state_within(job) for job in jobs}

    def state_within(self, job: str) -> JobState:
        """Return the state of a job."""
        try:
            printed = self._with_history("qstat", "-f", "-F", "json", job)
            (known,) = json.loads(printed)["Jobs"].values()
            return _state(known)
        except RefusedError as error:
            if "Unknown Job" in str(error):
                return JobState(GONE)
            raise NoAnswerError(str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NoAnswerError(f"cannot parse qstat's output for job {job}: {error}") from error

    def _with_history(self, command: str, *words: str) -> str:
        """Return the output of a command that also lists ended jobs, if PBS keeps a history."""
        try:
            return self.output(command, "-x", *words)
        except RefusedError as error:
            if "history" not in str(error):
                raise
            return self.output(command, *words)

    def cancel(self, job: str) -> None:
        """Cancel a job. Raise RefusedError if it has ended."""
        self.output("qdel", job)

    def require_queue(self, name: str) -> None:
        """Raise RefusedError if there is no queue of that name."""
        self.output("qstat", "-Q", name)

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the nodes listed in PBS_NODEFILE; None outside a job."""
        if (job := environment.get("PBS_JOBID")) is None:
            return None
        file = environment.get("PBS_NODEFILE", "")
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            what = f"cannot read this file: {getattr(error, 'strerror', error)}"
            raise UserError(Problem(f"PBS_NODEFILE={file}", what, INSIDE)) from error
        nodes = of_lines(lines, f"PBS_NODEFILE={file}")
        queue = environment.get("PBS_QUEUE")
        return Allocation(site.name, "pbs", job, queue, nodes, switches=None, restarts=0)


def _state(known: Mapping[str, Any]) -> JobState:
    letter, status = str(known["job_state"]), known.get("Exit_status")
    state = _STATES.get(letter)
    if state is None:  # F, or X for a job array
        state = "COMPLETED" if status == 0 else "FAILED"
        if status == _WALL_TIME:
            state = "TIMEOUT"
        elif status is None or status > _KILLED:
            state = "CANCELLED"
    nodes = dict.fromkeys(re.findall(r"(?:^|\+)\(?([^/:+()]+)", str(known.get("exec_host", ""))))
    return JobState(
        state,
        str(known.get("comment", "")),
        known.get("stime"),
        ",".join(nodes),
        name=str(known.get("Job_Name", "")),
    )
