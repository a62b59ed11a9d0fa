# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: the cases of a study, run launch by launch, with their records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from rich.console import Console

from haloscope.errors import Problem, UserError, reject
from haloscope.paths import in_a_shell
from haloscope.quantities import count
from haloscope.records.attempts import Attempt, attempts, attempts_of
from haloscope.records.folder import ResultFolder, enclosed
from haloscope.records.log import append
from haloscope.run.doctor import Patient
from haloscope.run.doctor.processors import check_load
from haloscope.run.places import Place, places
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.progress import Teller, duration
from haloscope.run.run_view import RunView
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.runners.simulation_costs import SimulationForecast
from haloscope.run.time_left import TimeLeft
from haloscope.study.case import Case, Launch
from haloscope.study.plan import SavedPlan
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.simgrid import Pairs

if TYPE_CHECKING:
    from haloscope.run.campaign.stopping import Stopping


@dataclass(frozen=True)
class Campaign:
    """A plan with its place and its programs.

    place: where it runs. source: the study's text for a new folder; None if the campaign continues.
    found: the plan in the folder of a continued campaign. seen: what each MPI library used for each
    transport. remarks: notes to print. first: what must be downloaded and built before it can run,
    if that is left to others. unchecked: missing programs because of which some cases are not
    completely checked.
    """

    place: Place
    folder: ResultFolder
    plan: SavedPlan
    bench: Workbench
    source: str | None
    found: SavedPlan | None = None
    remarks: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    unchecked: tuple[KernelProgram, ...] = ()
    seen: Mapping[tuple[str, str | None, bool], str | None] = field(default_factory=dict)

    def launches_left(self) -> tuple[list[Launch], int]:
        """Return the launches without a good record, and how many of them were tried before."""
        follows = self.plan.ends_early and self.folder.plan.exists()
        plan = self.folder.load() if follows else self.plan  # some cases have stopped since
        return self.folder.left(_caught_up(plan, self._stopping()).launches())

    def _stopping(self) -> Stopping | None:
        """Return the stopping rule applied to the existing records; None without a rule."""
        if not self.plan.ends_early:
            return None
        from haloscope.run.campaign.stopping import Parting, Precision  # with numpy

        tried = attempts(self.folder.records)
        if self.plan.rule is not None:
            return Precision(self.plan.rule, tried)
        assert self.plan.parting is not None
        return Parting(
            self.plan.parting, [one.id for one in self.plan.cases if not one.absent], tried
        )

    def earlier_walls(self) -> dict[str, list[float]]:
        """Return the durations in seconds of earlier launches on this machine, by case.

        Folders beside this one are included.
        """
        return earlier_walls(self.folder, self.plan)

    def expected(self) -> str:
        """Describe the expected duration of the remaining launches, from earlier ones on this
        machine.
        """
        left = [launch for launch in self.launches_left()[0] if not launch.case.absent]
        seconds = TimeLeft(
            *(left, self.earlier_walls()),
            at_once=places.at_once(self.place),
            forecast=self.forecast_s,
        ).seconds()
        if seconds is None:
            return "unknown until the first launches end"
        return f"about {duration(seconds)}"

    def forecast(self, case: Case) -> SimulationForecast | None:
        """Return the expected cost of simulating a case on this machine; None if unknown.

        It is determined once per case, from the state of the cache at that time.
        """
        if self._simulator is None or case.absent:
            return None
        if case.id not in self._forecasts:
            self._forecasts[case.id] = self._simulator.forecast(case)
        return self._forecasts[case.id]

    @cached_property
    def _forecasts(self) -> dict[str, SimulationForecast | None]:
        return {}

    def sent(self, case: Case) -> Pairs | None:
        """Return the bytes between ranks, counted by a simulation on this machine, or None.

        This includes cases that jobs simulate.
        """
        return self._here.sent(case) if self._here and not case.absent else None

    def forecast_s(self, case: Case) -> float | None:
        """Return the expected time of the simulation, in seconds."""
        found = self.forecast(case)
        return found.time_s if found else None

    @property
    def _simulator(self) -> SimgridRunner | None:
        """Return the simulator of cases on this machine; None if they run, or are simulated in
        jobs.
        """
        return self._here if self.plan.via is None else None

    @cached_property
    def _here(self) -> SimgridRunner | None:
        """Return a simulator on this machine; None if cases run, or if nothing is built."""
        if self.place.facts.simulated and self.bench.built:
            here = self.place.on_this_machine()
            runner = here.runner(self.plan.name, self.plan.seed, self.bench, self.seen)
            return runner if isinstance(runner, SimgridRunner) else None
        return None

    def print_failures(self, out: Console) -> int:
        """Print how to retry failed launches; return the exit code, which is 1 if there are any."""
        bad, _ = self.launches_left()
        if bad:
            what = count(len(bad), "launch", "launches")
            line = f"{what} failed; to retry: run --resume {in_a_shell(self.folder.path)}"
            out.print(line, markup=False, soft_wrap=True)
        return 1 if bad else 0

    def check_folder(self) -> None:
        """Raise UserError if another process wrote to the folder since this campaign was planned.

        The result is reliable only while the folder is locked: see `ResultFolder.alone`.
        """
        if self.found is None and (problems := self.folder.problems()):
            raise UserError(problems)
        if self.found is not None and self.folder.load() != self.found:
            remedy = "run the same command again"
            what = "another haloscope process wrote to this folder in the meantime"
            raise UserError(Problem(str(self.folder.path), what, remedy))

    def probed(self) -> Campaign:
        """Return the campaign with the results of one probe of each MPI library and transport.

        Cases whose transport is unavailable become absent, with the reason. In a continued folder
        the transport worked before, so that is a UserError.
        """
        cases, seen = self.place.probed(self.plan.cases, self.bench)
        lost = {
            (after.toolchain, after.transport): after.absent
            for before, after in zip(self.plan.cases, cases, strict=True)
            if after.absent and not before.absent and self.source is None
        }
        remedy = "find the cause (haloscope doctor), then resume again; the folder is unchanged"
        reject(
            Problem(name, f"transport '{transport}' no longer works: {why}", remedy)
            for (name, transport), why in lost.items()
        )
        return replace(self, plan=replace(self.plan, cases=cases), seen=seen)

    def run(
        self, launches: list[Launch], watch: Callable[[Iterable[Launch]], Iterator[Launch]]
    ) -> Iterator[tuple[Launch, dict[str, Any]]]:
        """Run launches; `watch` sees each start. A record is on disk before it is yielded."""
        stopping = self._stopping()
        plan = _caught_up(self.plan, stopping)
        if self.source is not None:
            self.folder.create(self.source, plan)
        else:
            self.folder.save(plan)
        runner = self.place.runner(plan.name, plan.seed, self.bench, self.seen)
        by_key = {(launch.case.id, launch.number): launch for launch in launches}
        for measured in runner.run(watch(stopping.needed(launches) if stopping else launches)):
            case = measured["case"]
            why = stopping.done[case] if stopping and stopping.add(Attempt.of(measured)) else None
            changed = {"changed": list(plan.changes)} if plan.changes else {}
            record = {**measured, "stopped": why, **changed}
            append(self.folder.records, record)
            if stopping and why:
                plan = _caught_up(plan, stopping)
                self.folder.save(plan)
            yield by_key[case, record["launch"]], record


