# SPDX-License-Identifier: BSD-3-Clause
"""Write the report of a result folder in every format: draws what `document` contains.

write(document, directory) writes every format and returns the path of report.html.
conclude(directory, out) also composes the report, and prints its summary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from haloscope.errors import Problem, UserError
from haloscope.paths import write_whole
from haloscope.records.folder import require_enclosed
from haloscope.report.composing import compose
from haloscope.report.document import Document
from haloscope.report.draw import csv_files, html, latex, markdown, terminal
from haloscope.report.draw.figures import Drawing

Drawings = Mapping[str, Sequence[Drawing]]
Writer = Callable[[Document, Drawings, Path], Path]

FORMATS: Mapping[str, Writer] = {
    "html": html.write,
    "md": markdown.write,
    "tex": latex.write,
    "csv": csv_files.write,
}


def write(document: Document, directory: Path, formats: Sequence[str] = tuple(FORMATS)) -> Path:
    """Write a report into its result folder; return the path of the first format's file.

    Figures are written to figures/ as SVG and PDF for every format.
    """
    from haloscope.report.draw.figures.panels import draw_all  # loads matplotlib

    require_enclosed(directory)
    drawings = draw_all(document.figures)
    _write_figures(drawings, directory / "figures")
    first, *_ = [FORMATS[name](document, drawings, directory) for name in formats]
    return first


def write_apart(document: Document, directory: Path) -> Path:
    """Write a report that belongs to no result folder; return the path of report.html.

    Raise UserError if the folder contains other files, because older figures and tables there are
    removed.
    """
    if directory.exists() and not (directory / "report.html").exists() and any(directory.iterdir()):
        what, remedy = "contains files that are not part of a report", "give a new or empty folder"
        raise UserError(Problem(f"--out {directory}", what, remedy))
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = "give a writable folder"
        raise UserError(Problem(f"--out {directory}", str(error), remedy)) from error
    return write(document, directory)


def write_report(directory: Path, formats: Sequence[str] = tuple(FORMATS)) -> Path:
    """Compose the report of a result folder and write it there; return the first format's path."""
    return write(compose(directory), directory, formats)


def conclude(directory: Path, out: Console, *, to_write: bool = True) -> None:
    """Print the summary of a result folder's report, and write the report if requested."""
    document = compose(directory)
    out.print(terminal.summary(document))
    if to_write:
        written = write(document, directory)
        out.print(f"report: {written}", markup=False, soft_wrap=True)


def _write_figures(drawings: Drawings, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for old in (*folder.glob("*.svg"), *folder.glob("*.pdf")):
        old.unlink()
    for drawing in (one for several in drawings.values() for one in several):
        write_whole(folder / f"{drawing.name}.svg", drawing.svg)
        write_whole(folder / f"{drawing.name}.pdf", drawing.pdf)
