# SPDX-License-Identifier: BSD-3-Clause
"""Wall time of a whole `pingpong-libraries` study: 3 libraries, 25 sizes, 10 launches.

usage: .venv/bin/python bench/pingpong_libraries.py [--rounds 3]

The libraries are installed and halobench is built for each before the first round: a study of one
launch sees to that, and its own time is told apart. A round is `haloscope run pingpong-libraries`
from its start to its report.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from turns import HEADER, ROOT, Target, write_page

LIMIT_S = 360.0


def study(folder: Path, *options: str) -> float:
    """Seconds of whole study."""
    command = [str(ROOT / "haloscope"), "run", "pingpong-libraries", "--out", str(folder), *options]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}{done.stdout}")
    return time.perf_counter() - begin


def contents(folder: Path) -> tuple[int, int, int, float]:
    """Libraries, sizes, good launches of each, and seconds within launches."""
    records = [json.loads(line) for line in (folder / "records.jsonl").open()]
    good = [one for one in records if one["outcome"] == "ok"]
    libraries = {one["toolchain"]["name"] for one in good}
    sizes = {len(one["points"]) for one in good}
    if len(sizes) != 1 or len(good) % len(libraries):
        sys.exit(f"not whole study: {len(good)} good launches of {sorted(libraries)}")
    wall = sum(one["wall_s"] for one in good)
    return len(libraries), sizes.pop(), len(good) // len(libraries), wall


def main() -> None:
    """Run the study so many times, write docs/bench/pingpong_libraries.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        first = study(Path(scratch) / "first", "--launches", "1")
        figures, inside = [], []
        for number in range(rounds):
            folder = Path(scratch) / str(number)
            figures.append(study(folder))
            libraries, sizes, launches, wall = contents(folder)
            inside.append(wall)
            print(f"round {number + 1}/{rounds}: {figures[-1]:.1f} s", flush=True)
    write_page(
        "pingpong_libraries",
        "Wall time of the study pingpong-libraries",
        [
            f"The study measures {libraries} libraries at {sizes} message sizes with {launches} "
            "launches each, on "
            f"{os.cpu_count()} processors. The time is measured from the start of the command "
            "until the report is written.",
            "",
            *HEADER,
            Target("whole study", figures, LIMIT_S, at_most=True, unit="s").row(),
            "",
            f"The launches account for {min(inside):.3g} to {max(inside):.3g} s of the wall time. "
            "A "
            "preceding study "
            f"with one launch per library, including builds, took {first:.3g} s.",
        ],
        "This page compares the time with a target, not with another program.",
    )


if __name__ == "__main__":
    main()
