# SPDX-License-Identifier: BSD-3-Clause
"""What md_pppm sends beside what LAMMPS sends, counted alike, and what LAMMPS' sections take.

usage: .venv/bin/python bench/md_pppm.py [sections] [messages] [--ranks 1 2 4 8] [--rounds 5]
       .venv/bin/python bench/md_pppm.py prediction --cluster FILE     (of haloscope calibrate)
       (LAMMPS and its MPI library come by: haloscope toolchain add lammps, and add mpich)

sections: of the rhodopsin benchmark on one rank, in turn with what a core computes in a second;
kernels/md_pppm/costs.cpp has them. messages: LAMMPS and md_pppm on 1, 2, 4 and 8 ranks, each under
haloscope's counter, two runs of different lengths: what the longer one sends more are its steps.
prediction: LAMMPS on 1 and 2 ranks beside md_pppm simulated on this machine as it was calibrated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from built import built
from external import Subject, subject
from turns import in_turn, kept, taken, write_page

from haloscope.layout import Layout
from haloscope.predict.node_calibration import ARITHMETIC
from haloscope.profiling import counter, traffic
from haloscope.profiling.process import Sent
from haloscope.profiling.traffic import Traffic
from haloscope.run.runners.external import ExternalLaunch
from haloscope.study.case import Launch
from haloscope.toolchains import library
from haloscope.topics.phases import NAMES, PHASES

MPI = "mpich"
STEPS, OWN_STEPS = 100, 99
"""STEPS of LAMMPS, and of md_pppm, in which both build neighbour lists 11 times."""
BUILDS = 11
ATOMS = 32_000
MOST = 0.05
SECTIONS = ("Pair", "Bond", "Kspace", "Neigh", "Modify")


LONG = 500
"""Repetitions of the solve that says what a core computes: some seconds of a processor."""


def launched(lammps: Subject) -> dict[str, Any]:
    """The record of one good launch."""
    (record,) = lammps.runner.run([Launch(lammps.case, 0)])
    if record["outcome"] != "ok":
        sys.exit(f"{lammps.name}: {record['outcome']}: {record['reason']}")
    return record


def sections(rounds: int) -> list[str]:
    """Seconds of an atom and a step (Neigh: and a build), and flops a second of a core."""
    lammps = subject("lammps_rhodo", MPI, 1, [], steps=STEPS)
    kernel, variant, sweep = ARITHMETIC
    program = built(library.ensure(), kernel)
    seconds: dict[str, list[float]] = {name: [] for name in SECTIONS}

    def step() -> float:
        record = launched(lammps)
        share = float(record["result"]["processor_percent"]) / 100
        for phase in record["phases"]:
            if phase["name"] in seconds:
                builds = STEPS / BUILDS if phase["name"] == "Neigh" else 1
                seconds[phase["name"]].append(share * phase["time_s"]["mean"] * builds / ATOMS)
        return share * float(record["times_s"][0])

    def solve(repetitions: int) -> tuple[float, float, dict[str, Any]]:
        """Seconds on the wall and of a processor, and the sweep's phase, of one launch."""
        with tempfile.NamedTemporaryFile() as file:
            words = ["n=384", f"variant={variant}", "iterations=40", "warmup=5"]
            command = [str(program), "--out", file.name, kernel, *words]
            begin, before = time.perf_counter(), os.times()
            subprocess.run([*command, f"repetitions={repetitions}"], check=True)
            wall, after = time.perf_counter() - begin, os.times()
            record = json.loads(Path(file.name).read_text())
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        (found,) = (phase for phase in record["phases"] if phase["name"] == sweep)
        return wall, used, found

    def core() -> float:
        """What a long launch takes more than a short one is its repetitions alone."""
        short, (wall, used, phase) = solve(1), solve(LONG)
        share = min(1.0, (used - short[1]) / (wall - short[0]))
        return float(phase["flops"] / phase["time_s"]["mean"] / share)

    rates = in_turn({"LAMMPS": step, "core": core}, rounds)["core"]
    rows = [row(name, times, "s") for name, times in seconds.items()]
    return [
        "## Sections of one rank",
        "",
        f"{taken()} {lammps.name.replace(', ', ' with ')} was launched {rounds} times with "
        f"{STEPS} steps, alternating with "
        f"{kernel} ({variant}, n = 384, {LONG} repetitions). The phase {sweep} of {kernel} "
        "determines the rate of a core, as in `haloscope calibrate`. Times are per atom and step, "
        "except for Neigh, whose time is per atom and build of the neighbour lists "
        f"({BUILDS} builds). All "
        "times are processor times, computed from the processor shares that LAMMPS prints and "
        "those of the repetitions. Other programs therefore affect them only through shared "
        "caches and cores.",
        "",
        "| section | median | range |",
        "|---|---|---|",
        *[*rows, row("rate of a core", rates, "flop/s")],
        "",
    ]


