# SPDX-License-Identifier: BSD-3-Clause
"""What a plan may name: checked before its cases run, because somebody else may have written it.

A plan that haloscope wrote names nothing but what a study can: kernels and parameters that there
are, and as files those that haloscope made in its own cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from haloscope.errors import Problem, UserError, nearest, no_such
from haloscope.records.folder import SavedPlan
from haloscope.run import matrices
from haloscope.study.case import Case
from haloscope.study.plan import no_kernel
from haloscope.study.program import Program

_ANEW = "start a new folder: haloscope run STUDY --out DIR"
_COUNTS = ("nodes", "ppn", "threads")


def require_plain(plan: SavedPlan, folder: Path, program: Program) -> None:
    """UserError with all that a plan names and none of haloscope's own would."""
    where = f"{folder / 'plan.json'}: case"
    problems = [
        problem
        for case in plan.cases
        for problem in _problems(f"{where} {case.id}", case, plan, program)
    ]
    if problems:
        raise UserError(problems)


def require_known(plan: SavedPlan, folder: Path, every: Sequence[str]) -> None:
    """UserError where a plan has kernels that there are not, or programs that may not be run."""
    lacking = dict.fromkeys(case.kernel for case in plan.cases if case.kernel not in every)
    where = f"{folder / 'plan.json'}: cases"
    if problems := [no_kernel(where, name, every) for name in lacking]:
        raise UserError(problems)


def kept(plan: SavedPlan, folder: Path, asked: Path | None) -> Path | None:
    """Where the simulated cases' files are to be kept: as asked for, or inside the folder.

    UserError where the plan alone names another place: whoever made it must not choose where
    files are written.
    """
    if asked is not None or plan.keep is None:
        return asked
    keep = Path(plan.keep)
    if keep.resolve().is_relative_to(folder.resolve()):
        return keep
    what = f"the plan keeps simulated cases' files outside this folder, in {plan.keep}"
    remedy = "if you trust that, confirm it with --keep DIR"
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
            what = f"{key} = {value!r} is not a file in haloscope's own cache"
            yield Problem(where, what, _ANEW)
    if case.files is not None and Path(case.files) != matrices.folder():
        what = f"its files are in {case.files}, not in haloscope's cache ({matrices.folder()})"
        yield Problem(where, what, _ANEW)
    if not all(getattr(case.layout, name) >= 1 for name in _COUNTS):
        yield Problem(where, f"{', '.join(_COUNTS)} must be positive integers", _ANEW)
    elif case.layout.problem:
        yield Problem(where, case.layout.problem, _ANEW)
    if case.toolchain not in plan.sources and case.absent is None:
        yield no_such(where, "toolchain", case.toolchain, [*plan.sources])
