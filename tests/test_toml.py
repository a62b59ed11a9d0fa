# SPDX-License-Identifier: BSD-3-Clause
"""TOML that anyone wrote: all that is of no use whatever its keys mean is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from haloscope import toml
from haloscope.clusters import file as cluster_file
from haloscope.errors import UserError
from haloscope.papers.file import read_paper
from haloscope.study.file import load

READERS: list[Callable[[Path], object]] = [load, cluster_file.load, read_paper]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"x =", "not TOML"),
        (b"x = 1" + b"0" * 5000, "not TOML: Exceeds the limit"),
        (b"x = 1" + b"0" * 400, "x: a number is too large for any use"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, "in each other more than 20 deep"),
        (b"x = " + b"{a=" * 300 + b"1" + b"}" * 300, "in each other more than 20 deep"),
        (b".".join([b"x"] * 3000) + b" = 1", "in each other more than 20 deep"),
        (b'[a]\nx = ["b\\u0000"]', "a.x#1: a text has the character NUL"),
        (b'"a\\u0000" = 1', "the character NUL"),
        (b'x = "' + b"y" * 20_000 + b'"', "x: a text has 20,000 characters\n    give at most 10"),
        (b"# " + b"y" * toml.LENGTH_LIMIT, "it has more than 4,000,000 characters"),
    ],
    ids=lambda text: str(text[:30]),
)
def test_no_reader_of_toml_stumbles(
    tmp_path: Path, reader: Callable[[Path], object], content: bytes, what: str
) -> None:
    path = tmp_path / "paper.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=what) as told:
        reader(path)
    assert all(str(path) in problem.where for problem in told.value.problems)


def test_what_is_wrong_is_told_all_at_once_and_what_is_not_is_read(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_text('a = "\\u0000"\nb = "\\u0000"\n')
    with pytest.raises(UserError) as told:
        toml.read(path, "give another")
    assert len(told.value.problems) == 2

    path.write_text("a = [[1, 2.5, nan], true]\r\n")
    source, data = toml.read(path, "give another")
    assert source == "a = [[1, 2.5, nan], true]\n"
    assert data["a"][1] is True


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = 'title = "any"\n[[runs]]\nkernel = "stream"\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert toml.read(path, "give a file")[0] == text
    assert load(path).title == "any"
