# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: plan a study's cases, run them launch by launch, and keep the records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from haloscope.errors import Problem, UserError, dotted, nearest, out_of
from haloscope.paths import dated_folder
from haloscope.quantities import count
from haloscope.records.attempts import Attempt, attempts, attempts_of
from haloscope.records.enclosure import enclosed
from haloscope.records.folder import ResultFolder, SavedPlan, Via, changes
from haloscope.records.record import append
from haloscope.run import fixed, halobench, kernels, places, preparing, received, workbench
from haloscope.run.doctor.processors import check_load
from haloscope.run.doctor.result import Patient
from haloscope.run.here import LOCAL
from haloscope.run.place import Place
from haloscope.run.progress import RunView, Teller, TimeLeft, duration
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.simulation_costs import SimulationForecast
from haloscope.run.stopping import Stopping
from haloscope.run.workbench import Workbench
from haloscope.study import file as study_file
from haloscope.study import schema, suited
from haloscope.study.capacity import Site
from haloscope.study.case import Case, Launch
from haloscope.study.file import Draft
from haloscope.study.plan import Plan, Program, expand, nothing_runs
from haloscope.study.schema import (
    ALLOCATIONS_LIMIT,
    LAUNCHES_LIMIT,
    PLAN_LIMIT,
    SEED_LIMIT,
    Run,
    Study,
)
from haloscope.study.settings import SETTINGS
from haloscope.toolchains import library
from haloscope.toolchains.build import KernelProgram


@dataclass(frozen=True)
class Request:
    """What a user wants of a study; None leaves it to the study, the machine or chance.

    layout: a file with the layout of every run, in place of the study's.
    programs: external programs that the user named, and that may be run. device: one of
    library.DEVICES, that halobench is to be built for with every MPI library. allocations: of a
    batch system, each with the launches of every case. together: as of `SavedPlan`.
    """

    study: str
    out: Path | None = None
    launches: int | None = None
    allocations: int | None = None
    replicates: int | None = None
    toolchain: str | None = None
    seed: int | None = None
    oversubscribe: bool = False
    on: str = LOCAL
    keep: Path | None = None
    via: Via | None = None
    execute: bool = False
    layout: Path | None = None
    programs: tuple[Path, ...] = ()
    device: str | None = None
    together: bool = False


