# SPDX-License-Identifier: BSD-3-Clause
"""poisson_cg variant=sstep against fused: time, and iterations to convergence against textbook.

usage: .venv/bin/python bench/sstep.py [--rounds 5] [SECTION ...]

Sections: 1, 2 (times on one rank and two), paper, random, point (iterations with that right-hand
side), 4096 (iterations of the largest mesh, rhs=paper). What is not asked for stays on the page as
it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import chain
from statistics import median
from typing import Any

from turns import HEADER, Target, in_turn, kept, once, ratios, taken, write_page

from haloscope.quantities import listed

ITERATIONS = {1024: 192, 2048: 64, 4096: 16}
AIMS = {1024: 1.3, 2048: 1.6, 4096: 1.6}
VARIANTS: dict[str, dict[str, Any]] = {
    "fused": {"variant": "fused"},
    "sstep, s=2": {"variant": "sstep", "s": 2},
    "sstep, s=4": {"variant": "sstep", "s": 4},
    "pipelined": {"variant": "pipelined"},
}
SMALLER = (32, 64, 128, 256, 512, 1024, 2048)
COUNTS = {
    "paper": ("paper", SMALLER),
    "random": ("random", SMALLER),
    "point": ("point", SMALLER),
    "4096": ("paper", (4096,)),
}
"""Right-hand side and meshes of a section."""


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
        Target(f"fused / {name}", ratios(figures["fused"], values), AIMS[n]).row()
        for name, values in figures.items()
        if name.startswith("sstep")
    ]
    per_point = [
        f"{1e9 * median(values) / (n * n * ITERATIONS[n]):.3g} ns ({name.replace(', ', ' with ')})"
        for name, values in figures.items()
    ]
    return [
        f"### n = {n}, {ITERATIONS[n]} iterations", "",
        *HEADER, *rows, "",
        f"The median times per point and iteration are {listed(per_point)}.", "",
    ]  # fmt: skip


def bench_times(ranks: int, rounds: int) -> list[str]:
    """The section of all sizes on so many ranks."""
    lines = [line for n in ITERATIONS for line in bench_size(n, ranks, rounds)]
    return [f"## Times, {ranks} rank{'s' if ranks > 1 else ''}", "", taken(), "", *lines]


def found(n: int, rhs: str, params: dict[str, Any]) -> str:
    """Iterations and error of one run on two ranks to the tolerance, and where it fell back."""
    result = once("poisson_cg", ranks=2, n=n, rhs=rhs, **params)["result"]
    error = "" if result["error_max"] is None else f", {result['error_max']:.6g}"
    at = result["fallback_at"]
    return f"{result['iterations']}{error}" + ("" if at is None else f" (fused from {at})")


def bench_counts(section: str) -> list[str]:
    """Iterations (and errors, where the solution is known) to a residual of 1e-6."""
    rhs, meshes = COUNTS[section]
    variants = {"textbook": {"variant": "textbook"}, **VARIANTS}
    variants["sstep, s=6"] = {"variant": "sstep", "s": 6}
    ends = " to ".join(map(str, dict.fromkeys((meshes[0], meshes[-1]))))
    error = ", and the maximum error" if rhs == "paper" else ""
    lines = [
        f"## Iterations to 1e-6, n = {ends}, rhs={rhs}{error}", "",
        taken(), "", f"| n | {' | '.join(variants)} |", "|---|" + "---|" * len(variants),
    ]  # fmt: skip
    for n in meshes:
        cells = [found(n, rhs, params) for params in variants.values()]
        lines.append(f"| {n} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def main() -> None:
    """Run what is asked for, write docs/bench/sstep.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    names = ["1", "2", *COUNTS]
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(names))
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(names):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(names)}")
    sections = kept("sstep")
    for name in arguments.sections or names:
        if name in COUNTS:
            title, *body = bench_counts(name)
        else:
            title, *body = bench_times(int(name), arguments.rounds)
        sections[title] = [title, *body]
    body = [*chain(*sections.values())]
    print(write_page("sstep", "poisson_cg: s iterations per sweep", body))


if __name__ == "__main__":
    main()
