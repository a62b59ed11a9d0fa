"""What haloscope adds to a launch of an external program, beside a bare mpirun of the same command.

usage: .venv/bin/python bench/external.py [--rounds 10] [--ranks 2]  (docs/examples/heat1d is built)

LAMMPS (lammps_rhodo, one step) by MPICH, docs/examples/heat1d by the usual library. In each round
haloscope's launch and the bare one run in turn. A launch is timed as a campaign waits for it: its
folder made, its inputs put there, ranks started, its output read and verified, its record made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from turns import ROOT, Target, in_turn, taken, write_page

from haloscope.run import kernels
from haloscope.run.here import Here
from haloscope.run.runners.external import ExternalLaunch
from haloscope.run.runners.local import Built, LocalRunner
from haloscope.run.workbench import Workbench
from haloscope.study.case import Case, Launch
from haloscope.study.plan import expand
from haloscope.study.schema import Study
from haloscope.toolchains import library
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import Toolchain

EXAMPLE = ROOT / "docs" / "examples" / "heat1d"
MOST_S = 0.1
HOW = (
    "Seconds of a whole launch, ranks bound alike: unbound ones took twice as long on a busy "
    "machine. The cost is the difference within a round, its median over rounds with its range."
)


@dataclass(frozen=True)
class Subject:
    """A program, a case of it, and what launches that."""

    name: str
    case: Case
    runner: LocalRunner
    toolchain: Toolchain

    def by_haloscope(self) -> float:
        """Seconds of one launch, its record made."""
        begin = time.perf_counter()
        (record,) = self.runner.run([Launch(self.case, 0)])
        seconds = time.perf_counter() - begin
        if record["outcome"] != "ok":
            sys.exit(
                f"{self.name}: {record['outcome']}: {record['reason']}\n{record.get('stderr')}"
            )
        return seconds

    def bare(self) -> float:
        """Seconds of the launcher alone: the same options, ranks bound alike, the same words."""
        program = self.runner.programs[self.case.kernel]
        with tempfile.TemporaryDirectory() as folder:
            one = ExternalLaunch(program, self.toolchain, self.case, Path(folder))
            words = one.words()[3:]  # without what notes where a rank is
            job = self.runner._job(self.case)
            command, environment = launch_command(self.toolchain, job, words)
            begin = time.perf_counter()
            subprocess.run(command, cwd=one.run, env=environment, check=True, capture_output=True)
            return time.perf_counter() - begin


def subject(
    name: str, toolchain: str | None, ranks: int, named: list[Path], **params: Any
) -> Subject:
    """A case of a program on this machine, planned as `once` would; what it needs is asked once."""
    place, found = Here(), library.ensure(toolchain)
    built = {found.name: Built(found, Path("halobench is not needed"), "")}
    bench = Workbench(built, (found.name,), (), programs=kernels.load([name], named))
    run = {"kernel": name, "params": params, "layout": {"ppn": ranks}}
    study = Study.model_validate({"title": name, "runs": [run]})
    plan = expand(study, place.site(bench, oversubscribe=False), bench.program)
    if plan.problems or (plan.cases and plan.cases[0].absent):
        sys.exit("\n".join([*map(str, plan.problems), str(plan.cases[0].absent)]))
    runner = place.runner("bench", 1, bench, {})
    assert isinstance(runner, LocalRunner)
    return Subject(f"{name}, {found.version}", plan.cases[0], runner, found)


def measured(one: Subject, rounds: int) -> tuple[list[str], Target]:
    """The rows of one program, and its verdict."""
    ways: dict[str, Callable[[], float]] = {
        "haloscope": partial(Subject.by_haloscope, one),
        "mpirun": partial(Subject.bare, one),
    }
    for way in ways.values():
        way()  # files are in memory from now on
    found = in_turn(ways, rounds)
    pairs = zip(found["haloscope"], found["mpirun"], strict=True)
    target = Target(f"cost of a launch, {one.name}", [a - b for a, b in pairs], MOST_S, True, "s")
    rows = [
        f"| {one.name} | {way} | {sorted(times)[len(times) // 2]:.3f} "
        f"| {min(times):.3f} to {max(times):.3f} |"
        for way, times in found.items()
    ]
    return rows, target


def main() -> None:
    """Measure, write docs/bench/external.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--ranks", type=int, default=2)
    arguments = parser.parse_args()
    ranks = arguments.ranks
    subjects = [
        subject("heat1d", None, ranks, [EXAMPLE], n=1000, steps=100),
        subject("lammps_rhodo", "mpich", ranks, [], copies="one", steps=1),
    ]
    body = ["| program | launched by | seconds | range |", "|---|---|---|---|"]
    targets = []
    for one in subjects:
        rows, target = measured(one, arguments.rounds)
        body += rows
        targets.append(target)
    body += ["", "| what | figure | range | target | |", "|---|---|---|---|---|"]
    body += [target.row() for target in targets]
    write_page("external", "Launches of external programs", body, f"{HOW} Measured {taken()}")


if __name__ == "__main__":
    if not (EXAMPLE / "heat1d").exists():
        sys.exit(f"build the example first: mpicxx -O3 -o {EXAMPLE}/heat1d {EXAMPLE}/heat1d.cpp")
    main()