@dataclass(frozen=True)
class Campaign:
    """A plan with its place and its programs.

    place: where it runs. source: the study's text, for a new folder; None for one that goes on.
    found: the plan as it was in the folder of one that goes on.
    seen: for MPI library and transport, what it used. remarks: what is to be said of it.
    first: what is to be fetched and built before it can run, where that is left to others.
    unchecked: programs without which some of its cases are not known whole.
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
        """The launches without a good record yet, and how many of them were tried before."""
        follows = self.plan.rule is not None and self.folder.plan.exists()
        plan = self.folder.load() if follows else self.plan  # which cases have stopped since
        return self.folder.left(self._caught_up(plan).launches())

    def _caught_up(self, plan: SavedPlan) -> SavedPlan:
        """The plan with what its records know and it does not, by a kill or a full disk between.

        A record that stops a case is on disk before the plan that says so.
        """
        if (stopping := self._stopping()) is None:
            return plan
        for case in plan.cases:
            if case.stopped is None and (why := stopping.done.get(case.id)):
                plan = plan.stopped(case.id, stopping.launches(case.id), why)
        return plan

    def _stopping(self) -> Stopping | None:
        """Which cases need no more launches, by the records that are there; None without a rule."""
        if self.plan.rule is None:
            return None
        return Stopping(self.plan.rule, attempts(self.folder.records))

    def earlier_walls(self) -> dict[str, list[float]]:
        """Seconds that launches took on this machine before, by case; in folders beside too."""
        return earlier_walls(self.folder, self.plan)

    def expected(self) -> str:
        """How long what is left takes, by what the same cases took on this machine before."""
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
        """What simulating a case takes on this machine; None where that is unknown."""
        return self._simulator.forecast(case) if self._simulator and not case.absent else None

    def forecast_s(self, case: Case) -> float | None:
        """The time of that."""
        found = self.forecast(case)
        return found.time_s if found else None

    @cached_property
    def _simulator(self) -> SimgridRunner | None:
        """What simulates cases on this machine; None where they run, or are simulated by jobs."""
        if self.place.facts.simulated and self.plan.via is None and self.bench.built:
            runner = self.place.runner(self.plan.name, self.plan.seed, self.bench, self.seen)
            return runner if isinstance(runner, SimgridRunner) else None
        return None

    def check_folder(self) -> None:
        """UserError where another process wrote there since this campaign was planned.

        It says nothing for good unless the folder is held: see `ResultFolder.alone`.
        """
        if self.found is None and (problems := self.folder.problems()):
            raise UserError(problems)
        if self.found is not None and self.folder.load() != self.found:
            remedy = "run the same command again"
            what = "another haloscope process wrote to this folder in the meantime"
            raise UserError(Problem(str(self.folder.path), what, remedy))

    def probed(self) -> Campaign:
        """With what two ranks found out of each MPI library and transport, one launch of each.

        Cases whose transport can't be had here become absent, with the reason; not those of a
        folder that goes on, where it worked when the folder was begun: UserError.
        """
        cases, seen = self.place.probed(self.plan.cases, self.bench)
        lost = {
            (after.toolchain, after.transport): after.absent
            for before, after in zip(self.plan.cases, cases, strict=True)
            if after.absent and not before.absent and self.source is None
        }
        remedy = "repair it (haloscope doctor), then resume again; the folder was not changed"
        if problems := [
            Problem(f"{name}, transport {transport}", f"no longer works: {why}", remedy)
            for (name, transport), why in lost.items()
        ]:
            raise UserError(problems)
        return replace(self, plan=replace(self.plan, cases=cases), seen=seen)

    def run(
        self, launches: list[Launch], watch: Callable[[Iterable[Launch]], Iterator[Launch]]
    ) -> Iterator[tuple[Launch, dict[str, Any]]]:
        """Run launches, `watch` seeing each start; a record is on disk before it is yielded."""
        plan, stopping = self._caught_up(self.plan), self._stopping()
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
                plan = plan.stopped(case, stopping.launches(case), why)
                self.folder.save(plan)
            yield by_key[case, record["launch"]], record


def earlier_walls(folder: ResultFolder, plan: SavedPlan) -> dict[str, list[float]]:
    """Seconds that a plan's launches took on its machine or site, by case; in folders beside one,
    too."""
    walls: dict[str, list[float]] = {}
    host, cases = plan.machine["host"], {case.id for case in plan.cases}
    beside = folder.path.parent.glob("*/records.jsonl")
    for file in sorted(enclosed(beside)):
        with suppress(UserError, OSError):  # whatever lies there: an estimate is no reason to stop
            own = file == folder.records
            for one in attempts(file) if own else attempts_of(file, cases):
                if one.host == host and one.outcome == "ok" and one.wall_s is not None:
                    walls.setdefault(one.case, []).append(one.wall_s)
    return walls


def start(request: Request, tell: Teller, *, dry: bool = False) -> Campaign:
    """A new campaign. UserError with all that is wrong, in the study or for it on this machine.

    dry: fetch and build nothing; what is known by then is checked.
    """
    _check_numbers(request.launches, request.seed, request.allocations)
    every = kernels.names(request.programs)
    draft = _read(request.study, every)
    if draft.study is None:
        raise UserError(draft.problems)
    place = places.place(request.on, request.keep, request.via)
    study = _as_requested(draft.study, request, place)
    folder = ResultFolder(request.out or dated_folder(draft.name))
    wanted = {
        draft.where(index, "toolchains"): run.toolchains for index, run in enumerate(study.runs)
    }
    if request.toolchain is not None:
        asked = [request.toolchain]
        if request.device is not None:
            asked = [library.for_device(request.toolchain, request.device)]
        wanted = {f"--toolchain {request.toolchain}": asked}
    programs = kernels.load([run.kernel for run in study.runs], request.programs)

    def site(bench: Workbench) -> Site:
        return place.site(bench, oversubscribe=request.oversubscribe)

    def planned(bench: Workbench) -> Plan:
        return _planned(study, draft, site(bench), bench, request, folder, every)

    ready = preparing.prepared(place, wanted, programs, planned, None if dry else tell)
    bench, plan = ready.bench, ready.plan
    study = _with_launches(study, request, site(bench))
    saved = SavedPlan(
        name=draft.name,
        study=study.title,
        seed=workbench.new_seed() if request.seed is None else request.seed,
        cases=plan.cases,
        notes=(
            *plan.notes,
            *_without_replicates(study, site(bench)),
            *suited.empty(study, plan.cases, programs),
        ),
        sources={name: built.source for name, built in bench.built.items()},
        machine=place.identity(),
        libraries=fixed.libraries(bench.built),
        on=place.name,
        keep=str(request.keep.absolute()) if request.keep else None,
        via=request.via,
        programs=kernels.fixed(programs, bench.toolchains),
        rule=None if place.facts.deterministic or request.launches else schema.stopping_rule(study),
        together=request.together,
    ).in_allocations(request.allocations)
    return Campaign(
        place,
        folder,
        saved,
        bench,
        draft.source,
        remarks=(
            *(f"warning: {doubt}" for doubt in site(bench).doubts_of(plan.cases)),
            *_time_taken(study, request, site(bench)),
        ),
        first=ready.first,
        unchecked=plan.unchecked,
    )


def _read(study: str, every: Sequence[str]) -> Draft:
    """A study's file. UserError where there is none; it may be the name of a kernel, of `every`."""
    try:
        return study_file.read(study)
    except UserError as error:
        if Path(study).exists() or study not in every:
            raise
        remedy = f"'{study}' is a kernel; to run it: haloscope once {study}"
        raise UserError(Problem(f"study '{study}'", "unknown study", remedy)) from error


