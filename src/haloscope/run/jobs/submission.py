# SPDX-License-Identifier: BSD-3-Clause
"""Submission of a campaign to a batch system: its jobs planned, submitted, and found again."""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from haloscope.errors import Problem, UserError, outside, reject
from haloscope.grouped import grouped
from haloscope.host.scratch import scratch
from haloscope.paths import write_whole
from haloscope.programs import needs
from haloscope.programs.file import ExternalProgram
from haloscope.programs.trust import named_again
from haloscope.quantities import count
from haloscope.records.attempts import attempts
from haloscope.records.folder import ResultFolder
from haloscope.run.campaign.campaign import Campaign, earlier_walls
from haloscope.run.jobs.driving import ALLOWANCE, nodes_for, of_shape
from haloscope.run.jobs.job_notes import FolderJobs, Submitted, checked, lacking
from haloscope.run.places import places
from haloscope.run.places.batched import BatchPlace
from haloscope.run.prepare import probing
from haloscope.run.progress import Teller
from haloscope.run.time_left import TimeLeft
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import CANCELLED, GONE, JobAsked, JobState, warning_s
from haloscope.sites.script import MOST_MINUTES, script
from haloscope.study.case import Launch
from haloscope.study.plan import SavedPlan

USUAL_MINUTES = 60
"""USUAL_MINUTES is a job's time limit if the duration of its launches is unknown."""
LEAST_MINUTES = 2
"""The start takes some seconds, and Slurm checks time limits every half minute."""
CHECK_S = 15.0
"""Time for the start, and for each library and transport whose messages arrive."""


