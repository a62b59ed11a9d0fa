# SPDX-License-Identifier: BSD-3-Clause
"""What is refused in a paper.toml and in the CSV files it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from noted import shows

from haloscope.errors import UserError
from haloscope.papers.file import read_paper, read_rows

PAPER = """
id = "{id}"
title = "t"
authors = ["a"]
year = 2000
report = "r"
[columns.n]
type = "integer"
meaning = "size"
[columns.time_s]
type = "real"
unit = "s"
meaning = "time"
[[tables]]
id = "1"
kind = "list"
caption = "c"
file = "1.csv"
columns = ["n", "time_s"]
keys = ["n"]
facts = {{ kernel = "ring" }}
{extra}
"""

SECOND = """
[[tables]]
id = "{id}"
kind = "list"
caption = "c"
file = "1.csv"
columns = ["n", "time_s"]
keys = ["{keys}"]
facts = {{ {facts} }}
"""


def write_paper(folder: Path, extra: str = "", rows: str = "n,time_s\n1,0.5\n2,<1\n") -> Path:
    folder.mkdir()
    (folder / "paper.toml").write_text(PAPER.format(id=folder.name, extra=extra), encoding="utf-8")
    (folder / "1.csv").write_text(rows, encoding="utf-8")
    return folder / "paper.toml"


def test_a_byte_order_mark_is_ignored_in_a_table(tmp_path: Path) -> None:
    path = write_paper(tmp_path / "p", rows="\ufeffn,time_s\n1,0.5\n")
    file = read_paper(path)
    assert read_rows(path.parent / "1.csv", file.tables[0], file.columns)[1][0]["n"] == 1


def test_a_bound_is_text_without_a_value(tmp_path: Path) -> None:
    path = write_paper(tmp_path / "p")
    file = read_paper(path)
    texts, rows = read_rows(path.parent / "1.csv", file.tables[0], file.columns)
    assert rows == ({"n": 1, "time_s": 0.5}, {"n": 2, "time_s": None})
    assert texts[1]["time_s"] == "<1"


@pytest.mark.parametrize(
    ("extra", "messages"),
    [
        ("unit = 3", ["tables#1.unit: unknown key", "resolution_s, speedups"]),
        ("resolution_s = 0", ["tables#1.resolution_s: ", "greater than 0", "docs/schemas"]),
        (
            'form = { rows = "n", acros = "n" }',
            ["form.rows: ", "'across'? choose one of: across, cells"],
        ),
        ("form = 3", ["tables#1.form: must be a table"]),
        (
            "machines = [{ cluster = 1 }]",
            ["machines#1.cluster: ", "choose one of: cluster_file, where"],
        ),
        ("[columns.m]\ntyp = 3", ["columns.m.typ: ", "'type'? choose one of: meaning, printed"]),
        ("[columns.m]\ntype = 'int'", ["columns.m.type: ", "'real'", "did you mean 'integer'?"]),
        (
            'form = { rows = ["n"], across = "m", cells = ["time"] }',
            ["unknown column 'm'", "'time_s'?"],
        ),
        ("notes = [", ["paper.toml: "]),
        (
            SECOND.format(id="1", keys="n", facts="n = 3"),
            ["have the id '1'", "'n' is both a column"],
        ),
        (SECOND.format(id="2", keys="m", facts=""), ["table 2: unknown column 'm'"]),
        ("[[tables]]\nid = 1", ["tables#2.id", "tables#2.columns", "tables#2.facts"]),
    ],
)
def test_a_wrong_paper_file_is_refused(tmp_path: Path, extra: str, messages: list[str]) -> None:
    with pytest.raises(UserError) as error:
        read_paper(write_paper(tmp_path / "p", extra))
    for message in messages:
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("rows", "messages"),
    [
        ("n,time\n1,2\n", ["the header n,time does", "change the header to n,time_s"]),
        (
            "n,time_s\n1,2\n1,3\n2\nx,y\n,7\n",
            [
                "1.csv:3: an earlier row ",
                "1.csv:4: this row has 1 cell",
                "'x' of 'n'",
                "'y' of 'time_s'",
                "1.csv:6",
            ],
        ),
    ],
)
def test_wrong_rows_are_refused_together(tmp_path: Path, rows: str, messages: list[str]) -> None:
    path = write_paper(tmp_path / "p", rows=rows)
    file = read_paper(path)
    with pytest.raises(UserError) as error:
        read_rows(path.parent / "1.csv", file.tables[0], file.columns)
    for message in messages:
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ("1.csv: ", "file is empty")),
        (b"n,time_s\n1,\xb5\n", ("1.csv: the file is not UTF-8",)),
        (b'n,time_s\n1,"2\n', ("1.csv: invalid CSV: ", "unexpected end of data")),
        (b"n,time_s\n1," + b"9" * 200_000 + b"\n", ("1.csv: invalid CSV: ", "field larger than")),
        (b"n,time_s\n1,-1\n", ("1.csv:2: the value '-1' of 'time_s' ", "at least 0 s")),
        (
            b"n,time_s\n1,nan\n",
            ("1.csv:2: the value 'nan' of 'time_s' ", "a finite number"),
        ),
        (
            b"n,time_s\n1,1e999\n",
            ("1.csv:2: the value '1e999' of 'time_s' ", "a finite number"),
        ),
        (b"n,time_s\n1," + b"1" * 5000 + b"\n", ("a finite number",)),
        (b"n,time_s\n" + b"1" * 5000 + b",1\n", ("of the type 'integer'",)),
    ],
    ids=lambda text: str(text[:30]),
)
def test_an_unknown_table_is_refused(
    tmp_path: Path, content: bytes, message: tuple[str, ...]
) -> None:
    path = write_paper(tmp_path / "p")
    (path.parent / "1.csv").write_bytes(content)
    file = read_paper(path)
    with pytest.raises(UserError) as error:
        read_rows(path.parent / "1.csv", file.tables[0], file.columns)
    assert shows(str(error.value), *message)


def test_values_that_may_be_negative_are_declared(tmp_path: Path) -> None:
    path = write_paper(tmp_path / "p", rows="n,time_s\n1,-0.5\n")
    path.write_text(path.read_text().replace('unit = "s"', 'unit = "s"\nsigned = true'))
    file = read_paper(path)
    _, (row,) = read_rows(path.parent / "1.csv", file.tables[0], file.columns)
    assert row["time_s"] == -0.5


def test_a_missing_csv_and_a_wrong_id_are_named(tmp_path: Path) -> None:
    path = write_paper(tmp_path / "p")
    file = read_paper(path)
    with pytest.raises(UserError, match="file not found"):
        read_rows(path.parent / "2.csv", file.tables[0], file.columns)
    path.parent.rename(tmp_path / "q")
    with pytest.raises(UserError, match='set id = "q"'):
        read_paper(tmp_path / "q" / "paper.toml")