def _planned(
    study: Study,
    draft: Draft,
    site: Site,
    bench: Workbench,
    request: Request,
    folder: ResultFolder,
    every: Sequence[str],
) -> Plan:
    """The cases of a study. UserError with all that is wrong."""
    plan = expand(_with_launches(study, request, site), site, bench.program, draft.where)
    unknown = [
        replace(problem, where=f"{draft.path}: {problem.where}")
        for problem in _unknown_settings(study, bench.program)
    ]
    problems = [*draft.problems, *bench.problems, *plan.problems, *unknown]
    problems += _unsuited(study, draft, every)
    problems += _in_allocations(request, study, site)
    problems += folder.problems()
    problems += site.replicates(request.replicates)
    each = request.allocations or 1
    if (planned := each * sum(case.launches for case in plan.cases)) > PLAN_LIMIT:
        what = f"{len(plan.cases):,} cases have {planned:,} launches in total"
        remedy = f"reduce launches or cases: at most {PLAN_LIMIT:,} launches"
        problems.append(Problem(str(draft.path), what, remedy))
    if problems := problems or nothing_runs(plan, site, str(draft.path)):
        raise UserError(problems)
    return plan


def _unsuited(study: Study, draft: Draft, every: Sequence[str]) -> list[Problem]:
    """Tables and figures that show no kernel of the study, where all of its kernels are known."""
    if any(run.kernel not in every for run in study.runs):
        return []
    return list(suited.unsuited(study, str(draft.path), {*every} - {*halobench.names()}))


def _unknown_settings(study: Study, program: Program) -> list[Problem]:
    """Settings that a [[tables]] or [[figures]] table chooses by and that no case will have."""
    ours = [run.kernel for run in study.runs if run.kernel in program.kernels()]
    known = {*SETTINGS, *(name for kernel in ours for name in program.parameters(kernel))}
    elements = [
        (dotted((kind, index, "where", name)), name)
        for kind, those in (("tables", study.tables), ("figures", study.figures))
        for index, element in enumerate(those)
        for name in element.where
    ]
    return [
        Problem(where, f"unknown setting '{name}'", nearest(name, sorted(known)))
        for where, name in elements
        if name not in known
    ]


def _time_taken(study: Study, request: Request, site: Site) -> Iterator[str]:
    """How long the study says that it takes, where it is measured as it says."""
    if study.minutes is not None and not site.facts.simulated and request.launches is None:
        number = request.allocations or 1
        each = f" in each of {count(number, 'allocation')}" if number > 1 else ""
        yield f"the study takes about {study.minutes:g} minutes{each}"


def _in_allocations(request: Request, study: Study, site: Site) -> Iterator[Problem]:
    """Why cases are not measured in so many allocations."""
    if request.allocations is None:
        return
    where = f"--allocations {request.allocations}"
    if site.facts.deterministic:
        what = "simulated times are the same in every allocation"
        yield Problem(where, what, "remove --allocations")
    elif study.precision is not None and request.launches is None:
        what = "the study has a precision, which determines the number of allocations"
        remedy = "remove --allocations, or give the launches per allocation: --launches N"
        yield Problem(where, what, remedy)


