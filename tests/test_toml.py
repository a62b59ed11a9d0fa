# SPDX-License-Identifier: BSD-3-Clause
"""TOML from any author: everything that is invalid whatever its keys mean is reported."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from noted import shows
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from haloscope import toml
from haloscope.clusters import file as cluster_file
from haloscope.errors import UserError
from haloscope.papers.file import read_paper
from haloscope.study.file import load


class Model(BaseModel):
    """Any table."""


READERS: list[Callable[[Path], object]] = [load, cluster_file.load, read_paper]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "place", "why"),
    [
        (b"\xff\xfe", "", "UTF-8"),
        (b"title = '\xe9t\xe9'", "", "0xe9"),
        (b"x = y", "", "line 1, column 5"),
        (b"x = 1" + b"0" * 5000, "", "4300"),
        (b"x = 1" + b"0" * 400, "x", "integer"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, "", "20 levels"),
        (b"x = " + b"{a=" * 300 + b"1" + b"}" * 300, "", "20 levels"),
        (b".".join([b"x"] * 3000) + b" = 1", "", "20 levels"),
        (b'[a]\nx = ["b\\u0000"]', "a.x#1", "NUL"),
        (b'"a\\u0000" = 1', "", "NUL"),
        (b'x = "' + b"y" * 200_000 + b'"', "x", "200,000"),
        (b"# " + b"y" * toml.LENGTH_LIMIT, "", "4,000,000"),
    ],
    ids=lambda text: str(text[:30]),
)
def test_every_toml_reader_handles_malformed_files(
    tmp_path: Path, reader: Callable[[Path], object], content: bytes, place: str, why: str
) -> None:
    path = tmp_path / "paper.toml"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        reader(path)
    first, *_ = caught.value.problems
    assert first.where == f"{path}: {place}".rstrip(": ")
    assert why in first.what


def translation(error: ValidationError) -> str:
    return toml.translated("a.toml", error.errors()[0], (), "correct it").what


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("5", 'the string "5"'),
        (5, "5"),
        (True, "true"),
        (inf, "inf"),
        ([1, "a"], 'the list [1, "a"]'),
        ({"a": date(2026, 1, 2)}, "the table {'a': datetime.date(2026, 1, 2)}"),
        ("y" * 500, f'the string "{"y" * 199}...'),
    ],
)
def test_an_invalid_value_is_printed_with_its_type(value: object, shown: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Annotated[None, Field()]).validate_python(value)
    assert translation(caught.value).endswith(f", got {shown}")


@pytest.mark.parametrize(
    ("kind", "value", "rule"),
    [
        (int, "5", ("must be ", "valid integer")),
        (Annotated[int, Field(ge=1)], 0, ("must be at least 1",)),
        (Literal["a", "b"], "c", ("must be 'a' or 'b'",)),
        (Model, 1, ("must be a table",)),
        (tuple[int, ...], 1, ("must be a list",)),
        (Annotated[list[int], Field(min_length=1)], [], ("must have ", "at least 1 item")),
    ],
)
def test_pydantic_errors_read_like_haloscope_errors(
    kind: Any, value: object, rule: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value, strict=True)
    said, _ = translation(caught.value).split(", got ")
    assert shows(said, *rule)


def test_all_problems_are_reported_at_once_and_valid_keys_are_read(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_text('a = "\\u0000"\nb = "\\u0000"\n')
    with pytest.raises(UserError) as caught:
        toml.read(path, "give another")
    assert len(caught.value.problems) == 2

    path.write_text("a = [[1, 2.5, nan], true]\r\n")
    source, data = toml.read(path, "give another")
    assert source == "a = [[1, 2.5, nan], true]\n"
    assert data["a"][1] is True


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = 'title = "any"\n[[runs]]\nkernel = "stream"\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert toml.read(path, "give a file")[0] == text
    assert load(path).title == "any"


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "UTF-32"),
    ],
)
def test_a_wrong_encoding_is_reported_with_a_conversion_command(
    tmp_path: Path, encoding: str, named: str
) -> None:
    """As editors and shells of Windows write it; without a mark it is valid UTF-8, with NULs."""
    path = tmp_path / "my study.toml"
    path.write_bytes("title = 'x'\n".encode(encoding))

    with pytest.raises(UserError) as caught:
        toml.read(path, "give another")

    (problem,) = caught.value.problems
    assert (f"in {named}," in problem.what, "UTF-8" in problem.what) == (True, True)
    assert f"iconv -f {named} -t UTF-8 '{path}'" in problem.remedy
    text = path.read_bytes().decode(named)
    assert text.removeprefix("\ufeff") == "title = 'x'\n"