def _caught_up(plan: SavedPlan, stopping: Stopping | None) -> SavedPlan:
    """Return the plan with the cases that have stopped according to the records.

    The record that stops a case is written before the plan.
    """
    for case in plan.cases if stopping else ():
        if stopping and case.stopped is None and (why := stopping.done.get(case.id)):
            plan = plan.stopped(case.id, stopping.launches(case.id), why)
    return plan


def earlier_walls(folder: ResultFolder, plan: SavedPlan) -> dict[str, list[float]]:
    """Return the durations in seconds of a plan's launches on its machine or site, by case.

    Folders beside this one are included.
    """
    walls: dict[str, list[float]] = {}
    host, cases = plan.machine["host"], {case.id for case in plan.cases}
    beside = folder.path.parent.glob("*/records.jsonl")
    for file in sorted(enclosed(beside)):
        # an estimate must not fail because of other folders
        with suppress(UserError, OSError):
            own = file == folder.records
            for one in attempts(file) if own else attempts_of(file, cases):
                if one.host == host and one.outcome == "ok" and one.wall_s is not None:
                    walls.setdefault(one.case, []).append(one.wall_s)
    return walls


def measure(campaign: Campaign, tell: Teller, until: float | None = None) -> None:
    """Run the remaining launches of a campaign, and print progress.

    until: start no launch after this time of `time.monotonic`.
    """

    def in_time(some: Iterable[Launch]) -> Iterator[Launch]:
        return takewhile(lambda _: until is None or time.monotonic() < until, some)

    rule = campaign.plan.rule
    with campaign.folder.alone():
        campaign.check_folder()
        launches, again = campaign.launches_left()
        _announce(campaign, len(launches), again, tell)
        walls = campaign.earlier_walls()
        most_s = rule.most_s if rule else None
        side_by_side = places.at_once(campaign.place)
        known = (launches, walls, most_s, side_by_side, campaign.forecast_s)
        with RunView(tell.console, *known) as view:
            for launch, record in campaign.run(launches, lambda some: view.watch(in_time(some))):
                view.ended(launch, record)


def _announce(campaign: Campaign, left: int, again: int, tell: Teller) -> None:
    plan = campaign.plan
    done = len(plan.launches()) - left
    tell.say(plan.study)
    tell.say(
        f"{count(len(plan.cases), 'case')}, {count(left, 'launch', 'launches')} in random order"
        f" (seed {plan.seed}) -> {campaign.folder.path}"
    )
    for line in (*plan.notes, *campaign.remarks):
        tell.warn(line)
    if done:
        tell.say(f"already done: {count(done, 'launch', 'launches')}")
    if again:
        tell.say(f"failed before, run again: {count(again, 'launch', 'launches')}")
    facts = campaign.place.facts
    here = left and not facts.remote and not facts.simulated
    load = check_load(Patient()) if here else None
    if load is not None and load.level == "warn":
        tell.warn(f"warning: times will be disturbed, because {load.what}; {load.remedy}")
