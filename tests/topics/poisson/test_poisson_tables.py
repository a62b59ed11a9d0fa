# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the Poisson solver: convergence, wall time, hybrid, clusters, exchange."""

from __future__ import annotations

from dataclasses import replace

from made import build, column, draw, launches, panels, texts
from noted import noted, shows
from recorded import bad, cases, changed, poisson

from haloscope.analysis.validation.published import Library
from haloscope.papers import tables as papers
from haloscope.topics.common.table import Cell, Table

STAMPEDE, TARA = "hpcf-2018-10", "hpcf-2010-6"


def cell(table: Table, row: str, column: str) -> Cell:
    index = [c.key for c in table.columns].index(column)
    return next(r[index] for r in table.rows if r[0].text == row)


def test_convergence_has_the_columns_and_values_of_table_3_1() -> None:
    raws = [*launches(1024, [2.3, 2.2, 2.4]), *launches(2048, [19.0, 20.0, 21.0])]

    (table,) = build("convergence", raws, STAMPEDE)

    assert [c.title for c in table.columns] == [
        "n",
        "DOF",
        "max error",
        "error ratio",
        "#iter",
        "wall time",
        "predicted",
        "observed",
    ]
    assert texts(table) == [
        ["1024", "1,048,576", "3.1266e−06", "–", "1,581", "2.30 s", "24 MiB", "36 MiB"],
        ["2048", "4,194,304", "7.8019e−07", "4.01", "3,192", "20.0 s", "96 MiB", "108 MiB"],
    ]
    time = cell(table, "2048", "time_s")
    assert (time.spread, time.low, time.high) == ("19.0 … 21.0", 19.0, 21.0)
    assert (time.published, time.published_value, time.ratio) == (
        "86.0 s (textbook)",
        85.98,
        "0.23 ×",
    )
    assert cell(table, "1024", "iterations").published == "1,581"
    assert noted(table, "Stampede2, hpcf-2018-10, table 3.1.")
    assert noted(table, "a … b: ")


def test_meshes_missing_from_the_paper_are_listed_with_the_others() -> None:
    """Table 3.1 of the later paper begins at n = 1024, as headlines of all papers do not."""
    raws = [*launches(512, [1.0]), *launches(1024, [4.0])]

    (table,) = build("convergence", raws, STAMPEDE, shelf=papers.list_papers())

    assert cell(table, "512", "iterations").published == "783"
    assert cell(table, "512", "time_s").published
    assert noted(
        table,
        "512 and 1024 (memory)",
        " (memory), tara, hpcf-2010-6, ",
        "n = 1024, Stampede2, hpcf-2018-10, ",
    )
    assert sum(note.startswith("Published values: ") for note in table.notes) == 1


def test_a_grid_includes_the_values_of_any_published_table() -> None:
    """Of n = 1024 and blocking messages, tables 5.2 to 5.5 alone tell, by processes."""
    raws = launches(1024, [4.0, 4.1], ranks=4, nodes=4, exchange="blocking", variant="textbook")

    (grid,) = build("walltime_grid", raws, TARA)

    assert grid.rows[0][1].published == "4 s"


def test_convergence_uses_the_fewest_cores_and_notes_differences() -> None:
    raws = [
        *launches(64, [1.0]),
        *launches(64, [0.5], ranks=2),
        *launches(128, [4.0], ranks=2, threads=2),
    ]

    (table,) = build("convergence", raws)

    assert [(row[5].text, row[6].text) for row in table.rows] == [("1", "1.00 s"), ("4", "4.00 s")]
    assert [c.key for c in table.columns][4:7] == ["iterations", "cores", "time_s"]
    assert "n = 128: 2 processes of 2 threads." in table.notes


def test_convergence_notes_iterations_that_differ_from_the_paper() -> None:
    raw = poisson(1024, time_s=2.0)
    raw["result"]["iterations"] = 1583

    (table,) = build("convergence", [raw], STAMPEDE)

    assert noted(table, "+0.13 %")


