"""Matrix Market files, made into the binary files that halobench's ranks read in parallel.

A file is read once, checked, and kept in the cache under its name and what is in it: where a
parameter of a kernel takes a file, `NAME.mtx` (or `NAME.mtx.gz`) becomes `NAME-HASH`, which is the
same on every machine. Paths are relative to the current folder, as on any command line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from haloscope.errors import Problem, UserError
from haloscope.host.machine import memory_available_bytes
from haloscope.paths import cache_path
from haloscope.quantities import size
from haloscope.study.case import Value

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

ENDINGS = (".mtx", ".mtx.gz")
GRAPH = "graph"
_MAGIC = int.from_bytes(b"HALOCSR1", "little")


def folder() -> Path:
    """Where the binary files are: what halobench is told as --files."""
    return cache_path() / "matrices"


def is_matrix_market(value: Value) -> bool:
    """Whether a parameter's value names a Matrix Market file."""
    return isinstance(value, str) and value.lower().endswith(ENDINGS)


def prepared(given: Mapping[str, Value], key: str, ranks: int) -> dict[str, Value]:
    """Parameters with the Matrix Market file that `key` may name made into a binary file.

    With partition = "graph" beside it, there is one for so many ranks too. UserError where the
    file won't do.
    """
    value = given.get(key)
    if value is None or not is_matrix_market(value):
        return dict(given)
    path = Path(str(value))
    name = f"{_stem(path)}-{_hash(path)}"
    whole = folder() / f"{name}.csr"
    parts = folder() / f"{name}.{ranks}.csr"
    cut = given.get("partition") == GRAPH
    wanted = [file for file in ([whole, parts] if cut else [whole]) if not _complete(file)]
    if wanted:
        folder().mkdir(parents=True, exist_ok=True)
        with FileLock(folder() / f"{name}.lock"):
            matrix = read(path)
            for target in wanted:
                ordered, begins = partitioned(matrix, ranks) if target == parts else (matrix, None)
                write(target, ordered, begins)
    return {**given, key: name}


def read(path: Path) -> csr_matrix:
    """A square matrix of real numbers, columns ascending in each row, symmetric halves filled in.

    Entries without a value (pattern) are 1; those given twice are added. UserError for all else.
    """
    import numpy as np
    from scipy.io import mminfo, mmread
    from scipy.sparse import csr_matrix

    try:
        rows, columns, entries, _, field, _ = mminfo(path)
        if field == "complex":
            raise UserError(Problem(str(path), "its values are complex", "give one of real values"))
        if rows != columns or rows == 0:
            what = f"it has {rows} rows and {columns} columns"
            raise UserError(Problem(str(path), what, "give a square matrix"))
        _check_room(path, rows, entries)
        matrix = csr_matrix(mmread(path), dtype=np.float64)
    except (OSError, EOFError, ValueError, OverflowError) as error:
        mend = "give a whole Matrix Market file"
        raise UserError(Problem(str(path), f"can't be read: {error}", mend)) from error
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        what = "some of its values are infinite, or no numbers"
        raise UserError(Problem(str(path), what, "give one of finite values"))
    return matrix


def _check_room(path: Path, rows: int, entries: int) -> None:
    """Refuses what memory has no room for: entries as read, their other halves, and as rows."""
    need, free = 8 * rows + 80 * entries, memory_available_bytes()
    if need > free:
        what = f"its {rows} rows and {entries} entries need {size(need)} of memory to be read"
        mend = f"{size(free)} are free: give a smaller one"
        raise UserError(Problem(str(path), what, mend))


def partitioned(matrix: csr_matrix, parts: int) -> tuple[csr_matrix, Numbers]:
    """The matrix with rows and columns in the order of their parts, and where each part begins.

    METIS cuts the graph of A + A^T: as few edges between parts as it can, nonzeros alike.
    """
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
    """The matrix as halobench reads it (halobench/kernels/spmv/matrix_file.hpp), in one step."""
    import numpy as np

    symmetric = int((matrix != matrix.T).nnz == 0)
    parts = 0 if begins is None else len(begins) - 1
    header = [_MAGIC, matrix.shape[0], matrix.nnz, symmetric, parts]
    integers = [header, [] if begins is None else begins, matrix.indptr, matrix.indices]
    scratch = path.with_suffix(".part")
    with scratch.open("wb") as file:
        for numbers in integers:
            file.write(np.asarray(numbers, dtype="<i8").tobytes())
        file.write(matrix.data.astype("<f8").tobytes())
    scratch.rename(path)


def _complete(path: Path) -> bool:
    """Whether a file that write() made is there, as long as its header says."""
    import numpy as np

    if not path.exists():
        return False
    header = np.fromfile(path, dtype="<i8", count=5)
    if len(header) < 5:
        return False
    _, rows, nonzeros, _, parts = (int(number) for number in header)
    begins = parts + 1 if parts else 0
    return path.stat().st_size == 8 * (5 + begins + rows + 1 + 2 * nonzeros)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]


def _hash(path: Path) -> str:
    """12 hexadecimal digits for what is in a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        mend = "give a Matrix Market file to read; paths are relative to the current folder"
        raise UserError(Problem(str(path), f"can't be read: {error.strerror}", mend)) from error
