# SPDX-License-Identifier: BSD-3-Clause
"""Matrix Market files, converted to binary files that halobench's ranks read in parallel.

A file is read and validated once, and the result is cached under its name and a hash of its
contents. In a parameter that accepts a file, `NAME.mtx` (or `NAME.mtx.gz`, or `NAME.tar.gz` that
contains it) becomes `NAME-HASH`, which is the same on every machine. Paths are relative to the
current folder, as on any command line.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haloscope.errors import Problem, UserError, reject
from haloscope.host.machine import memory_available_bytes
from haloscope.paths import cache_folder, cache_path, in_a_shell, opened
from haloscope.quantities import count, either, size
from haloscope.run.prepare import matrix_archive, matrix_header, matrix_market
from haloscope.study.case import Value

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

    Numbers = np.ndarray[Any, np.dtype[np.int64]]
    Words = np.ndarray[Any, np.dtype[np.uint64]]

_NAMES = "NAME.mtx, NAME.mtx.gz, NAME.tar.gz"
ENDINGS = (".mtx", ".mtx.gz", *matrix_archive.ENDINGS)
PACKED = {".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip", ".z": "uncompress"}
"""PACKED are endings of unsupported archives, with the tools that unpack them."""
GENERATED_ONLY = ("n", "row_length", "bandwidth")
"""GENERATED_ONLY are the parameters that describe a generated matrix; a file has its own values."""
GENERATED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("2d5", "2d9", "3d7", "3d27"), ("n",)),
    "random": GENERATED_ONLY,
    "power_law": ("n", "row_length"),
}
GRAPH = "graph"
_MADE = re.compile(r"-[0-9a-f]{12}$")
_MAGIC = int.from_bytes(b"HALOCSR2", "little")
_HEADER_WORDS = 6
_CHECKSUM = 5  #: its place in the header
_AT_ONCE = 2**20  # words written or checked at once; their memory is negligible
_READ = (28, 10)
"""Bytes per entry and per row for reading and writing: entries as read (16) and in rows (12); row
pointers, here and of the transpose, and their comparison.
"""
_CUT = (160, 240)
"""Bytes per edge of the graph and per row for partitioning: METIS keeps coarser graphs beside it,
which are almost as large for random matrices.
"""
_PIECES = 32 * 2**20
"""Bytes for the blocks of text and numbers in use while reading and writing."""


def folder() -> Path:
    """Return the folder of the binary files, which halobench gets as --files."""
    return cache_path() / "matrices"


def is_matrix_market(value: Value) -> bool:
    """Return whether a parameter's value names a Matrix Market file, compressed or not."""
    return isinstance(value, str) and value.lower().endswith((*ENDINGS, *PACKED))


def prepared(given: Mapping[str, Value], key: str, ranks: int) -> dict[str, Value]:
    """Replace the Matrix Market file that `key` may name by its binary file.

    n becomes the number of rows, row_length the rounded mean row length. With partition = "graph"
    the file is also partitioned for `ranks` ranks. Raise UserError if the file is unusable or
    contradicts other parameters.
    """
    value = given.get(key)
    if isinstance(value, str):
        _refuse_others(value)
        if _MADE.search(value) and "n" not in given:  # added by this function
            what = "is the name of a converted file in haloscope's cache, not a matrix"
            raise UserError(
                Problem(value, what, f"give the file that it was converted from ({_NAMES})")
            )
    if value is None or not is_matrix_market(value):
        return dict(given)
    path = Path(str(value))
    reject(_contradictions(given, key, path), _packed(path))
    # read first: hashing a large file that is not a matrix would take long
    said = matrix_header.header(path)
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    stem = re.sub(r"[^\w.+-]", "_", stem)  # smpirun splits names at spaces
    name = f"{stem}-{_hash(path)}"
    whole = folder() / f"{name}.csr"
    parts = folder() / f"{name}.{ranks}.csr"
    cut = given.get("partition") == GRAPH
    missing = [file for file in ([whole, parts] if cut else [whole]) if not _whole(file)]
    if missing:
        from filelock import FileLock  # imported here because few cases read files

        cache_folder(folder().name)
        with FileLock(folder() / f"{name}.lock"):
            matrix = read(path, cut=parts in missing)
            for target in missing:
                ordered, begins = partitioned(matrix, ranks) if target == parts else (matrix, None)
                write(target, ordered, begins)
    mean = round(_nonzeros(whole) / said.rows)
    return {**given, key: name, "n": said.rows, "row_length": max(1, mean)}


