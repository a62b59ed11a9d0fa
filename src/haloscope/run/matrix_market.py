# SPDX-License-Identifier: BSD-3-Clause
"""Reads Matrix Market files strictly: what their documentation does not allow is refused, by line.

The format: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial
Design, NISTIR 5935, 1996. SciPy's reader takes 1.5D+03 for 1.5, 1,5 for 1 and 0x10 for 0, and a NUL
after a value ends the process. One "%" before MatrixMarket is read, too, as some programs write it.
So it is given nothing but lines that have been checked, piece by
piece: of a file, compressed or not, no more than one piece of text is ever in memory.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell, opened, require_utf8
from haloscope.quantities import count
from haloscope.run import matrix_archive

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import coo_matrix, csr_matrix

    Reals = np.ndarray[Any, np.dtype[np.float64]]

PIECE_BYTES = 2**22
"""How much text is checked and read at once: few pieces, and little memory beside the matrix."""
LINE_BYTES = 1024
"""The longest line that the format allows."""
COMMENT_BYTES = 2**20
"""Descriptions are some KiB long; a small compressed file could hold comments without end."""
MOST_COMPRESSED = 1032
"""How many bytes of text a byte of gzip can hold (the limit of deflate's matches)."""
MOST_DIGITS = 18
"""Whole numbers of so many digits fit 64 bits."""

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
"""_AT_ONCE is how many lines one match takes. It is no "++", with which Python up to 3.11.4 takes a
part of the first line that does not match, too; and bounded, because a match keeps a place to go
back to for each."""
_EMPTY_LINES = re.compile(rb"(?:[ \t]*+\r?\n)" + _AT_ONCE)


@dataclass(frozen=True)
class Header:
    """What the lines before the entries say."""

    layout: str  #: coordinate, or array: all values, column by column
    field: str  #: real, integer or pattern
    symmetry: str  #: general, symmetric or skew-symmetric
    rows: int
    entries: int  #: lines to come

    @property
    def filled(self) -> int:
        """How many entries there are, at most, with those of the other triangle."""
        return self.entries * (1 if self.symmetry == "general" else 2)

    @property
    def shortest_bytes(self) -> int:
        """The length of the shortest line that an entry can have."""
        if self.layout == "array":
            return len("1\n")
        return len("1 1\n") if self.field == "pattern" else len("1 1 1\n")

    @property
    def expected(self) -> str:
        """The contents of a line of the body, in words."""
        values = {"real": "a value such as -1.5 or 1.5e-3", "integer": "an integer"}
        value = values.get(self.field, "")
        if self.layout == "array":
            return value
        return f"row, column{' and ' if value else ''}{value}, separated by blanks"

    def lines(self) -> re.Pattern[bytes]:
        """Matches some of the lines of the body that are right, one after another."""
        value = _VALUES[self.field]
        entry = value
        if self.layout == "coordinate":
            entry = _INDEX + _BLANK + b"++" + _INDEX + (_BLANK + b"++" + value if value else b"")
        return re.compile(rb"(?:[ \t]*+" + entry + rb"[ \t]*+\r?\n)" + _AT_ONCE)


class _Text:
    """The lines of a file, counted; gzip is told by its first bytes."""

    def __init__(self, path: Path, file: BinaryIO, length: int) -> None:
        """length: of the file, in bytes."""
        self.path = path
        compressed = file.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
        self._file = gzip.GzipFile(fileobj=file) if compressed else file
        self.length = length
        self.most_bytes = self.length * (MOST_COMPRESSED if compressed else 1)
        self.line = 0  #: lines handed out
        self.bytes = 0  #: and their length
        self._rest = b""

    def one_line(self) -> bytes:
        """The next line; UserError where it is too long. Only before the first piece."""
        line = self._file.readline(LINE_BYTES + 2)
        self.line += 1
        self.bytes += len(line)
        if self.line == 1 or len(line) > LINE_BYTES + 1:
            self.refuse_returns(line)
        if len(line) > LINE_BYTES + 1:
            self.refuse(f"line {self.line} has more than {LINE_BYTES} characters", WHOLE)
        return line

    def refuse_returns(self, line: bytes) -> None:
        """Refuse a line in which only carriage returns end lines, as on Mac OS until 2001."""
        if b"\r" in line.rstrip(b"\r\n"):
            what = "lines end in a carriage return (CR) alone, expected LF or CR LF"
            remedy = f"convert it: tr '\\r' '\\n' < {in_a_shell(self.path)} > converted.mtx"
            self.refuse(what, remedy)

    def piece(self) -> bytes:
        """Whole lines, each with its end; empty at the end of the file."""
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
        """Raises what is wrong with this file."""
        raise UserError(Problem(str(self.path), what, remedy))


def header(path: Path) -> Header:
    """What a file says of itself. UserError for what is no square matrix of real numbers."""
    with _opened(path) as text:
        return _header(text)


def read(path: Path) -> csr_matrix:
    """A square matrix of real numbers, columns ascending in each row, the other triangle filled in.

    Entries without a value (pattern) are 1; those given twice are added. UserError for all else.
    The caller looks at header() first, and whether there is room.
    """
    with _opened(path) as text:
        return _matrix(text, _header(text))


@contextmanager
def _opened(path: Path) -> Iterator[_Text]:
    try:
        file = opened(path)
    except OSError as error:
        what = f"cannot read this file: {error.strerror}"
        raise UserError(Problem(str(path), what, READABLE)) from error
    try:
        with file:
            if matrix_archive.is_archive(path, file):
                with matrix_archive.matrix(path, file) as (member, length):
                    yield _Text(path, member, length)
            else:
                yield _Text(path, file, path.stat().st_size)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(Problem(str(path), f"cannot read this file: {error}", WHOLE)) from error


def _header(text: _Text) -> Header:
    first = text.one_line().removeprefix(codecs.BOM_UTF8)
    require_utf8(text.path, first[:4])
    words = first.decode("latin-1").lower().split()
    banners = ("%%matrixmarket", "%matrixmarket")  # some programs write the latter
    if not words or words[0] not in banners:
        what = "not a Matrix Market file: the first line"
        what += f", {_shown(first)}," if first.strip() else ""
        text.refuse(f"{what} does not begin with %%MatrixMarket", WHOLE)
    if len(words) != len(_BANNER):
        what = f"the first line, {_shown(first)}, has {count(len(words), 'word')}"
        remedy = f"expected {len(_BANNER)} words without comments: {' '.join(_BANNER)}"
        text.refuse(what, remedy)
    if words[1] != "matrix":
        what = f"the file contains a {_shown(words[1].encode())}, not a matrix"
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
        text.refuse(f"the format {_shown(f'{layout} {field}'.encode())} is not supported", remedy)
    if symmetry not in ("general", "symmetric", "skew-symmetric"):
        remedy = "use general, symmetric, or skew-symmetric"
        text.refuse(f"the symmetry {_shown(symmetry.encode())} is not supported", remedy)
    return _sizes(text, layout, _FIELDS[field], symmetry)


def _sizes(text: _Text, layout: str, field: str, symmetry: str) -> Header:
    line = text.one_line()
    while line.lstrip().startswith(b"%") or (line and not line.strip()):
        if text.bytes > COMMENT_BYTES:
            text.refuse(f"the file has more than {COMMENT_BYTES:,} bytes of comments", WHOLE)
        line = text.one_line()
    numbers = line.split()
    sizes = 3 if layout == "coordinate" else 2
    if len(numbers) != sizes or not all(number.isdigit() for number in numbers):
        names = "rows, columns, and entries" if sizes == 3 else "rows and columns"
        what = f"line {text.line} does not contain the sizes: {_shown(line)}"
        text.refuse(what, f"expected the numbers of {names}")
    if max(len(number) for number in numbers) > MOST_DIGITS:
        what = f"line {text.line}: sizes of more than {MOST_DIGITS} digits: {_shown(line)}"
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
            f"the header announces {said.entries} entries, but the file's size allows only {holds}",
            WHOLE,
        )
    if text.length > _most_bytes(text, said):  # before all of it is read
        text.refuse(_TOO_LONG, WHOLE)
    return said


