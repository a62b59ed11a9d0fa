# SPDX-License-Identifier: BSD-3-Clause
"""A kind of table or figure is one line of the registry and one file of its name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recorded import poisson, write_folder

from haloscope.analysis.dossier import open_folder
from haloscope.errors import UserError
from haloscope.report import figures, tables
from haloscope.report.document import compose
from haloscope.study import kinds
from haloscope.study.file import load
from haloscope.study.kinds import Kind


def test_every_kind_has_its_modules() -> None:
    assert all(callable(tables.builder(kind)) for kind in kinds.tables())
    assert all(callable(figures.builder(kind)) for kind in kinds.figures())


@pytest.mark.parametrize("what", [tables, figures])
@pytest.mark.parametrize("kind", ["weather", "model"])
def test_what_is_no_kind_is_refused_though_a_module_has_its_name(what: object, kind: str) -> None:
    with pytest.raises(KeyError):
        what.builder(kind)  # type: ignore[attr-defined]


STUDY = """
title = "The weather"
[[runs]]
kernel = "poisson_cg"
"""
TABLE = """
from haloscope.report.tables.model import Column, Table, label

def build(cases, context):
    rows = tuple((label(case.kernel),) for case in cases)
    return [Table("weather", "weather", "Weather", (Column("kernel", "kernel"),), rows)]
"""
FIGURE = """
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark

def build(cases, context):
    curve = Curve("", (Mark(1, 1), Mark(2, 1)))
    panel = Lines("weather", "", Axis("x"), Axis("y"), (curve,))
    return [Figure("weather", "weather", "Weather", (panel,), "")]
"""


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A further kind: its one line, and a file for its table and one for its figure."""
    monkeypatch.setattr(kinds, "KINDS", (*kinds.KINDS, Kind("weather", "ring", True, True)))
    for package, text in ((tables, TABLE), (figures, FIGURE)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / "weather.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.setattr(package, "weather", None, raising=False)
        monkeypatch.setitem(sys.modules, f"{package.__name__}.weather", None)
        monkeypatch.delitem(sys.modules, f"{package.__name__}.weather")


ASKED = '[[tables]]\nkind = "weather"\n[[figures]]\nkind = "weather"'


@pytest.mark.usefixtures("weather")
@pytest.mark.parametrize("asked", ["", ASKED])
def test_a_line_and_a_file_are_all_that_a_new_kind_takes(tmp_path: Path, asked: str) -> None:
    folder = write_folder(tmp_path / "results", [poisson(64)], f"{STUDY}\n{asked}")

    report = compose(open_folder(folder))

    (section,) = (section for section in report.sections if section.id == "ring")
    assert [table.title for table in section.tables] == ["Weather"]
    assert [figure.title for figure in section.figures] == ["Weather"]


@pytest.mark.usefixtures("weather")
def test_a_new_kind_is_among_those_that_an_error_names(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(f'{STUDY}\n[[tables]]\nkind = "wether"\n')  # codespell:ignore

    with pytest.raises(UserError, match="did you mean 'weather'"):
        load(study)
