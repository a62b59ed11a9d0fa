"""Wall time, observed speedup and observed efficiency by number of processes.

The form of tables 4.2 to 4.5 and 5.2 to 5.5 of HPCF-2010-6: meshes in rows, processes p in columns.
S_p = T_b / T_p and E_p = S_p b / p from the medians of launches; b, the base, is the smallest p
there is (1 wherever it was run), and its absolute time stands in the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from haloscope.evidence import Facet, MeasuredCase, facets, values
from haloscope.quantities import count, seconds
from haloscope.published import Reference
from haloscope.stats import Estimate, ratio_of_medians
from haloscope.tables.context import Context
from haloscope.tables.model import Cell, Column, Table, label, missing
from haloscope.tables.notebook import Notebook

AXES = ("n", "nodes", "ppn")


@dataclass(frozen=True)
class Ladder:
    """The cases of one mesh by number of processes, all at one number of processes per node.

    ppn: that number; where p or the nodes at hand don't allow it, the nearest that does is taken.
         None where all cases are on one node.
    """

    n: int
    ppn: int | None
    steps: Mapping[int, MeasuredCase]

    @property
    def base(self) -> MeasuredCase | None:
        """The case that speedup refers to: the fewest processes with a good launch."""
        good = [case for case in self.steps.values() if case.launches]
        return min(good, key=lambda case: case.ranks) if good else None


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Three tables (wall time, speedup, efficiency) for each number of processes per node."""
    sized = [case for case in cases if "n" in case.settings]
    tables = []
    for part in facets(sized, AXES):
        for ppn in arrangements(part.cases):
            ladders = [ladder(part.cases, n, ppn) for n in values(part.cases, "n")]
            tables += _three(part, ppn, ladders, context)
    return tables


def arrangements(cases: Sequence[MeasuredCase]) -> list[int | None]:
    """The numbers of processes per node worth a table each; [None] where p alone says it all."""
    if values(cases, "nodes") == [1] or len(values(cases, "ppn")) == 1:
        return [None]
    return list(values(cases, "ppn"))


def ladder(cases: Sequence[MeasuredCase], n: int, ppn: int | None) -> Ladder:
    """One mesh's cases by p: of several with the same p, the one nearest to ppn per node."""
    steps: dict[int, MeasuredCase] = {}
    for case in cases:
        if case.number("n") != n:
            continue
        known = steps.get(case.ranks)
        if known is None or _distance(case, ppn) < _distance(known, ppn):
            steps[case.ranks] = case
    return Ladder(n, ppn, dict(sorted(steps.items())))


def _distance(case: MeasuredCase, ppn: int | None) -> int:
    return abs(case.number("ppn") - (ppn or 1))


def speedup(base: MeasuredCase, case: MeasuredCase, seed: int) -> Estimate | None:
    """T_base / T_p with a bootstrap interval (none where simulated, or too few launches)."""
    if not base.times_s or not case.times_s:
        return None
    if base is case:
        return Estimate(1.0, None, None, len(case.times_s), "base")
    ratio = ratio_of_medians(base.times_s, case.times_s, seed=seed)
    return Estimate(ratio.value, None, None, ratio.n, "simulated") if case.simulated else ratio


def _three(part: Facet, ppn: int | None, ladders: list[Ladder], context: Context) -> list[Table]:
    arrangement = f"{count(ppn, 'process', 'processes')} per node" if ppn else ""
    forms = (
        ("time_s", "(a) Wall time", _time),
        ("speedup", "(b) Observed speedup", _speedup),
        ("efficiency", "(c) Observed efficiency", _efficiency),
    )
    return [
        _table(key, context.title(title, part.label, arrangement), cell, ladders, context)
        for key, title, cell in forms
    ]


_MakeCell = Callable[[Ladder, MeasuredCase, Notebook, Context], Cell]


def _table(
    key: str, title: str, make: _MakeCell, ladders: list[Ladder], context: Context
) -> Table:
    shown = [case for one in ladders for case in one.steps.values()]
    notebook = Notebook(shown)
    across = sorted({case.ranks for case in shown})

    def row(one: Ladder) -> tuple[Cell, ...]:
        steps = [one.steps.get(p) for p in across]
        cells = (make(one, case, notebook, context) if case else missing() for case in steps)
        return (label(str(one.n), one.n), *cells)

    rows = tuple(row(one) for one in ladders)
    for one in ladders:
        _note_base(one, notebook)
    _note_exceptions(ladders, notebook)
    heads = (Column(f"p_{p}_{key}", f"p = {p}") for p in across)
    return Table(
        id=f"scaling-{key.removesuffix('_s')}",
        kind="scaling",
        title=title,
        columns=(Column("n", "N", align="left"), *heads),
        rows=rows,
        notes=notebook.notes(),
    )


def _time(_: Ladder, case: MeasuredCase, notebook: Notebook, context: Context) -> Cell:
    found = context.library.find(case, "time_s", ("scaling", "walltime_grid"))
    return notebook.time(case, found)


def _speedup(one: Ladder, case: MeasuredCase, notebook: Notebook, context: Context) -> Cell:
    return _ratio(one, case, 1.0, notebook, context.seed, context.library.find(case, *_S))


def _efficiency(one: Ladder, case: MeasuredCase, notebook: Notebook, context: Context) -> Cell:
    factor = one.base.ranks / case.ranks if one.base else 1.0
    return _ratio(one, case, factor, notebook, context.seed, context.library.find(case, *_E))


_S: tuple[str, tuple[str]] = ("speedup", ("scaling",))
_E: tuple[str, tuple[str]] = ("efficiency", ("scaling",))


def _ratio(
    one: Ladder,
    case: MeasuredCase,
    factor: float,
    notebook: Notebook,
    seed: int,
    published: Reference | None,
) -> Cell:
    ratio = speedup(one.base, case, seed) if one.base else None
    if ratio is None:
        return notebook.absent(case)
    cell = notebook.estimate(ratio.times(factor), case)
    return notebook.beside(cell, published)


def _note_base(one: Ladder, notebook: Notebook) -> None:
    """Every speedup names its base case and that one's absolute time."""
    if one.base and one.base.time:
        ranks = count(one.base.ranks, "process", "processes")
        time = seconds(one.base.time.value)
        notebook.note(f"N = {one.n}: speedup refers to {ranks}, {time}.")


def _note_exceptions(ladders: list[Ladder], notebook: Notebook) -> None:
    """Which p could not be run at the table's own number of processes per node."""
    others = {
        p: case.number("ppn")
        for one in ladders
        for p, case in one.steps.items()
        if one.ppn is not None and case.number("ppn") != one.ppn
    }
    for p, own in sorted(others.items()):
        notebook.note(f"p = {p}: {own} per node.")