def _refuse_others(value: str) -> None:
    path, others = Path(value), f"{', '.join(GENERATED)}, or a Matrix Market file ({_NAMES})"
    if not value:
        raise UserError(Problem("matrix", "no value", f"give {others}"))
    if value in GENERATED:
        return
    if path.is_dir():
        found = sorted(one.name for one in path.iterdir() if is_matrix_market(one.name))
        remedy = f"give a file in it, such as {path / found[0]}" if found else f"give {others}"
        raise UserError(Problem(value, "is a folder, not a file", remedy))
    if is_matrix_market(value) or _MADE.search(value):
        return
    if path.is_file():
        what = f"unknown kind of file; names must end in {either(ENDINGS)}"
        raise UserError(Problem(value, what, "if this is a Matrix Market file, rename it"))
    if path.suffix or os.sep in value:
        raise UserError(Problem(value, f"no such file in {Path.cwd()}", f"give {others}"))


def refuse_unused(given: Mapping[str, Value], key: str, default: Value) -> None:
    """Raise UserError for parameters without effect on the generated matrix that `key` names."""
    matrix = given.get(key, default)
    used = GENERATED.get(str(matrix), GENERATED_ONLY)
    problems = []
    for name in (one for one in GENERATED_ONLY if one in given and one not in used):
        others = " or ".join(one for one, depends in GENERATED.items() if name in depends)
        remedy = f"remove {name}, or use {key} = {others}; in a study, use a separate run for "
        remedy += "this matrix"
        what = f"has no effect with {key} = {matrix}"
        problems.append(Problem(f"{name} = {given[name]}", what, remedy))
    reject(problems)


def _contradictions(given: Mapping[str, Value], key: str, path: Path) -> Iterator[Problem]:
    for name in GENERATED_ONLY:
        if name in given:
            what = f"cannot be combined with {name} = {given[name]}, which applies only to "
            what += "generated matrices"
            remedy = f"remove {name}; in a study, use a separate run for the file"
            yield Problem(f"{key} = {path}", what, remedy)


def _packed(path: Path) -> Iterator[Problem]:
    if tool := PACKED.get(path.suffix.lower()):
        what = f"compressed files of type {path.suffix} are not supported, only gzip and tar"
        yield Problem(str(path), what, f"unpack it: {tool} {in_a_shell(path)}")


def read(path: Path, *, cut: bool = False) -> csr_matrix:
    """Read a Matrix Market file, if there is memory for it and for partitioning."""
    said = matrix_header.header(path)
    need, free = memory_bytes(said, cut=cut), memory_available_bytes()
    if need > free:
        what = f"{count(said.rows, 'row')} and {count(said.entries, 'entry', 'entries')} require "
        what += f"{size(need)} of memory, but only {size(free)} is free"
        remedy = "free memory, or give a smaller matrix"
        raise UserError(Problem(str(path), what, remedy))
    return matrix_market.read(path)


def memory_bytes(said: matrix_header.Header, *, cut: bool = False) -> int:
    """Return the peak memory in bytes for reading, partitioning (if requested), and writing a
    matrix.
    """
    wide = 2 if max(said.rows, said.filled) >= 2**31 else 1  # 64-bit indices
    entry, row = _READ
    need = entry * said.filled + row * said.rows
    if cut:
        edge, row = _CUT
        edges = said.filled * (2 if said.symmetry == "general" else 1)  # in both directions
        need = max(need, edge * edges + row * said.rows)
    return wide * need + _PIECES


