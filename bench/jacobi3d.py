# SPDX-License-Identifier: BSD-3-Clause
"""jacobi3d against its bounds: its three variants on one rank and two, stream's triad beside them.

usage: .venv/bin/python bench/jacobi3d.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from statistics import median
from typing import Any

from turns import HEADER, Target, in_turn, kept, once, processor, ratios, taken, write_page

L = 400
SWEEPS = 24


def sweeps(variant: str, ranks: int, **params: Any) -> Callable[[], float]:
    """A competitor: one launch of jacobi3d, L^3 points a rank; updates per second."""

    def run() -> float:
        record = once(
            "jacobi3d", ranks=ranks, variant=variant, L=L, sweeps=SWEEPS, repetitions=2, warmup=0,
            **params,
        )  # fmt: skip
        return 1e6 * float(record["result"]["mlups"])

    return run


def triad(ranks: int, stores: str) -> Callable[[], float]:
    """A competitor: stream's triad in bytes per second, on vectors of as many values as a mesh."""

    def run() -> float:
        record = once(
            "stream", ranks=ranks, sizes=3 * 8 * L**3, operation="triad", stores=stores,
            repetitions=5,
        )  # fmt: skip
        return float(record["result"]["triad_bytes_per_s"])

    return run


def competitors() -> dict[str, Callable[[], float]]:
    """Every variant on one rank and on two, each beside the triad that bounds it."""
    return {
        "triad, 1 rank": triad(1, "plain"),
        "plain, 1 rank": sweeps("plain", 1),
        "triad with streaming stores, 1 rank": triad(1, "streaming"),
        "streaming, 1 rank": sweeps("streaming", 1),
        "temporal, 1 rank": sweeps("temporal", 1),
        "triad, 2 ranks": triad(2, "plain"),
        "plain, 2 ranks": sweeps("plain", 2),
        "plain, 2 ranks, overlap": sweeps("plain", 2, overlap="yes"),
        "temporal, 2 ranks": sweeps("temporal", 2),
    }


def targets(figures: Mapping[str, list[float]]) -> list[Target]:
    """What is asked, and what each round gave."""

    def of(over: str, under: str, factor: float = 1.0) -> list[float]:
        return [factor * each for each in ratios(figures[over], figures[under])]

    streamed = of("streaming, 1 rank", "triad, 1 rank", 16)
    weak = of("plain, 2 ranks", "plain, 1 rank", 0.5)
    both = ("1 rank", "2 ranks")
    return [
        *(
            Target(f"plain x 24 bytes / triad, {n}", of(f"plain, {n}", f"triad, {n}", 24), 0.95)
            for n in both
        ),
        Target("streaming x 16 bytes / triad, 1 rank", streamed, 0.85),
        *(Target(f"temporal / plain, {n}", of(f"temporal, {n}", f"plain, {n}"), 3) for n in both),
        Target("temporal, 2 ranks / 1 rank", of("temporal, 2 ranks", "temporal, 1 rank"), 1.9),
        Target("plain, weak efficiency of 2 ranks", weak, 0.95),
    ]


def seen(name: str, values: Sequence[float]) -> str:
    """The row of a competitor: its median and range, in its unit."""
    scale, unit = (1e9, "GB/s") if "triad" in name else (1e6, "MLUP/s")
    median_, low, high = (each / scale for each in (median(values), min(values), max(values)))
    digits = 1 if "triad" in name else 0
    return f"| {name} | {median_:.{digits}f} {unit} | {low:.{digits}f} to {high:.{digits}f} |"


def main() -> None:
    """Run everything, write docs/bench/jacobi3d.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    before = os.getloadavg()[0]
    figures = in_turn(competitors(), rounds)
    one = figures["triad, 1 rank"]
    stores = median(ratios(figures["triad with streaming stores, 1 rank"], one))
    growths = ratios(figures["triad, 2 ranks"], one)
    rates = [seen(name, values) for name, values in figures.items()]
    sections = kept("jacobi3d")
    title = f"## {L}^3 points per rank, {processor()}"
    sections[title] = [
        title, "", f"{taken(rounds)} The load was {before:.1f} before the start, and "
        "the benchmark itself adds 1 to 2. At a higher load, the figures for two ranks are "
        "unreliable.", "",
        *HEADER, *(target.row() for target in targets(figures)), "",
        "| sweeps or triad | median rate | range |", "|---|---|---|", *rates, "",
        f"Streaming stores make the triad {stores:.2f}x faster on this machine, which indicates "
        "how much `variant=streaming` can gain.", "",
        f"The triad is {median(growths):.2f}x faster on two ranks than on one "
        f"({min(growths):.2f}x to {max(growths):.2f}x in single rounds).", "",
    ]  # fmt: skip
    head = [
        f"All runs on this page use double precision and {SWEEPS} sweeps. Each section covers one "
        "machine.",
        "",
    ]
    body = [*head, *chain(*sections.values())]
    title = "jacobi3d: plain, streaming, and temporal sweeps compared with triad"
    print(write_page("jacobi3d", title, body))


if __name__ == "__main__":
    main()
