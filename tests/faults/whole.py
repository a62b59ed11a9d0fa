# SPDX-License-Identifier: BSD-3-Clause
"""The whole fault campaign: runs what is lacking of each part, and writes docs/faults.md.

python tests/faults/whole.py [--write] [PART ...]

Every part runs in slices, whose figures are kept in build/faults/figures.jsonl: a campaign that was
stopped goes on where it was. --anew begins it again, as after a change of what it tests.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from figures import Slice, keep, kept

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
FIGURES = ROOT / "build" / "faults" / "figures.jsonl"
PAGE = ROOT / "docs" / "faults.md"
FUZZER = ROOT / "build" / "faults" / "fuzz_matrix_file"
SLICE = 50
"""SLICE is how many kills are made between two looks at what is kept."""
FUZZED_S = 3600
"""FUZZED_S is how long the C++ reader is fuzzed, in seconds."""


def script(name: str, *words: str | int) -> None:
    """One of this folder's, whose figures are kept."""
    command = [sys.executable, str(HERE / name), *map(str, words), "--keep", str(FIGURES)]
    support = f"{ROOT / 'tests' / 'support'}"
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": support}, check=False)


def kills(done: int, seed: int) -> None:
    script("kill.py", "--tries", min(SLICE, GOALS["kills"] - done), "--seed", seed)


def disks(done: int, seed: int) -> None:
    script("full_disks.py")


def fuzz(done: int, seed: int) -> None:
    script("fuzz.py", "--tries", 400, "--seed", seed)


def tests(part: str, where: str) -> Callable[[int, int], None]:
    """A part that is a folder or a file of tests."""

    def run(done: int, seed: int) -> None:
        begin = time.monotonic()
        command = [sys.executable, "-m", "pytest", "--override-ini", "addopts=", where]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        output = ended.stdout
        counted = {
            word: int(number) for number, word in re.findall(r"(\d+) (passed|failed)", output)
        }
        if not counted:
            sys.exit(f"{where} could not be run:\n{output}{ended.stderr}")
        wrong = tuple(re.findall(r"^FAILED (.*)$", output, re.MULTILINE))
        keep(FIGURES, Slice(part, seed, sum(counted.values()), wrong, time.monotonic() - begin, {}))

    return run


