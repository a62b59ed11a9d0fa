# SPDX-License-Identifier: BSD-3-Clause
"""fe_heat against the textbook's finite elements on one core, and against memory's bandwidth.

usage: .venv/bin/python bench/fe_heat.py [--rounds 5] [--elements 100] [--iterations 50]

The textbook (bench/fe_textbook.c) solves the same equations: a matrix in compressed sparse rows of
64-bit indices, elements added one by one with a search in the row, loops as they are written, dot
products by themselves. Both sides integrate the elements' matrix once, and write to memory that was
touched before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from turns import HEADER, ROOT, Target, in_turn, once, ratios, taken, write_page

OPERATORS = {"csr": 1.4, "matrix_free": 3.0}
"""The operators, and how many times as fast as the textbook's an iteration should be."""
MAKING = 3.0
"""How many times as fast as the textbook's the matrix should be made."""


@dataclass(frozen=True)
class Problem:
    """What both sides solve: so many elements along each edge, for so many iterations."""

    elements: int
    iterations: int

    @property
    def rows(self) -> int:
        """Nodes inside the cube."""
        return (self.elements - 1) ** 3


@dataclass(frozen=True)
class Taken:
    """Seconds of one launch: to make the matrix, and of an iteration; its residual at the end."""

    making_s: float
    iteration_s: float
    residual: float
    row_bytes: float = 0.0


def build(folder: Path) -> Path:
    """Compile the textbook."""
    peer = folder / "fe_textbook"
    source = str(ROOT / "bench" / "fe_textbook.c")
    subprocess.run(["gcc", "-O3", "-march=native", source, "-o", str(peer), "-lm"], check=True)
    return peer


def textbook(peer: Path, problem: Problem) -> Taken:
    """One launch of the textbook, on the processor that ours has."""
    words = ["-n", str(problem.elements), "-iterations", str(problem.iterations)]
    command = ["taskset", "-c", "0", str(peer), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    return Taken(said["assembly_s"], said["iteration_s"], said["residual_relative"])


def ours(operator: str, problem: Problem) -> Taken:
    """One launch of fe_heat on one rank: medians over its repetitions."""
    size = "x".join([str(problem.elements)] * 3)
    record = once(
        "fe_heat", size=size, operator=operator, iterations=problem.iterations, repetitions=3
    )
    phases: dict[str, Any] = {one["name"]: one["median_s"]["max"] for one in record["phases"]}
    making = phases.pop("generate", 0.0) + phases.pop("assemble")
    result = record["result"]
    return Taken(
        making,
        sum(phases.values()) / problem.iterations,
        result["residual_relative"],
        result["bytes_per_row_iteration"],
    )


def triad(bytes_: float) -> float:
    """Bytes a second of stream's triad over so many, on one rank."""
    found = once("stream", sizes=int(bytes_), operation="triad")["result"]
    return float(found["triad_bytes_per_s"])


def same_problem(launches: Mapping[str, list[Taken]]) -> None:
    """Ends where residuals say that the sides did not solve the same equations."""
    residuals = {name: those[0].residual for name, those in launches.items()}
    least, most = min(residuals.values()), max(residuals.values())
    if most - least > 1e-6 * most:
        sys.exit(f"not the same problem: residuals {residuals}")


def measure(peer: Path, problem: Problem, rounds: int) -> list[str]:
    """All in turn; lines of the page."""
    launches: dict[str, list[Taken]] = {name: [] for name in ("textbook", *OPERATORS)}

    def kept(name: str, launch: Callable[[], Taken]) -> Callable[[], float]:
        def run() -> float:
            launches[name].append(launch())
            return launches[name][-1].iteration_s

        return run

    rows = problem.rows
    row_bytes = {name: ours(name, problem).row_bytes for name in OPERATORS}
    competitors = {"textbook": kept("textbook", lambda: textbook(peer, problem))}
    for name in OPERATORS:
        competitors[name] = kept(name, lambda name=name: ours(name, problem))
    swept = {"csr": row_bytes["csr"] * rows, "matrix_free": 24.0 * rows}  # x, r, p again and again
    for name in OPERATORS:
        competitors[f"triad, {name}"] = lambda name=name: triad(swept[name])
    figures = in_turn(competitors, rounds)
    same_problem(launches)
    lines = list(HEADER)
    for name, target in OPERATORS.items():
        quicker = ratios(figures["textbook"], figures[name])
        lines.append(Target(f"time per iteration, textbook / {name}", quicker, target).row())
    making = {name: [one.making_s for one in those] for name, those in launches.items()}
    made = ratios(making["textbook"], making["csr"])
    lines.append(Target("assembly, textbook / csr", made, MAKING).row())
    lines += ["", "| | iteration, ms | matrix, ms | bytes per row | GB/s | triad, GB/s | share |"]
    lines.append("|---|---|---|---|---|---|---|")
    middle = median(figures["textbook"])
    lines.append(
        f"| textbook | {1e3 * middle:.3g} | {1e3 * median(making['textbook']):.3g} | | | | |"
    )
    for name in OPERATORS:
        rate = row_bytes[name] * rows / median(figures[name])
        bound = median(figures[f"triad, {name}"])
        matrix = f"{1e3 * median(making[name]):.3g}"
        lines.append(
            f"| {name} | {1e3 * median(figures[name]):.3g} | {matrix} | {row_bytes[name]:.4g} "
            f"| {1e-9 * rate:.3g} | {1e-9 * bound:.3g} | {rate / bound:.2f} |"
        )
    return lines


def main() -> None:
    """Run all in turn, write docs/bench/fe_heat.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--elements", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=50)
    asked = parser.parse_args()
    problem = Problem(asked.elements, asked.iterations)
    with tempfile.TemporaryDirectory() as folder:
        lines = measure(build(Path(folder)), problem, asked.rounds)
    head = [
        f"The problem has {problem.elements}^3 elements and {problem.rows:,} rows; each solve "
        f"runs {problem.iterations} iterations on "
        f"one core. {taken(asked.rounds)}",
        "",
        "The bytes per row are the memory traffic of the algorithm per iteration. `operator=csr` "
        "moves 12 bytes per nonzero, 32 bytes for the row pointer, p, and A p, and 72 bytes for "
        "the vectors. `operator=matrix_free` reads p in the product, then reads p, x, and r, and "
        "writes x, r, and p. The working set of each triad is that of a csr iteration, or that of "
        "the three vectors of matrix_free. The matrix of the textbook program takes 16 bytes per "
        "nonzero.",
        "",
    ]
    print(write_page("fe_heat", "fe_heat compared with textbook finite elements", [*head, *lines]))


if __name__ == "__main__":
    main()
