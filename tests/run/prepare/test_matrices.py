# SPDX-License-Identifier: BSD-3-Clause
"""Matrix Market files: what is refused, and what halobench's ranks will read."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, diags_array, eye_array, kron

from haloscope.errors import UserError
from haloscope.run.prepare import matrices, workbench
from haloscope.run.prepare.halobench import describe
from haloscope.study.case import Value

Numbers = np.ndarray[Any, np.dtype[np.int64]]
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
    assert content[:8] == b"HALOCSR2"
    numbers = np.frombuffer(content, dtype="<i8")
    rows, nonzeros, symmetric, parts, checksum = (int(number) for number in numbers[1:6])
    begins = 6 + (parts + 1 if parts else 0)
    words = [0 if place == 5 else int(word) for place, word in enumerate(numbers)]
    weighted = sum((2 * place + 1) * word for place, word in enumerate(words))
    assert (weighted - checksum) % 2**64 == 0
    columns, values = begins + rows + 1, begins + rows + 1 + nonzeros
    assert len(numbers) == values + nonzeros
    matrix = csr_matrix(
        (numbers[values:].view("<f8"), numbers[columns:values], numbers[begins:columns]),
        shape=(rows, rows),
    )
    return Binary(bool(symmetric), [int(number) for number in numbers[6:begins]], matrix)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "matrices"


def written(folder: Path, text: str, name: str = "small.mtx") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_an_unreadable_matrix_is_refused_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path, f"{BANNER} coordinate real general\n2 2 3\n1 1 1\n2 1 2\n")
    with pytest.raises(UserError, match="2 of 3 entries") as error:
        matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert error.value.problems[0].where == str(path)
    assert not list(cache.glob("*.csr"))


def test_a_matrix_too_large_for_memory_is_refused(tmp_path: Path) -> None:
    many = 2**50
    path = written(tmp_path, f"{BANNER} coordinate real general\n{many} {many} 1\n1 1 1\n")
    with pytest.raises(UserError, match="20,971,520 GiB"):
        matrices.prepared({"matrix": str(path)}, "matrix", 1)


PEAK = """
import os, shutil, sys, pathlib, pymetis, scipy.io, scipy.sparse
from haloscope.run.prepare import matrices, matrix_header, matrix_market

def memory(key):
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(status.split(key + ":")[1].split()[0])

def prepare(path, partition):
    given = {"matrix": path, "partition": partition}
    return matrices.prepared(given, "matrix", 16)

first, *others = sys.argv[1:]
for path in others:
    for partition in ("rows", "graph"):
        if os.fork() == 0:  # what one takes is no other's
            # libraries are loaded and warm: a fork begins without their pages
            shutil.rmtree(os.environ["HALOSCOPE_CACHE"], ignore_errors=True)
            prepare(first, "graph")
            pathlib.Path("/proc/self/clear_refs").write_text("5")
            before = memory("VmRSS")
            prepare(path, partition)
            taken = memory("VmHWM") - before
            asked = matrices.memory_bytes(
                matrix_header.header(pathlib.Path(path)), cut=partition == "graph"
            )
            print(f"\\n{path} {partition} {taken} {asked}", flush=True)
            os._exit(0)
        assert os.wait()[1] == 0, (path, partition)
