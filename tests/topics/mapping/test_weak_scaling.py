# SPDX-License-Identifier: BSD-3-Clause
"""Weak scaling: tasks with as much work each, over the fewest of them on one node."""

from __future__ import annotations

from typing import Any

from found import found
from made import panels
from noted import shows
from recorded import bad, cases, poisson

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.topics import figures, tables
from haloscope.topics.mapping.findings import weak

PAPER = papers.load("task-mapping-drop")


def run(tasks: int, nodes: int, time_s: float, flops: float = 1.0, **more: Any) -> dict[str, Any]:
    """Some tasks with so many operations each."""
    where = {"tasks": tasks, "ppn": -(-tasks // nodes), "bind": "spread"}
    raw = poisson(1024, time_s=time_s, ranks=tasks, nodes=nodes, layout=where)
    raw["layout"]["ranks"] = tasks
    raw["work"] = {"bytes": 0.0, "messages": 0.0, "flops": 1e9 * flops * tasks}
    return {**raw, "case": f"{tasks} on {nodes}", **more}


RAWS = [
    run(8, 1, 2.0),
    run(8, 4, 1.9),
    run(8, 8, 1.5),
    run(64, 4, 2.2, 1.1),
    run(64, 16, 2.1, 1.1),
    run(64, 32, 2.6, 1.1),
    run(64, 64, 3.0, 1.1),
    run(128, 60, 5.0, 1.2),
]


def built(raws: list[dict[str, Any]], host: str = "elsewhere") -> list[list[str]]:
    found = tables.build("weak_scaling", cases(raws), Context(paper=PAPER, machine={"host": host}))
    return [[cell.text for cell in row] for table in found for row in table.rows]


def test_each_pattern_is_relative_to_the_fewest_tasks_on_one_node() -> None:
    """Between the fewest and the most nodes, the middle; one number of nodes is the fewest."""
    assert built(RAWS) == [
        [
            "8",
            "1.00 ×",
            "1",
            "2.00 s",
            "1.00 ×",
            "4",
            "1.90 s",
            "0.950 ×",
            "8",
            "1.50 s",
            "0.750 ×",
        ],
        [
            "64",
            "1.10 ×",
            "4",
            "2.20 s",
            "1.10 ×",
            "32",
            "2.60 s",
            "1.30 ×",
            "64",
            "3.00 s",
            "1.50 ×",
        ],
        ["128", "1.20 ×", "60", "5.00 s", "2.50 ×", *["–"] * 6],
    ]


def test_the_figure_has_a_curve_per_pattern_and_the_ideal() -> None:
    (figure,) = figures.build("weak_scaling", cases(RAWS), Context())
    (panel,) = panels(figure)

    shown = {one.label: [(mark.x, mark.y) for mark in one.marks] for one in panel.curves}
    assert shown == {
        "ideal": [(8, 1.0), (64, 1.0), (128, 1.0)],
        "concentrated": [(8, 1.0), (64, 1.1), (128, 2.5)],
        "intermediate": [(8, 0.95), (64, 1.3)],
        "distributed": [(8, 0.75), (64, 1.5)],
    }
    assert shows(figure.notes[0], "Reference: poisson_cg: 8 tasks")
    assert "concentrated 2.50 with 128 tasks" in figure.alt


def test_without_a_one_node_reference_there_is_no_weak_scaling() -> None:
    assert built(RAWS[1:]) == []
    assert found(weak, RAWS[1:]) == []
    assert built([run(8, 1, 2.0, outcome="failed", times_s=[]), *RAWS[1:]]) == []


def test_fixed_work_over_more_tasks_is_not_weak_scaling() -> None:
    assert built([run(8, 1, 2.0, 1.0), run(64, 4, 0.3, 0.125)]) == []


def beside(raws: list[dict[str, Any]], host: str) -> list[list[str]]:
    context = Context(paper=PAPER, machine={"host": host})
    found = tables.build("one_node", cases(raws), context)
    return [[cell.text for cell in row] for table in found for row in table.rows]


def test_runs_of_an_unpublished_machine_are_not_scaled_by_steps() -> None:
    context = Context(paper=PAPER, machine={"host": "elsewhere"})
    (table,) = tables.build("one_node", cases(RAWS), context)

    assert "steps" not in [column.key for column in table.columns]
    assert not any("elsewhere" in note or "equivalent steps" in note for note in table.notes)


def test_one_node_runs_are_compared_with_published_ones() -> None:
    """poisson_cg communicates as miniFE does; of 4 tasks there is no case, 8 are on 4 nodes too."""
    minife = ["84 s", "127 s", "219 s"], ["123 s", "343 s", "266 s"]
    assert beside(RAWS, "eagle") == [
        ["minife", "4", "poisson_cg", "–", *minife[0], "–"],
        ["minife", "8", "poisson_cg", "2.00 s", *minife[1], "133"],
    ]
    assert [row[-1] for row in beside(RAWS, "helios")] == ["–", "172"]
    assert beside(RAWS, "elsewhere")[0] == ["minife", "4", "poisson_cg", "–", *minife[0]]
    assert beside([{**raw, "kernel": "fft_pencil"} for raw in RAWS], "helios") == [
        ["bigfft", "8", "fft_pencil", "2.00 s", "289 s", "–", "133 s", "–"]
    ]
    assert beside([{**raw, "kernel": "stream"} for raw in RAWS], "eagle") == []


def test_without_a_paper_one_node_runs_are_listed_alone() -> None:
    more = {**run(4, 1, 3.0), "kernel": "fft_pencil"}
    (table,) = tables.build("one_node", cases([*RAWS, more]), Context())
    assert [column.key for column in table.columns] == ["kernel", "tasks", "step_s"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["fft_pencil", "4", "3.00 s"],
        ["poisson_cg", "8", "2.00 s"],
    ]
    assert tables.build("one_node", cases(RAWS[1:]), Context()) == []


def test_a_paper_without_one_node_runs_is_named() -> None:
    stream = cases([{**raw, "kernel": "stream"} for raw in RAWS])
    reason = tables.why_none("one_node", stream, Context(paper=PAPER))
    assert PAPER.id in reason
    assert "minife" in reason


def test_untested_patterns_have_no_columns() -> None:
    """16 and 2 tasks a node: nothing is between the fewest nodes and the most."""
    raws = [run(8, 1, 2.0), run(8, 4, 1.9), run(64, 4, 2.2), run(64, 32, 2.6)]

    (table,) = tables.build("weak_scaling", cases(raws), Context(paper=PAPER))

    assert {column.group for column in table.columns} == {"", "concentrated", "distributed"}
    assert [len(row) for row in table.rows] == [8, 8]
    assert any("distributed: the most" in note for note in table.notes)


def test_a_program_that_could_not_run_has_no_row_next_to_its_proxy() -> None:
    lammps = [bad({**run(8, 1, 2.0), "kernel": "lammps_rhodo"}, "absent", "no library")]
    stands = [{**run(8, 1, 2.0), "kernel": "md_pppm", "case": "stand-in"}]

    assert [row[2] for row in beside([*lammps, *stands], "eagle")] == ["md_pppm"]
    assert [row[2:4] for row in beside(lammps, "eagle")] == [["lammps_rhodo", "–"]]


def test_a_complete_solve_is_reported_if_present() -> None:
    """A step of fe_heat is a run of miniFE; one of a transform is one of many."""

    def notes(kernel: str) -> str:
        raws = [{**raw, "kernel": kernel} for raw in RAWS]
        context = Context(paper=PAPER, machine={"host": "eagle"})
        (table,) = tables.build("one_node", cases(raws), context)
        return " ".join(table.notes)

    assert shows(notes("fe_heat"), "fe_heat is ", "complete solve")
    assert notes("fft_pencil").endswith("the number of steps.")
