# SPDX-License-Identifier: BSD-3-Clause
"""Our ping-pong against IMB-MPI1 PingPong: same library, same binding, same sizes, in turn.

usage: .venv/bin/python bench/pingpong_imb.py [--launches 30]

IMB-MPI1 comes with Intel MPI's own wheel (haloscope toolchain add impi-devel), so the library is
that one. A round is a launch of each, the first of them changing; a launch gives one time a size.
The machine's speed changes from minute to minute but little within a round, so what is judged is
each round's ratio: a size agrees if their median is within 3 % of one, or their rank-based interval
contains one.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from built import built
from turns import write_page

from haloscope.layout import Layout
from haloscope.quantities import size
from haloscope.stats.estimates import Estimate, typical
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import ensure

LOG_SIZES = (3, 22)
SIZES = [1 << k for k in range(LOG_SIZES[0], LOG_SIZES[1] + 1)]
TOLERANCE = 0.03
Times = Mapping[int, float]
"""Half a round trip in microseconds, by message size in bytes."""


def launched(program: list[str]) -> str:
    """One launch on two cores, bound as haloscope binds; what it printed."""
    toolchain = ensure("impi-devel")
    argv, env = launch_command(toolchain, Job(Layout(ppn=2)), program)
    env["LD_LIBRARY_PATH"] = f"{toolchain.prefix}/lib"  # IMB does not know where its library lies
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout


def ours(folder: Path) -> Callable[[], Times]:
    """Competitor: halobench's pingpong, a repetition as IMB makes it, after one to warm up."""
    program, out = built(ensure("impi-devel"), "pingpong"), folder / "record.json"

    def run() -> Times:
        sizes = f"sizes={SIZES[0]}:{SIZES[-1]}"
        launched([
            str(program), "--out", str(out), "pingpong", "mode=imb", sizes, "repetitions=2",
        ])  # fmt: skip
        points = json.loads(out.read_text())["points"]
        return {point["size_bytes"]: 0.5e6 * point["times_s"][-1] for point in points}

    return run


def theirs() -> Callable[[], Times]:
    """Competitor: IMB-MPI1 PingPong; it prints microseconds with two decimals."""
    program = f"{ensure('impi-devel').prefix}/bin/IMB-MPI1"
    command = [program, "PingPong", "-msglog", ":".join(map(str, LOG_SIZES))]

    def run() -> Times:
        lines = re.findall(r"^ +(\d+) +\d+ +([\d.]+) +[\d.]+ *$", launched(command), re.M)
        return {int(bytes_): float(time) for bytes_, time in lines if int(bytes_) in SIZES}

    return run


def agree(ratio: Estimate) -> str:
    """Whether ours and IMB's time are the same within the tolerance or within the interval."""
    if abs(ratio.value - 1) <= TOLERANCE:
        return "within 3 %"
    if ratio.low is not None and ratio.high is not None and ratio.low <= 1 <= ratio.high:
        return "within the interval"
    return "different"


def main() -> None:
    """Run both in turn, write docs/bench/pingpong_imb.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=30)
    launches = parser.parse_args().launches
    with tempfile.TemporaryDirectory() as folder:
        competitors = {"ours": ours(Path(folder)), "IMB": theirs()}
        found: dict[str, list[Times]] = {name: [] for name in competitors}
        for launch in range(launches):
            turn = list(competitors.items())
            for name, run in turn if launch % 2 else reversed(turn):
                found[name].append(run())
                print(f"{launch + 1}/{launches}  {name:5} {found[name][-1][SIZES[0]]:.3f} us")
    rows, verdicts = [], []
    for bytes_ in SIZES:
        ours_us, imb_us = ([times[bytes_] for times in found[name]] for name in ("ours", "IMB"))
        ratio = typical([a / b for a, b in zip(ours_us, imb_us, strict=True)])
        verdicts.append(agree(ratio))
        medians = f"{typical(ours_us).value:.4g} | {typical(imb_us).value:.4g}"
        interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
        rows.append(
            f"| {size(bytes_)} | {medians} | {ratio.value:.3f} | {interval} | {verdicts[-1]} |"
        )
    same = sum(verdict != "different" for verdict in verdicts)
    body = [
        "The table lists half the round-trip time in microseconds, as medians over launches, and "
        "the "
        "median",
        "ratio per round with its rank-based interval. Each program was launched",
        f"{launches} times with Intel MPI (installed from PyPI) and two ranks, each bound to its "
        "own",
        "core, through shared memory.",
        "",
        "| size | haloscope | IMB-MPI1 | ratio | interval | |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        f"haloscope and IMB agree at {same} of {len(SIZES)} message sizes. IMB prints two "
        "decimals. At 8 bytes, one unit of the last digit is "
        f"{1 / found['IMB'][0][SIZES[0]]:.1f} % of the time.",
    ]
    print(write_page("pingpong_imb", "pingpong compared with IMB-MPI1 PingPong", body))


if __name__ == "__main__":
    main()
