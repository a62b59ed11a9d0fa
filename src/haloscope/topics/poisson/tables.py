# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the Poisson solver: convergence, wall times, variants.

The form of tables 4.1 to 4.3 and 6.1 to 6.3 of HPCF-2018-10, and 4.1 and 5.1 of HPCF-2010-6.

The form of tables 7.1 and 7.2 of HPCF-2018-10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.comparison import Race
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.validation.published import WALL_TIMES, Library, Reference
from haloscope.grouped import grouped
from haloscope.layout import CORES, PROCESSES
from haloscope.quantities import MISSING, PER_SECOND, count, number, scientific, signed, size
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import (
    Cell,
    Column,
    Table,
    label,
    lettered,
    missing,
    plain,
    shown,
    times,
)
from haloscope.topics.contrast import pooled
from haloscope.topics.poisson import Paces, converged, divisions, paces

_KINDS = ("convergence",)
_COLUMNS = (
    Column("n", "n", align="left"),
    Column("dof", "DOF"),
    Column("error_max", "max error"),
    Column("error_ratio", "error ratio"),
    Column("iterations", "#iter"),
    Column("time_s", "wall time"),
    Column("memory_predicted_bytes", "predicted", "memory"),
    Column("memory_observed_bytes", "observed", "memory"),
)


_CORES = 5


def convergence_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Error, iterations, time, and memory by mesh (table 3.1 of both HPCF papers)."""
    solved = [case for case in cases if case.kernel == "poisson_cg" and converged(case)]
    axes = (
        "n",
        "nodes",
        "ppn",
        "threads",
        "exchange",
        "decomposition",
        "places",
        "bind",
        "thread_bind",
    )
    return [_convergence_table(part, context) for part in facets(solved, axes)]


def _convergence_table(part: Facet, context: Context) -> Table:
    by_n = grouped(part.cases, lambda case: case.number("n"))
    # of each mesh, the case with a good launch and the fewest cores
    own = [min(by_n[n], key=lambda case: (not case.launches, case.cores)) for n in sorted(by_n)]
    notebook = Notebook(own, context.all_cases)
    for case in own:
        if case.cores > 1:
            notebook.note(f"n = {case.number('n')}: {case.processes}.")
    errors = {case.number("n"): case.result("error_max") for case in own}
    library = context.every_library
    rows = [_convergence_row(case, errors, notebook, library) for case in own]
    columns = [*_COLUMNS]
    if len({case.cores for case in own}) > 1:
        columns.insert(_CORES, Column("cores", "cores"))
        labels = (label(str(case.cores), case.cores) for case in own)
        rows = [
            (*row[:_CORES], cores, *row[_CORES:]) for row, cores in zip(rows, labels, strict=True)
        ]
    notebook.note("error ratio: error / error on a mesh twice as fine; about 4 for second order.")
    return notebook.table(
        "convergence", context.title("Convergence study", part.label), columns, rows
    )


def _convergence_row(
    case: MeasuredCase, errors: dict[int, float | None], notebook: Notebook, library: Library
) -> tuple[Cell, ...]:
    n = case.number("n")
    find = library.find
    if not case.launches:
        rest = (notebook.absent(case), missing(), missing())
        return (label(str(n), n), plain(n * n, f"{n * n:,}"), *[missing()] * 3, *rest)
    coarse, error, iterations = errors.get(n // 2), errors[n], case.result("iterations")
    ratio = coarse / error if coarse and error and n % 2 == 0 else None
    memory = case.launches[0].memory or {}
    published_error = find(case, "error_max", _KINDS, ("n",))
    published_iterations = find(case, "iterations", _KINDS, ("n",))
    if published_iterations:
        whole = f"{published_iterations.value:,.0f}"  # in the format of ours
        published_iterations = replace(published_iterations, text=whole)
        if iterations != published_iterations.value:
            share = iterations / published_iterations.value - 1
            off = signed(f"{100 * share:+.2f} %")
            notebook.note(f"n = {n}: iterations differ from the published count by {off}.")
    return (
        label(str(n), n),
        plain(n * n, f"{n * n:,}"),
        notebook.beside(plain(error, scientific(error)), published_error, str(n)),
        plain(ratio, MISSING if ratio is None else number(ratio)),
        notebook.beside(shown(iterations, "{:,}".format), published_iterations, str(n)),
        notebook.time(case, find(case, "time_s", _KINDS), str(n)),
        _bytes(memory.get("predicted_bytes")),
        _observed(case, published_error, notebook, library),
    )


def _bytes(value: float | None) -> Cell:
    return plain(value, size(value))


def _observed(
    case: MeasuredCase, error: Reference | None, notebook: Notebook, library: Library
) -> Cell:
    """Return memory in use (VmRSS, over all processes), with the published value in its
    own unit.
    """
    observed = max(case.sample(lambda r: (r.memory or {}).get("rss_bytes")), default=None)
    cell = _bytes(observed)
    for column, unit in (("memory_observed_mb", 2**20), ("memory_observed_gb", 2**30)):
        published = library.find(case, column, _KINDS)
        if published:
            in_bytes = replace(published, text=size(published.value * unit))
            own = error is None or error.source == published.source
            return notebook.beside(
                cell, in_bytes, f"{case.number('n')}{'' if own else ' (memory)'}"
            )
    return cell


def memory_by_ranks_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Memory use by number of processes, compared with the memory of the vectors alone."""
    solved = [case for case in cases if case.kernel == "poisson_cg" and not case.simulated]
    parts = facets([case for case in solved if case.launches], ("n", *CORES))
    return [_memory_table(part, context) for part in parts]


