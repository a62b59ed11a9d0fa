# SPDX-License-Identifier: BSD-3-Clause
"""The file of records, which a run writes and a report reads."""

from __future__ import annotations

import gc
import json
import marshal
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic_core import from_json

from haloscope.records import checked, strict_json
from haloscope.records.packed import Packing
from haloscope.records.record import SCHEMA, Record, key_names
from haloscope.verbosity import warn_once

_Known = dict[str, tuple[bytes, int, Any]]
"""By the names of nested keys: a value's bytes, its number of keys, and the value."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The common form of a case's lines, and what differs between them.

    texts: for each key of the last line, the text of its value. changing: keys whose values differ
    between lines. between: text before, between, and after those values.
    """

    texts: Mapping[str, bytes]
    changing: Mapping[str, None]
    between: Sequence[bytes]

    @classmethod
    def of(cls, line: bytes, found: Mapping[str, Any], before: Self | None) -> Self:
        """Return the form of an object and its line, refined from an earlier form."""
        texts = _texts(line, found)
        if not texts or before is None or [*before.texts] != [*texts]:
            return cls(texts, {}, [line])
        changing = {
            name: None
            for name, text in texts.items()
            if name in before.changing or text != before.texts[name]
        }
        between = [b"{"]
        for name, text in texts.items():
            between[-1] += _key(name)
            between += [b""] if name in changing else []
            between[-1] += (b"" if name in changing else text) + b","
        between[-1] = between[-1][:-1] + b"}\n"
        return cls(texts, changing, between)

    def values(self, line: bytes) -> dict[str, tuple[Any, bytes]] | None:
        """Return the values of a line that differ between lines, with their texts.

        None if the line does not have this form.
        """
        if not line.startswith(self.between[0]):
            return None
        found, at = dict[str, tuple[Any, bytes]](), len(self.between[0])
        for name, follows in zip(self.changing, self.between[1:], strict=True):
            if (value := _value(line, at, follows)) is None:
                return None
            found[name] = value
            at += len(value[1]) + len(follows)
        return found if at == len(line) else None


