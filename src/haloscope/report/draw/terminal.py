# SPDX-License-Identifier: BSD-3-Clause
"""Findings and tables for a terminal, with rich. Wide tables are split into blocks of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from haloscope.findings.badge import brief_badge
from haloscope.findings.finding import Finding, FindingShape, Prominence
from haloscope.findings.warnings import counting
from haloscope.quantities import count, listed
from haloscope.report.document import Document
from haloscope.report.draw.apart import apart
from haloscope.topics.common.notes import common_notes, own_notes
from haloscope.topics.common.table import Cell, Table

_TONES = {"": "", "warning": "yellow", "good": "green", "bad": "red"}
_WIDEST_NAME = 30
_WIDEST_TITLE = 20
_WIDEST_GROUP = 13
"""Longer titles, such as names of folders, are wrapped."""


LINES, COLUMNS = 11, 80
"""The size of a summary, which a terminal shows without scrolling; the report's path follows."""


def summary(document: Document) -> RenderableType:
    """Return answer, warnings, and key figures in at most 11 lines of 80 columns.

    A part that does not fit is left out with the explanations of its marks. The answer precedes
    warnings, and these precede key figures.
    """
    caveats = document.first_caveats
    marked = [_Part(5, line, "dim") for line in caveats if _marks(line)]
    warnings = [_Part(3, _brief(document, one), "yellow") for one in document.warnings]
    candidates = [
        _Part(0, document.title, "bold"),
        _Part(2, _answer(document)),
        *warnings,
        *([_Part(6, brief_badge(document.trust), "cyan")] if document.trust else []),
        *(_Part(7, line, "dim") for line in caveats if not _marks(line)),
        _Part(1, document.summary.partition(" Study: ")[0]),
        *(_Part(4, figure.text) for figure in document.key_figures),
    ]
    shown: list[_Part] = []
    for part in candidates:
        explained = [one for one in marked if _marks(one.text) & _marks(part.text)]
        added = [part, *(one for one in explained if one not in shown)]
        kept = [one for one in warnings[:1] if part.slot < _WARNING and one not in shown]
        if sum(len(one.lines) for one in [*shown, *added, *kept]) < LINES:
            shown += added
        elif part.slot == _ANSWER and document.answer:
            shown.append(replace(part, text=re.sub(r" (\[\d+\])+$", "", part.text)))
    counted = {
        "warning": len(document.warnings) - sum(one.slot == _WARNING for one in shown),
        "finding": len(document.details())
        + sum(len(document.details(section.id)) for section in document.sections),
        "note": len(document.left_out),
    }
    more = [count(n, what, f"{what}s") for what, n in counted.items() if n]
    last = f"In the report and `haloscope show`: {listed(more) or 'all tables'}."
    ordered = sorted(shown, key=lambda one: (one.slot, one.text if one in marked else ""))
    lines = (Text(line, style=part.style) for part in ordered for line in part.lines)
    return Group(*lines, Text(last))


_ANSWER, _WARNING = 2, 3
_LONGEST = 5
"""_LONGEST is the number of lines above which an answer has only its first values."""
_OF_VALUES = (FindingShape.VALUE, FindingShape.BREAKDOWN)
"""Shapes whose answers may have only their first parts: none contradicts another."""


def _answer(document: Document) -> str:
    answer = document.answered
    if answer is None:
        return document.headline
    least = 0 if answer.shape in _OF_VALUES else len(answer.parts) - 1
    shown = range(max(1, len(answer.parts)), max(0, least), -1)
    texts = [document.said(replace(answer, parts=answer.parts[:k])) for k in shown]
    return next((text for text in texts if len(wrap(text, COLUMNS)) <= _LONGEST), texts[-1])


def _brief(document: Document, warning: Finding) -> str:
    """Return a warning, without details if it would take more than two lines."""
    full = f"! {document.said(warning)}"
    if len(full) < 2 * COLUMNS:
        return full
    kept = warning.parts[:1]
    if warning.shape is FindingShape.WARNING and not counting(warning):
        kept = ()
    return f"! {document.said(replace(warning, parts=kept))}"


def _marks(text: str) -> set[str]:
    return set(re.findall(r"\[\d+\]", text))


@dataclass(frozen=True)
class _Part:
    """A text of a summary. slot: its place from the top; the first and third are not indented."""

    slot: int
    text: str
    style: str = ""

    @property
    def lines(self) -> list[str]:
        """Return its lines."""
        indent = "  " if self.slot >= _WARNING else ""
        return wrap(self.text, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)


def found(document: Document) -> RenderableType:
    """Return every finding, the answer first, and the meaning of marks."""
    first = [one for one in document.ordered if one.severity is Prominence.ANSWER]
    rest = [one for one in document.ordered if one.severity not in _FIRST]
    ordered = [*first, *document.warnings, *rest]
    return Group(
        *(
            _Item(document.said(one), *(("yellow", "!") if one in document.warnings else ("", "-")))
            for one in ordered
        )
    )


