# SPDX-License-Identifier: BSD-3-Clause
"""Tables as data, made from cases alone: no files, no processes. `report.draw` draws them.

build("scaling", cases, context)      every table of a kind that the cases allow

A kind of `study.kinds` is the module of its name, and that module's `build(cases, context)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.analysis.context import Context
from haloscope.report.tables.model import Cell, Column, Table
from haloscope.report.words import none_suits
from haloscope.study import kinds

__all__ = ["Cell", "Column", "Context", "Table", "build", "builder", "why_none"]

TableBuilder = Callable[[Sequence[MeasuredCase], Context], list[Table]]


def builder(kind: str) -> TableBuilder:
    """What makes the tables of a kind. KeyError for a kind that is none."""
    if kind not in kinds.tables():
        raise KeyError(kind)
    build_kind: TableBuilder = import_module(f"{__name__}.{kind}").build
    return build_kind


def why_none(kind: str, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Why there is no table of a kind; more than that no case suits it where its module says."""
    own = getattr(import_module(f"{__name__}.{kind}"), "why_none", None)
    asked = select(cases, context.options.where)
    told: str | None = own(asked, context) if own else None
    return told or none_suits(asked)


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The tables of one kind; [] where no case suits it. KeyError for a kind that is none.

    `cases` are all there are; those that the options' `where` leaves out are still there for
    tables that set one kernel against another.
    """
    chosen = select(cases, context.options.where)
    return builder(kind)(chosen, replace(context, all_cases=tuple(cases)))