def test_a_mesh_without_a_good_launch_states_the_outcome() -> None:
    raws = [poisson(64, time_s=1.0), bad(poisson(128), "wrong", "error 2.0")]

    (table,) = build("convergence", raws)

    assert cell(table, "128", "time_s").text == "wrong"
    assert cell(table, "128", "time_s").tone == "warning"
    assert cell(table, "128", "error_max").value is None
    assert noted(table, "n = 128. ", "wrong answer: error 2.0")


def test_convergence_prefers_a_good_launch_on_more_cores_to_a_failed_one() -> None:
    raws = [bad(poisson(64), "failed", "killed"), poisson(64, ranks=2, time_s=3.0)]

    (table,) = build("convergence", raws)

    assert table.rows[0][5].text == "3.00 s"


def test_fixed_iterations_are_not_convergence() -> None:
    raw = poisson(64)
    raw["params"]["iterations"] = 10

    assert build("convergence", [raw]) == []


def test_walltime_grids_have_ppn_rows_node_columns_and_one_grid_per_mesh() -> None:
    raws = [
        raw
        for n in (1024, 2048)
        for nodes in (1, 2)
        for ppn in (1, 2)
        for raw in launches(n, [8.0 * n / 1024 / (nodes * ppn)] * 3, nodes=nodes, ranks=nodes * ppn)
    ]

    first, second = build("walltime_grid", raws, STAMPEDE)

    assert shows(first.title, "(a) Wall time, ", "n × n = 1024 × 1024", "dimension 1,048,576")
    assert [c.title for c in first.columns if not c.only_csv] == ["", "1 node", "2 nodes"]
    cost = cell(first, "2 processes per node", "nodes_2_node_s")
    assert (cost.value, cost.text) == (4.0, "4.00 node-s")
    assert texts(first) == [
        ["1 process per node", "8.00 s", "4.00 s"],
        ["2 processes per node", "4.00 s", "2.00 s"],
    ]
    # Printed 00:00:07 is 6.5 to 7.5 s: ours takes 1.07 to 1.23 times as long.
    time = cell(first, "1 process per node", "nodes_1_time_s")
    assert (time.spread, time.published, time.ratio) == (
        "8.00 … 8.00",
        "7 s (textbook)",
        "1.1–1.2 ×",
    )
    assert cell(second, "1 process per node", "nodes_1_time_s").ratio == "0.19 ×"


def test_all_times_are_printed_in_seconds() -> None:
    (table,) = build("walltime_grid", launches(64, [0.00231, 0.0023, 0.0025]))

    time = table.rows[0][1]
    assert (time.text, time.spread) == ("2.31 ms", "2.30 … 2.50")
    ((row,), (long,)) = (build("walltime_grid", launches(64, [s]))[0].rows for s in (59.0, 86.0))
    assert (row[1].text, long[1].text) == ("59.0 s", "86.0 s")


def test_a_published_time_of_zero_has_no_ratio() -> None:
    raws = launches(1024, [0.5] * 3, ranks=32, variant="textbook")

    (table,) = build("walltime_grid", raws, STAMPEDE)

    assert (table.rows[0][1].published, table.rows[0][1].ratio) == ("< 1 s", "")


def test_a_time_published_in_seconds_is_printed_as_used_in_its_ratio() -> None:
    """Table 3.1 has 00:00:07 and 6.65 s, table 4.1 has 00:00:07 alone."""
    raws = launches(1024, [3.67] * 3, variant="textbook")

    ((seconds,), (clock,)) = (
        build(kind, raws, STAMPEDE)[0].rows for kind in ("convergence", "walltime_grid")
    )

    assert (seconds[5].published, seconds[5].ratio) == ("6.65 s", "0.55 ×")
    assert (clock[1].published, clock[1].ratio) == ("7 s", "0.49–0.56 ×")


