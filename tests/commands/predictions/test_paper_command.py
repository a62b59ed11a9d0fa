# SPDX-License-Identifier: BSD-3-Clause
"""`haloscope paper list`, `show` and `check`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from haloscope.cli import main
from haloscope.papers import tables as papers
from haloscope.papers.statements import statements
from haloscope.paths import share

STAMPEDE = "hpcf-2018-10"
TARA = "hpcf-2010-6"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["paper", *words]) == 0
    return capsys.readouterr().out


def test_list_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run(capsys, "list")
    for paper in papers.list_papers():
        assert paper.id in printed
        for table in paper.tables.values():
            assert f"  {table.id}  " in printed


def test_show_prints_the_published_layout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    lines = [line.split() for line in run(capsys, "show", STAMPEDE, "4.3").splitlines()]
    start = lines.index(["n", "=", "4096"])
    head = ["ppn", *(word for nodes in ("1", "2", "4", "8", "16") for word in ("nodes", nodes))]
    assert lines[start + 2] == head
    assert lines[start + 8] == ["16", "00:01:08", "00:00:33", "00:00:14", "00:00:05", "·"]
    omitted = next(line for line in lines if line[:1] == ["omitted:"])
    assert omitted[1:7] == ["n", "=", "1024,", "all", "30", "cells:"]


def test_show_fits_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        printed = run(capsys, "show", TARA, "5.2")
        assert "…" not in printed
        assert max(map(len, printed.splitlines())) <= width
        for row in papers.load(TARA).table("5.2").texts:
            assert row["time_text"] in printed and row["speedup"] in printed


@pytest.mark.parametrize("paper", papers.list_papers(), ids=lambda paper: paper.id)
def test_csv_is_the_file(capsys: pytest.CaptureFixture[str], paper: papers.Paper) -> None:
    for table_id in paper.tables:
        written = share("papers") / paper.id / f"table-{table_id}.csv"
        printed = run(capsys, "show", paper.id, table_id, "--csv")
        assert printed == written.read_text(encoding="utf-8")


def test_check_compares_every_statement_with_the_cells_of_the_paper(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "statements.csv"

    printed = run(capsys, "check", TARA, "--csv", str(file))

    assert "mixed (113 of 135)" in printed
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    (row,) = (row for row in rows if row[0] == "Non-blocking is faster for any number of processes")
    assert row[1:6] == ["section 5", "mixed (113 of 135)", "113", "22", "0"]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1 + len(statements(TARA))


def test_check_of_a_paper_without_statements_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haloscope.commands.predictions.paper.statements", lambda _: ())
    assert main(["paper", "check", TARA]) == 2
    assert "statements.csv" in capsys.readouterr().err
