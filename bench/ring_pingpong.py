# SPDX-License-Identifier: BSD-3-Clause
"""ring of two ranks against the ping-pong, and both against IMB-MPI1's Sendrecv and PingPong.

usage: .venv/bin/python bench/ring_pingpong.py [--launches 20]

A hop of the ring is two MPI_Sendrecv, one message either way. By the report, T(N + 1) = T(N) + 2 T:
a hop takes two latencies T, where T is half a round trip of MPI_Send and MPI_Recv. But between two
ranks both send and receive at once, while in a ping-pong one always waits for the other. IMB-MPI1
Sendrecv is the like of a hop: it times the same call between the same two busy ranks. All carry 8
bytes, in 20 repetitions of 1000 steps after as many to warm up (IMB: one of 20000 after a
warm-up of its own), bound to the same two cores, one launch of each in turn.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from built import built
from turns import in_turn, write_page

from haloscope.layout import Layout
from haloscope.stats.estimates import Estimate, typical
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import Toolchain, available, find

BYTES = 8
STEPS = ["repetitions=20", "steps=1000", "warmup=1000"]
VERDICT = (
    "If IMB's Sendrecv takes longer than its PingPong, a hop of the ring is expected to take as "
    "long as two calls of Sendrecv in IMB, not two latencies."
)
Competitor = Callable[[], float]


def launched(toolchain: Toolchain, program: list[str]) -> str:
    """One launch on two cores, bound as haloscope binds; what it printed."""
    argv, env = launch_command(toolchain, Job(Layout(ppn=2)), program)
    if toolchain.family == "impi":  # IMB does not know where its library lies
        env["LD_LIBRARY_PATH"] = f"{toolchain.prefix}/lib"
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout


def ours(toolchain: Toolchain, out: Path, result: str, messages: float, *case: str) -> Competitor:
    """Microseconds of `messages` times a result of one of halobench's kernels."""
    program = [str(built(toolchain, case[0])), "--out", str(out), *case, *STEPS]

    def run() -> float:
        launched(toolchain, program)
        return 1e6 * messages * float(json.loads(out.read_text())["result"][result])

    return run


def imb(name: str) -> Competitor:
    """Microseconds of two messages by a benchmark of IMB-MPI1, with Intel MPI."""
    toolchain = find("impi-devel")
    program = [f"{toolchain.prefix}/bin/IMB-MPI1", name, "-msglog", "3:3", "-iter", "20000"]

    def run() -> float:
        line = re.search(rf"^ +{BYTES} +\d+ .*", launched(toolchain, program), re.M)
        if line is None:
            raise ValueError(f"IMB-MPI1 {name} printed no line of {BYTES} bytes")
        return 2 * max(map(float, line[0].split()[2:-1]))  # Sendrecv: of both ranks

    return run


def competitors(folder: Path) -> dict[str, Competitor]:
    """Every library's ring and ping-pong; with Intel MPI, IMB's counterparts too."""
    found = {}
    for each in available():
        out = folder / f"{each.name}.json"
        found[f"{each.version}: one hop of the ring"] = ours(each, out, "cycle_s", 0.5, "ring")
        found[f"{each.version}: two latencies"] = ours(
            each, out, "latency_s", 2, "pingpong", f"sizes={BYTES}"
        )
        if each.name == "impi-devel":
            found[f"{each.version}: two times IMB Sendrecv"] = imb("Sendrecv")
            found[f"{each.version}: two times IMB PingPong"] = imb("PingPong")
    return found


def shown(one: Estimate) -> str:
    """Median and interval."""
    return f"{one.value:.3g} | {one.low:.3g} to {one.high:.3g}"


def ratio(figures: Mapping[str, Sequence[float]], over: str, under: str) -> str:
    """A line of the verdict: the ratio launch by launch, and whether its interval holds 1."""
    one = typical([a / b for a, b in zip(figures[over], figures[under], strict=True)])
    same = one.low is not None and one.high is not None and one.low <= 1 <= one.high
    more = "longer" if one.value > 1 else "shorter"
    verdict = "consistent" if same else f"{abs(one.value - 1):.0%} {more}"
    return f"| {over} / {under.split(': ')[1]} | {shown(one)} | {verdict} |"


def main() -> None:
    """Run all in turn, write docs/bench/ring_pingpong.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=20)
    launches = parser.parse_args().launches
    with tempfile.TemporaryDirectory() as folder:
        figures = in_turn(competitors(Path(folder)), launches)
    versions = list(dict.fromkeys(name.split(": ")[0] for name in figures))
    pairs = [(f"{one}: one hop of the ring", f"{one}: two latencies") for one in versions]
    intel = next((one for one in versions if one.startswith("Intel")), None)
    if intel is not None:
        sendrecv, pingpong = (f"{intel}: two times IMB {name}" for name in ("Sendrecv", "PingPong"))
        pairs += [(f"{intel}: one hop of the ring", sendrecv), (sendrecv, pingpong)]
        pairs += [(f"{intel}: two latencies", pingpong)]
    body = [
        f"Each program was launched {launches} times with {BYTES} bytes and two ranks, each bound "
        "to its own core. The figures are medians over launches with rank-based intervals.",
        "", "| what | µs | interval |", "|---|---|---|",
        *(f"| {name} | {shown(typical(sample))} |" for name, sample in figures.items()),
        "", "| ratio per launch | median | interval | |", "|---|---|---|---|",
        *(ratio(figures, *pair) for pair in pairs),
        "", "IMB prints means with two decimals; haloscope prints medians. " + VERDICT,
    ]  # fmt: skip
    print(write_page("ring_pingpong", "ring compared with ping-pong", body))


if __name__ == "__main__":
    main()
