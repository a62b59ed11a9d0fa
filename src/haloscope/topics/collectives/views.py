# SPDX-License-Identifier: BSD-3-Clause
"""Tables and a figure of collective operations, and of guidelines and their violations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.facets import labelled
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.findings.words import spans
from haloscope.quantities import SECONDS, count, probability, seconds, size
from haloscope.study.settings import common, describe, varying
from haloscope.topics.collectives import (
    WORTH,
    Followed,
    growth,
    halo_followed,
    ladders,
    law_named,
    over,
    parts,
    warmed_up,
)
from haloscope.topics.collectives import guideline_followed as followed
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown, times
from haloscope.topics.common.words import clock, tests_of
from haloscope.topics.contrast.views import COLUMNS, cells, explain


def collectives_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Collective operations: growth of time with processes, and time by message size."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    grown = [
        _growth(least, most, part.label, context)
        for part in parts(own)
        for least, *_, most in ladders(part)
    ]
    return [*grown, *(_table(*each, context) for each in labelled(own).items())]


def _growth(few: MeasuredCase, many: MeasuredCase, label_: str, context: Context) -> Table:
    notebook = Notebook([few, many], context.all_cases)
    rows = tuple(
        (
            label(one.operation),
            plain(one.size_bytes, size(one.size_bytes) if one.size_bytes else "none"),
            notebook.estimate(one.few.time, few, SECONDS),
            notebook.estimate(one.many.time, many, SECONDS),
            notebook.estimate(one.times, many),
            plain(law_named(one).removeprefix("nearest to ") or "–"),
        )
        for one in growth(few, many, context.seed)
    )
    notebook.note(
        "nearest to: constant, log₂ p, or p; a dash if too few processes distinguish them."
    )
    first, last = (case.layout.nodes for case in (few, many))
    where = f"from {few.ranks} to {many.processes} on one node"
    if last > 1:
        where = f"from {few.processes} on {count(first, 'node')} to {many.ranks} on {last}"
    return notebook.table(
        "collectives",
        context.title(f"Growth of collective operations {where}", label_),
        (
            Column("operation", "operation", align="left"),
            Column("size_bytes", "message"),
            Column("few_s", few.processes),
            Column("many_s", many.processes),
            Column("times", "times as long"),
            Column("law", "nearest to", align="left"),
        ),
        rows,
        id="collectives_growth",
        stub=2,
    )


def _table(case: MeasuredCase, name: str, context: Context) -> Table:
    notebook = Notebook([case], context.all_cases)
    at = {(point.operation, point.size_bytes): point.time for point in sweep(case)}
    operations = list(dict.fromkeys(operation for operation, _ in at))
    rows = tuple(
        (
            label(size(bytes_) if bytes_ else "none", bytes_),
            *(
                notebook.estimate(at[operation, bytes_], case, SECONDS)
                if (operation, bytes_) in at
                else missing("")
                for operation in operations
            ),
        )
        for bytes_ in sorted({bytes_ for _, bytes_ in at})
    )
    how = case.settings["synchronisation"]
    for absent in dict.fromkeys(record.result.get("absent") for record in case.launches):
        if absent:
            notebook.note(f"Missing: {absent}.")
    notebook.note(f"Processes start together: {str(how).replace('_', ' ')}.")
    return notebook.table(
        "collectives",
        context.title("Collective operations by message size", name),
        (
            Column("size_bytes", "message", align="left"),
            *(Column(f"{operation}_s", str(operation)) for operation in operations),
        ),
        rows,
    )


FEW = 2


def guidelines_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Performance guidelines of collective operations and halo exchanges, and their violations."""
    return [*_collectives(cases, context), *_halos(cases, context)]


