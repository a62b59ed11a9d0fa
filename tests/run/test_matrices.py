"""Matrix Market files: what is refused, and what halobench's ranks will read."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, diags_array, eye_array, kron

from haloscope.errors import UserError
from haloscope.run import matrices
from haloscope.study.case import Value

BANNER = "%%MatrixMarket matrix"
SMALL = f"{BANNER} coordinate real general\n% a comment\n3 3 4\n3 1 1.5\n1 1 2\n1 3 -4\n3 1 1\n"


@dataclass
class Binary:
    """A binary file, taken apart again."""

    symmetric: bool
    parts: list[int]
    matrix: csr_matrix


def binary(path: Path) -> Binary:
    content = path.read_bytes()
    assert content[:8] == b"HALOCSR1"
    numbers = np.frombuffer(content, dtype="<i8")
    rows, nonzeros, symmetric, parts = (int(number) for number in numbers[1:5])
    begins = 5 + (parts + 1 if parts else 0)
    columns, values = begins + rows + 1, begins + rows + 1 + nonzeros
    assert len(numbers) == values + nonzeros
    matrix = csr_matrix(
        (numbers[values:].view("<f8"), numbers[columns:values], numbers[begins:columns]),
        shape=(rows, rows),
    )
    return Binary(bool(symmetric), [int(number) for number in numbers[5:begins]], matrix)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "matrices"


def written(folder: Path, text: str, name: str = "small.mtx") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{BANNER} coordinate real general\n2 2 3\n1 1 1\n2 1 2\n", "Truncated file"),
        (f"{BANNER} coordinate real general\n2 3 1\n1 1 1\n", "it has 2 rows and 3 columns"),
        (f"{BANNER} coordinate real general\n0 0 0\n", "it has 0 rows"),
        (f"{BANNER} coordinate complex general\n1 1 1\n1 1 1 0\n", "its values are complex"),
        (f"{BANNER} coordinate complex hermitian\n1 1 1\n1 1 1 0\n", "its values are complex"),
        (f"{BANNER} coordinate real general\n2 2 1\n3 1 1\n", "Row index out of bounds"),
        (f"{BANNER} coordinate real general\n2 2 1\n1 1 x\n", "Invalid floating-point value"),
        (f"{BANNER} coordinate real general\n2 2 1\n1 1 nan\n", "infinite, or no numbers"),
        ("rows and columns\n", "Not a Matrix Market file"),
        ("", "can't be read"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(
    tmp_path: Path, cache: Path, text: str, reason: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError, match=reason) as error:
        matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert error.value.problems[0].where == str(path)
    assert not list(cache.glob("*.csr"))


def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.mtx.gz"
    path.write_bytes(gzip.compress(SMALL.encode())[:-12])
    with pytest.raises(UserError, match="can't be read: Compressed file ended"):
        matrices.prepared({"matrix": str(path)}, "matrix", 1)


def test_a_matrix_that_memory_has_no_room_for_is_refused(tmp_path: Path) -> None:
    many = 2**50
    path = written(tmp_path, f"{BANNER} coordinate real general\n{many} {many} 1\n1 1 1\n")
    with pytest.raises(UserError, match=f"its {many} rows and 1 entries need 8,388,608 GiB"):
        matrices.prepared({"matrix": str(path)}, "matrix", 1)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="nowhere.mtx: can't be read: No such file"):
        matrices.prepared({"matrix": "nowhere.mtx"}, "matrix", 1)


@pytest.mark.parametrize(
    ("text", "dense", "symmetric"),
    [
        (SMALL, [[2, 0, -4], [0, 0, 0], [2.5, 0, 0]], False),
        (f"{BANNER} coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", [[1, 1], [1, 0]], True),
        (f"{BANNER} coordinate integer symmetric\n2 2 1\n2 1 7\n", [[0, 7], [7, 0]], True),
        (f"{BANNER} coordinate real skew-symmetric\n2 2 1\n2 1 7\n", [[0, -7], [7, 0]], False),
        (f"{BANNER} array real general\n2 2\n1\n0\n3\n4\n", [[1, 3], [0, 4]], False),
    ],
)
def test_every_kind_of_file_is_written_as_what_it_means(
    tmp_path: Path, cache: Path, text: str, dense: list[list[float]], symmetric: bool
) -> None:
    found = matrices.prepared({"matrix": str(written(tmp_path, text))}, "matrix", 1)
    file = binary(cache / f"{found['matrix']}.csr")
    assert file.matrix.toarray().tolist() == dense
    assert file.symmetric == symmetric
    assert file.parts == []
    assert file.matrix.has_sorted_indices


def test_a_file_is_known_by_its_content(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path, SMALL)
    name = matrices.prepared({"matrix": str(path), "n": 3}, "matrix", 1)
    assert name == {"matrix": f"small-{matrices._hash(path)}", "n": 3}
    (kept,) = cache.glob("*.csr")
    before = kept.stat().st_mtime_ns
    assert matrices.prepared({"matrix": str(path)}, "matrix", 4)["matrix"] == name["matrix"]
    assert kept.stat().st_mtime_ns == before
    written(tmp_path, SMALL.replace("1.5", "2.5"))
    assert matrices.prepared({"matrix": str(path)}, "matrix", 1)["matrix"] != name["matrix"]


@pytest.mark.parametrize("length", [0, 32, 40, -8])
def test_a_file_that_was_damaged_is_made_anew(tmp_path: Path, cache: Path, length: int) -> None:
    path = written(tmp_path, SMALL)
    for partition in ("rows", "graph"):
        given: dict[str, Value] = {"matrix": str(path), "partition": partition}
        matrices.prepared(given, "matrix", 1)
        kept = max(cache.glob("*.csr"), key=lambda file: file.stat().st_mtime_ns)
        whole = kept.read_bytes()
        kept.write_bytes(whole[:length])
        matrices.prepared(given, "matrix", 1)
        assert kept.read_bytes() == whole


def test_a_compressed_file_will_do(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "small.mtx.gz"
    path.write_bytes(gzip.compress(SMALL.encode()))
    found = matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert str(found["matrix"]).startswith("small-")
    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3


def test_words_that_halobench_knows_are_left_alone() -> None:
    assert matrices.prepared({"matrix": "3d27"}, "matrix", 2) == {"matrix": "3d27"}


def test_a_partition_is_a_renumbering_that_cuts_few_edges() -> None:
    n = 12
    line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    grid = csr_matrix(kron(line, eye_array(n)) + kron(eye_array(n), line))
    shuffle = np.random.default_rng(1).permutation(n * n)
    matrix = grid[shuffle][:, shuffle]
    ordered, begins = matrices.partitioned(matrix, 3)
    assert begins[0] == 0 and begins[-1] == n * n
    assert max(np.diff(begins)) <= 1.1 * n * n / 3
    assert sorted(ordered.data) == sorted(matrix.data)
    assert (ordered != ordered.T).nnz == 0
    part = np.searchsorted(begins, np.arange(n * n), side="right")
    rows, columns = ordered.nonzero()
    assert np.count_nonzero(part[rows] != part[columns]) <= 8 * n  # two cuts of a side, and some


def test_one_part_is_the_matrix(tmp_path: Path, cache: Path) -> None:
    given = {"matrix": str(written(tmp_path, SMALL)), "partition": "graph"}
    name = matrices.prepared(given, "matrix", 1)["matrix"]
    file = binary(cache / f"{name}.1.csr")
    assert file.parts == [0, 3]
    assert (file.matrix != binary(cache / f"{name}.csr").matrix).nnz == 0
