"""Simulated clusters: errors against published wall times, and what a simulation costs.

usage: .venv/bin/python bench/simulation.py [--ranks 512,2048]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from turns import write_page

from haloscope import build, platform
from haloscope.cluster import Cluster, find
from haloscope.places import smpi
from haloscope.progress import Teller
from haloscope.validation import Cell, Errors, tables_of, validate

AIMS = {
    ("hpcf-2018-10", "4.1"): (0.10, 0.35),
    ("hpcf-2018-10", "6.1"): (0.10, 0.35),
    ("hpcf-2018-10", "6.2"): (0.10, 0.35),
    ("hpcf-2018-10", "6.3"): (0.10, 0.35),
    ("hpcf-2018-10", "7.1"): (0.15, 0.50),
    ("hpcf-2018-10", "7.2"): (0.15, 0.50),
    ("hpcf-2010-6", "4.1"): (0.20, 0.60),
    ("hpcf-2010-6", "5.1"): (0.20, 0.60),
}
"""Median and worst absolute relative error over the cells that were only predicted."""
LIMITS = {512: (3.0, 700), 2048: (30.0, 2500), 4096: (None, 16000)}
"""Seconds and megabytes of one case of 20 iterations at n = 16384."""


def errors(tell: Teller) -> list[str]:
    """A line a table; then the worst cells, which say what is missing."""
    lines = [
        "| table | cells, one node | median | worst | cells, predicted only | median | aim "
        "| worst | aim |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    worst: list[str] = []
    for (paper, table_id), (median, most) in AIMS.items():
        (table,) = tables_of(paper, [table_id])
        cells = validate(table, tell)
        fitted = Errors.of([cell for cell in cells if cell.fitted])
        others = [cell for cell in cells if not cell.fitted and cell.error is not None]
        predicted = Errors.of(others)
        lines.append(
            f"| {paper}, {table_id} | {fitted.cells} | {fitted.median:.1%} | {fitted.worst:.1%} "
            f"| {predicted.cells} | {predicted.median:.1%} | {median:.0%} "
            f"| {predicted.worst:.1%} | {most:.0%} |"
        )
        beyond = [cell for cell in others if abs(cell.error or 0) > most]
        worst += [f"- {paper}, {table_id}: {described(cell)}" for cell in beyond]
    return [*lines, "", "Cells beyond their aim:", "", *(worst or ["none"]), ""]


def described(cell: Cell) -> str:
    """A cell in words."""
    where = ", ".join(f"{key} = {value}" for key, value in cell.keys.items())
    return f"{where}: predicted {cell.predicted_s:.3g} s, published {cell.published_s:g} s"


def cost(cluster: Cluster, ranks: int, program: Path) -> str:
    """One case on so many ranks, 32 a node: wall time, peak memory, messages a second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.xml").write_text(platform.platform(cluster))
        (folder / "hosts").write_text(platform.host_file([rank // 32 for rank in range(ranks)]))
        (folder / "machine").write_text(platform.machine_file(cluster))
        command = [
            *("smpirun", "-np", str(ranks), "-platform", str(folder / "p.xml")),
            *("-hostfile", str(folder / "hosts"), *platform.settings(cluster), str(program)),
            *("--out", str(folder / "r.json"), "--machine", str(folder / "machine")),
            *("--execute", "no", "poisson_cg", "n=16384", "variant=textbook", "iterations=20"),
        ]
        start = time.perf_counter()
        subprocess.run(command, env=os.environ, check=True, capture_output=True)
        wall = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    reductions = 2 * 20 + 1
    messages = ranks * (2 * 20 + reductions * (ranks - 1).bit_length())
    seconds, megabytes = LIMITS[ranks]
    aim = f"{seconds:g} s" if seconds else "runs"
    return (
        f"| {ranks} | {wall:.1f} s | {aim} | {peak:,.0f} MB | {megabytes:,} MB "
        f"| {messages / wall:,.0f} |"
    )


def main() -> None:
    """Run everything, write docs/bench/simulation.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", default="512,2048")
    ranks = [int(count) for count in parser.parse_args().ranks.split(",")]
    tell = Teller(Console(stderr=True))
    body = ["## Published wall times predicted (cells of 5 s and more)", "", *errors(tell)]
    body += [
        "## One case: poisson_cg, textbook, n = 16384, 20 iterations, 32 ranks a node of stampede2",
        "",
        "| ranks | wall | at most | peak memory | at most | simulated messages a second |",
        "|---|---|---|---|---|---|",
    ]
    program = build.build(smpi(), say=tell.say)
    body += [cost(find("stampede2"), count, program) for count in ranks]
    print(write_page("simulation", "Simulated clusters", body))


if __name__ == "__main__":
    sys.exit(main())
