# SPDX-License-Identifier: BSD-3-Clause
"""Figures as data, made from cases alone: no files, no processes. `report.draw` draws them.

build("scaling", cases, context)      every figure of a kind that the cases allow

A kind of `study.kinds` is the module of its name, and that module's `build(cases, context)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.analysis.context import Context
from haloscope.report.figures.model import Figure
from haloscope.report.words import none_suits
from haloscope.study import kinds

__all__ = ["Figure", "build", "builder", "why_none"]

FigureBuilder = Callable[[Sequence[MeasuredCase], Context], list[Figure]]


def builder(kind: str) -> FigureBuilder:
    """What makes the figures of a kind. KeyError for a kind that is none."""
    if kind not in kinds.figures():
        raise KeyError(kind)
    build_kind: FigureBuilder = import_module(f"{__name__}.{kind}").build
    return build_kind


def why_none(kind: str, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Why there is no figure of a kind; more than that no case suits it where its module says."""
    own = getattr(import_module(f"{__name__}.{kind}"), "why_none", None)
    asked = select(cases, context.options.where)
    told: str | None = own(asked, context) if own else None
    return told or none_suits(asked)


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """The figures of one kind; [] where no case suits it. KeyError for a kind that is none."""
    return builder(kind)(select(cases, context.options.where), context)