@dataclass(frozen=True)
class Submission(FolderJobs):
    """A plan on a batch system. minutes: time limit per job, if given by the user.

    programs: external ones of its cases; jobs get the names of those that the user named.
    """

    site: BatchPlace
    batch: Batch
    minutes: int | None = None
    programs: tuple[ExternalProgram, ...] = ()

    def problems(self) -> Iterator[Problem]:
        """Yield time limits that the partition does not allow."""
        limit = self._most_minutes
        where = f"partition {self.site.described.partition!r} of site {self.site.name!r}"
        yield from outside("--minutes", self.minutes, MOST_MINUTES)
        if not str(self.directory).isprintable():
            what = "the folder name contains characters that are not allowed in a job script"
            yield Problem(f"--out {str(self.directory)!r}", what, "choose another name")
        longest = max((case.timeout_s for case in self.plan.cases), default=0.0)
        if self.minutes is not None and 1 <= self.minutes < longest / 60:
            what = f"shorter than the time limit per launch, {longest:g} s ('timeout_s')"
            remedy = f"give at least {count(math.ceil(longest / 60), 'minute')}, or reduce "
            remedy += "'timeout_s' in the study"
            yield Problem(f"--minutes {self.minutes}", what, remedy)
        if limit is None:
            return
        if self.minutes is not None and self.minutes > limit:
            what = f"{where} allows at most {count(limit, 'minute')} per job"
            remedy = f"give at most {count(limit, 'minute')}"
            yield Problem(f"--minutes {self.minutes}", what, remedy)
        if longest > 60 * limit:
            what = f"{longest:g} s is too long for a job: {where} allows at most "
            what += count(limit, "minute")
            remedy = "reduce 'timeout_s', or choose another partition in the site file"
            yield Problem("timeout_s", what, remedy)

    def planned(self) -> list[JobAsked]:
        """Return the jobs for the remaining launches, by number of nodes, the smallest first."""
        left = self.left()
        walls = earlier_walls(self.folder, self.plan)
        jobs = []
        for nodes in sorted({nodes_for(self.plan, launch) for launch in left}):
            shape = of_shape(self.plan, left, nodes)
            for own in self._apart(shape):
                number, minutes = self._length(self._in_a_job(own), walls)
                number = max(number, self._allocations_lacking(nodes))
                jobs += [self._asked(nodes, minutes) for _ in range(number)]
        return jobs

    def _apart(self, launches: Sequence[Launch]) -> list[list[Launch]]:
        """Divide launches by allocation; all together if the plan has none."""
        apart = grouped(launches, self.plan.allocation_of)
        return [own for _, own in sorted(apart.items())]

    def _in_a_job(self, launches: Sequence[Launch]) -> list[Launch]:
        """Return the launches that one job runs: all, or as many as a precision permits."""
        if self.plan.rule is None:
            return [*launches]
        from haloscope.stats.enough import most_in_one  # with numpy

        each: Counter[str] = Counter()
        taken = []
        for launch in launches:
            each[launch.case.id] += 1
            if each[launch.case.id] <= most_in_one(self.plan.rule):
                taken.append(launch)
        return taken

    def _allocations_lacking(self, nodes: int) -> int:
        """Return how many more allocations of `nodes` nodes a precision needs at least; 0 without
        one.
        """
        if self.plan.rule is None:
            return 0
        from haloscope.stats.enough import ALLOCATIONS

        given = (
            one.allocation
            for one in attempts(self.folder.records)
            if one.outcome == "ok" and one.nodes == nodes
        )
        return ALLOCATIONS - len({*given} - {None})

    def _length(
        self, launches: Sequence[Launch], walls: Mapping[str, Sequence[float]]
    ) -> tuple[int, int]:
        limit = self.minutes or self._most_minutes
        seconds = TimeLeft(launches, walls).seconds()
        longest = max(launch.case.timeout_s for launch in launches)
        if seconds is None:
            usual = self.minutes or max(USUAL_MINUTES, LEAST_MINUTES + math.ceil(longest / 60))
            return 1, min(limit or usual, usual)
        if self.plan.via:  # one launch per core
            seconds /= self.plan.via.nodes * self.site.described.used.cores
        needed = LEAST_MINUTES + math.ceil(ALLOWANCE * seconds / 60)
        if limit is None or needed <= limit:
            return 1, self.minutes or needed
        return math.ceil(needed / max(1, limit - math.ceil(longest / 60 / 2))), limit

    def _asked(self, nodes: int, minutes: int, *, check: bool = False) -> JobAsked:
        number = uuid.uuid4().hex[:12]
        named = named_again([one.trusted for one in self.programs])
        what = ["--check"] if check else ["--nodes", str(nodes), "--minutes", str(minutes)]
        return JobAsked(
            name=self.name,
            comment=f"haloscope:{number}",
            nodes=nodes,
            minutes=minutes,
            log=self.directory / "jobs" / f"{number}.log",
            command=["drive", str(self.directory), *what, *named],
            variables=tuple(needs.variables(self.programs)),
        )

    @property
    def name(self) -> str:
        """The unique name of this folder's jobs, independent of links to the folder."""
        where = str(self.directory.resolve())
        return f"haloscope-{uuid.uuid5(uuid.NAMESPACE_URL, where).hex[:12]}"

    def check_asked(self) -> JobAsked:
        """Return the preflight job, which checks whether the nodes have everything."""
        several = [case for case in self.plan.cases if not case.absent and case.layout.ranks > 1]
        asked = {(case.toolchain, by) for case in several for by in (None, case.transport)}
        usable = 60 - warning_s(1)  # of each minute
        minutes = math.ceil((CHECK_S + 2 * probing.TIMEOUT_S * len(asked)) / usable)
        return self._asked(1, min(self._most_minutes or minutes, minutes), check=True)

    @property
    def first(self) -> JobAsked | None:
        """Return the preflight job if it has not run or has found problems; otherwise None."""
        asked = checked(self.directory).exists() and not lacking(self.directory)
        return None if asked else self.check_asked()

    @property
    def _most_minutes(self) -> int | None:
        return self.site.described.used.max_minutes

    def tested(self, job: JobAsked) -> str:
        """Return when a job could start, from the batch system. Raise UserError if it
        is refused.
        """
        with scratch() as own:
            path = own.folder / "job.sh"
            path.write_text(self._script(job), encoding="utf-8")
            return self.batch.tested(path)

    def _script(self, job: JobAsked) -> str:
        return script(self.site.scheduler, self.site.described, job, Path.cwd())

    def write(self, job: JobAsked) -> Submitted:
        """Write a job's script and note the job, without submitting it."""
        path = job.log.with_suffix(".sh")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, self._script(job))
        check = "--check" in job.command
        noted = Submitted(
            job.comment, job.nodes, job.minutes, str(path), check=check, at=time.time()
        )
        self.save([*self.noted(), noted])
        return noted

    def submit(self, job: JobAsked) -> str:
        """Write and submit a job; return its id."""
        noted = self.write(job)
        number = self.batch.submit(Path(noted.script), self.name, noted.comment)
        self.save([one if one != noted else replace(one, job=number) for one in self.noted()])
        return number

    def found_again(self) -> None:
        """Look for jobs whose submission had no answer; accepted ones get their id."""
        lost = [one.comment for one in self.noted() if not one.job]
        found = {comment: self.batch.scheduler.found(self.name, comment) for comment in lost}
        noted = self.noted()  # another command may have noted more in the meantime
        jobs = [one if one.job else replace(one, job=found.get(one.comment)) for one in noted]
        if jobs != noted:
            self.save(jobs)

    def states(self) -> dict[str, JobState]:
        """Return the state of each submitted job."""
        noted = {one.job: one for one in self.noted() if one.job}
        return {
            job: replace(state, state=CANCELLED)
            if state.state == GONE and noted[job].cancelled
            else state
            for job, state in self.batch.states([*noted]).items()
        }

    def cancel(self) -> list[str]:
        """Cancel the pending and running jobs, and note that; return their ids."""
        jobs = self.waiting()
        self.batch.cancel(jobs)
        noted = self.noted()
        self.save([replace(one, cancelled=True) if one.job in jobs else one for one in noted])
        return jobs

    def waiting(self) -> list[str]:
        """Return the pending and running jobs with this folder's name.

        A folder from somebody else, or one that was moved, may contain other jobs' ids.
        """
        states = self.states()
        ours = self.batch.scheduler.named(self.name, states)
        return [job for job, state in states.items() if not state.over and job in ours]


