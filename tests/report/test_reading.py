# SPDX-License-Identifier: BSD-3-Clause
"""What makes a report easy to read: notes once, one value a cell, no figure of a single point."""

from __future__ import annotations

from pathlib import Path

import pytest
from made import launches
from noted import noted
from recorded import Raw, pingpong, poisson, quick, write_folder

from haloscope.report import writing
from haloscope.report.composing import compose
from haloscope.report.document import Document
from haloscope.report.draw.apart import apart, print_zoom
from haloscope.topics.common.figure import Axis, Bars, Curve, Figure, Lines, Mark
from haloscope.topics.common.notes import NOTES
from haloscope.topics.common.table import Cell, Column, Table, label

STUDY = """
title = "Scaling"
[[runs]]
kernel = "poisson_cg"
[[tables]]
kind = "scaling"
[[figures]]
kind = "scaling"
"""


def scaling(most: int) -> list[Raw]:
    return [one for p in (1, 2, 4) if p <= most for one in launches(256, [4.0 / p] * 2, ranks=p)]


def written(folder: Path, most: int) -> Document:
    document = compose(write_folder(folder, scaling(most), STUDY))
    writing.write(document, folder)
    return document


def test_at_most_three_notes_are_below_a_table_and_none_is_lost(tmp_path: Path) -> None:
    report = compose(write_folder(tmp_path, quick()))

    items: list[Table | Figure] = [*report.tables, *report.figures]
    assert max(len(item.notes) for item in items) > NOTES
    assert max(len(report.notes_of(item)) for item in items) <= NOTES
    for item in items:
        for note in {*item.notes} - {*report.notes_of(item), *report.left_out}:
            assert sum(line.startswith(note.removesuffix(".")) for line in report.notes) == 1


def test_a_note_shared_by_tables_is_printed_once_with_their_numbers(tmp_path: Path) -> None:
    report = written(tmp_path, 2)
    section = report.sections[0]

    speedup, efficiency = section.tables[1:]
    assert (section.called(speedup), section.called(efficiency)) == ("Table 2", "Table 3")
    (common,) = (note for note in speedup.notes if note.startswith("Speedup is relative to"))
    assert common in efficiency.notes
    assert common not in [*report.notes_of(speedup), *report.notes_of(efficiency)]
    assert f"{common} (Figure 1, Tables 2 and 3)" in report.notes
    for name in ("report.html", "report.md", "report.tex"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count("Speedup is relative to ") == 1, name
        assert text.count("(Figure 1, Tables 2 and 3)") == 1, name


def test_numbering_continues_across_sections(tmp_path: Path) -> None:
    sections = written(tmp_path, 4).sections

    numbers = [name for one in sections for name in map(one.called, one.figures)]
    numbers += [name for one in sections for name in map(one.called, one.tables)]
    assert numbers == ["Figure 1", "Table 1", "Table 2", "Table 3", "Table 4"]
    tex = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert tex.count("\\setcounter{table}{3}") == 1  # the summary's, before its caption


def test_scaling_has_a_figure_from_two_process_counts(tmp_path: Path) -> None:
    one, two = written(tmp_path / "one", 1), written(tmp_path / "two", 2)

    assert (len(one.figures), len(two.figures)) == (0, 1)
    assert not two.not_drawn and not two.left_out


def test_figures_omitted_for_the_same_reason_share_a_line(tmp_path: Path) -> None:
    raws = [
        one
        for way in ("blocking", "nonblocking")
        for p in (1, 2)
        for one in launches(256, [4.0 / p] * 2, ranks=p, exchange=way)
    ]
    figures = "".join(f"[[figures]]\nkind = 'exchange'\ntitle = '{title}'\n" for title in "AB")
    folder = write_folder(tmp_path, raws, f"{STUDY.partition('[[tables]]')[0]}{figures}")
    document = compose(folder)
    writing.write(document, folder)

    (line,) = document.not_drawn
    assert not document.figures
    assert line.count("Not drawn") == 1 and "along their axes): " in line and "; " in line
    for name in ("report.html", "report.md", "report.tex"):
        assert line[:20] in (tmp_path / name).read_text(encoding="utf-8"), name


def figure(*xs: float) -> Figure:
    marks = tuple(Mark(x, 1.0) for x in xs)
    ideal = Curve("ideal", (Mark(1, 1), Mark(2, 2), Mark(4, 4)), bound=True)
    panel = Lines("p", "", Axis("x"), Axis("y"), (Curve("a", marks), ideal))
    return Figure("f", "F", (panel,), "")


def test_a_bound_does_not_make_a_figure_of_a_single_point() -> None:
    assert not figure(1).shows_enough
    assert not figure(1, 1).shows_enough
    assert figure(1, 2).shows_enough
    bars = Bars("b", "", ("one",), (("rest", (1.0,)),), ("1 s",))
    assert Figure("f", "F", (bars,), "").shows_enough


COLUMNS = (Column("n", "N", align="left"), Column("a", "a"), Column("b", "b"))
BESIDE = Cell(2.0, "2 s", spread="[1, 3]", published="4 s", published_value=4.0, ratio="0.5 ×")


def shown(*rows: tuple[Cell, Cell]) -> list[list[str]]:
    named = tuple((label(str(index)), *row) for index, row in enumerate(rows))
    table = apart(Table("t", "t", "T", COLUMNS, named))
    assert not any(cell.published or cell.ratio for row in table.rows for cell in row)
    return [[column.title for column in table.columns], *([c.text for c in r] for r in table.rows)]


def test_published_values_of_one_column_get_extra_columns() -> None:
    assert shown((BESIDE, Cell(1, "1"))) == [
        ["N", "a", "published", "ratio", "b"],
        ["0", "2 s", "4 s", "0.5 ×", "1"],
    ]


@pytest.mark.parametrize("few", [True, False])
def test_published_values_of_several_columns_or_few_rows_get_extra_rows(few: bool) -> None:
    plain = Cell(1, "1")
    rows = [(BESIDE, plain), (plain, plain), (plain, plain)] if few else [(BESIDE, BESIDE)]
    beside = "" if few else "4 s"
    assert shown(*rows)[1:4] == [
        ["0", "2 s", "1" if few else "2 s"],
        ["0, published", "4 s", beside],
        ["0, ratio", "0.5 ×", "" if few else "0.5 ×"],
    ]


def test_a_row_of_published_values_states_its_n() -> None:
    columns = (COLUMNS[0], Column("grid", "grid", align="left"), *COLUMNS[1:])
    row = (label("4"), label("2x2x1"), BESIDE, BESIDE)
    table = apart(Table("t", "t", "T", columns, (row,), stub=2))

    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["4", "2x2x1"], ["4", "published"], ["4", "ratio"]
    ]  # fmt: skip


