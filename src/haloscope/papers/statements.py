# SPDX-License-Identifier: BSD-3-Clause
"""What a paper says of its figures, sentence by sentence: papers/<id>/statements.csv.

Each statement has an expectation of one of a few shapes, which a program tests: on the paper's own
cells (`paper check`), and on simulated ones (`validate`).

    faster       the cells of `one` are faster than those of `other`, by `range` times (above 1)
    alike        `one` takes as long as `other`: their ratio is in `range` (0.9..1.1)
    ratio        the time of `other` over that of `one` is in `range`
    difference   the time of `other` less that of `one` is in `range`
    efficiency   the speedup of `one` over `other`, by how many times as many ranks, is in `range`
    bandwidth    further bytes over further time, from `one` to `other`, is in `range`
    value        the cells of `one` are in `range`
    steps        along a column, each value over the next is in `range`
    best         of all values of a column those of `one` are the fastest
    turns        along a column `one` is faster up to `at`, and `other` beyond
    bound        a phase, `one`, takes longest: no published cell tells, a simulation may
    scattered    the largest over the smallest of the cells of `one` is in `range`

Cells are paired by all keys of their tables that neither condition, nor `free`, names. A rate is
read as a time: faster is more.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import inf
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from haloscope.errors import Problem, UserError, dotted, nearest
from haloscope.papers.tables import PaperTable, PublishedColumn, PublishedValue, exact_times, load
from haloscope.paths import share

MEASURES = (
    "time_s",
    "latency_s",
    "mlups",
    "time_low_s",
    "variability_percent",
    "difference_percent",
)
"""MEASURES are the columns that expectations are about where they name none, the first there is."""
RATES = ("mlups", "speedup", "efficiency")
"""RATES are the columns of which more is faster."""
ALIKE = (0.9, 1.1)
"""ALIKE is the ratio of what takes as long, where a statement gives no other."""

_CONDITION = re.compile(r"(\w+)\s*(>=|<=|!=|=|<|>)\s*(.+)")


@dataclass(frozen=True)
class Condition:
    """What a cell's column has to be: one of some values, or on one side of a number."""

    column: str
    sign: str
    values: tuple[str, ...]

    def holds(self, cell: Mapping[str, object]) -> bool:
        """Whether a cell is so; not where it has no such column."""
        value = cell.get(self.column)
        if value is None:
            return False
        if self.sign in ("=", "!="):
            return (str(value) in self.values) == (self.sign == "=")
        bound = float(self.values[0])
        own = float(cast(float, value))
        return {"<": own < bound, ">": own > bound, "<=": own <= bound, ">=": own >= bound}[
            self.sign
        ]


def _conditions(text: object) -> object:
    """`nodes=2|4; n>=4096` as conditions."""
    if not isinstance(text, str):
        return text
    found = []
    for part in filter(None, (one.strip() for one in text.split(";"))):
        match = _CONDITION.fullmatch(part)
        if match is None:
            raise ValueError(f"'{part}' is not a condition such as nodes=2|4 or n>=4096")
        column, sign, values = match.groups()
        split = tuple(one.strip() for one in values.split("|"))
        if sign not in ("=", "!="):
            float(values)
        found.append(Condition(column, sign, split))
    return tuple(found)


def _range(text: object) -> object:
    """`1.9..2.1`, `1.5..` or `..0.5` as two ends."""
    if not isinstance(text, str):
        return text
    if not text.strip():
        return None
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError(f"'{text}' is not a range such as 1.9..2.1, 1.5.. or ..0.5")
    return (float(low) if low else -inf, float(high) if high else inf)


def _words(text: object) -> object:
    return tuple(text.split()) if isinstance(text, str) else text


NO_TABLE = ""
"""NO_TABLE is the table of cells that no published table has."""

Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]
Range = Annotated[tuple[float, float] | None, BeforeValidator(_range)]


