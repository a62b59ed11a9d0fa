# SPDX-License-Identifier: BSD-3-Clause
"""TOML that somebody wrote, read so that whatever else stands there is a problem with words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haloscope.errors import Problem, UserError, dotted, guess
from haloscope.paths import opened

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NESTING_LIMIT = 20
"""NESTING_LIMIT is the greatest depth of tables and lists in each other: our files have seven."""
LENGTH_LIMIT = 4_000_000
"""LENGTH_LIMIT is the largest number of characters of a file, because all of it is kept in memory;
the longest of ours has 60,000."""
TEXT_LIMIT = 10_000
"""TEXT_LIMIT is the largest number of characters of a text in a file, because texts become
arguments of programs, which the system limits to twelve times as many."""


def read(path: Path, give: str) -> tuple[str, dict[str, Any]]:
    """A file's text and its tables. give: what to give in its place where it can't be read.

    A UTF-8 byte-order mark, with which editors of Windows save, is no part of the text. UserError
    with all that is wrong with it whatever its keys mean.
    """
    try:
        with TextIOWrapper(opened(path), encoding="utf-8-sig") as file:
            source = file.read(LENGTH_LIMIT + 1)
        if len(source) > LENGTH_LIMIT:
            what = f"it has more than {LENGTH_LIMIT:,} characters"
            raise UserError(Problem(str(path), what, give))
        data = tomllib.loads(source)
    except OSError as error:
        raise UserError(Problem(str(path), f"{error.strerror}", give)) from error
    except UnicodeDecodeError as error:
        raise UserError(Problem(str(path), f"not UTF-8: {error}", "save it as UTF-8")) from error
    except RecursionError as error:
        raise UserError(_too_deep(path)) from error
    except ValueError as error:  # TOMLDecodeError, and of whole numbers with thousands of digits
        raise UserError(Problem(str(path), f"not TOML: {error}", "mend the file there")) from error
    if problems := list(_unusable(path, data)):
        raise UserError(problems)
    return source, data


def _too_deep(path: Path) -> Problem:
    what = f"tables or lists stand in each other more than {NESTING_LIMIT} deep"
    return Problem(str(path), what, "write them side by side")


def _unusable(path: Path, data: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with a file whatever its keys mean: its depth, and texts that are none."""
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
            yield _problem(path, where, "a number is too large for any use", "give a smaller one")
        for text in texts:
            yield from _no_text(path, where, text)


def _fits(number: int) -> bool:
    """Whether a whole number can be one of a program's: as a float, at least."""
    try:
        return isfinite(float(number))
    except OverflowError:
        return False


def _no_text(path: Path, where: tuple[int | str, ...], text: str) -> Iterator[Problem]:
    if "\0" in text:
        what = "a text has the character NUL, which ends texts in other programs"
        yield _problem(path, where, what, "leave it out")
    if len(text) > TEXT_LIMIT:
        what = f"a text has {len(text):,} characters"
        yield _problem(path, where, what, f"give at most {TEXT_LIMIT:,}")


def _problem(path: Path, where: tuple[int | str, ...], what: str, mend: str) -> Problem:
    shown = (part if isinstance(part, int) else part[:60] for part in where)
    return Problem(f"{path}: {dotted([*shown])}".rstrip(": "), what, mend)


def worth_telling(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """What is wrong with a file, but that lists are too short whose entries are wrong besides."""
    inside = {one["loc"][:depth] for one in details for depth in range(len(one["loc"]))}
    return [one for one in details if one["type"] != "too_short" or one["loc"] not in inside]


def guess_of(detail: ErrorDetails, description: str = "") -> str:
    """The nearest word to a wrong text, as a question: of those that pydantic allows there, and
    those in quotes in a description."""
    if not isinstance(wrong := detail["input"], str):
        return ""
    allowed = str(detail.get("ctx", {}).get("expected", ""))
    return guess(wrong, re.findall(r"'([\w.-]+)'", f"{allowed} {description}"))
