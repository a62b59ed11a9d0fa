# SPDX-License-Identifier: BSD-3-Clause
"""What a launcher costs: kernel `empty` by srun and by mpirun in a batch job, and by mpirun alone.

usage: .venv/bin/python bench/launchers.py [--rounds 10]      (as root: it brings a lab up and down)

Kernel empty begins, answers and ends, so that the time of its launch is the launcher's. In each
round each way launches each case once, on a cluster in a box of 4 nodes; alone is on this machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import on_lab
from turns import ROOT, taken, write_page

from haloscope.quantities import count

NODES = (1, 2, 4)
STUDY = """
title = "What a launcher costs"
timeout_s = 600
[[runs]]
kernel = "empty"
layout = { nodes = NODES, ppn = 1 }
"""
WAYS = ("srun", "mpirun")
HOW = (
    "The table lists the wall time in seconds per launch of the kernel `empty` with one "
    "process per "
    "node, as medians over rounds with their range. The nodes share the cores of this machine."
)


def walls(records: list[dict[str, Any]], nodes: int) -> list[float]:
    """Seconds of each launch on so many nodes."""
    return [one["wall_s"] for one in records if one["layout"]["nodes"] == nodes]


def row(name: str, records: list[dict[str, Any]]) -> str:
    """A line of the table: a way, and what it takes on each number of nodes."""
    cells = []
    for nodes in NODES:
        if not (found := walls(records, nodes)):
            cells.append("")
            continue
        cells.append(f"{median(found):.3f} ({min(found):.3f} to {max(found):.3f})")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Measure, write docs/bench/launchers.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch, on_lab.lab("--nodes", "4", "--cores", "1"):
        folders = {way: Path(scratch) / way for way in (*WAYS, "alone")}
        for way, folder in folders.items():
            folder.mkdir()
            nodes = "1" if way == "alone" else str([*NODES])
            (folder / "study.toml").write_text(STUDY.replace("NODES", nodes))
            if way in WAYS:
                on_lab.launched_by(way, folder)
        for launches in range(1, rounds + 1):
            for way in WAYS:
                on_lab.measured(folders[way] / "study.toml", folders[way] / "out", launches)
            out = folders["alone"] / "out"
            what = ["--resume", str(out)] if out.exists() else ["study.toml", "--out", str(out)]
            command = [str(ROOT / "haloscope"), "run", *what, "--launches", str(launches)]
            on_lab.output_of(*command, "--no-report", folder=folders["alone"])
            print(f"round {launches}/{rounds}", flush=True)
        found = {way: [*on_lab.records(folder / "out")] for way, folder in folders.items()}
    if [len(one) for one in found.values()] != [rounds * len(NODES)] * 2 + [rounds]:
        sys.exit("not whole studies")
    alone = median(walls(found["alone"], 1))
    body = [f"| launcher | {' | '.join(count(nodes, 'node') for nodes in NODES)} |"]
    body += ["|---|" + "---|" * len(NODES)]
    body += [row("srun (PMIx) in a job", found["srun"]), row("mpirun in a job", found["mpirun"])]
    body += [row("mpirun without a job", found["alone"]), ""]
    body += [
        "| launcher in a job | one node, relative to mpirun without a job | four nodes, relative "
        "to one node |",
        "|---|---|---|",
    ]
    for way in WAYS:
        one, four = (median(walls(found[way], nodes)) for nodes in (1, 4))
        body.append(f"| {way} | {one / alone:.2f}x | {four / one:.2f}x |")
    write_page("launchers", "Cost of a launcher", body, f"{HOW} {taken()}")


if __name__ == "__main__":
    main()
