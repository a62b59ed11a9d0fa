# SPDX-License-Identifier: BSD-3-Clause
"""The text of a Matrix Market file in blocks, and its header: format and sizes."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell, opened, require_utf8
from haloscope.quantities import count
from haloscope.run.prepare import matrix_archive

PIECE_BYTES = 2**22
"""Bytes of text that are validated and read at once: few blocks, and little memory."""
LINE_BYTES = 1024
"""Maximum line length of the format."""
COMMENT_BYTES = 2**20
"""Descriptions have some KiB; a small compressed file could contain endless comments."""
MOST_COMPRESSED = 1032
"""Maximum compression ratio of gzip (a limit of deflate's matches)."""
MOST_DIGITS = 18
"""Integers with this many digits fit 64 bits."""

WHOLE = "give a complete, valid Matrix Market file"
READABLE = "give a readable Matrix Market file; paths are relative to the current folder"

_BANNER = ("%%MatrixMarket", "matrix", "LAYOUT", "FIELD", "SYMMETRY")
_BLANK = rb"[ \t]"
_INDEX = rb"[0-9]++"
_VALUES = {
    "real": rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?",
    "integer": rb"[+-]?[0-9]++",
    "pattern": b"",
}
_FIELDS = {"real": "real", "double": "real", "integer": "integer", "unsigned-integer": "integer"}
_FIELDS |= {"pattern": "pattern"}
_AT_ONCE = b"{1,1000}"
"""_AT_ONCE is the number of lines per match. It is not "++", which in Python up to 3.11.4 also
consumes part of the first line that does not match. It is bounded, because a match stores a
backtracking position for each line.
"""


EMPTY_LINES = re.compile(rb"(?:[ \t]*+\r?\n)" + _AT_ONCE)


@dataclass(frozen=True)
class Header:
    """The lines before the entries."""

    layout: str  #: coordinate, or array: all values, column by column
    field: str  #: real, integer or pattern
    symmetry: str  #: general, symmetric or skew-symmetric
    rows: int
    entries: int  #: lines to come

    @property
    def filled(self) -> int:
        """Maximum number of entries including those of the other triangle."""
        return self.entries * (1 if self.symmetry == "general" else 2)

    @property
    def shortest_bytes(self) -> int:
        """Length of the shortest possible line of an entry."""
        if self.layout == "array":
            return len("1\n")
        return len("1 1\n") if self.field == "pattern" else len("1 1 1\n")

    @property
    def expected(self) -> str:
        """Contents of a line of the body, in words."""
        values = {"real": "a value such as -1.5 or 1.5e-3", "integer": "an integer"}
        value = values.get(self.field, "")
        if self.layout == "array":
            return value
        return f"row, column{' and ' if value else ''}{value}, separated by blanks"

    def lines(self) -> re.Pattern[bytes]:
        """Pattern that matches several consecutive valid lines of the body."""
        value = _VALUES[self.field]
        entry = value
        if self.layout == "coordinate":
            entry = _INDEX + _BLANK + b"++" + _INDEX + (_BLANK + b"++" + value if value else b"")
        return re.compile(rb"(?:[ \t]*+" + entry + rb"[ \t]*+\r?\n)" + _AT_ONCE)


class MatrixText:
    """The lines of a file, counted; gzip is detected by its first bytes."""

    def __init__(self, path: Path, file: BinaryIO, length: int) -> None:
        """length: of the file, in bytes."""
        self.path = path
        compressed = file.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
        self._file = gzip.GzipFile(fileobj=file) if compressed else file
        self.length = length
        self.most_bytes = self.length * (MOST_COMPRESSED if compressed else 1)
        self.line = 0  # lines returned
        self.bytes = 0  # their total length
        self._rest = b""

    def one_line(self) -> bytes:
        """Return the next line, before the first block. Raise UserError if it is too long."""
        line = self._file.readline(LINE_BYTES + 2)
        self.line += 1
        self.bytes += len(line)
        if self.line == 1 or len(line) > LINE_BYTES + 1:
            self.refuse_returns(line)
        if len(line) > LINE_BYTES + 1:
            self.refuse(f"line {self.line} has more than {LINE_BYTES} characters", WHOLE)
        return line

    def refuse_returns(self, line: bytes) -> None:
        """Raise UserError for lines that end in carriage returns only, as on Mac OS until 2001."""
        if b"\r" in line.rstrip(b"\r\n"):
            what = "lines end in a carriage return (CR) alone, expected LF or CR LF"
            remedy = f"convert it: tr '\\r' '\\n' < {in_a_shell(self.path)} > converted.mtx"
            self.refuse(what, remedy)

    def piece(self) -> bytes:
        """Return a block of complete lines; empty at the end of the file."""
        while read := self._file.read(PIECE_BYTES):
            text = self._rest + read
            end = text.rfind(b"\n") + 1
            self.bytes += len(read)
            if len(text) - end > LINE_BYTES:
                self.refuse_returns(text[end:])
                number = self.line + text.count(b"\n") + 1
                self.refuse(f"line {number} has more than {LINE_BYTES} characters", WHOLE)
            self._rest = text[end:]
            if end:
                self.line += text.count(b"\n")
                return text[:end]
        text, self._rest = self._rest, b""
        self.line += 1 if text else 0
        return text + b"\n" if text else b""

    def refuse(self, what: str, remedy: str) -> NoReturn:
        """Raise a UserError about this file."""
        raise UserError(Problem(str(self.path), what, remedy))


def header(path: Path) -> Header:
    """Return the header of a file. Raise UserError unless it is a square matrix of real numbers."""
    with opened_matrix(path) as text:
        return read_header(text)


@contextmanager
def opened_matrix(path: Path) -> Iterator[MatrixText]:
    """Open the text of a file, or of the matrix in an archive. Raise UserError if it is
    unreadable.
    """
    try:
        file = opened(path)
    except OSError as error:
        what = f"cannot read this file: {error.strerror}"
        raise UserError(Problem(str(path), what, READABLE)) from error
    try:
        with file:
            if matrix_archive.is_archive(path, file):
                with matrix_archive.matrix(path, file) as (member, length):
                    yield MatrixText(path, member, length)
            else:
                yield MatrixText(path, file, path.stat().st_size)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(Problem(str(path), f"cannot read this file: {error}", WHOLE)) from error


def read_header(text: MatrixText) -> Header:
    """Return the header. Raise UserError for formats that `read` does not support."""
    first = text.one_line().removeprefix(codecs.BOM_UTF8)
    require_utf8(text.path, first[:4])
    words = first.decode("latin-1").lower().split()
    banners = ("%%matrixmarket", "%matrixmarket")  # some programs write the latter
    if not words or words[0] not in banners:
        what = "not a Matrix Market file: the first line"
        what += f", {shown(first)}," if first.strip() else ""
        text.refuse(f"{what} does not begin with %%MatrixMarket", WHOLE)
    if len(words) != len(_BANNER):
        what = f"the first line, {shown(first)}, has {count(len(words), 'word')}"
        remedy = f"expected {len(_BANNER)} words without comments: {' '.join(_BANNER)}"
        text.refuse(what, remedy)
    if words[1] != "matrix":
        what = f"the file contains a {shown(words[1].encode())}, not a matrix"
        text.refuse(what, "give a file with a matrix")
    layout, field, symmetry = words[2:]
    if field == "complex":
        text.refuse("complex values are not supported", "give a matrix with real values")
    known = layout in ("coordinate", "array") and field in _FIELDS
    if not known or (layout, field) == ("array", "pattern"):
        remedy = (
            "use coordinate real, coordinate integer, coordinate pattern, array real, or array "
        )
        remedy += "integer"
        text.refuse(f"the format {shown(f'{layout} {field}'.encode())} is not supported", remedy)
    if symmetry not in ("general", "symmetric", "skew-symmetric"):
        remedy = "use general, symmetric, or skew-symmetric"
        text.refuse(f"the symmetry {shown(symmetry.encode())} is not supported", remedy)
    return _sizes(text, layout, _FIELDS[field], symmetry)


def _sizes(text: MatrixText, layout: str, field: str, symmetry: str) -> Header:
    line = text.one_line()
    while line.lstrip().startswith(b"%") or (line and not line.strip()):
        if text.bytes > COMMENT_BYTES:
            text.refuse(f"the file has more than {COMMENT_BYTES:,} bytes of comments", WHOLE)
        line = text.one_line()
    numbers = line.split()
    sizes = 3 if layout == "coordinate" else 2
    if len(numbers) != sizes or not all(number.isdigit() for number in numbers):
        names = "rows, columns, and entries" if sizes == 3 else "rows and columns"
        what = f"line {text.line} does not contain the sizes: {shown(line)}"
        text.refuse(what, f"expected the numbers of {names}")
    if max(len(number) for number in numbers) > MOST_DIGITS:
        what = f"a size in line {text.line} has more than {MOST_DIGITS} digits: {shown(line)}"
        text.refuse(what, WHOLE)
    rows, columns = int(numbers[0]), int(numbers[1])
    if rows != columns or rows == 0:
        what = f"the matrix has {rows} rows and {columns} columns"
        text.refuse(what, "give a square matrix")
    triangle = {"general": rows * rows, "symmetric": rows * (rows + 1) // 2}
    dense = triangle.get(symmetry, rows * (rows - 1) // 2)
    said = Header(layout, field, symmetry, rows, int(numbers[2]) if sizes == 3 else dense)
    if said.entries == 0:
        text.refuse("the matrix has no entries", "give a matrix with at least one entry")
    if said.entries * said.shortest_bytes - 1 > text.most_bytes:
        holds = text.most_bytes // said.shortest_bytes
        text.refuse(
            f"the header declares {said.entries} entries, but the file's size allows only {holds}",
            WHOLE,
        )
    if text.length > most_bytes(text, said):  # without reading the whole file
        text.refuse(TOO_LONG, WHOLE)
    return said


def most_bytes(text: MatrixText, said: Header) -> int:
    """Return the maximum length of a file with such a header."""
    return text.bytes + COMMENT_BYTES + LINE_BYTES * said.entries


TOO_LONG = f"the file has more than {LINE_BYTES} bytes per entry"


def shown(line: bytes) -> str:
    """Return a line of a user's file for a message: shortened, without control characters."""
    line = line.strip()
    return ascii(line[:60].decode("latin-1")) + ("..." if len(line) > 60 else "")
