# SPDX-License-Identifier: BSD-3-Clause
"""poisson_cg against its bounds and its peer: textbook, fused, PETSc's KSPCG, stream's triad.

usage: .venv/bin/python bench/poisson_cg.py [--rounds 5] [SECTION ...]

Needs Debian's petsc-dev (libpetsc-real-dev) for the peer and mpicc in PATH, of the same MPI library
that PETSc was built with; without them the peer's lines are left out, and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

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

ITERATIONS = {1024: 400, 4096: 40}
SECTIONS = {f"{n}": f"## n = {n}, {count} iterations" for n, count in ITERATIONS.items()} | {
    "memory": "## Memory, n = 4096, 1 rank"
}


def build_petsc(folder: Path) -> Path | None:
    """Compile bench/petsc_cg.c; None where PETSc or mpicc is not there."""
    flags, compiler = petsc_flags(), shutil.which("mpicc")
    if flags is None or compiler is None:
        return None
    program = folder / "petsc_cg"
    source = ROOT / "bench" / "petsc_cg.c"
    command = [compiler, "-O3", "-march=native", str(source), "-o", str(program)]
    subprocess.run([*command, *flags, "-lm"], check=True)
    return program


def petsc_seconds(program: Path, ranks: int, n: int) -> float:
    """One launch of the peer, bound like ours; seconds of the solve."""
    from haloscope.layout import Layout
    from haloscope.toolchains.launching import Job
    from haloscope.toolchains.launching.launch import launch_command
    from haloscope.toolchains.library import find

    arguments = [str(program), "-n", str(n), "-iterations", str(ITERATIONS[n])]
    argv, env = launch_command(find("system"), Job(Layout(ppn=ranks)), arguments)
    done = subprocess.run(
        argv, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout)["seconds"])


def solve(variant: str, n: int, ranks: int) -> Callable[[], float]:
    """A competitor: one launch of poisson_cg; seconds."""

    def run() -> float:
        record = once(
            "poisson_cg", ranks=ranks, n=n, variant=variant, iterations=ITERATIONS[n], warmup=0,
            exchange="nonblocking",
        )  # fmt: skip
        return float(record["times_s"][0])

    return run


def triad(ranks: int, n: int) -> Callable[[], float]:
    """A competitor: stream's triad in bytes per second, working set as large as the solver's."""

    def run() -> float:
        size = 3 * 8 * n * n // ranks
        record = once("stream", ranks=ranks, sizes=size)
        return float(record["result"]["triad_bytes_per_s"])

    return run


def bench_size(n: int, rounds: int, petsc: Path | None) -> list[str]:
    """All competitors at one problem size; lines of the result table."""
    when = taken(rounds)
    competitors = {
        "triad, 1 rank": triad(1, n),
        "textbook, 1 rank": solve("textbook", n, 1),
        "fused, 1 rank": solve("fused", n, 1),
        "triad, 2 ranks": triad(2, n),
        "fused, 2 ranks": solve("fused", n, 2),
    }
    if petsc is not None:
        for ranks, name in ((1, "1 rank"), (2, "2 ranks")):
            competitors[f"PETSc, {name}"] = lambda r=ranks: petsc_seconds(petsc, r, n)
    figures = in_turn(competitors, rounds)
    bytes_per_point = once("poisson_cg", n=n, variant="fused", iterations=4)["result"][
        "bytes_per_point_iteration"
    ]
    moved = bytes_per_point * n * n * ITERATIONS[n]
    targets = [
        Target(
            "textbook / fused, 1 rank",
            ratios(figures["textbook, 1 rank"], figures["fused, 1 rank"]), 2.2,
        ),
        Target(
            "fused, 1 rank / 2 ranks",
            ratios(figures["fused, 1 rank"], figures["fused, 2 ranks"]), 1.85,
        ),
    ]  # fmt: skip
    for name in ("1 rank", "2 ranks"):
        achieved = [
            moved / s / bound
            for s, bound in zip(figures[f"fused, {name}"], figures[f"triad, {name}"], strict=True)
        ]
        targets.append(Target(f"fused: bandwidth / triad, {name}", achieved, 0.85))
    if petsc is not None:
        for name in ("1 rank", "2 ranks"):
            peer = ratios(figures[f"PETSc, {name}"], figures[f"fused, {name}"])
            targets.append(Target(f"PETSc KSPCG / fused, {name}", peer, 5.0))
    per_point = [
        f"{1e9 * sorted(values)[len(values) // 2] / (n * n * ITERATIONS[n]):.3g} ns ({name})"
        for name, values in figures.items()
        if "triad" not in name
    ]
    return [
        SECTIONS[f"{n}"], "", when, "", *HEADER, *(t.row() for t in targets), "",
        f"`variant=fused` moves {bytes_per_point:g} bytes per point and iteration. The median "
        "times "
        f"per point and iteration are {listed(per_point)}.", "",
    ]  # fmt: skip


def bench_memory(n: int) -> list[str]:
    """What fused allocates and what the system observes."""
    memory = once("poisson_cg", n=n, variant="fused", iterations=2)["memory"]
    vectors = memory["allocated_bytes"] / (8 * n * n)
    above = (memory["peak_bytes"] - memory["allocated_bytes"]) / 1e6
    return [
        SECTIONS["memory"], "", *HEADER,
        Target("allocated by fused", [vectors], 3 * 1.02, at_most=True, unit="vectors").row(),
        Target("observed peak above that", [above], 50, at_most=True, unit="MB").row(), "",
    ]  # fmt: skip


def main() -> None:
    """Run what is asked for, write docs/bench/poisson_cg.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    sections = kept("poisson_cg")
    with tempfile.TemporaryDirectory() as folder:
        petsc = build_petsc(Path(folder))
        for name in arguments.sections or SECTIONS:
            if name == "memory":
                sections[SECTIONS[name]] = bench_memory(4096)
            else:
                sections[SECTIONS[name]] = bench_size(int(name), arguments.rounds, petsc)
    body = [line for title in SECTIONS.values() for line in sections.get(title, ())]
    if petsc is None:
        body = [
            "PETSc (libpetsc-real-dev) or mpicc is not installed, so there is no comparison.",
            "", *body,
        ]  # fmt: skip
    print(write_page("poisson_cg", "poisson_cg compared with PETSc and triad", body))


if __name__ == "__main__":
    main()