def _texts(line: bytes, found: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the text of each value of an object in its line; none for a line with spaces."""
    keys = [_key(name) for name in found]
    texts, at = dict[str, bytes](), 1
    for name, key, follows in zip(
        found, keys, [*(b"," + key for key in keys[1:]), b"}\n"], strict=False
    ):
        starts = line.startswith(key, at)
        if not starts or (value := _value(line, at + len(key), follows)) is None:
            return {}
        texts[name] = value[1]
        at += len(key) + len(value[1]) + 1
    return texts


def _key(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode() + b":"


def _value(line: bytes, begin: int, follows: bytes) -> tuple[Any, bytes] | None:
    """Return the JSON value that begins there and its text, or None.

    follows: the text after the value, which may also occur inside it. A prefix of a value that is
    followed by this text is itself not a value, so the first match is complete.
    """
    end = begin
    for _ in range(_TRIES):
        if (end := line.find(follows, end)) < 0:
            return None
        text = line[begin:end]
        with suppress(ValueError):
            return from_json(text, allow_inf_nan=False), text
        end += 1
    return None


_TRIES = 20
"""_TRIES exceeds the usual number of equally named keys inside a value of a record."""


class Sharing:
    """The values of the last record of each case, by key.

    Equal values of the next record become the same object, because records are never changed. They
    make up two thirds of the memory of 200 copies of the study `quick`'s records. Values that are
    equal in all lines of a case are not parsed again.
    """

    def __init__(self) -> None:
        """Start without records."""
        self._known: dict[str, _Known] = {}
        self._forms: dict[str, tuple[_Form, dict[str, Any]]] = {}

    def read(self, line: bytes) -> dict[str, Any]:
        """Return the JSON object in a line. Raise ValueError, with a message, if it is invalid."""
        case = case_of(line)
        known = self._known.setdefault(case, {})
        form, last = self._forms.get(case, (None, {}))
        if form is not None and (values := form.values(line)) is not None:
            changed = {name: value for name, (value, _) in values.items()}
            inside = strict_json.keys_written(b",".join(text for _, text in values.values()))
            if inside is not None and _shared(changed, known, "") == inside + len(changed):
                return last | changed
        quick = strict_json.quick_object(line)
        if quick is None or _shared(quick[0], known, "") != quick[1]:
            return strict_json.json_object(line)
        found = quick[0]
        self._forms[case] = _Form.of(line, found, form), found
        return found


def _shared(found: dict[str, Any], known: _Known, where: str) -> int:
    """Replace equal values by known ones; return the object's number of keys, including nested
    ones.

    Bytes are compared, not values, because 1, 1.0, and true are equal.
    """
    keys = len(found)
    for name, value in found.items():
        kind = type(value)
        if kind is not dict and kind is not list and kind is not str:
            continue
        place, content = where + name, marshal.dumps(value, _PLAIN)
        before = known.get(place)
        if before is not None and before[0] == content:
            found[name] = before[2]
        else:
            inside = 0
            if kind is dict:
                inside = _shared(value, known, place)
            elif kind is list:
                inside = _keys(value)
            known[place] = before = content, inside, value
        keys += before[1]
    return keys


_PLAIN = 2
"""_PLAIN is the version of marshal's format in which equal values have equal bytes."""


def _keys(values: Iterable[Any]) -> int:
    """Return the number of keys in all objects among some values, including nested ones."""
    keys = 0
    for one in values:
        kind = type(one)
        if kind is dict:
            keys += len(one) + _keys(one.values())
        elif kind is list:
            keys += _keys(one)
    return keys


def case_of(line: bytes) -> str:
    """Return the case id in a record's line, or ""."""
    case = _CASE.search(line)
    return case[1].decode() if case else ""


_CASE = re.compile(rb'"case": ?"([0-9a-f]*)"')


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Append one record to a file, and sync it to disk.

    An incomplete line left by a crash is removed first, so that this record starts on its own line.
    Raise OSError if the record cannot be written completely; nothing of it remains then.
    """
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    with path.open("ab+", buffering=0) as file:
        lacking_end = _end_last_line(file.fileno())
        size = os.fstat(file.fileno()).st_size
        try:
            _write_all(file.fileno(), lacking_end + line)
            os.fsync(file.fileno())
        except OSError as error:
            os.ftruncate(file.fileno(), size)
            raise OSError(error.errno, error.strerror, str(path)) from error


def _write_all(file: int, content: bytes) -> None:
    """Write everything: a write to a nearly full disk may be partial, and only the next
    one fails.
    """
    while content:
        content = content[os.write(file, content) :]


def _end_last_line(file: int) -> bytes:
    """Remove an incomplete last line; return the line end to write if only that is missing."""
    size = os.fstat(file).st_size
    if size == 0 or os.pread(file, 1, size - 1) == b"\n":
        return b""
    start = _start_of_last_line(file, size)
    length = size - start
    if length < strict_json.LENGTH_LIMIT and _parsed(os.pread(file, length, start)) is not None:
        return b"\n"
    os.ftruncate(file, start)
    return b""


def _start_of_last_line(file: int, size: int) -> int:
    """Return where the last line of a file begins, complete or not."""
    end = size
    while end > 0:
        begin = max(0, end - _AT_ONCE)
        if (before := os.pread(file, end - begin, begin).rfind(b"\n")) >= 0:
            return begin + before + 1
        end = begin
    return 0


_AT_ONCE = 2**20


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        return strict_json.json_object(line)
    except ValueError:
        return None


def read(path: Path) -> list[Record]:
    """Return all records of a file in order; [] without a file.

    Invalid records are omitted with a warning that names the line. The same case and launch may
    occur several times, if it failed and was tried again: see `latest`. Raise UserError unless it
    is a regular file.
    """
    return [*reading(path).records]


@dataclass(frozen=True)
class Reading:
    """The content of a file of records.

    left_out: what was omitted, one sentence per line: "line 8: params.s missing".
    """

    records: tuple[Record, ...]
    left_out: tuple[str, ...]


def reading(path: Path) -> Reading:
    """Return all records of a file and the lines that are not records; otherwise as `read`."""
    left_out: list[tuple[int, str]] = []
    packing = Packing()
    records = tuple(Record.of(packing.packed(raw)) for raw in whole(path, left_out))
    return Reading(records, tuple(f"line {number}: {why}" for number, why in left_out))


WARNED = 5
"""WARNED is the maximum number of separate warnings about invalid lines: many have the
same reason.
"""


def whole(
    path: Path,
    left_out: list[tuple[int, str]] | None = None,
    *,
    cases: Collection[str] | None = None,
    tell: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield the records of a file as complete JSON objects, without keeping them in memory.

    Otherwise as `read`. left_out: gets the number of each invalid line, with the reason. cases:
    lines of others are skipped without parsing. tell: warn about omitted lines.
    """
    left_out = [] if left_out is None else left_out
    right: dict[str, dict[str, Any]] = {}
    sharing = Sharing()
    with strict_json.opened(path) as file, _uncollected():
        for number, line in enumerate(strict_json.lines(file), start=1):
            if line is None:
                left_out.append((number, "the line is longer than any record"))
                continue
            if not line.strip() or (cases is not None and case_of(line) not in cases):
                continue
            try:
                raw = _whole(line, sharing, right)
            except ValueError as error:
                cut_off = not line.endswith(b"\n") and _parsed(line) is None
                why = "the last record is incomplete" if cut_off else str(error)
                left_out.append((number, why))
                continue
            right[raw["case"]] = raw
            yield raw
    for number, why in left_out[:WARNED] if tell else ():
        warn_once(f"{path}:{number}: skipped: {why}")
    if tell and len(left_out) > WARNED:
        warn_once(f"{path}: {len(left_out)} invalid lines skipped in total")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable Python's garbage collection, which would traverse all records repeatedly.

    It stays disabled if there are many records, which are needed as long as the command runs.
    """
    before, objects = gc.isenabled(), gc.get_count()[0]
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] - objects > MANY_OBJECTS:
            gc.freeze()
        if before:
            gc.enable()


MANY_OBJECTS = 100_000
"""Garbage collection among more objects, those of a thousand records, takes milliseconds."""


def _whole(line: bytes, sharing: Sharing, right: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the record in a line. Raise ValueError with a message. right: last valid
    one by case.
    """
    raw = sharing.read(line)
    if raw.get("schema") != SCHEMA:
        what = f"schema = {raw.get('schema')}, but this version of haloscope supports only {SCHEMA}"
        raise ValueError(what)
    if missing := [name for name in key_names()[1] if name not in raw]:
        raise ValueError(f"missing keys: {', '.join(missing)}")
    case = raw["case"]
    earlier = right.get(case) if isinstance(case, str) else None
    if problem := checked.wrong(raw, Record, earlier):
        raise ValueError(problem)
    return raw


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each case and launch."""
    return list({record.key: record for record in records}.values())
