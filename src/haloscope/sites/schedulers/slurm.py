# SPDX-License-Identifier: BSD-3-Clause
"""Slurm: query its commands and parse their output on jobs and nodes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from haloscope.errors import Problem, UserError
from haloscope.sites.schedulers.allocation import INSIDE, Allocation, names_of
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobAsked, JobState, Scheduler, warning_s
from haloscope.sites.schema import BatchSite


class Slurm(Scheduler):
    """The Slurm scheduler; see sites/schedulers/scheduler.py for the interface."""

    name: ClassVar = "slurm"
    title: ClassVar = "Slurm"
    submits: ClassVar = "sbatch"
    directive: ClassVar = "#SBATCH"
    asked_by: ClassVar = {
        "account": "--account",
        "qos": "--qos",
        "constraint": "--constraint",
        "reservation": "--reservation",
        "gpus": "--gpus-per-node",
        "memory": "--mem",
        "tasks_per_node": "--ntasks-per-node",
    }
    away: ClassVar = re.compile(
        r"Unable to contact slurm controller|Socket timed out|Connection refused|"
        r"Zero Bytes were transmitted|Transport endpoint|Message send failure|"
        r"Communication connection"
    )
    cancels: ClassVar = ("scancel",)
    shows_queue: ClassVar = ("scontrol", "show", "partition")
    ours_to_say: ClassVar = re.compile(r"(SBATCH|SALLOC|SLURM|SQUEUE|SINFO|SCONTROL)_(?!CONF$)")
    overrides: ClassVar = re.compile("SBATCH_")
    launchers: ClassVar = ("srun",)
    own_keys: ClassVar = ("mpi", "environment")
    warns: ClassVar = True
    logs: ClassVar = True
    queues_same_names: ClassVar = True
    describes_nodes: ClassVar = True
    allocates_cores: ClassVar = True
    hydra_bootstrap: ClassVar = "slurm"

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Return the options for sbatch, independent of the template."""
        after = ["singleton", *([f"afterok:{job.after}"] if job.after else [])]
        return [
            f"--job-name={job.name}",
            f"--comment={job.comment}",
            f"--nodes={job.nodes}",
            f"--time={job.minutes}",
            "--exclusive",
            *self.of_site(site),
            f"--dependency={','.join(after)}",
            "--kill-on-invalid-dep=yes",
            "--requeue",
            "--open-mode=append",
            f"--output={shlex.quote(str(job.log).replace('%', '%%'))}",
            f"--signal=B:USR1@{warning_s(job.minutes)}",
        ]

    def of_site(self, site: BatchSite) -> list[str]:
        """Return the options for sbatch in a site file."""
        keys = [("--partition", site.partition), *self.asked_by_site(site)]
        return [f"{option}={value}" for option, value in keys]

    def submitted(self, script: Path) -> str:
        """Submit a job and return its id."""
        printed = self.output("sbatch", "--parsable", str(script))
        if (job := printed.split(";")[0].strip()).isdecimal():
            return job
        raise NoAnswerError(f"sbatch printed no job id, but {printed.strip()!r}")

    def found(self, name: str, comment: str) -> str | None:
        """Return the id of the job with this comment, pending, running, or just ended;
        else None.
        """
        printed = self.output("squeue", "--me", "--noheader", "--states=all", "--format=%i|%k")
        return next((job for job, own in rows(printed, 2) if own == comment), None)

    def named(self, name: str, jobs: Iterable[str]) -> set[str]:
        """Return those of the jobs with this name that are pending, running, or just ended."""
        printed = self.output("squeue", "--me", "--noheader", "--states=all", "--format=%i|%j")
        return {job for job, own in rows(printed, 2) if own == name} & {*jobs}

    def tested(self, script: Path) -> str:
        """Return sbatch's estimate of a job's start. Raise RefusedError if it would
        refuse the job.
        """
        try:
            printed = self.output("sbatch", "--test-only", str(script), also_errors=True)
        except NoAnswerError as error:
            return f"unknown: {error}"
        return line_that_says_it(printed).removeprefix("sbatch: ")

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job, from squeue, scontrol, or sacct. Raise NoAnswerError if
        none knows.
        """
        known = self._in_queue()
        found = {}
        for job in jobs:
            found[job] = known.get(job) or self._remembered(job) or self._accounted(job)
        return found

    def state_within(self, job: str) -> JobState:
        """Return the state of a job from scontrol: squeue does not print the number of restarts."""
        return self._remembered(job) or JobState(GONE)

    def configured(self, key: str) -> str | None:
        """Return a value of the cluster's configuration; None without one."""
        lines = self.output("scontrol", "show", "config").splitlines()
        pairs = (line.partition("=") for line in lines)
        return next((value.strip() for name, _, value in pairs if name.strip() == key), None)

    def _in_queue(self) -> dict[str, JobState]:
        printed = self.output("squeue", "--me", "--noheader", "--format=%i|%T|%N|%r")
        return {
            job: JobState(state, in_words(reason), nodes)
            for job, state, nodes, reason in rows(printed, 4)
        }

    def _remembered(self, job: str) -> JobState | None:
        """Return the state of a job that ended some minutes ago or waits for a restart."""
        try:
            (one,) = settings(self.output("scontrol", "--oneliner", "show", "job", job))
        except (RefusedError, ValueError):
            return None
        return JobState(
            one.get("JobState", GONE),
            in_words(one.get("Reason", "")),
            one.get("NodeList", ""),
            int(one.get("Restarts", "0")),
        )

    def _accounted(self, job: str) -> JobState:
        """Return the state of a job that ended long ago, if there is accounting."""
        words = ("sacct", "--jobs", job, "--allocations", "--noheader", "--parsable2")
        try:
            printed = self.output(*words, "--format=State,NodeList")
        except (RefusedError, NoAnswerError, UserError):
            return JobState(GONE)
        for state, nodes in rows(printed, 2):
            return JobState(state.split()[0], nodes=nodes)
        return JobState(GONE)

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the allocation named by Slurm's variables; None outside a job."""
        if (job := environment.get("SLURM_JOB_ID")) is None:
            return None
        if not (nodes := names_of(environment.get(_NODES, ""), _NODES)):
            raise UserError(Problem(_NODES, "lists no nodes", INSIDE))
        if not (restarts := environment.get("SLURM_RESTART_COUNT", "0")).isdecimal():
            raise UserError(Problem(f"SLURM_RESTART_COUNT={restarts}", "not a number", INSIDE))
        return Allocation(
            site=site.name,
            scheduler=self.name,
            job=job,
            partition=environment.get("SLURM_JOB_PARTITION"),
            nodes=nodes,
            switches=self._switches(nodes),
            restarts=int(restarts),
        )

    def _switches(self, nodes: tuple[str, ...]) -> str | None:
        try:
            printed = self.output("scontrol", "show", "topology")
        except (NoAnswerError, RefusedError, UserError):
            return None
        leading = [
            one["SwitchName"]
            for one in settings(printed)
            if one.get("Level") == "0" and {*nodes} & {*names_of(one.get("Nodes", ""), "scontrol")}
        ]
        return ",".join(sorted(leading)) or None