def _check_numbers(
    launches: int | None, seed: int | None = None, allocations: int | None = None
) -> None:
    """UserError where a number on the command line is out of its bounds."""
    bounds = (
        ("launches", launches, 1, LAUNCHES_LIMIT),
        ("seed", seed, 0, SEED_LIMIT),
        ("allocations", allocations, 1, ALLOCATIONS_LIMIT),
    )
    if problems := [
        Problem(f"--{name} {number}", word, f"give an integer from {least} to {most:,}")
        for name, number, least, most in bounds
        if number is not None and (word := out_of(number, least, most))
    ]:
        raise UserError(problems)


def _as_requested(study: Study, request: Request, place: Place) -> Study:
    """The study with what the request has of its own, and "all" toolchains by their names.

    With a device, runs that name no library have the usual one of the place.
    """

    site = places.site_of(place)

    layout = None if request.layout is None else study_file.layout(request.layout)

    def changed(run: Run) -> Run:
        asked = [request.toolchain] if request.toolchain is not None else run.toolchains
        if asked is not None and schema.ALL in asked:
            asked = library.names()
        if request.device is not None:
            asked = asked or [(site and site.described.toolchain) or library.usual()]
            asked = [library.for_device(one, request.device) for one in asked]
        changes: dict[str, Any] = {"toolchains": asked}
        if layout is not None:
            changes |= {"layout": layout}
        if request.execute:  # of all that this machine has the memory for
            changes |= {"execute": True, "skip_too_large": True}
        return run.model_copy(update=changes)

    return study.model_copy(update={"runs": [changed(run) for run in study.runs]})


def _with_launches(study: Study, request: Request, site: Site) -> Study:
    """The study with as many launches of each case as were asked for, and as say something.

    Where times are the same in every launch, one is enough, and no precision is to be reached; but
    several are where nodes differ, and are drawn anew in each.
    """
    launches = request.launches
    if site.facts.deterministic:
        drawn = request.replicates or study.replicates if site.nodes_differ else None
        launches, study = drawn or 1, study.model_copy(update={"precision": None})
    if launches is None:
        return study
    runs = [run.model_copy(update={"launches": launches}) for run in study.runs]
    return study.model_copy(update={"runs": runs})


def _without_replicates(study: Study, site: Site) -> Iterator[str]:
    """Yield a note if a study requests replicates, and the cluster file has no variability."""
    if study.replicates and site.facts.deterministic and not site.nodes_differ:
        yield f"no replicates: the cluster file of {site.name} has no node.spread.nodes"


def resume(
    directory: Path,
    study: str | None,
    launches: int | None,
    tell: Teller,
    *,
    allocations: int | None = None,
    keep: Path | None = None,
    accept_change: bool = False,
    dry: bool = False,
    programs: Sequence[Path] = (),
) -> Campaign:
    """A campaign that was started before. UserError if old records and new ones would not mix.

    study: must be that of the folder, if it is named at all. allocations: as of `Request`; those
    that are there count. accept_change: measure on though the
    library, the compiler, the sources, the machine or its file are others; records are then marked.
    keep: where simulated cases' files go from now on; None: where the plan says, inside the folder.
    dry: as of `start`. programs: external ones that the user named: that the plan names them is
    not enough, because somebody else may have written it.
    """
    _check_numbers(launches, allocations=allocations)
    folder = ResultFolder(directory)
    plan = folder.load()
    place = places.place(plan.on, received.kept(plan, directory, keep), plan.via)
    where = f"--resume {directory}"
    wanted = {where: list(plan.sources)}
    found = kernels.load([case.kernel for case in plan.cases], programs)
    received.require_known(plan, directory, kernels.names(programs))
    bench, first = place.preview(wanted)
    if first and not dry:
        bench, first = place.workbench(wanted, tell), ()
    bench = replace(bench, programs=found)
    received.require_plain(plan, directory, bench.program)
    problems = [*bench.problems]
    if launches is not None and place.facts.deterministic and not _replicated(plan):
        what = "every launch of a simulated case takes the same time, so one is enough"
        problems.append(Problem(where, what, "remove --launches"))
    if keep is not None and not place.facts.simulated:
        what = "--keep requires a simulated place, and this folder is measured"
        problems.append(Problem(where, what, "remove --keep"))
    for what, remedy in _unfit(folder, plan, study, launches, allocations, bench):
        problems.append(Problem(where, what, remedy))
    machine = place.identity()
    fixed_programs = kernels.fixed(found, bench.toolchains)
    changes = fixed.compared(plan, bench.built, machine, fixed_programs)
    if not accept_change:
        problems += [Problem(where, what, _ANOTHER_OR_MARKED) for what in changes.differences]
    if problems:
        raise UserError(problems)
    renewed = fixed.renewed(plan, bench.built, machine, fixed_programs, changes)
    renewed = renewed.with_launches(launches).in_allocations(allocations)
    doubts = place.site(bench, oversubscribe=False).doubts_of(plan.cases)
    remarks = filter(
        None,
        [
            *(f"warning: {doubt}" for doubt in doubts),
            fixed.not_compared(changes),
            *_flagged(renewed.changes),
        ],
    )
    campaign = Campaign(place, folder, renewed, bench, None, plan, tuple(remarks), first)
    changed = any(each.source != plan.sources[name] for name, each in bench.built.items())
    left = (launch.case for launch in campaign.launches_left()[0])
    cases = [case for case in (plan.cases if changed else left) if not case.absent]
    if dry:
        campaign = replace(campaign, first=(*first, *preparing.to_do(place, bench, cases)))
    else:
        bench.build(bench.lacking(bench.needed(cases), place.probes(cases, bench)), tell)
    if changed and (lost := [*_with_other_parameters(cases, bench.program)]):
        what = "the parameters in halobench have changed for"
        raise UserError([Problem(where, f"{what} {case.label}", _ANOTHER) for case in lost])
    return campaign


