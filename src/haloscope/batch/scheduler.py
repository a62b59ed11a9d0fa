# SPDX-License-Identifier: BSD-3-Clause
"""What a batch system is to haloscope: all that differs from one to the other, in one interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from haloscope.batch.allocation import Allocation
from haloscope.sites.schema import ASKED, BatchSite

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "STOPPED", "RESIZING", "SIGNALING")
LEAVING = ("COMPLETING", "STAGE_OUT")
CANCELLED = "CANCELLED"
GONE = "GONE"
"""GONE is the state of a job that nobody knows any more: it has ended."""


@dataclass(frozen=True)
class JobState:
    """How a job stands, by whoever knew it: Slurm's word for it, also where another says it.

    reason: why it waits, or ended, in words or in the batch system's. start: when it began or is
    expected to, as the batch system writes it; None where not known. name: None where not asked.
    """

    state: str
    reason: str = ""
    start: str | None = None
    nodes: str = ""
    restarts: int = 0
    name: str | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended and won't begin again."""
        return self.state not in (*WAITING, *AT_WORK)


WARNING_S = 120
"""WARNING_S is how long before its end a job begins no launch any more, lest it be in vain."""


@dataclass(frozen=True)
class JobAsked:
    """A job as it is asked for.

    name: the same for all jobs of a result folder, which run one after the other. comment: its own,
    by which it is found again. after: the id of a job that must have ended well before. behind: of
    the one of the same folder that was submitted before it, which must have ended. variables: names
    of those that the command needs as they are in the shell that submits.
    """

    name: str
    comment: str
    nodes: int
    minutes: int
    log: Path
    command: Sequence[str]
    after: str | None = None
    behind: str | None = None
    variables: Sequence[str] = ()

    @property
    def own_name(self) -> str:
        """A name that no other job has, for batch systems whose jobs have no comment."""
        return own_name(self.name, self.comment)


def own_name(name: str, comment: str) -> str:
    """The name of one job, of the name that its folder's jobs share and of its comment."""
    return f"{name}-{comment.rpartition(':')[2]}"


def of_folder(name: str, states: Mapping[str, JobState]) -> set[str]:
    """Those jobs whose own names begin with the name that a folder's jobs share."""
    return {job for job, state in states.items() if (state.name or "").startswith(f"{name}-")}


def warning_s(minutes: int) -> int:
    """How long before the end of a job of so many minutes no launch begins any more."""
    return min(WARNING_S, 60 * minutes // 4)


def asked_by_site(site: BatchSite) -> list[tuple[str, str]]:
    """The options that a site file has for its jobs, with their values."""
    options = ASKED[site.scheduler]
    given = ((option, getattr(site, key)) for key, option in options.items())
    return [(option, str(value)) for option, value in given if value is not None]


class Scheduler(Protocol):
    """A batch system.

    title: what people call it. submits: the command that takes jobs. directive: how a line of a
    job script begins that is meant for it. warns: whether it tells a job that its end is near, by
    USR1. logs: whether it appends what a job prints to the job's log; else the script does.
    """

    title: ClassVar[str]
    submits: ClassVar[str]
    directive: ClassVar[str]
    warns: ClassVar[bool]
    logs: ClassVar[bool]

    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """What a job script asks for, whatever the template: an option a line."""

    def overriding(self, environment: Mapping[str, str]) -> list[str]:
        """The variables there that would have changed what is submitted, and are not passed on."""

    def submitted(self, script: Path) -> str:
        """The id of a job that is submitted now."""

    def found(self, name: str, comment: str) -> str | None:
        """The id of the job with that name and comment, waiting, at work or ended just now."""

    def named(self, name: str, jobs: Iterable[str]) -> set[str]:
        """Those of the jobs that are of the folder whose jobs have this name."""

    def tested(self, script: Path) -> str:
        """When a job would begin, in words. RefusedError where it would be refused."""

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """How each job stands. NoAnswerError if nobody says."""

    def state_within(self, job: str) -> JobState:
        """How a job stands, asked by its own driver. NoAnswerError if nobody says."""

    def cancel(self, job: str) -> None:
        """Cancel a job. RefusedError where it can't be, as one that has ended."""

    def require_queue(self, name: str) -> None:
        """RefusedError where there is no queue (partition) of that name."""

    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """The nodes of the job that this process is in; None outside of one. UserError where what
        says it is none."""
