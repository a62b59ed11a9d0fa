# SPDX-License-Identifier: BSD-3-Clause
"""What haloscope itself costs: `haloscope run` of an `empty` case beyond a bare mpirun of it.

usage: .venv/bin/python bench/harness.py [--rounds 5] [--launches 20]

Three figures a round: the whole command divided by its launches (start-up and reading the study
included, no report), the slope between two numbers of launches (what one more launch costs), and
the share of `run quick` that is outside of its launches.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from turns import HEADER, ROOT, Target, in_turn, taken, write_page

STUDY = """\
title = "The cost of the harness"
[[runs]]
kernel = "empty"
params = { repetitions = 1, steps = 1 }
layout = { ppn = 1, threads = 1 }
"""


def seconds(command: list[str], env: dict[str, str] | None = None) -> float:
    """Wall seconds of a command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=env)
    return time.perf_counter() - start


def bare(launches: int) -> Callable[[], float]:
    """Competitor: the same launch command, with nothing around it; seconds a launch."""
    from built import built

    from haloscope.layout import Layout
    from haloscope.toolchains.launching import Job
    from haloscope.toolchains.launching.launch import launch_command
    from haloscope.toolchains.library import ensure

    toolchain = ensure(None)
    program = [str(built(toolchain, "empty")), "empty", "repetitions=1", "steps=1"]
    argv, env = launch_command(toolchain, Job(Layout()), program)

    def run() -> float:
        total = sum(seconds(argv, {**os.environ, **env}) for _ in range(launches))
        return total / launches

    return run


def whole(folder: Path, launches: int) -> Callable[[], float]:
    """Competitor: haloscope run; seconds of the whole command."""
    study = folder / "empty.toml"
    study.write_text(STUDY)

    def run() -> float:
        with tempfile.TemporaryDirectory(dir=folder) as out:
            return seconds([
                str(ROOT / "haloscope"), "run", str(study), "--launches", str(launches),
                "--out", f"{out}/results", "--no-report",
            ])  # fmt: skip

    return run


def outside(folder: Path) -> Callable[[], float]:
    """Competitor: `run quick`; the share of its wall time outside of launches, in percent."""

    def run() -> float:
        with tempfile.TemporaryDirectory(dir=folder) as out:
            results = f"{out}/results"
            took_s = seconds(
                [str(ROOT / "haloscope"), "run", "quick", "--out", results, "--no-report"]
            )
            lines = Path(results, "records.jsonl").read_text(encoding="utf-8").splitlines()
            launched_s: float = sum(json.loads(line)["wall_s"] for line in lines)
            return 100 * (1 - launched_s / took_s)

    return run


def main() -> None:
    """Run everything, write docs/bench/harness.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--launches", type=int, default=20)
    arguments = parser.parse_args()
    few, many = arguments.launches, 2 * arguments.launches
    with tempfile.TemporaryDirectory() as folder:
        figures = in_turn(
            {
                "bare mpirun, a launch": bare(few),
                f"haloscope run, {few} launches": whole(Path(folder), few),
                f"haloscope run, {many} launches": whole(Path(folder), many),
                "run quick, outside of launches": outside(Path(folder)),
            },
            arguments.rounds,
        )
    alone, short, long, share = figures.values()
    slope = [(b - a) / (many - few) - c for a, b, c in zip(short, long, alone, strict=True)]
    spread = [b / many - c for b, c in zip(long, alone, strict=True)]
    body = [
        taken(),
        "",
        *HEADER,
        Target("overhead per additional launch, beyond mpirun", slope, 0.1, True, "s").row(),
        Target(
            f"time of the whole command per launch ({many}), beyond mpirun", spread, 0.1, True, "s"
        ).row(),
        Target("wall time of `run quick` outside of its launches", share, 10, True, "%").row(),
    ]
    print(write_page("harness", "Overhead of the harness", body))


if __name__ == "__main__":
    main()