def test_rows_of_published_values_repeat_only_repeated_names() -> None:
    columns = (COLUMNS[0], Column("way", "way", align="left"), *COLUMNS[1:])
    rows = ((label("4"), label("one"), BESIDE, BESIDE), (label(""), label("two"), BESIDE, BESIDE))
    table = apart(Table("t", "t", "T", columns, rows, stub=2))

    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["4", "one"], ["", "published"], ["", "ratio"],
        ["", "two"], ["", "published"], ["", "ratio"],
    ]  # fmt: skip


def test_without_a_test_there_is_no_p_value(tmp_path: Path) -> None:
    def p_values(number: int) -> list[str]:
        raws = [
            poisson(64, ranks=2, launch=k, exchange=way, time_s=1.0 + k / 10 + late)
            for way, late in (("blocking", 1.0), ("nonblocking", 0.0))
            for k in range(number)
        ]
        study = STUDY.split("[[figures]]")[0].replace('"scaling"', '"exchange"')
        folder = write_folder(tmp_path / str(number), raws, study)
        (table,) = (t for t in compose(folder).tables if t.id == "exchange")
        return [row[4].text for row in table.rows]

    assert p_values(2) == ["", "–"]
    assert p_values(6) == ["", "0.002"]


def test_a_sweep_over_sizes_has_no_step_time(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [pingpong(launch=k) for k in range(2)], STUDY)
    (table,) = (t for t in compose(folder).tables if t.kind == "summary")

    assert table.rows[0][2].text == "–"
    assert noted(table, "several sizes or operations")


def test_few_columns_with_long_titles_use_a_smaller_font_too() -> None:
    columns = tuple(Column(f"c{k}", "2 processes, topology = 2d, published") for k in range(7))
    wide = Table("t", "t", "T", columns, (tuple(Cell(k, str(k)) for k in range(7)),))

    assert print_zoom(wide) == pytest.approx(128 / (7 * 39))
    assert print_zoom(Table("t", "t", "T", COLUMNS, ((BESIDE, BESIDE, BESIDE),))) == 1


def test_a_table_too_wide_for_paper_uses_a_smaller_font(tmp_path: Path) -> None:
    """Twelve columns of phases are cut off at the right of a page, four aren't."""
    marked = []
    for name, phases in (("few", 2), ("many", 12)):
        raws = [
            {
                **raw,
                "phases": [
                    {
                        "name": f"part_{k}",
                        "calls": 1,
                        "time_s": {"min": 0.01, "mean": 0.01, "max": 0.01},
                        "bytes": 0.0,
                        "flops": 0.0,
                        "model_s": None,
                    }
                    for k in range(phases)
                ],
            }
            for raw in scaling(2)
        ]
        folder = write_folder(tmp_path / name, raws, STUDY.replace("scaling", "phases"))
        writing.write(compose(folder), folder)
        html = (folder / "report.html").read_text(encoding="utf-8")
        marked.append('<table id="table-phases" style="--printed: 0.' in html)
        assert '<table id="table-phases"' in html and "table { zoom: var(--printed, 1)" in html
    assert marked == [False, True]