def _memory_table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows = []
    for case in sorted(part.cases, key=lambda case: (case.number("n"), case.cores)):
        vectors = (case.launches[0].memory or {}).get("predicted_bytes")
        used = max(case.sample(lambda r: (r.memory or {}).get("rss_bytes")), default=None)
        beyond = (used - vectors) / case.ranks if used and vectors else None
        n = case.number("n")
        derived = [notebook.derived(_bytes(value), case) for value in (vectors, beyond)]
        head = label(str(n), n), label(case.processes, case.ranks)
        observed = _observed(case, None, notebook, context.library)
        rows.append((*head, derived[0], observed, derived[1]))
    notebook.note(
        "in use: VmRSS of all processes together. beyond, per process: memory in use minus the "
        "vectors, divided by the number of processes. The program and its MPI library use it."
    )
    return notebook.table(
        "memory_by_ranks",
        context.title("Memory by processes", part.label),
        (
            *(Column("n", "n", align="left"), Column("ranks", "", align="left")),
            Column("memory_predicted_bytes", "vectors"),
            Column("memory_observed_bytes", "in use"),
            Column("memory_beyond_bytes", "beyond, per process"),
        ),
        rows,
        stub=2,
    )


def iterations_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Iterations per second of the variants of poisson_cg by ranks, with the fastest marked."""
    return [_iteration_table(one, context) for one in paces(cases)]


def _iteration_table(found: Paces, context: Context) -> Table:
    notebook = Notebook(found.part.cases, context.all_cases)
    run = {int(race.at): race for race in found.races(context.seed)}
    rows = tuple(_iteration_row(found, ranks, run.get(ranks), notebook) for ranks in found.by_ranks)
    if "pipelined" in found.variants and any(case.simulated for case in found.part.cases):
        notebook.note(
            "pipelined, simulated: the reduction progresses in the background, as with hardware "
            "support or a progress thread."
        )
    steps = {case.settings.get("s") for case in found.part.cases} - {None}
    if len(steps) == 1:
        notebook.note(f"sstep: with s = {steps.pop()} (haloscope describe poisson_cg).")
    return notebook.table(
        "iterations",
        context.title("Iterations per second by variant", found.part.label),
        (
            Column("ranks", "ranks", align="left"),
            *(Column(f"{name}_per_s", name, "iterations per second") for name in found.variants),
            Column("fastest", "fastest"),
            Column("fastest_over_textbook", "/ textbook"),
        ),
        rows,
    )


def _iteration_row(
    found: Paces, ranks: int, race: Race[str] | None, notebook: Notebook
) -> tuple[Cell, ...]:
    row = found.by_ranks[ranks]
    cells = []
    for name in found.variants:
        if name in row:
            case, rate = row[name]
            cells.append(notebook.estimate(rate, case, PER_SECOND))
        else:
            cells.append(missing())
    return (label(str(ranks), ranks), *cells, *_fastest(race))


def _fastest(race: Race[str] | None) -> tuple[Cell, Cell]:
    """Return the variant shown to be fastest by a test, and its rate over textbook's."""
    if race is None:
        return missing(), missing()
    if len(race.first) > 1:
        return missing("tie" if race.tied else "not shown"), missing()
    over = race.over("textbook") if "textbook" in race.against else None
    return plain(race.best), times(over)


