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

from haloscope.findings.answers import answering
from haloscope.findings.finding import Prominence
from haloscope.findings.sentences import sentence
from haloscope.quantities import count, listed
from haloscope.report.document import Document
from haloscope.report.draw.apart import apart
from haloscope.topics.common.table import Cell, Table, shared_notes

_TONES = {"": "", "warning": "yellow", "good": "green", "bad": "red"}
_WIDEST_NAME = 30
_WIDEST_TITLE = 20
_WIDEST_GROUP = 13
"""Longer titles, such as names of folders, are wrapped."""


LINES, COLUMNS = 11, 80
"""The size of a summary, which a terminal shows without scrolling; the report's path follows."""


def summary(document: Document) -> RenderableType:
    """Return answer, key figures, and warnings in at most 11 lines of 80 columns.

    Explanations of marks take precedence over key figures.
    """
    answer, room = document.answer, LINES - 1
    text = document.headline
    badge = [_Part(document.badge, "cyan", least=2)] if document.badge else []
    first = [_Part(document.title, "bold"), _Part(document.summary), _Part(text, least=3)]
    left = room - sum(part.taken for part in [*first, *badge])
    every = document.warnings
    figures, explained = _explained(document, text, left - bool(every))
    if len(explained) > left and answer:
        first[-1], explained = _Part(sentence(answering(answer)), least=3), []
    left -= len(figures) + len(explained)
    warned = [_Part(f"! {document.said(one)}", "yellow", "  ") for one in every][:left]
    others = [_Part(line, "dim", "  ") for line in document.first_caveats if not _marks(line)]
    others = others[: left - len(warned)]
    parts = [*first, *warned, *figures, *explained, *badge, *others]
    for part in [first[2], *warned, *badge, *explained, *figures, *others, *first[:2]]:
        spare = room - sum(one.taken for one in parts)
        part.least = min(len(part.lines), part.taken + spare)
    counted = {
        "warning": len(every) - len(warned),
        "finding": len(document.details())
        + sum(len(document.details(section.id)) for section in document.sections),
        "note": len(document.left_out),
    }
    more = [count(n, what, f"{what}s") for what, n in counted.items() if n]
    last = f"In the report and `haloscope show`: {listed(more) or 'all tables'}."
    return Group(*(line for part in parts for line in part.shown()), Text(last))


def _explained(document: Document, answer: str, room: int) -> tuple[list[_Part], list[_Part]]:
    """Return the key figures that fit together with the explanations of their and the answer's
    marks.
    """
    figures, explained = [], []
    for figure in document.key_figures:
        spread = f" ({figure.spread})" if figure.spread else ""
        line = f"{figure.value}  {figure.label}{spread} {figure.marks}".rstrip()
        figures.append(_Part(line, indent="  "))
    for kept in range(len(figures), -1, -1):
        used = _marks(answer, *(figure.text for figure in figures[:kept]))
        explained = [_Part(x, "dim", "  ") for x in document.first_caveats if used & _marks(x)]
        if kept + len(explained) <= room:
            return figures[:kept], explained
    return [], explained


def _marks(*texts: str) -> set[str]:
    return {mark for text in texts for mark in re.findall(r"\[\d+\]", text)}


@dataclass
class _Part:
    """A text of a summary. least: the minimum number of lines shown, if it has them."""

    text: str
    style: str = ""
    indent: str = ""
    least: int = 1

    @property
    def lines(self) -> list[str]:
        """Return all its lines."""
        return wrap(self.text, COLUMNS, subsequent_indent=self.indent) or [""]

    @property
    def taken(self) -> int:
        """Number of lines it takes."""
        return min(self.least, len(self.lines))

    def shown(self) -> list[Text]:
        """Return the shown lines; if more follow, the last one ends after a whole word."""
        lines = self.lines[: self.taken]
        if len(lines) < len(self.lines):
            kept = wrap(lines[-1].strip(), COLUMNS - 2 - len(self.indent))[0]
            lines[-1] = f"{self.indent if len(lines) > 1 else ''}{kept} …"
        return [Text(line, style=self.style) for line in lines]


def found(document: Document) -> RenderableType:
    """Return every finding, the answer first, and the meaning of marks."""
    ordered = [
        *([document.answer] if document.answer else []),
        *document.warnings,
        *(one for one in document.findings if one.severity not in _FIRST),
    ]
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


def tables(chosen: Sequence[Table]) -> RenderableType:
    """Return tables, one below the other, each with its own notes; then those that several have."""
    shared = shared_notes(chosen)
    parts = [part for table in chosen for part in _table(table, shared)]
    if shared:
        parts += [Text("Notes", style="bold"), *(_Item(note, "dim") for note in shared), Text()]
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


def _table(table: Table, shared: Sequence[str]) -> Iterator[RenderableType]:
    yield Text(f"{table.title}  ({table.id})", style="bold")
    yield _Blocks(apart(table))
    yield from (_Item(note, "dim") for note in table.notes if note not in shared)
    yield Text()


@dataclass(frozen=True)
class _Blocks:
    """A table in as many blocks as the width requires, each with the rows' names.

    Names and titles are wrapped, and never truncated.
    """

    table: Table
    widest_name: int = _WIDEST_NAME

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it block by block."""
        names = max(1, options.max_width // 2 // max(1, self.table.stub))
        shown = replace(self, widest_name=min(_WIDEST_NAME, names))
        for columns in shown._fitting(options.max_width):
            yield shown._grid(columns)

    def _fitting(self, width: int) -> Iterator[list[int]]:
        stub = list(range(self.table.stub))
        # no space after the last column
        room = width + 1 - sum(self._width(index) for index in stub)
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
        return 3 + (min(widest, self.widest_name) if index < self.table.stub else widest)

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
                no_wrap=not names_rows,
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
