# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files that are refused: unknown and missing keys, wrong types, impossible numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_files import changed, refused
from noted import shows

from haloscope.clusters import file as cluster_file
from haloscope.errors import UserError


@pytest.mark.parametrize("nodes", ["true", '"1736"', "0", "1.5"])
def test_counts_are_whole_numbers(tmp_path: Path, nodes: str) -> None:
    path, error = refused(tmp_path, ("nodes = 1736", f"nodes = {nodes}"))
    assert [problem.where for problem in error.problems] == [f"{path}: nodes"]


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ('value = "2.1"', "value"),
        ("value = true", "value"),
        ('value = 2.1, low = "2"', "low"),
        ("value = 2.1, low = true", "low"),
        ("value = 2.1, high = '3'", "high"),
    ],
)
def test_numbers_are_numbers(tmp_path: Path, said: str, key: str) -> None:
    path, error = refused(tmp_path, ("value = 2.1,", f"{said},"))
    (problem,) = error.problems
    assert problem.where == f"{path}: node.clock_ghz.{key}"
    assert shows(problem.remedy, " GHz above 0")


def test_a_whole_number_is_a_number(tmp_path: Path) -> None:
    clock = cluster_file.load(changed(tmp_path, ("value = 2.1,", "value = 2,"))).node.clock_ghz
    assert clock is not None
    assert clock.value == 2


def test_a_missing_or_malformed_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="file not found"):
        cluster_file.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(UserError, match="TOML syntax"):
        cluster_file.load(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "nodes = 1736",
            "nods = 1736",
            {
                "nodes": ("missing", "give an integer, at least 1"),
                "nods": (
                    "unknown key",
                    "did you mean 'nodes'? choose one of: disturbed, messages, mpi, ",
                ),
            },
        ),
        (
            "shared_by = 1\n",
            "shared = 1\n",
            {
                "node.caches#1.shared_by": ("missing", "give an integer, at least 1"),
                "node.caches#1.shared": (
                    "unknown key",
                    "did you mean 'shared_by'? choose one of: bandwidth_bytes_per_s, "
                    "crowded_bytes_per_s, inclusive, level, shared_by, size_bytes, source, "
                    "usable_bytes",
                ),
            },
        ),
        (
            "size_bytes = 34603008\n",
            "",
            {
                "node.caches#2.size_bytes": (
                    "missing",
                    "give an integer of bytes, at least 1",
                )
            },
        ),
        (
            "value = 201.43e9",
            "value = -1",
            {
                "node.memory#6.bandwidth_bytes_per_s.value": (
                    "-1",
                    "give a number of bytes per second above 0",
                )
            },
        ),
        (
            'clock_ghz = { value = 2.1, source = "HPCF-2018-10, section 4" }',
            "clock_ghz = 2.1",
            {
                "node.clock_ghz": (
                    "2.1",
                    'give a number of GHz and its source: { value = ..., source = "..." }',
                )
            },
        ),
        (
            '"fat_tree"',
            '"fattree"',
            {
                "network.topology": (
                    "fattree",
                    "did you mean 'fat_tree'? give one of",
                )
            },
        ),
        (
            'source = "HPCF-2018-10, section 4"\n',
            "",
            {
                f"{table}.source": ("missing", "give the source of these numbers")
                for table in ("node", "node.caches#1", "node.caches#2")
            },
        ),
        (
            "nodes = 1736",
            'name = "other"\nnodes = 1736',
            {
                "name": (
                    "differs from the file name, 'odd'",
                    "remove this key; the file name is used",
                )
            },
        ),
        (
            '"TACC\'s user guide: two levels, 28 nodes and 20 uplinks a leaf switch of 48 ports"',
            '" "',
            {"network.source": ("", "give the source of these numbers")},
        ),
        (
            "[[node.memory]]\ncores = 32",
            "[[node.memory]]\ncore = 32",
            {
                "node.memory#6.cores": ("missing", "give an integer, at least 1"),
                "node.memory#6.core": ("unknown key", "did you mean 'cores'?"),
            },
        ),
        (
            "levels = [{ children = 28, ports = 48 }, { children = 62, parents = 20 }]",
            "levels = { children = 1736 }",
            {
                "network.levels": (
                    "list",
                    "give [[network.levels]] tables, each with at least children",
                )
            },
        ),
        (
            'library = "Intel MPI 18.0.0"\n',
            "",
            {"mpi.library": ("missing", "give a string")},
        ),
        (
            "level = 2\n",
            "level = 2\ninclusive = 'yes please'\n",
            {"node.caches#1.inclusive": ("boolean", "give true if")},
        ),
    ],
)
def test_an_error_states_the_allowed_values_of_a_key(
    tmp_path: Path, old: str, new: str, expected: dict[str, tuple[str, str]]
) -> None:
    path, error = refused(tmp_path, (old, new))
    found = {one.where.removeprefix(f"{path}: "): (one.what, one.remedy) for one in error.problems}
    assert found.keys() == expected.keys()
    for key, (what, remedy) in expected.items():
        assert what in found[key][0]
        assert found[key][1].startswith(remedy)


