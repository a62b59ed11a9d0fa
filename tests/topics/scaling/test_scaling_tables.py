# SPDX-License-Identifier: BSD-3-Clause
"""Tables of speedup and efficiency: by processes, by threads, over nodes."""

from __future__ import annotations

from collections.abc import Sequence

from made import build, launches, texts
from noted import noted
from recorded import Raw, bad, spmv

TARA = "hpcf-2010-6"


def test_scaling_gives_time_speedup_and_efficiency_with_base_and_interval() -> None:
    times = [4.0, 4.1, 4.2, 4.0, 4.1, 4.2, 4.1]
    raws = [
        *launches(1024, times),
        *launches(1024, [time / 2 for time in times], ranks=2),
        *launches(1024, [time / 3 for time in times], ranks=4),
    ]

    time, speedup, efficiency = build("scaling", raws)

    assert [c.title for c in time.columns] == ["n", "p = 1", "p = 2", "p = 4"]
    assert texts(speedup) == [["1024", "1.00", "2.00", "3.00"]]
    assert texts(efficiency) == [["1024", "1.00", "1.00", "0.750"]]
    interval = speedup.rows[0][2]
    assert interval.low is not None and interval.high is not None
    assert 1.9 < interval.low < 2.0 < interval.high < 2.1
    assert speedup.rows[0][1].low is None, "a case is exactly as fast as itself"
    assert noted(speedup, "4.10 s with 1 process (n = 1024)")
    assert noted(speedup, "7 launches, 95.0 %")


def test_speedup_without_a_serial_run_is_relative_to_the_fewest_processes() -> None:
    raws = [*launches(1024, [4.0] * 3, ranks=2), *launches(1024, [2.5] * 3, ranks=4)]

    _, speedup, efficiency = build("scaling", raws)

    assert texts(speedup) == [["1024", "1.00", "1.60"]]
    assert texts(efficiency) == [["1024", "1.00", "0.800"]]
    assert noted(speedup, "4.00 s with 2 processes (n = 1024)")
    assert noted(speedup, "a … b: ")


def test_speedup_is_relative_to_the_smallest_good_run() -> None:
    failed = [bad(raw, "failed", "killed") for raw in launches(1024, [8.0] * 3)]
    raws = [*launches(1024, [4.0] * 3, ranks=2), *launches(1024, [2.5] * 3, ranks=4)]

    _, speedup, _ = build("scaling", [*failed, *raws])

    assert noted(speedup, "4.00 s with 2 processes (n = 1024)")
    assert texts(speedup) == [["1024", "failed", "1.00", "1.60"]]


def over_nodes(nodes: Sequence[int], ppns: Sequence[int]) -> list[Raw]:
    return [
        raw
        for on in nodes
        for ppn in ppns
        for raw in launches(1024, [8.0 / on / ppn] * 3, nodes=on, ranks=on * ppn)
    ]


def test_scaling_over_nodes_and_ppn_uses_the_layout_of_wall_times() -> None:
    speedup, efficiency, cost = build("scaling", over_nodes((1, 2), (1, 2)), TARA)

    assert (speedup.title, efficiency.title) == ("(a) Speedup", "(b) Efficiency")
    assert texts(cost) == [
        ["1024", "1", "8.00 node-s", "8.00 node-s"],
        ["1024", "2", "4.00 node-s", "4.00 node-s"],
    ]
    assert [column.title for column in speedup.columns] == [
        *("n", "processes per node", "1 node", "2 nodes")
    ]
    assert texts(speedup) == [["1024", "1", "1.00", "2.00"], ["1024", "2", "2.00", "4.00"]]
    assert texts(efficiency) == [["1024", "1", "1.00", "1.00"], ["1024", "2", "1.00", "1.00"]]
    assert noted(speedup, "8.00 s with 1 process (n = 1024)")
    # table 4.2 of the paper: p = 2 on two nodes
    assert speedup.rows[0][3].published_value == 2.0478


def test_with_one_ppn_scaling_uses_p_including_smaller_one_node_runs() -> None:
    raws = [*launches(1024, [8.0] * 3), *over_nodes((1, 2), (2,))]

    time, speedup, _, cost = build("scaling", raws, TARA)

    assert texts(cost) == [["1024", "8.00 node-s", "4.00 node-s", "4.00 node-s"]]
    assert time.title.endswith("(2 processes per node)")
    assert [column.title for column in time.columns] == ["n", "p = 1", "p = 2", "p = 4"]
    assert texts(speedup) == [["1024", "1.00", "2.00", "4.00"]]
    assert noted(time, "1 for p = 1")


def test_threads_of_one_process_have_scaling_too() -> None:
    raws = [
        *launches(64, [4.0] * 3),
        *launches(64, [2.5] * 3, threads=2),
        *launches(64, [9.0] * 3, ranks=2, threads=2),
    ]

    made = build("scaling", raws)

    titles = [table.title for table in made if table.title.startswith("(c)")]
    assert [title.split(" (") for title in titles] == [
        ["(c) Efficiency", "2 threads)"],
        ["(c) Efficiency", "threads of one process)"],
    ]
    assert texts(made[-1]) == [["64", "1.00", "0.800"]]
    assert [column.title for column in made[0].columns] == ["n", "p = 2", "p = 4"]
    assert noted(made[1], "2.50 s with 1 process of 2 threads")


def test_one_process_count_has_no_scaling() -> None:
    assert build("scaling", launches(64, [1.0] * 3)) == []


def test_scalings_of_single_meshes_share_the_same_three_tables() -> None:
    raws = [
        spmv(ranks=ranks, matrix=matrix, launch=k, time_s=time / ranks)
        for matrix, time in (("3d27", 8.0), ("3d7", 4.0))
        for ranks in (1, 2)
        for k in range(2)
    ]

    time, speedup, efficiency = build("scaling", raws)

    assert [table.title for table in (time, speedup, efficiency)] == [
        *("(a) Wall time", "(b) Speedup", "(c) Efficiency")
    ]
    assert [column.title for column in speedup.columns] == ["case", "n", "p = 1", "p = 2"]
    assert [row[0].text for row in speedup.rows] == ["3d27", "3d7"]
    assert speedup.stub == 2
    (reference,) = (note for note in speedup.notes if note.startswith("Speedup is relative to"))
    assert "1 process (3d27, n = 100) and " in reference and "(3d7, n = 100)" in reference


def test_scalings_of_two_kernels_have_separate_tables() -> None:
    raws = [
        *(spmv(ranks=ranks) for ranks in (1, 2)),
        *launches(64, [4.0]),
        *launches(64, [2.0], ranks=2),
    ]

    made = build("scaling", raws)

    assert sorted(table.title for table in made if table.title.startswith("(b)")) == [
        "(b) Speedup (poisson_cg)",
        "(b) Speedup (spmv)",
    ]
