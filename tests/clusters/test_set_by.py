# SPDX-License-Identifier: BSD-3-Clause
"""Published cells that numbers of cluster files were chosen by."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_files import changed, described, quantity, refused

from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import numbers, scaled
from haloscope.clusters.schema import Cluster, state
from haloscope.clusters.set_by import set_by, settings
from haloscope.papers import tables as papers

CELLS = {"paper": "hpcf-2018-10", "tables": ["4.1", "7.1"], "where": {"n": [1024, 4096]}}


def chosen(**cells: Any) -> Cluster:
    return described(nodes=4, node=described().node.model_dump() | {"smt_gain": number(**cells)})


def number(**cells: Any) -> dict[str, Any]:
    return quantity(1.1) | {"set_by": [CELLS | cells]}


def covered(cluster: Cluster, table: str) -> set[object]:
    found = papers.load("hpcf-2018-10").table(table)
    return {row["n"] for row in found.rows if "node.smt_gain" in set_by(cluster, found, row)}


def test_cells_with_any_of_the_given_values_set_a_number() -> None:
    assert covered(chosen(), "4.1") == {1024, 4096}
    assert covered(chosen(), "7.1") == {4096}
    assert covered(chosen(), "7.2") == set()
    assert covered(chosen(where={"n": 2048}), "4.1") == {2048}
    assert covered(chosen(where={"n": 2048, "nodes": 64}), "4.1") == set()
    assert covered(chosen(where={}), "4.1") == {1024, 2048, 4096, 8192, 16384}
    assert covered(chosen(where={"cluster": "Stampede2", "n": 1024}), "4.1") == {1024}


def test_numbers_are_named_by_key_including_defaults() -> None:
    table = papers.load("hpcf-2018-10").table("4.1")
    stampede2 = cluster_file.find("stampede2")

    alone = set_by(stampede2, table, {"n": 1024, "nodes": 1, "ppn": 1})
    several = set_by(stampede2, table, {"n": 8192, "nodes": 8, "ppn": 1})

    assert alone == (
        *(f"node.memory#{index}.bandwidth_bytes_per_s" for index in range(1, 7)),
        "node.spread.nodes",
    )
    assert several == ("node.sharpness", "node.knee")
    assert set_by(stampede2, table, {"n": 1024, "nodes": 2, "ppn": 1}) == ()
    assert [one.where for one in settings(described()) if "smt" in one.where] == []


def test_set_by_does_not_affect_the_simulation(tmp_path: Path) -> None:
    with_cells, without = chosen(), chosen()
    gain = without.node.smt_gain
    assert gain is not None
    node = without.node.model_copy(update={"smt_gain": gain.model_copy(update={"set_by": ()})})
    without = without.model_copy(update={"node": node})

    assert settings(with_cells) != settings(without)
    assert state(with_cells) == state(without)

    cluster_file.write(with_cells, tmp_path / "tiny.toml")
    assert settings(cluster_file.load(tmp_path / "tiny.toml")) == settings(with_cells)


def test_a_scaled_number_is_set_by_the_same_cells() -> None:
    source = {"source": "assumed: a test"}
    cluster = described(node=described().node.model_dump() | {"smt_gain": number() | source})
    (gain,) = (one for one in numbers(cluster) if one.where == "node.smt_gain")

    larger = scaled(cluster, gain, 1.5)

    assert larger.node.smt_gain is not None and larger.node.smt_gain.value == 1.1 * 1.5
    assert settings(larger) == settings(cluster)


@pytest.mark.parametrize(
    ("cells", "key", "what"),
    [
        ('paper = "hpcf-2018", tables = ["4.1"]', "", "paper: 'hpcf-2018' is unknown"),
        (
            'paper = "hpcf-2018-10", tables = ["9.1"]',
            "",
            "hpcf-2018-10, table: '9.1' is unknown",
        ),
        (
            'paper = "hpcf-2018-10", tables = ["4.1"], where = { N = 1024 }',
            "",
            "table 4.1 has no column 'N'",
        ),
        (
            'paper = "hpcf-2018-10", tables = ["4.1", "7.1"], where = { n = [1024, 32] }',
            "",
            "no cell has n = 32",
        ),
        ('paper = "hpcf-2018-10", tables = []', "#1.tables", "at least 1"),
        ('paper = "hpcf-2018-10", tables = ["4.1"], table = "x"', "#1.table", "unknown key"),
    ],
)
def test_unpublished_cells_are_refused(tmp_path: Path, cells: str, key: str, what: str) -> None:
    old = 'source = "HPCF-2018-10, section 4" }'
    path, error = refused(tmp_path, (old, f"{old[:-2]}, set_by = [{{ {cells} }}] }}"))
    (problem,) = error.problems
    assert problem.where == f"{path}: node.clock_ghz.set_by{key}"
    assert what in problem.what


def test_one_value_needs_no_list(tmp_path: Path) -> None:
    old = 'source = "HPCF-2018-10, section 4" }'
    cells = 'set_by = [{ paper = "hpcf-2018-10", tables = ["4.1"], where = { ppn = 4 } }]'
    clock = cluster_file.load(changed(tmp_path, (old, f"{old[:-2]}, {cells} }}"))).node.clock_ghz
    assert clock is not None
    assert [one.where for one in clock.set_by] == [{"ppn": (4,)}]


_TABLE = re.compile(r"(hpcf-20\d\d-\d+|anl-petsc-summit-part2|orfeo-mpi-report|task-mapping-drop)")


def test_every_shipped_number_from_a_table_names_its_cells() -> None:
    """Assumed ones come from no table that they name, messages of ORFEO's files from captions."""
    seen = 0
    for name, path in cluster_file.ready().items():
        for where, table in sourced(tomllib.loads(path.read_text(encoding="utf-8"))):
            source = str(table["source"])
            captions = name.startswith("orfeo") and where.startswith(".messages")
            if " table" not in source or source.startswith("assumed") or captions:
                continue
            assert "set_by" in table, (name, where)
            (paper,) = {one.lower() for one in re.findall(_TABLE, source.lower())}
            assert {one["paper"] for one in table["set_by"]} == {paper}, (name, where)
            seen += 1
    assert seen > 40


def sourced(table: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every table of a file that has a source and a value, with its place."""
    if isinstance(table, list):
        for one in table:
            yield from sourced(one, where)
    if isinstance(table, dict):
        if "source" in table and "value" in table:
            yield where, table
        for key, part in table.items():
            yield from sourced(part, f"{where}.{key}")
