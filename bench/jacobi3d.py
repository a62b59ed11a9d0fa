"""jacobi3d against its bounds: its three variants on one rank and two, stream's triad beside them.

usage: .venv/bin/python bench/jacobi3d.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from statistics import median

from turns import Target, in_turn, once, ratios, write_page

L = 400
SWEEPS = 24
HEADER = ["| what | median | range | target | |", "|---|---|---|---|---|"]


def sweeps(variant: str, ranks: int, **params: object) -> Callable[[], float]:
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


def main() -> None:
    """Run everything, write docs/bench/jacobi3d.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    before = os.getloadavg()[0]
    figures = in_turn(
        {
            "triad, 1 rank": triad(1, "plain"),
            "plain, 1 rank": sweeps("plain", 1),
            "triad with streaming stores, 1 rank": triad(1, "streaming"),
            "streaming, 1 rank": sweeps("streaming", 1),
            "temporal, 1 rank": sweeps("temporal", 1),
            "triad, 2 ranks": triad(2, "plain"),
            "plain, 2 ranks": sweeps("plain", 2),
            "plain, 2 ranks, overlap": sweeps("plain", 2, overlap="yes"),
            "temporal, 2 ranks": sweeps("temporal", 2),
        },
        rounds,
    )

    def of(over: str, under: str, factor: float = 1.0) -> list[float]:
        return [factor * each for each in ratios(figures[over], figures[under])]

    stores = median(of("triad with streaming stores, 1 rank", "triad, 1 rank"))
    weak = of("plain, 2 ranks", "plain, 1 rank", 0.5)
    growth = median(of("triad, 2 ranks", "triad, 1 rank"))
    targets = [
        *(
            Target(
                f"plain x 24 bytes against triad, {n}", of(f"plain, {n}", f"triad, {n}", 24), 0.95
            )
            for n in ("1 rank", "2 ranks")
        ),
        Target(
            "streaming x 16 bytes against triad, 1 rank",
            of("streaming, 1 rank", "triad, 1 rank", 16), 0.85,
        ),
        *(
            Target(f"temporal against plain, {n}", of(f"temporal, {n}", f"plain, {n}"), 2.5)
            for n in ("1 rank", "2 ranks")
        ),
        Target("temporal, 2 ranks against 1", of("temporal, 2 ranks", "temporal, 1 rank"), 1.9),
        Target("plain, weak efficiency of 2 ranks", weak, 0.95),
    ]  # fmt: skip
    rates = [
        f"{name}: {median(values) / 1e6:.0f} MLUP/s ({min(values) / 1e6:.0f} to "
        f"{max(values) / 1e6:.0f})"
        for name, values in figures.items()
        if "triad" not in name
    ]
    triads = [
        f"{name}: {median(values) / 1e9:.1f} GB/s ({min(values) / 1e9:.1f} to "
        f"{max(values) / 1e9:.1f})"
        for name, values in figures.items()
        if "triad" in name
    ]
    body = [
        f"{before:.1f} processes wanted one of the {os.cpu_count()} processors when this began, "
        f"{os.getloadavg()[0]:.1f} when it ended. It wants one or two itself: with more than that, "
        "figures of two ranks say little.", "",
        f"## {L}^3 points a rank, double precision, {SWEEPS} sweeps", "",
        *HEADER, *(target.row() for target in targets), "",
        f"{'; '.join(rates)}.", "", f"{'; '.join(triads)}.", "",
        f"Streaming stores make the triad itself {stores:.2f} times as fast here: that is all that "
        "the variant streaming could gain.", "",
        f"The triad itself grows {growth:.2f} times from one rank to two: where the memory is the "
        f"limit, the weak efficiency can't be above {growth / 2:.2f}.", "",
    ]  # fmt: skip
    print(write_page("jacobi3d", "jacobi3d: plain, streaming and temporal sweeps, triad", body))


if __name__ == "__main__":
    sys.exit(main())
