# SPDX-License-Identifier: BSD-3-Clause
"""The published tables: every shape, cells of every table, and the papers against themselves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from published import value

from haloscope.errors import UserError
from haloscope.papers import tables as papers

STAMPEDE = "hpcf-2018-10"
TARA = "hpcf-2010-6"

ROWS = {
    STAMPEDE: {
        "3.1": 7,
        "4.1": 150,
        "4.2": 120,
        "4.3": 115,
        "5.1": 28,
        "section-5": 1,
        "6.1": 150,
        "6.2": 120,
        "6.3": 150,
        "7.1": 72,
        "7.2": 84,
    },
    TARA: {
        "3.1": 10,
        "4.1": 140,
        "4.2": 50,
        "4.3": 50,
        "4.4": 50,
        "4.5": 50,
        "5.1": 112,
        "5.2": 50,
        "5.3": 50,
        "5.4": 50,
        "5.5": 50,
    },
}
SCALING = ["4.2", "4.3", "4.4", "4.5", "5.2", "5.3", "5.4", "5.5"]
TIMED = [(paper, table) for paper, tables in ROWS.items() for table in tables]

# n, nodes, ppn -> printed time: corners of the sub-grids, and cells beside the garbled ones
GRID_CELLS = [
    (STAMPEDE, "4.1", 1024, 1, 1, "00:00:07"),
    (STAMPEDE, "4.1", 1024, 1, 16, "00:00:01"),
    (STAMPEDE, "4.1", 1024, 2, 4, "00:00:01"),
    (STAMPEDE, "4.1", 2048, 1, 1, "00:01:25"),
    (STAMPEDE, "4.1", 4096, 2, 1, "00:06:16"),
    (STAMPEDE, "4.1", 4096, 16, 16, "00:00:02"),
    (STAMPEDE, "4.1", 8192, 1, 4, "00:27:42"),
    (STAMPEDE, "4.1", 16384, 1, 1, "14:29:41"),
    (STAMPEDE, "4.1", 16384, 16, 32, "00:04:16"),
    (STAMPEDE, "4.2", 1024, 1, 16, "00:00:00"),
    (STAMPEDE, "4.2", 4096, 2, 32, "00:00:31"),
    (STAMPEDE, "4.2", 8192, 1, 2, "00:55:12"),
    (STAMPEDE, "4.2", 8192, 16, 32, "00:00:21"),
    (STAMPEDE, "4.3", 2048, 1, 1, "00:01:22"),
    (STAMPEDE, "4.3", 2048, 1, 16, "00:00:07"),
    (STAMPEDE, "4.3", 4096, 8, 32, "00:00:02"),
    (STAMPEDE, "4.3", 8192, 16, 32, "00:00:21"),
    (STAMPEDE, "4.3", 16384, 1, 1, "14:17:25"),
    (STAMPEDE, "4.3", 16384, 16, 32, "00:04:27"),
    (STAMPEDE, "6.1", 1024, 1, 1, "00:00:08"),
    (STAMPEDE, "6.1", 8192, 16, 32, "00:00:26"),
    (STAMPEDE, "6.1", 16384, 1, 1, "14:22:52"),
    (STAMPEDE, "6.1", 16384, 2, 2, "03:35:03"),
    (STAMPEDE, "6.1", 16384, 16, 16, "00:05:57"),
    (STAMPEDE, "6.2", 2048, 1, 1, "00:01:28"),
    (STAMPEDE, "6.2", 8192, 4, 32, "00:02:56"),
    (STAMPEDE, "6.3", 1024, 16, 32, "00:00:01"),
    (STAMPEDE, "6.3", 4096, 16, 32, "00:00:04"),
    (STAMPEDE, "6.3", 16384, 16, 32, "00:04:49"),
    (TARA, "4.1", 1024, 1, 1, "00:00:19"),
    (TARA, "4.1", 4096, 4, 1, "00:06:21"),
    (TARA, "4.1", 16384, 4, 2, "02:48:07"),
    (TARA, "4.1", 16384, 64, 8, "00:06:07"),
    (TARA, "5.1", 2048, 64, 8, "00:00:20"),
    (TARA, "5.1", 4096, 64, 8, "00:01:13"),
    (TARA, "5.1", 8192, 64, 2, "00:03:08"),
    (TARA, "5.1", 16384, 2, 1, "09:50:28"),
    (TARA, "5.1", 16384, 64, 1, "00:29:60"),
]

# n, ranks -> nodes, ppn, printed time, speedup, efficiency
SCALING_CELLS = [
    ("4.2", 2048, 64, 64, 1, "00:00:03", 43.8392, 0.6850),
    ("4.3", 16384, 8, 4, 2, "02:48:07", 6.5680, 0.8210),
    ("4.4", 4096, 64, 16, 4, "00:00:35", 31.8089, 0.4970),
    ("4.5", 8192, 256, 32, 8, "00:01:29", 93.4859, 0.3652),
    ("5.2", 16384, 64, 64, 1, "00:29:60", 36.8082, 0.5751),
    ("5.3", 1024, 64, 32, 2, "00:00:02", 11.7986, 0.1844),
    ("5.4", 4096, 128, 32, 4, "00:00:31", 36.1795, 0.2827),
    ("5.5", 1024, 256, 32, 8, "00:00:03", 5.8529, 0.0229),
]


def table(paper: str, table_id: str) -> papers.PaperTable:
    return papers.load(paper).table(table_id)


def number(value: papers.PublishedValue) -> float:
    assert isinstance(value, int | float)
    return value


def clock(text: str) -> int:
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def test_every_table_is_complete() -> None:
    there = {paper.id: paper for paper in papers.list_papers()}
    for paper_id, rows in ROWS.items():
        tables = there[paper_id].tables
        assert {table_id: len(tables[table_id].rows) for table_id in tables} == rows


@pytest.mark.parametrize(("paper", "table_id", "n", "nodes", "ppn", "text"), GRID_CELLS)
def test_grid_cells(paper: str, table_id: str, n: int, nodes: int, ppn: int, text: str) -> None:
    cell = table(paper, table_id).cell(n=n, nodes=nodes, ppn=ppn, threads=1)
    assert cell is not None
    assert (cell.text, cell.value) == (text, clock(text))


@pytest.mark.parametrize(
    ("table_id", "n", "ranks", "nodes", "ppn", "text", "speedup", "efficiency"), SCALING_CELLS
)
def test_scaling_cells(
    table_id: str,
    n: int,
    ranks: int,
    nodes: int,
    ppn: int,
    text: str,
    speedup: float,
    efficiency: float,
) -> None:
    (row,) = (row for row in table(TARA, table_id).rows if row["n"] == n and row["ranks"] == ranks)
    assert row == {
        "n": n,
        "ranks": ranks,
        "nodes": nodes,
        "ppn": ppn,
        "time_text": text,
        "time_s": clock(text),
        "speedup": speedup,
        "efficiency": efficiency,
    }


def test_convergence_cells() -> None:
    tara = table(TARA, "3.1")
    assert [row["iterations"] for row in tara.rows[:8]] == [48, 96, 192, 387, 783, 1581, 3192, 6452]
    assert value(tara, "error_max", n=4096) == 1.9365e-07
    assert value(tara, n=16384) == 66251.23
    assert value(tara, "memory_observed_mb", n=8192) == 2109
    stampede = table(STAMPEDE, "3.1")
    assert value(stampede, "iterations", n=65536) == 107261
    assert value(stampede, "error_max", n=32768) == 3.0870e-09
    assert value(stampede, "memory_observed_gb", n=32768, nodes=32, ppn=32) == 95.01
    assert value(stampede, n=8192) == 6393.86


def test_clusters_and_hybrid_cells() -> None:
    clusters = table(STAMPEDE, "5.1")
    assert value(clusters, cluster="kali", case="full") == 289
    assert value(clusters, "speedup", cluster="tara", case="full") == 208.44
    assert value(clusters, cluster="Stampede2", nodes=32, ppn=32) == 1
    assert value(table(STAMPEDE, "7.1"), n=8192, nodes=2, ppn=16, threads=2) == clock("00:04:48")
    assert value(table(STAMPEDE, "7.1"), n=4096, nodes=1, ppn=1) == clock("00:01:38")
    assert value(table(STAMPEDE, "7.2"), n=8192, nodes=32, ppn=64, threads=1) == 8
    assert value(table(STAMPEDE, "7.2"), n=4096, nodes=1, ppn=4, threads=16) == clock("00:01:08")


@pytest.mark.parametrize(
    ("paper", "table_id", "where"),
    [
        (STAMPEDE, "4.3", {"n": 1024, "nodes": 1, "ppn": 1}),
        (STAMPEDE, "4.3", {"n": 2048, "nodes": 16, "ppn": 4}),
        (STAMPEDE, "4.3", {"n": 4096, "nodes": 16, "ppn": 16}),
        (STAMPEDE, "4.2", {"n": 16384, "nodes": 1, "ppn": 1}),
        (STAMPEDE, "6.2", {"n": 16384, "nodes": 1, "ppn": 1}),
        (STAMPEDE, "5.1", {"cluster": "kali", "case": "node"}),
        (TARA, "5.1", {"n": 1024, "nodes": 1, "ppn": 1}),
        (TARA, "3.1", {"n": 32}),
    ],
)
def test_unreadable_cells_are_none(
    paper: str, table_id: str, where: dict[str, papers.Scalar]
) -> None:
    assert value(table(paper, table_id), "time_s", **where) is None


def test_tables_with_omitted_cells_say_so() -> None:
    said = {(paper, one) for paper, one in TIMED if table(paper, one).omitted}
    assert said == {
        (STAMPEDE, "3.1"),
        (STAMPEDE, "4.2"),
        (STAMPEDE, "4.3"),
        (STAMPEDE, "6.2"),
        (TARA, "5.1"),
    }
    assert "n = 16384" in " ".join(table(STAMPEDE, "6.2").omitted)


@pytest.mark.parametrize(("paper", "table_id"), TIMED)
def test_seconds_match_the_printed_text(paper: str, table_id: str) -> None:
    for row in table(paper, table_id).rows:
        text = row["time_text"]
        if isinstance(text, str) and text != "N/A" and not text.startswith("<"):
            assert abs(clock(text) - number(row["time_s"])) <= 0.5


@pytest.mark.parametrize(("paper", "table_id"), TIMED)
def test_times_increase_with_the_mesh_size(paper: str, table_id: str) -> None:
    series: dict[tuple[papers.PublishedValue, ...], list[tuple[float, float]]] = {}
    for row in table(paper, table_id).rows:
        if "n" in row and row["time_s"] is not None and row["n"] not in (32768, 65536):
            layout = tuple(row.get(key) for key in ("ranks", "nodes", "ppn", "threads"))
            series.setdefault(layout, []).append((number(row["n"]), number(row["time_s"])))
    for times in series.values():
        assert all(small[1] <= large[1] for small, large in pairwise(sorted(times)))


@pytest.mark.parametrize("table_id", SCALING)
def test_speedup_times_time_is_the_serial_time(table_id: str) -> None:
    serial = table(TARA, "3.1")
    for row in table(TARA, table_id).rows:
        speedup, time = number(row["speedup"]), number(row["time_s"])
        expected = number(value(serial, n=number(row["n"]))) / speedup
        assert abs(time - expected) <= 0.5 + 0.00005 / speedup * expected + 0.005
        assert number(row["efficiency"]) == pytest.approx(speedup / number(row["ranks"]), abs=6e-5)


@pytest.mark.parametrize("section", ["4", "5"])
def test_scaling_tables_match_the_grid(section: str) -> None:
    grid = table(TARA, f"{section}.1")
    compared = 0
    for table_id in SCALING:
        if not table_id.startswith(section):
            continue
        for row in table(TARA, table_id).rows:
            assert number(row["nodes"]) * number(row["ppn"]) == row["ranks"]
            n, nodes, ppn = number(row["n"]), number(row["nodes"]), number(row["ppn"])
            published = value(grid, "time_text", n=n, nodes=nodes, ppn=ppn)
            if published is not None:
                assert published == row["time_text"]
                compared += 1
    assert compared == {"4": 200, "5": 160}[section]


def test_cluster_speedups_follow_from_the_times() -> None:
    clusters = table(STAMPEDE, "5.1")
    for row in clusters.rows:
        if row["speedup"] is not None:
            cell = clusters.cell(cluster=str(row["cluster"]), case=str(row["case"]))
            serial = number(value(clusters, cluster=str(row["cluster"]), case="serial"))
            assert cell is not None and cell.low is not None and cell.high is not None
            assert (serial - 0.5) / cell.high - 0.005 <= number(row["speedup"])
            assert number(row["speedup"]) <= (serial + 0.5) / cell.low + 0.005


def test_a_cell_has_the_interval_of_its_rounding() -> None:
    zero = table(STAMPEDE, "4.1").cell(n=1024, nodes=16, ppn=32)
    assert zero == papers.PublishedCell(0.0, "00:00:00", 0.0, 0.5)
    serial = table(TARA, "3.1").cell(n=1024)
    assert serial is not None and serial.low is not None and serial.high is not None
    assert (serial.low, serial.high) == pytest.approx((18.875, 18.885))
    speedup = table(TARA, "4.2").cell("speedup", n=1024, ranks=2)
    assert speedup == papers.PublishedCell(2.0478, "2.0478", 2.0478, 2.0478)
    word = table(STAMPEDE, "5.1").cell("time_text", cluster="kali", case="node")
    assert word == papers.PublishedCell("N/A", "N/A", None, None)


def test_grids_use_the_published_layout() -> None:
    times, speedups = table(STAMPEDE, "5.1").grids()
    assert times.corner == ("cluster", "year")
    assert times.across == ("serial", "node", "spread", "full")
    assert times.rows[0] == (("kali", "2003"), ("02:00:49", "N/A", "00:04:05", "00:04:49"))
    assert speedups.rows[0] == (("kali", "2003"), ("", "", "29.59", "25.08"))
    first, *_, last = table(STAMPEDE, "7.2").grids()
    assert (first.title, last.title) == ("n = 4096", "n = 8192")
    assert first.across == tuple(f"nodes {nodes}" for nodes in (1, 2, 4, 8, 16, 32))
    assert last.rows[-1][0] == ("64", "1")


def test_facts_can_be_selected_like_columns() -> None:
    grid = table(STAMPEDE, "4.1")
    assert value(grid, n=1024, nodes=1, ppn=1, omp_proc_bind="close", threads=1) == 7
    assert value(grid, n=1024, nodes=1, ppn=1, omp_proc_bind="spread") is None
    assert value(grid, n=1024, nodes=2, ppn=4) == 1


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: papers.load("hpcf-2018-1"), "did you mean 'hpcf-2018-10'?"),
        (lambda: papers.load(TARA).table("5.6"), "'5.6' is unknown"),
        (lambda: value(table(STAMPEDE, "4.1"), "tme_s", n=1024), "did you mean 'time_s'?"),
        (lambda: value(table(STAMPEDE, "4.1"), node=2), "did you mean 'nodes'?"),
        (lambda: value(table(STAMPEDE, "4.1"), n=1024, nodes=2), "6 rows match n = 1024"),
    ],
)
def test_names_that_do_not_exist_are_refused(ask: object, message: str) -> None:
    assert callable(ask)
    with pytest.raises(UserError) as error:
        ask()
    assert message in str(error.value)
