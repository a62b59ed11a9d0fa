# SPDX-License-Identifier: BSD-3-Clause
"""What modules of haloscope import, read from their text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import haloscope

SOURCE = Path(haloscope.__file__).parent
COMMANDS_ROOM = "haloscope.commands"


def imported(path: Path, *, running: bool = False) -> Iterator[str]:
    """The modules that a file imports. running: not those for type checking alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if running and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    yield from imports_of(tree)


def imports_of(tree: ast.AST) -> Iterator[str]:
    """The modules that a piece of a program imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise ValueError(f"line {node.lineno}: a relative import hides which room it is from")
        elif isinstance(node, ast.ImportFrom) and node.module and _is_room_of_commands(node.module):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _is_room_of_commands(module: str) -> bool:
    if module == "haloscope":
        return True
    inside = SOURCE.parent / module.replace(".", "/")
    return module.startswith(COMMANDS_ROOM) and inside.is_dir()


def names_imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, and each name from one, which may be a module itself."""
    yield from imported(path)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def rooms_known_to(path: Path) -> set[str]:
    """The rooms of ours that a file imports from, for types too."""
    names = (name.split(".") for name in imported(path))
    known = {name[1] for name in names if name[0] == "haloscope" and len(name) > 1}
    return known - {"__version__"}
