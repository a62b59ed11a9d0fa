# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
from noted import shows
from recorded import MACHINE, Raw, bad, cases, spmv

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.report.draw.figures.panels import draw_all
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Lines
from haloscope.topics.common.table import Table

SUMMIT = "anl-petsc-summit-part2"


def build(kind: str, raws: list[Raw]) -> list[Table]:
    paper = next(paper for paper in papers.list_papers() if paper.id == SUMMIT)
    return tables.build(kind, cases(raws), Context(machine=MACHINE, paper=paper))


def cell(table: Table, row: int, key: str) -> Any:
    return table.rows[row][[column.key for column in table.columns].index(key)]


def test_rates_count_two_operations_per_nonzero_and_the_declared_bytes() -> None:
    raws = [spmv(ranks=ranks, launch=launch) for ranks in (1, 2, 4) for launch in range(7)]

    (table,) = build("spmv", raws)

    assert [row[0].text for row in table.rows] == ["1 process", "2 processes", "4 processes"]
    for row, ranks in enumerate((1, 2, 4)):
        time = cell(table, row, "time_s")
        assert time.value == pytest.approx(27e-3 / ranks + (1e-3 if ranks > 1 else 0), rel=0.02)
        assert cell(table, row, "flops_per_s").value == pytest.approx(54e6 / time.value)
        assert cell(table, row, "bytes_per_s").value == pytest.approx(351e6 / time.value)
        assert cell(table, row, "nonzeros").text == "27,000,000"
    assert [cell(table, row, "ghosts_of_a_rank").text for row in range(3)] == [
        "0", "10,000", "20,000",
    ]  # fmt: skip
    assert [cell(table, row, "uneven").text for row in range(3)] == ["100 %", "110 %", "110 %"]
    low, high = cell(table, 0, "flops_per_s").low, cell(table, 0, "flops_per_s").high
    assert low < cell(table, 0, "flops_per_s").value < high


@pytest.mark.parametrize(("clock", "threads", "said"), [("simulated", 4, True), ("real", 4, False)])
def test_a_simulated_thread_does_not_wait(clock: str, threads: int, said: bool) -> None:
    raw = spmv(overlap="split_temporary")
    raw["layout"]["threads"] = threads

    (table,) = build("spmv", [{**raw, "clock": clock}])

    assert any("in the background" in note for note in table.notes) == said


def test_a_case_without_a_good_launch_has_a_row_with_the_outcome() -> None:
    wrong = bad(spmv(ranks=2), "failed", "3 values of y")

    (table,) = build("spmv", [spmv(), {**wrong, "times_s": [], "result": {}}])

    assert cell(table, 1, "time_s").text == "failed"
    assert [one.text for one in table.rows[1][2:]] == ["–"] * 5
    assert "3 values of y" in " ".join(table.notes)


def test_other_kernels_have_no_spmv_table() -> None:
    assert build("spmv", [{**spmv(), "kernel": "stream"}]) == []


def test_schemes_are_compared_with_none_and_with_published_values() -> None:
    ways = {"none": 20e-3, "split": 16e-3, "split_temporary": 20e-3}
    raws = [
        spmv(ranks=2, launch=launch, overlap=way, time_s=time)
        for way, time in ways.items()
        for launch in range(7)
    ]

    (table,) = build("overlap", raws)

    assert [row[1].text for row in table.rows] == list(ways)
    assert [cell(table, row, "verdict").text for row in (1, 2)] == ["faster", "no difference shown"]
    assert cell(table, 1, "times_as_fast").value == pytest.approx(1.25, rel=0.02)
    (note,) = [note for note in table.notes if note.startswith("Published")]
    for words in (
        f"Summit ({SUMMIT}, section 5.4)",
        "split (stream_synchronised) 919 µs",
        "early_launch (event) 902 µs (1.02x)",
        "HV15R, 6 processes, gpu memory",
        "figure 12",
    ):
        assert words in note


def test_schemes_without_any_measurement_are_named_as_missing() -> None:
    """As of a GPU that is not here; where one was, the others stand beside it."""
    good = [spmv(ranks=2, overlap=way) for way in ("none", "split")]
    absent = [bad(raw, "absent", "no GPU") for raw in good]

    assert build("overlap", absent) == []
    why = tables.why_none("overlap", cases(absent), Context())
    assert shows(why, "2 cases", "no successful launch")
    (table,) = build("overlap", [good[0], absent[1]])
    assert cell(table, 1, "verdict").text == "not measured"


def test_a_bandwidth_is_named_if_matrices_differ_only_in_it() -> None:
    random = [spmv(matrix="random", bandwidth=bandwidth) for bandwidth in (500, 50000)]

    names = [
        [row[0].text for row in build("spmv", raws)[0].rows]
        for raws in ([spmv(bandwidth=0), random[1]], random)
    ]

    assert names == [["3d27", "random"], ["bandwidth = 500", "bandwidth = 50000"]]


def test_one_process_has_no_overlap() -> None:
    assert build("overlap", [spmv(overlap=way) for way in ("none", "split")]) == []


def test_a_figure_per_matrix_uses_the_fastest_layout_per_core_count() -> None:
    raws = [
        spmv(ranks=1),
        spmv(ranks=2, time_s=15e-3),
        spmv(ranks=1, threads=2, time_s=20e-3),
        spmv(ranks=4, overlap="none"),
        spmv(ranks=1, overlap="none", time_s=30e-3),
        spmv(matrix="2d5", ranks=1),
        spmv(matrix="2d5", ranks=2),
        spmv(matrix="random", ranks=1),
    ]

    drawn = figures.build("spmv", cases(raws), Context(machine=MACHINE))

    assert [figure.title for figure in drawn] == [
        "Sparse matrix times vector (2d5)", "Sparse matrix times vector (3d27)",
    ]  # fmt: skip
    (panel,) = drawn[1].panels
    assert isinstance(panel, Lines)
    ideal, *ways = panel.curves
    assert [way.label for way in ways] == ["overlap = none", "overlap = split"]
    first, second = ways[1].marks
    assert (first.x, second.x) == (1, 2)
    assert second.y == pytest.approx(54e-3 / 15e-3, rel=0.02)  # not the 20 ms of two threads
    assert [mark.x for mark in ideal.marks] == [1, 2, 4]
    assert [mark.y / mark.x for mark in ideal.marks] == pytest.approx([first.y] * 3)
    assert "1 to 4 cores" in drawn[1].alt and "on 4 cores" in drawn[1].alt
    svg = draw_all([drawn[1]])[drawn[1].id][0].svg
    for words in ("ideal", "overlap = none", "cores", "GFLOP/s"):
        assert words in svg
    assert "mathdefault" not in svg


def test_an_axis_shorter_than_a_decade_has_plain_numbers() -> None:
    raws = [spmv(ranks=ranks) for ranks in (1, 2)]

    (figure,) = figures.build("spmv", cases(raws), Context(machine=MACHINE))

    svg = draw_all([figure])[figure.id][0].svg
    assert "mathdefault" not in svg
    assert ">2<" in svg and ">3<" in svg
