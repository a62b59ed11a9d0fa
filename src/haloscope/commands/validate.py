"""haloscope validate: simulate a paper's tables and set them against what was published."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from haloscope.clusters.file import write
from haloscope.errors import Problem, UserError
from haloscope.predict import local_validation, paper_validation
from haloscope.predict.local_validation import STUDY, Prediction
from haloscope.predict.paper_validation import JACOBI, SHORTEST_S, Cell, Errors, tables_of
from haloscope.quantities import SECONDS, count, number, seconds
from haloscope.report.tables.notebook import spread_text
from haloscope.run import campaign
from haloscope.run.progress import Teller

_DESCRIPTION = """\
Simulate every readable cell of a paper's tables of wall times, or of Jacobi's updates a second, on
the cluster file of the machine that it was measured on: predicted and published, their ratio, and
the errors.
With `local`, measure the study validate-local here: this machine's calibration, and in turn with
it solves and messages, which that calibration then predicts. About five minutes; interrupted, it
goes on with run --resume, and what is there is predicted with --from.

Numbers of the cluster files come from data sheets, descriptions, and cells of one node; Jacobi's
from cells of one rank, one socket, or one whole node. Errors of those cells are shown apart from
those of all others, which are predicted only. Wall times of less than 5 s, printed in whole
seconds, have no error.

Where the processes of a node were is not published for wall times: they are taken to be spread
over its sockets. Filling one socket first (bind = "close") would predict partly filled nodes to
take up to 2.2 times as long as published (table 4.1 of hpcf-2018-10, one node).

One choice was made with cells of several nodes in sight: that sums of all ranks go up a tree and
down again (collectives in the cluster files), as no source says which algorithm was used; table 4.1
of hpcf-2018-10 comes out much the same with the other (ARCHITECTURE.md).
"""
_EPILOG = """\
examples:
  haloscope validate hpcf-2018-10                  all its tables: minutes, then from a cache
  haloscope validate hpcf-2010-6 --table 5.1       one of them
  haloscope validate orfeo-mpi-report              Jacobi on ORFEO's nodes
  haloscope validate hpcf-2018-10 --csv cells.csv  every cell, for other programs
  haloscope validate local                         this machine: real runs and predictions
  haloscope validate local --from results/DIR      the same of runs that were made before
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `validate`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("paper", metavar="PAPER", help="its id: haloscope paper list; or local: this machine")
    add("--table", metavar="ID", action="append", default=[], help="only this one; repeatable")
    add("--csv", metavar="FILE", help="write every cell there")
    add("--from", metavar="DIR", dest="folder", help="local: take the real runs of this folder")


def execute(arguments: argparse.Namespace) -> int:
    """Simulate, show; 1 if a cell could not be simulated."""
    if problems := list(_unusable(arguments)):
        raise UserError(problems)
    if arguments.paper == "local":
        return _local(arguments)

    tell, out = Teller(Console(stderr=True)), Console(highlight=False)
    cells: list[Cell] = []
    for table in tables_of(arguments.paper, arguments.table):
        own = paper_validation.validate(table, tell)
        _show(f"{table.paper}, table {table.id}: {table.caption}", own, out)
        cells += own
    _conclude(cells, out)
    if arguments.csv:
        _write(arguments.csv, _rows(cells))
    return 1 if any(cell.problem for cell in cells) else 0


def _unusable(arguments: argparse.Namespace) -> Iterator[Problem]:
    """Options that do not go together, or can't be; found before minutes are spent."""
    if arguments.paper == "local" and arguments.table:
        yield Problem("--table", "this machine has no published tables", "leave it out")
    if arguments.paper != "local" and arguments.folder:
        yield Problem("--from", "published tables need no real runs", "leave it out")
    if arguments.csv:
        path = Path(arguments.csv)
        if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
            mend = "give a file in a folder that is there"
            yield Problem(f"--csv {path}", "can't be written", mend)


def _conclude(cells: Sequence[Cell], out: Console) -> None:
    """The errors of all tables together, where there are several."""
    if len({cell.table for cell in cells}) > 1:
        out.print("[bold]All tables[/bold]")
        for reading in dict.fromkeys(cell.reading for cell in cells):
            _show_errors([cell for cell in cells if cell.reading == reading], out)


def _local(arguments: argparse.Namespace) -> int:
    """Measure unless records are given, predict what they have, show both."""
    tell, out = Teller(Console(stderr=True)), Console(highlight=False)
    folder, code = (Path(arguments.folder), 0) if arguments.folder else _measure_local(tell)
    done = local_validation.validate(folder, tell)
    write(done.model, folder / "calibrated.toml")
    _show_local(done.predictions, out)
    out.print(f"predicted from {folder / 'calibrated.toml'}", soft_wrap=True)
    for failure in done.failures:
        out.print(f"not simulated: {failure}", markup=False, soft_wrap=True)
    if arguments.csv:
        _write(arguments.csv, _local_rows(done.predictions))
    return 1 if done.failures else code


def _measure_local(tell: Teller) -> tuple[Path, int]:
    """A new folder of the study, and 1 if some launch of it did not end well."""
    real = campaign.start(campaign.Request(STUDY), tell).probed()
    path = real.folder.path
    try:
        campaign.measure(real, tell)
    except KeyboardInterrupt:
        tell.say(
            f"\nTo go on: haloscope run --resume {path}; haloscope validate local --from {path}"
        )
        raise
    return path, 1 if real.launches_left()[0] else 0


