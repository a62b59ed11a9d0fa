# SPDX-License-Identifier: BSD-3-Clause
"""Which steps and tests a change needs: --since COMMIT and --fast."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from checking.step import Step

PYTHON_TESTS = "tests: Python"
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements.uv.txt")
EVERYTHING = ("check", "tests/support/checking", "haloscope", ".ci", "pyproject.toml", *LOCKS)
"""EVERYTHING is what all steps rest on."""


@dataclass(frozen=True)
class Change:
    """Files that differ from a commit, and the files of tests that they reach."""

    files: Collection[str]
    tests: Sequence[str]


def change(python: Path, root: Path, *words: str) -> Change:
    """Run tests/support/reach.py; raise SystemExit if the commit is unknown."""
    command = [str(python), "tests/support/reach.py", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{words[-1]}: {done.stderr.strip().splitlines()[-1]}")
    return Change(*json.loads(done.stdout))


def since(steps: Sequence[Step], changed: Change) -> list[Step]:
    """Those that a change can reach, and of Python tests those files."""
    if Step("", list, reached_from=EVERYTHING).is_reached(changed.files):
        return list(steps)
    found = []
    for step in steps:
        if not step.is_reached(changed.files):
            continue
        if step.name == PYTHON_TESTS:
            own = [one for one in changed.tests if one not in step.tests]
            if not own:
                continue
            step = _with_words(step, *own)
        found.append(step)
    return found


def fast(steps: Sequence[Step], changed: Change) -> list[Step]:
    """Those that take a minute together: of Python tests the cheap, and those of the change."""
    found = []
    for step in steps:
        if step.when_reached and not step.is_reached(changed.files):
            continue
        if step.name == PYTHON_TESTS:
            step = _with_words(step, "--cheap", *(f"--reached={one}" for one in changed.tests))
        found.append(step)
    return found


def _with_words(step: Step, *more: str) -> Step:
    """A step of pytest with more arguments."""
    commands = [[*command, *more] for command in step.commands()]
    return replace(step, commands=lambda: commands, tests=(*step.tests, *more))
