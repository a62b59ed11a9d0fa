"""Errors of predictions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.published import Library
from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable
from haloscope.predict.paper_validation import Cell, Errors, _Todo, _todo, tables_of
from haloscope.run.places import place
from haloscope.run.simulated import SimulatedCluster
from haloscope.run.workbench import Halobench, Workbench
from haloscope.study import file as study_file
from haloscope.study.plan import expand
from haloscope.study.settings import settings_of

BINARY = Path(__file__).resolve().parents[2] / "build" / "release" / "halobench"


def cell(published: float, predicted: float | None, *, telling: bool = True) -> Cell:
    return Cell(
        *("4.1", "wall time", {"n": 1024}, published),
        fitted=False,
        telling=telling,
        predicted=predicted,
    )


def todo(table: PaperTable) -> list[_Todo]:
    there = place(str(table.facts["cluster_file"]))
    assert isinstance(there, SimulatedCluster)
    return list(_todo(table, there))


def test_short_times_have_no_error() -> None:
    assert cell(4, 8, telling=False).error is None
    assert cell(5, 4).error == pytest.approx(-0.2)
    assert cell(5, None).error is None


def test_short_times_are_printed_alike_or_not() -> None:
    """In whole seconds."""
    told = [replace(cell(4, time, telling=False), step=1.0).as_printed for time in (3.4, 3.6, 4.5)]
    assert told == [False, True, True]
    assert cell(4, None).as_printed is None
    steps = {one.cell.step for one in todo(tables_of("hpcf-2018-10", ["4.1"])[0])}
    assert steps == {1.0}


def test_the_median_and_the_worst_of_those_that_have_one() -> None:
    errors = Errors.of([cell(10, 12), cell(10, 9), cell(10, 10.5), cell(1, 5, telling=False)])
    assert errors.cells == 3
    assert errors.median == pytest.approx(0.1)
    assert errors.worst == pytest.approx(0.2)
    assert Errors.of([]) == Errors(0, None, None)


def test_wall_times_of_one_node_may_have_set_parameters() -> None:
    """And those of less than 5 s say too little."""
    cells = [one.cell for one in todo(tables_of("hpcf-2018-10", ["4.1"])[0])]
    assert {cell.fitted for cell in cells if cell.keys["nodes"] == 1} == {True}
    assert {cell.fitted for cell in cells if cell.keys["nodes"] != 1} == {False}
    assert {cell.telling for cell in cells} == {True, False}
    assert all(cell.telling == (cell.published >= 5) for cell in cells)


def test_jacobi_is_predicted_from_one_rank_one_socket_or_one_whole_node() -> None:
    fitted = {
        (table.id, one.cell.keys["ranks"]): one.cell.fitted
        for table in tables_of("orfeo-mpi-report", [])
        for one in todo(table)
    }
    assert [key for key, may in fitted.items() if may] == [
        *(("IV", 1), ("V", 1)),
        *((table, ranks) for table in ("VI", "VII") for ranks in (4, 8, 12)),
        *(("XI", 24), ("XI", 48)),
    ]
    assert {(table, ranks) for table, ranks in fitted if table == "X"} == {
        ("X", ranks) for ranks in (12, 24, 32, 40, 48)
    }


def test_both_readings_of_the_size_and_where_ranks_are() -> None:
    (table,) = tables_of("orfeo-mpi-report", ["X"])
    cubes, whole = (one for one in todo(table) if one.cell.keys["grid"] == "4x3x2")
    assert cubes.given["L"] == 1200
    assert whole.given["size"] == "1200x1200x1200"
    assert (cubes.layout.nodes, cubes.layout.ppn, cubes.layout.bind) == (2, 12, "spread")
    assert cubes.cell.published == whole.cell.published == 2633.94
    (socket,) = tables_of("orfeo-mpi-report", ["VII"])
    assert {one.layout.bind for one in todo(socket)} == {"close"}


def test_tables_that_name_a_cluster_file() -> None:
    assert [table.id for table in tables_of("hpcf-2010-6", [])] == ["4.1", "5.1"]
    assert [table.id for table in tables_of("hpcf-2018-10", ["7.1"])] == ["7.1"]
    with pytest.raises(UserError, match=r"there is no table '9\.9'"):
        tables_of("hpcf-2018-10", ["9.9"])
    with pytest.raises(UserError, match=r"no cluster file describes the machine of 3\.1"):
        tables_of("hpcf-2018-10", ["3.1"])


def test_the_ready_study_stands_beside_the_cells_that_validate_predicts() -> None:
    """Table 4.1, cell by cell: the same cases, by their settings, in run --on and in validate."""
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not there: ./check builds it")
    (path,) = (path for path in study_file.ready() if path.stem == "poisson-scaling")
    there = place("stampede2")
    assert isinstance(there, SimulatedCluster)
    site = there.site(Workbench({}, (), ()), oversubscribe=False)
    program = Halobench(BINARY)
    plan = expand(study_file.load(path), site, program)
    cells = {one.case(program).id: one.cell for one in todo(tables_of("hpcf-2018-10", ["4.1"])[0])}
    library = Library([papers.load("hpcf-2018-10")], only="4.1")
    beside = {}
    for case in plan.cases:
        settings = {**settings_of(case.as_dict()), "clock": "simulated"}
        measured = MeasuredCase(case.id, case.kernel, settings, (), ())
        if found := library.find(measured, "time_s", ("walltime_grid",)):
            assert case.params["variant"] == "textbook"
            beside[case.id] = found.value
    assert beside == {
        id: one.published for id, one in cells.items() if float(one.keys["n"]) <= 2048
    }
    assert len(beside) == 60


def on(nodes: int, ppn: int, threads: int, predicted: float | None) -> Cell:
    keys = {"n": 16384, "nodes": nodes, "ppn": ppn, "threads": threads}
    found = replace(cell(52181.0, predicted), keys=keys, fitted=nodes == 1)
    return found if predicted else replace(found, problem="no room")


def test_the_command_shows_grids_that_fit_and_the_errors_of_both_kinds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cells = [on(2**k, 32, 2, 52240.0) for k in range(6)]
    monkeypatch.setattr("haloscope.predict.paper_validation.validate", lambda _table, _tell: cells)
    command = ["validate", "hpcf-2018-10", "--table", "4.1"]

    assert main(command) == 0
    shown = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= 80
    rows = [re.findall(r"[^\s│]+", line) for line in shown if line.startswith("│")]
    assert rows == [
        ["32", "processes", *["52,240"] * 6],
        ["x", "2", "threads", *["52,181"] * 6],
        ["1.00"] * 6,
    ]
    assert "may have set parameters: 1 cell, median error 0.1%, worst 0.1%" in shown
    assert "only predicted: 5 cells, median error 0.1%, worst 0.1%" in shown

    short = replace(on(2, 1, 1, 3.4), published=3.0, telling=False, step=1.0)
    cells += [short, replace(short, predicted=3.6), on(1, 1, 1, None)]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "no room" in out
    assert "2 cells below 5 s, which have no error: 1 would be printed as published" in out
