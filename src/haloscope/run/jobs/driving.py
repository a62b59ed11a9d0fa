# SPDX-License-Identifier: BSD-3-Clause
"""Run the remaining launches of a result folder inside a batch job."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from haloscope.errors import Problem, UserError
from haloscope.host.scratch import PREFIX
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import count
from haloscope.records.attempts import attempts
from haloscope.records.folder import ResultFolder
from haloscope.records.maker import now
from haloscope.run.campaign.campaign import Campaign
from haloscope.run.campaign.resuming import resume
from haloscope.run.jobs.job_notes import HEARTBEAT, checked, holds, take
from haloscope.run.places import places
from haloscope.run.progress import Teller
from haloscope.sites.schedulers.scheduler import Scheduler, warning_s
from haloscope.study.case import Launch
from haloscope.study.plan import SavedPlan

ALLOWANCE = 1.5
"""ALLOWANCE times the longest launch of a case is the expected maximum of another one."""
_RESERVE_S = 5.0
"""_RESERVE_S is the time that a job reserves for an orderly end."""


@dataclass
class Budget:
    """The time of a job, and whether another launch fits.

    end: of the job, by `clock`. walls: durations of earlier launches, by case.
    """

    end: float
    walls: dict[str, list[float]]
    clock: Callable[[], float] = time.monotonic
    closed: bool = False
    begun: int = 0
    left_out: int = 0

    def close(self, *_: int | FrameType | None) -> None:
        """Start no further launch: the batch system signalled that the end is near."""
        self.closed = True

    def fits(self, launch: Launch) -> bool:
        """Return whether a launch is expected to end in time."""
        if self.closed:
            return False
        if self.begun == 0:
            return True
        known = self.walls.get(launch.case.id)
        longest = ALLOWANCE * max(known) if known else launch.case.timeout_s
        expected = min(longest, launch.case.timeout_s)
        return self.clock() + expected + _RESERVE_S < self.end

    def fitting(self, launches: Iterable[Launch]) -> Iterator[Launch]:
        """Yield the launches that fit, each decided at its turn."""
        for launch in launches:
            if launch.case.absent is None and not self.fits(launch):
                self.left_out += 1
                continue
            self.begun += launch.case.absent is None
            yield launch

    def ended(self, record: Mapping[str, Any]) -> None:
        """Record the end of a launch."""
        if record["wall_s"]:
            self.walls.setdefault(record["case"], []).append(record["wall_s"])


def loaded(directory: Path, tell: Teller, programs: Sequence[Path] = ()) -> Campaign:
    """Return the campaign of a folder, on this node. programs: external ones named by the user.

    Raise UserError if a library or build is missing on the node: a job downloads and builds
    nothing.
    """
    campaign = resume(directory, None, None, tell, dry=True, programs=programs)
    if (site := campaign.place.jobs_at) is None:
        what = f"its study was planned for '{campaign.place.name}', which has no batch jobs"
        remedy = f"continue with haloscope run --resume {in_a_shell(directory)}"
        raise UserError(Problem(str(directory), what, remedy))
    node = site.allocation.nodes[0]
    if campaign.first:
        raise UserError([Problem(f"node {node}", line, _SHARED) for line in campaign.first])
    folder = campaign.folder.path.absolute()
    return replace(campaign, place=campaign.place.with_folder(folder))


_SHARED = "set HALOSCOPE_CACHE to a folder that the login node and the compute nodes share"


def check(directory: Path, tell: Teller, programs: Sequence[Path] = ()) -> None:
    """Determine on the nodes which cases cannot run there, and record it in plan and records.

    Raise UserError, also stored for `submission`, if no case can run.
    """
    folder = ResultFolder(directory)
    try:
        with _taken(folder):
            campaign = loaded(directory, tell, programs)
            asked = replace(campaign, source=folder.study.read_text(encoding="utf-8"))
            found = replace(asked.probed(), source=None)
            folder.save(found.plan)
            absent = [one for one in found.launches_left()[0] if one.case.absent]
            for _ in found.run(absent, iter):
                pass  # its record is on disk; no job exists for nodes of absent cases only
    except UserError as error:
        problems = [vars(problem) for problem in error.problems]
        write_whole(checked(directory), json.dumps({"problems": problems}))
        raise
    write_whole(checked(directory), json.dumps({"problems": []}))


def drive(
    directory: Path, nodes: int, minutes: int, tell: Teller, programs: Sequence[Path] = ()
) -> int:
    """Run the remaining cases on `nodes` nodes within the time limit; return the number of
    launches.

    Raise UserError if the job has fewer nodes, because options of its script were ignored.
    """
    begun = time.monotonic()
    folder = ResultFolder(directory)
    with _taken(folder):
        remove_left(directory)
        campaign = loaded(directory, tell, programs)
        site = campaign.place.jobs_at
        assert site is not None
        if (given := len(site.allocation.nodes)) < nodes:
            what = f"the job has {count(given, 'node')}, but {nodes} were requested"
            remedy = f"check which options in {directory}/jobs/*.sh the batch system ignored"
            raise UserError(Problem(f"job {site.allocation.job}", what, remedy))
        if not of_shape(
            campaign.plan, campaign.launches_left()[0], nodes
        ):  # an earlier job finished them
            tell.say(f"no launches left on {count(nodes, 'node')}")
            return 0
        campaign = campaign.probed()
        end = begun + closing_s(site.scheduler, minutes)
        budget = Budget(end, campaign.earlier_walls())
        signal.signal(signal.SIGUSR1, budget.close)
        launches = _for_one_allocation(
            campaign.plan, of_shape(campaign.plan, campaign.launches_left()[0], nodes), folder
        )
        left = count(len(launches), "launch", "launches")
        tell.say(f"{left} left on {count(nodes, 'node')}")
        for launch, record in campaign.run(launches, _watched(campaign, budget, tell)):
            budget.ended(record)
            reason = f": {record['reason']}" if record["reason"] else ""
            say = tell.say if record["outcome"] == "ok" else tell.warn
            say(f"{record['outcome']}: {launch.case.title}, launch {launch.number}{reason}")
        if budget.closed:
            tell.warn(f"{site.scheduler.title} signalled that the job is about to end")
        run = count(budget.begun, "launch", "launches")
        tell.say(f"{run} run, {budget.left_out} left for another job")
    return budget.begun


def closing_s(scheduler: Scheduler, minutes: int) -> float:
    """Return the time from the start of a job after which its launches must have ended."""
    return 60.0 * minutes - (0 if scheduler.warns else warning_s(minutes))


@contextmanager
def _taken(folder: ResultFolder) -> Iterator[None]:
    """Hold the folder for this job.

    Another driver of it, on a node that the batch system considers dead, notices this and ends
    after its launch, for which this one waits. Raise UserError if it does not end.
    """
    plan = folder.load()
    if (site := places.place(plan.on, via=plan.via).jobs_at) is not None:
        take(folder.path, site.allocation)
    patience_s = _RESERVE_S + max((case.timeout_s for case in plan.cases), default=0.0)
    with folder.alone(patience_s):
        yield


def remove_left(directory: Path) -> int:
    """Remove files of killed launches, and return their number. Only for the sole user of the
    folder.
    """
    left = [*directory.glob(f"{PREFIX}*")]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return len(left)


def _for_one_allocation(
    plan: SavedPlan, launches: Sequence[Launch], folder: ResultFolder
) -> list[Launch]:
    """Return the launches of one job: all, or those of the first allocation with
    untried launches.

    Those that failed before are last: others need the job's time, too.
    """
    tried = {one.key for one in attempts(folder.records)}

    def failed(one: Launch) -> bool:
        return (one.case.id, one.number) in tried

    ordered = sorted(launches, key=failed)
    if plan.allocations is None or not ordered:
        return ordered
    _, chosen = min((failed(one), plan.allocation_of(one)) for one in ordered)
    return [one for one in ordered if plan.allocation_of(one) == chosen]


def of_shape(plan: SavedPlan, launches: Sequence[Launch], nodes: int) -> list[Launch]:
    """Return the launches that jobs on `nodes` nodes run."""
    return [launch for launch in launches if nodes_for(plan, launch) == nodes]


def nodes_for(plan: SavedPlan, launch: Launch) -> int:
    """Return the nodes of the job that runs a launch.

    These are the case's own, or the maximum over cases if all run together, or those that simulate
    any case.
    """
    if plan.via:
        return plan.via.nodes
    cases = plan.cases if plan.together else (launch.case,)
    return max(case.layout.nodes for case in cases)


def _watched(
    campaign: Campaign, budget: Budget, tell: Teller
) -> Callable[[Iterable[Launch]], Iterator[Launch]]:
    """Yield the launches that fit, with a heartbeat before each, while the folder is this job's."""
    site = campaign.place.jobs_at
    assert site is not None

    def ours(launches: Iterable[Launch]) -> Iterator[Launch]:
        for launch in launches:
            if not holds(campaign.folder.path, site.allocation):
                tell.warn("another job has taken over this folder; this job ends")
                return
            yield launch

    def watch(launches: Iterable[Launch]) -> Iterator[Launch]:
        for launch in budget.fitting(ours(launches)):
            beat = {
                "job": site.allocation.job,
                "restarts": site.allocation.restarts,
                "node": site.allocation.nodes[0],
                "at": now(),
                "case": launch.case.title,
                "launch": launch.number,
            }
            write_whole(campaign.folder.path / HEARTBEAT, json.dumps(beat))
            yield launch

    return watch
