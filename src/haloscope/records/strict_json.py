# SPDX-License-Identifier: BSD-3-Clause
"""Strict reading of our own JSON files; anything else is an error with a message."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from haloscope import paths
from haloscope.errors import Problem, UserError

NESTING_LIMIT = 50
"""NESTING_LIMIT is the maximum depth of nested objects and lists: a record has six levels."""
LENGTH_LIMIT = 256 * 2**20
"""Reading takes ten times as much memory. A plan of a million launches has 30 MiB."""


def content(path: Path) -> bytes:
    """Return a file's content; b"" without a file. Raise UserError unless it is a regular file."""
    with opened(path) as file:
        if file.seek(0, os.SEEK_END) <= LENGTH_LIMIT:
            file.seek(0)
            return file.read()  # read(LENGTH_LIMIT) would allocate all of it
    what = f"the file is larger than {LENGTH_LIMIT // 2**20} MiB"
    raise UserError(Problem(str(path), what, "remove it; haloscope writes no file this large"))


def lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of a file with their ends; None for one that exceeds the maximum length."""
    while line := file.readline(LENGTH_LIMIT):
        if len(line) < LENGTH_LIMIT or line.endswith(b"\n"):
            yield line
            continue
        _skip_line(file)
        yield None


def _skip_line(file: BinaryIO) -> None:
    """Skip to the next line, or to the end of the file, quickly."""
    while piece := file.read(_AT_ONCE):
        if (end := piece.find(b"\n")) >= 0:
            file.seek(end + 1 - len(piece), os.SEEK_CUR)
            return


_AT_ONCE = 2**21


def opened(path: Path) -> BinaryIO:
    """Open a file for reading; an empty one if it does not exist.

    Raise UserError unless it is a regular file, also for a link, which may lead outside its folder.
    """
    try:
        return paths.opened(path, through_links=False)
    except (FileNotFoundError, NotADirectoryError):
        return BytesIO()
    except OSError as error:
        if not path.is_symlink():
            raise
        what = f"is a symbolic link to '{os.readlink(path)}'"  # noqa: PTH115 - not normalised
        raise UserError(Problem(str(path), what, "replace it with the file itself")) from error


def json_object(text: bytes) -> dict[str, Any]:
    """Return the JSON object in a text whose numbers are all finite.

    Raise ValueError, with a message, if it is invalid, has a repeated key, or a number too large
    for a float.
    """
    try:
        decoder = _CAREFUL if _may_overflow(text) else _QUICK
        value = decoder.decode(text.decode())
    except json.JSONDecodeError as error:
        raise ValueError("not a JSON object") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    if _may_be_deep(text) and _depth(value) > NESTING_LIMIT + 1:
        raise ValueError("nested too deeply")
    return value


def quick_object(text: bytes) -> tuple[dict[str, Any], int] | None:
    """Return the object as `json_object` in a third of the time, and its number of written keys.

    None if the text must be read by `json_object`: an error, or a space before a colon. An object
    with fewer keys than written has a repeated key.
    """
    if (written := keys_written(text)) is None:
        return None
    try:
        found = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None
    return (found, written) if isinstance(found, dict) else None


def keys_written(text: bytes) -> int | None:
    """Return the number of keys written in a JSON text; None if `json_object` must count them."""
    spaced = b" :" in text or b"\t" in text or b"\r" in text or b"\n" in text[:-1]
    if spaced or _may_be_deep(text) or _may_overflow(text):
        return None
    return text.count(b'":')


_NO_BRACKETS = bytes(sorted({*range(256)} - {*b"[]{}"}))


def _may_be_deep(text: bytes) -> bool:
    """Return quickly whether nested brackets in a JSON text may be too deep, including those in
    strings.
    """
    brackets = text.translate(None, _NO_BRACKETS)
    for _ in range(NESTING_LIMIT):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return False
    return True


def _depth(value: object) -> int:
    """Return the depth of a value: 1 for a number or an empty list."""
    depth, level = 0, [value]
    while level:
        depth += 1
        objects = [inner for one in level if isinstance(one, dict) for inner in one.values()]
        level = [*objects, *(inner for one in level if isinstance(one, list) for inner in one)]
    return depth


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"duplicate key '{twice}'")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


_SHAPE = bytes.maketrans(b"123456789+E", b"0000000000e")
_LONG = b"0" * 200
_LARGE = b"0e000"
"""_LARGE is the pattern of a number's end that may overflow a float; parts of hashes match, too."""
_BEFORE_A_NUMBER = b":,[ \t"
"""_BEFORE_A_NUMBER are characters that precede a number; a hash follows a quote."""


def _may_overflow(text: bytes) -> bool:
    """Return whether a number in a JSON object may be too large for a float; quick,
    seldom wrong.
    """
    shape = text.translate(_SHAPE)
    at = shape.find(_LARGE)
    while at >= 0:
        before = shape[max(0, at - len(_LONG)) : at].rstrip(b"0.-")
        if before[-1:] in _BEFORE_A_NUMBER:  # or nothing is left of so many digits
            return True
        at = shape.find(_LARGE, at + 1)
    return _LONG in shape


def _float(digits: str) -> float:
    if isfinite(value := float(digits)):
        return value
    raise ValueError(f"number too large: {digits[:20]}")


def _int(digits: str) -> int:
    _float(digits)
    return int(digits)


_QUICK = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_refuse, parse_float=_float, parse_int=_int
)