_OF_PAIRS = ("faster", "alike", "ratio", "difference", "efficiency", "bandwidth", "turns")
_WITHIN = ("ratio", "difference", "efficiency", "bandwidth", "value", "steps")
"""_OF_PAIRS are the shapes that compare cells of `one` with those of `other`, and _WITHIN those
that need a range."""


class Statement(BaseModel):
    """A row of statements.csv.

    place: section, table or figure. says: what, in our own words. tables: those with its cells;
    none where its cells were not published. where: which of these count. column: what is compared;
    the first of MEASURES that a table has if not given. needs: the share of cells that must be so:
    1 for "all" and "any", less for "nearly all" and "most". free: settings that pairs need not
    share, as they follow from others. each: the side whose cells count once, for all their pairs
    together. sets: the number of a cluster file that was chosen by the statement, as FILE PLACE: no
    simulation can then bear it out.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True
    )

    id: str = Field(min_length=1)
    place: str = Field(min_length=1)
    says: str = Field(min_length=1)
    shape: Literal[
        "faster",
        "alike",
        "ratio",
        "difference",
        "efficiency",
        "bandwidth",
        "value",
        "steps",
        "best",
        "turns",
        "scattered",
        "bound",
    ]
    tables: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    where: Conditions = ()
    one: Conditions = ()
    other: Conditions = ()
    along: str = ""
    free: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    each: Literal["", "one", "other"] = ""
    at: Annotated[float | None, BeforeValidator(lambda text: text or None)] = None
    range: Range = None
    column: str = ""
    needs: Annotated[float, BeforeValidator(lambda text: text or 1.0)] = 1.0
    sets: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Statement:
        """What each shape needs."""
        needed = {
            "along": self.shape in ("steps", "best", "turns"),
            "at": self.shape == "turns",
            "one": self.shape not in ("steps", "scattered"),
            "other": self.shape in _OF_PAIRS,
            "range": self.shape in _WITHIN,
        }
        for name, asked in needed.items():
            if asked and not getattr(self, name) and getattr(self, name) != 0:
                raise ValueError(f"{self.shape} needs {name}")
        return self


@dataclass(frozen=True)
class KnownCell:
    """A cell's settings, with its table, and what it may be: a number, or what prints so.

    telling: the settings that tell it from others of its table.
    fitted: whether it set a number of a cluster file that predicts it.
    """

    keys: Mapping[str, object]
    telling: tuple[str, ...]
    low: float
    high: float
    fitted: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from all other cells of a paper."""
        return (self.keys["table"], *(self.keys[key] for key in self.telling))


CellsCompared = frozenset[tuple[object, ...]]
"""The cells of a comparison."""


@dataclass(frozen=True)
class Assessment:
    """How an expectation fares: comparisons that hold, that fail, that digits leave open.

    examples: the comparisons that fail, in words, the first few. fitted: whether all cells of all
    comparisons set numbers of the cluster file. decided: the cells of each comparison that holds or
    fails.
    """

    holds: int
    fails: int
    open: int
    needs: float
    examples: tuple[str, ...] = ()
    fitted: bool = False
    decided: frozenset[CellsCompared] = frozenset()

    @property
    def verdict(self) -> str:
        """yes, no or mixed; "no cells" where there is nothing to compare."""
        told = self.holds + self.fails
        if not told:
            return "no cells"
        share = self.holds / told
        return "yes" if share >= self.needs else "no" if share < min(0.5, self.needs) else "mixed"


@dataclass(frozen=True)
class Held:
    """One comparison: whether it holds, None where digits leave that open, and of which cells."""

    held: bool | None
    what: str
    fitted: bool
    cells: CellsCompared


@cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Those of a paper, () where nobody wrote them down. UserError with all that is wrong."""
    path = share("papers") / paper / "statements.csv"
    if not path.exists():
        return ()
    found: list[Statement] = []
    problems: list[Problem] = []
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, strict=True), start=2):
            try:
                one = Statement.model_validate({k: v for k, v in row.items() if v != ""})
            except ValidationError as error:
                for detail in error.errors():
                    where = f"{path}:{number}: {dotted(detail['loc'])}"
                    problems.append(Problem(where, str(detail["msg"]), "see papers/statements.py"))
                continue
            problems += [*_unknown(f"{path}:{number}", paper, one)]
            if one.id in {other.id for other in found}:
                problems.append(
                    Problem(f"{path}:{number}", f"duplicate id '{one.id}'", "rename it")
                )
            found.append(one)
    if problems:
        raise UserError(problems)
    return tuple(found)


def _unknown(where: str, paper: str, one: Statement) -> Iterator[Problem]:
    """Tables and columns that there are not."""
    tables = load(paper).tables
    known: set[str] = {"table", "cluster"}
    for name in one.tables:
        if name not in tables:
            yield Problem(where, f"unknown table '{name}'", nearest(name, list(tables)))
        else:
            table = tables[name]
            known |= {*table.columns, *table.facts}
            known |= {"ranks"} if table.speedups else set()
    if not one.tables or any(name not in tables for name in one.tables):
        return
    named = [condition.column for condition in (*one.where, *one.one, *one.other)]
    for name in filter(None, [*named, *one.free, one.along, one.column]):
        if name not in known:
            yield Problem(where, f"no table has a column '{name}'", nearest(name, sorted(known)))


def published_cells(paper: str, one: Statement) -> list[KnownCell]:
    """The cells of a statement's tables, with what their printed digits leave open."""
    return [cell for name in one.tables for cell in _cells(load(paper).table(name), one.column)]


def measure(table: PaperTable, column: str) -> str | None:
    """The column of a table that a statement is about; None for a table without one."""
    if column:
        return column if column in table.columns else None
    return next((name for name in MEASURES if name in table.columns), None)


def _cells(table: PaperTable, column: str) -> Iterator[KnownCell]:
    name = measure(table, column)
    exact = exact_times(table) if name == "time_s" else {}
    rows: list[tuple[Mapping[str, PublishedValue], tuple[float, float]]] = []
    for row in table.rows:
        key = tuple(row[one] for one in table.keys)
        if more := exact.pop(key, None):
            rows.append((more.row, (more.time_s - more.step_s / 2, more.time_s + more.step_s / 2)))
        elif name is not None:
            where = {one: value for one in table.keys if (value := row[one]) is not None}
            cell = table.cell(name, **where)
            if cell is not None and cell.low is not None and cell.high is not None:
                rows.append((row, (cell.low, cell.high)))
    for more in exact.values():
        rows.append((more.row, (more.time_s - more.step_s / 2, more.time_s + more.step_s / 2)))
    for row, (low, high) in rows:
        yield KnownCell(keys_of(table, row), table.keys, low, high)


def keys_of(table: PaperTable, row: Mapping[str, PublishedValue]) -> dict[str, object]:
    """What statements tell cells apart by: keys, other settings, facts, and the table."""
    columns = table.columns
    settings = {
        key: value
        for key, value in row.items()
        if key in table.keys or key not in columns or _setting(columns[key])
    }
    return {**table.facts, **settings, "table": table.id}


def _setting(column: PublishedColumn) -> bool:
    """Whether a column is a setting, not a figure that was measured."""
    return column.type in ("integer", "text") and not column.unit