def partitioned(matrix: csr_matrix, parts: int) -> tuple[csr_matrix, Numbers]:
    """Return the matrix with rows and columns ordered by part, and where each part begins."""
    import numpy as np
    import pymetis

    rows = matrix.shape[0]
    if parts == 1:
        return matrix, np.array([0, rows], dtype=np.int64)
    graph = (abs(matrix) + abs(matrix.T)).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    cut = pymetis.part_graph(parts, adjacency, vweights=np.diff(matrix.indptr))
    part = np.asarray(cut.vertex_part, dtype=np.int64)
    order = np.argsort(part, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=parts))])
    ordered = matrix[order][:, order]
    ordered.sort_indices()
    return ordered, begins.astype(np.int64)


def write(path: Path, matrix: csr_matrix, begins: Numbers | None) -> None:
    """Write the matrix atomically in halobench's format
    (halobench/kernels/spmv/matrix_file.hpp).
    """
    import numpy as np

    parts = 0 if begins is None else len(begins) - 1
    header = [_MAGIC, matrix.shape[0], matrix.nnz, int(_is_symmetric(matrix)), parts, 0]
    integers = [header, [] if begins is None else begins, matrix.indptr, matrix.indices]
    arrays = [*(np.asarray(numbers) for numbers in integers), matrix.data]
    scratch = path.with_name(path.name + ".part")
    try:
        with scratch.open("wb") as file:
            at = checksum = 0
            for array in arrays:
                for words in _words(array):
                    file.write(words.tobytes())
                    checksum += _weighted(words, at)
                    at += len(words)
            file.seek(8 * _CHECKSUM)
            file.write((checksum % 2**64).to_bytes(8, "little"))
        scratch.rename(path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        remedy = "free disk space, or set HALOSCOPE_CACHE to another folder"
        what = f"cannot write this file: {error.strerror}"
        raise UserError(Problem(str(path), what, remedy)) from error


def _is_symmetric(matrix: csr_matrix) -> bool:
    import numpy as np

    transpose = matrix.T.tocsr()
    return (
        np.array_equal(matrix.indptr, transpose.indptr)
        and np.array_equal(matrix.indices, transpose.indices)
        and np.array_equal(matrix.data, transpose.data)
    )


def _words(array: Numbers | csr_matrix) -> Iterator[Words]:
    """Yield numbers as 64-bit words of a file, in blocks."""
    import numpy as np

    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    for begin in range(0, len(array), _AT_ONCE):
        yield array[begin : begin + _AT_ONCE].astype(kind).view(np.uint64)


def _weighted(words: Words, at: int) -> int:
    """Return the contribution of words, the first at a given place, to the checksum sum of (2 k +
    1) w_k.

    Any changed word changes it, because odd numbers have inverses modulo 2^64, and so do exchanged
    words. halobench's ranks check it too, each for its share
    (halobench/kernels/spmv/matrix_file.cpp).
    """
    import numpy as np

    odd = 2 * np.arange(at, at + len(words), dtype=np.uint64) + np.uint64(1)
    return int((words * odd).sum(dtype=np.uint64))


def _whole(path: Path) -> bool:
    """Return whether a file from write() exists, has the length in its header, and is undamaged."""
    import numpy as np

    if not path.is_file():
        return False
    length = path.stat().st_size
    with path.open("rb") as file:
        header = np.fromfile(file, dtype="<i8", count=_HEADER_WORDS)
        if len(header) < _HEADER_WORDS:
            return False
        magic, rows, nonzeros, _, parts, _ = (int(number) for number in header)
        words = _HEADER_WORDS + (parts + 1 if parts else 0) + rows + 1 + 2 * nonzeros
        if magic != _MAGIC or min(rows, nonzeros, parts) < 0 or length != 8 * words:
            return False
        file.seek(0)
        checksum = 0
        for at in range(0, words, _AT_ONCE):
            checksum += _weighted(np.fromfile(file, dtype="<u8", count=_AT_ONCE), at)
    stored = int(header.view(np.uint64)[_CHECKSUM])
    return (checksum - stored * (2 * _CHECKSUM + 1) - stored) % 2**64 == 0


def _nonzeros(path: Path) -> int:
    with path.open("rb") as file:
        return int.from_bytes(file.read(24)[16:], "little")


def _hash(path: Path) -> str:
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        what = f"cannot read this file: {error.strerror}"
        raise UserError(Problem(str(path), what, matrix_header.READABLE)) from error
