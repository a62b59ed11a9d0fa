# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a change can reach, by what modules import: python tests/support/reach.py COMMIT."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from imports import SOURCE, rooms_known_to

TESTS = SOURCE.parents[1] / "tests"
ROOMS = tuple(sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))


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
    """Rooms of src/haloscope that know one of these, directly or not, and these."""
    known = {
        room: {other for path in (SOURCE / room).rglob("*.py") for other in rooms_known_to(path)}
        for room in ROOMS
    }
    reached = {*changed}
    while more := {room for room, others in known.items() if others & reached} - reached:
        reached |= more
    return reached


def files_reached(changed: Iterable[str]) -> list[str]:
    """Tests that these files can reach, as pytest takes them; the whole folder where all can.

    A room reaches the tests of all rooms that know it; a page, those that name it; what is neither
    nor a test (halobench, studies, support of tests ...), all. Tests beside the rooms' folders run
    with any of them.
    """
    rooms: set[str] = set()
    tests: set[str] = set()
    for name in changed:
        parts = Path(name).parts
        if parts[:2] == ("src", "haloscope"):
            rooms.add(parts[2].removesuffix(".py"))
        elif parts[0] == "tests" and parts[-1].startswith("test_"):
            tests |= {name} if (TESTS.parent / name).exists() else set()
        elif parts[0] in ("docs", ".github") or len(parts) == 1:
            tests |= _naming(parts[-1])
        else:
            return ["tests"]
    if not rooms and not tests:
        return []
    folders = {f"tests/{room}" for room in rooms_above(rooms) if (TESTS / room).is_dir()}
    beside = {f"tests/{path.name}" for path in TESTS.glob("test_*.py")}
    inside = {name for name in tests if Path(name).parent.as_posix() not in folders}
    spread = {"tests/faults", "tests/hostile"} if rooms else set()
    return sorted(folders | beside | inside | spread)


def _naming(name: str) -> set[str]:
    """Tests that name a file."""
    return {
        path.relative_to(TESTS.parent).as_posix()
        for path in TESTS.rglob("test_*.py")
        if name in path.read_text(encoding="utf-8")
    }


if __name__ == "__main__":
    found = changed_since(sys.argv[1])
    print(json.dumps([found, files_reached(found)]))
