# SPDX-License-Identifier: BSD-3-Clause
"""A kind of table or figure is a line of the list of kinds, and one of the lists of builders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from recorded import poisson, write_folder

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.errors import UserError
from haloscope.report.composing import compose
from haloscope.study import kinds
from haloscope.study.file import load
from haloscope.study.kinds import Kind
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark
from haloscope.topics.common.table import Column, Table, label


def test_every_kind_is_complete() -> None:
    assert tuple(tables.TABLES) == kinds.tables()
    assert tuple(figures.FIGURES) == kinds.figures()


@pytest.mark.parametrize("build", [tables.build, figures.build])
def test_an_invalid_kind_is_refused(build: Callable[..., object]) -> None:
    with pytest.raises(KeyError):
        build("weather", [], Context())


STUDY = """
title = "The weather"
[[runs]]
kernel = "poisson_cg"
"""


def table_of(cases: Sequence[MeasuredCase], _: Context) -> list[Table]:
    rows = tuple((label(case.kernel),) for case in cases)
    return [Table("weather", "weather", "Weather", (Column("kernel", "kernel"),), rows)]


def figure_of(_: Sequence[MeasuredCase], __: Context) -> list[Figure]:
    curve = Curve("", (Mark(1, 1), Mark(2, 1)))
    panel = Lines("weather", "", Axis("x"), Axis("y"), (curve,))
    return [Figure("weather", "Weather", (panel,), "")]


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch) -> None:
    """A further kind: its line, and what makes its table and its figure."""
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, Kind("weather", "ring", True, True)))
    monkeypatch.setattr(tables, "TABLES", {**tables.TABLES, "weather": table_of})
    monkeypatch.setattr(figures, "FIGURES", {**figures.FIGURES, "weather": figure_of})


ASKED = '[[tables]]\nkind = "weather"\n[[figures]]\nkind = "weather"'


@pytest.mark.usefixtures("weather")
@pytest.mark.parametrize("asked", ["", ASKED])
def test_a_new_kind_needs_only_two_lines(tmp_path: Path, asked: str) -> None:
    folder = write_folder(tmp_path / "results", [poisson(64)], f"{STUDY}\n{asked}")

    report = compose(folder)

    (section,) = (section for section in report.sections if section.id == "ring")
    assert [table.title for table in section.tables] == ["Weather"]
    assert [figure.title for figure in section.figures] == ["Weather"]


@pytest.mark.usefixtures("weather")
def test_an_error_lists_a_new_kind_among_the_valid_ones(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(f'{STUDY}\n[[tables]]\nkind = "wether"\n')  # codespell:ignore

    with pytest.raises(UserError, match="did you mean 'weather'"):
        load(study)
