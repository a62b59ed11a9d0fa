# SPDX-License-Identifier: BSD-3-Clause
"""C++ tests that have not changed since they passed are left out, and no others."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import changed_ctests
import pytest


class Tree:
    """A build tree whose tests are scripts, each of which notes that it ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, rest: str = "") -> None:
        """Write a test's program."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho {name} >> {self.folder}/ran\n{rest}\n")
        path.chmod(0o755)

    def register(self, *lines: str) -> None:
        """Register tests, by a line of CMake each."""
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(lines))

    def run(self, *options: str) -> tuple[int, list[str]]:
        """The exit code, and the tests that ran."""
        changed_ctests.content.cache_clear()
        changed_ctests.libraries.cache_clear()
        ran = self.folder / "ran"
        ran.unlink(missing_ok=True)
        code = changed_ctests.main(self.folder, [*options])
        return code, sorted(ran.read_text().split()) if ran.exists() else []


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Two tests that pass: `one` by its program, `two` by a line of shell."""
    if shutil.which("ctest") is None:
        pytest.skip("no ctest in PATH")
    made = Tree(tmp_path / "tree")
    made.folder.mkdir()
    (tmp_path / "inputs").mkdir()
    monkeypatch.setattr(changed_ctests, "DATA", tmp_path / "inputs")
    made.write("one")
    made.write("two")
    made.register(
        f"add_test(one {made.folder}/one)",
        f'add_test(two sh -c "{made.folder}/two; test $? = 0")',
    )
    return made


def test_a_test_runs_again_once_its_program_has_changed(
    tree: Tree, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tree.run() == (0, ["one", "two"])
    assert tree.run() == (0, [])
    tree.write("two", "true")
    assert tree.run() == (0, ["two"])
    assert tree.run() == (0, [])
    said = capfd.readouterr().out.splitlines()
    assert [line.split("]")[0] for line in said if line.startswith("LEFT OUT")] == [
        "LEFT OUT [2",
        "LEFT OUT [1",
        "LEFT OUT [2",
    ]


def test_a_test_that_failed_runs_again(tree: Tree) -> None:
    tree.write("one", "exit 1")
    code, ran = tree.run()
    assert (code != 0, ran) == (True, ["one", "two"])
    code, ran = tree.run()
    assert (code != 0, ran) == (True, ["one"])
    tree.write("one")
    assert tree.run() == (0, ["one"])


@pytest.mark.parametrize("change", ["argument", "environment", "input", "variable", "library"])
def test_every_test_reruns_when_a_dependency_changes(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    library = tmp_path / "library"
    library.touch()
    monkeypatch.setattr(changed_ctests, "LOADER", library)
    tree.register(f"add_test(one {tree.folder}/one)")
    assert tree.run() == (0, ["one"])
    match change:
        case "argument":
            tree.register(f"add_test(one {tree.folder}/one 2)")
        case "environment":
            lines = (
                f"add_test(one {tree.folder}/one)",
                'set_tests_properties(one PROPERTIES ENVIRONMENT "A=1")',
            )
            tree.register(*lines)
        case "input":
            (tmp_path / "inputs" / "numbers.csv").write_text("1\n")
        case "variable":
            monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")
        case "library":
            os.utime(library, ns=(1, 1))
    assert tree.run() == (0, ["one"])
    assert tree.run() == (0, [])


def test_a_test_whose_program_is_missing_never_passes(tree: Tree) -> None:
    tree.register(f"add_test(one {tree.folder}/gone)")
    assert tree.run()[0] != 0
    assert tree.run()[0] != 0


def test_only_selected_tests_run_and_no_test_is_an_error(tree: Tree) -> None:
    assert tree.run("-E", "two") == (0, ["one"])
    assert tree.run() == (0, ["two"])
    assert tree.run("-R", "gone")[0] != 0
