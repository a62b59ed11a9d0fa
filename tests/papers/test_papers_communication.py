# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the three papers on ping-pong, neighbourhoods, Jacobi and task mapping."""

from __future__ import annotations

import pytest
from published import value as value_of

from haloscope.papers import tables as papers

SUMMIT = "anl-petsc-summit-part2"
ORFEO = "orfeo-mpi-report"
MAPPING = "task-mapping-drop"

ROWS = {
    SUMMIT: {"1": 79, "2": 120, "3": 180, "4": 22, "section-5.4": 3, "fig15": 2},
    ORFEO: {
        "eq1": 6,
        "fig2": 6,
        "I": 11,
        "II": 12,
        "III": 12,
        "IV": 1,
        "V": 1,
        "VI": 6,
        "VII": 6,
        "VIII": 6,
        "IX": 6,
        "X": 10,
        "XI": 12,
    },
    MAPPING: {"1": 21, "2": 27, "3": 27, "4": 8, "5": 12, "6": 8, "fig8": 10, "section-6": 5},
}
MODELLED = ["VI", "VII", "VIII", "IX", "X", "XI"]


def number(value: papers.PublishedValue) -> float:
    assert isinstance(value, int | float)
    return value


@pytest.mark.parametrize("paper", ROWS)
def test_every_table_is_complete(paper: str) -> None:
    tables = papers.load(paper).tables
    assert {table_id: len(tables[table_id].rows) for table_id in tables} == ROWS[paper]


@pytest.mark.parametrize(
    ("paper", "table_id", "column", "where", "value"),
    [
        (SUMMIT, "1", "latency_s", {"size_bytes": 8, "placement": "inter_node"}, 6.0e-6),
        (SUMMIT, "1", "latency_s", {"size_bytes": 32, "placement": "inter_node"}, None),
        (SUMMIT, "1", "latency_us", {"size_bytes": 1 << 20, "placement": "inter_socket"}, 43.2),
        (SUMMIT, "2", "latency_us", {"size_bytes": 8, "placement": "inter_node"}, 12.0),
        (
            SUMMIT,
            "2",
            "latency_us",
            {"size_bytes": 4 << 20, "placement": "intra_socket", "option": "D"},
            107.9,
        ),
        (
            SUMMIT,
            "3",
            "latency_us",
            {"size_bytes": 512, "placement": "inter_node", "kernel": "sf_scatter"},
            23.2,
        ),
        (SUMMIT, "4", "latency_us", {"n": 64, "nodes": 9}, 45.0),
        (SUMMIT, "4", "latency_us", {"size_bytes": 32768, "ppn": 3}, 498.3),
        (SUMMIT, "section-5.4", "time_us", {"overlap": "event", "kernel": "spmv"}, 902.2),
        (ORFEO, "eq1", "latency_us", {"node": "THIN", "ranks_from": 25}, 1.16),
        (ORFEO, "fig2", "latency_us", {"placement": "inter_socket", "method": "fitted"}, -113.19),
        (ORFEO, "I", "time_high_s", {"px": 6, "py": 2, "split": "even"}, 0.642249),
        (ORFEO, "I", "time_low_s", {"px": 6, "py": 2, "split": "topology"}, None),
        (ORFEO, "II", "time_low_s", {"px": 8, "split": "topology"}, 0.619586),
        (ORFEO, "III", "elements_most", {"px": 24, "split": "topology"}, None),
        (ORFEO, "III", "elements_fewest", {"px": 6, "py": 4, "split": "topology"}, 997500),
        (ORFEO, "V", "mlups", {"ranks": 1}, 78.29),
        (ORFEO, "VI", "mlups", {"ranks": 12, "py": 2}, 1310.58),
        (ORFEO, "X", "mlups", {"ranks": 48, "px": 4}, 5080.64),
        (ORFEO, "XI", "mlups", {"ranks": 25, "px": 5}, 1389.4),
        (MAPPING, "1", "nodes", {"ranks": 2197, "mapping": "concentrated"}, 140),
        (MAPPING, "2", "nodes_stampede", {"ranks": 1024, "mapping": "intermediate"}, 169),
        (MAPPING, "3", "nodes", {"ranks": 512, "mapping": "concentrated"}, 82),
        (MAPPING, "4", "variability_percent", {"release": "2015-02", "ranks": 512}, 9.9),
        (MAPPING, "5", "time_s", {"kernel": "minife", "ranks": 8, "cluster": "Helios"}, 343),
        (MAPPING, "5", "time_s", {"kernel": "bigfft", "ranks": 8, "cluster": "Helios"}, None),
        (MAPPING, "6", "time_s", {"ranks": 2048, "nodes": 167}, 1982),
        (MAPPING, "6", "time_s", {"ranks": 16, "ppn": 8}, 411),
    ],
)
def test_cells(
    paper: str,
    table_id: str,
    column: str,
    where: dict[str, papers.Scalar],
    value: papers.PublishedValue,
) -> None:
    assert value_of(papers.load(paper).table(table_id), column, **where) == value


