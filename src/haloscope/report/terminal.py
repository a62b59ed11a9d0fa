"""Findings and tables for a terminal, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from haloscope.document import Document
from haloscope.tables import Cell, Table

_TONES = {"": "", "warning": "yellow", "good": "green", "bad": "red"}


def summary(document: Document) -> RenderableType:
    """Title, what was found, and what was left out."""
    return Group(
        Text(document.title, style="bold"),
        Text(document.summary),
        *(_item(finding.text, _TONES[finding.tone]) for finding in document.findings),
        *(_item(line, "yellow") for line in document.left_out),
    )


def tables(chosen: Sequence[Table]) -> RenderableType:
    """Tables, one below the other, each with its notes."""
    return Group(*(part for table in chosen for part in _table(table)))


def _item(text: str, style: str = "") -> RenderableType:
    grid = Grid.grid(padding=(0, 1))
    grid.add_row(Text("-"), Text(text, style=style))
    return grid


def _table(table: Table) -> Iterator[RenderableType]:
    grid = Grid(
        title=Text(f"{table.title}  ({table.id})", style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in table.columns:
        title = f"{column.group}\n{column.title}" if column.group else column.title
        grid.add_column(
            Text(title), justify=column.align, no_wrap=column.align == "right", vertical="top"
        )
    for row in table.rows:
        grid.add_row(*(_cell(cell) for cell in row))
    yield grid
    yield from (_item(note, "dim") for note in table.notes)
    yield Padding("", (0, 0))


def _cell(cell: Cell) -> Text:
    """The value, and below it, dim, how else it is written, its spread and what was published."""
    text = Text(cell.text + cell.marks, style=_TONES[cell.tone])
    published = f"publ. {cell.published}" if cell.published else ""
    for part in (cell.also, cell.spread, published):
        if part:
            text.append(f"\n{part}", style="dim")
    return text
