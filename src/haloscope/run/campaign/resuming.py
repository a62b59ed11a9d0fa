# SPDX-License-Identifier: BSD-3-Clause
"""Continue a campaign, unless old and new records would not be comparable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from haloscope.errors import Problem, UserError, nearest, no_such, reject
from haloscope.layout import CORES
from haloscope.quantities import count, listed
from haloscope.records.folder import ResultFolder, changes
from haloscope.run.campaign import fixed, preparing
from haloscope.run.campaign.campaign import Campaign
from haloscope.run.campaign.request import check_numbers
from haloscope.run.places import Place, places
from haloscope.run.prepare import kernels, matrices
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.progress import Teller
from haloscope.study import file as study_file
from haloscope.study.case import Case
from haloscope.study.plan import SavedPlan, no_kernel
from haloscope.study.program import Program

_ANEW = "start a new run in another folder: haloscope run STUDY --out DIR"


def require_plain(plan: SavedPlan, folder: Path, program: Program) -> None:
    """Raise UserError for everything in a plan that no plan of haloscope would contain."""
    where = f"{folder / 'plan.json'}: case"
    reject(
        problem
        for case in plan.cases
        for problem in _problems(f"{where} {case.id}", case, plan, program)
    )


def require_known(plan: SavedPlan, folder: Path, every: Sequence[str]) -> None:
    """Raise UserError if a plan has unknown kernels, or programs that may not be run."""
    lacking = dict.fromkeys(case.kernel for case in plan.cases if case.kernel not in every)
    where = f"{folder / 'plan.json'}: cases"
    reject(no_kernel(where, name, every) for name in lacking)


def kept(plan: SavedPlan, folder: Path, asked: Path | None) -> Path | None:
    """Return where to keep the files of simulated cases: as requested, or inside the folder.

    Raise UserError if only the plan names another place: its author must not choose where files are
    written.
    """
    if asked is not None or plan.keep is None:
        return asked
    keep = Path(plan.keep)
    if keep.resolve().is_relative_to(folder.resolve()):
        return keep
    what = f"its plan would write files of simulated cases outside this folder, to '{plan.keep}'"
    remedy = "if you trust this plan, confirm the folder with --keep DIR"
    raise UserError(Problem(f"--resume {folder}", what, remedy))


def _problems(where: str, case: Case, plan: SavedPlan, program: Program) -> Iterator[Problem]:
    if case.kernel not in program.kernels():
        yield no_kernel(where, case.kernel, program.kernels())
        return
    known = program.parameters(case.kernel)
    for key, value in case.given.items():
        if key not in known:
            yield Problem(where, f"{case.kernel} has no parameter '{key}'", nearest(key, [*known]))
        elif "/" in str(value):
            what = f"{key} = {value!r} is not a file in haloscope's cache"
            yield Problem(where, what, _ANEW)
    if case.files is not None and Path(case.files) != matrices.folder():
        cache = f"haloscope's cache ({matrices.folder()})"
        what = f"the files of this case are in {case.files}, not in {cache}"
        yield Problem(where, what, _ANEW)
    if not all(getattr(case.layout, name) >= 1 for name in CORES):
        yield Problem(where, f"{listed(CORES)} must be positive integers", _ANEW)
    elif case.layout.problem:
        yield Problem(where, case.layout.problem, _ANEW)
    if case.toolchain not in plan.sources and case.absent is None:
        yield no_such(where, "toolchain", case.toolchain, [*plan.sources])


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
    """Return a campaign that was started before. Raise UserError if old and new records differ.

    study: must be the study of the folder, if given. allocations: as in `Request`; existing ones
    count. accept_change: continue although library, compiler, sources, machine, or its file
    changed; records are then marked. keep: new place for files of simulated cases; None: that of
    the plan, inside the folder. dry: as in `start`. programs: external ones named by the user. The
    plan alone does not suffice, because somebody else may have written it.
    """
    check_numbers(launches, allocations=allocations)
    folder = ResultFolder(directory)
    plan = folder.load()
    place = places.place(plan.on, kept(plan, directory, keep), plan.via)
    where = f"--resume {directory}"
    found = kernels.load([case.kernel for case in plan.cases], programs)
    require_known(plan, directory, kernels.names(programs))
    bench, first = _bench(place, {where: list(plan.sources)}, tell, dry=dry)
    bench = replace(bench, programs=found)
    require_plain(plan, directory, bench.program)
    machine = place.identity()
    fixed_programs = kernels.fixed(found, bench.toolchains)
    changes = [*fixed.changes(plan, bench.built, machine, fixed_programs)]
    unfit = [
        *_unfit_place(place, plan, launches, keep),
        *_unfit(folder, plan, study, launches, allocations, bench),
        *(() if accept_change else ((what, _ANEW_OR_MARKED) for what in changes)),
    ]
    reject(bench.problems, (Problem(where, what, remedy) for what, remedy in unfit))
    renewed = fixed.renewed(plan, bench.built, machine, fixed_programs, changes)
    renewed = renewed.with_launches(launches).in_allocations(allocations)
    doubts = place.site(bench, oversubscribe=False).doubts_of(plan.cases)
    flagged = (*(f"warning: {doubt}" for doubt in doubts), *_flagged(renewed.changes))
    campaign = Campaign(place, folder, renewed, bench, None, plan, flagged, first)
    return _ready(campaign, plan, where, tell, dry=dry)


def _bench(
    place: Place, requested: Mapping[str, list[str] | None], tell: Teller, *, dry: bool
) -> tuple[Workbench, tuple[str, ...]]:
    """Return the place's toolchains, prepared unless dry, and what must be done first."""
    bench, first = place.preview(requested)
    return (place.workbench(requested, tell), ()) if first and not dry else (bench, first)


