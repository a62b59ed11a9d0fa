# SPDX-License-Identifier: BSD-3-Clause
"""What `profile` adds to the time of fe_heat and poisson_cg on 2 and 4 ranks.

usage: .venv/bin/python bench/profile_overhead.py [--rounds 10]

Times of whole launches do not resolve 2 % where ranks share processors with each other or with
other programs. So the cost is measured by itself: the processor time of calls of one rank, with the
counter and without it in turn. A program is profiled for its calls. Its processor time on one rank,
which waits for nobody, is divided by the ranks: they need at least that long each.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from built import built
from turns import HEADER, ROOT, Target, in_turn, taken, write_page

from haloscope.layout import Layout
from haloscope.profiling import counter
from haloscope.toolchains import build
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import Toolchain, ensure

MOST = 2.0
"""MOST is the largest share of the time that is wanted, in percent."""
PROGRAMS = {
    "fe_heat": ("size=64x64x64", "iterations=50", "repetitions=3"),
    "poisson_cg": ("n=1024", "iterations=200", "repetitions=3"),
}
"""PROGRAMS are kernels with the parameters of a case."""


@dataclass(frozen=True)
class Calls:
    """The most messages and collective operations of a rank, and its work, in seconds."""

    messages: int
    collectives: int
    time_s: float

    def share(self, message_ns: float, collective_ns: float) -> float:
        """What calls cost of the time, in percent."""
        cost_ns = self.messages * message_ns + self.collectives * collective_ns
        return 100 * cost_ns / (1e9 * self.time_s)


def costs(toolchain: Toolchain, rounds: int) -> tuple[list[float], list[float]]:
    """Nanoseconds that the counter adds to a message and to a collective operation, by round."""
    found: dict[bool, list[list[float]]] = {False: [], True: []}
    library = counter.built(toolchain)
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "calls"
        compiler = str(toolchain.mpicxx)
        words = [
            compiler,
            "-O2",
            "-x",
            "c",
            str(ROOT / "bench/profile_calls.c"),
            "-o",
            str(program),
        ]
        subprocess.run(words, check=True, env=build.environment(toolchain))
        command, variables = launch_command(toolchain, Job(Layout()), [str(program)])

        def run(counted: bool) -> float:
            with tempfile.TemporaryDirectory() as folder:
                own = counter.environment(toolchain, library, Path(folder)) if counted else {}
                names = ("LD_PRELOAD", "HALOSCOPE_PROFILE") if counted else ()
                passed = [part for name in names for part in ("-x", name)]
                done = subprocess.run(
                    [command[0], *passed, *command[1:]],
                    env={**variables, **{name: own[name] for name in names}},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                if counted and not [*Path(folder).glob("*.counts")]:
                    raise RuntimeError("nothing was counted")
            found[counted].append([float(word) for word in done.stdout.split()])
            return found[counted][-1][0]

        in_turn({"without": lambda: run(False), "with": lambda: run(True)}, rounds)
    pairs = [*zip(found[True], found[False], strict=True)]
    message, collective = ([a[k] - b[k] for a, b in pairs] for k in range(2))
    return message, collective


def calls(kernel: str, ranks: int, toolchain: Toolchain, work_s: float) -> Calls:
    """What a profiled run counts. work_s: of all ranks."""
    program = [str(built(toolchain, kernel)), kernel, *PROGRAMS[kernel]]
    job = Job(Layout(ppn=ranks), oversubscribe=True)
    command, variables = launch_command(toolchain, job, program)
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "profile"
        words = [sys.executable, "-P", "-m", "haloscope", "profile", "--out", str(out), "--"]
        subprocess.run([*words, *command], env=variables, check=True, capture_output=True)
        messages, collectives = [0] * ranks, 0
        with (out / "traffic.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                messages[int(row["from"])] += int(row["messages"])
        with (out / "collectives.csv").open(newline="") as file:
            collectives = sum(int(row["calls"]) for row in csv.DictReader(file))
    return Calls(max(messages), collectives // ranks, work_s / ranks)


def processor_s(toolchain: Toolchain, kernel: str, *words: str) -> float:
    """Processor time of a launch on one rank, with mpirun."""
    program = [str(built(toolchain, kernel)), kernel, *words]
    command, variables = launch_command(toolchain, Job(Layout()), program)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=variables, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and write docs/bench/profile_overhead.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    toolchain = ensure(None)
    message, collective = costs(toolchain, rounds)
    rows, details = [], []
    for kernel, words in PROGRAMS.items():
        alone = min(processor_s(toolchain, kernel, *words) for _ in range(3))
        work_s = alone - min(processor_s(toolchain, "empty") for _ in range(3))
        for ranks in (2, 4):
            own = calls(kernel, ranks, toolchain, work_s)
            shares = [own.share(*pair) for pair in zip(message, collective, strict=True)]
            rows.append(Target(f"{kernel}, {ranks} ranks", shares, MOST, True, "%").row())
            name = f"{kernel} {' '.join(words)}, {ranks} ranks"
            details.append(
                f"| {name} | {own.messages:,} | {own.collectives:,} | {own.time_s:.3g} s |"
            )
    body = [
        taken(),
        "",
        *HEADER,
        *rows,
        "",
        "| added processor time | median | range |",
        "|---|---|---|",
        *(
            f"| {what} | {median(ns):.0f} ns | {min(ns):.0f} to {max(ns):.0f} ns |"
            for what, ns in (
                ("message (Irecv, Isend, Waitall)", message),
                ("collective operation (Allreduce)", collective),
            )
        ),
        "",
        "| program | messages per rank | collective operations | work per rank |",
        "|---|---|---|---|",
        *details,
    ]
    how = (
        "The overhead of a program is the processor time that profiling adds per call, multiplied "
        "by the calls per rank and divided by the work per rank. The added "
        "time per call was measured on one rank, in runs that alternated with and without the "
        "counter. The work of a rank is the processor "
        "time of the "
        "program on one rank, divided by the number of ranks."
    )
    write_page("profile_overhead", "Overhead of haloscope profile", body, how)


if __name__ == "__main__":
    main()
