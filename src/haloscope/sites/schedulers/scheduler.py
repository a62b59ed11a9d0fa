# SPDX-License-Identifier: BSD-3-Clause
"""The interface of batch systems: everything that differs between them."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from haloscope.sites.schedulers import asking
from haloscope.sites.schedulers.allocation import Allocation
from haloscope.sites.schema import BatchSite

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "STOPPED", "RESIZING", "SIGNALING")
LEAVING = ("COMPLETING", "STAGE_OUT")
CANCELLED = "CANCELLED"
GONE = "GONE"
"""GONE is the state of a job that the batch system no longer knows: it has ended."""


@dataclass(frozen=True)
class JobState:
    """The state of a job, in Slurm's terms for every batch system.

    reason: why it is pending or has ended, in words or as the batch system writes it. name: None if
    it was not requested.
    """

    state: str
    reason: str = ""
    nodes: str = ""
    restarts: int = 0
    name: str | None = None

    @property
    def over(self) -> bool:
        """Whether the job has ended and will not restart."""
        return self.state not in (*WAITING, *AT_WORK)


WARNING_S = 120
"""WARNING_S is how many seconds before its end a job stops starting launches."""


@dataclass(frozen=True)
class JobAsked:
    """A job as requested.

    name: shared by all jobs of a result folder, which run one after the other. comment: unique to
    the job, to find it again. after: id of a job that must have succeeded before. behind: id of the
    folder's previous job, which must have ended. variables: names of variables that the command
    needs from the submitting shell.
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
        """Unique name of the job, for batch systems without comments."""
        return own_name(self.name, self.comment)


def own_name(name: str, comment: str) -> str:
    """Return the unique name of a job from the name of its folder's jobs and its comment."""
    return f"{name}-{comment.rpartition(':')[2]}"


def of_folder(name: str, states: Mapping[str, JobState]) -> set[str]:
    """Return the jobs whose own names begin with the name that a folder's jobs share."""
    return {job for job, state in states.items() if (state.name or "").startswith(f"{name}-")}


def warning_s(minutes: int) -> int:
    """Return how many seconds before its end a job of `minutes` minutes stops starting launches."""
    return min(WARNING_S, 60 * minutes // 4)


@dataclass(frozen=True)
class Scheduler(ABC):
    """A batch system: what differs from others, and what it can do.

    environment: variables for its commands, in addition to those of this process.
    """

    environment: Mapping[str, str] = field(default_factory=dict)

    name: ClassVar[str]
    """Its name in site files and records."""
    title: ClassVar[str]
    """Its name for people."""
    submits: ClassVar[str]
    """The command that submits jobs."""
    directive: ClassVar[str]
    """The prefix of its lines in a job script."""
    asked_by: ClassVar[Mapping[str, str]]
    """Keys of a site file that become options of its jobs, and the option of each."""
    away: ClassVar[re.Pattern[str]]
    """Matches messages of its commands that the batch system does not answer."""
    cancels: ClassVar[tuple[str, ...]]
    """The command that cancels the job whose id follows."""
    shows_queue: ClassVar[tuple[str, ...]]
    """The command that fails unless the queue (partition) whose name follows exists."""
    prefix: ClassVar[tuple[str, ...]] = ()
    """The first words of all of its commands."""
    ours_to_say: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """Variables of a user's shell, or of an outer job, that would change what its commands do."""
    overrides: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """Variables of a user's shell that would change a submission."""
    launchers: ClassVar[tuple[str, ...]] = ()
    """Its own launchers of ranks."""
    own_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of a site file that only it understands, beside `asked_by`."""
    warns: ClassVar[bool] = False
    """Whether it signals a job by USR1 before its end."""
    logs: ClassVar[bool] = False
    """Whether it appends a job's output to the job's log; otherwise the script does."""
    queues_same_names: ClassVar[bool] = False
    """Whether jobs of one name run one after the other, however they are submitted."""
    describes_nodes: ClassVar[bool] = False
    """Whether it reports nodes, cores, memory, and times, so that sites can be detected."""
    allocates_cores: ClassVar[bool] = False
    """Whether one job can start many programs on single cores of its nodes."""
    hydra_bootstrap: ClassVar[str | None] = None
    """Option with which Intel MPI's launcher starts its proxies; None: it detects the system."""

    def output(self, *words: str, also_errors: bool = False, given: str = "") -> str:
        """Return what a command printed. Errors and other arguments as of `asking.output_of`."""
        kept = {key: value for key, value in os.environ.items() if not self.ours_to_say.match(key)}
        return asking.output_of(
            (*self.prefix, *words),
            {**kept, **self.environment},
            self.away,
            also_errors=also_errors,
            given=given,
        )

    def asked_by_site(self, site: BatchSite) -> list[tuple[str, str]]:
        """Return the job options in a site file, with their values."""
        given = ((option, getattr(site, key)) for key, option in self.asked_by.items())
        return [(option, str(value)) for option, value in given if value is not None]

    @abstractmethod
    def options(self, site: BatchSite, job: JobAsked) -> list[str]:
        """Return the options of a job script, independent of the template, one per line."""

    def overriding(self, environment: Mapping[str, str]) -> list[str]:
        """Return the environment variables that would have changed a submission; they are not
        passed on.
        """
        return sorted(name for name in environment if self.overrides.match(name))

    @abstractmethod
    def submitted(self, script: Path) -> str:
        """Submit a job and return its id."""

    @abstractmethod
    def found(self, name: str, comment: str) -> str | None:
        """Return the id of the job with that name and comment, pending, running, or just ended."""

    def named(self, name: str, jobs: Iterable[str]) -> set[str]:
        """Return those of the jobs that belong to the folder whose jobs share this name."""
        return of_folder(name, self.states(jobs))

    def tested(self, script: Path) -> str:
        """Return when a job would start, in words. Raise RefusedError if it would be refused."""
        return f"{self.title} does not report an expected start time"

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job. Raise NoAnswerError if no command knows."""
        return {job: self.state_within(job) for job in jobs}

    @abstractmethod
    def state_within(self, job: str) -> JobState:
        """Return the state of a job, requested by its own driver. Raise NoAnswerError
        if unknown.
        """

    def cancel(self, job: str) -> None:
        """Cancel a job. Raise RefusedError if that is impossible, for example because
        it has ended.
        """
        self.output(*self.cancels, job)

    def require_queue(self, name: str) -> None:
        """Raise RefusedError if there is no queue (partition) of that name."""
        self.output(*self.shows_queue, name)

    @abstractmethod
    def allocation(self, site: BatchSite, environment: Mapping[str, str]) -> Allocation | None:
        """Return the nodes of the job that runs this process; None outside a job.

        Raise UserError if the batch system's description of the job is invalid.
        """
