# SPDX-License-Identifier: BSD-3-Clause
"""The report as Markdown: pipe tables, and links to the SVG files of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from haloscope.errors import printable
from haloscope.paths import write_asked, write_whole
from haloscope.report.document import Document, Section
from haloscope.report.draw.apart import apart
from haloscope.report.draw.figures import Drawing
from haloscope.report.method import Facts
from haloscope.topics.common.notes import common_notes, own_notes
from haloscope.topics.common.table import Cell, Table


def write(document: Document, drawings: Mapping[str, Sequence[Drawing]], directory: Path) -> Path:
    """Write report.md; return its path."""
    path = directory / "report.md"
    write_whole(path, "\n".join(_lines(document, drawings)) + "\n")
    return path


def write_summary(title: str, lines: Sequence[str], tables: Sequence[Table], path: Path) -> None:
    """Write lines and tables to a user's file. Raise UserError if it is not writable."""
    parts = [f"## {_inert(title)}", "", *(f"- {_plain(line)}" for line in lines)]
    notes = [table.notes for table in tables]
    for table, own in zip(tables, own_notes(notes), strict=True):
        parts += ["", f"### {_inert(table.title)}", "", *pipes(table), ""]
        parts += [f"- {_inert(note)}" for note in own]
    if others := common_notes(tables):
        parts += ["", "### Notes", "", *(f"- {_inert(note)}" for note in others)]
    write_asked(path, "\n".join(parts) + "\n")


def _lines(document: Document, drawings: Mapping[str, Sequence[Drawing]]) -> Iterator[str]:
    yield from (f"# {_inert(document.title)}", "", _inert(document.summary))
    if document.badge:
        yield from ("", f"> {_inert(document.badge)}")
    yield from ("", f"**{_inert(document.headline)}**", "")
    for figure in document.key_figures:
        spread = f" ({figure.spread})" if figure.spread else ""
        yield f"- **{figure.value}** {_inert(figure.label)}{spread} {_inert(figure.marks)}".rstrip()
    yield from (f"- {_inert(line)}" for line in document.first_caveats)
    yield from (f"- **!** {_inert(document.said(one))}" for one in document.warnings)
    for section in document.sections:
        yield from _section(document, section, drawings)
        yield from (f"- {_inert(document.said(one))}" for one in document.details(section.id))
    if others := document.details():
        yield from _listed("Other findings", list(map(document.said, others)))
    if document.legend:
        yield from _listed("Marks", document.legend)
    left_out = document.left_out or (document.nothing_left_out,)
    yield from _listed("Left out", (*left_out, *document.not_drawn))
    yield from _listed("Method", document.method)
    if document.notes:
        yield from _listed("Notes", document.notes)
    yield from _facts("Machine", document.machine)
    yield from _facts("MPI libraries and compilers", document.toolchains)
    yield from _facts("Provenance", document.provenance)


def _section(
    document: Document, section: Section, drawings: Mapping[str, Sequence[Drawing]]
) -> Iterator[str]:
    yield from ("", f"## {section.title}")
    for figure in section.figures:
        yield from ("", f"### {section.called(figure)}. {_inert(figure.title)}", "")
        for drawing, panel in zip(drawings[figure.id], figure.panels, strict=True):
            yield f"![{_plain(figure.alt_text(panel))}](figures/{drawing.name}.svg)"
        yield from ("", *(f"- {_inert(note)}" for note in document.notes_of(figure)))
    for table in section.tables:
        name = f"{section.called(table)}. {_inert(table.title)}"
        if table.folded:
            yield from ("", f"{name}: see tables/{table.id}.csv.")
            continue
        yield from ("", f"### {name}", "", *pipes(table), "")
        yield from (f"- {_inert(note)}" for note in document.notes_of(table))


def pipes(table: Table) -> Iterator[str]:
    """Yield a table with pipes, with groups of columns in front of their titles."""
    table = apart(table)
    titles = [
        f"{column.group}: {column.title}" if column.group else column.title
        for column in table.columns
    ]
    yield _row([_inert(title).replace("|", "\\|") for title in titles])
    yield _row([":--" if column.align == "left" else "--:" for column in table.columns])
    yield from (_row([_cell(cell) for cell in row]) for row in table.rows)


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _cell(cell: Cell) -> str:
    parts = (_plain(part) for part in (cell.text + cell.marks, cell.spread) if part)
    return "<br>".join(part.replace("|", "\\|") for part in parts)


def _plain(text: str) -> str:
    text = _inert(text)
    for sign in "*_":
        text = text.replace(sign, f"\\{sign}")
    return text


def _inert(text: str) -> str:
    """Return text on one line without HTML, links, or pictures: it may be from anybody."""
    text = " ".join(printable(text).split("\n"))
    for sign in "\\<[]":
        text = text.replace(sign, f"\\{sign}")
    return text


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "", *(f"- {_plain(line)}" for line in lines))


def _facts(title: str, facts: Facts) -> Iterator[str]:
    if facts:
        yield from ("", f"## {title}", "", "| | |", "|:--|:--|")
        yield from (_row([_inert(name), _plain(text).replace("|", "\\|")]) for name, text in facts)
