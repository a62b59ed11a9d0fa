"""haloscope validate: simulate a paper's tables and set them against what was published."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from haloscope.local_validation import Prediction
    from haloscope.validation import Cell

_DESCRIPTION = """\
Simulate every readable cell of a paper's tables of wall times, or of Jacobi's updates a second, on
the cluster file of the machine that it was measured on: predicted and published, their ratio, and
the errors.
With `local`, measure the study validate-local here, and predict it from this machine's calibration.

Numbers of the cluster files come from data sheets, descriptions, and cells of one node; Jacobi's
from cells of one rank, one socket, or one whole node. Errors of those cells are shown apart from
those of all others, which are predicted only. Wall times of less than 5 s, printed in whole
seconds, have no error.
"""
_EPILOG = """\
examples:
  haloscope validate hpcf-2018-10                  all its tables: minutes, then from a cache
  haloscope validate hpcf-2010-6 --table 5.1       one of them
  haloscope validate orfeo-mpi-report              Jacobi on ORFEO's nodes
  haloscope validate hpcf-2018-10 --csv cells.csv  every cell, for other programs
  haloscope calibrate; haloscope validate local    this machine: real runs and predictions
  haloscope validate local --from results/DIR      the same of runs that were made before
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `validate` to the command line."""
    parser = subparsers.add_parser(
        "validate",
        help="predict published tables by simulation, and show the errors",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("paper", metavar="PAPER", help="its id: haloscope paper list; or local: this machine")
    add("--table", metavar="ID", action="append", default=[], help="only this one; repeatable")
    add("--csv", metavar="FILE", help="write every cell there")
    add("--from", metavar="DIR", dest="folder", help="local: take the real runs of this folder")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Simulate, show; 1 if a cell could not be simulated."""
    if arguments.paper == "local":
        return _local(arguments)
    from rich.console import Console

    from haloscope.progress import Teller
    from haloscope.validation import tables_of, validate

    tell, out = Teller(Console(stderr=True)), Console(highlight=False)
    cells: list[Cell] = []
    for table in tables_of(arguments.paper, arguments.table):
        own = validate(table, tell)
        _show(f"{table.paper}, table {table.id}: {table.caption}", own, out)
        cells += own
    _conclude(cells, out)
    if arguments.csv:
        _write(arguments.csv, cells)
    return 1 if any(cell.problem for cell in cells) else 0


def _conclude(cells: Sequence[Cell], out: Console) -> None:
    """The errors of all tables together, where there are several."""
    if len({cell.table for cell in cells}) > 1:
        out.print("[bold]All tables[/bold]")
        for reading in dict.fromkeys(cell.reading for cell in cells):
            _show_errors([cell for cell in cells if cell.reading == reading], out)


def _local(arguments: argparse.Namespace) -> int:
    """Measure unless records are given, simulate the same cases, show both."""
    from pathlib import Path

    from rich.console import Console

    from haloscope import campaign, places
    from haloscope.commands import run
    from haloscope.dossier import open_folder
    from haloscope.errors import Problem, UserError
    from haloscope.local_validation import STUDY, predictions
    from haloscope.progress import Teller

    model = places.calibrated()
    if model is None:
        what = "no cluster file describes this machine"
        raise UserError(Problem("validate local", what, "write it: haloscope calibrate"))
    tell = Teller(Console(stderr=True))
    folder = Path(arguments.folder or "")
    if arguments.folder is None:
        real = campaign.start(campaign.Request(STUDY), tell).probed()
        run.measure(real, tell)
        folder = real.folder.path
    there = campaign.Request(STUDY, out=Path(f"{folder}-simulated"), on=model.name)
    simulated = campaign.start(there, tell)
    run.measure(simulated, tell)
    twins = open_folder(simulated.folder.path).cases
    _show_local([*predictions(open_folder(folder).cases, twins)], Console(highlight=False))
    return 1 if simulated.jobs_left()[0] else 0


def _show_local(found: Sequence[Prediction], out: Console) -> None:
    """A line a prediction, kernel by kernel, and the errors."""
    from rich.table import Table

    from haloscope.local_validation import errors
    from haloscope.quantities import SECONDS, seconds
    from haloscope.tables.notebook import spread_text

    for kernel in dict.fromkeys(one.kernel for one in found):
        own = [one for one in found if one.kernel == kernel]
        table = Table(kernel, "measured", "of the launches", "predicted", "error")
        for one in own:
            spread = spread_text(one.measured, SECONDS)
            measured, predicted = seconds(one.measured.value), seconds(one.predicted_s)
            table.add_row(one.what, measured, spread, predicted, f"{one.error:+.1%}")
        out.print(table)
        middle, worst = errors(own)
        out.print(f"{kernel}: {len(own)} times, median error {middle:.1%}, worst {worst:.1%}\n")


def _show(title: str, cells: Sequence[Cell], out: Console) -> None:
    """The table's own form, then the errors, reading by reading."""
    from haloscope.validation import JACOBI

    if cells[0].kind == JACOBI:
        _show_rates(title, cells, out)
    else:
        _show_times(title, cells, out)
    for reading in dict.fromkeys(cell.reading for cell in cells):
        _show_errors([cell for cell in cells if cell.reading == reading], out)
    out.print("")


def _show_times(title: str, cells: Sequence[Cell], out: Console) -> None:
    """A grid of predicted / published and their ratio for each mesh."""
    from rich.table import Table

    out.print(f"[bold]{title}[/bold]: predicted / published in seconds, and their ratio")
    nodes = sorted({int(cell.keys["nodes"]) for cell in cells})
    for n in sorted({int(cell.keys["n"]) for cell in cells}):
        own = {
            (c.keys["ppn"], c.keys["threads"], c.keys["nodes"]): c
            for c in cells
            if c.keys["n"] == n
        }
        grid = Table(f"N = {n}: ppn x threads", *(f"{count} nodes" for count in nodes))
        for ppn, threads in dict.fromkeys(key[:2] for key in own):
            grid.add_row(
                f"{ppn} x {threads}",
                *(_cell(own.get((ppn, threads, count))) for count in nodes),
            )
        out.print(grid)


def _show_rates(title: str, cells: Sequence[Cell], out: Console) -> None:
    """A line for each grid of ranks: published, then predicted and its ratio in each reading."""
    from rich.table import Table

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
    from haloscope.validation import Errors

    reading = f"{cells[0].reading}: " if cells[0].reading else ""
    for name, part in (
        ("may have set parameters", [c for c in cells if c.fitted]),
        ("only predicted", [c for c in cells if not c.fitted]),
    ):
        errors = Errors.of(part)
        if errors.median is not None and errors.worst is not None:
            out.print(
                f"{reading}{name}: {errors.cells} cells, median error {errors.median:.1%}, "
                f"worst {errors.worst:.1%}"
            )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.predicted is None:
        return cell.problem or "?"
    ratio = f"\n{cell.predicted / cell.published:.2f}" if cell.error is not None else ""
    return f"{cell.predicted:.4g} / {cell.published:g}{ratio}"


def _write(path: str, cells: Sequence[Cell]) -> None:
    """Every cell; what tells cells of one kind apart is empty for the other."""
    import csv
    from pathlib import Path

    keys = list(dict.fromkeys(key for cell in cells for key in cell.keys))
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["table", *keys, "reading", "unit", "published", "predicted", "error"])
        for cell in cells:
            own = [cell.keys.get(key) for key in keys]
            told = [cell.reading, cell.unit, cell.published, cell.predicted, cell.error]
            rows.writerow([cell.table, *own, *told])
