# SPDX-License-Identifier: BSD-3-Clause
"""LSF: jobs submitted by bsub, found and followed by bjobs."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from haloscope.errors import Problem, UserError
from haloscope.sites.schedulers.allocation import Allocation, lines_of, of_lines
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobAsked, JobState, Scheduler, own_name
from haloscope.sites.schema import BatchSite

_STATES = {
    **dict.fromkeys(("PEND", "PROV", "PSUSP", "WAIT"), "PENDING"),
    **dict.fromkeys(("RUN", "UNKWN", "ZOMBI"), "RUNNING"),
    **dict.fromkeys(("USUSP", "SSUSP"), "SUSPENDED"),
    "DONE": "COMPLETED",
    "EXIT": "FAILED",
}
_FIELDS = "jobid stat job_name pend_reason exit_reason exec_host"
_UNKNOWN = "is not found"


class Lsf(Scheduler):
    """The LSF scheduler; see sites/schedulers/scheduler.py for the interface."""

    name: ClassVar = "lsf"
    title: ClassVar = "LSF"
    submits: ClassVar = "bsub"
    directive: ClassVar = "#BSUB"
    asked_by: ClassVar = {"account": "-P", "reservation": "-U"}
    away: ClassVar = re.compile(
        r"batch daemon|LIM is down|Communication time out|not responding|"
        r"Connection (refused|timed out|reset)"
    )
    cancels: ClassVar = ("bkill",)
    shows_queue: ClassVar = ("bqueues",)
    ours_to_say: ClassVar = re.compile(r"(LSB|BSUB)_")
    overrides: ClassVar = re.compile("LSB_DEFAULT|BSUB_")
    launchers: ClassVar = ("jsrun",)

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Return whole nodes, no automatic restart, and the options of the site file."""
        cores = site.used.cores
        after = [f"done({job.after})"] if job.after else []
        after += [f"ended({job.behind})"] if job.behind else []
        return [
            f"-J {job.own_name}",
            f"-q {site.partition}",
            *(f"{option} {value}" for option, value in self.asked_by_site(site)),
            *(
                [f"-nnodes {job.nodes}"]
                if site.launcher == "jsrun"
                else [f"-n {job.nodes * cores}", f'-R "span[ptile={cores}]"', "-x"]
            ),
            f"-W {job.minutes}",
            *([f'-w "{" && ".join(after)}"', "-ti"] if after else []),
            "-rn",
            "-o /dev/null",
            "-e /dev/null",
        ]

    def submitted(self, script: Path) -> str:
        """Submit a job and return its id."""
        printed = self.output("bsub", given=script.read_text(encoding="utf-8"))
        if (job := re.search(r"Job <(\d+)>", printed)) is None:
            raise NoAnswerError(f"bsub printed no job id, but {printed!r}")
        return job[1]

    def found(self, name: str, comment: str) -> str | None:
        """Return the id of the job with this own name, pending, running, or just ended;
        else None.
        """
        own = own_name(name, comment)
        try:
            printed = self.output("bjobs", "-a", "-noheader", "-o", "jobid", "-J", own)
        except RefusedError as error:
            if _UNKNOWN in str(error):
                return None
            raise NoAnswerError(str(error)) from error
        return next((word for word in printed.split() if word.isdecimal()), None)

    def state_within(self, job: str) -> JobState:
        """Return the state of a job, from bjobs, which lists ended jobs for about an hour."""
        try:
            printed = self.output("bjobs", "-a", "-json", "-o", _FIELDS, job)
            (known,) = json.loads(printed)["RECORDS"]
            return JobState(GONE) if _UNKNOWN in known.get("ERROR", "") else _state(known)
        except RefusedError as error:
            if _UNKNOWN in str(error):
                return JobState(GONE)
            raise NoAnswerError(str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NoAnswerError(f"cannot parse bjobs' output for job {job}: {error}") from error

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the nodes listed in LSB_DJOB_HOSTFILE or LSB_HOSTS; None outside a job.

        Raise UserError if jsrun would start ranks on nodes about which this node has no
        information.
        """
        if (job := environment.get("LSB_JOBID")) is None:
            return None
        where, names = "LSB_HOSTS", environment.get("LSB_HOSTS", "").split()
        if file := environment.get("LSB_DJOB_HOSTFILE"):
            where = f"LSB_DJOB_HOSTFILE={file}"
            names = [line.split()[0] for line in lines_of(file, where) if line.strip()]
        nodes = of_lines(names, where)
        if site.launcher == "jsrun":
            nodes = _compute_nodes(names, nodes, where)
        queue = environment.get("LSB_QUEUE")
        return Allocation(site.name, "lsf", job, queue, nodes, switches=None, restarts=0)


def _compute_nodes(slots: Sequence[str], nodes: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return the nodes of a job without the launch node, which has a single slot."""
    if len(nodes) > 1 and slots.count(nodes[0]) == 1 < slots.count(nodes[1]):
        nodes = nodes[1:]
    here = socket.gethostname()
    if here.split(".")[0] not in {node.split(".")[0] for node in nodes}:
        what = (
            f"jsrun starts ranks on {nodes[0]} and others, but this process runs on {here}, whose "
        )
        what += "processors and memory may differ"
        remedy = 'use launcher = "mpirun", or a site whose jobs start on a compute node'
        raise UserError(Problem(where, what, remedy))
    return nodes


def _state(known: Mapping[str, Any]) -> JobState:
    state, why = _STATES[known["STAT"]], str(known.get("EXIT_REASON", ""))
    if state == "FAILED":
        if "TERM_RUNLIMIT" in why:
            state = "TIMEOUT"
        elif re.search(r"TERM_(OWNER|FORCE_OWNER|ADMIN|FORCE_ADMIN)", why):
            state = "CANCELLED"
    hosts = re.findall(r"(?:^|:)(?:\d+\*)?([^:]+)", str(known.get("EXEC_HOST", "")))
    return JobState(
        state,
        str(known.get("PEND_REASON") or why),
        ",".join(dict.fromkeys(hosts)),
        name=str(known.get("JOB_NAME", "")),
    )
