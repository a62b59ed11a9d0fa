# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on one node, compared with published times of the programs that they model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.mappings import same_name, stands_for
from haloscope.analysis.published import source
from haloscope.quantities import listed, number
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.study.settings import describe, varying

if TYPE_CHECKING:
    from haloscope.papers.tables import PaperTable, PublishedValue


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for each published one of runs on one node, of the programs that cases stand for.

    Without a paper, one of the cases alone.
    """
    if context.paper is None:
        return _ours(cases, context)
    found = []
    for table in context.library.tables(("clusters",)):
        if table.facts.get("nodes") != 1 or "kernel" not in table.columns:
            continue
        kernels = dict.fromkeys(case.kernel for case in cases)
        programs = dict.fromkeys(str(row["kernel"]) for row in table.rows)
        pairs = [(one, kernel) for one in programs for kernel in kernels if stands_for(kernel, one)]
        if pairs:
            found.append(_table(table, pairs, cases, context))
    return found


def why_none(cases: Sequence[MeasuredCase], context: Context) -> str | None:
    """That the paper has nothing to set beside the cases that there are."""
    if context.paper is None or not _of_tasks(cases):
        return None
    programs = sorted(
        {
            str(row["kernel"])
            for table in context.library.tables(("clusters",))
            if table.facts.get("nodes") == 1 and "kernel" in table.columns
            for row in table.rows
        }
    )
    has = f"runs of {listed(programs)}, and no kernel here stands for one" if programs else "none"
    return f"runs on one node of {context.paper.id}: {has}"


def _of_tasks(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """The cases of tasks on one node that have a time."""
    return [
        case
        for case in cases
        if case.number("nodes") == 1 and case.settings.get("tasks") and case.time
    ]


def _ours(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A row a case."""
    own = sorted(_of_tasks(cases), key=lambda case: (case.kernel, case.ranks))
    if not own:
        return []
    notebook = Notebook(cases, context.all_cases)
    differ = varying([case.settings for case in own])
    names = [name for name in differ if name not in ("kernel", "tasks", "ppn")]
    rows = tuple(
        (
            label(case.kernel),
            label(str(case.ranks), case.ranks),
            *([label(describe(case.settings, names))] if names else []),
            notebook.time(case),
        )
        for case in own
    )
    return [
        Table(
            id="one_node",
            kind="one_node",
            title=context.title("On one node"),
            columns=(
                Column("kernel", "kernel", align="left"),
                Column("tasks", "tasks", align="left"),
                *([Column("setting", "setting", align="left")] if names else []),
                Column("step_s", "step"),
            ),
            rows=rows,
            notes=notebook.notes(),
            stub=3 if names else 2,
        )
    ]


def _table(
    published: PaperTable,
    pairs: Sequence[tuple[str, str]],
    cases: Sequence[MeasuredCase],
    context: Context,
) -> Table:
    """A row for each program, each kernel that stands for it, and number of tasks."""
    notebook = Notebook(cases, context.all_cases)
    here = _here(cases, context)
    clusters = list(dict.fromkeys(str(row["cluster"]) for row in published.rows))
    known = any(same_name(name, here) for name in clusters)
    rows = []
    for program, kernel in pairs:
        own = [row for row in published.rows if row["kernel"] == program]
        for tasks in dict.fromkeys(int(str(row["ranks"])) for row in own):
            times = {str(row["cluster"]): row["time_s"] for row in own if row["ranks"] == tasks}
            there = next((times[name] for name in times if same_name(name, here)), None)
            for case in _on_one_node(cases, kernel, tasks) or _untimed(
                cases, pairs, program, tasks
            ):
                step = notebook.time(case) if case and case.time else missing()
                rows.append((
                    label(program),
                    label(str(tasks), tasks),
                    label(kernel),
                    step,
                    *(_run(times.get(name)) for name in clusters),
                    *([_steps(there, case)] if known else []),
                ))  # fmt: skip
    notebook.note(f"Published: whole runs on one node ({source(published)}).")
    if known:
        solve = any(kernel == SOLVER for _, kernel in pairs)
        but = f"; one of {SOLVER} is a whole solve, as a run of miniFE is" if solve else ""
        notebook.note(
            f"steps in a run: the published run here ({here}) over our step. It is how many steps "
            f"the run had, if a step took as long: the paper does not say how many{but}."
        )
    return Table(
        id="one_node",
        kind="one_node",
        title=context.title("On one node"),
        columns=(
            Column("program", "program", align="left"),
            Column("tasks", "tasks", align="left"),
            Column("kernel", "kernel", align="left"),
            Column("step_s", "step"),
            *(Column(f"{name.lower()}_s", name, "published run") for name in clusters),
            *([Column("steps", "steps in a run")] if known else []),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=3,
    )


SOLVER = "fe_heat"
"""SOLVER is the kernel of which a step is all of a published run's solve."""


def _untimed(
    cases: Sequence[MeasuredCase], pairs: Sequence[tuple[str, str]], program: str, tasks: int
) -> list[None]:
    """A row without a time of ours, unless another kernel that stands for a program has one."""
    kernels = [kernel for other, kernel in pairs if other == program]
    return [] if any(_on_one_node(cases, kernel, tasks) for kernel in kernels) else [None]


def _here(cases: Sequence[MeasuredCase], context: Context) -> str:
    """The cluster that cases were simulated on, or the machine that they ran on."""
    simulated = next((case.cluster for case in cases if case.cluster), None)
    return str(simulated or (context.machine or {}).get("host"))


def _on_one_node(cases: Sequence[MeasuredCase], kernel: str, tasks: int) -> list[MeasuredCase]:
    """A kernel's cases of so many tasks on one node; none without a time."""
    return [
        case
        for case in cases
        if case.kernel == kernel and case.ranks == tasks and case.number("nodes") == 1 and case.time
    ]


def _run(seconds: PublishedValue | None) -> Cell:
    return missing() if seconds is None else plain(seconds, f"{seconds:g} s")


def _steps(run_s: PublishedValue | None, case: MeasuredCase | None) -> Cell:
    """Our steps in a published run."""
    if run_s is None or case is None or case.time is None:
        return missing()
    ratio = float(str(run_s)) / case.time.value
    return plain(ratio, number(ratio))