@pytest.mark.parametrize(
    ("placement", "gigabytes_per_s"),
    [("intra_gpu", 364.7), ("intra_socket", 47.2), ("inter_socket", 34.5), ("inter_node", 9.7)],
)
def test_bandwidths_in_the_text_follow_from_the_pingpong_table(
    placement: str, gigabytes_per_s: float
) -> None:
    table = papers.load(SUMMIT).table("1")
    start = number(value_of(table, "latency_s", size_bytes=8, placement=placement))
    total = number(value_of(table, "latency_s", size_bytes=4 << 20, placement=placement))
    assert (4 << 20) / (total - start) / 1e9 == pytest.approx(gigabytes_per_s, abs=0.05)


@pytest.mark.parametrize("paper", [SUMMIT, ORFEO])
def test_seconds_match_the_microseconds(paper: str) -> None:
    for table in papers.load(paper).tables.values():
        for row in table.rows:
            for name in ("latency", "time"):
                if f"{name}_us" in row:
                    seconds = number(row[f"{name}_s"])
                    assert seconds == pytest.approx(number(row[f"{name}_us"]) * 1e-6, rel=1e-9)


def test_halo_messages_are_faces_of_doubles() -> None:
    for row in papers.load(SUMMIT).table("4").rows:
        assert row["size_bytes"] == 8 * number(row["n"])
        assert number(row["nodes"]) * number(row["ppn"]) == 9


@pytest.mark.parametrize("table_id", MODELLED)
def test_jacobi_ratios_and_models_match_their_figures(table_id: str) -> None:
    table = papers.load(ORFEO).table(table_id)
    facts = {name: value for name, value in table.facts.items() if not isinstance(value, str)}
    serial_mlups = facts["n"] ** 3 / facts["serial_time_s"] / 1e6
    for row in table.rows:
        directions = [number(row[name]) for name in ("px", "py", "pz")]
        ranks = directions[0] * directions[1] * directions[2]
        faces = 2 * sum(count > 1 for count in directions)
        volume = faces * facts["n"] ** 2 * 16
        assert (row["ranks"], row["neighbours"]) == (ranks, faces)
        assert number(row["volume_mb"]) == pytest.approx(volume / 1e6)
        for measured, ratio in (("mlups", "ratio"), ("model_mlups", "model_ratio")):
            expected = ranks * serial_mlups / number(row[measured])
            assert number(row[ratio]) == pytest.approx(expected, abs=0.0011)
        if "bandwidth_bytes_per_s" in facts:
            exchange = volume / facts["bandwidth_bytes_per_s"] + faces * facts["latency_s"]
            model = ranks * facts["n"] ** 3 / (facts["serial_time_s"] + exchange) / 1e6
            assert number(row["model_mlups"]) == pytest.approx(model, rel=2e-5)


@pytest.mark.parametrize("table_id", ["I", "II", "III"])
def test_matrix_sum_intervals_and_shares(table_id: str) -> None:
    table = papers.load(ORFEO).table(table_id)
    for row in table.rows:
        assert number(row["px"]) * number(row["py"]) * number(row["pz"]) == 24
        assert 0.61 < number(row["time_low_s"]) < number(row["time_high_s"]) < 0.65
        assert number(row["elements_fewest"]) <= 1_000_000
        assert row["elements_most"] is None or number(row["elements_most"]) >= 1_000_000


def test_mapping_plans_keep_the_work_per_task() -> None:
    mapping = papers.load(MAPPING)
    for row in mapping.table("1").rows:
        assert number(row["bins"]) ** 3 == row["ranks"]
    for row in mapping.table("2").rows:
        assert number(row["n"]) ** 3 / number(row["ranks"]) == pytest.approx(16e6, rel=2e-4)
        assert number(row["nodes_stampede"]) <= 256
    for row in mapping.table("3").rows:
        points = number(row["nx"]) * number(row["ny"]) * number(row["nz"])
        assert number(row["pencil_rows"]) * number(row["pencil_columns"]) == row["ranks"]
        assert points == 2**25 * number(row["ranks"])
    for table_id in ("1", "2", "3"):
        for row in mapping.table(table_id).rows:
            assert number(row["nodes"]) <= number(row["ranks"])


def test_statements_on_mappings_match_the_table() -> None:
    mapping = papers.load(MAPPING)
    said = {(row["kernel"], row["cluster"]): row for row in mapping.table("section-6").rows}
    assert len(said) == 5
    fft = said["bigfft", "Eagle"]
    few, many = (mapping.table("6").cell("time_s", ranks=2048, nodes=n) for n in (128, 256))
    assert few and many and fft["faster"] == "concentrated"
    assert 1 < number(many.value) / number(few.value) < 1 + number(fft["difference_percent"]) / 100
