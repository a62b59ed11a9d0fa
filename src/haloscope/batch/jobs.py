"""Batch jobs: submitted once whatever happens, looked for, cancelled; their states in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from haloscope.batch import slurm
from haloscope.batch.slurm import NoAnswerError, RefusedError, Slurm
from haloscope.errors import Problem, UserError

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
"""WAITING are the states of a job that has not begun, or is to begin again."""
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "STOPPED", "RESIZING", "SIGNALING")
"""AT_WORK are the states of a job that has nodes."""
LEAVING = ("COMPLETING", "STAGE_OUT")
"""LEAVING are those of a job that is being ended, whose nodes are taken from it."""
GONE = "GONE"
"""GONE is the state of a job that nobody knows any more: it has ended."""
_TRIES = 5
"""_TRIES is how often a controller that does not answer is asked to take a job."""
_PAUSE_S = 5.0
"""_PAUSE_S is how long it is left alone before it is asked again, longer each time."""


@dataclass(frozen=True)
class JobState:
    """How a job stands, by whoever knew it. reason: why it waits, or ended, in words or in Slurm's.

    start: when it began or is expected to, as Slurm writes it; None where not known.
    """

    state: str
    reason: str = ""
    start: str | None = None
    nodes: str = ""
    restarts: int = 0

    @property
    def over(self) -> bool:
        """Whether it has ended and won't begin again."""
        return self.state not in (*WAITING, *AT_WORK)


REASONS: Mapping[str, str] = {
    "Priority": "other jobs come first",
    "Resources": "it is the next one, and waits for nodes to become free",
    "Dependency": "it waits for an earlier job of the same study",
    "DependencyNeverSatisfied": "the job that it waited for did not end well",
    "BeginTime": "it may not begin yet: it was requeued just now, or has a time to begin",
    "JobHeldUser": "it is held: scontrol release lets it go",
    "JobHeldAdmin": "an administrator holds it",
    "PartitionTimeLimit": "it asks for more time than its partition allows",
    "PartitionNodeLimit": "it asks for more nodes than its partition gives to one job",
    "PartitionDown": "its partition takes no jobs at the moment",
    "PartitionInactive": "its partition is switched off",
    "ReqNodeNotAvail": "nodes that it needs are down, drained or reserved",
    "NodeDown": "a node that it needs is down",
    "Reservation": "it waits for its reservation to begin",
    "Licenses": "it waits for licences",
    "QOSMaxJobsPerUserLimit": "its user has as many jobs at work as the QOS allows",
    "QOSMaxNodePerUserLimit": "its user has as many nodes as the QOS allows",
    "QOSGrpNodeLimit": "all jobs of its QOS have as many nodes as that allows",
    "AssocGrpCpuLimit": "its account has as many processors as it may",
    "AssocGrpCPUMinutesLimit": "its account has used up its processor time",
    "AssocMaxJobsLimit": "its account has as many jobs at work as it may",
    "InvalidAccount": "its account is not one of the cluster's",
    "InvalidQOS": "its QOS is not one of the cluster's",
    "MaxRequeue": "it was begun anew as often as the cluster allows",
    "launch failed requeued held": "its start failed, and it is held: scontrol release lets it go",
}
"""REASONS are Slurm's words for why a job waits (squeue(1), JOB REASON CODES), and ours."""


def in_words(reason: str) -> str:
    """Why a job waits, for people; Slurm's own word where we have none."""
    word = reason.strip("()").split(",")[0]
    return REASONS.get(word, reason.strip("()"))


