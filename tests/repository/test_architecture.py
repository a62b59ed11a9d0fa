# SPDX-License-Identifier: BSD-3-Clause
"""ARCHITECTURE.md names types, functions, and files that exist."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest
from imports import SOURCE
from test_rooms import FLOORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
WALK = (ROOT / "docs" / "bench" / "plain.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py):([\w.]+)`")
LIFE = ("Study", "Case", "Launch", "Record", "Measured case", "Finding", "Report")


def section(title: str) -> str:
    """Return the text below a heading."""
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the first table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def defined(path: Path, wanted: type[ast.AST] = ast.AST) -> set[str]:
    """Return the classes, functions, methods, and constants of a module, as `Class.method`."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.ClassDef(name=name, body=body):
                names |= {name} if isinstance(node, wanted) else set()
                names |= {f"{name}.{one.name}" for one in body if isinstance(one, ast.FunctionDef)}
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]) if isinstance(
                node, wanted
            ):
                names.add(name)
    return names


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED.findall(PAGE + WALK))))
def test_a_named_function_exists(file: str, name: str) -> None:
    assert name in defined(SOURCE / file)


def test_the_case_lifecycle_page_covers_every_type() -> None:
    life = {row[0]: row[1:] for row in rows(section("The life of a case"))}

    assert tuple(life) == LIFE
    for made, *by in life.values():
        ((file, name),) = NAMED.findall(made)
        assert name in defined(SOURCE / file, ast.ClassDef)
        assert all("`" in one for one in by)


def test_each_task_starts_from_an_existing_file() -> None:
    tasks = rows(section("Start here"))

    assert len(tasks) == 6
    for _, first, _ in tasks:
        file = re.split("[`:]", first)[1]
        assert (ROOT / file).is_file() or (SOURCE / file).is_file()


def floor(file: str) -> int:
    """Return the floor of a module's room."""
    return next(number for number, rooms in enumerate(FLOORS) if file.split("/")[0] in rooms)


def test_the_walkthrough_has_as_many_stops_as_the_page_claims() -> None:
    walk = WALK.split("## From a study's file", 1)[1].split("\n## ", 1)[0]
    stays = [file for file, _ in NAMED.findall(walk) if file.endswith(".py")]
    climbs = sum(floor(after) > floor(before) for before, after in pairwise(stays))
    written = re.search(r"(\d+) steps and (\d+) climbs", walk)

    assert written is not None
    assert (len(stays), climbs) == (int(written[1]), int(written[2]))
