"""Our ping-pong against IMB-MPI1 PingPong: same library, same binding, same sizes, in turn.

usage: .venv/bin/python bench/pingpong_imb.py [--launches 30]

IMB-MPI1 comes with Intel MPI's own wheel (haloscope toolchain add impi-devel), so the library is
that one. A launch of each in turn; each launch gives one time a size. A size agrees if the medians
over launches differ by no more than 3 %, or if their rank-based intervals overlap.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from turns import write_page

from haloscope.build import build
from haloscope.quantities import size
from haloscope.stats import Estimate, typical
from haloscope.toolchain import Launch, ensure, launch_command

LOG_SIZES = (3, 22)
SIZES = [1 << k for k in range(LOG_SIZES[0], LOG_SIZES[1] + 1)]
TOLERANCE = 0.03
Times = Mapping[int, float]
"""Half a round trip in microseconds, by message size in bytes."""


def launched(program: list[str]) -> str:
    """One launch on two cores, bound as haloscope binds; what it printed."""
    toolchain = ensure("impi-devel")
    argv, env = launch_command(toolchain, Launch(ranks=2), program)
    env["LD_LIBRARY_PATH"] = f"{toolchain.prefix}/lib"  # IMB does not know where its library lies
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout


def ours(folder: Path) -> Callable[[], Times]:
    """Competitor: halobench's pingpong, a repetition as IMB makes it, after one to warm up."""
    program, out = build(ensure("impi-devel")), folder / "record.json"

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


def agree(a: Estimate, b: Estimate) -> str:
    """Whether two medians are the same within the tolerance or within their intervals."""
    if abs(a.value / b.value - 1) <= TOLERANCE:
        return "within 3 %"
    bounds = (a.low, a.high, b.low, b.high)
    if None not in bounds and a.low <= b.high and b.low <= a.high:  # type: ignore[operator]
        return "within the intervals"
    return "different"


def shown(estimate: Estimate) -> str:
    """Median and interval, in microseconds."""
    return f"{estimate.value:.4g} | {estimate.low:.4g} to {estimate.high:.4g}"


def main() -> None:
    """Run both in turn, write docs/bench/pingpong_imb.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=30)
    launches = parser.parse_args().launches
    with tempfile.TemporaryDirectory() as folder:
        competitors = {"ours": ours(Path(folder)), "IMB": theirs()}
        found: dict[str, list[Times]] = {name: [] for name in competitors}
        for launch in range(launches):
            for name, run in competitors.items():
                found[name].append(run())
                print(f"{launch + 1}/{launches}  {name:5} {found[name][-1][SIZES[0]]:.3f} us")
    rows, verdicts = [], []
    for bytes_ in SIZES:
        a, b = (typical([times[bytes_] for times in found[name]]) for name in ("ours", "IMB"))
        verdicts.append(agree(a, b))
        ratio = a.value / b.value
        rows.append(f"| {size(bytes_)} | {shown(a)} | {shown(b)} | {ratio:.3f} | {verdicts[-1]} |")
    same = sum(verdict != "different" for verdict in verdicts)
    body = [
        f"Intel MPI from PyPI, {launches} launches each, two ranks bound to a core each, shm.",
        "Half a round trip in microseconds: median over launches and its rank-based interval.",
        "",
        "| size | ours | interval | IMB-MPI1 | interval | ratio | |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        f"{same} of {len(SIZES)} sizes agree. IMB prints two decimals: at 8 bytes, one step is "
        f"{1 / found['IMB'][0][SIZES[0]]:.1f} % of the time.",
    ]
    print(write_page("pingpong_imb", "pingpong against IMB-MPI1 PingPong", body))


if __name__ == "__main__":
    main()