_FIRST = (Prominence.ANSWER, Prominence.WARNING)


def everything(document: Document) -> RenderableType:
    """Return the title, every finding, the meaning of marks, and excluded cases."""
    return Group(
        Text(document.title, style="bold"),
        Text(document.summary),
        *([Text(document.badge, style="cyan")] if document.badge else []),
        found(document),
        *(_Item(line, "dim") for line in document.legend),
        *(_Item(line, "yellow") for line in document.left_out),
    )


def tables(chosen: Sequence[Table], *, ids: bool = False) -> RenderableType:
    """Return tables, one below the other, each with its own notes; then all others, once.

    ids: print the id of each table behind its title, and in notes: the command takes ids.
    """
    notes = [table.notes for table in chosen]
    pairs = zip(chosen, own_notes(notes), strict=True)
    parts = [part for table, own in pairs for part in _table(table, own, ids=ids)]
    if others := common_notes(chosen, ids=ids):
        parts += [Text("Notes", style="bold"), *(_Item(note, "dim") for note in others), Text()]
    return Group(*parts)


@dataclass(frozen=True)
class _Item:
    """A list item: its lines one below the other, without trailing spaces.

    Marks do not depend on colours: in a file, in a log, under NO_COLOR.
    """

    text: str
    style: str = ""
    mark: str = "-"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it line by line."""
        lines = Text(self.text, style=self.style).wrap(console, options.max_width - 2)
        for index, line in enumerate(lines):
            line.rstrip()
            yield Text.assemble("  " if index else f"{self.mark} ", line)


def _table(table: Table, notes: Sequence[str], *, ids: bool) -> Iterator[RenderableType]:
    yield Text(f"{table.title}  ({table.id})" if ids else table.title, style="bold")
    yield Blocks(apart(table))
    yield from (_Item(note, "dim") for note in notes)
    yield Text()


@dataclass(frozen=True)
class Blocks:
    """A table in as many blocks as the width requires, each with the rows' names.

    Names and titles are wrapped, and so are cells wider than a block; nothing is truncated.
    """

    table: Table
    widest_name: int = _WIDEST_NAME
    widest_cell: int = COLUMNS

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it block by block."""
        names = max(1, options.max_width // 2 // max(1, self.table.stub))
        shown = replace(self, widest_name=min(_WIDEST_NAME, names))
        # no space after the last column
        room = options.max_width + 1 - sum(map(shown._width, range(self.table.stub)))
        shown = replace(shown, widest_cell=max(1, room - 3))
        for columns in shown._fitting(room):
            yield shown._grid(columns)

    def _fitting(self, room: int) -> Iterator[list[int]]:
        stub = list(range(self.table.stub))
        block: list[int] = []
        for index in range(self.table.stub, len(self.table.columns)):
            if block and sum(map(self._width, [*block, index])) > room:
                yield [*stub, *block]
                block = []
            block.append(index)
        yield [*stub, *block]

    def _width(self, index: int) -> int:
        own = [row[index] for row in self.table.rows]
        cells = [line for cell in own for line in (cell.text + cell.marks, cell.spread)]
        widest = max(map(len, [*self._group(index), *self._title(index), *cells]), default=0)
        return 3 + min(widest, self.widest_name if index < self.table.stub else self.widest_cell)

    def _title(self, index: int) -> list[str]:
        """Return a column's title in lines; words that are too long are split."""
        names_rows = index < self.table.stub
        width = min(self.widest_name, _WIDEST_TITLE) if names_rows else _WIDEST_TITLE
        return wrap(self.table.columns[index].title, width)

    def _group(self, index: int) -> list[str]:
        """Return the title above several columns in lines; it is above the first of them."""
        return wrap(self.table.columns[index].group, _WIDEST_GROUP)

    def _grid(self, columns: Sequence[int]) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        above: list[str] = []
        high = max((len(self._group(index)) for index in columns), default=0)
        for index in columns:
            column = self.table.columns[index]
            group = self._group(index)
            lines = [] if group == above else group
            above = group
            title = [*[""] * (high - len(lines)), *lines, *self._title(index)]
            names_rows = index < self.table.stub
            grid.add_column(
                Text("\n".join(title)),
                justify=column.align,
                overflow="fold",
                min_width=self._width(index) - 3,
                max_width=self.widest_name if names_rows else None,
                vertical="top",
            )
        for row in self.table.rows:
            grid.add_row(*(_cell(row[index]) for index in columns))
        return grid


def _cell(cell: Cell) -> Text:
    text = Text(cell.text + cell.marks, style=_TONES[cell.tone])
    if cell.spread:
        text.append(f"\n{cell.spread}", style="dim")
    return text
