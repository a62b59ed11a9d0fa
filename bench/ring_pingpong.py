"""ring on two ranks against the ping-pong: a hop passes two messages, so takes two latencies.

usage: .venv/bin/python bench/ring_pingpong.py [--launches 20]

A ring of two ranks has two hops, each of two MPI_Sendrecv (one message either way). If passing
a message costs one latency T (the report's T(N+1) = T(N) + 2 T), a hop takes 2 T, where T is half a
round trip of MPI_Send and MPI_Recv with as many bytes. MPI_Sendrecv may do better: both ranks send
before either waits.
"""

from __future__ import annotations

import argparse

from turns import in_turn, once, write_page

from haloscope.stats import Estimate, typical

BYTES = 8
HOPS = 2


def hop() -> float:
    """Competitor: microseconds of one hop of the ring."""
    return 1e6 * float(once("ring", ranks=2)["result"]["cycle_s"]) / HOPS


def two_latencies() -> float:
    """Competitor: microseconds of two half round trips."""
    return 2e6 * float(once("pingpong", ranks=2, sizes=BYTES)["result"]["latency_s"])


def row(name: str, one: Estimate) -> str:
    """A line of the result table."""
    return f"| {name} | {one.value:.3g} | {one.low:.3g} to {one.high:.3g} |"


def main() -> None:
    """Run both in turn, write docs/bench/ring_pingpong.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=20)
    figures = in_turn(
        {"ring, a hop": hop, "two latencies": two_latencies}, parser.parse_args().launches
    )
    ring, latencies = (typical(sample) for sample in figures.values())
    ratios = [a / b for a, b in zip(*figures.values(), strict=True)]
    body = [
        "| what | median, µs | interval |", "|---|---|---|",
        row("ring of two ranks, a hop", ring),
        row(f"two half round trips, {BYTES} bytes", latencies), "",
        f"Ratio, launch by launch: {row('', typical(ratios)).strip('| ').replace(' | ', ' (')}).",
    ]  # fmt: skip
    print(write_page("ring_pingpong", "ring against the ping-pong", body))


if __name__ == "__main__":
    main()
