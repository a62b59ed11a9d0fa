# SPDX-License-Identifier: BSD-3-Clause
"""spmv against PETSc's MatMult (AIJ) on the same stencil matrices, and against memory's bandwidth:
stream's triad, and its dot, which reads alone as a product nearly does.

usage: .venv/bin/python bench/spmv.py [MATRIX ...] [--rounds 5]

Matrices: 3d27, 3d7; all by default. What is not measured stays on the page as it is.

Needs Debian's petsc-dev (libpetsc-real-dev), and mpicc in PATH, of the MPI library that PETSc was
built with. No round is left out: medians over rounds are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from turns import (
    HEADER,
    ROOT,
    Target,
    in_turn,
    kept,
    once,
    petsc_flags,
    ratios,
    taken,
    write_page,
)

from haloscope.quantities import listed

MATRICES = {"3d27": (100, 27), "3d7": (100, 7)}
OVERLAPS = ("none", "split", "split_temporary")
RANKS = (1, 2)
PETSC, SHARE, FEWER_BYTES = 1.2, 0.8, 1.3


def build(folder: Path) -> Path:
    """Compile the peer."""
    flags = petsc_flags()
    if flags is None:
        sys.exit("PETSc is not here: apt install libpetsc-real-dev")
    peer = folder / "petsc_spmv"
    source = str(ROOT / "bench" / "petsc_spmv.c")
    optimised = ["mpicc", "-O3", "-march=native", source, "-o", str(peer)]
    subprocess.run([*optimised, *flags, "-lm"], check=True)
    return peer


def peer_answer(peer: Path, ranks: int, matrix: str) -> dict[str, Any]:
    """One launch of the peer, bound like ours."""
    from haloscope.layout import Layout
    from haloscope.toolchains.launching import Job
    from haloscope.toolchains.launching.launch import launch_command
    from haloscope.toolchains.library import find

    n, points = MATRICES[matrix]
    words = [str(peer), "-n", str(n), "-points", str(points)]
    argv, env = launch_command(find("system"), Job(Layout(ppn=ranks)), words)
    done = subprocess.run(
        argv, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def product(matrix: str, ranks: int, **params: Any) -> dict[str, Any]:
    """One launch of spmv; its record."""
    return once("spmv", ranks=ranks, matrix=matrix, n=MATRICES[matrix][0], **params)


def seconds(matrix: str, ranks: int, **params: Any) -> Callable[[], float]:
    """A competitor: spmv, seconds of a product."""
    return lambda: median(product(matrix, ranks, **params)["times_s"])


def stream(operation: str, ranks: int, bytes_: float) -> Callable[[], float]:
    """A competitor: bytes a second of stream, its working set as large as the product's."""
    size = int(bytes_ / ranks)
    return lambda: float(
        once("stream", ranks=ranks, sizes=size, operation=operation)["result"][
            f"{operation}_bytes_per_s"
        ]
    )


def traffic(result: dict[str, Any]) -> float:
    """12 bytes a nonzero, 8 for where a row begins, and x and y."""
    return 12.0 * float(result["nonzeros"]) + 24.0 * float(result["rows"])


def bench_matrix(matrix: str, peer: Path, rounds: int) -> list[str]:
    """Both programs and triad in turn, on 1 and 2 ranks; lines of the page."""
    ours, theirs = product(matrix, 1)["result"], peer_answer(peer, 1, matrix)
    if (ours["rows"], ours["nonzeros"]) != (theirs["rows"], theirs["nonzeros"]):
        sys.exit(f"not the same matrix: {ours}, {theirs}")
    competitors: dict[str, Callable[[], float]] = {}
    for ranks in RANKS:
        competitors |= {
            f"spmv, {ranks}": seconds(matrix, ranks),
            f"shared columns, {ranks}": seconds(matrix, ranks, columns="shared"),
            f"PETSc, {ranks}": lambda r=ranks: float(peer_answer(peer, r, matrix)["seconds"]),
            f"triad, {ranks}": stream("triad", ranks, traffic(ours)),
            f"dot, {ranks}": stream("dot", ranks, traffic(ours)),
        }
    for overlap in (each for each in OVERLAPS if each != "split"):
        competitors[f"{overlap}, 2"] = seconds(matrix, 2, overlap=overlap)
    figures = in_turn(competitors, rounds)
    targets, times = [], []
    for ranks in RANKS:
        own, peers = figures[f"spmv, {ranks}"], figures[f"PETSc, {ranks}"]
        share = [
            traffic(ours) / s / b for s, b in zip(own, figures[f"triad, {ranks}"], strict=True)
        ]
        name = f"{ranks} rank" + ("s" if ranks > 1 else "")
        targets.append(Target(f"PETSc MatMult / spmv, {name}", ratios(peers, own), PETSC).row())
        targets.append(Target(f"bandwidth / triad, {name}", share, SHARE).row())
        fewer = ratios(own, figures[f"shared columns, {ranks}"])
        targets.append(Target(f"stored / shared columns, {name}", fewer, FEWER_BYTES).row())
        rates = (2 * ours["nonzeros"] / median(own), traffic(ours) / median(own))
        bounds = [median(figures[f"{operation}, {ranks}"]) for operation in ("triad", "dot")]
        times.append(
            f"| {name} | {1e3 * median(own):.3g} | {1e3 * median(peers):.3g} | "
            + " | ".join(f"{1e-9 * rate:.3g}" for rate in (*rates, *bounds))
            + " |"
        )
    schemes = [median(figures["spmv, 2" if each == "split" else f"{each}, 2"]) for each in OVERLAPS]
    times_by_overlap = [
        f"{1e3 * s:.3g} ms (`overlap={each}`)" for each, s in zip(OVERLAPS, schemes, strict=True)
    ]
    return [
        f"## {matrix}, {ours['rows']:,} rows, {ours['nonzeros']:,} nonzeros", "", *HEADER, *targets,
        "", "| | spmv, ms | PETSc, ms | spmv, GFLOP/s | spmv, GB/s | triad, GB/s "
        "| dot (reads only), GB/s |",
        "|---|---|---|---|---|---|---|", *times, "",
        "On 2 ranks, the median times are "
        f"{listed(times_by_overlap)}.", "",
    ]  # fmt: skip


def main() -> None:
    """Run what is asked for, write docs/bench/spmv.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("matrices", nargs="*", metavar="MATRIX", help=", ".join(MATRICES))
    arguments = parser.parse_args()
    if unknown := set(arguments.matrices) - set(MATRICES):
        parser.error(f"no matrix {', '.join(unknown)}; there are {', '.join(MATRICES)}")
    sections = kept("spmv")
    with tempfile.TemporaryDirectory() as folder:
        peer = build(Path(folder))
        for matrix in arguments.matrices or MATRICES:
            title, *body = bench_matrix(matrix, peer, arguments.rounds)
            sections[title] = [title, "", taken(arguments.rounds), *body]
    head = [
        "A product moves 12 bytes per nonzero and 24 bytes per row (row pointer, x, y). With "
        "shared columns, it moves 8 and 20 bytes (list of columns, x, y). PETSc uses its "
        "AIJ format and is Debian's build with -O2.", "",
    ]  # fmt: skip
    body = [*head, *chain(*sections.values())]
    print(write_page("spmv", "spmv compared with PETSc's MatMult", body))


if __name__ == "__main__":
    main()
