"""What md_pppm sends beside what LAMMPS sends, counted alike, and what LAMMPS' sections take.

usage: .venv/bin/python bench/md_pppm.py [sections] [messages] [--ranks 1 2 4 8] [--rounds 5]
       (LAMMPS and its MPI library come by: haloscope toolchain add lammps, and add mpich)

sections: of the rhodopsin benchmark on one rank, in turn with what a core computes in a second;
kernels/md_pppm/costs.cpp has them. messages: LAMMPS and md_pppm on 1, 2, 4 and 8 ranks, each under
haloscope's counter, two runs of different lengths: what the longer one sends more are its steps.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median

from external import subject
from turns import in_turn, kept, once, taken, write_page

from haloscope.predict.node_calibration import ARITHMETIC
from haloscope.profiling import counter, traffic
from haloscope.profiling.traffic import Sent
from haloscope.run.runners.external import ExternalLaunch
from haloscope.study.case import Launch, Layout
from haloscope.toolchains import build, library

MPI = "mpich"
STEPS, OWN_STEPS = 100, 99
"""STEPS of LAMMPS, and of md_pppm, in which both build neighbour lists 11 times."""
BUILDS = 11
ATOMS = 32_000
MOST = 0.05
SECTIONS = ("Pair", "Bond", "Kspace", "Neigh", "Modify")


def sections(rounds: int) -> list[str]:
    """Seconds of an atom and a step (Neigh: and a build), and flops a second of a core."""
    lammps = subject("lammps_rhodo", MPI, 1, [], steps=STEPS)
    kernel, variant, sweep = ARITHMETIC
    seconds: dict[str, list[float]] = {name: [] for name in SECTIONS}

    def step() -> float:
        begin, before = time.perf_counter(), os.times()
        (record,) = lammps.runner.run([Launch(lammps.case, 0)])
        after = os.times()
        used_s = after.children_user + after.children_system
        used_s -= before.children_user + before.children_system
        share = min(1.0, used_s / (time.perf_counter() - begin))  # of a processor that it had
        if record["outcome"] != "ok":
            sys.exit(f"{lammps.name}: {record['outcome']}: {record['reason']}")
        for phase in record["phases"]:
            if phase["name"] in seconds:
                builds = STEPS / BUILDS if phase["name"] == "Neigh" else 1
                seconds[phase["name"]].append(share * phase["time_s"]["mean"] * builds / ATOMS)
        return share * float(record["times_s"][0])

    def core() -> float:
        record = once(kernel, n=384, variant=variant, iterations=40, repetitions=5)
        (found,) = (phase for phase in record["phases"] if phase["name"] == sweep)
        return float(found["flops"] / found["time_s"]["mean"])

    rates = in_turn({"LAMMPS": step, "core": core}, rounds)["core"]
    rows = [row(name, times, "s") for name, times in seconds.items()]
    return [
        "## Sections of one rank",
        "",
        f"{taken()} {lammps.name}; {rounds} launches of {STEPS} steps, in turn with {kernel}, "
        f"{variant}, n = 384, whose phase {sweep} says what a core computes in a second, as "
        "calibrate has it. Seconds are of an atom and a step; those of Neigh of an atom and one of "
        f"{BUILDS} builds of neighbour lists. They are of processor time: less than on the wall "
        "where others use the machine, too.",
        "",
        "| section | median | range |",
        "|---|---|---|",
        *[*rows, row("a core", rates, "flop/s")],
        "",
    ]


def row(name: str, figures: Sequence[float], unit: str) -> str:
    """A line: the median, and the range."""
    return f"| {name} | {median(figures):.3e} {unit} | {min(figures):.3e} to {max(figures):.3e} |"


def messages(numbers: Sequence[int]) -> list[str]:
    """Totals of a step, and how far the messages or bytes of any pair of ranks are off."""
    lines, furthest = [], 0.0
    for ranks in numbers:
        print(f"{ranks} ranks", flush=True)
        theirs = steps_of(partial(lammps, ranks), 1, STEPS)
        own = steps_of(partial(md_pppm, ranks), OWN_STEPS, OWN_STEPS)
        worst = max((off(theirs.get(pair), own.get(pair)) for pair in {*theirs, *own}), default=0.0)
        one, other = (sum(each.values(), Sent()) for each in (theirs, own))
        lines.append(
            f"| {ranks} | {len(theirs)} | {len(own)} | {one.messages / STEPS:.2f} "
            f"| {other.messages / OWN_STEPS:.2f} | {one.bytes / STEPS:,.0f} "
            f"| {other.bytes / OWN_STEPS:,.0f} | {worst:.1%} |"
        )
        furthest = max(furthest, worst)
    verdict = "met" if furthest <= MOST else "not met"
    return [
        "## Messages of a step",
        "",
        f"{taken()} Point-to-point messages of all ranks; the last column is the pair of ranks "
        "whose messages or bytes are furthest from LAMMPS'. One rank sends none. By what they are "
        "for (ghost atoms, new ones, points around bricks, remaps): halobench/tests/"
        "test_md_pppm.cpp, with counts kept from LAMMPS.",
        "",
        "| ranks | pairs, LAMMPS | md_pppm | messages, LAMMPS | md_pppm "
        "| bytes, LAMMPS | md_pppm | furthest pair |",
        "|---|---|---|---|---|---|---|---|",
        *lines,
        "",
        f"The furthest pair of all is {furthest:.1%} off; aim: at most {MOST:.0%}, {verdict}.",
        "",
    ]


Pairs = dict[tuple[int, int], Sent]


def off(was: Sent | None, now: Sent | None) -> float:
    """The larger relative difference of messages or bytes a step; infinite where one has none."""
    if was is None or now is None:
        return float("inf")
    pairs = ((was.messages, now.messages), (was.bytes, now.bytes))
    return max(abs(b / OWN_STEPS / (a / STEPS) - 1) for a, b in pairs)


def steps_of(run: Callable[[int], Pairs], first: int, steps: int) -> Pairs:
    """What so many steps send: a run of them after the first ones, less a run of the first ones."""
    few, all_of_them = run(first), run(first + steps)
    found = {}
    for pair, sent in all_of_them.items():
        before = few.get(pair, Sent())
        if sent.messages > before.messages:
            found[pair] = Sent(sent.messages - before.messages, sent.bytes - before.bytes)
    return found


def md_pppm(ranks: int, steps: int) -> Pairs:
    """One launch of so many steps."""
    program = build.build(library.find(MPI), say=print)
    words = ["--out", os.devnull, "md_pppm", f"steps={steps}", "repetitions=1"]
    return counted(ranks, [str(program), *words], Path.cwd())


def lammps(ranks: int, steps: int) -> Pairs:
    """One launch of the benchmark, with a copy of it for each rank."""
    one = subject("lammps_rhodo", MPI, 1, [], steps=steps)
    case = replace(one.case, layout=Layout(ppn=ranks), oversubscribed=True)
    with tempfile.TemporaryDirectory() as folder:
        program = one.runner.programs["lammps_rhodo"]
        launch = ExternalLaunch(program, one.toolchain, case, Path(folder))
        words = launch.words()[3:]  # without what notes where a rank is
        return counted(ranks, words, launch.run)


def counted(ranks: int, words: Sequence[str], run: Path) -> Pairs:
    """What a program sends from each rank to each, as `haloscope profile` counts it."""
    toolchain = library.find(MPI)
    launcher = [str(toolchain.mpirun), "-n", str(ranks), "-launcher", "fork"]
    with tempfile.TemporaryDirectory() as folder:
        variables = counter.environment(counter.built(toolchain), Path(folder))
        command = [*launcher, *words]
        done = subprocess.run(command, cwd=run, env=variables, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout.decode()[-2000:]}")
        return traffic.read(Path(folder)).matrix()


def main() -> None:
    """Measure what is asked for, write docs/bench/md_pppm.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parts: dict[str, Callable[[], list[str]]] = {
        "sections": lambda: sections(given.rounds),
        "messages": lambda: messages(given.ranks),
    }
    parser.add_argument("parts", nargs="*", help=" or ".join(parts))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    asked = given.parts or [*parts]
    if unknown := {*asked} - {*parts}:
        parser.error(f"no {', '.join(sorted(unknown))}; there are {' and '.join(parts)}")
    found = kept("md_pppm")
    for name in asked:
        lines = parts[name]()
        found[lines[0]] = lines
        page = [*chain(*found.values())]
        title = "md_pppm beside LAMMPS"
        write_page("md_pppm", title, page, "Sections say when they are from.")


if __name__ == "__main__":
    main()