def matrices(done: int, seed: int) -> None:
    """The fuzz target of the C++ reader, under sanitizers; it takes clang++."""
    if (compiler := shutil.which("clang++")) is None:
        print("no clang++ in PATH, so the C++ reader is not fuzzed: apt install clang")
        return
    FUZZER.parent.mkdir(parents=True, exist_ok=True)
    sources = ["halobench/tests/fuzz_matrix_file.cpp", "halobench/kernels/spmv/matrix_file.cpp"]
    flags = ["-std=c++20", "-O1", "-g", "-fno-sanitize-recover=all", "-Ihalobench"]
    flags += ["-fsanitize=fuzzer,address,undefined", *sources, "-o", str(FUZZER)]
    subprocess.run([compiler, *flags], cwd=ROOT, check=True)
    begin = time.monotonic()
    corpus = FUZZER.parent / "matrices"
    corpus.mkdir(exist_ok=True)
    words = [f"-max_total_time={FUZZED_S}", "-max_len=8192", "-print_final_stats=1"]
    command = [
        str(FUZZER),
        *words,
        f"-artifact_prefix={FUZZER.parent}/crash-",
        f"-seed={seed}",
        str(corpus),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    count = re.search(r"number_of_executed_units: (\d+)", ended.stderr)
    tries, wrong = (
        int(count[1]) if count else 0,
        () if ended.returncode == 0 else (ended.stderr[-2000:],),
    )
    keep(FIGURES, Slice("matrices", seed, tries, wrong, time.monotonic() - begin, {}))


@dataclass(frozen=True)
class Part:
    """A part of the campaign. goal: how many tries it is to have; 1 for one run, however many."""

    what: str
    command: str
    goal: int
    run: Callable[[int, int], None]


PARTS = {
    "kills": Part("kills and signals, each followed by `--resume`", "kill.py", 1000, kills),
    "disks": Part("full and failing disks", "full_disks.py", 1, disks),
    "fuzz": Part(
        "fuzzed studies, clusters, papers, records, matrices, and command lines",
        "fuzz.py --tries 400",
        2000,
        fuzz,
    ),
    "hostile": Part("hostile files", "pytest tests/hostile", 1, tests("hostile", "tests/hostile")),
    "environments": Part(
        "odd environments and limits",
        "pytest tests/faults/test_environments.py",
        1,
        tests("environments", "tests/faults/test_environments.py"),
    ),
    "matrices": Part(
        "binary matrices, read by the C++ reader with libFuzzer and sanitizers",
        "halobench/tests/fuzz_matrix_file.cpp",
        1,
        matrices,
    ),
}
GOALS = {name: part.goal for name, part in PARTS.items()}


def page(slices: Sequence[Slice]) -> str:
    """docs/faults.md: what is done, what must hold, and what came of it."""
    rows = []
    for name, part in PARTS.items():
        mine = [one for one in slices if one.part == name]
        if not mine:
            continue
        tries, wrong = sum(one.tries for one in mine), sum(len(one.wrong) for one in mine)
        hours = sum(one.took_s for one in mine) / 3600
        numbers = f"{tries:,} | {tries - wrong:,} | {wrong} | {hours:.1f}"
        rows.append(f"| {part.what} | `{part.command}` | {numbers} |")
    failed = [f"- {one.part}: {what.splitlines()[0]}" for one in slices for what in one.wrong]
    return (
        (HERE / "page.md")
        .read_text(encoding="utf-8")
        .format(
            machine=machine(),
            rows="\n".join(rows),
            moments="\n".join(moments(slices)),
            failed="\n".join(["Failed:", "", *failed, ""]) if failed else "",
        )
    )


def moments(slices: Sequence[Slice]) -> list[str]:
    """How many of each signal were sent at each moment, as rows of a table."""
    counts: dict[tuple[str, str], int] = {}
    for one in (one for one in slices if one.part == "kills"):
        for name, number in one.figures.items():
            signal, _, moment = name.partition(", ")
            if moment:
                counts[signal, moment] = counts.get((signal, moment), 0) + number
    columns = sorted({moment for _, moment in counts})
    lines = [f"| signal | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for signal in sorted({signal for signal, _ in counts}):
        numbers = (str(counts.get((signal, moment), 0)) for moment in columns)
        lines.append(f"| {signal} | {' | '.join(numbers)} |")
    return lines


def machine() -> str:
    """This machine in words, without its name."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count()
    memory = psutil.virtual_memory().total / 2**30
    kernel = platform.release().split("-")[0]
    python = platform.python_version()
    return f"{cores} cores, {memory:.0f} GiB of memory, Linux {kernel}, and Python {python}"


def main() -> int:
    """Run what is lacking; 0 if nothing that is kept failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--write", action="store_true", help="write docs/faults.md")
    parser.add_argument("--anew", action="store_true", help="forget what is kept")
    parser.add_argument("--no-more", action="store_true", help="run nothing: count what is kept")
    asked = parser.parse_args()
    if unknown := {*asked.parts} - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    if asked.anew:
        FIGURES.unlink(missing_ok=True)
    for name in asked.parts or PARTS:
        before = -1
        while not asked.no_more:
            mine = [one for one in kept(FIGURES) if one.part == name]
            done = sum(one.tries for one in mine)
            if done >= PARTS[name].goal or done == before:  # the latter: it cannot run here
                break
            before = done
            PARTS[name].run(done, max((one.seed for one in mine), default=0) + 1)
    slices = kept(FIGURES)
    if asked.write:
        PAGE.write_text(page(slices), encoding="utf-8")
    failed = sum(len(one.wrong) for one in slices)
    print(f"{sum(one.tries for one in slices):,} tries, {failed} failed: {FIGURES}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
