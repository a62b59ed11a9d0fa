# SPDX-License-Identifier: BSD-3-Clause
"""What starting haloscope costs: `once empty` beyond a bare mpirun of it, `--help`, `--version`.

usage: .venv/bin/python bench/startup.py [--rounds 20]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from statistics import median

from built import built
from turns import HEADER, ROOT, Target, in_turn, taken, write_page

from haloscope.layout import Layout
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import ensure


def seconds(*command: str, environment: Mapping[str, str] = os.environ) -> Callable[[], float]:
    """A competitor: wall seconds of a command that must succeed."""

    def run() -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return time.perf_counter() - start

    return run


def bare() -> Callable[[], float]:
    """A competitor: the launch that `once empty` makes, with nothing around it."""
    toolchain = ensure(None)
    argv, environment = launch_command(
        toolchain, Job(Layout()), [str(built(toolchain, "empty")), "empty"]
    )
    return seconds(*argv, environment=environment)


def main() -> None:
    """Run everything in turn, write docs/bench/startup.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    haloscope = str(ROOT / "haloscope")
    competitors = {
        "bare mpirun": bare(),
        "haloscope once empty": seconds(haloscope, "once", "empty"),
        "haloscope --help": seconds(haloscope, "--help"),
        "haloscope --version": seconds(haloscope, "--version"),
    }
    in_turn(competitors, 1)  # compiled files and the disk's cache are there from now on
    figures = in_turn(competitors, rounds)
    launch, once, help_s, version = figures.values()
    beyond = [whole - alone for whole, alone in zip(once, launch, strict=True)]
    targets = (
        Target("once empty, beyond mpirun", beyond, 0.25, at_most=True, unit="s"),
        Target("--help", help_s, 0.15, at_most=True, unit="s"),
        Target("--version", version, 0.15, at_most=True, unit="s"),
    )
    body = [
        taken(),
        "",
        *HEADER,
        *(target.row() for target in targets),
        "",
        f"The kernel `empty` takes {median(launch):.3g} s with `mpirun` alone, and "
        f"{median(once):.3g} s with `haloscope once empty`.",
    ]
    print(write_page("startup", "Start-up time of haloscope", body))


if __name__ == "__main__":
    main()