def assessed(
    one: Statement, cells: Sequence[KnownCell], among: Collection[CellsCompared] | None = None
) -> Assessment:
    """An expectation on cells: published ones, or simulated ones.

    Comparisons of cells that all set numbers count only where there are no others. among: the
    comparisons that count at all; all of them if not given.
    """
    own = [cell for cell in cells if all(c.holds(cell.keys) for c in one.where)]
    rate = one.column in RATES or (not one.column and _is_rate(own))
    outcomes = list(_TESTS[one.shape](one, own, rate))
    outcomes = [each for each in outcomes if not each.fitted] or outcomes
    if among is not None:
        outcomes = [each for each in outcomes if each.cells in among]
    told = [each for each in outcomes if each.held is not None]
    fails = [each.what for each in told if not each.held]
    return Assessment(
        holds=sum(bool(each.held) for each in told),
        fails=len(fails),
        open=len(outcomes) - len(told),
        needs=one.needs,
        examples=tuple(fails[:3]),
        fitted=bool(outcomes) and all(each.fitted for each in outcomes),
        decided=frozenset(each.cells for each in told),
    )


def _is_rate(cells: Sequence[KnownCell]) -> bool:
    return bool(cells) and str(cells[0].keys.get("kernel", "")) == "jacobi"


def _matching(cells: Iterable[KnownCell], conditions: Sequence[Condition]) -> list[KnownCell]:
    return [cell for cell in cells if all(one.holds(cell.keys) for one in conditions)]


def _pairs(one: Statement, cells: Sequence[KnownCell]) -> Iterator[tuple[KnownCell, KnownCell]]:
    """Cells of `one` and of `other` that agree in all keys that nothing names."""
    named = {*one.free, *(condition.column for condition in (*one.one, *one.other))}
    second = _matching(cells, one.other)
    for a in _matching(cells, one.one):
        for b in second:
            shared = set(a.telling) & set(b.telling) - named
            if a is not b and all(a.keys[key] == b.keys[key] for key in shared):
                yield a, b


def _judged(
    what: str, low: float, high: float, within: tuple[float, float], *cells: KnownCell
) -> Held:
    """A quantity that lies between two numbers, against a range: inside, outside, or open."""
    least, most = within
    inside = least <= low and high <= most
    outside = high < least or low > most
    fitted = all(cell.fitted for cell in cells)
    held = True if inside else False if outside else None
    text = f"{what}: {low:.4g}" if low == high else f"{what}: {low:.4g} to {high:.4g}"
    return Held(held, text, fitted, _compared(cells))


def _compared(cells: Iterable[KnownCell]) -> CellsCompared:
    return frozenset(cell.identity for cell in cells)


def _ratio(slow: KnownCell, fast: KnownCell, rate: bool) -> tuple[float, float]:
    """How many times as long the first takes as the second: least and most."""
    if rate:
        slow, fast = fast, slow
    low = slow.low / fast.high if fast.high else inf
    high = slow.high / fast.low if fast.low > 0 else inf
    return low, high


