# SPDX-License-Identifier: BSD-3-Clause
"""Three networks compared as in section 6 of hpcf-2018-10, on a cluster in a box.

usage: .venv/bin/python bench/rates.py [--rounds 3]        (as root: it brings labs up and down)

The section solves the Poisson problem on nodes joined by Omni-Path, InfiniBand and Ethernet and
finds all three alike, as the problem is bound by memory. Here the same nodes are joined at three
rates; in each round each rate has its lab, its jobs and one launch of each case.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import on_lab
from turns import taken, write_page

from haloscope.quantities import count, listed

RATES = {"100 Mbit/s": "100mbit", "1 Gbit/s": "1gbit", "10 Gbit/s": "10gbit"}
SIZES = (256, 512)
NODES = (1, 2, 4)
MESSAGES = (8, 65536, 1048576)
STUDY = f"""
title = "Poisson CG on nodes that are joined at several rates"
timeout_s = 600
[[runs]]
kernel = "poisson_cg"
params = {{ n = {[*SIZES]}, variant = "textbook" }}
layout = {{ nodes = {[*NODES]}, ppn = 1 }}
[[runs]]
kernel = "pingpong"
params = {{ sizes = "{",".join(map(str, MESSAGES))}", repetitions = 5, steps = 20 }}
layout = {{ nodes = 2, ppn = 1 }}
"""
HOW = (
    "Each round starts one lab per rate (4 nodes with 1 core, which share the machine's cores if "
    "it has fewer) and launches each case once. The figures are medians over rounds, with "
    "their range."
)
Found = Mapping[str, Sequence[dict[str, Any]]]


def cell(values: Sequence[float], unit: float = 1.0) -> str:
    """Median and range of some figures."""
    low, middle, high = (f"{one / unit:.3g}" for one in (min(values), median(values), max(values)))
    return f"{middle} ({low} to {high})"


def walls(found: Found, rate: str, n: int, nodes: int) -> list[float]:
    """Seconds of a solve, one a launch."""
    return [
        median(one["times_s"])
        for one in found[rate]
        if one["kernel"] == "poisson_cg"
        and (one["params"]["n"], one["layout"]["nodes"]) == (n, nodes)
    ]


def messages(found: Found, rate: str, size: int) -> list[float]:
    """Seconds of half a round trip, one a launch."""
    return [
        point["result"]["latency_s"]
        for one in found[rate]
        if one["kernel"] == "pingpong"
        for point in one["points"]
        if point["size_bytes"] == size
    ]


def page(found: Found) -> list[str]:
    """The tables, and what they say beside the paper's."""
    body = ["## Wall time of a solve in s, with 1 process per node", ""]
    body += [f"| N | rate | {' | '.join(count(nodes, 'node') for nodes in NODES)} |"]
    body += ["|---|---|" + "---|" * len(NODES)]
    for n in SIZES:
        for rate in RATES:
            cells = [cell(walls(found, rate, n, nodes)) for nodes in NODES]
            body.append(f"| {n} | {rate} | {' | '.join(cells)} |")
    body += ["", "## Half a round trip between two nodes in µs", ""]
    body += [f"| rate | {' | '.join(f'{size:,} B' for size in MESSAGES)} |"]
    body += ["|---|" + "---|" * len(MESSAGES)]
    for rate in RATES:
        cells = [cell(messages(found, rate, size), 1e-6) for size in MESSAGES]
        body.append(f"| {rate} | {' | '.join(cells)} |")
    for rate, bits_per_s in zip(RATES, (1e8, 1e9, 1e10), strict=True):
        wire = [f"{8e6 * size / bits_per_s:.3g}" for size in MESSAGES]
        body.append(f"| bytes / rate at {rate} | {' | '.join(wire)} |")
    body += [
        "",
        "A lab limits the rate with a token bucket at each end of a link. The bucket passes one "
        "Ethernet packet, or the bytes sent in 10 µs at this rate, without delay. Messages below "
        "this size are therefore not delayed. Timers that fire late, for example on a busy "
        "machine, reduce the rate.",
    ]
    slow, fast = next(iter(RATES)), [*RATES][-1]
    ratios, alone = [], []
    for n in SIZES:
        middles = [median(walls(found, rate, n, 1)) for rate in RATES]
        alone.append(max(middles) / min(middles))
        for nodes in NODES[1:]:
            ratio = median(walls(found, slow, n, nodes)) / median(walls(found, fast, n, nodes))
            ratios.append(f"{ratio:.2f}x (N = {n}, {nodes} nodes)")
    large = median(messages(found, slow, MESSAGES[-1])) / median(
        messages(found, fast, MESSAGES[-1])
    )
    body += [
        "",
        f"A solve takes {listed(ratios)} as long at {slow} as at {fast}. A message of "
        f"{MESSAGES[-1]:,} B takes {large:.1f}x as long. The paper HPCF-2018-10 finds no "
        "difference between 10 Gbit/s Ethernet, InfiniBand, and Omni-Path with "
        "100 Gbit/s (Tables 6.1 to 6.3).",
        "",
        "A single node does not use the network, but its times for the same solve still differ "
        "between the rates by "
        f"{listed([f'{one:.2f}x (N = {n})' for n, one in zip(SIZES, alone, strict=True)])}. "
        "Smaller ratios between rates are therefore not significant.",
    ]
    return body


def main() -> None:
    """Measure, write docs/bench/rates.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        folders = {rate: Path(scratch) / option for rate, option in RATES.items()}
        for launches in range(1, rounds + 1):
            for rate, folder in folders.items():
                folder.mkdir(exist_ok=True)
                study = folder / "study.toml"
                study.write_text(STUDY)
                with on_lab.lab("--nodes", "4", "--cores", "1", "--rate", RATES[rate]):
                    on_lab.measured(study, folder / "out", launches)
                print(f"round {launches}/{rounds}  {rate}", flush=True)
        found = {rate: on_lab.records(folder / "out") for rate, folder in folders.items()}
        if {len(one) for one in found.values()} != {rounds * (len(SIZES) * len(NODES) + 1)}:
            sys.exit("not whole studies")
        how = f"{HOW} {taken()}"
        write_page("rates", "Nodes connected at three rates", page(found), how)


if __name__ == "__main__":
    main()