def test_published_thread_binding_does_not_imply_process_binding() -> None:
    """Its table 4.1 is of OMP_PROC_BIND=close and one thread a process."""
    ((alone,), (several,), (other,)) = (
        build("walltime_grid", launches(1024, [2.0] * 3, ranks=ranks), paper)
        for ranks, paper in ((1, STAMPEDE), (2, STAMPEDE), (2, TARA))
    )

    bound = [
        any("OMP_PROC_BIND=close" in note for note in table.notes)
        for table in (alone, several, other)
    ]
    assert bound == [False, True, False]


def test_exchanges_are_compared_with_the_published_grid_of_the_same_exchange() -> None:
    raws = [
        *launches(2048, [10.0] * 3, ranks=8, exchange="blocking"),
        *launches(2048, [10.0] * 3, ranks=8, exchange="nonblocking"),
    ]

    blocking, nonblocking = build("walltime_grid", raws, TARA)

    assert noted(blocking, "tara, hpcf-2010-6, table 5.1.")
    assert noted(nonblocking, "tara, hpcf-2010-6, table 4.1.")


def test_a_study_can_select_the_published_table() -> None:
    raws = launches(1024, [2.0] * 3)

    (table,) = build("walltime_grid", raws, STAMPEDE, published="6.1", title="Ours")

    assert table.title.startswith("Ours")
    assert noted(table, "zenith, hpcf-2018-10, table 6.1.")


def test_hybrid_grids_divide_the_same_cores_in_several_ways() -> None:
    raws = [
        raw
        for ppn, threads, time in ((1, 4, 3.0), (2, 2, 2.0), (4, 1, 1.5))
        for raw in launches(4096, [time] * 3, ranks=ppn, threads=threads)
    ] + launches(4096, [9.0] * 3)

    (table,) = build("hybrid_grid", raws)

    assert shows(table.title, "4 cores per node, ", "n × n = 4096 × 4096")
    assert texts(table) == [
        ["1 MPI process", "4 threads", "3.00 s"],
        ["2 MPI processes", "2 threads", "2.00 s"],
        ["4 MPI processes", "1 thread", "1.50 s"],
    ]


def test_hybrid_figures_have_a_curve_per_number_of_nodes() -> None:
    raws = [
        raw
        for ppn, threads, nodes, time in ((1, 4, 1, 3.0), (4, 1, 1, 1.5), (1, 4, 2, 2.0))
        for raw in launches(4096, [time] * 3, ranks=ppn * nodes, threads=threads, nodes=nodes)
    ]

    (figure,) = draw("hybrid_grid", raws)

    (panel,) = panels(figure)
    found = {one.label: [(mark.x, mark.y) for mark in one.marks] for one in panel.curves}
    assert found == {"1 node": [(1, 3.0), (4, 1.5)], "2 nodes": [(1, 2.0)]}
    assert set(figure.cases) == {case.id for case in cases(raws)}


def test_hybrid_grids_are_compared_with_table_7_1() -> None:
    raws = [
        *launches(8192, [60.0], ranks=2, threads=16),
        *launches(8192, [60.0], ranks=32),
    ]

    (table,) = build("hybrid_grid", raws, STAMPEDE)

    assert [row[2].published_value for row in table.rows] == [8 * 60 + 48.0, 8 * 60 + 39.0]


def test_clusters_adds_this_machine_to_table_5_1() -> None:
    raws = [*launches(4096, [400.0] * 3), *launches(4096, [200.0] * 3, ranks=2)]

    (table,) = build("clusters", raws, shelf=papers.list_papers())

    assert table.title == "Clusters through the years (n = 4096)"
    assert table.columns[0].title == "cluster (year)"
    assert [row[0].text for row in table.rows] == [
        "kali (2003)",
        "hpc (2008)",
        "tara (2009)",
        "maya 2009",
        "maya 2010",
        "maya 2013",
        "Stampede2 (2018)",
        "this machine, fused",
    ]
    assert [c.text for c in table.rows[0]] == [
        "kali (2003)",
        "2",
        "7,249 s",
        *("–", "–"),
        *("245 s", "29.6"),
        *("289 s", "25.1"),
    ]
    assert cell(table, "maya 2013", "spread_speedup").text == "49.1"
    assert cell(table, "this machine, fused", "ppn").text == "2"
    assert cell(table, "this machine, fused", "node_s").text == "200 s"
    assert cell(table, "this machine, fused", "node_speedup").text == "2.00"
    assert cell(table, "this machine, fused", "full_s").value is None


