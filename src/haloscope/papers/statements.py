# SPDX-License-Identifier: BSD-3-Clause
"""Statements of a paper about its figures, one per sentence: papers/<id>/statements.csv.

Each statement has an expectation with one of a few shapes. It is evaluated on the paper's own cells
(`paper check`) and on simulated ones (`validate`).

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
    bound        a phase, `one`, takes longest: no published cell shows this, a simulation may
    scattered    the largest over the smallest of the cells of `one` is in `range`

Cells are paired by all keys of their tables that are named neither by a condition nor by `free`.
For a rate, more is faster.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from haloscope.errors import Problem, dotted, nearest, reject
from haloscope.papers.tables import load
from haloscope.paths import share

_CONDITION = re.compile(r"(\w+)\s*(>=|<=|!=|=|<|>)\s*(.+)")


@dataclass(frozen=True)
class Condition:
    """The required value of a cell's column: one of several values, or on one side of a number."""

    column: str
    sign: str
    values: tuple[str, ...]

    def holds(self, cell: Mapping[str, object]) -> bool:
        """Return whether a cell satisfies the condition; False without such a column."""
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
    """Parse `nodes=2|4; n>=4096` into conditions."""
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
    """Parse `1.9..2.1`, `1.5..`, or `..0.5` into two ends."""
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
"""NO_TABLE is the table of cells that are in no published table."""

Conditions = Annotated[tuple[Condition, ...], BeforeValidator(_conditions)]
Range = Annotated[tuple[float, float] | None, BeforeValidator(_range)]


_OF_PAIRS = ("faster", "alike", "ratio", "difference", "efficiency", "bandwidth", "turns")
_WITHIN = ("ratio", "difference", "efficiency", "bandwidth", "value", "steps")
"""_OF_PAIRS are the shapes that compare cells of `one` with those of `other`; _WITHIN are those
that need a range.
"""


class Statement(BaseModel):
    """A row of statements.csv.

    place: section, table, or figure. says: the statement in our words. tables: those with its
    cells; empty if its cells were not published. where: condition for cells that count. column:
    compared column; by default the first of MEASURES in a table. needs: share of cells that must
    agree: 1 for "all" and "any", less for "nearly all" and "most". free: settings that pairs need
    not share, because they follow from others. each: the side whose cells count once, for all their
    pairs together. sets: number of a cluster file that was chosen by the statement, as FILE PLACE,
    so that no simulation can confirm it.
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
        """Validate what each shape needs."""
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


@cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Return the statements of a paper, () if none are recorded. Raise UserError with
    all problems.
    """
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
                    Problem(
                        f"{path}:{number}", f"two statements have the id '{one.id}'", "rename one"
                    )
                )
            found.append(one)
    reject(problems)
    return tuple(found)


def _unknown(where: str, paper: str, one: Statement) -> Iterator[Problem]:
    """Yield a problem for each unknown table and column."""
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
