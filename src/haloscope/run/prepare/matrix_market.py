# SPDX-License-Identifier: BSD-3-Clause
"""Read Matrix Market files strictly: invalid contents are refused, with the line.

The format: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial
Design, NISTIR 5935, 1996. SciPy's reader reads 1.5D+03 as 1.5, 1,5 as 1, and 0x10 as 0, and a NUL
after a value ends the process. Therefore it gets only validated lines, block by block; no more than
one block of text is in memory. A single "%" before MatrixMarket is accepted, because some programs
write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from haloscope.run.prepare.matrix_header import (
    EMPTY_LINES,
    MOST_DIGITS,
    TOO_LONG,
    WHOLE,
    Header,
    MatrixText,
    most_bytes,
    opened_matrix,
    read_header,
    shown,
)

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import coo_matrix, csr_matrix

    Reals = np.ndarray[Any, np.dtype[np.float64]]


def read(path: Path) -> csr_matrix:
    """Read a square matrix of real numbers, with ascending columns per row and both triangles.

    Entries without a value (pattern) are 1; repeated ones are added. Raise UserError for anything
    else. The caller checks header() and the available memory first.
    """
    with opened_matrix(path) as text:
        return _matrix(text, read_header(text))


@dataclass(frozen=True)
class _Piece:
    """A block of valid lines of the body."""

    text: MatrixText
    lines: bytes  # as in the file
    entries: bytes  # without empty lines
    lines_before: int
    before: int  # number of entries

    @property
    def count(self) -> int:
        return self.entries.count(b"\n")

    def refuse(self, entry: int, what: str, remedy: str) -> NoReturn:
        """Raise a UserError about an entry of this block, with its line."""
        lines = enumerate(self.lines.split(b"\n"), self.lines_before + 1)
        filled = [(number, line) for number, line in lines if line.strip()]
        number, line = filled[entry]
        self.text.refuse(f"line {number}, {shown(line)}, {what}", remedy)


def _pieces(text: MatrixText, said: Header) -> Iterator[_Piece]:
    """Yield the lines of the body. Raise UserError unless their number is the declared one."""
    pattern = said.lines()
    before = 0
    limit = most_bytes(text, said)
    lines_before = text.line
    while lines := text.piece():
        if text.bytes > limit:
            text.refuse(TOO_LONG, WHOLE)
        entries = _entries(text, lines, lines_before, said, pattern)
        piece = _Piece(text, lines, entries, lines_before, before)
        if before + piece.count > said.entries:
            what = f"is an entry beyond those that the header declares ({said.entries})"
            piece.refuse(said.entries - before, what, WHOLE)
        lines_before = text.line
        if piece.count > 0:  # SciPy's reader divides by 0 for an empty block
            yield piece
        before += piece.count
    if before < said.entries:
        text.refuse(f"the file ends after {before} of {said.entries} entries", WHOLE)


def _entries(
    text: MatrixText, lines: bytes, lines_before: int, said: Header, pattern: re.Pattern[bytes]
) -> bytes:
    """Return the lines that are not empty. Raise UserError for the first invalid one."""
    entries, at = [], 0
    while at < len(lines):
        end = _end(pattern, lines, at)
        entries.append(lines[at:end])
        at = _end(EMPTY_LINES, lines, end)
        if at == end < len(lines):
            text.refuse_returns(lines[at : lines.index(b"\n", at)])
            number = lines_before + lines.count(b"\n", 0, at) + 1
            wrong = shown(lines[at : lines.index(b"\n", at)])
            text.refuse(f"line {number} is not an entry: {wrong}", f"expected {said.expected}")
    return b"".join(entries)


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    """Return where repeated matches of a pattern end; `at` without a match."""
    while match := pattern.match(text, at):
        at = match.end()
    return at


def _matrix(text: MatrixText, said: Header) -> csr_matrix:
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


def _refuse_infinite_sums(text: MatrixText, matrix: csr_matrix) -> None:
    import numpy as np

    finite = np.isfinite(matrix.data)
    if not finite.all():
        first = int(np.argmin(finite))
        row = int(np.searchsorted(matrix.indptr, first, side="right"))
        column = int(matrix.indices[first]) + 1
        what = f"the entries of row {row}, column {column} add up to a value too large for double "
        what += "precision"
        text.refuse(what, "give each entry once, or use values below 1.8e308")


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
    """Return the nonzero values of a block of an array file, column by column."""
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
    """Return entries without a + before values, which SciPy does not read."""
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