def _most_bytes(text: _Text, said: Header) -> int:
    return text.bytes + COMMENT_BYTES + LINE_BYTES * said.entries


_TOO_LONG = f"the file has more than {LINE_BYTES} bytes per entry"


@dataclass(frozen=True)
class _Piece:
    """Some lines of the body, all of them right by themselves."""

    text: _Text
    lines: bytes  #: as they are in the file
    entries: bytes  #: those that are not empty
    lines_before: int
    before: int  #: entries

    @property
    def count(self) -> int:
        return self.entries.count(b"\n")

    def refuse(self, entry: int, what: str, remedy: str) -> NoReturn:
        """Raises what is wrong with an entry of this piece, with its line."""
        lines = enumerate(self.lines.split(b"\n"), self.lines_before + 1)
        filled = [(number, line) for number, line in lines if line.strip()]
        number, line = filled[entry]
        self.text.refuse(f"line {number}, {_shown(line)}, {what}", remedy)


def _pieces(text: _Text, said: Header) -> Iterator[_Piece]:
    """The lines of the body: as many entries as were said, or UserError."""
    pattern = said.lines()
    before = 0
    most_bytes = _most_bytes(text, said)
    lines_before = text.line
    while lines := text.piece():
        if text.bytes > most_bytes:
            text.refuse(_TOO_LONG, WHOLE)
        entries = _entries(text, lines, lines_before, said, pattern)
        piece = _Piece(text, lines, entries, lines_before, before)
        if before + piece.count > said.entries:
            what = f"exceeds the {said.entries} entries of the header"
            piece.refuse(said.entries - before, what, WHOLE)
        lines_before = text.line
        if piece.count > 0:  # of nothing, SciPy's reader makes a division by 0
            yield piece
        before += piece.count
    if before < said.entries:
        text.refuse(f"the file ends after {before} of {said.entries} entries", WHOLE)