def test_clusters_name_processes_and_variant_and_keep_printed_precision() -> None:
    """A second that stands for half to one and a half, of 32 of a node's 48 cores."""
    raws = launches(4096, [400.0] * 3)
    both = [*raws, *launches(4096, [800.0] * 3, variant="textbook")]

    (table,), (two,) = (build("clusters", own, shelf=papers.list_papers()) for own in (raws, both))

    assert cell(table, "Stampede2 (2018)", "ppn").text == "32"
    assert cell(table, "Stampede2 (2018)", "full_s").text == "1 s"
    assert cell(table, "Stampede2 (2018)", "full_speedup").text == "522–1,569"
    assert noted(table, "hpcf-2018-10", " textbook")
    (cores,) = (note for note in table.notes if "Stampede2 (32 of 48)" in note)
    assert cores.startswith("hpcf-2018-10: ")
    assert [row[0].text for row in two.rows[-2:]] == [
        "this machine, fused",
        "this machine, textbook",
    ]


def test_clusters_of_another_mesh_use_the_published_grids() -> None:
    (table,) = build("clusters", launches(1024, [2.0] * 3), shelf=papers.list_papers())

    assert table.title == "Clusters compared (n = 1024)"
    assert table.columns[0].title == "cluster"  # the grids say no years
    assert cell(table, "tara, InfiniBand QDR", "serial_s").value == 18.88
    assert cell(table, "Stampede2, Omni-Path 100 Gbit/s", "serial_s").text == "6.65 s"
    assert cell(table, "tara, InfiniBand QDR", "spread_s").text == "1 s"
    (finer,) = build("clusters", launches(2048, [2.0] * 3), shelf=papers.list_papers())
    assert cell(finer, "tara, InfiniBand QDR", "spread_s").text == "5 s"


def test_clusters_uses_the_mesh_and_nodes_of_the_published_table() -> None:
    paper = papers.load(STAMPEDE)
    years = paper.tables["5.1"]
    rows = tuple({**row, "nodes": 16 if row["nodes"] == 32 else 1} for row in years.rows)
    other = replace(years, rows=rows, facts={**years.facts, "n": 512})
    shelf = [replace(paper, tables={**paper.tables, "5.1": other})]
    raws = [*launches(512, [400.0] * 3), *launches(512, [20.0] * 3, nodes=16, ranks=16)]

    (table,) = build("clusters", raws, shelf=shelf)

    assert table.title == "Clusters through the years (n = 512)"
    assert [column.group for column in table.columns[2:]] == ["1 node"] * 3 + ["16 nodes"] * 4
    assert cell(table, "this machine, fused", "spread_s").text == "20.0 s"
    assert build("clusters", raws, shelf=[]) == []


def test_exchange_compares_each_method_with_blocking_over_launches() -> None:
    slow, fast = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [1.0, 1.05, 1.1, 1.15, 1.2, 1.25]
    raws = [
        *launches(1024, slow, ranks=2, exchange="blocking"),
        *launches(1024, fast, ranks=2, exchange="nonblocking"),
        *launches(1024, slow, ranks=2, exchange="sendrecv"),
        *launches(1024, slow, exchange="blocking"),
        *launches(1024, slow, exchange="nonblocking"),
    ]

    (table,) = build("exchange", raws)

    assert [[c.text for c in row[1:]] for row in table.rows] == [
        ["blocking", "2.25 s", "reference", "", ""],
        ["sendrecv", "2.25 s", "1.00", "1.000", "no difference shown"],
        ["nonblocking", "1.12 s", "2.00", "0.004", "faster"],
    ]
    assert table.rows[2][3].low is not None
    assert any("corrected for 2 comparisons" in note for note in table.notes)


