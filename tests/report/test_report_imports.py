"""What makes numbers touches neither files nor processes; what draws computes nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import haloscope

ROOT = Path(haloscope.__file__).parent
PURE = (
    "stats.py",
    "quantities.py",
    "evidence.py",
    "points.py",
    "bandwidth.py",
    "scaling.py",
    "comparison.py",
    "published.py",
    "findings.py",
    "plausible.py",
    "method.py",
    "document.py",
    *(
        str(path.relative_to(ROOT))
        for folder in ("tables", "series")
        for path in sorted((ROOT / folder).glob("*.py"))
    ),
)
OUTSIDE = {"os", "pathlib", "shutil", "subprocess", "tempfile", "socket", "json", "csv", "tomllib"}
READERS = {f"haloscope.{name}" for name in ("records", "results", "dossier", "papers", "report")}
NUMBERS = {"scipy", "statistics", "haloscope.stats", "haloscope.comparison", "haloscope.evidence"}


def imports(path: Path) -> Iterator[str]:
    """The modules a file imports when it runs: not those for type checking alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("name", PURE)
def test_what_makes_numbers_touches_neither_files_nor_processes(name: str) -> None:
    used = set(imports(ROOT / name))

    assert not used & (OUTSIDE | READERS)
    assert "open(" not in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "report").glob("*.py")), ids=lambda p: p.name)
def test_what_draws_computes_nothing(path: Path) -> None:
    assert not set(imports(path)) & NUMBERS
