# SPDX-License-Identifier: BSD-3-Clause
"""Tables of speedup and efficiency, and of scaling laws.

By p, with the wall time: the form of tables 4.2 to 4.5 and 5.2 to 5.5 of HPCF-2010-6, with meshes
in rows and processes p in columns. With several numbers of processes per node, these are the rows
and nodes the columns, as in walltime_grid, which has the wall time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.context import Context
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import count, listed, percent, seconds, signed
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
)
from haloscope.topics.scaling import Ladder, Law, Scaling, laws, scalings


def scaling_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Speedup and efficiency by number of processes, or by nodes and processes per node."""
    found = scalings(cases)
    kernels = {_kernel(scaling) for scaling in found}
    together: dict[object, list[Scaling]] = {}
    for k, scaling in enumerate(found):
        alone = scaling.is_grid or len(scaling.ladders) > 1
        together.setdefault(k if alone else (_kernel(scaling), scaling.p), []).append(scaling)
    return [
        table
        for own in together.values()
        for table in _tables(own, _kernel(own[0]) if len(kernels) > 1 else "", context)
    ]


def _kernel(scaling: Scaling) -> str:
    return next(case.kernel for one in scaling.ladders for case in one.steps.values())


def _own_label(scaling: Scaling) -> str:
    return scaling.label.removeprefix(f"{_kernel(scaling)}, ")


_MakeCell = Callable[[Ladder, MeasuredCase, Notebook, Context], Cell]


def _tables(several: Sequence[Scaling], kernel: str, context: Context) -> list[Table]:
    scaling, *others = several
    named = scaling.label if not others else kernel
    forms: tuple[tuple[str, str, _MakeCell], ...] = (
        ("time_s", "Wall time", _time),
        ("speedup", "Speedup", partial(_ratio, "speedup")),
        ("efficiency", "Efficiency", partial(_ratio, "efficiency")),
    )
    if any(case.on_nodes for one in several for own in one.ladders for case in own.steps.values()):
        forms = (*forms, ("node_s", "Nodes × wall time", _node_time))
    if scaling.is_grid:
        return lettered(
            [
                _over_nodes(key, context.title(title, named), cell, scaling, context)
                for key, title, cell in forms
                if key != "time_s"
            ]
        )
    return lettered(
        [
            _by_p(key, context.title(title, named), cell, several, context)
            for key, title, cell in forms
        ]
    )


def _over_nodes(key: str, title: str, make: _MakeCell, scaling: Scaling, context: Context) -> Table:
    own = [case for one in scaling.ladders for case in one.own.values()]
    notebook = Notebook(own, context.all_cases)
    nodes = values(own, "nodes")

    def row(one: Ladder) -> tuple[Cell, ...]:
        on = {case.layout.nodes: case for case in one.own.values()}
        steps = (on.get(k) for k in nodes)
        cells = (make(one, case, notebook, context) if case else missing() for case in steps)
        return (label(str(one.n), one.n), label(str(one.ppn), one.ppn), *cells)

    rows = tuple(row(one) for one in scaling.ladders)
    if key != "node_s":
        _note_references([scaling], notebook)
    return notebook.table(
        "scaling",
        title,
        (
            Column("n", "n", align="left"),
            Column("ppn", "processes per node"),
            *(Column(f"nodes_{k}_{key}", count(k, "node")) for k in nodes),
        ),
        rows,
        id=f"scaling-{key}",
        stub=2,
    )


def _by_p(
    key: str, title: str, make: _MakeCell, several: Sequence[Scaling], context: Context
) -> Table:
    ladders = [one for scaling in several for one in scaling.ladders]
    own = [case for one in ladders for case in one.steps.values()]
    notebook = Notebook(own, context.all_cases)
    across = sorted({case.cores for case in own})
    named = len(several) > 1
    names = [
        (label(_own_label(scaling)),) if named else ()
        for scaling in several
        for _ in scaling.ladders
    ]

    def row(one: Ladder, name: tuple[Cell, ...]) -> tuple[Cell, ...]:
        steps = [one.steps.get(p) for p in across]
        cells = (make(one, case, notebook, context) if case else missing() for case in steps)
        return (*name, label(str(one.n), one.n), *cells)

    rows = tuple(map(row, ladders, names))
    if key not in ("time_s", "node_s"):
        _note_references(several, notebook)
    for scaling in several:
        _note_exceptions(scaling, notebook)
    first = [Column("case", "case", align="left")] if named else []
    heads = (Column(f"p_{p}_{key}", f"p = {p}") for p in across)
    return notebook.table(
        "scaling",
        title,
        (*first, Column("n", "n", align="left"), *heads),
        rows,
        id=f"scaling-{key.removesuffix('_s')}",
        stub=1 + len(first),
    )


