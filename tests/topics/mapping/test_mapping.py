# SPDX-License-Identifier: BSD-3-Clause
"""The same tasks on few nodes and on many: table, figure, and what was published beside them."""

from __future__ import annotations

import re
from typing import Any

from found import found
from made import panels
from noted import noted
from pytest import approx
from recorded import bad, cases, poisson

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Lines
from haloscope.topics.mapping.findings import mappings

PAPER = papers.load("task-mapping-drop")


def run(tasks: int, nodes: int, time_s: float, **layout: Any) -> dict[str, Any]:
    where = {"tasks": tasks, "bind": "spread", **layout}
    raw = poisson(1024, time_s=time_s, ranks=tasks, nodes=nodes, layout=where)
    return {**raw, "case": f"{raw['case']}-{where}"}


RAWS = [
    run(8, 1, 1.0),
    run(8, 8, 0.5),
    run(8, 8, 0.8, mapping="random", mapping_seed=7),
    run(16, 2, 1.2),
    run(16, 4, 1.1),
    run(16, 16, 3.0),
]


def context(host: str) -> Context:
    return Context(paper=PAPER, machine={"host": host})


def test_node_counts_are_rows_and_one_node_belongs_to_every_mapping() -> None:
    (table,) = tables.build("mapping", cases(RAWS), context("elsewhere"))
    shown = [[cell.text for cell in row] for row in table.rows]

    assert [column.title for column in table.columns] == [
        *("tasks", "nodes", "block", "random 7", "/ fewest nodes", "nodes × step")
    ]
    assert shown == [
        ["8", "1, 8 each", "1.00 s", "1.00 s", "1.00 ×", "1.00 node-s"],
        ["8", "8, 1 each", "500 ms", "800 ms", "0.500 ×", "4.00 node-s"],
        ["16", "2, 8 each", "1.20 s", "–", "1.00 ×", "2.40 node-s"],
        ["16", "4, 4 each", "1.10 s", "–", "0.917 ×", "4.40 node-s"],
        ["16", "16, 1 each", "3.00 s", "–", "2.50 ×", "48.0 node-s"],
    ]


def test_unsupported_cases_do_not_create_a_table_of_absent_times() -> None:
    """As LAMMPS under simulation, beside md_pppm; what failed stays, as it could have run."""

    def gone(outcome: str) -> list[MeasuredCase]:
        return cases([bad(raw, outcome, "no such program") for raw in RAWS])

    assert tables.build("mapping", gone("absent"), context("elsewhere")) == []
    (table,) = tables.build("mapping", gone("failed"), context("elsewhere"))
    assert table.rows[0][2].text == "failed"


def test_unevenly_distributed_tasks_are_noted() -> None:
    uneven = run(16, 3, 1.0, ppn=6)
    (table,) = tables.build("mapping", cases([*RAWS, uneven]), context("elsewhere"))

    assert "3, 5 or 6 each" in [row[1].text for row in table.rows]


def transposes() -> list[dict[str, Any]]:
    """The same of a transform, with more points for more tasks."""
    raws = []
    few, many = ("512x512x1024", "4x2"), ("512x1024x1024", "4x4")
    for raw, (size, topology) in zip(RAWS, (few,) * 3 + (many,) * 3, strict=True):
        params = {"size": size, "topology": topology, "transpose": "pairwise"}
        raws.append({**raw, "kernel": "fft_pencil", "params": params})
    return raws


def test_published_times_of_the_same_cluster_are_in_the_matching_figure() -> None:
    def curves(host: str) -> dict[str, list[tuple[float, float]]]:
        (figure,) = figures.build("mapping", cases(transposes()), context(host))
        (panel,) = panels(figure)
        assert ("their fewest nodes" in " ".join(figure.notes)) == (host == "eagle")
        return {one.label: [(mark.x, mark.y) for mark in one.marks] for one in panel.curves}

    own = curves("eagle")
    assert own["16 tasks, bigfft, published"][-1] == (16, 153 / 446)
    assert own["2,048 tasks, bigfft, published"] == [
        (128, 1),
        (167, 1982 / 1410),
        (256, 3219 / 1410),
    ]
    assert not [name for name in curves("elsewhere") if "published" in name]


def test_a_published_percentage_is_placed_at_the_planned_nodes() -> None:
    """512 of Table 2, and 256 on Stampede, which had no more for one job."""
    more = [run(32, nodes, 1.0) for nodes in (1, 32)]
    (figure,) = figures.build("mapping", cases([*RAWS, *more]), context("eagle"))
    (panel,) = panels(figure)

    (minife,) = (one for one in panel.curves if one.label == "2,048 tasks, minife, published")
    assert [(mark.x, mark.y) for mark in minife.marks] == [(512, 3.5)]
    assert minife.published
    (elsewhere,) = figures.build("mapping", cases([*RAWS, *more]), context("elsewhere"))
    assert noted(figure, "shorter time") and not noted(elsewhere, "shorter time")


