# SPDX-License-Identifier: BSD-3-Clause
"""LaTeX: tables wider than a page are cut into parts; no sign of ours is a question mark."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import haloscope
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape
from haloscope.report.document import Document, Section
from haloscope.report.draw import markdown
from haloscope.report.draw.figures import Drawing
from haloscope.report.draw.latex import LINES_A_PAGE, escape, lists, pages, tabulars, write
from haloscope.topics.common.making import warning
from haloscope.topics.common.table import Cell, Column, Table, label

NAME = ", ".join(
    ("2 processes", "chunks = 8", "layout = strided", "topology = 2x1", "transpose = pipelined")
)


def table(columns: int, name: str = "one") -> Table:
    """A row of so many values beside a name, in two groups."""
    groups = ["first" if index < columns // 3 else "second" for index in range(columns)]
    head = [Column(f"c{index}", f"phase{index}", group) for index, group in enumerate(groups)]
    row = (label(name), *(Cell(index, f"{index}.25", spread="[1, 2]") for index in range(columns)))
    return Table("t", "t", "T", (Column("case", "case", align="left"), *head), (row,))


def test_a_table_that_fits_is_not_split() -> None:
    assert len(tabulars(table(6))) == 1


def test_a_wide_table_is_split_with_names_repeated_and_each_value_once() -> None:
    parts = tabulars(table(24))

    assert len(parts) > 1
    assert all("one & " in part and "case & " in part for part in parts)
    for index in range(24):
        assert sum(f"}}{index}.25 " in part for part in parts) == 1
        assert sum(f"phase{index} " in part for part in parts) == 1


def test_parts_differ_by_at_most_one_column() -> None:
    """None is left alone on a page of its own."""
    counts = [part.count("phase") for part in tabulars(table(15))]

    assert counts == [7, 8]


def test_parts_keep_the_titles_of_their_columns() -> None:
    first, *_, last = tabulars(table(24))

    assert r"\multicolumn{8}{c}{first} & \multicolumn{4}{c}{second}" in first
    assert "{second}" in last and "{first}" not in last


def test_a_long_name_is_wrapped() -> None:
    (whole,) = tabulars(table(6, NAME))

    assert r"\parbox[t]" in whole and r"\raggedright 2 processes, chunks" in whole
    assert r"\parbox" not in tabulars(table(6))[0]
    assert r"\parbox" not in tabulars(table(1, NAME))[0]  # a page has room for it


def drawn(number: int, height: float) -> list[Drawing]:
    svg = f'<svg viewBox="0 0 100 {100 * height}">'
    return [Drawing(f"panel{index}", svg, b"") for index in range(number)]


def test_panels_that_do_not_fit_a_page_go_to_a_continued_figure() -> None:
    assert [len(part) for part in pages(drawn(6, 0.76))] == [6]
    assert [len(part) for part in pages(drawn(7, 1.0))] == [4, 3]
    assert [len(part) for part in pages(drawn(3, 3.0))] == [2, 1]  # made smaller on its page
    assert [one.name for part in pages(drawn(9, 1.0)) for one in part] == [
        f"panel{index}" for index in range(9)
    ]


def words_of_reports() -> Iterator[str]:
    """All texts in what reports are made of."""
    source = Path(haloscope.__file__).parent
    rooms = [
        path for room in ("report", "analysis", "models") for path in (source / room).rglob("*.py")
    ]
    for path in (*rooms, source / "quantities.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_latex_has_every_character_that_reports_use() -> None:
    signs = {sign for words in words_of_reports() for sign in words if sign not in "\n\r\t?"}

    assert {"α", "₁", "∞", "×"} <= signs
    assert sorted(sign for sign in signs if "?" in escape(sign)) == []


def rows_of(number: int, text: str = "", spread: str = "") -> Table:
    rows = tuple((label(f"row{k} {text}"), Cell(1, "1", spread=spread)) for k in range(number))
    return Table("t", "t", "T", (Column("case", "case", align="left"), Column("v", "v")), rows)


def test_a_long_table_is_split_into_parts_of_similar_length() -> None:
    parts = tabulars(rows_of(LINES_A_PAGE + 2))

    assert [part.count("row") for part in parts] == [(LINES_A_PAGE + 2) // 2] * 2
    assert [part.find("row0 ") >= 0 for part in parts] == [True, False]


def test_page_capacity_counts_lines_of_names_intervals_and_notes() -> None:
    """A page with nothing on it but its heading is what follows where they do not."""
    assert len(tabulars(rows_of(LINES_A_PAGE))) == 1
    assert len(tabulars(rows_of(LINES_A_PAGE, spread="[1, 2]"))) == 2
    assert len(tabulars(rows_of(LINES_A_PAGE, NAME + NAME))) > 2
    assert len(tabulars(rows_of(LINES_A_PAGE), ["a note"] * 10)) == 2
    (first, last) = tabulars(rows_of(LINES_A_PAGE), ["a note"] * 40)
    assert first.count("row") > last.count("row")


def shared() -> Section:
    """Two tables with a note in common, one of them folded."""
    whole = replace(table(2), notes=("common",))
    return Section("s", "S", (), (whole, replace(whole, id="u", title="U", folded=True)))


def test_collapsed_tables_come_last_and_common_notes_once(tmp_path: Path) -> None:
    """What floats itself waits behind those before it; bare text would overtake them."""
    document = Document("T", "S", (), (shared(),), (), (), (), (), ())

    text = write(document, {}, tmp_path).read_text(encoding="utf-8")

    assert lists(shared()) == [["Table 2: U, see tables/u.csv."]]
    assert document.notes == ("common (Tables 1 and 2)",)
    assert text.count("common") == text.count("common (Tables 1 and 2)") == 1
    own = text[text.index(r"\section{S}") : text.rindex(r"\clearpage")]
    outside = re.sub(r"\\begin\{table\}.*?\\end\{table\}", "", own, flags=re.DOTALL)
    assert outside.strip() == r"\section{S}"
    assert own.index("U, see tables") > own.index(r"\end{tabular}")
    assert r"\let\ftype@figure\ftype@table" in text  # figures wait with tables


def test_a_warning_has_its_own_mark(tmp_path: Path) -> None:
    found = (
        warning(Caveat.BUSY),
        Finding(
            "Copy",
            FindingShape.BREAKDOWN,
            (Claim({"part": "all"}, share=1.0),),
            topic="memory",
        ),
    )
    document = Document("T", "S", found, (), (), (), (), (), ())

    tex = write(document, {}, tmp_path).read_text(encoding="utf-8")
    page = markdown.write(document, {}, tmp_path).read_text(encoding="utf-8")

    busy, copy = map(document.said, found)
    assert rf"\item[\textbf{{!}}] {busy}" in tex
    assert f"- **!** {busy}\n" in page
    assert f"- {copy}" in page.replace("\\", "")


def test_subscript_characters_are_typeset_as_subscripts() -> None:
    assert escape("latency Tₗ, oₛ, oᵣ") == "latency T$_l$, o$_s$, o$_r$"


def test_headings_stay_with_their_content_or_start_a_page(tmp_path: Path) -> None:
    document = Document("T", "S", (), (shared(),), ("left",), (("a", "b"),), (), ("how",), ())

    text = write(document, {}, tmp_path).read_text(encoding="utf-8")

    assert text.index(r"\clearpage") < text.index(r"\section{S}")
    below = text[text.index(r"\section{S}") :]
    headings = re.findall(r"(\S+)\n\\section\*\{", below)
    assert len(headings) > 2 and set(headings) == {r"\room"}
