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
Simulate every readable cell of a paper's wall-time tables on the cluster file of the machine that
it was measured on: predicted and published time, their ratio, and the errors.
With `local`, measure the study validate-local here, and predict it from this machine's calibration.

Numbers of the cluster files come from data sheets, descriptions, and cells of one node. Errors of
those cells are shown apart from those of all others, which are predicted only. Cells of less than
5 s, printed in whole seconds, have no error.
"""
_EPILOG = """\
examples:
  haloscope validate hpcf-2018-10                  all its tables: minutes, then from a cache
  haloscope validate hpcf-2010-6 --table 5.1       one of them
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
    if arguments.csv:
        _write(arguments.csv, cells)
    return 1 if any(cell.problem for cell in cells) else 0


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
    """A grid of predicted / published and their ratio for each mesh, then the errors."""
    from rich.table import Table

    from haloscope.validation import Errors

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
    for name, part in (
        ("one node, may have set parameters", [c for c in cells if c.fitted]),
        ("more nodes, only predicted", [c for c in cells if not c.fitted]),
    ):
        errors = Errors.of(part)
        if errors.median is not None and errors.worst is not None:
            out.print(
                f"{name}: {errors.cells} cells, median error {errors.median:.1%}, "
                f"worst {errors.worst:.1%}"
            )
    out.print("")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.predicted_s is None:
        return cell.problem or "?"
    ratio = f"\n{cell.predicted_s / cell.published_s:.2f}" if cell.error is not None else ""
    return f"{cell.predicted_s:.4g} / {cell.published_s:g}{ratio}"


def _write(path: str, cells: Sequence[Cell]) -> None:
    import csv
    from pathlib import Path

    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["table", "n", "nodes", "ppn", "threads", "published_s", "predicted_s", "error"]
        )
        for cell in cells:
            keys = [cell.keys[name] for name in ("n", "nodes", "ppn", "threads")]
            rows.writerow([cell.table, *keys, cell.published_s, cell.predicted_s, cell.error])
