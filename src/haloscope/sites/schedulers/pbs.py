# SPDX-License-Identifier: BSD-3-Clause
"""PBS Pro and OpenPBS: jobs submitted by qsub, found and followed by qselect and qstat."""

from __future__ import annotations

import getpass
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from haloscope.sites.schedulers.allocation import Allocation, lines_of, of_lines
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobAsked, JobState, Scheduler, own_name
from haloscope.sites.schema import BatchSite

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
    away: ClassVar = re.compile(
        r"cannot connect to server|Connection (refused|timed out|reset)|No route to host"
    )
    cancels: ClassVar = ("qdel",)
    shows_queue: ClassVar = ("qstat", "-Q")
    ours_to_say: ClassVar = re.compile(r"PBS_(?!CONF_FILE$|EXEC$|HOME$|SERVER$|DEFAULT$)")
    """With PBS_DPREFIX, for example, qsub would not see the script's #PBS lines."""
    overrides: ClassVar = re.compile("PBS_(DPREFIX|O_QUEUE)$")

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

    def state_within(self, job: str) -> JobState:
        """Return the state of a job, from qstat, which lists ended jobs as long as it keeps a
        history.
        """
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

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the nodes listed in PBS_NODEFILE; None outside a job."""
        if (job := environment.get("PBS_JOBID")) is None:
            return None
        file = environment.get("PBS_NODEFILE", "")
        where = f"PBS_NODEFILE={file}"
        nodes = of_lines(lines_of(file, where), where)
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
        state, str(known.get("comment", "")), ",".join(nodes), name=str(known.get("Job_Name", ""))
    )
