# SPDX-License-Identifier: BSD-3-Clause
"""A user's request for a study, and the campaign made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from haloscope.errors import Problem, UserError, dotted, nearest, outside, reject
from haloscope.paths import dated_folder
from haloscope.quantities import count
from haloscope.records.folder import ResultFolder
from haloscope.run.campaign import fixed, preparing
from haloscope.run.campaign.campaign import Campaign
from haloscope.run.places import Place, places
from haloscope.run.places.here import LOCAL
from haloscope.run.prepare import halobench, kernels, workbench
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.progress import Teller
from haloscope.study import file as study_file
from haloscope.study import schema
from haloscope.study.checks import suited
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.file import Draft
from haloscope.study.plan import Plan, SavedPlan, Via, nothing_runs
from haloscope.study.program import Program
from haloscope.study.schema import Run, Study
from haloscope.study.settings import SETTINGS
from haloscope.study.values import ALL, ALLOCATIONS_LIMIT, LAUNCHES_LIMIT, PLAN_LIMIT, SEED_LIMIT
from haloscope.toolchains import library


@dataclass(frozen=True)
class Request:
    """A user's request for a study; None leaves a value to the study, the machine, or chance.

    layout: file with the layout of every run, which replaces the study's. programs: external
    programs that the user named and that may be run. device: one of library.DEVICES, for which
    halobench is built with every MPI library. allocations: of a batch system, each with the
    launches of every case. together, parting: as in `SavedPlan`.
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
    parting: int | None = None


def start(request: Request, tell: Teller, *, dry: bool = False) -> Campaign:
    """Return a new campaign. Raise UserError with all problems of the study or of the place."""
    check_numbers(request.launches, request.seed, request.allocations)
    every = kernels.names(request.programs)
    draft = _read(request.study, every)
    if draft.study is None:
        raise UserError(draft.problems)
    place = places.place(request.on, request.keep, request.via)
    study = _as_requested(draft.study, request, place)
    folder = ResultFolder(request.out or dated_folder(draft.name))
    requested = {
        draft.where(index, "toolchains"): run.toolchains for index, run in enumerate(study.runs)
    }
    if request.toolchain is not None:
        asked = [request.toolchain]
        if request.device is not None:
            asked = [library.for_device(request.toolchain, request.device)]
        requested = {"--toolchain": asked}
    programs = kernels.load([run.kernel for run in study.runs], request.programs)

    def site(bench: Workbench) -> Site:
        return place.site(bench, oversubscribe=request.oversubscribe)

    def planned(bench: Workbench) -> Plan:
        return _planned(study, draft, site(bench), bench, request, folder, every)

    ready = preparing.prepared(place, requested, programs, planned, None if dry else tell)
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
        parting=request.parting,
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
    """Read a study's file. Raise UserError if there is none; `every`: names of kernels, for the
    remedy.
    """
    try:
        return study_file.read(study)
    except UserError as error:
        if Path(study).exists() or study not in every:
            raise
        remedy = f"'{study}' is a kernel; to run it: haloscope once {study}"
        raise UserError(Problem(f"study '{study}'", "not found", remedy)) from error


def _planned(
    study: Study,
    draft: Draft,
    site: Site,
    bench: Workbench,
    request: Request,
    folder: ResultFolder,
    every: Sequence[str],
) -> Plan:
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
        remedy = f"reduce launches or cases to at most {PLAN_LIMIT:,} launches"
        problems.append(Problem(str(draft.path), what, remedy))
    reject(problems or nothing_runs(plan, site, str(draft.path)))
    return plan


def _unsuited(study: Study, draft: Draft, every: Sequence[str]) -> list[Problem]:
    if any(run.kernel not in every for run in study.runs):
        return []
    return list(suited.unsuited(study, str(draft.path), {*every} - {*halobench.names()}))


def _unknown_settings(study: Study, program: Program) -> list[Problem]:
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
    """Yield the study's own estimate of its duration, if it is measured as described."""
    if study.minutes is not None and not site.facts.simulated and request.launches is None:
        number = request.allocations or 1
        each = f" in each of {count(number, 'allocation')}" if number > 1 else ""
        yield f"the study takes about {study.minutes:g} minutes{each}"


def _in_allocations(request: Request, study: Study, site: Site) -> Iterator[Problem]:
    if request.allocations is None:
        return
    where = f"--allocations {request.allocations}"
    if site.facts.deterministic:
        what = "simulated times are the same in every allocation"
        yield Problem(where, what, "remove --allocations")
    elif study.precision is not None and request.launches is None:
        what = "the study sets a precision, which determines the number of allocations"
        remedy = "remove --allocations, or set the launches per allocation with --launches N"
        yield Problem(where, what, remedy)


def check_numbers(
    launches: int | None, seed: int | None = None, allocations: int | None = None
) -> None:
    """Raise UserError if a number on the command line is out of range."""
    reject(
        outside("--launches", launches, LAUNCHES_LIMIT),
        outside("--seed", seed, SEED_LIMIT, least=0),
        outside("--allocations", allocations, ALLOCATIONS_LIMIT),
    )


def _as_requested(study: Study, request: Request, place: Place) -> Study:
    """Return the study with the settings of the request, and "all" toolchains by name."""
    site = place.jobs_at

    layout = None if request.layout is None else study_file.layout(request.layout)

    def changed(run: Run) -> Run:
        asked = [request.toolchain] if request.toolchain is not None else run.toolchains
        if asked is not None and ALL in asked:
            asked = library.names()
        if request.device is not None:
            asked = asked or [(site and site.described.toolchain) or library.usual()]
            asked = [library.for_device(one, request.device) for one in asked]
        changes: dict[str, Any] = {"toolchains": asked}
        if layout is not None:
            changes |= {"layout": layout}
        if request.execute:  # of all cases for which this machine has memory
            changes |= {"execute": True, "skip_too_large": True}
        return run.model_copy(update=changes)

    return study.model_copy(update={"runs": [changed(run) for run in study.runs]})


def _with_launches(study: Study, request: Request, site: Site) -> Study:
    """Return the study with the requested launches per case, or as many as are meaningful."""
    launches = request.launches
    if site.facts.deterministic:
        drawn = request.replicates or study.replicates if site.nodes_differ else None
        launches, study = drawn or 1, study.model_copy(update={"precision": None})
    if launches is None:
        return study
    runs = [run.model_copy(update={"launches": launches}) for run in study.runs]
    return study.model_copy(update={"runs": runs})


def _without_replicates(study: Study, site: Site) -> Iterator[str]:
    if study.replicates and site.facts.deterministic and not site.nodes_differ:
        yield f"no replicates: the cluster file of {site.name} has no node.spread.nodes"
