"""The same tasks on few nodes and on many: table, figure, and what was published beside them."""

from __future__ import annotations

from typing import Any

from recorded import cases, poisson

from haloscope import papers, series, tables
from haloscope.series.model import Lines
from haloscope.tables import Context

PAPER = papers.load("task-mapping-drop")


def run(tasks: int, nodes: int, pattern: str, time_s: float, **layout: Any) -> dict[str, Any]:
    where = {"pattern": pattern, **layout}
    raw = poisson(1024, time_s=time_s, ranks=tasks, nodes=nodes, layout=where)
    return {**raw, "case": f"{raw['case']}-{where}"}


RAWS = [
    run(8, 1, "concentrated", 1.0),
    run(8, 8, "distributed", 0.5),
    run(8, 8, "distributed", 0.8, mapping="random", mapping_seed=7),
    run(16, 2, "concentrated", 1.2),
    run(16, 4, "intermediate", 1.1),
    run(16, 16, "distributed", 3.0),
]


def context(host: str) -> Context:
    return Context(paper=PAPER, machine={"host": host})


def test_patterns_stand_side_by_side_and_one_node_belongs_to_every_mapping() -> None:
    (table,) = tables.build("mapping", cases(RAWS), context("elsewhere"))
    shown = [[cell.text for cell in row] for row in table.rows]
    assert [row[:2] for row in shown] == [["8", "block"], ["8", "random 7"], ["16", "block"]]
    assert [row[-1].value for row in table.rows] == [0.5, 0.8, 2.5]
    assert [row[3].text for row in table.rows] == ["–", "–", "1.10 s"]
    assert [cell.also for cell in table.rows[2][2:5]] == ["2 nodes", "4 nodes", "16 nodes"]


def test_what_was_published_of_the_same_cluster_stands_below() -> None:
    (table,) = tables.build("mapping", cases(RAWS), context("eagle"))
    own = {(row[0].text, row[1].text): row for row in table.rows[3:]}
    fft = own["2048", "bigfft, published"]
    assert [cell.value for cell in fft[2:5]] == [1410, 1982, 3219]
    assert fft[-1].text == "2.28 ×"
    told = own["2048", "minife, published"][-1]
    assert (told.text, told.also) == ("250 %", "concentrated faster")
    assert sorted(own) == [
        ("16", "bigfft, published"),
        ("2048", "bigfft, published"),
        ("2048", "minife, published"),
        ("more than 256", "bigfft, published"),
    ]


def test_the_figure_has_a_panel_for_each_mapping_relative_to_the_first() -> None:
    (figure,) = series.build("mapping", cases(RAWS), context("eagle"))
    assert [panel.title for panel in figure.panels] == ["block", "random 7"]
    block = figure.panels[0]
    assert isinstance(block, Lines)
    assert {curve.label: [(m.x, m.y) for m in curve.marks] for curve in block.curves} == {
        "concentrated": [(8, 1.0), (16, 1.2)],
        "intermediate": [(16, 1.1)],
        "distributed": [(8, 0.5), (16, 3.0)],
    }


def test_a_grid_that_follows_from_the_tasks_is_no_setting_of_its_own() -> None:
    def on_grids(grids: dict[int, str]) -> list[dict[str, Any]]:
        return [
            {**raw, "params": {**raw["params"], "topology": grids[raw["layout"]["ranks"]]}}
            for raw in RAWS
        ]

    (table,) = tables.build("mapping", cases(on_grids({8: "2x2x2", 16: "4x2x2"})), context("x"))
    assert {row[0].text for row in table.rows} == {"8", "16"}

    two = [*on_grids({8: "2x2x2", 16: "4x2x2"}), *on_grids({8: "8x1x1", 16: "16x1x1"})]
    two = [{**raw, "case": f"{raw['case']}-{raw['params']['topology']}"} for raw in two]
    assert len(tables.build("mapping", cases(two), context("x"))) == 4


def test_cases_without_a_pattern_have_neither() -> None:
    plain = cases([poisson(1024)])
    assert tables.build("mapping", plain, context("eagle")) == []
    assert series.build("mapping", plain, context("eagle")) == []
