# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of statements on published or simulated cells: which comparisons hold, fail, or are
open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any, cast

from haloscope.grouped import grouped
from haloscope.layout import CORES, PROCESSES
from haloscope.papers.known_cells import KnownCell
from haloscope.papers.statements import Condition, Statement

RATES = ("mlups", "speedup", "efficiency")
"""RATES are the columns in which a larger value is faster."""
ALIKE = (0.9, 1.1)
"""ALIKE is the range of ratios of equal times, unless a statement gives another."""


CellsCompared = frozenset[tuple[object, ...]]
"""The cells of a comparison."""


@dataclass(frozen=True)
class Assessment:
    """Result of an expectation: comparisons that hold, that fail, and that the printed digits leave
    open.

    examples: the first comparisons that fail, in words. fitted: whether all cells of all
    comparisons set numbers of the cluster file. decided: cells of each comparison that holds or
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
        """Whether it holds: "yes", "no", or "mixed"; "no cells" if there is nothing to compare."""
        decided = self.holds + self.fails
        if not decided:
            return "no cells"
        share = self.holds / decided
        return "yes" if share >= self.needs else "no" if share < min(0.5, self.needs) else "mixed"


@dataclass(frozen=True)
class Held:
    """One comparison with its cells, and whether it holds; None if the digits leave it open."""

    held: bool | None
    what: str
    fitted: bool
    cells: CellsCompared


def assessed(
    one: Statement, cells: Sequence[KnownCell], among: Collection[CellsCompared] | None = None
) -> Assessment:
    """Evaluate an expectation on published or simulated cells.

    Comparisons whose cells all set numbers are counted only if there are no others. among: the
    comparisons to count; None: all.
    """
    own = [cell for cell in cells if all(c.holds(cell.keys) for c in one.where)]
    jacobi = bool(own) and own[0].keys.get("kernel") == "jacobi"
    rate = one.column in RATES or (not one.column and jacobi)
    outcomes = list(_TESTS[one.shape](one, own, rate))
    outcomes = [each for each in outcomes if not each.fitted] or outcomes
    if among is not None:
        outcomes = [each for each in outcomes if each.cells in among]
    decided = [each for each in outcomes if each.held is not None]
    fails = [each.what for each in decided if not each.held]
    return Assessment(
        holds=sum(bool(each.held) for each in decided),
        fails=len(fails),
        open=len(outcomes) - len(decided),
        needs=one.needs,
        examples=tuple(fails[:3]),
        fitted=bool(outcomes) and all(each.fitted for each in outcomes),
        decided=frozenset(each.cells for each in decided),
    )


def _matching(cells: Iterable[KnownCell], conditions: Sequence[Condition]) -> list[KnownCell]:
    return [cell for cell in cells if all(one.holds(cell.keys) for one in conditions)]


def _pairs(one: Statement, cells: Sequence[KnownCell]) -> Iterator[tuple[KnownCell, KnownCell]]:
    """Yield pairs of a cell of `one` and a cell of `other` with equal values of all
    unnamed keys.
    """
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
    """Compare a quantity between two bounds with a range: inside, outside, or open."""
    least, most = within
    inside = least <= low and high <= most
    outside = high < least or low > most
    fitted = all(cell.fitted for cell in cells)
    held = True if inside else False if outside else None
    text = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    return Held(held, f"{text} with {what}", fitted, _compared(cells))


def _compared(cells: Iterable[KnownCell]) -> CellsCompared:
    return frozenset(cell.identity for cell in cells)


def _ratio(slow: KnownCell, fast: KnownCell, rate: bool) -> tuple[float, float]:
    """Return the minimum and maximum ratio of two times."""
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
        judgement = _judged(
            _named(one, b if one.each == "other" else a), *_ratio(b, a, rate), within, a, b
        )
        groups.setdefault(key, []).append(judgement)
    yield from map(_together, groups.values())


def _together(outcomes: Sequence[Held]) -> Held:
    """Combine comparisons: all must hold."""
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
    """Return the total number of processes."""
    if "ranks" in cell.keys:
        return float(cast(float, cell.keys["ranks"]))
    nodes, ppn = (float(cast(float, cell.keys[key])) for key in PROCESSES)
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
    """Yield groups of cells that differ only in one column and in those that depend on it, in
    order.
    """
    free = {one.along, *one.free}

    def same(cell: KnownCell) -> tuple[object, ...]:
        return cell.keys["table"], *(cell.keys[key] for key in cell.telling if key not in free)

    for own in grouped(cells, same).values():
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
    """Yield one comparison per group: no other cell is better than the chosen one."""
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
        yield _judged("all cells", *_ratio(top, bottom, False), one.range or (1.0, 1.1), *own)


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
    "bound": lambda *_: iter(()),
}


def _named(one: Statement, cell: KnownCell) -> str:
    """Name a cell by what distinguishes it from others of the statement."""
    shown: dict[str, Any] = {
        key: value
        for key, value in cell.keys.items()
        if value != "" and key in ("table", "n", *CORES, "ranks", "size_bytes", "placement")
    }
    return ", ".join(f"{key} = {value}" for key, value in shown.items())