_NODES = "SLURM_JOB_NODELIST"


REASONS: Mapping[str, str] = {
    "None": "not yet considered by Slurm",
    "Priority": "jobs with higher priority come first",
    "Resources": "next in the queue, waiting for free nodes",
    "Dependency": "waiting for an earlier job of the same study",
    "DependencyNeverSatisfied": "the job that it depends on failed",
    "BeginTime": "its earliest start time has not been reached (jobs are delayed after a requeue)",
    "JobHeldUser": "held; to release it: scontrol release",
    "JobHeldAdmin": "held by an administrator",
    "PartitionTimeLimit": "requests more time than its partition allows",
    "PartitionNodeLimit": "requests more nodes than its partition allows per job",
    "PartitionDown": "its partition does not start jobs at the moment",
    "PartitionInactive": "its partition is inactive",
    "ReqNodeNotAvail": "nodes that it needs are down, drained, or reserved",
    "NodeDown": "a node that it needs is down",
    "Reservation": "waiting for its reservation to begin",
    "Licenses": "waiting for licences",
    "QOSMaxJobsPerUserLimit": "your limit of running jobs in its QOS is reached",
    "QOSMaxNodePerUserLimit": "your limit of nodes in its QOS is reached",
    "QOSGrpNodeLimit": "the limit of nodes of its QOS is reached",
    "AssocGrpCpuLimit": "the limit of processors of its account is reached",
    "AssocGrpCPUMinutesLimit": "the processor time of its account is used up",
    "AssocMaxJobsLimit": "the limit of running jobs of its account is reached",
    "InvalidAccount": "its account does not exist on this cluster",
    "InvalidQOS": "its QOS does not exist on this cluster",
    "MaxRequeue": "the limit of requeues is reached",
    "launch failed requeued held": "held after a failed start; to release it: scontrol release",
}
"""REASONS translates Slurm's reasons for pending jobs (squeue(1), JOB REASON CODES)."""


