# SPDX-License-Identifier: BSD-3-Clause
"""Time that planning very many cases takes: here, simulated, and simulated by the jobs of a site.

usage: .venv/bin/python bench/planning.py [--rounds 3]     (as root: it brings a lab up and down)

Nothing is launched: `run --dry-run` of a study of so many cases, whose halobench is there. It is
processor time, halobench's too, as that depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import on_lab
from turns import HEADER, Target, taken, write_page

STUDY = """
title = "Very many cases"
launches = 1
[[runs]]
kernel = "poisson_cg"
params = {{ n = {sizes}, variant = ["textbook", "fused"], exchange = ["blocking", "nonblocking"] }}
layout = {{ ppn = [1, 2] }}
"""
MANY, HUNDREDS = 10_000, 400
WAYS = {
    f"{MANY:,} cases, on this machine": (MANY, ()),
    f"{MANY:,} cases, simulated (`--on stampede2`)": (MANY, ("--on", "stampede2")),
    f"{HUNDREDS} cases, simulated in jobs (`--on stampede2 --via lab`)": (
        HUNDREDS,
        ("--on", "stampede2", "--via", "lab"),
    ),
}


def planned(folder: Path, cases: int, where: tuple[str, ...]) -> tuple[float, float]:
    """Processor and wall seconds of a dry run, which must say that it has so many cases."""
    study = folder / f"{cases}.toml"
    study.write_text(STUDY.format(sizes=[*range(16, 16 + cases // 8)]))
    words = ["run", str(study), "--dry-run", *where]
    if not where:
        words.append("--oversubscribe")
    out = folder / "out"
    begin = time.perf_counter()
    with out.open("w") as file:
        process = subprocess.Popen([sys.executable, "-P", "-m", "haloscope", *words], stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or f"{cases:,} launches to run" not in out.read_text():
        sys.exit(f"{' '.join(words)}: {out.read_text()[-500:]}")
    return usage.ru_utime + usage.ru_stime, wall_s


def main() -> None:
    """Measure, write docs/bench/planning.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as place, on_lab.lab("--nodes", "2", "--cores", "1"):
        took = {
            what: [planned(Path(place), *how) for _ in range(rounds)] for what, how in WAYS.items()
        }
    body = [taken(), "", *HEADER]
    body += [
        Target(what, [wall_s for _, wall_s in figures], 3, True, "s").row()
        for what, figures in took.items()
    ]
    body += ["", "| what | processor time in each round |", "|---|---|"]
    body += [
        f"| {what} | {', '.join(f'{used_s:.2f} s' for used_s, _ in figures)} |"
        for what, figures in took.items()
    ]
    how = "The figures are the median wall times of `run STUDY --dry-run` over rounds."
    write_page("planning", "Time to plan many cases", body, how)


if __name__ == "__main__":
    main()