def of(campaign: Campaign, minutes: int | None = None) -> Submission:
    """Return the submission of a campaign on a site. Raise UserError for jobs it would refuse."""
    site = campaign.place.jobs_at
    assert site is not None
    programs = tuple(campaign.bench.programs.values())
    batch = Batch(site.scheduler)
    submission = Submission(campaign.folder, campaign.plan, site, batch, minutes, programs)
    reject(submission.problems())
    return submission


def of_folder(directory: Path) -> Submission:
    """Return the submission of a result folder. Raise UserError if it has no batch jobs."""
    folder = ResultFolder(directory)
    plan = folder.load()
    site = places.place(plan.on, via=plan.via).jobs_at
    if site is None:
        raise UserError(_without_jobs(folder, plan))
    return Submission(folder, plan, site, Batch(site.scheduler))


def require_of_a_site(jobs: FolderJobs) -> None:
    """Raise UserError for a folder measured without a batch system, but not for a missing site."""
    facts = places.facts(jobs.plan.on)
    if jobs.plan.via is None and facts is not None and (facts.simulated or not facts.remote):
        raise UserError(_without_jobs(jobs.folder, jobs.plan))


def _without_jobs(folder: ResultFolder, plan: SavedPlan) -> Problem:
    what = f"its study was planned for '{plan.on}', which has no batch system and therefore no jobs"
    return Problem(
        str(folder.path), what, "use haloscope run --resume, haloscope report, or haloscope show"
    )


def begin(campaign: Campaign, environment: Mapping[str, str], tell: Teller) -> None:
    """Create the result folder of a new campaign; warn of variables that jobs do not get."""
    site = campaign.place.jobs_at
    assert site is not None
    if names := site.scheduler.overriding(environment):
        to = site.scheduler.submits
        tell.warn(
            f"warning: {', '.join(names)}: not passed to {to}, because this would override the "
            "options of jobs; use the keys of the site file instead"
        )
    if campaign.source is not None:
        with campaign.folder.alone():
            campaign.check_folder()
            campaign.folder.create(campaign.source, campaign.plan)
    elif campaign.plan != campaign.found:  # more launches, or a change that was accepted
        with campaign.folder.alone():
            campaign.check_folder()
            campaign.folder.save(campaign.plan)


@contextmanager
def answered(submission: Submission) -> Iterator[None]:
    """Raise UserError if the batch system does not answer a required query."""
    try:
        yield
    except (NoAnswerError, RefusedError) as error:
        title = submission.batch.scheduler.title
        remedy = "try again later; records are kept, and submitted jobs will be found again"
        raise UserError(Problem(title, f"no answer: {error}", remedy)) from error


def submit_all(submission: Submission, tell: Teller) -> list[str]:
    """Submit jobs for all remaining launches, at most the missing ones of each size; return all
    ids.
    """
    with answered(submission):
        submission.found_again()
        jobs = submission.waiting()
    there = [one for one in submission.noted() if one.job in jobs]
    first = next((one.job for one in there if one.check), None)
    given = Counter(one.nodes for one in there if not one.check)
    if jobs:
        tell.say(f"already submitted: {count(len(jobs), 'job')} ({', '.join(jobs)})")
    elif (asking := submission.first) is not None:
        checked(submission.directory).unlink(missing_ok=True)
        first = submission.submit(asking)
        tell.say(f"job {first}: preflight check on one node")
        jobs.append(first)
    for job in submission.planned():
        if given[job.nodes]:
            given[job.nodes] -= 1
            continue
        behind = next((before for before in reversed(jobs) if before != first), None)
        number = submission.submit(replace(job, after=first, behind=behind))
        jobs.append(number)
        size = f"{count(job.nodes, 'node')}, up to {count(job.minutes, 'minute')}"
        tell.say(f"job {number}: {size}")
    return jobs
