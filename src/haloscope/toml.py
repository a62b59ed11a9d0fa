# SPDX-License-Identifier: BSD-3-Clause
"""Read TOML files written by users; report every kind of invalid content as a `Problem`."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from io import TextIOWrapper
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict

from haloscope.errors import Problem, UserError, dotted, guess, nearest, reject
from haloscope.paths import conversion, opened, require_utf8

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NESTING_LIMIT = 20
"""NESTING_LIMIT is the maximum depth of nested tables and lists; our files need seven."""
LENGTH_LIMIT = 4_000_000
"""Files are read into memory as a whole. Our longest has 60,000 characters."""
TEXT_LIMIT = 100_000
"""Enough for the nodes of 20,000 ranks; the system's limit of an argument is 131,072."""


class TomlTable(BaseModel):
    """A table of a user's file: unknown keys are refused. A key's docstring is its description."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Take descriptions from docstrings.

        pydantic's use_attribute_docstrings would parse the source of a module once per class.
        """
        texts = _docstrings(cls.__module__).get(cls.__name__, {})
        for name, field in cls.model_fields.items():
            field.description = field.description or texts.get(name)


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the attributes of a module's classes, each on one line."""
    source = Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")
    return {
        node.name: {
            key.target.id: " ".join(text.value.value.split())
            for key, text in pairwise(node.body)
            if isinstance(key, ast.AnnAssign)
            and isinstance(key.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        }
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    }


def read(path: Path, give: str) -> tuple[str, dict[str, Any]]:
    """Return a file's text and its tables. give: the remedy if the file cannot be read.

    A UTF-8 byte-order mark is removed. Raise UserError with everything that is wrong in the file
    apart from the meaning of its keys.
    """
    try:
        with opened(path) as binary:
            require_utf8(path, binary.peek(4))
            source = TextIOWrapper(binary, encoding="utf-8-sig").read(LENGTH_LIMIT + 1)
        if len(source) > LENGTH_LIMIT:
            what = f"the file has more than {LENGTH_LIMIT:,} characters"
            raise UserError(Problem(str(path), what, "give a smaller file"))
        data = tomllib.loads(source)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "file not found" if missing else f"cannot read this file: {error.strerror}"
        raise UserError(Problem(str(path), what, give)) from error
    except UnicodeDecodeError as error:
        what = f"the file is not UTF-8: byte 0x{error.object[error.start]:02x} ({error.reason})"
        raise UserError(Problem(str(path), what, conversion(path, "ISO-8859-1"))) from error
    except RecursionError as error:
        raise UserError(_too_deep(path)) from error
    except ValueError as error:  # TOMLDecodeError, or an integer with thousands of digits
        what = f"TOML syntax error: {error}"
        raise UserError(Problem(str(path), what, _syntax_remedy(str(error)))) from error
    reject(_unusable(path, data))
    return source, data


def _syntax_remedy(error: str) -> str:
    if error.startswith("Invalid value"):
        return 'put strings in quotes, as in key = "text"; write true and false in lower case'
    return "correct the syntax of this line (see https://toml.io)"


def _too_deep(path: Path) -> Problem:
    what = f"tables or lists are nested more than {NESTING_LIMIT} levels deep"
    return Problem(str(path), what, f"use at most {NESTING_LIMIT} levels")


def _unusable(path: Path, data: dict[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong apart from the meaning of keys: depth, numbers, and strings."""
    inside: list[tuple[tuple[int | str, ...], Any]] = [((), data)]
    while inside:
        where, value = inside.pop()
        if len(where) > NESTING_LIMIT:
            yield _too_deep(path)
            return
        texts = [value] if isinstance(value, str) else []
        if isinstance(value, dict):
            texts = [*value]
            inside += [((*where, key), each) for key, each in value.items()]
        elif isinstance(value, list):
            inside += [((*where, index), each) for index, each in enumerate(value)]
        elif isinstance(value, int) and not _fits(value):
            what = "the integer is too large for a floating-point number"
            yield _problem(path, where, what, "give a smaller number")
        for text in texts:
            yield from _invalid_text(path, where, text)


def _fits(number: int) -> bool:
    try:
        return isfinite(float(number))
    except OverflowError:
        return False


def _invalid_text(path: Path, where: tuple[int | str, ...], text: str) -> Iterator[Problem]:
    if "\0" in text:
        yield _problem(path, where, "the string contains a NUL character", "remove it")
    if len(text) > TEXT_LIMIT:
        what = f"the string has {len(text):,} characters"
        yield _problem(path, where, what, f"use at most {TEXT_LIMIT:,} characters")


def _problem(path: Path, where: tuple[int | str, ...], what: str, remedy: str) -> Problem:
    shown = (part if isinstance(part, int) else part[:60] for part in where)
    return Problem(f"{path}: {dotted([*shown])}".rstrip(": "), what, remedy)


def look_up(table: type, location: Sequence[int | str]) -> tuple[type, str, int]:
    """Return the table of a location's last key, the description of the last known key, and the
    number of parts up to the last key.

    The rest are alternatives that the value could have been.
    """
    description, inside, many = "", table, False
    for depth, part in enumerate(location):
        if inside is None:
            return table, description, depth
        if many:  # a list's number, or a name that the user chose
            many = False
            continue
        table = inside
        if str(part) not in (known := keys_of(table)):
            return table, description, depth + 1
        annotation, description = known[str(part)]
        inside, many = _table_in(annotation)
    return table, description, len(location)


def keys_of(table: Any) -> dict[str, tuple[Any, str]]:
    """Return the keys of a table with their types and descriptions; {} if it is not a table."""
    if isinstance(table, type) and is_dataclass(table):
        hints = get_type_hints(table)
        return {one.name: (hints[one.name], "") for one in fields(table)}
    every = getattr(table, "model_fields", {})
    return {name: (one.annotation, one.description or "") for name, one in every.items()}


def _table_in(annotation: Any) -> tuple[Any, bool]:
    """Return the table of an annotation, or None, and whether it is one of many."""
    if keys_of(annotation):
        return annotation, False
    found = (one for one in map(_table_in, get_args(annotation)) if one[0] is not None)
    inside, many = next(found, (None, False))
    return inside, many or get_origin(annotation) in (list, tuple, dict)


def translated(
    where: str, detail: ErrorDetails, keys: Iterable[str], remedy: str, allowed: str = ""
) -> Problem:
    """Return a validation error of a user's file as a problem.

    keys: all keys of the table with the error. remedy: the allowed values of the key. allowed: a
    text with allowed words in quotes, in addition to those of the error.
    """
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        key = str(detail["loc"][-1])
        return Problem(where, f"unknown key '{key}'", nearest(key, [*keys]))
    if detail["type"] == "missing":
        return Problem(where, "this key is missing", remedy)
    return Problem(where, _invalid(detail), _guess_of(detail, allowed) + remedy)


def _invalid(detail: ErrorDetails) -> str:
    """Return what is wrong with a value, as in 'must be a valid integer, got the string "5"'."""
    rule = re.sub(r"^Value error, ", "", detail["msg"])
    for pattern, plain in _RULES:
        rule = re.sub(pattern, plain, rule)
    return f"{rule}, got {_shown(detail['input'])}"


_RULES = (
    (r"^(Input|String|List|Tuple|Dictionary|Value) should ", "must "),
    (r"a (valid )?dictionary( or (an )?instance of \w+)?", "a table"),
    (r"a valid (tuple|list)", "a list"),
    (r"dictionary", "table"),
    (r"greater than or equal to", "at least"),
    (r"less than or equal to", "at most"),
    (r" after validation, not \d+", ""),
    (r", unable to .*", ""),
    (r"match pattern '.*'", "match a pattern"),
)
"""_RULES convert pydantic's sentences into ours: (pattern, replacement)."""

SHOWN = 200
"""SHOWN is the largest number of characters of an invalid value in a message."""


def _shown(value: object) -> str:
    """Return a TOML value with its type: the string "5", the table {...}, 5."""
    kinds = ((str, "the string "), (dict, "the table "), (list, "the list "))
    kind = next((text for one, text in kinds if isinstance(value, one)), "")
    try:
        shown = repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
    except TypeError:  # for example dates
        shown = str(value)
    return kind + (shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}...")


def worth_reporting(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Drop the error that a list is too short if one of its items is invalid, too."""
    inside = {one["loc"][:depth] for one in details for depth in range(len(one["loc"]))}
    return [one for one in details if one["type"] != "too_short" or one["loc"] not in inside]


def _guess_of(detail: ErrorDetails, description: str) -> str:
    """Return "did you mean 'WORD'? " for an invalid string, or "" if no allowed word is near."""
    if not isinstance(wrong := detail["input"], str):
        return ""
    allowed = str(detail.get("ctx", {}).get("expected", ""))
    return guess(wrong, re.findall(r"'([\w.-]+)'", f"{allowed} {description}"))
