# SPDX-License-Identifier: BSD-3-Clause
"""docs/performance.md: one table of what the pages of bench have of peers and bounds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]

PAGE = """\
# spmv compared with PETSc

This page was written by `python bench/spmv.py --rounds 3` on 2026-11-21 04:37 UTC at commit
55b79dd, on AMD EPYC with Linux 6.18.

## 3d27

| what | median | range | target | |
|---|---|---|---|---|
| PETSc MatMult / spmv, 1 rank | 0.94 x | 0.9 to 1.2 | at least 1.2 x | not met |
| bandwidth / triad, 1 rank | 0.8 x | 0.6 to 0.9 | at least 0.8 x | met |
| memory | 3 vectors | 3 to 3 | at most 3 vectors | met |

| bytes | pingpong, us | sf_pingpong, us | PETSc, us |
|---|---|---|---|
| 8 | 0.2 | 0.4 | 1 |

2026-11-25 04:37 UTC, commit 1234567; Intel, load average 1.0 on 2 processors.

| size | haloscope | IMB-MPI1 | ratio | interval | |
|---|---|---|---|---|---|
| 8 B | 1 | 0.8 | 1.25 | 0.5 to 2 | different |
"""


@pytest.fixture(scope="module")
def every() -> ModuleType:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        spec = importlib.util.spec_from_file_location("bench_all", ROOT / "bench/all.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def test_a_page_states_peers_and_bounds_with_machine_and_command(every: ModuleType) -> None:
    found = [*every.lines_of("spmv", PAGE)]

    assert [(one.against, one.ratio, one.is_bound) for one in found] == [
        ("PETSc", 0.94, False),
        ("triad", 0.8, True),
        ("PETSc", 2.5, False),
        ("IMB-MPI1", 0.8, False),
    ]
    assert [one.machine for one in found] == [*["AMD EPYC, 2026-11-21"] * 3, "Intel, 2026-11-25"]
    assert {one.command for one in found} == {"bench/spmv.py --rounds 3"}
    assert [one.spread for one in found] == ["0.9 to 1.2", "0.6 to 0.9", "", "0.5 to 2"]
    assert ["**" in one.row for one in found] == [True, False, False, True]
    assert [one.is_below for one in found] == [True, False, False, True]
    assert not any(one.is_slower for one in found)


@pytest.mark.parametrize(
    ("spread", "slower"), [("0.8 to 0.98", True), ("0.8 to 1.02", False), ("", True)]
)
def test_a_peer_is_faster_only_if_the_whole_range_is_below_one(
    every: ModuleType, spread: str, slower: bool
) -> None:
    line = every.Line("spmv", "3d7", "PETSc", 0.9, spread, False, "EPYC, 2026-11-21", "", "spmv")

    assert (line.is_below, line.is_slower) == (True, slower)


def test_measuring_another_machine_keeps_existing_comparisons(
    every: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(every, "KEPT", tmp_path / "ratios.csv")
    old = every.Line(
        "spmv", "3d27", "PETSc", 1.5, "1 to 2", False, "Xeon, 2026-11-01", "cmd", "spmv"
    )
    replaced = every.Line(
        "spmv", "3d27, 8 bytes", "PETSc", 9.0, "", False, "AMD EPYC, 2026-11-01", "cmd", "spmv"
    )
    every.keep([old, replaced])

    found = every.every_line({"spmv": PAGE})

    assert old in found
    assert replaced not in found
    tables = [line for line in every.table({"spmv": PAGE}, found) if line.startswith("## On ")]
    assert tables == ["## On Intel", "## On AMD EPYC", "## On Xeon"]


def test_handwritten_notes_stay_below_the_measurements(
    every: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = sys.modules["turns"]
    monkeypatch.setattr(turns, "ROOT", tmp_path)
    page = turns.write_lines("new", ["# new", "", "## A", "", "first"])
    page.write_text(page.read_text() + "\n## Notes\n\nby hand\n")
    assert turns.kept("new") == {"## A": ["## A", "", "first", ""]}

    turns.write_lines("new", ["# new", "", "## A", "", "second", ""])

    assert page.read_text() == "# new\n\n## A\n\nsecond\n\n## Notes\n\nby hand\n"


def test_the_page_is_of_the_pages_of_the_scripts(every: ModuleType) -> None:
    """Run bench/all.py --page."""
    pages = every.read_pages()

    table = every.table(pages, every.every_line(pages))

    assert every.PAGE.read_text(encoding="utf-8").splitlines() == table


def test_every_comparison_has_its_script_and_a_line(every: ModuleType) -> None:
    for name in every.COMPARISONS:
        assert (ROOT / f"bench/{name}.py").is_file()
        assert [*every.lines_of(name, (ROOT / f"docs/bench/{name}.md").read_text(encoding="utf-8"))]
