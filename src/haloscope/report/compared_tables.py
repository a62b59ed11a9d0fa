# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a comparison: sweeps, one row each, and single comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.comparison import ALPHA, Contrast
from haloscope.analysis.fits import exchanges
from haloscope.quantities import probability
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import tests_of
from haloscope.topics.contrast.views import COLUMNS, cells, explain, ratio_cell
from haloscope.topics.programs import UNPAIRED, ResultContrast, number_of, scale, texts_of

_COLUMNS = (Column("case", "case", align="left"), Column("point", "point", align="left"))


def is_lacking(one: Contrast) -> bool:
    """Return whether both sides measured the case, but one lacks this point."""
    both = all(side.case.launches for side in (one.first, one.second))
    return both and bool(one.first.sample) != bool(one.second.sample)


def sweeps_table(
    sweeps: Sequence[Sequence[Contrast]], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> Table:
    """Return a table of sweeps, one row each: faster and slower points, and the extreme ratios."""
    every = [one for own in sweeps for one in own]
    notebook = _notebook(every)
    rows = tuple(_sweep(own, among, notebook) for own in sweeps)
    explain(every, notebook)
    notebook.note("open: no difference shown, or no test possible. least, most: over all points.")
    lacking = any(map(is_lacking, every))
    if lacking:
        notebook.note("in one: points in only one folder.")
    pingpongs = [one.first.case for one in every if one.first.case.kernel == "pingpong"]
    if any(exchanges(case) for case in pingpongs):
        notebook.note("pingpong: compared by one-way time.")
    if not all(exchanges(case) for case in pingpongs):
        notebook.note("pingpong with mode = stream: compared by time per message.")
    title = f"Sweeps of {' and '.join(names)} compared, point by point"
    of = f"{names[1]} is"
    columns = (
        Column("case", "case", align="left"),
        Column("points", "points"),
        Column("faster", "faster", of),
        Column("slower", "slower", of),
        Column("open", "open"),
        Column("least", "least", "speedup"),
        Column("least_at", "at", "speedup", "left"),
        Column("most", "most", "speedup"),
        Column("most_at", "at", "speedup", "left"),
        Column("lacking", "in one", only_csv=not lacking),
    )
    return Table("sweeps", "compare", title, columns, rows, notebook.notes())


def _sweep(
    own: Sequence[Contrast], among: Sequence[MeasuredCase], notebook: Notebook
) -> tuple[Cell, ...]:
    verdicts = Counter(one.verdict for one in own)
    faster, slower = verdicts["faster"], verdicts["slower"]
    lacking = sum(map(is_lacking, own))
    measure = own[0].first
    group = "" if measure.group == "sizes" else f", {measure.group}"
    rated = sorted((one for one in own if one.ratio), key=_ratio)
    ends = (
        [cell for one in (rated[0], rated[-1]) for cell in _where(one, notebook)] if rated else []
    )
    return (
        label(f"{name_of(measure.case, among)}{group}", case=measure.case.id),
        plain(len(own)),
        Cell(faster, str(faster), tone="good" if faster else ""),
        Cell(slower, str(slower), tone="bad" if slower else ""),
        plain(len(own) - faster - slower - lacking),
        *(ends or [missing()] * 4),
        Cell(lacking, str(lacking), tone="warning" if lacking else ""),
    )


def _ratio(one: Contrast) -> float:
    return one.ratio.value if one.ratio else 1.0


def _where(one: Contrast, notebook: Notebook) -> tuple[Cell, Cell]:
    ratio = ratio_cell(one, notebook)
    if one.first.group == "parameters":
        return ratio, plain(one.first.what.split()[-1])
    return ratio, plain(one.first.what.removeprefix(one.first.group).strip())


def details_table(
    name: str,
    title: str,
    found: Sequence[Contrast],
    among: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> Table:
    """Return a table of comparisons, one row each. name: id of the table."""
    notebook = _notebook(found)
    rows = tuple(_row(one, among, notebook) for one in found)
    explain(found, notebook)
    alone = not any(one.first.what for one in found)
    times = [Column(f"{key}_s", named, "time") for key, named in zip(NAMES, names, strict=True)]
    *ratio, verdict = COLUMNS
    verdict = replace(verdict, title=f"{names[1]} is")
    columns = (*(_COLUMNS[:1] if alone else _COLUMNS), *times, *ratio, verdict)
    rows = tuple(row[:1] + row[2:] for row in rows) if alone else rows
    return Table(name, "compare", title, columns, rows, notebook.notes(), 1 if alone else 2)


def _notebook(found: Sequence[Contrast]) -> Notebook:
    return Notebook([], [case for one in found for case in (one.first.case, one.second.case)])


def _row(one: Contrast, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    return (
        label(name_of(one.first.case, among), case=one.first.case.id),
        label(one.first.what),
        notebook.estimate(one.first.time, one.first.case, one.first.scale),
        notebook.estimate(one.second.time, one.second.case, one.second.scale),
        *cells(one, notebook),
    )


NAMES = ("first", "second")
RESULTS = "results"


def results_tables(
    found: Sequence[ResultContrast], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> Table:
    """Return a table of external programs' results; haloscope does not know which is better."""
    notebook = Notebook([], [case for one in found for case in (one.first, one.second)])
    rows = tuple(
        (
            label(name_of(one.first, among), case=one.first.id),
            label(one.name),
            *_values(one, notebook),
            plain(one.first.unit(one.name)),
            plain(one.adjusted, probability(one.adjusted)),
            Cell(one.verdict, one.verdict, tone="warning" if one.verdict in UNPAIRED else ""),
        )
        for one in found
    )
    tested = [one.contrast for one in found if one.contrast and one.contrast.comparison]
    if tested:
        several = len(tested) > 1
        holm = f", Holm's correction for {len(tested)} results" if several else ""
        notebook.note(f"p: {tests_of(tested)}{holm}; a difference is significant at p ≤ {ALPHA}.")
    if any(one.contrast is None and one.verdict == "different" for one in found):
        notebook.note(
            "Texts and lists of numbers are compared as printed; they differ if one launch differs."
        )
    columns = (
        *(Column("case", "case", align="left"), Column("result", "result", align="left")),
        *(Column(key, named) for key, named in zip(NAMES, names, strict=True)),
        Column("unit", "unit", align="left", only_csv=True),
        *(Column("p_adjusted", "p"), Column("verdict", f"{names[1]} is", align="left")),
    )
    title = f"Results of {' and '.join(names)} compared"
    return Table(RESULTS, "compare", title, columns, rows, notebook.notes(), 2)


def _values(one: ResultContrast, notebook: Notebook) -> Iterator[Cell]:
    """Yield a result on both sides: medians of numbers, otherwise the printed text, shortened."""
    sides = one.first, one.second
    for case in sides:
        if sample := number_of(case, one.name):
            found = one.contrast and (one.contrast.first, one.contrast.second)[sides.index(case)]
            time = found.time if found else case.estimate(sample)
            yield notebook.estimate(time, case, scale(case, one.name))
            continue
        whole = "; ".join(texts_of(case, one.name, _DIGITS))
        short = whole if len(whole) <= _SHORT else f"{whole[: _SHORT - 1]}…"
        yield Cell(whole, short) if whole else missing()


_DIGITS = 17


_SHORT = 40
