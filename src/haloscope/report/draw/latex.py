# SPDX-License-Identifier: BSD-3-Clause
"""The report as LaTeX, for pdflatex with only its base packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import ceil
from operator import attrgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from haloscope.paths import write_whole
from haloscope.report.document import Document, Section
from haloscope.report.draw.apart import apart, width
from haloscope.report.draw.figures import Drawing
from haloscope.topics.common.notes import common_notes, own_notes
from haloscope.topics.common.table import Cell, Column, Table

LINES_A_PAGE = 46
"""Lines below a heading and a caption; longer tables are split, because LaTeX would not
fit them.
"""
_NOTE_A_LINE, _OF_A_LINE = 140, 0.7
"""Characters of a note per line, and the height of such a line in lines of a table."""

WIDEST = 125
"""A page that must be reduced below three quarters is hard to read."""
FITTING = 95
"""FITTING is the number of characters that fit a line without reduction."""
_WRAPPED = 36
"""Longer names are wrapped in tables that would not fit otherwise."""
_NAME_CM = 6.0

_LONG = 30
_BREAKS = "/_=,:.;-"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': r"''",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "µ": r"$\mu$",
    "μ": r"$\mu$",
    "−": r"$-$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∞": r"$\infty$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "₁": r"$_1$",
    "₂": r"$_2$",
    "ₗ": r"$_l$",
    "ₛ": r"$_s$",
    "ᵣ": r"$_r$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"\S{}",
    "¶": r"\P{}",
    "‖": r"$\|$",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
}


def write(document: Document, drawings: Mapping[str, Sequence[Drawing]], directory: Path) -> Path:
    """Write report.tex, which includes figures/*.pdf, and latex/*.tex; return the former's path.

    latex/ has a file for each table and figure, to \\input into other documents.
    """
    environment = _environment()
    template = environment.get_template("template.tex")
    _write_floats(environment, document, drawings, directory / "latex")
    text = template.render(document=document, drawings=drawings)
    path = directory / "report.tex"
    write_whole(path, text)
    return path


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("haloscope.report.draw", "."),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    environment.filters["tex"] = escape
    environment.globals |= {"pages": pages, "tabulars": tabulars, "lists": lists}
    return environment


def _write_floats(
    environment: Environment,
    document: Document,
    drawings: Mapping[str, Sequence[Drawing]],
    folder: Path,
) -> None:
    """Write table-ID.tex and figure-ID.tex, preamble.tex, which each of them needs, and notes.tex
    with the notes that are not below a table.
    """
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.tex"):
        old.unlink()
    made: Any = environment.get_template("floats.tex").module
    files = {"preamble": _PREAMBLE + environment.get_template("preamble.tex").render() + "\n"}
    notes = [table.notes for table in document.tables]
    files["notes"] = made.notes_of(common_notes(document.tables))
    for table, own in zip(document.tables, own_notes(notes), strict=True):
        files[f"table-{table.id}"] = made.table_of(table, own)
    for figure in document.figures:
        files[f"figure-{figure.id}"] = made.figure_of(figure, drawings[figure.id], figure.notes)
    for name, text in files.items():
        write_whole(folder / f"{name}.tex", text)


_PREAMBLE = r"""% Before \begin{document}: \input this file, then \graphicspath{{RESULT FOLDER/}}.
% Then \input table-ID.tex or figure-ID.tex, and refer to them: \ref{tab:ID}, \ref{fig:ID}.
% After the tables, \input notes.tex: the notes that are not below one of them.
\RequirePackage{graphicx}
"""


def escape(text: Any) -> str:
    """Escape text for LaTeX; characters missing in the base fonts become question marks.

    Consecutive hyphens do not become dashes; long words, such as paths, may be broken. Text stays
    in its paragraph, and its first character is not taken for an option of the preceding command.
    """
    text = " ".join(str(text).split("\n"))
    guard = "{}" if text.lstrip().startswith(("[", "*")) else ""
    return guard + " ".join(_word(word) for word in text.split(" "))


def _word(word: str) -> str:
    ends = _BREAKS if len(word) > _LONG else ""
    written = []
    for sign, before in zip(word, f" {word}", strict=False):
        written.append("{}" if sign == before == "-" else "")
        written.append(_SPECIAL.get(sign, sign if _is_latin(sign) else "?"))
        written.append(r"\allowbreak{}" if sign in ends else "")
    return "".join(written)


def _is_latin(sign: str) -> bool:
    return " " <= sign <= "~" or "\xa0" <= sign <= "\xff"


HIGHEST = 2.3
"""HIGHEST is the maximum ratio of height to width of a figure with two panels per row."""


def pages(drawings: Sequence[Drawing]) -> list[list[Drawing]]:
    """Divide the panels of a figure, two per row, into figures that fit a page."""
    rows = [drawings[k : k + 2] for k in range(0, len(drawings), 2)]
    parts: list[list[Drawing]] = [[]]
    height = 0.0
    for row in rows:
        own = max(one.height_over_width for one in row) / 2
        if parts[-1] and height + own > HIGHEST / 2:
            parts.append([])
            height = 0.0
        parts[-1] += row
        height += own
    return parts


LINES_A_LIST = 20


def lists(section: Section) -> list[list[str]]:
    """Return where a section's folded tables are, to follow its tables."""
    lines = [
        f"{section.called(table)}: {table.title}, see tables/{table.id}.csv."
        for table in section.tables
        if table.folded
    ]
    return [lines[k : k + LINES_A_LIST] for k in range(0, len(lines), LINES_A_LIST)]


def tabulars(table: Table, notes: Sequence[str] = ()) -> list[str]:
    """Return a table as one tabular, or as several if it is too long or too wide for a page."""
    table = apart(table)
    wraps = sum(width(table, index) for index in range(len(table.columns))) > FITTING
    below = _OF_A_LINE * sum(-(-len(note) // _NOTE_A_LINE) for note in notes)
    heights = [_lines_of(row, table, wraps=wraps) for row in table.rows]
    return [
        "\n".join(_tabular(one, one.rows[part.start : part.stop], wraps=wraps))
        for one in _side_by_side(table)
        for part in _pages(heights, below)
    ]


def _lines_of(row: Sequence[Cell], table: Table, *, wraps: bool) -> int:
    """Return the lines of a row's highest cell: value and spread, or a wrapped name."""
    lines = [1 + bool(cell.spread) for cell in row]
    if wraps:
        named = zip(row, table.columns, strict=True)
        lines += [-(-len(c.text) // _WRAPPED) for c, column in named if column.align == "left"]
    return max(lines)


def _pages(heights: Sequence[int], below: float) -> Iterator[range]:
    """Divide rows into parts that fit a page, about equally high; `below` follows the last part."""
    total = sum(heights) + below
    number = max(1, ceil(total / LINES_A_PAGE))
    begin, reached = 0, 0
    for index, height in enumerate(heights):
        if index > begin and reached + height > total / number:
            yield range(begin, index)
            begin, reached = index, 0
        reached += height
    yield range(begin, len(heights))


def _side_by_side(table: Table) -> Iterator[Table]:
    widths = [width(table, index, most=_WRAPPED) for index in range(len(table.columns))]
    names = list(range(table.stub))
    others = range(table.stub, len(widths))
    room = WIDEST - sum(widths[index] for index in names)
    number = 1
    while (
        number < len(others)
        and max(sum(widths[index] for index in part) for part in _cut(others, number)) > room
    ):
        number += 1
    for part in _cut(others, number):
        kept = [*names, *part]
        yield replace(
            table,
            columns=tuple(table.columns[index] for index in kept),
            rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
        )


def _cut(indices: Sequence[int], number: int) -> list[Sequence[int]]:
    """Divide columns or rows into `number` parts whose sizes differ by at most one."""
    ends = [len(indices) * part // number for part in range(number + 1)]
    return [indices[begin:end] for begin, end in pairwise(ends)]


def _tabular(table: Table, rows: Sequence[Sequence[Cell]], *, wraps: bool) -> Iterator[str]:
    alignment = "".join(column.align[0] for column in table.columns)
    yield rf"\begin{{tabular}}{{{alignment}}}"
    yield r"\hline"
    if any(column.group for column in table.columns):
        yield _groups(table.columns) + r" \\"
    yield " & ".join(escape(column.title) for column in table.columns) + r" \\"
    yield r"\hline"
    for row in rows:
        cells = zip(row, table.columns, strict=True)
        yield " & ".join(_cell(cell, column, wraps=wraps) for cell, column in cells) + r" \\"
    yield r"\hline"
    yield r"\end{tabular}"


def _groups(columns: Sequence[Column]) -> str:
    parts: list[tuple[str, int]] = []
    for group, own in groupby(columns, key=attrgetter("group")):
        span = len([*own])
        parts += [(group, span)] if group else span * [("", 1)]
    return " & ".join(rf"\multicolumn{{{span}}}{{c}}{{{escape(name)}}}" for name, span in parts)


def _cell(cell: Cell, column: Column, *, wraps: bool) -> str:
    first = escape(cell.text) + (
        f"$^{{\\mbox{{\\tiny {escape(cell.marks)}}}}}$" if cell.marks else ""
    )
    if wraps and column.align == "left" and len(cell.text) > _WRAPPED and not cell.spread:
        return rf"\parbox[t]{{{_NAME_CM}cm}}{{\raggedright {first}\strut}}"
    if not cell.spread:
        return first
    lines = rf"{first} \\ \scriptsize {escape(cell.spread)}"
    return rf"\begin{{tabular}}[t]{{@{{}}{column.align[0]}@{{}}}}{lines}\end{{tabular}}"
