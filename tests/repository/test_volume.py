# SPDX-License-Identifier: BSD-3-Clause
"""Limits on the volume of the code, with their reason in docs/decisions.md."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

from imports import SOURCE

ROOT = Path(__file__).parents[2]
FILE_LINES = 400
TEST_LINES = 900
CODE_LINES = 46_800
"""Lines of src/haloscope that are neither blank, nor comments, nor docstrings."""
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def kinds(source: str) -> Counter[str]:
    """Count the lines of a module: code, docstring, comment, and blank."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    counted: Counter[str] = Counter()
    for number, line in enumerate(source.splitlines(), 1):
        if number in docstrings:
            counted["docstring"] += 1
        elif number in code:
            counted["code"] += 1
        else:
            counted["comment" if line.strip() else "blank"] += 1
    return counted


def volume() -> Counter[str]:
    """Count the lines of all modules of src/haloscope."""
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return sum((kinds(text) for text in texts), Counter[str]())


def longer(limit: int, *patterns: str) -> list[str]:
    """Return the files with more lines than a limit."""
    paths = [path for pattern in patterns for path in ROOT.glob(pattern)]
    assert paths
    return [
        f"{path.relative_to(ROOT)}: {lines}"
        for path in sorted(paths)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > limit
    ]


def test_the_lines_of_code_are_limited() -> None:
    assert volume()["code"] <= CODE_LINES


def test_no_source_file_is_longer_than_its_limit() -> None:
    tests = {path.name for path in (ROOT / "halobench" / "tests").iterdir()}
    found = longer(FILE_LINES, "src/**/*.py", "halobench/**/*.[ch]pp", "profiler/**/*.[ch]pp")

    assert [one for one in found if one.split(":")[0].rsplit("/")[-1] not in tests] == []


def test_no_test_file_is_longer_than_its_limit() -> None:
    assert longer(TEST_LINES, "tests/**/*.py", "halobench/tests/*.cpp") == []


def test_lines_are_counted_by_kind() -> None:
    source = '"""A module."""\n\n# why\nX = """a\n\nb"""\n'

    assert kinds(source) == {"docstring": 1, "blank": 1, "comment": 1, "code": 3}


if __name__ == "__main__":
    print(dict(volume()))