def test_published_values_of_the_same_cluster_are_listed() -> None:
    """Of programs that communicate as the kernel does, in columns of their own."""
    (halos,) = tables.build("mapping", cases(RAWS), context("eagle"))
    (table,) = tables.build("mapping", cases(transposes()), context("eagle"))
    shown = {(row[0].text, row[1].text): [cell.text for cell in row[2:]] for row in table.rows}

    assert shown["16", "16, 1 each"] == [
        *("3.00 s", "–", "2.50 ×", "48.0 node-s", "bigfft", "153 s", "0.343 ×")
    ]
    assert shown["2048", "256, 8 each"] == [*["–"] * 4, "bigfft", "3219 s", "2.28 ×"]
    assert shown["2048", "167, 12 or 13 each"][-2:] == ["1982 s", "1.41 ×"]
    published = [*["–"] * 4, "bigfft", "–", "more than about 2.40 ×"]
    assert shown["more than 256", "the most"] == published
    (elsewhere,) = tables.build("mapping", cases(transposes()), context("elsewhere"))
    assert noted(table, "shorter time") and not noted(elsewhere, "shorter time")
    assert any("of the published runs" in note for note in table.notes)
    assert not any("of the published runs" in note for note in halos.notes)
    assert [cell.text for cell in halos.rows[-1]] == [
        *("2048", "the most", "–", "–", "–", "–", "minife", "–", "3.50 ×")
    ]


def test_a_faster_distributed_mapping_has_a_ratio_below_one() -> None:
    cubes = [{**raw, "kernel": "jacobi3d"} for raw in RAWS]
    (table,) = tables.build("mapping", cases(cubes), context("stampede"))
    (lammps,) = (row for row in table.rows if row[-3].text == "lammps")
    assert (lammps[0].text, lammps[-1].text) == ("the most", "0.855 to 0.820 ×")


def test_the_figure_has_a_panel_per_kernel_relative_to_the_fewest_nodes() -> None:
    (figure,) = figures.build("mapping", cases(RAWS), context("eagle"))
    (panel,) = figure.panels
    assert isinstance(panel, Lines)
    assert panel.title == "poisson_cg"
    shown = {c.label: [(m.x, m.y, m.low, m.high) for m in c.marks] for c in panel.curves}
    assert shown == {
        "8 tasks": [(1, 1.0, 1.0, 1.0), (8, 0.5, 0.5, 0.8)],
        "16 tasks": [
            (2, 1.0, 1.0, 1.0),
            (4, approx(1.1 / 1.2), approx(1.1 / 1.2), approx(1.1 / 1.2)),
            (16, 2.5, 2.5, 2.5),
        ],
        "2,048 tasks, minife, published": [(512, 3.5, None, None)],
    }
    last = re.findall(r"(\d+) tasks: ([\d.]+)\D+(\d+) nodes", figure.alt)
    assert last == [("8", "0.500", "8"), ("16", "2.50", "16")]


def test_a_task_count_with_one_node_count_has_no_curve() -> None:
    (figure,) = figures.build("mapping", cases([*RAWS, run(2048, 128, 1.0)]), context("x"))
    (panel,) = panels(figure)

    assert [curve.label for curve in panel.curves] == ["8 tasks", "16 tasks"]
    assert figures.build("mapping", cases([run(2048, 128, 1.0)]), context("x")) == []


def test_transposes_of_shrinking_sizes_are_one_comparison() -> None:
    (table,) = tables.build("mapping", cases(transposes()), context("elsewhere"))
    assert table.title.endswith("(fft_pencil)")
    one, *others = found(mappings, [{**raw, "clock": "simulated"} for raw in transposes()])
    assert one.question not in [other.question for other in others]
    assert one.parts[0].subject["pattern"] == "distributed"


def test_a_grid_derived_from_the_tasks_is_not_a_separate_setting() -> None:
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


def test_cases_without_a_task_count_have_no_table_or_figure() -> None:
    plain = cases([poisson(1024)])
    assert tables.build("mapping", plain, context("eagle")) == []
    assert figures.build("mapping", plain, context("eagle")) == []


def test_nearly_equal_times_have_an_axis_that_resolves_them() -> None:
    """From half to one, all points of 0.98 to 1 would lie on each other."""
    near = [run(8, 1, 1.0), run(8, 4, 0.99), run(8, 8, 0.98)]

    (panel,) = panels(figures.build("mapping", cases(near), Context())[0])
    (far,) = panels(figures.build("mapping", cases(RAWS), Context())[0])

    assert (panel.y.scale, panel.y.from_zero, panel.y.ticks) == ("linear", False, ())
    assert far.y.scale == "log2"
