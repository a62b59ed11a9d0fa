# SPDX-License-Identifier: BSD-3-Clause
"""fft_pencil against FFTW's own MPI transform: real values in three dimensions, there and back.

usage: .venv/bin/python bench/fft.py [--rounds 5] [SIZE ...]

Needs Debian's libfftw3-mpi-dev, and mpicc in PATH, of the MPI library that it was built with. Both
plan by measuring; FFTW's MPI transform leaves its output transposed, as ours lies in x pencils.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from turns import HEADER, ROOT, Target, in_turn, kept, once, ratios, taken, write_page

SIZES = ("256x256x256", "384x256x320")
TARGETS = {1: 1.3, 2: 1.5}


def build(folder: Path) -> Path:
    """Compile the peer."""
    peer = folder / "fftw_mpi"
    source = str(ROOT / "bench" / "fftw_mpi.c")
    optimised = ["mpicc", "-O3", "-march=native", source, "-o", str(peer)]
    subprocess.run([*optimised, "-lfftw3_mpi", "-lfftw3", "-lm"], check=True)
    return peer


def theirs(peer: Path, size: str, ranks: int) -> Callable[[], float]:
    """A competitor: one launch of the peer, bound like ours; seconds there and back."""
    from haloscope.layout import Layout
    from haloscope.toolchains.launching import Job
    from haloscope.toolchains.launching.launch import launch_command
    from haloscope.toolchains.library import find

    def run() -> float:
        words = [str(peer), "-size", size]
        argv, env = launch_command(find("system"), Job(Layout(ppn=ranks)), words)
        done = subprocess.run(
            argv, env={**os.environ, **env}, capture_output=True, text=True, check=True
        )
        return float(json.loads(done.stdout)["seconds"])

    return run


def ours(size: str, ranks: int, **params: str) -> Callable[[], float]:
    """A competitor: one launch of fft_pencil; seconds there and back."""
    given: dict[str, Any] = {"size": size, "repetitions": 5, "steps": 1, **params}
    return lambda: median(once("fft_pencil", ranks=ranks, **given)["times_s"])


def rate(size: str, seconds: float) -> float:
    """GFLOP/s as the field counts them: 2.5 N log2 N for each of the two transforms."""
    from math import log2, prod

    points = prod(map(int, size.split("x")))
    return 1e-9 * 2 * 2.5 * points * log2(points) / seconds


def bench_size(size: str, rounds: int, peer: Path) -> list[str]:
    """All competitors on one size; lines of the result tables."""
    competitors: dict[str, Callable[[], float]] = {}
    for ranks in TARGETS:
        competitors |= {
            f"fft_pencil, {ranks}": ours(size, ranks),
            f"FFTW, {ranks}": theirs(peer, size, ranks),
            f"textbook, {ranks}": ours(size, ranks, layout="strided", transpose="alltoallv"),
        }
    lines = [f"## {size}", "", taken(rounds), "", *HEADER]
    figures = in_turn(competitors, rounds)
    for ranks, target in TARGETS.items():
        quicker = ratios(figures[f"FFTW, {ranks}"], figures[f"fft_pencil, {ranks}"])
        what = f"FFTW's MPI transform / fft_pencil, {ranks} rank{'s' * (ranks > 1)}"
        lines.append(Target(what, quicker, target).row())
    lines += ["", "| | seconds | GFLOP/s |", "|---|---|---|"]
    for name, seconds in figures.items():
        middle = median(seconds)
        lines.append(f"| {name} | {middle:.3g} | {rate(size, middle):.3g} |")
    return [*lines, ""]


def main() -> None:
    """Run what is asked for, write docs/bench/fft.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("sizes", nargs="*", metavar="SIZE", help=", ".join(SIZES))
    arguments = parser.parse_args()
    if unknown := set(arguments.sizes) - set(SIZES):
        parser.error(f"no size {', '.join(unknown)}; there are {', '.join(SIZES)}")
    sections = kept("fft")
    with tempfile.TemporaryDirectory() as folder:
        peer = build(Path(folder))
        for size in arguments.sizes or SIZES:
            lines = bench_size(size, arguments.rounds, peer)
            sections[lines[0]] = lines
    head = [
        "The rates in GFLOP/s assume 2.5 N log2 N operations per real transform. 'textbook' is "
        "fft_pencil with `layout=strided transpose=alltoallv`.", "",
    ]  # fmt: skip
    body = [line for size in SIZES for line in sections.get(f"## {size}", ())]
    print(write_page("fft", "fft_pencil compared with FFTW's MPI transform", [*head, *body]))


if __name__ == "__main__":
    main()
