# SPDX-License-Identifier: BSD-3-Clause
"""Cases of a result folder as cells of a paper's tables, and its statements on them."""

from __future__ import annotations

from typing import Any

from pytest import approx
from recorded import cases, poisson

from haloscope.analysis.validation.statements import scored
from haloscope.topics.mapping.plan_cells import deviation_percent, plan_cells

PAPER = "task-mapping-drop"
OTHERS = {"occupancy": 0.9, "traffic": 0.1, "launch": 0}


def run(
    kernel: str, tasks: int, nodes: int, time_s: float, launch: int = 0, **layout: Any
) -> dict[str, Any]:
    where = {"tasks": tasks, "bind": "spread", "mapping": "block", **layout}
    raw = poisson(1024, time_s=time_s, ranks=tasks, nodes=nodes, layout=where, launch=launch)
    simulation = {"cluster": "eagle", "verified": False, "cached": False, "others": OTHERS}
    simulation |= {"iterations": None, "of_iterations": None, "iterations_from": None}
    own = {"case": f"{raw['case']}-{kernel}-{where}", "kernel": kernel, "clock": "simulated"}
    return {**raw, **own, "simulation": simulation}


def test_cases_use_the_mappings_published_for_their_nodes() -> None:
    raws = [
        run("fft_pencil", 512, 82, 2.0),
        run("fft_pencil", 512, 256, 3.0),
        run("fft_pencil", 512, 100, 9.0),  # in no table
        run("fft_pencil", 512, 128, 9.0, mapping="round_robin"),
        run("md_pppm", 512, 64, 0.2),
        run("stream", 8, 1, 0.1),
    ]
    found = {
        (cell.keys["table"], cell.keys["mapping"]): cell
        for cell in plan_cells(PAPER, cases(raws), "eagle")
    }
    assert found.keys() == {("3", "concentrated"), ("3", "distributed"), ("1", "concentrated")}
    assert found["3", "distributed"].low == found["3", "distributed"].high == 3.0
    assert {cell.keys["cluster"] for cell in found.values()} == {"Eagle"}


def test_a_cluster_has_its_own_node_counts_and_rows() -> None:
    raws = [run("fe_heat", 1024, 256, 5.0), run("fe_heat", 8, 1, 1.0)]
    found = {
        name: {
            (cell.keys["table"], cell.keys.get("mapping"))
            for cell in plan_cells(PAPER, cases(raws), name)
        }
        for name in ("stampede", "eagle", "elsewhere")
    }
    assert found["stampede"] == {("2", "distributed"), ("2", "concentrated"), ("5", None)}
    assert found["eagle"] == {("2", "intermediate"), ("2", "concentrated"), ("5", None)}
    assert found["elsewhere"] == {("2", "intermediate"), ("2", "concentrated")}


def test_statements_without_published_cells_are_tested_on_a_result_folder() -> None:
    few, many = (512, 82), (512, 256)

    def score(few_s: float, many_s: float) -> str:
        raws = [run("fft_pencil", *few, few_s), run("fft_pencil", *many, many_s)]
        found = scored(PAPER, [], [*plan_cells(PAPER, cases(raws), "eagle")])
        return next(one.by_sentence for one in found if one.statement.id == "bigfft-eagle")

    assert (score(2.0, 3.0), score(3.0, 2.0)) == ("right", "wrong")
    found = scored(PAPER, [], [])
    assert {one.by_sentence for one in found} == {"not decided"}


def test_launch_times_deviate_from_their_mean() -> None:
    raws = [run("md_pppm", 216, 16, time_s, launch) for launch, time_s in enumerate((9, 10, 14))]
    (case,) = cases(raws)
    assert deviation_percent(case) == approx(100 * 3 / 11)
    (alone,) = cases(raws[:1])
    assert deviation_percent(alone) is None
    four = {
        cell.keys["release"]: cell.low
        for cell in plan_cells(PAPER, [case], "stampede")
        if cell.keys["table"] == "4"
    }
    assert four == {release: approx(100 * 3 / 11) for release in ("2016-11", "2015-02")}
