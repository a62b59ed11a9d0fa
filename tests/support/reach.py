# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a change can reach, by what modules import: python tests/support/reach.py COMMIT.

With --direct before the commit: the tests that changed, or that import a changed module by name.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

from imports import SOURCE, imported, names_imported, rooms_known_to

TESTS = SOURCE.parents[1] / "tests"
ALL_FILES = "tests/repository"
"""ALL_FILES is the folder of tests that read every file or page, which they do not name."""
COMMAND_LINE = re.compile(r'"-m", "haloscope"')
"""COMMAND_LINE is how a test starts the whole program, whose commands are imported by name."""


def changed_since(commit: str) -> list[str]:
    """Files that differ from a commit, and new ones. CalledProcessError where there is none."""
    asked = (
        ["git", "diff", "--name-only", "--no-renames", commit],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    root = SOURCE.parents[1]
    return [
        line
        for command in asked
        for line in subprocess.run(
            command, cwd=root, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()
    ]


def rooms_above(changed: Collection[str]) -> set[str]:
    """Rooms of src/haloscope, and modules beside them, that know one of these, and these."""
    known = _known()
    reached = {*changed}
    while more := {room for room, others in known.items() if others & reached} - reached:
        reached |= more
    return reached


@cache
def _known() -> dict[str, set[str]]:
    """By room, or module beside the rooms: those that it imports."""
    known = {
        place.stem: {
            other
            for path in (place.rglob("*.py") if place.is_dir() else [place])
            for other in rooms_known_to(path)
        }
        for place in SOURCE.iterdir()
        if place.suffix == ".py" or (place / "__init__.py").exists()
    }
    known["cli"].add("commands")  # by their names
    return known


def files_reached(changed: Iterable[str]) -> list[str]:
    """Tests that these files can reach, as pytest takes them; the whole folder where all can.

    A room reaches the tests in its own folder, and those that know it: by what they and the support
    that they import know, directly or not. A page reaches those that name it, and that of all
    pages; what is neither nor a test (halobench, studies, support of tests ...), all. Tests beside
    the rooms' folders, and those of the repository, run with any of them.
    """
    rooms: set[str] = set()
    tests: set[str] = set()
    for name in changed:
        parts = Path(name).parts
        if parts[:2] == ("src", "haloscope"):
            rooms.add(parts[2].removesuffix(".py"))
        elif parts[0] == "tests" and parts[-1].startswith("test_"):
            tests |= {name} if (TESTS.parent / name).exists() else set()
        elif (parts[0] in ("docs", ".github") and parts[1] != "examples") or len(parts) == 1:
            tests |= {ALL_FILES, *_naming(parts[-1])}
        else:
            return ["tests"]
    if not rooms and not tests:
        return []
    reached = rooms_above(rooms)
    folders = {f"tests/{room}" for room in reached if (TESTS / room).is_dir()}
    tests |= {
        path.relative_to(TESTS.parent).as_posix()
        for path in TESTS.rglob("test_*.py")
        if _rooms_of(path) & reached
    }
    beside = {ALL_FILES, *(f"tests/{path.name}" for path in TESTS.glob("test_*.py"))}
    inside = {name for name in tests if name.split("/")[1] not in {*reached, Path(ALL_FILES).name}}
    return sorted(folders | beside | inside)


def importing_tests(changed: Iterable[str]) -> list[str]:
    """Return the test files among these files, and those that import one of these modules."""
    tests, modules = set(), set()
    for name in changed:
        path = Path(name)
        if path.parts[:1] == ("src",) and path.suffix == ".py":
            modules.add(".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__"))
        elif path.match("tests/**/test_*.py") and (TESTS.parent / name).exists():
            tests.add(name)
    if modules:
        tests |= {
            path.relative_to(TESTS.parent).as_posix()
            for path in TESTS.rglob("test_*.py")
            if not modules.isdisjoint(names_imported(path))
        }
    return sorted(tests)


@cache
def _rooms_of(test: Path) -> set[str]:
    """The rooms that a test knows: by itself, and by the support and the tests that it imports."""
    rooms = rooms_known_to(test)
    if COMMAND_LINE.search(test.read_text(encoding="utf-8")):
        rooms.add("cli")
    for name in imported(test):
        for folder in (TESTS / "support", *(TESTS / "support").iterdir(), test.parent):
            if (beside := folder / f"{name.replace('.', '/')}.py").exists() and beside != test:
                rooms |= _rooms_of(beside)
    return rooms


def _naming(name: str) -> set[str]:
    """Tests that name a file."""
    return {
        path.relative_to(TESTS.parent).as_posix()
        for path in TESTS.rglob("test_*.py")
        if name in path.read_text(encoding="utf-8")
    }


if __name__ == "__main__":
    *direct, since = sys.argv[1:]
    try:
        found = changed_since(since)
    except subprocess.CalledProcessError:
        sys.exit("git knows no such commit")
    print(json.dumps([found, importing_tests(found) if direct else files_reached(found)]))