def _show_local(found: Sequence[Prediction], out: Console) -> None:
    """A line a prediction, kernel by kernel, and the errors."""
    for kernel in dict.fromkeys(one.kernel for one in found):
        own = [one for one in found if one.kernel == kernel]
        table = Table(kernel, "measured", "of the launches", "predicted", "error")
        for one in own:
            spread = spread_text(one.measured, SECONDS)
            measured, predicted = seconds(one.measured.value), seconds(one.predicted_s)
            table.add_row(one.what, measured, spread, predicted, f"{one.error:+.1%}")
        out.print(table)
        middle, worst = local_validation.errors(own)
        out.print(f"{kernel}: {len(own)} times, median error {middle:.1%}, worst {worst:.1%}\n")
    if not found:
        return
    middle, worst = local_validation.errors(found)
    out.print(f"all: {len(found)} times, median error {middle:.1%}, worst {worst:.1%}")


def _show(title: str, cells: Sequence[Cell], out: Console) -> None:
    """The table's own form, then the errors, reading by reading."""
    if cells[0].kind == JACOBI:
        _show_rates(title, cells, out)
    else:
        _show_times(title, cells, out)
    for reading in dict.fromkeys(cell.reading for cell in cells):
        _show_errors([cell for cell in cells if cell.reading == reading], out)
    out.print("")


def _show_times(title: str, cells: Sequence[Cell], out: Console) -> None:
    """A grid of predicted and published times and their ratio for each mesh."""
    told = "seconds, predicted and published; predicted over published"
    out.print(f"[bold]{title}[/bold]: {told}")
    nodes = sorted({int(cell.keys["nodes"]) for cell in cells})
    for n in sorted({int(cell.keys["n"]) for cell in cells}):
        own = {
            (c.keys["ppn"], c.keys["threads"], c.keys["nodes"]): c
            for c in cells
            if c.keys["n"] == n
        }
        grid = Table(f"N = {n}", show_lines=True)
        for on in nodes:
            grid.add_column(count(on, "node"), justify="right")
        for ppn, threads in dict.fromkeys(key[:2] for key in own):
            each = f"\nx {count(int(threads), 'thread')}" if threads != 1 else ""
            name = f"{count(int(ppn), 'process', 'processes')}{each}"
            grid.add_row(name, *(_cell(own.get((ppn, threads, on))) for on in nodes))
        out.print(grid)


def _show_rates(title: str, cells: Sequence[Cell], out: Console) -> None:
    """A line for each grid of ranks: published, then predicted and its ratio in each reading."""
    out.print(f"[bold]{title}[/bold]: MLUP/s; predicted over published")
    readings = dict.fromkeys(cell.reading for cell in cells)
    table = Table("ranks", "grid", "published", *readings)
    by_row: dict[tuple[object, ...], dict[str, Cell]] = {}
    for cell in cells:
        by_row.setdefault((cell.keys["ranks"], cell.keys["grid"]), {})[cell.reading] = cell
    for (ranks, grid), row in by_row.items():
        published = next(iter(row.values())).published
        table.add_row(
            str(ranks), str(grid), f"{published:.1f}", *(_rate(row[one]) for one in readings)
        )
    out.print(table)


def _rate(cell: Cell) -> str:
    if cell.predicted is None:
        return cell.problem or "?"
    return f"{cell.predicted:.1f}  {cell.predicted / cell.published:.3f}"


def _show_errors(cells: Sequence[Cell], out: Console) -> None:
    reading = f"{cells[0].reading}: " if cells[0].reading else ""
    for name, part in (
        ("may have set parameters", [c for c in cells if c.fitted]),
        ("only predicted", [c for c in cells if not c.fitted]),
    ):
        errors = Errors.of(part)
        if errors.median is not None and errors.worst is not None:
            many = count(errors.cells, "cell")
            found = f"median error {errors.median:.1%}, worst {errors.worst:.1%}"
            out.print(f"{reading}{name}: {many}, {found}")
    short = [cell for cell in cells if not cell.telling and cell.as_printed is not None]
    if short:
        alike = sum(bool(cell.as_printed) for cell in short)
        told = f"{count(len(short), 'cell')} below {SHORTEST_S:g} s, which have no error: {alike}"
        out.print(f"{reading}{told} would be printed as published")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.predicted is None:
        return cell.problem or "?"
    ratio = f"\n{cell.predicted / cell.published:.2f}" if cell.error is not None else ""
    return f"{number(cell.predicted)}\n[dim]{cell.published:,g}[/dim]{ratio}"


def _rows(cells: Sequence[Cell]) -> Iterator[list[object]]:
    """Every cell, below a head; what tells cells of one kind apart is empty for the other."""
    keys = list(dict.fromkeys(key for cell in cells for key in cell.keys))
    yield ["table", *keys, "reading", "unit", "published", "predicted", "error"]
    for cell in cells:
        own = [cell.keys.get(key) for key in keys]
        told = [cell.reading, cell.unit, cell.published, cell.predicted, cell.error]
        yield [cell.table, *own, *told]


def _local_rows(found: Sequence[Prediction]) -> Iterator[list[object]]:
    """Every prediction, below a head."""
    yield ["kernel", "what", "unit", "measured", "low", "high", "predicted", "error"]
    for one in found:
        real = one.measured
        told = [real.value, real.low, real.high, one.predicted_s, one.error]
        yield [one.kernel, one.what, "s", *told]


def _write(path: str, rows: Iterable[Sequence[object]]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