def prediction(cluster: Path | None, rounds: int) -> list[str]:
    """Steps of LAMMPS on 1 and 2 ranks, section by section, beside md_pppm's on this machine."""
    if cluster is None:
        sys.exit("prediction takes --cluster FILE, which haloscope calibrate --out FILE writes")
    subjects = {ranks: subject("lammps_rhodo", MPI, ranks, [], steps=STEPS) for ranks in (1, 2)}
    real: dict[int, list[dict[str, Any]]] = {ranks: [] for ranks in subjects}

    def step(ranks: int) -> float:
        real[ranks].append(launched(subjects[ranks]))
        return float(real[ranks][-1]["times_s"][0])

    in_turn({f"{ranks} ranks": partial(step, ranks) for ranks in subjects}, rounds)
    lines, shares = [], []
    for ranks, records in real.items():
        command = [sys.executable, "-m", "haloscope", "once", "md_pppm", "--json"]
        command += ["--on", str(cluster), "--ranks", str(ranks), "repetitions=1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        own = json.loads(done.stdout)
        shares += [one["result"]["processor_percent"] / 100 for one in records]
        for name in ("step", *NAMES):
            was = [of_section(one, "lammps_rhodo", name) for one in records]
            now = of_section(own, "md_pppm", name)
            middle = median(was)
            off = f"{now / middle - 1:+.0%}" if middle > 0 else ""
            lines.append(
                f"| {ranks} | {name} | {1e3 * middle:.3g} ms "
                f"| {1e3 * min(was):.3g} to {1e3 * max(was):.3g} | {1e3 * now:.3g} ms | {off} |"
            )
    return [
        "## A step of LAMMPS and its prediction",
        "",
        f"{taken()} LAMMPS was launched {rounds} times with {STEPS} steps on each number of ranks, "
        "alternating, with 32,000 atoms per rank. md_pppm was simulated on "
        f"{cluster.stem}, a cluster file calibrated on this machine. "
        f"LAMMPS had {min(shares):.0%} to {max(shares):.0%} of a processor per rank. The times of "
        "sections are means over ranks.",
        "",
        "| ranks | section | LAMMPS | range | predicted | error |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def of_section(record: dict[str, Any], kernel: str, name: str) -> float:
    """Seconds of a section of a step, or of the step."""
    if name == "step":
        return float(median(record["times_s"]))
    own = PHASES[kernel][name]
    return sum(float(one["time_s"]["mean"]) for one in record["phases"] if one["name"] in own)


def row(name: str, figures: Sequence[float], unit: str) -> str:
    """A line: the median, and the range."""
    return f"| {name} | {median(figures):.3e} {unit} | {min(figures):.3e} to {max(figures):.3e} |"


Pairs = dict[tuple[int, int], Sent]


@dataclass(frozen=True)
class Counted:
    """What a run sends from each rank to each, of it atoms that move to others, and its sums.

    sums: calls of MPI_Allreduce, of all ranks.
    """

    pairs: Pairs
    movers: Sent
    sums: Sent

    def less(self, before: Counted) -> Counted:
        """What it sends more than a shorter one."""
        pairs = {
            pair: less(sent, before.pairs.get(pair, Sent())) for pair, sent in self.pairs.items()
        }
        return Counted(
            {pair: sent for pair, sent in pairs.items() if sent.messages > 0},
            less(self.movers, before.movers),
            less(self.sums, before.sums),
        )


def less(sent: Sent, before: Sent) -> Sent:
    """The difference."""
    return Sent(sent.messages - before.messages, sent.bytes - before.bytes)


def messages(numbers: Sequence[int]) -> list[str]:
    """Totals of a step, and how far the messages or bytes of any pair of ranks are off."""
    lines, parts, furthest = [], [], 0.0
    for ranks in numbers:
        print(f"{ranks} ranks", flush=True)
        theirs = lammps(ranks, 1 + STEPS).less(lammps(ranks, 1))
        own = md_pppm(ranks, 2 * OWN_STEPS).less(md_pppm(ranks, OWN_STEPS))
        both = {*theirs.pairs, *own.pairs}
        worst = max((off(theirs.pairs.get(one), own.pairs.get(one)) for one in both), default=0.0)
        one, other = (sum(each.pairs.values(), Sent()) for each in (theirs, own))
        lines.append(
            f"| {ranks} | {len(theirs.pairs)} | {len(own.pairs)} | {one.messages / STEPS:.2f} "
            f"| {other.messages / OWN_STEPS:.2f} | {one.bytes / STEPS:,.0f} "
            f"| {other.bytes / OWN_STEPS:,.0f} | {worst:.1%} |"
        )
        for what in ("movers", "sums"):
            was, now = getattr(theirs, what), getattr(own, what)
            parts.append(
                f"| {ranks} | {what} | {was.messages / STEPS:.2f} | {now.messages / OWN_STEPS:.2f} "
                f"| {was.bytes / STEPS:,.0f} | {now.bytes / OWN_STEPS:,.0f} |"
            )
        furthest = max(furthest, worst)
    verdict = "met" if furthest <= MOST else "not met"
    return [
        "## Messages of a step",
        "",
        f"{taken()} The table counts the point-to-point messages of all ranks. The last column "
        "lists the largest deviation of any pair of ranks, in messages or bytes. A single rank "
        "sends no "
        "messages. `halobench/tests/test_md_pppm.cpp` compares the messages by purpose (ghost "
        "atoms, new ghosts, grid points around bricks, remaps) with stored counts from LAMMPS.",
        "",
        "| ranks | pairs, LAMMPS | md_pppm | messages, LAMMPS | md_pppm "
        "| bytes, LAMMPS | md_pppm | largest deviation |",
        "|---|---|---|---|---|---|---|---|",
        *lines,
        "",
        f"The largest deviation of md_pppm from LAMMPS is {furthest:.1%}. The target, at most "
        f"{MOST:.0%}, is {verdict}.",
        "",
        "The next table lists two kinds of communication separately. Movers are messages with "
        "atoms that move to other ranks; in LAMMPS, their number depends on the motion of the "
        "atoms. Sums are the calls of `MPI_Allreduce` "
        "on all "
        "ranks, which are not point-to-point messages.",
        "",
        "| ranks | what | LAMMPS | md_pppm | bytes, LAMMPS | md_pppm |",
        "|---|---|---|---|---|---|",
        *parts,
        "",
    ]


def off(was: Sent | None, now: Sent | None) -> float:
    """The larger relative difference of messages or bytes a step; infinite where one has none."""
    if was is None or now is None:
        return float("inf")
    pairs = ((was.messages, now.messages), (was.bytes, now.bytes))
    return max(abs(b / OWN_STEPS / (a / STEPS) - 1) for a, b in pairs)


def md_pppm(ranks: int, steps: int) -> Counted:
    """One launch of so many steps; which of its messages are movers it says itself, for a step."""
    program = built(library.find(MPI), "md_pppm")
    with tempfile.NamedTemporaryFile() as file:
        words = ["--out", file.name, "md_pppm", f"steps={steps}", "repetitions=1", "warmup=0"]
        sent = counted(ranks, [str(program), *words], Path.cwd())
        result = json.loads(Path(file.name).read_text())["result"]
    moved = Sent(round(steps * result["movers_messages"]), round(steps * result["movers_bytes"]))
    return Counted(sent.matrix(), moved, _reductions(sent))


SUM = "Allreduce"
MOVES = "::exchange"
"""What the function of LAMMPS is called that sends atoms to where they have moved."""


def _reductions(sent: Traffic) -> Sent:
    own = (one for (_, name), one in sent.collectives.items() if name == SUM)
    return sum(own, start=Sent())


def lammps(ranks: int, steps: int) -> Counted:
    """One launch of the benchmark, with a copy of it for each rank."""
    one = subject("lammps_rhodo", MPI, 1, [], steps=steps)
    case = replace(one.case, layout=Layout(ppn=ranks), oversubscribed=True)
    with tempfile.TemporaryDirectory() as folder:
        program = one.runner.programs["lammps_rhodo"]
        launch = ExternalLaunch(program, one.toolchain, case, Path(folder))
        words = launch.prepared()  # without what notes where a rank is
        sent = counted(ranks, words, launch.run, launch.variables())
    moves = (one for flow, one in sent.pairs.items() if flow.phase.endswith(MOVES))
    moved = sum(moves, start=Sent())
    return Counted(sent.matrix(), moved, _reductions(sent))


def counted(
    ranks: int, words: Sequence[str], run: Path, own: Mapping[str, str] = MappingProxyType({})
) -> Traffic:
    """What a program sends from each rank to each, as `haloscope profile` counts it."""
    toolchain = library.find(MPI)
    launcher = [str(toolchain.mpirun), "-n", str(ranks), "-launcher", "fork"]
    with tempfile.TemporaryDirectory() as folder:
        preloaded = counter.environment(toolchain, counter.built(toolchain), Path(folder))
        variables = {**preloaded, **own}
        command = [*launcher, *words]
        done = subprocess.run(command, cwd=run, env=variables, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout.decode()[-2000:]}")
        (found,) = traffic.put_together(traffic.worlds(Path(folder)))
        return found


def main() -> None:
    """Measure what is asked for, write docs/bench/md_pppm.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts: dict[str, Callable[[], list[str]]] = {
        "sections": lambda: sections(given.rounds),
        "messages": lambda: messages(given.ranks),
        "prediction": lambda: prediction(given.cluster, given.rounds),
    }
    parser.add_argument("parts", nargs="*", help=" or ".join(parts))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cluster", type=Path, help="prediction: the file of this machine")
    given = parser.parse_args()
    asked = given.parts or ["sections", "messages"]
    if unknown := {*asked} - {*parts}:
        parser.error(f"no {', '.join(sorted(unknown))}; there are {' and '.join(parts)}")
    found = kept("md_pppm")
    for name in asked:
        lines = parts[name]()
        found[lines[0]] = lines
        page = [*chain(*found.values())]
        title = "md_pppm compared with LAMMPS"
        write_page("md_pppm", title, page, "Each section contains the date of its measurements.")


if __name__ == "__main__":
    main()
