# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory that a large result folder takes, to be resumed and to be reported.

usage: .venv/bin/python bench/reading.py [--records 28000]

A small study is measured once; its records are then copied under other launch numbers, so that each
case has thousands of launches, of which each has times of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from turns import HEADER, ROOT, Target, taken, write_page

from haloscope.quantities import listed
from haloscope.records.folder import ResultFolder


def made(folder: Path, records: int) -> int:
    """Measure once, and copy; how many records there are then."""
    study = ROOT / "tests" / "data" / "tiny.toml"
    words = ["run", str(study), "--launches", "1", "--out", str(folder), "--no-report"]
    subprocess.run([ROOT / "haloscope", *words, "--oversubscribe"], check=True, capture_output=True)
    found = ResultFolder(folder)
    raws = [json.loads(line) for line in found.records.read_text().splitlines()]
    launches = records // len(raws)
    plan = found.load()
    cases = tuple(replace(case, launches=launches) for case in plan.cases)
    found.save(replace(plan, cases=cases))
    with found.records.open("w", encoding="utf-8") as file:
        for launch in range(launches):
            for raw in raws:
                longer = 1 + chance.random() / 10
                varied = other_times({key: raw[key] for key in VARY}, longer)
                another = {**raw, **varied, "launch": launch}
                another["machine"] = {**raw["machine"], "busy_processors": chance.random()}
                file.write(json.dumps(another, separators=(",", ":")) + "\n")
    return launches * len(raws)


VARY = ("times_s", "points", "phases", "parts", "timer", "wall_s", "memory")
"""VARY are the keys of a record that say something else of every launch."""
chance = random.Random(1)


def other_times(value: Any, longer: float) -> Any:
    """The same with every float so many times as large, as another launch has them: all alike, so
    that a mean stays between its least and its largest.
    """
    if isinstance(value, dict):
        return {key: other_times(inner, longer) for key, inner in value.items()}
    if isinstance(value, list):
        return [other_times(inner, longer) for inner in value]
    return value * longer if isinstance(value, float) else value


@dataclass(frozen=True)
class Used:
    """What a command took: its own processor time, wall time, memory at the peak."""

    processor_s: float
    wall_s: float
    memory_mb: float


def used(*words: str) -> Used:
    """What a command takes that must succeed."""
    begin = time.perf_counter()
    command = [sys.executable, "-P", "-m", "haloscope", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    wall_s = time.perf_counter() - begin
    return Used(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss * 1024 / 1e6)


def main() -> None:
    """Measure, and write docs/bench/reading.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=28_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "many"
        records = made(folder, asked.records)
        length = (folder / "records.jsonl").stat().st_size / 1e6
        resumed = [used("run", "--resume", str(folder), "--dry-run") for _ in range(asked.rounds)]
        reported = [used("report", str(folder)) for _ in range(asked.rounds)]
    targets = [
        Target(
            "finding the remaining launches, wall", [one.wall_s for one in resumed], 3, True, "s"
        ),
        Target("report, wall", [one.wall_s for one in reported], 6, True, "s"),
        Target("memory of the report", [one.memory_mb for one in reported], 250, True, "MB"),
    ]
    used_s = " and ".join(
        f"{listed([f'{one.processor_s:.2f}' for one in those])} s ({what})"
        for what, those in (("finding the remaining launches", resumed), ("report", reported))
    )
    note = (
        f"The folder contains {records:,} records ({length:.0f} MB in total). `run --resume DIR "
        "--dry-run` finds the remaining launches. It uses only "
        f"{max(one.memory_mb for one in resumed):.0f} MB of memory, because it keeps only the "
        f"necessary keys of each record. The processor times of the rounds were {used_s}."
    )
    head = [taken(), "", *HEADER]
    body = [*head, *(target.row() for target in targets), "", note]
    print("\n".join(body))
    how = "Each value is the median over all rounds. Wall times are longer on a busy machine."
    write_page("reading", "Time to read a large result folder", body, how)


if __name__ == "__main__":
    main()
