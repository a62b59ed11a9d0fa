# SPDX-License-Identifier: BSD-3-Clause
"""Tables of mappings, of runs on one node, and of weak scaling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet
from haloscope.analysis.validation.published import source
from haloscope.layout import shares
from haloscope.papers.tables import PaperTable, PublishedValue
from haloscope.quantities import count, listed, number
from haloscope.study.settings import describe, varying
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import (
    NODE_TIME,
    Cell,
    Column,
    Table,
    label,
    missing,
    plain,
    times,
)
from haloscope.topics.mapping import (
    PATTERNS,
    Printed,
    Spread,
    WeakScaling,
    most_over_fewest,
    named,
    printed,
    same_name,
    spreads,
    stands_for,
    weak_scalings,
)

_PUBLISHED = (
    Column("program", "program", "published", "left"),
    Column("published_s", "run", "published"),
    Column("published_over_fewest", "/ fewest nodes", "published"),
)


def mapping_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Time of the same tasks on few and many nodes, compared with published times of the cluster.

    A table for every combination of the other settings: a row for some tasks on some nodes.

    None of what can't run here at all: a program that is not simulated, beside the kernel that is.
    """
    return [
        _mapping_table(part, found, context) for part, found in spreads(cases) if not _absent(part)
    ]


def _absent(part: Facet) -> bool:
    return all(
        not case.launches
        and case.excluded
        and all(record.outcome == "absent" for record in case.excluded)
        for case in part.cases
    )


