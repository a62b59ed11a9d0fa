# SPDX-License-Identifier: BSD-3-Clause
"""Published tables as data: papers/<id>/paper.toml defines the columns of the CSV files.

load("hpcf-2018-10").table("4.1").cell(n=1024, nodes=2, ppn=4) is one cell: 1.0 (seconds).
load("hpcf-2018-10").table("4.1").rows contains every row of a table.

What applies to every cell of a table (kernel, exchange, cluster, threads ...) is one of its
`facts`; what differs between rows is a column. Look-ups use both alike. A missing cell (not
published, or not readable with certainty) is None, never 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

from haloscope.errors import Problem, UserError, nearest, reject
from haloscope.papers.file import (
    Form,
    PublishedColumn,
    PublishedValue,
    Scalar,
    Speedups,
    TableMachine,
    read_paper,
    read_rows,
)
from haloscope.paths import share

__all__ = ["Form", "Grid", "Paper", "PaperTable", "PublishedCell", "PublishedColumn", "Scalar"]
__all__ += ["PublishedValue", "list_papers", "load"]


@dataclass(frozen=True)
class PublishedCell:
    """One published value.

    value: number or word, in the unit of its column. text: as printed, such as 00:06:16. low, high:
    range implied by the table's resolution: 00:00:00 in whole seconds is 0.0 to 0.5 s. Equal to the
    value without a known resolution; None for words.
    """

    value: int | float | str
    text: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Grid:
    """A (sub-)table in its published form, as text; an empty text is a missing cell.

    rows: pairs of headings, named by `corner`, and cells, named by `across`.
    """

    title: str
    corner: tuple[str, ...]
    across: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True)
class PaperTable:
    """A published table in tidy form: one row per cell, or one row per line of a list.

    paper, id, caption: its place and topic. kind: its form: convergence, walltime_grid, scaling,
    hybrid_grid, clusters ... columns: name -> type, unit, and meaning. keys: columns whose values
    identify a row. facts: what applies to every row: kernel, exchange, cluster, mpi, places, bind,
    threads ... resolution_s: step of the printed times; None without times. form: printed layout;
    None for a plain list of rows. notes, omitted: notes for readers; omitted cells with reasons.
    speedups: tables that determine its times with more digits, or None. not_predicted: why no
    simulation predicts it, or "". machines: cluster files of its rows, if it has several machines.
    rows: values by column; texts: the same rows as in the CSV file.
    """

    paper: str
    id: str
    kind: str
    caption: str
    columns: Mapping[str, PublishedColumn]
    keys: tuple[str, ...]
    facts: Mapping[str, Scalar]
    resolution_s: float | None
    form: Form | None
    notes: tuple[str, ...]
    omitted: tuple[str, ...]
    speedups: Speedups | None
    not_predicted: str | None
    machines: tuple[TableMachine, ...]
    rows: tuple[Mapping[str, PublishedValue], ...]
    texts: tuple[Mapping[str, str], ...]

    def cell(self, column: str = "time_s", **where: Scalar) -> PublishedCell | None:
        """Return one value with its printed text and rounding bounds; None if it is missing.

        where: values of columns or facts, at least the `keys` that identify the row. Raise
        UserError for unknown names, and if several rows are selected.
        """
        name = f"{self.paper}, table {self.id}"
        _check_names(name, [column], self.columns)
        _check_names(name, where, [*self.columns, *self.facts])
        selected = self._select(where)
        if len(selected) > 1:
            words = ", ".join(f"{key} = {value}" for key, value in where.items())
            what = f"{len(selected)} rows match {words or 'no condition'}"
            remedy = f"give a value for each key: {', '.join(self.keys)}"
            raise UserError(Problem(name, what, remedy))
        return self._cell(selected[0], column) if selected else None

    def has(self, where: Mapping[str, Scalar]) -> bool:
        """Return whether facts or some row have all of these values; False for unknown names."""
        known = self.facts.keys() | self.columns.keys()
        return where.keys() <= known and bool(self._select(where))

    def by_machine(self) -> list[PaperTable]:
        """Return its rows of each machine with a cluster file, with that file as a fact."""
        if not self.machines:
            return [self] if self.facts.get("cluster_file") else []
        return [
            replace(
                self,
                facts={**self.facts, "cluster_file": machine.cluster_file},
                rows=tuple(self.rows[index] for index in chosen),
                texts=tuple(self.texts[index] for index in chosen),
            )
            for machine in self.machines
            if (chosen := self._select(machine.where))
        ]

    def grids(self) -> list[Grid]:
        """Return the table as printed: one grid per sub-table, or a plain list headed
        by its keys.
        """
        if self.form is None:
            return [self._list()]
        split = self.form.split
        parts = [{}] if split is None else [{split: value} for value in self._distinct(split)]
        return [self._grid(self.form, part, cell) for part in parts for cell in self.form.cells]

    def _select(self, where: Mapping[str, Scalar]) -> list[int]:
        """Return the indices of the rows with these values; facts act as columns with a constant
        value.
        """
        return [
            index
            for index, row in enumerate(self.rows)
            if all({**self.facts, **row}[name] == value for name, value in where.items())
        ]

    def _cell(self, index: int, column: str) -> PublishedCell | None:
        value = self.rows[index][column]
        if value is None:
            return None
        text = self.texts[index][self.columns[column].printed or column]
        if isinstance(value, str):
            return PublishedCell(value, text, None, None)
        in_seconds = self.columns[column].unit == "s"
        half = (self.resolution_s or 0.0) / 2 if in_seconds else 0.0
        return PublishedCell(value, text, max(0.0, value - half) if half else value, value + half)

    def _distinct(self, column: str) -> list[str]:
        return list(dict.fromkeys(text[column] for text in self.texts))

    def _list(self) -> Grid:
        across = tuple(name for name in self.columns if name not in self.keys)
        rows = tuple(
            (tuple(text[name] for name in self.keys), tuple(text[name] for name in across))
            for text in self.texts
        )
        return Grid("", self.keys, across, rows)

    def _grid(self, form: Form, part: Mapping[str, str], cell: str) -> Grid:
        texts = [text for text in self.texts if all(text[k] == v for k, v in part.items())]
        across = self._distinct(form.across)
        named = self.columns[form.across].type == "text"
        printed = self.columns[cell].printed or cell
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for text in texts:
            heading = tuple(text[name] for name in form.rows)
            rows.setdefault(heading, {})[text[form.across]] = text[printed]
        title = [f"{name} = {value}" for name, value in part.items()]
        title += [f"{cell}: {self.columns[cell].meaning}"] if len(form.cells) > 1 else []
        return Grid(
            ", ".join(title),
            form.rows,
            tuple(across) if named else tuple(f"{form.across} {value}" for value in across),
            tuple(
                (h, tuple(cells.get(value, "") for value in across)) for h, cells in rows.items()
            ),
        )


@dataclass(frozen=True)
class Paper:
    """A published paper and its tables, by id ("4.1"), in the paper's order."""

    id: str
    title: str
    authors: tuple[str, ...]
    year: int
    report: str
    notes: tuple[str, ...]
    tables: Mapping[str, PaperTable]

    def table(self, table_id: str) -> PaperTable:
        """Return the table with this id. Raise UserError with the nearest id if there is none."""
        _check_names(f"{self.id}, table", [table_id], self.tables)
        return self.tables[table_id]