def test_a_case_measured_without_its_reference_is_not_called_unmeasured() -> None:
    blocking = launches(64, [2.0], ranks=2, exchange="blocking")
    raws = [
        *(bad(raw, "failed", "killed") for raw in blocking),
        *launches(64, [1.0, 1.1], ranks=2, exchange="nonblocking"),
    ]

    (table,) = build("exchange", raws)

    assert [[c.text for c in row[1:]] for row in table.rows] == [
        ["blocking", "failed", "reference", "", ""],
        ["nonblocking", "1.05 s", "–", "–", "nothing to compare with"],
    ]


def test_exchange_with_too_few_launches_is_reported() -> None:
    raws = [
        *launches(64, [2.0, 2.1, 2.2], ranks=2, exchange="blocking"),
        *launches(64, [1.0, 1.1, 1.2], ranks=2, exchange="nonblocking"),
    ]

    (table,) = build("exchange", raws)

    assert table.rows[1][5].text.startswith("too few launches")


def test_simulated_exchanges_need_no_test() -> None:
    raws = [
        *launches(64, [2.0], ranks=2, exchange="blocking", clock="simulated"),
        *launches(64, [1.0], ranks=2, exchange="nonblocking", clock="simulated"),
    ]

    (table,) = build("exchange", raws)

    assert [c.text for c in table.rows[1][3:]] == ["2.00", "–", "faster"]
    assert table.rows[1][2].marks == "‡"
    assert noted(table, "‡ ")


def test_shared_cores_and_missing_launches_are_marked() -> None:
    raws = launches(64, [1.0, 1.1, 1.2], ranks=4, layout={"oversubscribed": True})
    raws[2] = bad(raws[2], "failed", "signal 9\n" + "x" * 300)

    (table,) = build("walltime_grid", raws)

    assert table.rows[0][1].marks == "†*"
    assert noted(table, "† ")
    assert "1 of 3 launches failed" in table.notes[-1]
    assert table.notes[-1].endswith("x…")


def test_misplaced_launches_are_never_in_a_table() -> None:
    good, misplaced = launches(64, [1.0, 9.0], ranks=2)

    (table,) = build("walltime_grid", [good, bad(misplaced, "misplaced", "rank 1 on processor 0")])

    assert table.rows[0][1].value == 1.0
    assert table.notes[-1].endswith("rank 1 on processor 0")


def test_where_filters_cases_and_keeps_their_names_unambiguous() -> None:
    raws = [poisson(n, exchange=e) for n in (64, 128) for e in ("blocking", "persistent")]
    raws[3] = bad(raws[3], "timeout", "not done after 600 s")

    (table,) = build("walltime_grid", raws, where={"n": 128, "exchange": ["persistent"]})

    assert table.rows[0][1].text == "timeout"
    assert "n = 128, persistent" in table.notes[-1]


def test_cases_omitted_for_the_same_reason_share_a_line() -> None:
    why = "one socket alone"
    raws = [poisson(32), *(bad(poisson(n), "absent", why) for n in (64, 128, 256, 512, 1024))]
    raws.append(bad(poisson(2048), "failed", "killed"))

    (table,) = build("convergence", raws)

    many, one = (note for note in table.notes if note.startswith("Left out"))
    assert shows(many, "n = 64;", "n = 128;", "n = 256; and 2 more", "All 5 launches ", why)
    assert shows(one, "n = 2048", " failed: killed")


def test_a_title_states_the_filter_if_other_cases_differ() -> None:
    raws = [poisson(64, exchange=e) for e in ("blocking", "persistent")]

    (table,) = build("walltime_grid", raws, where={"exchange": ["persistent"], "n": [64]})

    assert table.title.endswith("system dimension 4,096 (persistent)")


def test_a_worse_launch_changes_the_table() -> None:
    raws = launches(64, [1.0, 2.0, 3.0])

    (before,) = build("walltime_grid", raws)
    (after,) = build("walltime_grid", [*raws[:2], changed(raws[2], times_s=[1.5])])

    assert (before.rows[0][1].value, after.rows[0][1].value) == (2.0, 1.5)


