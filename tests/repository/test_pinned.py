# SPDX-License-Identifier: BSD-3-Clause
"""Tests assert values, not sentences: how many pin five words or more of a text in a row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
WORDS = 5
MOST = 23
"""MOST is the most tests that may have one. Other tests have such texts in their
parameters alone, most of them as input. Commands that a test writes out count too."""
_WORD = re.compile(r"\S*[A-Za-z]{2,}\S*|\b[aI]\b")


def asserted(test: ast.AST, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """The texts in the assertions of a test, and the patterns of errors that it expects.

    The values that one call of noted.py's functions expects are one text.

    known: the values of variables, whose texts count where an assertion has their names.
    """
    for node in ast.walk(test):
        match node:
            case ast.Assert(test=inner) | ast.keyword(arg="match", value=inner):
                yield from strings(inner)
                for one in ast.walk(inner):
                    if isinstance(one, ast.Name) and one.id in known:
                        yield from strings(known[one.id])
            case ast.Call(func=ast.Name(id="shows" | "noted"), args=[_, *values]):
                yield " ".join(" ".join(strings(ast.List(values))).split())


def strings(node: ast.AST) -> Iterator[str]:
    """All texts of an expression; those that are added are one."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield " ".join((*strings(left), *strings(right)))
        case _:
            for inner in ast.iter_child_nodes(node):
                yield from strings(inner)


def variables(body: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """The expressions that statements assign to names."""
    found = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
    return found


def is_a_sentence(text: str) -> bool:
    """Whether a line of it has five words or more."""
    return any(len(_WORD.findall(line)) >= WORDS for line in text.splitlines())


def pinning(source: str) -> list[str]:
    """The names of the tests of a module that pin a sentence."""
    module = ast.parse(source)
    constants = variables(module.body)
    return [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and any(
            is_a_sentence(text) for text in asserted(node, constants | variables(ast.walk(node)))
        )
    ]


def test_few_tests_pin_a_sentence() -> None:
    found = [
        f"{path.relative_to(TESTS)}: {name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for name in pinning(path.read_text(encoding="utf-8"))
    ]

    assert len(found) <= MOST, "assert fields or values (noted.py)\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "pins"),
    [
        ("assert note == 'Left out: 3 cases without any good launch'", True),
        ("assert note == ('a table of ' 'four columns and rows')", True),
        ("assert f'{name} is not one of all the names' in note", True),
        ("with pytest.raises(UserError, match='give a number from one to ten'): pass", True),
        ("assert shows(note, 'Left out: 3 cases', 'any good launch')", True),
        ("assert not noted(table, 'Left out: ', '3 cases', 'launches')", False),
        ("assert shows(note, '3 cases', 'good launch')", False),
        ("note = 'Left out: 3 cases without any good launch'", False),
        ("said = 'Left out: 3 cases without any good launch'\n    assert said in note", True),
        ("assert 'Left out: 3 cases ' + 'without any launch' in note", True),
    ],
)
def test_a_pinned_sentence_is_found(line: str, *, pins: bool) -> None:
    assert bool(pinning(f"def test_one():\n    {line}\n")) == pins