"""
"""Makes binary files of all matrices but the first; prints the memory that each uses."""


def lines(*columns: Numbers) -> str:
    return "".join(" ".join(map(str, line)) + "\n" for line in np.column_stack(columns).tolist())


def diagonal(n: int) -> str:
    places = np.arange(1, n + 1)
    return f"{BANNER} coordinate integer general\n{n} {n} {n}\n" + lines(places, places, places)


def scattered(n: int, entries: int) -> str:
    random = np.random.default_rng(1)
    places = random.integers(1, n + 1, (2, entries))
    return f"{BANNER} coordinate pattern general\n{n} {n} {entries}\n" + lines(*places)


def band(n: int, width: int) -> str:
    rows = np.repeat(np.arange(width, n + 1), width)
    columns = rows - np.tile(np.arange(width), n + 1 - width)
    top = f"{BANNER} coordinate integer symmetric\n{n} {n} {len(rows)}\n"
    return top + lines(rows, columns, rows)


def all_values(n: int) -> str:
    return f"{BANNER} array integer general\n{n} {n}\n" + lines(np.arange(1, n * n + 1))


MATRICES: dict[str, Callable[[], str]] = {
    "diagonal": lambda: diagonal(600_000),
    "nearly dense": lambda: scattered(1500, 600_000),
    "scattered": lambda: scattered(100_000, 300_000),
    "symmetric": lambda: band(150_000, 4),
    "array": lambda: all_values(800),
    "tiny": lambda: f"{BANNER} array real general\n1 1\n1\n",
    "empty rows": lambda: f"{BANNER} coordinate real general\n1000000 1000000 1\n1 1 1\n",
}


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[int, int]]:
    """Memory used and requested for each matrix, by its name and partition, from one process."""
    folder = tmp_path_factory.mktemp("peaks")
    small = written(folder, SMALL)
    files = {
        str(written(folder, text(), f"{k}.mtx")): k for k, text in enumerate(MATRICES.values())
    }
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(small), *files],
        check=True, capture_output=True, text=True,
        env={**os.environ, "HALOSCOPE_CACHE": str(folder / "cache")}, timeout=600,
    )  # fmt: skip
    names = [*MATRICES]
    found = re.findall(r"^(.+) (rows|graph) (\d+) (\d+)$", done.stdout, re.M)  # METIS prints, too
    return {
        (names[files[path]], partition): (int(taken), int(asked))
        for path, partition, taken, asked in found
    }


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="asks Linux for the peak")
@pytest.mark.parametrize("partition", ["rows", "graph"])
@pytest.mark.parametrize("name", MATRICES)
def test_no_more_memory_is_used_than_requested(
    peaks: dict[tuple[str, str], tuple[int, int]], name: str, partition: str
) -> None:
    taken, asked = peaks[name, partition]
    assert taken <= asked


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UserError, match="nowhere.mtx: .*No such file"):
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
def test_every_file_format_is_converted_correctly(
    tmp_path: Path, cache: Path, text: str, dense: list[list[float]], symmetric: bool
) -> None:
    found = matrices.prepared({"matrix": str(written(tmp_path, text))}, "matrix", 1)
    file = binary(cache / f"{found['matrix']}.csr")
    assert file.matrix.toarray().tolist() == dense
    assert file.symmetric == symmetric
    assert file.parts == []
    assert file.matrix.has_sorted_indices


def test_a_file_is_identified_by_its_content(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path, SMALL)
    name = matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert name == {"matrix": f"small-{matrices._hash(path)}", "n": 3, "row_length": 1}
    (kept,) = cache.glob("*.csr")
    before = kept.stat().st_mtime_ns
    assert matrices.prepared({"matrix": str(path)}, "matrix", 4)["matrix"] == name["matrix"]
    assert kept.stat().st_mtime_ns == before
    written(tmp_path, SMALL.replace("1.5", "2.5"))
    assert matrices.prepared({"matrix": str(path)}, "matrix", 1)["matrix"] != name["matrix"]


@pytest.mark.parametrize(
    ("text", "row_length"),
    [
        (f"{BANNER} coordinate real symmetric\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n", 1),
        (f"{BANNER} coordinate pattern symmetric\n2 2 3\n1 1\n2 1\n2 2\n", 2),
        (f"{BANNER} array real symmetric\n3 3\n" + "1\n" * 6, 3),
        (f"{BANNER} array real skew-symmetric\n3 3\n" + "1\n" * 3, 2),
        (f"{BANNER} array real general\n3 3\n" + "1\n0\n0\n" * 3, 1),
        (f"{BANNER} coordinate real general\n2 2 4\n1 1 1\n1 1 1\n2 2 1\n2 2 1\n", 1),
    ],
)
def test_row_lengths_count_each_position_once(tmp_path: Path, text: str, row_length: int) -> None:
    given = {"matrix": str(written(tmp_path, text))}

    made, again = (matrices.prepared(given, "matrix", 1) for _ in range(2))

    assert made["row_length"] == again["row_length"] == row_length


def cut_to(length: int) -> Callable[[bytes], bytes]:
    return lambda whole: whole[:length]


def flipped(byte: int) -> Callable[[bytes], bytes]:
    return lambda whole: whole[:byte] + bytes([whole[byte] ^ 1]) + whole[byte + 1 :]


def header(place: int, value: int) -> Callable[[bytes], bytes]:
    word = value.to_bytes(8, "little", signed=True)
    return lambda whole: whole[: 8 * place] + word + whole[8 * place + 8 :]


@pytest.mark.parametrize("partition", ["rows", "graph"])
@pytest.mark.parametrize(
    "damage",
    [
        *(cut_to(length) for length in (0, 32, 48, -8, -1)),
        *(flipped(byte) for byte in (0, 8, 24, 40, 48, 63, -1, -9, -20)),
        *(header(place, value) for place in range(1, 5) for value in (-1, -(2**63), 2**61)),
        lambda whole: whole + bytes(8),
        lambda whole: whole[:-16] + whole[-8:] + whole[-16:-8],
        lambda whole: whole.replace(b"HALOCSR2", b"HALOCSR1"),
    ],
)
def test_a_damaged_file_is_rebuilt(
    tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes], partition: str
) -> None:
    given: dict[str, Value] = {"matrix": str(written(tmp_path, SMALL)), "partition": partition}
    matrices.prepared(given, "matrix", 1)
    kept = max(cache.glob("*.csr"), key=lambda file: len(file.name))
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert kept.read_bytes() != whole
    matrices.prepared(given, "matrix", 1)
    assert kept.read_bytes() == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full")
def test_a_full_disk_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "small.csr"
    (tmp_path / "small.csr.part").symlink_to("/dev/full")
    with pytest.raises(UserError, match=os.strerror(errno.ENOSPC)):
        matrices.write(target, csr_matrix(np.eye(3)), None)
    assert not target.exists()
    assert not (tmp_path / "small.csr.part").is_symlink()


def test_a_special_file_is_refused_without_waiting(tmp_path: Path) -> None:
    path = tmp_path / "pipe.mtx"
    os.mkfifo(path)
    with pytest.raises(UserError, match=f"{path}: "):
        matrices.prepared({"matrix": str(path)}, "matrix", 1)


def test_a_compressed_file_is_accepted(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "small.mtx.gz"
    path.write_bytes(gzip.compress(SMALL.encode()))
    found = matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert str(found["matrix"]).startswith("small-")
    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3


def test_a_byte_order_mark_is_ignored(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path, "\ufeff" + SMALL)
    found = matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3


def archive(path: Path, mode: Any = "w:gz", **members: str) -> Path:
    with tarfile.open(path, mode) as file:
        for name, text in members.items():
            said = tarfile.TarInfo(name)
            said.size = len(text.encode())
            file.addfile(said, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize(
    ("name", "mode"), [("x.tar.gz", "w:gz"), ("x.tgz", "w:gz"), ("X.TAR", "w:")]
)
def test_a_matrix_is_found_in_an_archive(tmp_path: Path, cache: Path, name: str, mode: str) -> None:
    members = {"x/x_b.mtx": "right-hand side", "x/readme.txt": "a", "../x.mtx": SMALL}
    path = archive(tmp_path / name, mode, **members)
    found = matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert (found["n"], str(found["matrix"]).split("-")[0].lower()) == (3, "x")
    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3
    assert [*tmp_path.parent.glob("*.mtx"), *tmp_path.rglob("*.mtx")] == []


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"x/readme.txt": ""}, "no .mtx file"),
        ({"x/a.mtx": SMALL, "x/b.mtx": SMALL}, "several matrices: x/a.mtx, x/b.mtx"),
        ({"x/x.mtx": SMALL[:-6]}, "3 of 4 entries"),
        ({f"{number}": "" for number in range(1001)}, "more than 1,000 files"),
        ({"a" * 20_000_000: ""}, "name longer than"),
    ],
)
def test_an_archive_without_one_matrix_is_refused(
    tmp_path: Path, members: dict[str, str], expected: str
) -> None:
    path = archive(tmp_path / "x.tar.gz", **members)
    with pytest.raises(UserError, match=expected) as error:
        matrices.prepared({"matrix": str(path)}, "matrix", 1)
    assert error.value.problems[0].where == str(path)


@pytest.mark.parametrize(("name", "mode"), [("x.mtx", "w:"), ("x.mtx.gz", "w:gz")])
def test_an_archive_with_a_matrix_file_s_name_is_read(
    tmp_path: Path, cache: Path, name: str, mode: str
) -> None:
    path = archive(tmp_path / name, mode, **{"x/x.mtx": SMALL, "x/x_b.mtx": "right-hand side"})

    found = matrices.prepared({"matrix": str(path)}, "matrix", 1)

    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3


def test_one_percent_sign_before_the_banner_is_accepted(tmp_path: Path, cache: Path) -> None:
    found = matrices.prepared({"matrix": str(written(tmp_path, SMALL[1:]))}, "matrix", 1)

    assert binary(cache / f"{found['matrix']}.csr").matrix.nnz == 3


@pytest.mark.parametrize("start", ["% MatrixMarket", "MatrixMarket", "%%%MatrixMarket"])
def test_an_unknown_banner_is_quoted(tmp_path: Path, start: str) -> None:
    path = written(tmp_path, SMALL.replace("%%MatrixMarket", start, 1))

    with pytest.raises(UserError) as caught:
        matrices.prepared({"matrix": str(path)}, "matrix", 1)

    assert f"'{start} matrix" in caught.value.problems[0].what


@pytest.mark.parametrize("name", ["folder", "folder.mtx"])
def test_a_folder_is_refused_as_a_matrix(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    with pytest.raises(UserError) as caught:
        matrices.prepared({"matrix": str(folder)}, "matrix", 1)
    (empty,) = caught.value.problems
    written(folder, SMALL)
    with pytest.raises(UserError) as caught:
        matrices.prepared({"matrix": str(folder)}, "matrix", 1)
    (problem,) = caught.value.problems

    assert empty.where == problem.where == str(folder)
    assert empty.what == problem.what and "a folder" in empty.what
    assert "NAME.mtx" in empty.remedy
    assert str(folder / "small.mtx") in problem.remedy


@pytest.mark.parametrize(
    "value", ["", "{folder}/small.txt", "small.txt", "small", "lacking.mm", "lacking/small"]
)
def test_an_invalid_matrix_file_name_is_refused(
    tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, SMALL, "small.txt")
    written(tmp_path, SMALL, "small")
    with pytest.raises(UserError) as caught:
        matrices.prepared({"matrix": value.format(folder=tmp_path)}, "matrix", 1)

    (problem,) = caught.value.problems
    assert ".mtx" in f"{problem.what} {problem.remedy}"


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", **{"x/x.mtx": SMALL * 1000})
    whole = path.read_bytes()
    for content in (b"", b"no archive", whole[:100], whole[:-200], gzip.compress(b"no archive")):
        path.write_bytes(content)
        with pytest.raises(UserError):
            matrices.prepared({"matrix": str(path)}, "matrix", 1)


@pytest.mark.parametrize(
    ("name", "tool"), [("x.mtx.bz2", "bunzip2"), ("x.mtx.xz", "unxz"), ("x.zip", "unzip")]
)
def test_an_unsupported_compression_is_refused_with_a_remedy(name: str, tool: str) -> None:
    with pytest.raises(UserError) as error:
        matrices.prepared({"matrix": name}, "matrix", 1)
    (problem,) = error.value.problems
    assert problem.where == name
    assert problem.remedy == f"unpack it: {tool} {name}"


@pytest.mark.parametrize("name", ["n", "row_length", "bandwidth"])
def test_the_size_of_a_file_matrix_cannot_be_set(tmp_path: Path, cache: Path, name: str) -> None:
    path = written(tmp_path, SMALL)
    with pytest.raises(UserError) as error:
        matrices.prepared({"matrix": str(path), name: 7}, "matrix", 1)
    (problem,) = error.value.problems
    assert problem.where == f"matrix = {path}"
    assert f"{name} = 7" in problem.what
    assert not list(cache.glob("*"))
    assert matrices.prepared({"matrix": str(path)}, "matrix", 1)["n"] == 3


@pytest.mark.parametrize(
    ("given", "unused"),
    [
        ({"row_length": 9, "bandwidth": 60}, ["row_length = 9", "bandwidth = 60"]),
        ({"matrix": "2d5", "n": 10, "row_length": 27}, ["row_length = 27"]),
        ({"matrix": "power_law", "row_length": 9, "bandwidth": 60}, ["bandwidth = 60"]),
        ({"matrix": "random", "n": 10, "row_length": 9, "bandwidth": 60}, []),
        ({"matrix": "small-0123456789ab", "n": 10, "row_length": 9}, []),  # made of a file
    ],
)
def test_parameters_without_effect_on_a_generated_matrix_are_refused(
    given: dict[str, Value], unused: list[str]
) -> None:
    halobench = workbench.Kernels(lambda: iter(()))
    try:
        found, problems = halobench.prepared("spmv", given, 1), []
    except UserError as error:
        problems = error.problems
    else:
        assert found == (given, None)
    assert [one.where for one in problems] == unused
    assert all("random" in one.remedy for one in problems)


def test_generated_matrices_match_the_description_of_the_kernel() -> None:
    (matrix,) = (one for one in describe("spmv").parameters if one.name == "matrix")
    stencils, others = matrix.help.split(", random", 1)
    named = [*re.findall(r"\dd\d+", stencils), "random", "power_law"]
    assert [*matrices.GENERATED] == named and others.count("(see") == 2
    assert matrix.default in matrices.GENERATED


def test_built_in_matrix_names_are_unchanged() -> None:
    assert matrices.prepared({"matrix": "3d27"}, "matrix", 2) == {"matrix": "3d27"}


def test_a_partition_renumbers_the_matrix_and_cuts_few_edges() -> None:
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


def test_one_part_leaves_the_matrix_unchanged(tmp_path: Path, cache: Path) -> None:
    given = {"matrix": str(written(tmp_path, SMALL)), "partition": "graph"}
    name = matrices.prepared(given, "matrix", 1)["matrix"]
    file = binary(cache / f"{name}.1.csr")
    assert file.parts == [0, 3]
    assert (file.matrix != binary(cache / f"{name}.csr").matrix).nnz == 0


def test_the_name_of_a_converted_file_is_refused() -> None:
    with pytest.raises(UserError) as refused:
        matrices.prepared({"matrix": "small-0123456789ab"}, "matrix", 2)
    (problem,) = refused.value.problems
    assert problem.where == "small-0123456789ab"
    assert "NAME.mtx" in problem.remedy