def _halos(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    found = halo_followed(cases, context.seed)
    if not found:
        return
    own = [measure.case for one in found for measure in (one.first, one.second)]
    notebook = Notebook(own, context.all_cases)
    names = [name for name in varying([case.settings for case in own]) if name != "exchange"]
    rows = tuple(
        (
            label(describe(one.second.case.settings, names) or one.second.case.processes),
            notebook.estimate(one.first.time, one.first.case, SECONDS),
            notebook.estimate(one.second.time, one.second.case, SECONDS),
            *cells(one, notebook),
        )
        for one in found
    )
    explain(found, notebook)
    notebook.note(
        "Times are those of the phase exchange, per step, on the slowest rank.",
        "The specialised call should not be slower than general ones (Träff, Gropp and Thakur "
        "2010).",
    )
    same = common([case.settings for case in own])
    yield notebook.table(
        "guidelines",
        context.title("Halo exchange: neighbourhood collective and single messages", same),
        (
            Column("setting", "setting", align="left"),
            Column("single_s", "MPI_Irecv and MPI_Isend"),
            Column("collective_s", "MPI_Neighbor_alltoallw"),
            *COLUMNS,
        ),
        rows,
        id="halo_guideline",
    )


def _collectives(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Return a row for each guideline and each case that has its operations."""
    found = followed(cases, context.seed)
    if not found:
        return
    own = list(dict.fromkeys(one.case for one in found))
    notebook = Notebook(own, context.all_cases)
    broken = [one for one in found if one.broken] if len(own) > FEW else []
    if broken and len(broken) < len(found):
        notebook.note(f"{len(found) - len(broken)} rows without a shown violation are omitted.")
    tests = tests_of([contrast for one in found for contrast in one.at.values()])
    notebook.note(
        f"violated: slower by {WORTH}x or more, and significant if there are several launches.",
        "A mock-up's time is the sum of its operations' times, each measured separately.",
        "Guidelines: Träff, Gropp and Thakur 2010; Hunold and others 2016 (PGMPI).",
        f"Test: {tests}, corrected over all sizes, guidelines, and cases (Holm).",
        "As mock-ups, bcast, reduce, and allreduce use the blocks of all ranks; their own "
        "mock-ups use 1/p of these.",
    )
    if any(one.too_few for one in found):
        notebook.note("too few: with so few launches, no difference can be significant.")
    if not all(case.simulated or warmed_up(case) for case in own):
        notebook.note(
            "The smallest size is omitted if it had no warm-up, because it follows another "
            "operation's largest size."
        )
    yield notebook.table(
        "guidelines",
        context.title("Guidelines for collective operations"),
        (
            Column("setting", "setting", align="left"),
            Column("guideline", "guideline", align="left"),
            Column("sizes", "sizes"),
            Column("broken_at", "broken at", align="left"),
            Column("worst_factor", "largest ratio"),
            Column("worst_bytes", "at"),
            Column("p_value", "p"),
        ),
        (_row(one, own, cases) for one in broken or found),
        stub=2,
    )


def _row(
    one: Followed, own: Sequence[MeasuredCase], cases: Sequence[MeasuredCase]
) -> tuple[Cell, ...]:
    named = label_of(one.case, cases)
    setting = one.case.processes if len(own) == 1 or named == one.case.kernel else named
    first = (label(setting, case=one.case.id), label(one.guideline.text), plain(len(one.at)))
    if one.worst is None:
        return (*first, missing("too few" if one.too_few else "–"), *(missing(),) * 3)
    at, contrast = one.worst
    where = spans(list(one.broken), list(one.at), size, "sizes")
    return (
        *first,
        Cell(where, where, tone="bad"),
        times(over(contrast)),
        shown(at, size),
        shown(contrast.adjusted, probability),
    )


def collectives_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Collective operations: time by message size, one panel per operation, one curve per case."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    names = labelled(own)
    points = {name: [p for p in sweep(case) if p.size_bytes] for case, name in names.items()}
    operations = list(dict.fromkeys(p.operation for each in points.values() for p in each))
    if not operations:
        return
    sizes = [float(point.size_bytes) for each in points.values() for point in each]
    panels = tuple(
        Lines(
            str(operation),
            str(operation),
            Axis("message", "log2", size_ticks(sizes)),
            Axis("time (µs)", "log"),
            tuple(
                Curve(
                    name or clock(own),
                    tuple(
                        mark(point.size_bytes, point.time.times(1e6))
                        for point in each
                        if point.operation == operation
                    ),
                )
                for name, each in points.items()
            ),
            alt=f"Time by message size. {_longest(points, operation)}",
        )
        for operation in operations
    )
    yield Figure(
        kind="collectives",
        title=context.title("Collective operations by message size"),
        panels=panels,
        alt=f"Time by message size for {', '.join(map(str, operations))}.",
        notes=bars(cases, panels),
    )


def _longest(points: Mapping[str, Sequence[Swept]], operation: str | None) -> str:
    every = [(name, p) for name, own in points.items() for p in own if p.operation == operation]
    name, most = max(every, key=lambda pair: pair[1].time.value)
    of = f", {name}" if name else ""
    return f"Longest: {seconds(most.time.value)} for {size(most.size_bytes)}{of}."