def _ratios(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    standard = {"faster": (1.0, inf), "alike": ALIKE}
    within = one.range or standard[one.shape]
    groups: dict[int, list[Held]] = {}
    for number, (a, b) in enumerate(_pairs(one, cells)):
        key = {"": number, "one": id(a), "other": id(b)}[one.each]
        told = _judged(
            _named(one, b if one.each == "other" else a), *_ratio(b, a, rate), within, a, b
        )
        groups.setdefault(key, []).append(told)
    yield from map(_together, groups.values())


def _together(outcomes: Sequence[Held]) -> Held:
    """All of some comparisons as one: it fails where one fails."""
    failed = [each for each in outcomes if each.held is False]
    held = False if failed else None if any(each.held is None for each in outcomes) else True
    fitted = all(each.fitted for each in outcomes)
    cells = frozenset[tuple[object, ...]]().union(*(each.cells for each in outcomes))
    return Held(held, (failed or outcomes)[0].what, fitted, cells)


def _differences(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.range is not None
    for a, b in _pairs(one, cells):
        yield _judged(_named(one, a), b.low - a.high, b.high - a.low, one.range, a, b)


def _efficiencies(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.range is not None
    for a, b in _pairs(one, cells):
        low, high = _ratio(b, a, rate)
        more = _ranks(a) / _ranks(b)
        yield _judged(_named(one, a), low / more, high / more, one.range, a, b)


def _ranks(cell: KnownCell) -> float:
    """Processes in all."""
    if "ranks" in cell.keys:
        return float(cast(float, cell.keys["ranks"]))
    nodes, ppn = (float(cast(float, cell.keys[key])) for key in ("nodes", "ppn"))
    return nodes * ppn


def _bandwidths(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.range is not None
    for a, b in _pairs(one, cells):
        size = float(cast(float, b.keys["size_bytes"])) - float(cast(float, a.keys["size_bytes"]))
        least = b.low - a.high
        high = size / least if least > 0 else inf
        yield _judged(_named(one, b), size / (b.high - a.low), high, one.range, a, b)


def _values(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.range is not None
    for cell in _matching(cells, one.one):
        yield _judged(_named(one, cell), cell.low, cell.high, one.range, cell)


def _along(one: Statement, cells: Sequence[KnownCell]) -> Iterator[list[KnownCell]]:
    """Cells whose keys agree but in one column, and in those that go with it, in its order."""
    free, groups = {one.along, *one.free}, dict[tuple[object, ...], list[KnownCell]]()
    for cell in cells:
        same = (cell.keys["table"], *(cell.keys[key] for key in cell.telling if key not in free))
        groups.setdefault(same, []).append(cell)
    for own in groups.values():
        yield sorted(own, key=lambda cell: _sortable(cell.keys.get(one.along)))


def _sortable(value: object) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def _steps(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.range is not None
    for own in _along(one, cells):
        for a, b in pairwise(own):
            yield _judged(_named(one, b), *_ratio(a, b, rate), one.range, a, b)


def _best(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    """The chosen cell is beaten by no other: one comparison a group."""
    for own in _along(one, cells):
        chosen = _matching(own, one.one)
        others = [cell for cell in own if cell not in chosen]
        if not chosen or not others:
            continue
        best = min(chosen, key=lambda cell: -cell.low if rate else cell.high)
        parts = [_judged("", *_ratio(cell, best, rate), (1.0, inf), best, cell) for cell in others]
        held = False if any(p.held is False for p in parts) else None
        if held is None and all(p.held for p in parts):
            held = True
        fitted = all(part.fitted for part in parts)
        yield Held(held, _named(one, best), fitted, _compared(own))


def _turns(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    assert one.at is not None
    for a, b in _pairs(one, cells):
        low, high = _ratio(b, a, rate)
        before = float(cast(float, a.keys[one.along])) <= one.at
        yield _judged(_named(one, a), low, high, (1.0, inf) if before else (0.0, 1.0), a, b)


def _scattered(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    own = _matching(cells, one.one)
    if len(own) > 1:
        top, bottom = max(own, key=lambda c: c.high), min(own, key=lambda c: c.low)
        yield _judged("all", *_ratio(top, bottom, False), one.range or (1.0, 1.1), *own)


def _bound(one: Statement, cells: Sequence[KnownCell], rate: bool) -> Iterator[Held]:
    return iter(())


_TESTS: Mapping[str, Callable[[Statement, Sequence[KnownCell], bool], Iterator[Held]]] = {
    **dict.fromkeys(("faster", "alike", "ratio"), _ratios),
    "difference": _differences,
    "efficiency": _efficiencies,
    "bandwidth": _bandwidths,
    "value": _values,
    "steps": _steps,
    "best": _best,
    "turns": _turns,
    "scattered": _scattered,
    "bound": _bound,
}


def _named(one: Statement, cell: KnownCell) -> str:
    """A cell by what tells it from others of the statement."""
    shown: dict[str, Any] = {
        key: value
        for key, value in cell.keys.items()
        if key in ("table", "n", "nodes", "ppn", "threads", "ranks", "size_bytes", "placement")
    }
    return ", ".join(f"{key} {value}" for key, value in shown.items())
