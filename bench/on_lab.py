# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the bench scripts that measure on a cluster in a box: a lab, and studies on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turns import ROOT

SITE = Path("/run/haloscope-lab/sites/lab.toml")
SLURM = {"SLURM_CONF": "/run/haloscope-lab/slurm.conf"}
LIMIT_S = 3600.0
"""LIMIT_S is how long the jobs of one study may take: none does, unless something never ends."""


def output_of(*words: str, folder: Path | None = None) -> str:
    """What a command printed; the end of this script where it fails."""
    env = {**os.environ, **SLURM}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env, cwd=folder)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}{done.stdout}")
    return done.stdout


@contextmanager
def lab(*options: str) -> Iterator[None]:
    """A lab with these options of `haloscope lab up`, as long as it is needed."""
    haloscope = str(ROOT / "haloscope")
    output_of(haloscope, "lab", "up", *options)
    try:
        yield
    finally:
        output_of(haloscope, "lab", "down")


def launched_by(launcher: str, folder: Path) -> None:
    """Let the site `lab`, as it is called from a folder, start ranks so."""
    own = SITE.read_text().replace('launcher = "srun"', f'launcher = "{launcher}"')
    (folder / "sites").mkdir(exist_ok=True)
    (folder / "sites" / "lab.toml").write_text(own)


def measured(study: Path, out: Path, launches: int) -> None:
    """So many launches of a study on the lab, those that are there among them.

    Those that did not end well are tried again, twice at most.
    """
    haloscope = str(ROOT / "haloscope")
    usual = ["--minutes", "60", "--detach"]
    more = ["--launches", str(launches)]
    what = (
        ["--resume", str(out)] if out.exists() else [str(study), "--on", "lab", "--out", str(out)]
    )
    output_of(haloscope, "run", *what, *more, *usual, folder=study.parent)
    _wait(out)
    for _ in range(2):
        if all(one["outcome"] == "ok" for one in latest(out)):
            return
        output_of(haloscope, "run", "--resume", str(out), *usual, folder=study.parent)
        _wait(out)


def _wait(out: Path) -> None:
    """Wait until no job is left."""
    deadline = time.monotonic() + LIMIT_S
    while output_of("squeue", "--me", "--noheader"):
        if time.monotonic() > deadline:
            sys.exit(f"jobs of {out} take more than {LIMIT_S:g} s:\n{output_of('squeue', '--me')}")
        time.sleep(0.5)


def latest(out: Path) -> Sequence[dict[str, Any]]:
    """The last record of each launch; what did not end well before is printed."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for line in (out / "records.jsonl").read_text().splitlines():
        one = json.loads(line)
        found[one["case"], one["launch"]] = one
        if one["outcome"] != "ok":
            print(one["kernel"], one["params"], one["reason"], one.get("stderr"), flush=True)
    return [*found.values()]


def records(out: Path) -> Sequence[dict[str, Any]]:
    """The last record of each launch; the end of this script where one is not good."""
    found = latest(out)
    if bad := [one for one in found if one["outcome"] != "ok"]:
        sys.exit(f"{len(bad)} of {len(found)} launches are not good: {bad[0]['reason']}")
    return found