def list_papers() -> list[Paper]:
    """Return all papers, by id. Raise UserError with all problems in a paper's files."""
    return [load(paper_id) for paper_id in _known()]


@cache
def load(paper_id: str) -> Paper:
    """Return one paper with its tables.

    Raise UserError if there is no such paper (with the nearest id), or if its files are invalid.
    """
    _check_names("paper", [paper_id], _known())
    folder = share("papers") / paper_id
    file = read_paper(folder / "paper.toml")
    tables = {}
    for table in file.tables:
        texts, rows = read_rows(folder / table.file, table, file.columns)
        said = {name: value for name, value in table if name != "file"}
        said["columns"] = {name: file.columns[name] for name in table.columns}
        tables[table.id] = PaperTable(paper=file.id, **said, rows=rows, texts=texts)
    return Paper(file.id, file.title, file.authors, file.year, file.report, file.notes, tables)


def _known() -> list[str]:
    return sorted(path.parent.name for path in share("papers").glob("*/paper.toml"))


def _check_names(where: str, names: Collection[str], known: Collection[str]) -> None:
    reject(
        Problem(where, f"'{name}' is unknown", nearest(name, list(known)))
        for name in names
        if name not in known
    )


_SPEEDUP_STEP = 1e-4


@dataclass(frozen=True)
class ExactTime:
    """A cell's time, and the width of the range of times with the same print, in seconds.

    row: all keys of the cell, by column.
    """

    row: Mapping[str, PublishedValue]
    time_s: float
    step_s: float


def exact_times(table: PaperTable) -> dict[tuple[PublishedValue, ...], ExactTime]:
    """Return the times determined by the paper's tables of speedups, by the values of the table's
    keys.
    """
    if table.speedups is None:
        return {}
    paper = load(table.paper)
    serial = _serial(paper, table.speedups.serial)
    found: dict[tuple[PublishedValue, ...], ExactTime] = {}
    for name in table.speedups.tables:
        for row in paper.table(name).rows:
            speedup, first = row["speedup"], serial.get(row["n"])
            if not isinstance(speedup, int | float) or first is None:
                continue
            time, step = first[0] / speedup, first[1] / speedup
            step += time * _SPEEDUP_STEP / speedup
            keys = tuple(row[key] for key in table.keys)
            found.setdefault(keys, ExactTime(row, time, step))
    return found


def _serial(paper: Paper, name: str) -> dict[PublishedValue, tuple[float, float]]:
    table = paper.table(name)
    return {
        row["n"]: (float(time), table.resolution_s or 0.0)
        for row in table.rows
        if isinstance(time := row["time_s"], int | float)
    }