def in_words(reason: str) -> str:
    """Return why a job is pending, in words; Slurm's own word if it has no translation."""
    word = reason.strip("()").split(",")[0]
    return REASONS.get(word, reason.strip("()"))


def never_began(said: str) -> bool:
    """Return whether srun, or a launcher that calls it, failed before any rank started.

    The cause is then the batch system, not the program: the controller is busy or does not answer.
    """
    lines = [line for line in said.splitlines() if line.startswith("srun: error:")]
    return any(_NO_STEP.search(line) or Slurm.away.search(line) for line in lines)


_NO_STEP = re.compile(r"Unable to create step for job|Unable to confirm allocation for job")


def settings(text: str) -> list[dict[str, str]]:
    """Parse the output of `scontrol --oneliner show`: the Key=Value words of each line."""
    found = []
    for line in text.splitlines():
        pairs = re.findall(r"(?:^|\s)([A-Za-z][\w:/-]*)=(.*?)(?=\s+[A-Za-z][\w:/-]*=|$)", line)
        if pairs:
            found.append(dict(pairs))
    return found


def minutes(text: str) -> int | None:
    """Convert a Slurm time such as 1-02:30:00 to whole minutes; None if unlimited or missing."""
    if text.strip().lower() in ("infinite", "unlimited", "n/a", "none", "", "partition_limit"):
        return None
    days, _, clock = text.strip().rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if days:  # days-hours[:minutes[:seconds]]
        hours, mins, _ = (*parts, 0, 0)[:3]
        return int(days) * 24 * 60 + hours * 60 + mins
    if len(parts) == 3:
        return parts[0] * 60 + parts[1]
    return parts[0]  # minutes[:seconds]


def mpi_kinds(text: str) -> list[str]:
    """Parse the output of `srun --mpi=list`: one plugin per line.

    Lines are indented or, before Slurm 22.05, begin with `srun: `. Since 22.05 the versions of PMIx
    follow on a separate line. Old versions write mpi/KIND.
    """
    kinds = re.findall(r"^(?:[ \t]+|srun: )(?:mpi/)?(\w+)[ \t]*$", text, re.MULTILINE)
    versions = re.search(r"plugin versions available: (.+)", text)
    return [*dict.fromkeys([*kinds, *(re.findall(r"\w+", versions[1]) if versions else [])])]


def whole(text: str) -> int:
    """Parse a number printed by sinfo, in which "+" means that some nodes have more."""
    return int(text.rstrip("+"))


def rows(text: str, fields: int) -> list[Sequence[str]]:
    """Parse the output of sinfo and squeue with `fields` fields separated by "|".

    Lines with another number of fields are skipped: a warning, or a name with a "|".
    """
    split = (line.strip().split("|") for line in text.splitlines())
    return [row for row in split if len(row) == fields]


def line_that_says_it(printed: str) -> str:
    """Return the line of sbatch's output that contains the reason."""
    lines = [line for line in printed.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "")
