# SPDX-License-Identifier: BSD-3-Clause
"""The file of records that a run writes and a report reads."""

from __future__ import annotations

import gc
import json
import logging
import marshal
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Self

from pydantic_core import from_json

from haloscope.records import checked, strict_json
from haloscope.records.record import Record, key_names

_Known = dict[str, tuple[bytes, int, Any]]
"""By the names of keys inside each other: a value's bytes, the number of keys in it, the value."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How the lines of a case are written: what is the same in all of them, and what is not.

    texts: of each key of the last line, the text of its value. changing: the keys whose values
    differ between lines. between: what stands before, between, and behind those values.
    """

    texts: Mapping[str, bytes]
    changing: Mapping[str, None]
    between: Sequence[bytes]

    @classmethod
    def of(cls, line: bytes, found: Mapping[str, Any], before: Self | None) -> Self:
        """Of an object and the line that it stands in, after those of an earlier form."""
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
        """The values in a line that are not the same in all, with their texts; None if the line is
        not of this form."""
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
    """The text of each value of an object in its line; none of a line with spaces."""
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
    """The JSON value that begins there, and its text; None where that is not found.

    follows: what stands behind, and may stand inside, too. A part of a value that it begins with
    and that is followed by this is no value itself, so the first one is the whole.
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
"""_TRIES is more keys with one name than a value of a record mostly has inside."""


class Sharing:
    """What the last record of each case said, key by key.

    What the next one says in the same words is the very same value: nothing that is read is ever
    changed. Two thirds of the memory of the study `quick`'s records, 200 times over, are such
    values. What is the same in all lines of a case is not parsed again.
    """

    def __init__(self) -> None:
        """No record was seen yet."""
        self._known: dict[str, _Known] = {}
        self._forms: dict[str, tuple[_Form, dict[str, Any]]] = {}

    def read(self, line: bytes) -> dict[str, Any]:
        """The JSON object in a line. ValueError, in words, where it is none."""
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
    """Put known values in the place of equal ones; how many keys the object has, inside too.

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
    """How many keys the objects among some values have, inside too."""
    keys = 0
    for one in values:
        kind = type(one)
        if kind is dict:
            keys += len(one) + _keys(one.values())
        elif kind is list:
            keys += _keys(one)
    return keys


def case_of(line: bytes) -> str:
    """The id that stands in a record's line where its case should; "" where none does."""
    case = _CASE.search(line)
    return case[1].decode() if case else ""


_CASE = re.compile(rb'"case": ?"([0-9a-f]*)"')


SCHEMA = 1


_log = logging.getLogger(__name__)


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add one record to a file and see it on disk before returning.

    A line that a crash cut off is removed first: this record starts on a line of its own. OSError
    where the record does not fit on the disk, or can't be written whole: nothing of it is left.
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
    """Write everything: a write to a disk that fills up takes a part, and only the next fails."""
    while content:
        content = content[os.write(file, content) :]


def _end_last_line(file: int) -> bytes:
    """Cut off a last line that is no record; what is to be written for one that lacks its end."""
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
    """Where the line begins that a file ends with, whose end may be lacking."""
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
    """All records of a file, in the order they were made; [] if there is no file yet.

    Whatever is no record as docs/records.md has it is left out with a warning that names the line.
    The same case and launch may come several times, when it failed and was tried again: see
    `latest`. UserError where it is no ordinary file.
    """
    return [*_kept(path)[0]]


def no_records(path: Path) -> tuple[str, ...]:
    """What `read` leaves out of a file, a sentence a line: "line 8: params.s missing"."""
    return _kept(path)[1]


_Reading = tuple[tuple[Record, ...], tuple[str, ...]]


def _kept(path: Path) -> _Reading:
    with suppress(OSError):
        status = path.stat()
        return _unchanged(path, status.st_ino, status.st_size, status.st_mtime_ns)
    return _read(path)


@lru_cache(maxsize=1)
def _unchanged(path: Path, *state: int) -> _Reading:
    """The records of a file in a state: a command needs those of its folder several times."""
    return _read(path)


def _read(path: Path) -> _Reading:
    left_out: list[tuple[int, str]] = []
    records = tuple(map(Record.of, whole(path, left_out)))
    return records, tuple(f"line {number}: {why}" for number, why in left_out)


WARNED = 5
"""WARNED is how many invalid lines are reported one by one: many mostly have the same reason."""


def whole(
    path: Path,
    left_out: list[tuple[int, str]] | None = None,
    *,
    cases: Collection[str] | None = None,
    tell: bool = True,
) -> Iterator[dict[str, Any]]:
    """The records of a file, one by one, each as its JSON object and whole: of what nothing is kept
    takes no memory. Else as `read`.

    left_out: to be told the number of each line that is no record, and why. cases: lines of others
    are passed over, not even parsed. tell: warn of what is left out.
    """
    left_out = [] if left_out is None else left_out
    right: dict[str, dict[str, Any]] = {}
    sharing = Sharing()
    with strict_json.opened(path) as file, _uncollected():
        for number, line in enumerate(strict_json.lines(file), start=1):
            if line is None:
                left_out.append((number, "longer than any record"))
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
        _warn(f"{path}:{number}: skipped: {why}")
    if tell and len(left_out) > WARNED:
        _warn(f"{path}: {len(left_out)} invalid lines skipped in total")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's search for garbage, which would look through all records again and again.

    Not later either, where there are many: they are needed as long as the command runs.
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
"""A search for garbage among more objects, those of a thousand records, takes milliseconds."""


def _whole(line: bytes, sharing: Sharing, right: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The record in a line. ValueError, in words, where it is none. right: the last, by case."""
    raw = sharing.read(line)
    if raw.get("schema") != SCHEMA:
        what = f"schema is {raw.get('schema')}, but this version of haloscope supports {SCHEMA}"
        raise ValueError(what)
    if missing := [name for name in key_names()[1] if name not in raw]:
        raise ValueError(f"{', '.join(missing)} missing")
    case = raw["case"]
    earlier = right.get(case) if isinstance(case, str) else None
    if problem := checked.wrong(raw, Record, earlier):
        raise ValueError(problem)
    return raw


@cache
def _warn(line: str) -> None:
    """Once: one command reads the same file for several purposes."""
    _log.warning(line)


def latest(records: Iterable[Record]) -> list[Record]:
    """The last record of each case and launch."""
    return list({record.key: record for record in records}.values())
