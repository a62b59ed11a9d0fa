"""The exchanges of the Poisson solver set against each other: is non-blocking faster?

For every setting that was run with several exchanges: the time of each, how many times as fast it
is as the reference (blocking, where it was run), and a test on launches with Holm's correction for
the number of comparisons in the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.comparison import Contrast, Measure, contrasts
from haloscope.evidence import MeasuredCase, facets
from haloscope.tables.context import Context
from haloscope.tables.contrast import COLUMNS, cells, explain
from haloscope.tables.model import Cell, Column, Table, label, missing
from haloscope.tables.notebook import Notebook

ORDER = ("blocking", "even_odd", "sendrecv", "nonblocking", "persistent")


def groups(cases: Sequence[MeasuredCase], seed: int) -> list[tuple[str, list[Contrast]]]:
    """For each setting with several exchanges, all against the reference; corrected over all.

    One process exchanges nothing, so it has no row.
    """
    own = [case for case in cases if case.kernel == "poisson_cg" and case.ranks > 1]
    parts = [part for part in facets(own, ("exchange",)) if len(part.cases) > 1]
    pairs = []
    for part in parts:
        first, *others = (_measure(case) for case in sorted(part.cases, key=_place))
        pairs += [(first, other) for other in others]
    found = iter(contrasts(pairs, seed))
    return [(part.label, [next(found) for _ in part.cases[1:]]) for part in parts]


def _measure(case: MeasuredCase) -> Measure:
    return Measure(case, "", tuple(case.times_s), case.time)


def _place(case: MeasuredCase) -> int:
    return ORDER.index(str(case.settings["exchange"]))


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table over all settings, a row an exchange."""
    found = groups(cases, context.seed)
    if not found:
        return []
    shown = [m.case for _, own in found for m in (own[0].first, *(c.second for c in own))]
    notebook = Notebook(shown, context.all_cases)
    rows: list[tuple[Cell, ...]] = []
    for name, own in found:
        reference = own[0].first.case
        blank = (missing("reference"), missing(""), missing(""))
        rows.append((label(name), *_named(reference, notebook, context), *blank))
        for one in own:
            head = (label("", name), *_named(one.second.case, notebook, context))
            rows.append((*head, *cells(one, notebook)))
    explain([c for _, own in found for c in own], notebook)
    return [
        Table(
            id="exchange",
            kind="exchange",
            title=context.title("Exchanges compared"),
            columns=(
                Column("setting", "setting", align="left"),
                Column("exchange", "exchange", align="left"),
                Column("time_s", "wall time"),
                *COLUMNS,
            ),
            rows=tuple(rows),
            notes=notebook.notes(),
            stub=2,
        )
    ]


def _named(case: MeasuredCase, notebook: Notebook, context: Context) -> tuple[Cell, Cell]:
    published = context.library.find(case, "time_s", ("walltime_grid", "scaling"))
    return label(str(case.settings["exchange"])), notebook.time(case, published)