def test_a_published_row_must_match_in_all_keys() -> None:
    (case,) = cases(launches(2048, [1.0]))
    library = Library([papers.load(STAMPEDE)])

    assert library.find(case, "time_s", ("walltime_grid",), ("n",)) is None
    found = library.find(case, "time_s", ("walltime_grid",))
    assert found is not None
    assert (found.text, found.low, found.high) == ("85 s", 84.5, 85.5)


def test_one_process_uses_the_published_time_of_its_exchange_if_any() -> None:
    blocking, persistent = cases(
        [poisson(2048, exchange="blocking"), poisson(2048, exchange="persistent")]
    )
    library = Library([papers.load(TARA)])

    own = library.find(blocking, "time_s", ("walltime_grid",))
    any_exchange = library.find(persistent, "time_s", ("walltime_grid",))

    assert own is not None and own.source == "tara (hpcf-2010-6, table 5.1)"
    assert any_exchange is not None and any_exchange.source == "tara (hpcf-2010-6, table 4.1)"


def test_settings_shared_by_all_exchanges_are_in_the_title() -> None:
    raws = [
        raw
        for n in (64, 128)
        for exchange in ("blocking", "nonblocking")
        for raw in launches(n, [1.0, 1.1], ranks=2, exchange=exchange)
    ]
    several = [*raws, *launches(64, [1.0], ranks=4, exchange="blocking")]
    several += launches(64, [1.0], ranks=4)

    (table,), (other,) = (build("exchange", own) for own in (raws, several))

    assert table.title == "Exchanges compared (fused, 2 processes)"
    assert other.title == "Exchanges compared (fused)"
    assert "n = 64, 4 processes" in [row[0].text for row in other.rows]


def test_processes_list_threads_if_there_are_several() -> None:
    (table,) = build("convergence", [*launches(64, [1.0], ranks=2), *launches(128, [1.0], ranks=4)])

    assert "n = 64: 2 processes." in table.notes


def test_bindings_have_a_separate_table() -> None:
    raws = [
        raw
        for bind, time in (("close", 1.0), ("spread", 0.8))
        for raw in launches(64, [time * (1 + 0.001 * k) for k in range(7)], ranks=2,
                            layout={"bind": bind, "ppn": 2})
    ]  # fmt: skip

    (table,) = build("bind", raws)

    assert table.title == "Bindings compared (n = 64, fused, 2 processes)"
    assert [[cell.text for cell in row[1:4]] for row in table.rows] == [
        ["close", "1.00 s", "reference"],
        ["spread", "802 ms", "1.25"],
    ]


def test_a_shortened_solve_is_not_compared_with_published_ones() -> None:
    """Sixteen iterations are not a complete solve."""
    raws = [*launches(1024, [2.3], nodes=2, ranks=2), *launches(1024, [2.3])]
    whole = build("walltime_grid", raws, STAMPEDE)
    for raw in raws:
        raw["params"]["iterations"] = 16
    cut = build("walltime_grid", raws, STAMPEDE)

    published = [
        [cell.published for table in tables for row in table.rows for cell in row if cell.published]
        for tables in (whole, cut)
    ]
    assert published[0] and not published[1]


def test_process_memory_is_listed_with_the_memory_of_the_vectors() -> None:
    raws = [poisson(1024, ranks=p) for p in (1, 2)]
    for raw in raws:
        raw["memory"] = {
            "predicted_bytes": 2**25,
            "rss_bytes": 2**25 + raw["layout"]["ppn"] * 2**22,
        }

    (table,) = build("memory_by_ranks", raws)

    assert [one.value for one in column(table, "memory_beyond_bytes")] == [2**22, 2**22]
    assert [one.value for one in column(table, "memory_observed_bytes")] == [
        2**25 + 2**22,
        2**25 + 2**23,
    ]
    for raw in raws:
        raw |= {"clock": "simulated", "simulation": {"cluster": "tara", "verified": False}}
    assert build("memory_by_ranks", raws) == []