def _with_other_parameters(cases: Iterable[Case], program: Program) -> Iterator[Case]:
    """Cases whose parameters are others as halobench has them now, as far as it can be asked."""
    for case in cases:
        ranks, threads = case.layout.ranks, case.layout.threads
        now = program.forecast(case.kernel, case.given, ranks, threads)
        if now.unchecked is None and now.params != case.params:
            yield case


def _replicated(plan: SavedPlan) -> bool:
    """Whether its launches are simulated replicates."""
    return any(case.launches > 1 for case in plan.cases)


_ANOTHER = "start a new folder: haloscope run STUDY --out DIR"
_ANOTHER_OR_MARKED = f"{_ANOTHER}; or continue, with later records flagged: --accept-change"


def _flagged(changes: Sequence[str]) -> Iterator[str]:
    if changes:
        yield f"changes flagged in all records from now on: {'; '.join(changes)}"


def _unfit(
    folder: ResultFolder,
    plan: SavedPlan,
    study: str | None,
    launches: int | None,
    allocations: int | None,
    bench: Workbench,
) -> Iterator[tuple[str, str]]:
    """Yield why a folder cannot be resumed like this, whatever is accepted, with remedies."""
    if study:
        saved = study_file.read(folder.study).source
        for change in changes(saved, study_file.read(study).source):
            yield f"the study changed: {change}", _ANOTHER
    for name in plan.sources:
        if name in bench.missing:
            what = f"toolchain {name} is no longer available: {bench.missing[name]}"
            yield what, f"add it again (haloscope toolchain add), or {_ANOTHER}"
    yield from _unfit_allocations(plan, launches, allocations)
    if launches is not None and plan.rule is not None:
        yield "its study has a precision, which determines the number of launches", _ANOTHER
    elif launches is not None and launches < (
        most := max((case.launches for case in plan.cases), default=0)
    ):
        what = f"its plan has {most} launches per case, more than --launches {launches}"
        yield what, f"give at least --launches {most}"


def _unfit_allocations(
    plan: SavedPlan, launches: int | None, allocations: int | None
) -> Iterator[tuple[str, str]]:
    """Yield why a folder cannot be resumed with this number of allocations, with remedies."""
    if plan.allocations is not None and launches is not None:
        what = f"its launches are divided among {count(plan.allocations, 'allocation')}"
        yield what, "for more launches use --allocations N instead of --launches"
    elif allocations is not None and launches is not None:
        most = max((case.launches for case in plan.cases), default=0)
        what = (
            f"each allocation runs the {most} launches per case of its plan; --launches {launches}"
        )
        yield f"{what} has no effect on those that ran", "remove --launches, or start a new folder"
    if allocations is None:
        return
    if plan.rule is not None:
        yield "its study has a precision, which determines the number of allocations", _ANOTHER
    if allocations < (there := plan.allocations or 1):
        what = f"its plan has {count(there, 'allocation')}, more than --allocations {allocations}"
        yield what, f"give at least --allocations {there}"


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
        tell.warn(f"warning: other load will disturb the times: {load.what}; {load.remedy}")