@dataclass(frozen=True)
class Batch:
    """The jobs of a site. wait: how to let time pass."""

    commands: Slurm
    wait: Callable[[float], None] = time.sleep

    def submit(self, script: Path, comment: str) -> str:
        """The id of a job that is submitted now, or was before under the same comment.

        Where the controller does not answer, the job is looked for before it is asked again.
        UserError where it refuses the job, or never answers.
        """
        for number in range(1, _TRIES + 1):
            try:
                if (there := self.found(comment)) is not None:
                    return there
                said = self.commands.told("sbatch", "--parsable", str(script))
                if (job := said.split(";")[0].strip()).isdecimal():
                    return job
                said = f"it gave no job's id but {said.strip()!r}"
            except NoAnswerError as error:
                said = str(error)
            except RefusedError as error:
                mend = "mend what it names: the study's layout, --minutes or the site file"
                raise UserError(Problem(f"sbatch {script}", _last(str(error)), mend)) from error
            self.wait(number * _PAUSE_S)
        mend = (
            "resume it later: a job that was taken all the same is found, and not asked for twice"
        )
        raise UserError(Problem(f"sbatch {script}", said, mend))

    def found(self, comment: str) -> str | None:
        """The id of the job with this comment, waiting, at work or ended just now; else None."""
        said = self.commands.told("squeue", "--me", "--noheader", "--states=all", "--format=%i|%k")
        for job, own in slurm.rows(said, 2):
            if own == comment:
                return job
        return None

    def named(self, name: str) -> set[str]:
        """The ids of the jobs of this name, waiting, at work or ended just now."""
        said = self.commands.told("squeue", "--me", "--noheader", "--states=all", "--format=%i|%j")
        return {job for job, own in slurm.rows(said, 2) if own == name}

    def tested(self, script: Path) -> str:
        """What sbatch says of when a job would begin. UserError where it refuses it."""
        try:
            said = self.commands.told("sbatch", "--test-only", str(script), also_errors=True)
        except RefusedError as error:
            mend = "mend what it names: the study's layout, --minutes or the site file"
            raise UserError(Problem(f"sbatch {script}", _last(str(error)), mend)) from error
        except NoAnswerError as error:
            return f"not known: {error}"
        return _last(said).removeprefix("sbatch: ")

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """How each job stands: by squeue, else scontrol, else sacct. NoAnswerError if none can."""
        known = self._in_queue()
        found = {}
        for job in jobs:
            found[job] = known.get(job) or self._remembered(job) or self._accounted(job)
        return found

    def has_its_nodes(self, job: str, restarts: int) -> bool:
        """Whether a job that was begun anew so often still is at work; so if nobody answers.

        A job whose node failed may be begun anew while what it ran there before goes on.
        """
        try:
            state = self._remembered(job) or JobState(GONE)
        except (NoAnswerError, UserError):  # the controller is away, or nodes have no scontrol
            return True
        at_work = state.state in AT_WORK and state.state not in LEAVING
        return at_work and state.restarts == restarts

    def _in_queue(self) -> dict[str, JobState]:
        said = self.commands.told("squeue", "--me", "--noheader", "--format=%i|%T|%S|%N|%r")
        return {
            job: JobState(state, in_words(reason), None if start == "N/A" else start, nodes)
            for job, state, start, nodes, reason in slurm.rows(said, 5)
        }

    def _remembered(self, job: str) -> JobState | None:
        """Of a job that ended within some minutes, or waits to be begun anew."""
        try:
            (one,) = slurm.settings(
                self.commands.told("scontrol", "--oneliner", "show", "job", job)
            )
        except (RefusedError, ValueError):
            return None
        return JobState(
            one.get("JobState", GONE),
            in_words(one.get("Reason", "")),
            one.get("StartTime"),
            one.get("NodeList", ""),
            int(one.get("Restarts", "0")),
        )

    def _accounted(self, job: str) -> JobState:
        """Of a job that ended long ago, where there is accounting."""
        words = ("sacct", "--jobs", job, "--allocations", "--noheader", "--parsable2")
        try:
            said = self.commands.told(*words, "--format=State,Start,NodeList")
        except (RefusedError, NoAnswerError, UserError):
            return JobState(GONE)
        for state, start, nodes in slurm.rows(said, 3):
            return JobState(state.split()[0], "", start, nodes)
        return JobState(GONE)

    def cancel(self, jobs: Iterable[str]) -> None:
        """Cancel jobs; those that have ended stay as they are."""
        for job in jobs:
            try:
                self.commands.told("scancel", job)
            except RefusedError:
                continue  # it has ended


def _last(said: str) -> str:
    """The line that says it, of what sbatch printed."""
    lines = [line for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "")