def _ready(campaign: Campaign, old: SavedPlan, where: str, tell: Teller, *, dry: bool) -> Campaign:
    """Return the campaign with the remaining programs built; if dry, with what must be
    done first.
    """
    place, bench = campaign.place, campaign.bench
    changed = any(each.source != old.sources[name] for name, each in bench.built.items())
    left = (launch.case for launch in campaign.launches_left()[0])
    cases = [case for case in (old.cases if changed else left) if not case.absent]
    if dry:
        to_do = preparing.to_do(place, bench, cases)
        campaign = replace(campaign, first=(*campaign.first, *to_do))
    else:
        bench.build(bench.lacking(bench.needed(cases), place.probes(cases, bench)), tell)
    if changed and (lost := [*_with_other_parameters(cases, bench.program)]):
        what = "the kernel's parameters have changed since this case was planned:"
        raise UserError([Problem(where, f"{what} {case.label}", _ANEW) for case in lost])
    return campaign


def _with_other_parameters(cases: Iterable[Case], program: Program) -> Iterator[Case]:
    """Yield cases whose parameters differ in the current halobench, as far as it can be asked."""
    for case in cases:
        ranks, threads = case.layout.ranks, case.layout.threads
        now = program.forecast(case.kernel, case.given, ranks, threads)
        if now.unchecked is None and now.params != case.params:
            yield case


_ANEW_OR_MARKED = f"{_ANEW}; or continue and flag all further records: --accept-change"


def _flagged(changes: Sequence[str]) -> Iterator[str]:
    if changes:
        yield f"all further records are flagged with these changes: {'; '.join(changes)}"


def _unfit_place(
    place: Place, plan: SavedPlan, launches: int | None, keep: Path | None
) -> Iterator[tuple[str, str]]:
    """Yield options that a place does not support, with remedies."""
    if (
        launches is not None
        and place.facts.deterministic
        and all(case.launches == 1 for case in plan.cases)
    ):
        yield (
            "every launch of a simulated case takes the same time, so one is enough",
            "remove --launches",
        )
    if keep is not None and not place.facts.simulated:
        yield (
            "--keep requires simulated cases, but cases of this folder are measured",
            "remove --keep",
        )


def _unfit(
    folder: ResultFolder,
    plan: SavedPlan,
    study: str | None,
    launches: int | None,
    allocations: int | None,
    bench: Workbench,
) -> Iterator[tuple[str, str]]:
    """Yield why a folder cannot be resumed like this, even with accepted changes, with remedies."""
    if study:
        saved = study_file.read(folder.study).source
        for change in changes(saved, study_file.read(study).source):
            yield f"the study has changed ({change})", _ANEW
    for name in plan.sources:
        if name in bench.missing:
            what = f"toolchain {name} is no longer available: {bench.missing[name]}"
            yield what, f"add it again (haloscope toolchain add), or {_ANEW}"
    yield from _unfit_allocations(plan, launches, allocations)
    if launches is not None and plan.ends_early:
        what = "sets a precision" if plan.rule else "compares layouts"
        yield f"the study in this folder {what}, which determines the number of launches", _ANEW
    elif launches is not None and launches < (
        most := max((case.launches for case in plan.cases), default=0)
    ):
        what = f"the stored plan has {most} launches per case, more than --launches {launches}"
        yield what, f"give at least --launches {most}"


def _unfit_allocations(
    plan: SavedPlan, launches: int | None, allocations: int | None
) -> Iterator[tuple[str, str]]:
    if plan.allocations is not None and launches is not None:
        what = f"the planned launches are divided among {count(plan.allocations, 'allocation')}"
        yield what, "for more launches, use --allocations N instead of --launches"
    elif allocations is not None and launches is not None:
        most = max((case.launches for case in plan.cases), default=0)
        what = f"each allocation runs the planned {most} launches per case; --launches {launches}"
        yield (
            f"{what} has no effect on completed allocations",
            "remove --launches, or start a new run in another folder",
        )
    if allocations is None:
        return
    if plan.ends_early:
        what = "sets a precision" if plan.rule else "compares layouts"
        yield f"the study in this folder {what}, which determines the number of allocations", _ANEW
    if allocations < (there := plan.allocations or 1):
        what = f"the stored plan has {count(there, 'allocation')}, more than {allocations}"
        yield what, f"give at least --allocations {there}"