def _mapping_table(part: Facet, found: Sequence[Spread], context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    here, kernel = context.host, part.cases[0].kernel
    beside = list(printed(context.library, here, kernel))
    said = list(_statements(kernel, here, context))
    mappings = list(dict.fromkeys(one.name for one in found))
    places = {(one.tasks, nodes) for one in found for nodes in one.cases}
    places |= {(one.tasks, nodes) for one in beside for nodes in one.times_s}
    rows = [
        (*_mapping_ours(place, found, mappings, notebook), *_printed(place, beside))
        for place in sorted(places)
    ]
    rows += [_said(row, len(mappings)) for _, row in said]
    columns = (
        Column("tasks", "tasks", align="left"),
        Column("nodes", "nodes", align="left"),
        *(Column(f"{name.replace(' ', '_')}_s", name, "step") for name in mappings),
        Column("over_fewest_nodes", "/ fewest nodes"),
        NODE_TIME,
        *_PUBLISHED,
    )
    kept = len(columns) if beside or said else len(columns) - len(_PUBLISHED)
    notebook.note(
        "block: fills one node after the other; round robin: deals ranks to nodes in turn; "
        "random: shuffled (with its seed).",
        f"/ fewest nodes: time relative to the fewest nodes ({mappings[0]}).",
        f"nodes × step: cost of a step ({mappings[0]}).",
        f"Ranks of a node: bind = {part.settings.get('bind')}.",
    )
    _note_published(beside, [table for table, _ in said], notebook)
    return notebook.table(
        "mapping",
        context.title("Tasks on few and many nodes", named(part)),
        columns[:kept],
        (row[:kept] for row in rows),
        stub=2,
    )


def _note_published(
    beside: Sequence[Printed], tables: Sequence[PaperTable], notebook: Notebook
) -> None:
    for named_in in dict.fromkeys([*(one.source for one in beside), *map(source, tables)]):
        notebook.note(f"Published run times of other programs on this cluster: {named_in}.")
    if beside:
        notebook.note(
            "Published / fewest nodes: relative to the fewest nodes of the published runs."
        )
    if tables:
        notebook.note(
            "Published percentages are taken as relative to the shorter time, which the paper "
            "does not define."
        )


def _mapping_ours(
    place: tuple[int, int], found: Sequence[Spread], mappings: Sequence[str], notebook: Notebook
) -> Iterator[Cell]:
    tasks, nodes = place
    own = {one.name: one for one in found if one.tasks == tasks}
    each = shares(tasks, nodes)
    many = f"{each[-1]} or {each[0]}" if each[-1] != each[0] else str(each[0])
    yield label(str(tasks), tasks)
    yield label(f"{nodes}, {many} each", nodes)
    for name in mappings:
        case = own[name].cases.get(nodes) if name in own else None
        yield notebook.time(case) if case else missing()
    first = own.get(mappings[0])
    ratio = first.over_fewest(nodes) if first else None
    yield times(ratio)
    yield notebook.node_time(first.cases.get(nodes) if first else None)


def _printed(place: tuple[int, int], beside: Sequence[Printed]) -> tuple[Cell, ...]:
    tasks, nodes = place
    for one in beside:
        if one.tasks == tasks and nodes in one.times_s:
            run = plain(one.times_s[nodes], f"{one.times_s[nodes]:g} s")
            return label(one.program), run, times(one.over_fewest(nodes))
    return (missing(), missing(), missing())


def _statements(
    kernel: str, here: str, context: Context
) -> Iterator[tuple[PaperTable, Mapping[str, PublishedValue]]]:
    for table in context.library.tables(("mapping_effect",)):
        for row in table.rows:
            if same_name(row["cluster"], here) and stands_for(kernel, row["kernel"]):
                yield table, row


def _said(row: Mapping[str, PublishedValue], mappings: int) -> tuple[Cell, ...]:
    """Return a statement as cells: tasks, and time on the most nodes over that on the fewest."""
    factor = partial(most_over_fewest, str(row["faster"]))
    percents = str(row["difference_text"])
    factors = re.sub(r"\d+", lambda found: number(factor(float(found[0]))), percents)
    said = Cell(factor(float(str(row["difference_percent"]))), factors.replace("%", "×"))
    empty = [missing()] * (mappings + 2)
    places = label(str(row["ranks_text"])), label("the most")
    return (*places, *empty, label(str(row["kernel"])), missing(), said)


def one_node_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Time of tasks on one node, compared with published times of the modelled programs."""
    if context.paper is None:
        yield from _one_node_ours(cases, context)
        return
    for table in _on_one_node_published(context):
        kernels = dict.fromkeys(case.kernel for case in cases)
        programs = dict.fromkeys(str(row["kernel"]) for row in table.rows)
        pairs = [(one, kernel) for one in programs for kernel in kernels if stands_for(kernel, one)]
        if pairs:
            yield _one_node_table(table, pairs, cases, context)


def _on_one_node_published(context: Context) -> list[PaperTable]:
    tables = context.library.tables(("clusters",))
    return [one for one in tables if one.facts.get("nodes") == 1 and "kernel" in one.columns]


def why_no_one_node_table(cases: Sequence[MeasuredCase], context: Context) -> str | None:
    """Return that the paper has nothing comparable to the cases."""
    if context.paper is None or not _of_tasks(cases):
        return None
    tables = _on_one_node_published(context)
    programs = sorted({str(row["kernel"]) for table in tables for row in table.rows})
    has = f"runs of {listed(programs)}, which no kernel here represents" if programs else "none"
    return f"runs on one node of {context.paper.id}: {has}"


def _of_tasks(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    return [
        case
        for case in cases
        if case.layout.nodes == 1 and case.settings.get("tasks") and case.time
    ]


def _one_node_ours(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    own = sorted(_of_tasks(cases), key=lambda case: (case.kernel, case.ranks))
    if not own:
        return
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
    yield notebook.table(
        "one_node",
        context.title("On one node"),
        (
            Column("kernel", "kernel", align="left"),
            Column("tasks", "tasks", align="left"),
            *([Column("setting", "setting", align="left")] if names else []),
            Column("step_s", "step"),
        ),
        rows,
        stub=3 if names else 2,
    )


def _one_node_table(
    published: PaperTable,
    pairs: Sequence[tuple[str, str]],
    cases: Sequence[MeasuredCase],
    context: Context,
) -> Table:
    notebook = Notebook(cases, context.all_cases)
    here = _here(cases, context)
    clusters = list(dict.fromkeys(str(row["cluster"]) for row in published.rows))
    known = any(same_name(name, here) for name in clusters)
    rows = []
    for program, kernel in pairs:
        own = [row for row in published.rows if row["kernel"] == program]
        for tasks in dict.fromkeys(int(str(row["ranks"])) for row in own):
            runs = {str(row["cluster"]): row["time_s"] for row in own if row["ranks"] == tasks}
            there = next((runs[name] for name in runs if same_name(name, here)), None)
            for case in _on_one_node(cases, kernel, tasks) or _untimed(
                cases, pairs, program, tasks
            ):
                step = notebook.time(case) if case and case.time else missing()
                rows.append((
                    label(program),
                    label(str(tasks), tasks),
                    label(kernel),
                    step,
                    *(_run(runs.get(name)) for name in clusters),
                    *([_steps(there, case)] if known else []),
                ))  # fmt: skip
    notebook.note(f"Published values: run times on one node ({source(published)}).")
    if known:
        solve = any(kernel == SOLVER for _, kernel in pairs)
        but = f", and one of {SOLVER} is a complete solve, like a run of miniFE" if solve else ""
        notebook.note(
            f"equivalent steps: published run time ({here}) / our time of a step.",
            f"The paper does not give the number of steps{but}.",
        )
    return notebook.table(
        "one_node",
        context.title("On one node"),
        (
            Column("program", "program", align="left"),
            Column("tasks", "tasks", align="left"),
            Column("kernel", "kernel", align="left"),
            Column("step_s", "step"),
            *(Column(f"{name.lower()}_s", name, "published run") for name in clusters),
            *([Column("steps", "equivalent steps")] if known else []),
        ),
        rows,
        stub=3,
    )


SOLVER = "fe_heat"


def _untimed(
    cases: Sequence[MeasuredCase], pairs: Sequence[tuple[str, str]], program: str, tasks: int
) -> list[None]:
    """Return a row without a measured time, unless another kernel represents the program."""
    kernels = [kernel for other, kernel in pairs if other == program]
    return [] if any(_on_one_node(cases, kernel, tasks) for kernel in kernels) else [None]


def _here(cases: Sequence[MeasuredCase], context: Context) -> str:
    simulated = next((case.cluster for case in cases if case.cluster), None)
    return simulated or context.host


def _on_one_node(cases: Sequence[MeasuredCase], kernel: str, tasks: int) -> list[MeasuredCase]:
    return [
        case
        for case in cases
        if case.kernel == kernel and case.ranks == tasks and case.layout.nodes == 1 and case.time
    ]


def _run(seconds: PublishedValue | None) -> Cell:
    return missing() if seconds is None else plain(seconds, f"{seconds:g} s")


def _steps(run_s: PublishedValue | None, case: MeasuredCase | None) -> Cell:
    if run_s is None or case is None or case.time is None:
        return missing()
    ratio = float(str(run_s)) / case.time.value
    return plain(ratio, number(ratio))


def weak_scaling_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Weak scaling by communication pattern: time relative to the fewest tasks on one node."""
    return [_weak_table(part, scaling, context) for part, scaling in weak_scalings(cases)]


def _weak_table(part: Facet, scaling: WeakScaling, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    every, seed = scaling.spreads, context.seed
    patterns = [name for name in PATTERNS if any(name in one.patterns for one in every)]
    rows = tuple(_weak_row(one, patterns, scaling, notebook, seed) for one in every)
    between = "intermediate: between these; " if PATTERNS[1] in patterns else ""
    notebook.note(
        f"concentrated: the fewest nodes that were measured with these tasks; {between}"
        "distributed: the most.",
        f"reference: {count(scaling.reference.ranks, 'task')} on one node.",
        "work per task: operations relative to a task of the reference; all with block mapping.",
    )
    return notebook.table(
        "weak_scaling",
        context.title("Weak scaling, by tasks", named(part)),
        _weak_columns(patterns),
        rows,
    )


def _weak_columns(patterns: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("tasks", "tasks", align="left"),
        Column("work_over_reference", "work per task"),
        *(
            column
            for pattern in patterns
            for column in (
                Column(f"{pattern}_nodes", "nodes", pattern),
                Column(f"{pattern}_s", "step", pattern),
                Column(f"{pattern}_over_reference", "/ reference", pattern),
            )
        ),
    )


def _weak_row(
    one: Spread, patterns: Sequence[str], scaling: WeakScaling, notebook: Notebook, seed: int
) -> tuple[Cell, ...]:
    timed = next((case for case in one.cases.values() if case.launches), None)
    work = None if timed is None else scaling.work_over_reference(timed)
    cells = [cell for name in patterns for cell in _case(one, name, scaling, notebook, seed)]
    return (label(str(one.tasks), one.tasks), times(work), *cells)


def _case(
    one: Spread, pattern: str, scaling: WeakScaling, notebook: Notebook, seed: int
) -> tuple[Cell, ...]:
    case = one.patterns.get(pattern)
    if case is None:
        return (missing(), missing(), missing())
    ratio = scaling.over_reference(case, seed)
    over = notebook.estimate(ratio, case, ((1.0, "×"),)) if ratio else missing()
    return (plain(case.layout.nodes), notebook.time(case), over)
