# SPDX-License-Identifier: BSD-3-Clause
"""Texts for people are plain English: no phrase of a short list, in text, comment, or test name."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "haloscope"

NOT_IN_MESSAGES = (
    (r"\bthere is no\b", "'unknown NAME', 'not found'"),
    (r"\ba whole number\b", "'an integer'"),
)
"""NOT_IN_MESSAGES are phrases that only comments may have, each with what to write instead."""
BANNED = (
    (r"won't do", "say what is allowed"),
    (r"\bcan't be\b", "say what is wrong: 'out of range', 'cannot read this file'"),
    (r"\bis too much\b", "name the limit"),
    (r"(?<!there )\b(is|are) no (?!longer\b|(more|less|fewer) than\b)\w", "'is not a'"),
    (r"\b(is|are) not there\b", "'missing', 'not found'"),
    (r"\bnot end well\b", "'failed'"),
    (r"\b(told(?! (from|apart))|mend|mended|spoils?)\b", "'reported', 'remedy', 'disturbs'"),
    (r"\b(go|goes|going|gone|went) on with\b", "'continue'"),
    (r"\bleave (\S+ ){1,2}out\b", "'remove'"),
    (r"\b(asks|asked) for\b", "'requests', 'requested'"),
    (r"\bis called so\b", "'has the same name'"),
    (r"\bas it (stands|lies)\b|\b(lies|stands) (in|on|there|beside)\b", "'is in'"),
    (r"\b(which|what|that) (says|tells|knows)\b", "things do not speak"),
    (r"\b(says|tells|knows) (what|which|how|where|why|whether)\b", "'lists', 'determines'"),
    (r"\b(bytes|cores?|ranks?|processes|threads?) an? (node|rank|second|core|step|GPU)\b", "'per'"),
    (r"\bat the most\b(?! points)", "'at most'"),
    (r"\ball the same\b", "'anyway'"),
)
"""BANNED are patterns of phrases, each with what to write instead."""


def wrong(text: str, banned: tuple[tuple[str, str], ...] = BANNED) -> list[str]:
    """The banned phrases in a text, each with what to write instead."""
    return [
        f"'{found[0]}': {instead}"
        for pattern, instead in banned
        if (found := re.search(pattern, text, re.IGNORECASE)) is not None
    ]


def in_message(text: str) -> list[str]:
    """The phrases in a text that a user reads."""
    return wrong(text, BANNED + NOT_IN_MESSAGES)


def remarks(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a module, and the names of its tests, with their lines."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, " ".join(text.split())
            case ast.FunctionDef(name=name) if name.startswith("test_"):
                yield node.lineno, name.replace("_", " ")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def cxx_remarks(path: Path) -> Iterator[tuple[int, str]]:
    """The comments of a C++ file; those on consecutive lines are one."""
    source = re.sub(r"\n\s*//+<?", lambda found: "\0" + found[0].strip(), read(path))
    for number, line in enumerate(source.split("\n"), 1):
        for found in re.finditer(r"(?:^|[\0\s])//.*", line):
            yield number, " ".join(re.sub(r"\0?//+<?", " ", found[0]).split())


def read(path: Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


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


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, with their numbers."""
    yield from enumerate(read(path).splitlines(), 1)


def files(folder: str, *patterns: str) -> list[Path]:
    """The files below a folder of the checkout whose names match."""
    return sorted(path for pattern in patterns for path in (ROOT / folder).rglob(pattern))


MODULES = files("src/haloscope", "*.py")
TESTS = [path for path in files("tests", "*.py") if path.name != "test_voice.py"]
CXX = files("halobench", "*.[ch]pp") + files("profiler", "*.[ch]pp")
HALOBENCH = [path for path in CXX if "tests" not in path.relative_to(ROOT).parts]
PAGES = [
    *ROOT.glob("*.md"),
    *files("docs", "*.md", "*.py", "*.toml", "*.cpp", "*.css"),
    *files("src/haloscope", "*.html", "*.js", "*.tex", "*.jinja", "*.css"),
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
        for one in in_message(text)
    ] == []


def test_halobench_texts_contain_no_banned_phrase() -> None:
    assert HALOBENCH
    assert [
        f"{path.relative_to(ROOT)}: {one}"
        for path in HALOBENCH
        for text in cxx_texts(path)
        for one in in_message(text)
    ] == []


def test_docstrings_comments_and_names_of_tests_contain_no_banned_phrase() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in MODULES + TESTS
        for line, text in remarks(path)
        for one in wrong(text)
    ] == []


def test_comments_in_cxx_contain_no_banned_phrase() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {text[:60]}: {one}"
        for path in CXX
        for _, text in cxx_remarks(path)
        for one in wrong(text)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_contain_no_banned_phrase(page: Path) -> None:
    assert [
        f"{page.name}:{line}: {one}" for line, text in lines(page) for one in in_message(text)
    ] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("launches: '5' won't do", True),
        ("there is no kernel 'x'", True),
        ("bytes a second", True),
        ("leave it out", True),
        ("Asks for huge pages", True),
        ("unknown kernel 'x'; did you mean 'y'?", False),
        ("toolchain mpich is no longer available", False),
    ],
)
def test_a_banned_phrase_is_found(text: str, *, found: bool) -> None:
    assert bool(in_message(text)) == found
