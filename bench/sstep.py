"""poisson_cg variant=sstep against fused: time, and iterations to convergence against textbook.

usage: .venv/bin/python bench/sstep.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

from turns import Target, in_turn, once, ratios, write_page

ITERATIONS = {1024: 320, 2048: 96, 4096: 32}
AIMS = {1024: 1.3, 2048: 1.6, 4096: 1.6}
VARIANTS: dict[str, dict[str, Any]] = {
    "fused": {"variant": "fused"},
    "sstep, s=2": {"variant": "sstep", "s": 2},
    "sstep, s=4": {"variant": "sstep", "s": 4},
    "pipelined": {"variant": "pipelined"},
}
CONVERGED = (32, 64, 128, 256, 512, 1024)
RIGHT_SIDES = ("paper", "random", "point")


def solve(n: int, ranks: int, params: dict[str, Any]) -> Callable[[], float]:
    """A competitor: one launch with a fixed count, the best of three solves; seconds."""

    def run() -> float:
        record = once(
            "poisson_cg", ranks=ranks, n=n, iterations=ITERATIONS[n], repetitions=3, **params
        )
        return float(min(record["times_s"]))

    return run


def bench_size(n: int, ranks: int, rounds: int) -> list[str]:
    """Lines of one size on so many ranks, each with a core of its own."""
    figures = in_turn({k: solve(n, ranks, v) for k, v in VARIANTS.items()}, rounds)
    rows = [
        Target(f"{name} against fused", ratios(figures["fused"], values), AIMS[n]).row()
        for name, values in figures.items()
        if name.startswith("sstep")
    ]
    per_point = "; ".join(
        f"{name} {1e9 * median(values) / (n * n * ITERATIONS[n]):.3g} ns"
        for name, values in figures.items()
    )
    return [
        f"## n = {n}, {ranks} rank{'s' if ranks > 1 else ''}, {ITERATIONS[n]} iterations", "",
        "| what | median | range | target | |", "|---|---|---|---|---|", *rows, "",
        f"Median time a point and iteration: {per_point}.", "",
    ]  # fmt: skip


def found(n: int, rhs: str, params: dict[str, Any]) -> str:
    """Iterations and error of one run to the tolerance, and where it fell back."""
    result = once("poisson_cg", n=n, rhs=rhs, **params)["result"]
    error = "" if result["error_max"] is None else f", {result['error_max']:.6g}"
    at = result["fallback_at"]
    return f"{result['iterations']}{error}" + ("" if at is None else f" (fused from {at})")


def bench_counts() -> list[str]:
    """Iterations (and errors, where the solution is known) to a residual of 1e-6."""
    variants = {"textbook": {"variant": "textbook"}, **VARIANTS}
    lines = [
        "## Iterations to 1e-6, and the error where the solution is known", "",
        f"| n | right-hand side | {' | '.join(variants)} |",
        "|---|---|" + "---|" * len(variants),
    ]  # fmt: skip
    for rhs in RIGHT_SIDES:
        for n in CONVERGED if rhs == "paper" else (256, 1024):
            cells = [found(n, rhs, params) for params in variants.values()]
            lines.append(f"| {n} | {rhs} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return [*lines, ""]


def main() -> None:
    """Run everything, write docs/bench/sstep.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    body = []
    for n in ITERATIONS:
        for ranks in (1, 2):
            body += bench_size(n, ranks, rounds)
    body += bench_counts()
    print(write_page("sstep", "poisson_cg: s iterations a sweep", body))


if __name__ == "__main__":
    sys.exit(main())
