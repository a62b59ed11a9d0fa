# SPDX-License-Identifier: BSD-3-Clause
"""Runs that a paper lists without their times: which are simulated, as what, and their cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from noted import shows
from pytest import approx

from haloscope.analysis.validation.statements import scored
from haloscope.layout import Layout
from haloscope.papers.statements import NO_TABLE
from haloscope.papers.tables import load
from haloscope.predict.planned_runs import (
    PlannedRun,
    cells_of,
    layout_of,
    needed,
    spread_cells,
    stand_in,
)
from haloscope.run.places.places import place
from haloscope.run.places.simulated import SimulatedCluster

PAPER = "task-mapping-drop"


def runs(cluster: str, program: str, table: str, launches: int = 1) -> list[PlannedRun]:
    return [
        run
        for run in needed(PAPER, launches)
        if (run.cluster, run.keys["kernel"], run.table.id) == (cluster, program, table)
    ]


def one_run(
    cluster: str, program: str, table: str, ranks: int, mapping: str | None = None
) -> PlannedRun:
    (found,) = (
        run
        for run in runs(cluster, program, table)
        if (run.number("ranks"), run.keys.get("mapping")) == (ranks, mapping)
    )
    return found


def record(time_s: float, *phases: tuple[float, float | None]) -> dict[str, Any]:
    own = [{"time_s": {"mean": seconds}, "model_s": model} for seconds, model in phases]
    return {"outcome": "ok", "times_s": [time_s], "phases": own}


def test_only_runs_that_statements_need_are_simulated() -> None:
    eagle = runs("Eagle", "minife", "2")
    tasks = {2**power for power in range(3, 10)}
    assert {run.number("ranks") for run in eagle} == tasks
    assert {run.keys["mapping"] for run in eagle} == {"concentrated", "distributed"}
    assert max(run.number("ranks") for run in runs("Stampede", "minife", "2")) == 512
    assert {run.number("ranks") for run in runs("Stampede", "lammps", "1")} == {512, 1000}
    assert {run.number("ranks") for run in runs("Cab", "minife", "fig8")} == {16, 32, 64, 128}
    assert not runs("Helios", "bigfft", "5")  # it has no published time
    many = runs("Eagle", "lammps", "1", launches=3)
    assert {216, 512, 1000} <= {run.number("ranks") for run in many}


def test_a_run_uses_the_published_cluster_with_one_core_per_task() -> None:
    stampede = place("stampede")
    assert isinstance(stampede, SimulatedCluster)
    wide = PlannedRun(
        load(PAPER).table("2"), "Stampede", {"ranks": 1024, "nodes": 512, "nodes_stampede": 256}
    )
    assert layout_of(wide, stampede) == Layout(256, 4, bind="spread", tasks=1024)
    assert replace(wide, cluster="Helios").nodes == 512
    full = one_run("Stampede", "lammps", "1", 1000, "concentrated")
    assert full.nodes == 50
    assert layout_of(full, stampede) == Layout(63, 16, bind="spread", tasks=1000)


@pytest.mark.parametrize(
    ("cluster", "program", "table", "ranks", "mapping", "kernel", "size"),
    [
        ("Eagle", "minife", "2", 512, "distributed", "fe_heat", "2016x2016x2016"),
        ("Eagle", "minife", "5", 4, None, "fe_heat", "400x400x400"),
        ("Cab", "minife", "fig8", 64, None, "fe_heat", "1008x1008x1008"),
        ("Eagle", "bigfft", "3", 512, "distributed", "fft_pencil", "4096x4096x1024"),
        ("Stampede", "lammps", "1", 512, "distributed", "md_pppm", None),
    ],
)
def test_kernels_represent_programs(
    cluster: str,
    program: str,
    table: str,
    ranks: int,
    mapping: str | None,
    kernel: str,
    size: str | None,
) -> None:
    own = [run for run in runs(cluster, program, table) if run.number("ranks") == ranks]
    found, given = stand_in(PAPER, next(r for r in own if r.keys.get("mapping") == mapping))
    assert (found, given.get("size")) == (kernel, size)


def test_time_and_messages_of_a_run_are_cells_for_statements() -> None:
    few = one_run("Eagle", "lammps", "1", 1000, "concentrated")
    many = one_run("Eagle", "lammps", "1", 1000, "distributed")
    cells = [
        *cells_of(few, [record(1.0, (0.04, None), (0.9, 0.9), (0.01, None))]),
        *cells_of(many, [record(2.0, (1.9, None), (0.1, 0.1))]),
    ]
    share = {
        cell.keys["mapping"]: cell.low
        for cell in cells
        if cell.keys.get("quantity") == "communication_share"
    }
    assert share == {"concentrated": approx(0.05), "distributed": approx(0.95)}
    assert {cell.keys["table"] for cell in cells} == {"1", NO_TABLE}
    found = {one.statement.id: one for one in scored(PAPER, [], cells)}
    assert found["lammps-eagle-concentrated"].by_sentence == "right"
    communication = found["lammps-comm-eagle"]
    assert communication.by_sentence == "wrong"
    assert communication.simulated is not None
    assert (communication.simulated.holds, communication.simulated.fails) == (1, 1)


def test_launches_with_other_jobs_have_variability() -> None:
    run = one_run("Eagle", "lammps", "1", 1000, "distributed")
    cells = [*cells_of(run, [record(time, (0.1, None)) for time in (9.0, 10.0, 14.0)])]
    (apart,) = (c.low for c in cells if c.keys.get("quantity") == "variability_percent")
    assert apart == approx(100 * 3 / 11)
    assert not any(
        cell.keys.get("quantity") == "variability_percent"
        for cell in cells_of(run, [record(9.0, (0.1, None))])
    )


def test_a_variability_table_uses_runs_with_the_same_task_count() -> None:
    assert 216 not in {run.number("ranks") for run in runs("Stampede", "lammps", "1")}
    own = [run for run in runs("Stampede", "lammps", "1", 3) if run.number("ranks") == 216]
    assert {run.keys["mapping"] for run in own} == {"concentrated", "intermediate", "distributed"}
    times = [(9.5, 10.5), (9.0, 11.0), (10.0, 10.0)]
    cells = [
        cell
        for run, pair in zip(own, times, strict=True)
        for cell in cells_of(run, [record(time, (0.1, None)) for time in pair])
    ]
    found = [*spread_cells(PAPER, cells)]
    assert {(c.keys["table"], c.keys["release"], c.keys["ranks"]) for c in found} == {
        ("4", "2016-11", 216),
        ("4", "2015-02", 216),
    }
    assert [cell.low for cell in found] == [approx(10.0)] * 2
    (judged,) = (
        one
        for one in scored(PAPER, [], [*cells, *found])
        if one.statement.id == "variability-stampede"
    )
    assert judged.by_sentence == "right"


def test_a_statement_undecided_by_simulation_has_a_reason() -> None:
    found = {one.statement.id: one.undecided for one in scored(PAPER, [])}
    assert all(found.values())
    assert found["lammps-eagle-turn"].startswith("table 1: ")
    assert shows(found["hops-vary"], "published table", "not simulated")
