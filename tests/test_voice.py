# SPDX-License-Identifier: BSD-3-Clause
"""Texts for people are plain English: no phrase of a short list, in any text that is not exempt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "haloscope"

BANNED = (
    (r"won't do", "say what is allowed"),
    (r"\bcan't be\b", "say what is wrong: 'out of range', 'cannot read this file'"),
    (r"\bis too much\b", "name the limit"),
    (r"\bthere is no\b", "'unknown NAME', 'not found'"),
    (r"\b(is|are) no (?!longer\b)\w", "'is not a'"),
    (r"\bnot there\b", "'missing', 'not found'"),
    (r"\bnot end well\b", "'failed'"),
    (r"\ba whole number\b", "'an integer'"),
    (r"\b(told(?! (from|apart))|mend|mended|spoils?)\b", "'reported', 'remedy', 'disturbs'"),
    (r"\b(go|goes|going|gone) on with\b", "'continue'"),
    (r"\bleave (\S+ ){1,2}out\b", "'remove'"),
    (r"\b(asks|asked) for\b", "'requests', 'requested'"),
    (r"\bis called so\b", "'has the same name'"),
    (r"\bas it (stands|lies)\b|\b(lies|stands) (in|on|there|beside)\b", "'is in'"),
    (r"\b(which|what|that) (says|tells|knows)\b", "things do not speak"),
    (r"\b(says|tells|knows) (what|which|how|where|why|whether)\b", "'lists', 'determines'"),
    (r"\b(bytes|cores?|ranks?|processes|threads?) an? (node|rank|second|core|step|GPU)\b", "'per'"),
    (r"\bat the most\b", "'at most'"),
    (r"\ball the same\b", "'anyway'"),
)
"""BANNED are patterns of phrases, each with what to write instead."""


def wrong(text: str) -> list[str]:
    """The banned phrases in a text, each with what to write instead."""
    return [
        f"'{found[0]}': {instead}"
        for pattern, instead in BANNED
        if (found := re.search(pattern, text)) is not None
    ]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module, with their lines: all string literals but docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = {id(value) for value in statements if isinstance(value, ast.Constant)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield node.lineno, text


def cxx_texts(path: Path) -> list[str]:
    """The string literals of a C++ file; literals next to each other are one text."""
    code = re.sub(r"^\s*(//|#include).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", code))


MODULES = sorted(SOURCE.rglob("*.py"))
HALOBENCH = sorted(
    path
    for path in (ROOT / "halobench").rglob("*.[ch]pp")
    if "tests" not in path.relative_to(ROOT).parts
)
PAGES = [
    *(path for pattern in ("*.md", "docs/*.md", "docs/bench/*.md") for path in ROOT.glob(pattern)),
    *(ROOT / "clusters").glob("*.toml"),
    *(ROOT / "studies").glob("*.toml"),
    *(ROOT / "papers").glob("*/*.toml"),
    *(ROOT / "programs").glob("*/*.toml"),
    ROOT / "haloscope",
]


def test_program_texts_contain_no_banned_phrase() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in MODULES
        for line, text in texts(path)
        for one in wrong(text)
    ] == []


def test_halobench_texts_contain_no_banned_phrase() -> None:
    assert HALOBENCH
    assert [
        f"{path.relative_to(ROOT)}: {one}"
        for path in HALOBENCH
        for text in cxx_texts(path)
        for one in wrong(text)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_contain_no_banned_phrase(page: Path) -> None:
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    assert [f"{page.name}:{line}: {one}" for line, text in lines for one in wrong(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("launches: '5' won't do", True),
        ("there is no kernel 'x'", True),
        ("bytes a second", True),
        ("leave it out", True),
        ("unknown kernel 'x'; did you mean 'y'?", False),
        ("toolchain mpich is no longer available", False),
    ],
)
def test_a_banned_phrase_is_found(text: str, *, found: bool) -> None:
    assert bool(wrong(text)) == found
