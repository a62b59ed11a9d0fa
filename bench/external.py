# SPDX-License-Identifier: BSD-3-Clause
"""What haloscope adds to a launch of an external program, beside a bare mpirun of the same command.

usage: .venv/bin/python bench/external.py [--rounds 20] [--ranks 2]  (docs/examples/heat1d is built)

LAMMPS (lammps_rhodo, one step) by MPICH, docs/examples/heat1d by the usual library. In each round
haloscope's launch and the bare one run in turn. A launch is timed as a campaign waits for it: its
folder made, its inputs put there, ranks started, its output read and verified, its record made.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

from turns import ROOT, taken, write_page

from haloscope.host import process
from haloscope.run.places.here import Here
from haloscope.run.prepare import kernels
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.runners.external import ExternalLaunch
from haloscope.run.runners.local import LocalRunner
from haloscope.stats.estimates import median_interval
from haloscope.study.case import Case, Launch
from haloscope.study.expansion import expand
from haloscope.study.schema import Study
from haloscope.toolchains import library
from haloscope.toolchains.build import Build
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import Toolchain

EXAMPLE = ROOT / "docs" / "examples" / "heat1d"
MOST_S = 0.1
HOW = (
    "The tables list the wall time per launch in seconds, as medians over rounds with 95 % "
    "intervals. haloscope and the launcher alone (`mpirun`) bind ranks in the same way, because "
    "unbound ranks took twice as long on a busy machine.\n\nThe overhead is the difference between "
    "the times with haloscope and with the launcher alone, within a round. "
    "Other programs lengthen launches at random. The tables therefore also contain the fastest "
    "launch and the processor "
    "time, which is the user and system time of all processes of a launch."
)


@dataclass(frozen=True)
class Spent:
    """Seconds of a launch: by the clock, and of processors."""

    wall_s: float
    processor_s: float

    @staticmethod
    def on(launch: Callable[[], object]) -> Spent:
        """What a launch takes, with all processes that come of it."""
        before_s, begin = processor_s(), time.perf_counter()
        launch()
        wall_s = time.perf_counter() - begin
        return Spent(wall_s, processor_s() - before_s)


def processor_s() -> float:
    """User and system time of this process and of all that came of it and ended, in seconds."""
    used = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True)
class Subject:
    """A program, a case of it, and what launches that."""

    name: str
    case: Case
    runner: LocalRunner
    toolchain: Toolchain

    def by_haloscope(self) -> Spent:
        """One launch, its record made."""
        records: list[dict[str, Any]] = []
        spent = Spent.on(lambda: records.extend(self.runner.run([Launch(self.case, 0)])))
        (record,) = records
        if record["outcome"] != "ok":
            sys.exit(
                f"{self.name}: {record['outcome']}: {record['reason']}\n{record.get('stderr')}"
            )
        return spent

    def bare(self) -> Spent:
        """The launcher alone: the same options, ranks bound alike, the same words."""
        program = self.runner.programs[self.case.kernel]
        with tempfile.TemporaryDirectory() as folder:
            one = ExternalLaunch(program, self.toolchain, self.case, Path(folder))
            words = one.prepared()  # without what notes where a rank is
            job = self.runner._job(self.case)
            command, environment = launch_command(self.toolchain, job, words)
            environment |= one.variables()
            start = partial(subprocess.run, cwd=one.run, env=environment, check=True)
            return Spent.on(partial(start, command, capture_output=True))


def subject(
    name: str, toolchain: str | None, ranks: int, named: list[Path], **params: Any
) -> Subject:
    """A case of a program on this machine, planned as `once` would; what it needs is asked once."""
    place, found = Here(), library.ensure(toolchain)
    built = {found.name: Build(found, Path("halobench is not needed"), "")}
    bench = Workbench(built, (found.name,), (), programs=kernels.load([name], named))
    run = {"kernel": name, "params": params, "layout": {"ppn": ranks}}
    study = Study.model_validate({"title": name, "runs": [run]})
    plan = expand(study, place.site(bench, oversubscribe=False), bench.program)
    if plan.problems or (plan.cases and plan.cases[0].absent):
        sys.exit("\n".join([*map(str, plan.problems), str(plan.cases[0].absent)]))
    runner = place.runner("bench", 1, bench, {})
    assert isinstance(runner, LocalRunner)
    return Subject(f"{name}, {found.version}", plan.cases[0], runner, found)


def measured(one: Subject, rounds: int) -> tuple[list[str], str]:
    """The rows of one program, and what a launch of it costs."""
    ways: dict[str, Callable[[], Spent]] = {"haloscope": one.by_haloscope, "mpirun": one.bare}
    found: dict[str, list[Spent]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way, launch in ways.items():
            spent = launch()
            print(f"round {number}/{rounds}  {one.name}, {way}: {spent}", flush=True)
            if number > 0:  # files are in memory from then on
                found[way].append(spent)
    rows = [
        f"| {one.name} | {way} | {spread_of([one.wall_s for one in spent])} "
        f"| {min(one.wall_s for one in spent):.3f} "
        f"| {spread_of([one.processor_s for one in spent])} |"
        for way, spent in found.items()
    ]
    pairs = [*zip(found["haloscope"], found["mpirun"], strict=True)]
    wall = [ours.wall_s - bare.wall_s for ours, bare in pairs]
    quickest = [min(one.wall_s for one in spent) for spent in found.values()]
    processor = [ours.processor_s - bare.processor_s for ours, bare in pairs]
    _, low, high = interval(wall)
    met = (
        "met"
        if high <= MOST_S
        else "not met"
        if low > MOST_S
        else "undecided: the interval contains the target"
    )
    figures = f"{spread_of(wall)} | {quickest[0] - quickest[1]:.3f} | {spread_of(processor)}"
    return rows, f"| {one.name} | {figures} | at most {MOST_S} s of wall time: {met} |"


def interval(seconds: Sequence[float]) -> tuple[float, float, float]:
    """The median, and the ends of its interval."""
    found = median_interval(seconds)
    assert found.low is not None, "six rounds at least"
    assert found.high is not None
    return found.value, found.low, found.high


def supervisor(rounds: int) -> str:
    """What a launch is started by and ended with, around a program that does nothing."""
    ways: list[Callable[[], object]] = [
        partial(process.run, ["true"], os.environ, 60.0),
        partial(subprocess.run, ["true"], check=True),
    ]
    pairs = [[Spent.on(way) for way in ways] for _ in range(rounds)]
    wall = [ours.wall_s - bare.wall_s for ours, bare in pairs]
    used = [ours.processor_s - bare.processor_s for ours, bare in pairs]
    quickest = [min(pair[way].wall_s for pair in pairs) for way in (0, 1)]
    name = "of which: the supervisor, which ends all processes of a launch"
    return f"| {name} | {spread_of(wall)} | {quickest[0] - quickest[1]:.3f} | {spread_of(used)} | |"


def spread_of(seconds: Sequence[float]) -> str:
    """The median with its interval."""
    return "{:.3f} ({:.3f} to {:.3f})".format(*interval(seconds))


def main() -> None:
    """Measure, write docs/bench/external.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.rounds < 6:
        parser.error("--rounds: an interval takes six at least")
    ranks = arguments.ranks
    subjects = [
        subject("heat1d", None, ranks, [EXAMPLE], n=1000, steps=100),
        subject("lammps_rhodo", "mpich", ranks, [], copies="one", steps=1),
    ]
    each = [measured(one, arguments.rounds) for one in subjects]
    body = ["| program | launched by | wall time, s | fastest, s | processor time, s |"]
    body += ["|---|---|---|---|---|"]
    body += [row for rows, _ in each for row in rows]
    body += ["", "| overhead per launch | wall time, s | fastest, s | processor time, s | target |"]
    body += ["|---|---|---|---|---|", *(cost for _, cost in each)]
    body.append(supervisor(arguments.rounds))
    write_page("external", "Overhead per launch of an external program", body, f"{HOW} {taken()}")


if __name__ == "__main__":
    if not (EXAMPLE / "heat1d").exists():
        sys.exit(f"build the example first: mpicxx -O3 -o {EXAMPLE}/heat1d {EXAMPLE}/heat1d.cpp")
    main()