def walltime_grid_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Wall time by nodes (columns) and processes per node (rows), one grid per mesh."""
    solves = pooled([case for case in cases if case.kernel == "poisson_cg"])
    grids = []
    for part in facets(solves, ("n", *PROCESSES)):
        for n, own in sorted(grouped(part.cases, lambda case: case.number("n")).items()):
            heads = {
                ppn: (label(f"{count(ppn, 'process', 'processes')} per node", ppn),)
                for ppn in values(own, "ppn")
            }
            heading = f"Wall time, n × n = {n} × {n}, system dimension {n * n:,}"
            title = context.title(heading, part.label)
            stub = (Column("ppn", "", align="left"),)
            grids.append(_grid("walltime_grid", WALL_TIMES, title, stub, heads, own, context))
    return lettered(grids)


def hybrid_grid_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Wall time by nodes (columns) and processes and threads per node (rows), one grid per mesh."""
    stub = (
        Column("ppn", "processes", "per node", "left"),
        Column("threads", "threads each", "per node", "left"),
    )
    grids = []
    for one in divisions(cases):
        heads = {
            ppn: (
                label(count(ppn, "MPI process", "MPI processes"), ppn),
                label(count(one.cores // ppn, "thread"), one.cores // ppn),
            )
            for ppn in values(one.cases, "ppn")
        }
        title = context.title(one.title, one.part.label)
        grids.append(_grid("hybrid_grid", ("hybrid_grid",), title, stub, heads, one.cases, context))
    return lettered(grids)


def _grid(
    kind: str,
    published_in: Sequence[str],
    title: str,
    stub: tuple[Column, ...],
    heads: Mapping[int, tuple[Cell, ...]],
    own: Sequence[MeasuredCase],
    context: Context,
) -> Table:
    """Return wall times by nodes, one row per number of processes per node. heads: row names."""
    at = {(case.layout.ppn, case.layout.nodes): case for case in own}
    notebook = Notebook(own, context.all_cases)
    nodes = values(own, "nodes")

    def cell(ppn: int, on: int) -> Cell:
        case = at.get((ppn, on))
        published = context.library.find(case, "time_s", published_in) if case else None
        return notebook.time(case, published)

    rows = [
        (
            *head,
            *(cell(ppn, on) for on in nodes),
            *(notebook.node_time(at.get((ppn, on))) for on in nodes),
        )
        for ppn, head in heads.items()
    ]
    columns = (
        *stub,
        *(Column(f"nodes_{on}_time_s", count(on, "node")) for on in nodes),
        # the cost of a solve, for programs: people see the number of nodes above its time
        *(Column(f"nodes_{on}_node_s", "", only_csv=True) for on in nodes),
    )
    return notebook.table(kind, title, columns, rows, stub=len(stub))
