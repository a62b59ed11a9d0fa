# SPDX-License-Identifier: BSD-3-Clause
"""Statements of papers on simulated cells: right, wrong, not decided, circular."""

from __future__ import annotations

from haloscope.analysis.validation.predictions import RELATIVE, WALL_TIME, PredictedCell
from haloscope.analysis.validation.statements import Scored, counts, scored
from haloscope.papers.tables import exact_times, load
from haloscope.report.predictions import statements as tables

TARA = "hpcf-2010-6"


def as_published(name: str, factor: float, sets: tuple[str, ...] = ()) -> list[PredictedCell]:
    """Cells of a table of tara that a simulation has so many times as long, from 128 ranks on."""
    table = load(TARA).table(name)
    return [
        PredictedCell(
            *(name, WALL_TIME, {}, one.time_s, sets),
            predicted=one.time_s * (factor if int(str(one.row["ranks"])) >= 128 else 1.0),
            row=one.row,
        )
        for one in exact_times(table).values()
    ]


def by_id(found: list[Scored]) -> dict[str, Scored]:
    return {one.statement.id: one for one in found}


def test_a_simulation_equal_to_the_paper_confirms_its_statements() -> None:
    found = by_id(scored(TARA, as_published("4.1", 1.0) + as_published("5.1", 1.0)))

    assert found["factor-five-512"].by_sentence == "right"
    assert found["factor-five-512"].by_table is None
    assert found["nonblocking-any"].published.verdict == "mixed"
    assert (found["nonblocking-any"].by_sentence, found["nonblocking-any"].by_table) == (
        *("not decided", "right"),
    )
    memory = found["no-memory-bottleneck"]
    assert (memory.by_sentence, memory.by_table) == ("wrong", "right")
    scores = counts([*found.values()])["by the paper's own cells"]
    assert scores["wrong"] == 0 and scores["circular"] == 0
    assert scores["not decided"] == sum(one.simulated is None for one in found.values())


def test_a_simulation_without_the_loss_fails_where_the_paper_has_it() -> None:
    found = by_id(scored(TARA, as_published("4.1", 1.0) + as_published("5.1", 0.1)))
    assert found["factor-five-512"].by_sentence == "wrong"
    assert found["nonblocking-beats-any-arrangement"].by_sentence == "wrong"
    assert found["all-cores"].by_sentence == "right"


def test_cells_without_a_simulation_decide_nothing() -> None:
    found = by_id(scored(TARA, as_published("4.1", 1.0)))
    assert (found["factor-five-512"].simulated, found["factor-five-512"].by_sentence) == (
        *(None, "not decided"),
    )
    assert found["second-order"].by_sentence == "not decided"
    assert found["serial-jobs-share"].by_sentence == "not decided"


def test_calibration_cells_make_a_statement_circular() -> None:
    found = by_id(scored(TARA, as_published("4.1", 1.0, ("node.memory",))))
    assert found["no-memory-bottleneck"].by_sentence == "circular"
    assert {one.by_sentence for one in found.values()} == {"circular", "not decided"}


def test_a_statement_that_quotes_a_cluster_file_value_is_circular() -> None:
    rows = load("anl-petsc-summit-part2").table("3").rows
    cells = [
        PredictedCell(
            "3", "latency", {}, time := float(str(row["latency_s"])), predicted=time, row=row
        )
        for row in rows
    ]
    found = by_id(scored("anl-petsc-summit-part2", cells))
    assert found["launch-12"].by_sentence == "circular"
    assert found["scatter-4mb-longer"].by_sentence == "right"


def test_relative_times_are_divided_by_the_published_one() -> None:
    table = load("task-mapping-drop").table("6")
    cells = [
        PredictedCell(
            *("6", RELATIVE, {"ranks": 16, "nodes": int(str(row["nodes"])), "over": 16}, 1.0),
            predicted=float(str(row["time_s"])) / 153,
            row=row,
        )
        for row in table.rows
        if row["ranks"] == 16 and row["nodes"] != 16
    ]
    found = by_id(scored("task-mapping-drop", cells))
    assert found["sixteen-200"].by_sentence == "right"
    assert found["sixteen-spread-best"].by_sentence == "right"
    assert found["most-half"].by_sentence == "not decided"


def test_a_table_lists_failures_differences_and_the_score() -> None:
    found = scored(TARA, as_published("4.1", 1.0) + as_published("5.1", 1.0))
    wrong, score = tables.simulated(found)
    assert len(wrong.rows) == sum(
        one.by_sentence == "wrong" or one.by_table is not None for one in found
    )
    assert [row[1].value for row in score.rows] == [
        scores["right"] for scores in counts(found).values()
    ]


def test_comparisons_within_printed_rounding_decide_nothing() -> None:
    """Times below half a second are printed as 0: which layout was faster there is not known."""
    table = load("hpcf-2018-10").table("4.1")
    cells = [
        PredictedCell(
            *("4.1", WALL_TIME, {}, time := float(str(row["time_s"]))),
            predicted=time or 0.01 * float(str(row["ppn"])),
            row=row,
        )
        for row in table.rows
    ]
    found = by_id(scored("hpcf-2018-10", cells))
    assert found["all-cores"].published.open > 0
    assert found["all-cores"].by_sentence == "right"