def test_implausible_numbers_are_named_with_their_unit(tmp_path: Path) -> None:
    path, error = refused(
        tmp_path,
        ("value = 2.1,", "value = 2100,"),  # MHz?
        ("value = 0.7e-6", "value = 700.0"),  # ns?
        ("value = 17.1e9", "value = 17.1"),  # GB/s?
    )
    problems = {one.where.removeprefix(f"{path}: "): one for one in error.problems}
    expected = {
        "node.clock_ghz": ("2100 GHz", "0.1 to 10 GHz"),
        "messages#1.latency_s": ("700 seconds", "1e-11 to 0.01 seconds"),
        "node.memory#1.bandwidth_bytes_per_s": (
            *("17.1 bytes per second", "100000 to 1e+15 bytes"),
        ),
    }
    assert problems.keys() == expected.keys()
    for key, (what, remedy) in expected.items():
        assert shows(problems[key].what, what) and shows(problems[key].remedy, remedy)


@pytest.mark.parametrize(
    ("ends", "what"),
    [
        (
            "low = 18e9, high = 19e9",
            "value = 1.71e+10 is outside its interval, low = 1.8e+10, high = 1.9e+10",
        ),
        ("high = 15e9", "value = 1.71e+10 is outside its interval, high = 1.5e+10"),
        ("low = nan", "value = 1.71e+10 is outside its interval, low = nan"),
        ("low = 17e9, high = 18e9", None),
    ],
)
def test_a_value_is_within_its_interval(tmp_path: Path, ends: str, what: str | None) -> None:
    change = ("value = 17.1e9", f"value = 17.1e9, {ends}")
    if what is None:
        cluster_file.load(changed(tmp_path, change))
        return
    path, error = refused(tmp_path, change)
    (problem,) = error.problems
    assert problem.where == f"{path}: node.memory#1.bandwidth_bytes_per_s"
    assert problem.what == what


def test_every_shipped_number_has_a_source() -> None:
    """A table with a number has a source of its own, or is one of points of what has one."""
    for path in cluster_file.ready().values():
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        assert "clock_ghz" in data["node"], path
        assert [*without_source(data)] == [], path


def without_source(table: Any, where: str = "") -> Iterator[str]:
    """Tables with numbers, and no source; a level of a network has the network's.

    The limits of a fitted piece are not numbers of the machine, nor are published cells.
    """
    if isinstance(table, list):
        for one in table:
            yield from without_source(one, where)
    if not isinstance(table, dict):
        return
    counted = {
        key
        for key, value in table.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if counted - {"cores", "processes", "first_bytes", "last_bytes"} and "source" not in table:
        yield where
    for key, part in table.items():
        if key not in ("levels", "set_by"):
            yield from without_source(part, f"{where}.{key}")
