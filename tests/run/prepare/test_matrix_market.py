# SPDX-License-Identifier: BSD-3-Clause
"""The strict reader of Matrix Market files: what each kind means, and what is refused, by line."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmread, mmwrite
from scipy.sparse import random_array

from haloscope.errors import UserError
from haloscope.run.prepare import matrix_header, matrix_market

BANNER = "%%MatrixMarket matrix"
REAL = f"{BANNER} coordinate real general\n"
SYMMETRIC = f"{BANNER} coordinate real symmetric\n"


def written(folder: Path, text: str | bytes, name: str = "small.mtx") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a Matrix Market"),
        ("\ufeff", "not a Matrix Market"),
        ("rows and columns\n", "not a Matrix Market"),
        ("%%MatrixMarket vector coordinate real general\n", "a 'vector'"),
        (f"{BANNER} coordinate real\n1 1 1\n1 1 1\n", "has 4 words"),
        (f"{BANNER} coordinate real general 3\n1 1 1\n1 1 1\n", "general 3', has 6 words"),
        (f"{BANNER} coordinate real general % of ours\n1 1 1\n1 1 1\n", "has 8 words"),
        (f"{BANNER} coordinate complex general\n1 1 1\n1 1 1 0\n", "complex values"),
        (f"{BANNER} coordinate complex hermitian\n1 1 1\n1 1 1 0\n", "complex values"),
        (f"{BANNER} array pattern general\n1 1\n1\n", "'array pattern'"),
        (f"{BANNER} coordinate real\x1b[2J general\n1 1 1\n1 1 1\n", r"real\\x1b\[2j'"),
        (f"{BANNER} coordinate real hermitian\n1 1 1\n1 1 1\n", "'hermitian'"),
        (REAL, "line 2 .*: ''"),
        (f"{REAL}2 2\n1 1 1\n", "line 2 .*: '2 2'"),
        (f"{REAL}%\n\n-1 -1 1\n", "line 4 .*: '-1 -1 1'"),
        (f"{REAL}1e3 1e3 1\n", "line 2 "),
        (f"{REAL}{'9' * 19} {'9' * 19} 1\n1 1 1\n", "more than 18 digits"),
        (f"{REAL}2 3 1\n1 1 1\n", "has 2 rows and 3 columns"),
        (f"{REAL}0 0 0\n", "has 0 rows"),
        (f"{REAL}2 2 0\n", "has no entries"),
        (f"{REAL}2 2 3\n1 1 1\n2 1 2\n", "after 2 of 3 entries"),
        (f"{REAL}2 2 1\n1 1 1\n\n2 1 2\n", "line 5, '2 1 2', .* an entry beyond"),
        (f"{REAL}9 9 {10**17}\n1 1 1\n", f"{10**17} entries.* 12"),
        (f"{BANNER} array real general\n{2**40} {2**40}\n1\n", "size allows only"),
        (f"{REAL}2 2 2\n1 1 1\n3 1 1\n", "line 4, '3 1 1', .*row or column"),
        (f"{REAL}2 2 2\n1 1 1\n1 0 1\n", "line 4, '1 0 1', .*row or column"),
        (f"{REAL}2 2 1\n{2**32 + 1} 1 1\n", "line 3, '4294967297 1 1', has a row"),
        (f"{REAL}2 2 1\n{'9' * 900} 1 1\n", r"9'\.\.\., has a row"),
        (f"{REAL}2 2 1\n-1 1 1\n", "line 3 .*: '-1 1 1'"),
        (f"{REAL}2 2 1\n1.0 1 1\n", "line 3 .*: '1.0 1 1'"),
        (f"{REAL}2 2 1\n1 1 x\n", "line 3 .*: '1 1 x'"),
        (f"{REAL}2 2 1\n1 1\n", "line 3 .*: '1 1'"),
        (f"{REAL}2 2 1\n1 1 1 1\n", "line 3 .*: '1 1 1 1'"),
        (f"{REAL}2 2 2\n1 1 1\n% 1\n2 2 1\n", "line 4 .*: '% 1'"),
        (f"{REAL}2 2 1\n1 1 nan\n", "line 3 .*: '1 1 nan'"),
        (f"{REAL}2 2 1\n1 1 inf\n", "line 3 .*: '1 1 inf'"),
        (f"{REAL}2 2 1\n1 1 1e999\n", "line 3, '1 1 1e999', has a value"),
        (f"{REAL}2 2 2\n\n1 1 1.5D+03\n2 2 1\n", r"line 4 .*: '1 1 1.5D\+03'"),
        (f"{REAL}2 2 1\n1 1 1,5\n", "line 3 .*: '1 1 1,5'"),
        (f"{REAL}2 2 1\n1 1 0x10\n", "line 3 .*: '1 1 0x10'"),
        (f"{REAL}2 2 1\n1 1 1.5.3\n", "line 3 .*: '1 1 1.5.3'"),
        (f"{REAL}2 2 1\n1 1 1e\n", "line 3 .*: '1 1 1e'"),
        (f"{REAL}2 2 1\n1 1 .\n", "line 3 .*: '1 1 .'"),
        (f"{REAL}2 2 1\n1 1 1.5\0\n", r"line 3 .*: '1 1 1.5\\x00'"),
        (f"{REAL}2 2 1\n1 1 1.5\u00b2\n", r"line 3 .*: '1 1 1.5\\xc2\\xb2'"),
        (f"{BANNER} coordinate integer general\n1 1 1\n1 1 1.5\n", "line 3 .*: '1 1 1.5'"),
        (f"{BANNER} coordinate pattern general\n1 1 1\n1 1 1\n", "line 3 .*: '1 1 1'"),
        (f"{BANNER} array real general\n1 1\n1 1\n", "line 3 .*: '1 1'"),
        (f"{BANNER} array real general\n2 2\n1\n2\n3\n", "after 3 of 4 entries"),
        (f"{SYMMETRIC}2 2 3\n1 1 1\n2 1 3\n1 2 3\n", "line 5, '1 2 3', is above .*diagonal"),
        (
            f"{BANNER} coordinate real skew-symmetric\n2 2 2\n2 1 3\n\n1 1 3\n",
            "line 5, '1 1 3', is .*above .*diagonal",
        ),
        (REAL + "%" * 1025 + "\n1 1 1\n1 1 1\n", "line 2 .*more than 1024 characters"),
        (REAL + "%a\n" * 400_000 + "1 1 1\n1 1 1\n", "more than 1,048,576 bytes"),
        (f"{REAL}1 1 1\n1 1 {'1' * 2000}", "line 3 .*more than 1024 characters"),
        (f"{REAL}1 1 1\n1 1 1\n" + "\n" * 2**21, "than 1024 bytes per entry"),
        (f"{REAL}2 2 1\n1 1 1\n".replace("\n", "\r"), r"carriage return .CR. alone"),
        ((REAL + "% of ours\n" * 200 + "2 2 1\n1 1 1\n").replace("\n", "\r"), "CR. alone"),
        (f"{REAL}2 2 2\n1 1 1\r2 2 1\r", r"CR. alone"),
        (f"{REAL}99 99 99\n" + "1 1 1\r" * 999, r"CR. alone"),
        (f"{REAL}2 2 2\n2 1 1e308\n2 1 1e308\n", "row 2, column 1 add up"),
        (f"{SYMMETRIC}2 2 3\n2 1 1e308\n2 1 1e308\n2 1 -1e308\n", "row 1, column 2 add up"),
    ],
)
def test_violations_of_the_format_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError, match=reason) as error:
        matrix_market.read(path)
    assert error.value.problems[0].where == str(path)


@pytest.mark.parametrize(
    ("text", "dense"),
    [
        (f"{REAL}% a comment\n3 3 4\n3 1 1.5\n1 1 2\n1 3 -4\n3 1 1\n", "2 0 -4; 0 0 0; 2.5 0 0"),
        (f"{REAL}% \u00e9\n\n%\n 2\t2 2 \r\n\r\n 01 \t1  +1.5E+01\t\r\n \n2 2 -.5", "15 0; 0 -.5"),
        (f"{REAL}2 2 2\n1 2 5.\n2 1 1e-400\n", "0 5; 0 0"),
        (f"{BANNER} COORDINATE Integer General\n1 1 1\n1 1 +7\n", "7"),
        (f"{BANNER} coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", "1 1; 1 0"),
        (f"{SYMMETRIC}3 3 3\n2 2 1\n3 1 7\n3 1 7\n", "0 0 14; 0 1 0; 14 0 0"),
        (f"{BANNER} coordinate real skew-symmetric\n2 2 1\n2 1 7\n", "0 -7; 7 0"),
        (f"{BANNER} array real general\n2 2\n+1\n0\n 3\n4\n", "1 3; 0 4"),
        (f"{BANNER} array real general\n1 1\n1\n\n\r", "1"),
        (f"{BANNER} array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", "1 2 3; 2 4 5; 3 5 6"),
        (f"{BANNER} array real skew-symmetric\n3 3\n1\n2\n3\n", "0 -1 -2; 1 0 -3; 2 3 0"),
    ],
)
def test_every_matrix_market_type_is_read_correctly(tmp_path: Path, text: str, dense: str) -> None:
    expected = np.array([row.split() for row in dense.split(";")], dtype=float)
    matrix = matrix_market.read(written(tmp_path, text))
    assert matrix.toarray().tolist() == expected.tolist()
    assert matrix.has_canonical_format
    packed = written(tmp_path, gzip.compress(text.encode()), "small.mtx.gz")
    assert matrix_market.read(packed).toarray().tolist() == expected.tolist()


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("piece", [1, 7, 100, 2**22])
def test_the_chunk_size_does_not_change_the_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, symmetry: str
) -> None:
    matrix = random_array((40, 40), density=0.1, rng=np.random.default_rng(3), format="csr")
    path = tmp_path / "random.mtx"
    mmwrite(path, matrix + matrix.T if symmetry == "symmetric" else matrix, symmetry=symmetry)
    monkeypatch.setattr(matrix_header, "PIECE_BYTES", piece)
    assert (matrix_market.read(path) != mmread(path).tocsr()).nnz == 0
    path.write_text(path.read_text().replace("\n40 ", "\n\n\n40 ") + "\n 40 40 x\n")
    last = path.read_text().count("\n")
    with pytest.raises(UserError, match=f"line {last} .*: '40 40 x'|line {last - 1}, "):
        matrix_market.read(path)


def test_a_truncated_compressed_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(f"{REAL}1 1 1\n1 1 1\n".encode())[:-12], "small.mtx.gz")
    with pytest.raises(UserError, match="Compressed file ended"):
        matrix_market.read(path)


def test_a_corrupt_compressed_file_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(f"{REAL}1 1 1\n1 1 1\n".encode()))
    packed[-6] ^= 0xFF
    with pytest.raises(UserError, match="CRC check failed"):
        matrix_market.read(written(tmp_path, bytes(packed), "small.mtx.gz"))


def test_a_compression_bomb_uses_no_memory(tmp_path: Path) -> None:
    """200 MB of blanks in 200 KB: a process that has 64 MiB for them refuses them."""
    path = tmp_path / "bomb.mtx.gz"
    with gzip.open(path, "wb") as file:
        file.write(f"{REAL}9 9 9\n".encode())
        for _ in range(200):
            file.write(b"\n" * 10**6)
    code = (
        "import sys, resource, scipy.io, scipy.sparse, pathlib\n"
        "from haloscope.run.prepare import matrix_market\n"
        "used = int(pathlib.Path('/proc/self/statm').read_text().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))\n"
        "matrix_market.read(pathlib.Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert path.stat().st_size < 2**18
    assert "than 1024 bytes per entry" in done.stderr
