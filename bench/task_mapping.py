"""Table 6 of the paper on task mapping, simulated: bigFFT on Eagle, 16 and 2048 tasks.

usage: .venv/bin/python bench/task_mapping.py [16] [2048]      tasks
"""

from __future__ import annotations

import sys
from itertools import chain

from rich.console import Console
from turns import kept, taken, write_page

from haloscope.analysis.predictions import PredictedCell
from haloscope.predict import paper_validation
from haloscope.run.progress import Teller


def table(title: str, told: str, cells: list[PredictedCell]) -> list[str]:
    """A section: ratios to the time on other nodes of the same job."""
    if failed := [cell.problem for cell in cells if cell.predicted is None]:
        sys.exit(f"not simulated: {failed[0]}")
    lines = [f"## {title}", "", f"{taken()} {told}", ""]
    lines += ["| nodes | over | published | simulated | off |", "|---|---|---|---|---|"]
    for cell in cells:
        nodes, over = cell.keys["nodes"], cell.keys["over"]
        figures = f"{cell.published:.2f} | {cell.predicted:.2f} | {cell.error:+.0%}"
        lines.append(f"| {nodes} | {over} | {figures} |")
    return [*lines, ""]


def main() -> None:
    """Run what is asked for, write docs/bench/task-mapping.md."""
    asked = sys.argv[1:] or ["16", "2048"]
    if unknown := set(asked) - {"16", "2048"}:
        sys.exit(f"no {', '.join(sorted(unknown))}; there are 16 and 2048")
    (published,) = paper_validation.tables_of("task-mapping-drop", ["6"])
    tell, sections = Teller(Console(stderr=True)), kept("task-mapping")
    for name in asked:
        if name == "16":
            cells = paper_validation.validate(published, tell)
            told = (
                "No number was taken from the table. 1024 x 1024 x 512 points over 4 x 4 pencils."
            )
            lines = table("16 tasks, predicted", told, cells)
        else:
            cells = paper_validation.explained(published, tell)
            *_, told = paper_validation.said(published, cells)
            told = f"{told[0].upper()}{told[1:]}. Points: 1024 x 8192 x 8192 over 64 x 32 pencils."
            lines = table("2048 tasks, explained", told, cells)
        sections[lines[0]] = lines
        page = [*chain(*sections.values())]
        title = "bigFFT on Eagle: table 6 of the paper on task mapping"
        write_page("task-mapping", title, page, "Sections say when they are from.")


if __name__ == "__main__":
    main()
