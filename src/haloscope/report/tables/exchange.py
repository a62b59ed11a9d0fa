"""Ways to communicate set against each other: is non-blocking faster, does overlap help?

For every setting that was run with several: the time of each, how many times as fast it is as the
reference (the first of them in the order below), and a test on launches with Holm's correction for
the number of comparisons in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.published import source
from haloscope.quantities import number, seconds
from haloscope.report.context import Context
from haloscope.report.tables.contrast import COLUMNS, cells, explain
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook

if TYPE_CHECKING:
    from haloscope.papers.file import Value
    from haloscope.papers.tables import PaperTable


@dataclass(frozen=True)
class Ways:
    """The values of one setting of a kernel, the reference first."""

    kernel: str
    setting: str
    order: tuple[str, ...]
    title: str

    def place(self, case: MeasuredCase) -> int:
        """Of a case's own way, in the order."""
        return self.order.index(str(case.settings[self.setting]))


EXCHANGES = Ways(
    "poisson_cg",
    "exchange",
    ("blocking", "even_odd", "sendrecv", "nonblocking", "persistent"),
    "Exchanges compared",
)
OVERLAPS = Ways("spmv", "overlap", ("none", "split", "split_temporary"), "Ways to overlap compared")


def groups(
    cases: Sequence[MeasuredCase], seed: int, ways: Ways = EXCHANGES
) -> list[tuple[str, list[Contrast]]]:
    """For each setting with several ways, all against the reference; corrected over all.

    One process exchanges nothing, so it has no row.
    """
    own = [case for case in cases if case.kernel == ways.kernel and case.ranks > 1]
    parts = [part for part in facets(own, (ways.setting,)) if len(part.cases) > 1]
    pairs = []
    for part in parts:
        first, *others = (_measure(case) for case in sorted(part.cases, key=ways.place))
        pairs += [(first, other) for other in others]
    found = iter(contrasts(pairs, seed))
    return [(part.label, [next(found) for _ in part.cases[1:]]) for part in parts]


def _measure(case: MeasuredCase) -> Measure:
    return Measure(case, "", tuple(case.times_s), case.time)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The exchanges of the Poisson solver: one table over all settings, a row an exchange."""
    return _build(cases, context, EXCHANGES)


def build_overlap(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The schemes of the sparse matrix-vector product, a row a scheme."""
    notes = tuple(_published_overlap(table) for table in context.library.tables(("overlap",)))
    tables = _build(cases, context, OVERLAPS)
    return [replace(table, notes=(*table.notes, *notes)) for table in tables]


def _published_overlap(table: PaperTable) -> str:
    """What was published, in a note: of another matrix, and as ratios alone comparable."""
    base = table.rows[0]
    times = [
        f"{row['overlap']} {seconds(float(str(row['time_s'])))}"
        + ("" if row is base else f" ({number(_ratio(base, row), 3)} times as fast)")
        for row in table.rows
    ]
    facts = table.facts
    return (
        f"Published, of another matrix: {source(table)}: {', '.join(times)}; {facts['matrix']}, "
        f"{facts['ranks']} processes, {facts['memory']} memory. {' '.join(table.notes)}"
    )


def _ratio(base: Mapping[str, Value], row: Mapping[str, Value]) -> float:
    return float(str(base["time_s"])) / float(str(row["time_s"]))


def _build(cases: Sequence[MeasuredCase], context: Context, ways: Ways) -> list[Table]:
    found = groups(cases, context.seed, ways)
    if not found:
        return []
    shown = [m.case for _, own in found for m in (own[0].first, *(c.second for c in own))]
    notebook = Notebook(shown, context.all_cases)
    rows: list[tuple[Cell, ...]] = []
    for name, own in found:
        reference = own[0].first.case
        blank = (missing("reference"), missing(""), missing(""))
        rows.append((label(name), *_named(reference, ways, notebook, context), *blank))
        for one in own:
            head = (label("", name), *_named(one.second.case, ways, notebook, context))
            rows.append((*head, *cells(one, notebook)))
    explain([c for _, own in found for c in own], notebook)
    return [
        Table(
            id=ways.setting,
            kind=ways.setting,
            title=context.title(ways.title),
            columns=(
                Column("setting", "setting", align="left"),
                Column(ways.setting, ways.setting, align="left"),
                Column("time_s", "wall time"),
                *COLUMNS,
            ),
            rows=tuple(rows),
            notes=notebook.notes(),
            stub=2,
        )
    ]


def _named(
    case: MeasuredCase, ways: Ways, notebook: Notebook, context: Context
) -> tuple[Cell, Cell]:
    published = context.library.find(case, "time_s", ("walltime_grid", "scaling"))
    return label(str(case.settings[ways.setting])), notebook.time(case, published)
