"""Tables that are wider than a page of LaTeX are cut into parts, none of which loses a name."""

from __future__ import annotations

from haloscope.report.draw.latex import tabulars
from haloscope.report.tables.model import Cell, Column, Table, label

NAME = "2 processes, chunks = 8, layout = strided, topology = 2x1, transpose = pipelined"


def table(columns: int, name: str = "one") -> Table:
    """A row of so many values beside a name, in two groups."""
    groups = ["first" if index < columns // 2 else "second" for index in range(columns)]
    head = [Column(f"c{index}", f"phase{index}", group) for index, group in enumerate(groups)]
    row = (label(name), *(Cell(index, f"{index}.25", spread="[1, 2]") for index in range(columns)))
    return Table("t", "t", "T", (Column("case", "case", align="left"), *head), (row,))


def test_a_table_that_fits_stays_whole() -> None:
    assert len(tabulars(table(6))) == 1


def test_a_wide_table_is_cut_into_parts_that_have_the_names_and_each_value_once() -> None:
    parts = tabulars(table(24))

    assert len(parts) > 1
    assert all("one & " in part and "case & " in part for part in parts)
    for index in range(24):
        assert sum(f"}}{index}.25 " in part for part in parts) == 1
        assert sum(f"phase{index} " in part for part in parts) == 1


def test_parts_keep_the_titles_above_their_own_columns() -> None:
    first, *_, last = tabulars(table(24))

    assert r"\multicolumn{12}{c}{first} & \multicolumn{2}{c}{second}" in first
    assert "{second}" in last and "{first}" not in last


def test_a_long_name_goes_on_in_the_next_line() -> None:
    (whole,) = tabulars(table(3, NAME))

    assert r"\parbox[t]" in whole and r"\raggedright 2 processes, chunks" in whole
    assert r"\parbox" not in tabulars(table(3))[0]