def _time(_: Ladder, case: MeasuredCase, notebook: Notebook, context: Context) -> Cell:
    found = context.library.find(case, "time_s", ("scaling", "walltime_grid"))
    return notebook.time(case, found)


def _node_time(_: Ladder, case: MeasuredCase, notebook: Notebook, __: Context) -> Cell:
    return notebook.node_time(case)


def _ratio(
    column: str, one: Ladder, case: MeasuredCase, notebook: Notebook, context: Context
) -> Cell:
    """Return the speedup or the efficiency of a case, as the column is named."""
    compute = one.speedup if column == "speedup" else one.efficiency
    ratio = compute(case, context.seed)
    published = context.library.find(case, column, ("scaling",)) if ratio else None
    return notebook.beside(notebook.estimate(ratio, case), published)


def _note_references(several: Sequence[Scaling], notebook: Notebook) -> None:
    references = dict.fromkeys(
        one.reference(_own_label(scaling) if len(several) > 1 else "")
        for scaling in several
        for one in scaling.ladders
    )
    notebook.note(f"Speedup is relative to {listed([*references])}.")


def _note_exceptions(scaling: Scaling, notebook: Notebook) -> None:
    others = {
        p: case.layout.ppn
        for one in scaling.ladders
        for p, case in one.steps.items()
        if one.ppn is not None and case.layout.ppn != one.ppn
    }
    if others:
        words = [f"{own} for p = {p}" for p, own in sorted(others.items())]
        notebook.note(f"Other processes per node: {listed(words)}.")


def scaling_law_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Scaling laws of time by processes or size: terms of each law, and errors at held-out points.

    A table of all meshes over processes, and one of meshes; none where no law could be fitted.

    The notes say why there is none of some.
    """
    found = laws(cases, context.seed)
    every = [[one for one in found if one.over_sizes == sizes] for sizes in (False, True)]
    return [_table(own, context) for own in every if any(one.law is not None for one in own)]


def _table(found: Sequence[Law], context: Context) -> Table:
    notebook = Notebook([case for one in found for case in one.cases], context.all_cases)
    x = "n" if found[0].over_sizes else "p"
    notebook.note(
        "left out: root mean square of the relative error at each point, predicted from all "
        "others.",
        "This law was chosen for the smallest such error, so new points may deviate more.",
        f"Outside the measured {x}, the law is an extrapolation.",
        f"{ScalingLaw.source}; powers may be negative here, coefficients may not.",
        "The points of each row are in a JSON Lines file beside the table's CSV file, in Extra-P's "
        "format.",
    )
    for one in found:
        if one.law is None:
            notebook.note(f"{one.label}: no law: {one.reason}.")
    return notebook.table(
        "scaling_law",
        context.title(f"Time by {x}, fitted law"),
        (
            Column("mesh", "cases" if found[0].over_sizes else "mesh", align="left"),
            Column("law", f"T({x})", align="left"),
            Column("constant_s", "c"),
            Column("points", x),
            Column("left_out", "left out"),
            Column("residual", "fitted"),
        ),
        (_row(one, one.law) for one in found if one.law is not None),
        id="scaling_law_sizes" if found[0].over_sizes else "scaling_law",
        points=tuple(tuple(_points(one)) for one in found if one.law is not None),
    )


def _points(one: Law) -> Iterator[dict[str, Any]]:
    """Yield the data of a law, one launch each, as lines of Extra-P's JSON Lines format."""
    for x, case in zip(one.x, one.cases, strict=True):
        for time_s in case.times_s:
            params = {"n" if one.over_sizes else "p": x}
            yield {"params": params, "callpath": one.label, "metric": "time", "value": time_s}


def _row(one: Law, law: ScalingLaw) -> tuple[Cell, ...]:
    first, last = (f"{p:.0f}" for p in law.valid)
    counted = "" if one.over_sizes else f" {one.p}"
    return (
        label(one.label, case=" ".join(case.id for case in one.cases)),
        plain(law_text(law, "n" if one.over_sizes else "p")),
        shown(law.constant_s, seconds) if law.constant_s else missing("0"),
        Cell(len(one.cases), f"{'n = ' if one.over_sizes else ''}{first} to {last}{counted}"),
        shown(law.cross_validation, percent),
        shown(law.residuals.relative_rms, percent),
    )


def law_text(law: ScalingLaw, x: str = "p") -> str:
    """Return "1.20 ms + 2.31 s p^(-1)", without terms whose coefficient is 0."""
    parts = [seconds(law.constant_s)] if law.constant_s else []
    for term, coefficient in zip(law.terms, law.coefficients_s, strict=True):
        if coefficient:
            parts.append(f"{seconds(coefficient)} {signed(term.text(x))}")
    return " + ".join(parts) or "0"
