# SPDX-License-Identifier: BSD-3-Clause
"""Files that are none, or have no end or bottom, wherever files are read: refused in words.

Each is tried where a study, a cluster file, a matrix, a paper and each file of a result folder
may stand. Memory is limited while they are read.
"""

from __future__ import annotations

import os
import resource
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recorded import poisson, write_folder
from watch import Outcome, obey

from haloscope.errors import UserError
from haloscope.papers.file import read_paper, read_rows
from haloscope.paths import share
from haloscope.run.prepare import matrices
from haloscope.study import file as study_file

MORE_BYTES = 2 * 2**30
"""MORE_BYTES is the memory (address space) that may come on top of what this process has: eight
times the largest object that is read whole, and less than the huge files."""
HUGE_BYTES = 10 * 2**30
DEEP = 100_000
"""DEEP is how many lists stand in each other in a deep file."""


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    """Its name may be a long one, which bind() does not take."""
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.write(_BEGINS.get(path.suffix, b""))
        looked_through = path.suffix == ".jsonl"
        file.truncate(MORE_BYTES * 9 // 8 if looked_through else HUGE_BYTES)


_BEGINS = {".mtx": b"%%MatrixMarket matrix coordinate real general\n2 2 2\n"}


def _deep(path: Path) -> None:
    path.write_text(_DEEP_TEXT.get(path.suffix, "[" * DEEP))


_DEEP_TEXT = {
    ".toml": f"a = {'[' * DEEP}{']' * DEEP}\n",
    ".jsonl": '{"schema":1,"a":' + "[" * DEEP + "]" * DEEP + "}\n",
}

KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "socket": _socket,
    "device": _device,
    "folder": _folder,
    "huge": _huge,
    "deep": _deep,
}


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Whatever takes more fails, as a test with a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    has = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + MORE_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(autouse=True)
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))


def refused(output: Outcome, name: str) -> None:
    """Ended with the code of bad input, and words that name the file; nothing was started."""
    assert output.code == 2, output.out
    assert name in output.out
    assert output.seen.started == []


@pytest.mark.parametrize("kind", KINDS)
def test_special_file_as_study(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    KINDS[kind](Path("mine.toml"))
    refused(obey(["run", "mine.toml", "--dry-run"], capsys), "mine.toml")


def test_a_folder_named_like_a_ready_study_does_not_hide_it() -> None:
    Path("quick").mkdir()
    assert study_file.read("quick").study is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", ["mine.toml", "mine"])
def test_special_file_as_cluster(kind: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By its path, and by the name of one in the folder where people keep theirs."""
    Path("clusters").mkdir()
    KINDS[kind](Path("mine.toml" if named == "mine.toml" else "clusters/mine.toml"))
    refused(obey(["cluster", "show", named], capsys), "mine.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_special_file_as_matrix(kind: str) -> None:
    KINDS[kind](Path("mine.mtx"))
    with pytest.raises(UserError, match=r"mine\.mtx"):
        matrices.prepared({"matrix": "mine.mtx"}, "matrix", 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["paper.toml", "4.1.csv"])
def test_special_file_as_paper_or_its_table(kind: str, part: str, tmp_path: Path) -> None:
    ours = share("papers") / "hpcf-2018-10"
    mine = tmp_path / ours.name
    shutil.copytree(ours, mine)
    found = read_paper(mine / "paper.toml")
    table = found.tables[0]
    path = mine / ("paper.toml" if part == "paper.toml" else table.file)
    path.unlink()
    KINDS[kind](path)

    with pytest.raises(UserError, match=path.name):
        if part == "paper.toml":
            read_paper(path)
        else:
            read_rows(path, table, found.columns)


PARTS = ["study.toml", "plan.json", "records.jsonl", "report.html", ".lock"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", PARTS)
def test_special_file_in_result_folder(
    kind: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reported, where nothing is to be read there; otherwise refused, in words."""
    folder = write_folder(tmp_path / "received", [poisson(64), poisson(64, launch=1)])
    path = folder / part
    path.unlink(missing_ok=True)
    KINDS[kind](path)

    output = obey(["report", str(folder)], capsys)

    harmless = kind in ("huge", "deep") and part in ("report.html", ".lock")
    if harmless:
        assert output.code == 0, output.out
    else:
        refused(output, part)
    assert output.seen.started == []