def _entries(
    text: _Text, lines: bytes, lines_before: int, said: Header, pattern: re.Pattern[bytes]
) -> bytes:
    """The lines that are not empty; UserError for the first one that is no entry."""
    entries, at = [], 0
    while at < len(lines):
        end = _end(pattern, lines, at)
        entries.append(lines[at:end])
        at = _end(_EMPTY_LINES, lines, end)
        if at == end < len(lines):
            text.refuse_returns(lines[at : lines.index(b"\n", at)])
            number = lines_before + lines.count(b"\n", 0, at) + 1
            wrong = _shown(lines[at : lines.index(b"\n", at)])
            text.refuse(f"line {number} is not an entry: {wrong}", f"expected {said.expected}")
    return b"".join(entries)


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Where what a pattern matches, again and again, ends; `at` where it matches nothing."""
    while match := pattern.match(text, at):
        at = match.end()
    return at


def _matrix(text: _Text, said: Header) -> csr_matrix:
    import numpy as np
    from scipy.sparse import coo_matrix

    narrow = max(said.rows, said.filled) < 2**31
    rows = np.empty(said.filled, np.int32 if narrow else np.int64)
    columns = np.empty_like(rows)
    values = np.empty(said.filled, np.float64)
    end = 0
    for piece in _pieces(text, said):
        part = _from_array(piece, said) if said.layout == "array" else _from_lines(piece, said)
        begin, end = end, end + len(part.data)
        rows[begin:end], columns[begin:end], values[begin:end] = part.row, part.col, part.data
    if said.symmetry != "general":
        other = np.flatnonzero(rows[:end] != columns[:end])
        begin, end = end, end + len(other)
        rows[begin:end], columns[begin:end] = columns[other], rows[other]
        values[begin:end] = values[other] if said.symmetry == "symmetric" else -values[other]
        del other
    places = (rows[:end], columns[:end])
    matrix = coo_matrix((values[:end], places), shape=(said.rows, said.rows)).tocsr()
    _refuse_infinite_sums(text, matrix)
    return matrix


def _refuse_infinite_sums(text: _Text, matrix: csr_matrix) -> None:
    import numpy as np

    finite = np.isfinite(matrix.data)
    if not finite.all():
        first = int(np.argmin(finite))
        row = int(np.searchsorted(matrix.indptr, first, side="right"))
        column = int(matrix.indices[first]) + 1
        what = f"the entries of row {row}, column {column} add up to a value too large for double "
        what += "precision"
        text.refuse(what, "give each place once, or values below 1.8e308")


def _from_lines(piece: _Piece, said: Header) -> coo_matrix:
    import numpy as np
    from scipy.io import mmread

    field = "pattern" if said.field == "pattern" else "real"
    top = (
        f"%%MatrixMarket matrix coordinate {field} general\n{said.rows} {said.rows} {piece.count}\n"
    )
    try:
        part = mmread(BytesIO(top.encode() + _without_plus(piece.entries)))
    except (ValueError, OverflowError):
        _refuse_index(piece, said.rows)
        raise
    _refuse_infinite(piece, part.data)
    allowed = {"symmetric": part.row >= part.col, "skew-symmetric": part.row > part.col}
    if said.symmetry in allowed and not allowed[said.symmetry].all():
        above = "on or above" if said.symmetry == "skew-symmetric" else "above"
        what = f"is {above} the diagonal of a {said.symmetry} matrix"
        first = int(np.argmin(allowed[said.symmetry]))
        remedy = "give only the lower triangle, or declare the file general"
        piece.refuse(first, what, remedy)
    return part


def _from_array(piece: _Piece, said: Header) -> coo_matrix:
    """The values of a piece of an array file, column by column, that are not zero."""
    import numpy as np
    from scipy.io import mmread
    from scipy.sparse import coo_matrix

    n = said.rows
    top = f"%%MatrixMarket matrix array real general\n{piece.count} 1\n"
    values = mmread(BytesIO(top.encode() + _without_plus(piece.entries)))[:, 0]
    _refuse_infinite(piece, values)
    place = piece.before + np.flatnonzero(values)
    if said.symmetry == "general":
        columns, rows = np.divmod(place, n)
    else:
        below = 1 if said.symmetry == "skew-symmetric" else 0
        j = np.arange(n - below, dtype=np.int64)
        begins = j * (n - below) - j * (j - 1) // 2
        columns = np.searchsorted(begins, place, side="right") - 1
        rows = place - begins[columns] + columns + below
    return coo_matrix((values[place - piece.before], (rows, columns)), shape=(n, n))


def _without_plus(entries: bytes) -> bytes:
    """Entries as SciPy reads them: no + before a value."""
    for before in (b" ", b"\t", b"\n"):
        entries = entries.replace(before + b"+", before)
    return entries.removeprefix(b"+")


def _refuse_index(piece: _Piece, rows: int) -> None:
    for entry, line in enumerate(piece.entries.splitlines()):
        for index in line.split()[:2]:
            digits = index.lstrip(b"0")
            if len(digits) > MOST_DIGITS or not 1 <= int(digits or b"0") <= rows:
                what = f"has a row or column outside 1 to {rows}"
                piece.refuse(entry, what, "number rows and columns from 1")


def _refuse_infinite(piece: _Piece, values: Reals) -> None:
    import numpy as np

    finite = np.isfinite(values)
    if not finite.all():
        what = "has a value too large for double precision"
        piece.refuse(int(np.argmin(finite)), what, "use values below 1.8e308")


def _shown(line: bytes) -> str:
    """A line of somebody's file for a message: short, and without what a terminal obeys."""
    line = line.strip()
    return ascii(line[:60].decode("latin-1")) + ("..." if len(line) > 60 else "")
