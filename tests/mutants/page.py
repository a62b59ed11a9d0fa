# SPDX-License-Identifier: BSD-3-Clause
"""docs/mutants.md: what became of each mutant, and at which commit that was seen."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from mutant import CAUGHT, Mutant, Verdict

COPIED = ("halobench", "src", "tests")
"""What a verdict rests on."""
ROW = re.compile(r"\| `(?P<id>[^`]+)`(?: \*\*(?P<word>[^*]+)\*\*)? \|.*\| (?P<commit>\w+)[^|]* \|")
INTRODUCTION = """\
# Mutants

Small deliberate breakages of the code, kept in `tests/mutants/`, each with the test that
must fail with it. This page is written by `python tests/mutants/run.py --write`, which
applies each to a copy of the checkout and runs its test; it is no part of `./check`.
`run.py TOPIC` or `run.py ID` runs some, `--due` those that are not here as they are now;
`--check-stale` sees in a second whether all can still be applied. A verdict is of the commit
beside it; where the mutant, the file that it breaks or its test's file had changed since then
when this page was written, that is said.
"""


@dataclass(frozen=True)
class Seen:
    """A verdict's word, and the commit that was checked out then."""

    word: str
    commit: str


class Page:
    """The page as it is, and as it becomes with more verdicts."""

    def __init__(self, root: Path, path: Path, mutants: Sequence[Mutant]) -> None:
        """`mutants`: all that there are; rows of others are left out."""
        self._root, self._path, self._mutants = root, path, mutants
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        rows = [row for line in lines if (row := ROW.fullmatch(line))]
        self._seen = {row["id"]: Seen(row["word"] or CAUGHT, row["commit"]) for row in rows}
        self._git_told = cache(self._git)

    def require_committed(self) -> None:
        """ValueError where what is copied is not what is committed: no commit would say it."""
        if changed := self._git("status", "--porcelain", "--", *COPIED):
            raise ValueError(f"commit first, as the page names commits:\n{changed}")

    def due(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        """Those that the page lacks; then those that it shows as they were: see is_as_seen()."""
        missing = [one for one in mutants if one.id not in self._seen]
        return missing + [
            one for one in mutants if one.id in self._seen and not self.is_as_seen(one)
        ]

    def is_as_seen(self, mutant: Mutant) -> bool:
        """Whether it, the file that it breaks and that of its test are those of its commit."""
        commit = self._seen[mutant.id].commit
        files = [mutant.file, mutant.test_file]
        changed = self._git_told("diff", "--name-only", commit, "--", *COPIED)
        if changed is None or any(file in changed.splitlines() for file in files):
            return False
        text = self._git_told("show", f"{commit}:tests/mutants/{mutant.topic}.toml")
        return asdict(mutant) in [
            {"topic": mutant.topic, **table}
            for table in tomllib.loads(text or "").get("mutant", [])
        ]

    def add(self, verdict: Verdict) -> None:
        """Writes the page with a verdict that was found now."""
        commit = self._git_told("rev-parse", "--short=9", "HEAD") or "unknown"
        self._seen[verdict.mutant.id] = Seen(verdict.word, commit.strip())
        self._path.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """How many of each topic are caught, and all that were run."""
        topics: dict[str, list[Mutant]] = {}
        for mutant in sorted(self._mutants, key=lambda one: one.topic):
            topics.setdefault(mutant.topic, []).append(mutant)
        counts = [self._counts(those) for those in topics.values()]
        totals = [sum(column) for column in zip(*counts, strict=True)]
        lines = [
            INTRODUCTION,
            "| topic | mutants | run | caught | changed since |",
            "|---|---:|---:|---:|---:|",
            *(_row(_heading(name), column) for name, column in zip(topics, counts, strict=True)),
            _row("**all**", [f"**{total}**" for total in totals]),
        ]
        for name, those in topics.items():
            lines += ["", f"## {_heading(name)}", ""]
            lines += ["| mutant | what it breaks | its test | seen at |", "|---|---|---|---|"]
            lines += [self._line(one) for one in those if one.id in self._seen]
        return "\n".join(lines) + "\n"

    def _counts(self, mutants: Sequence[Mutant]) -> list[int]:
        run = [one for one in mutants if one.id in self._seen]
        caught = sum(self._seen[one.id].word == CAUGHT for one in run)
        changed = sum(not self.is_as_seen(one) for one in run)
        return [len(mutants), len(run), caught, changed]

    def _line(self, mutant: Mutant) -> str:
        seen = self._seen[mutant.id]
        kept = "" if seen.word == CAUGHT else f" **{seen.word}**"
        since = "" if self.is_as_seen(mutant) else ", changed since"
        test = mutant.test.removeprefix("tests/")
        return f"| `{mutant.id}`{kept} | {mutant.why} | `{test}` | {seen.commit}{since} |"

    def _git(self, *words: str) -> str | None:
        """What git prints; None where it fails, as for a commit that is not there."""
        command = ["git", "-C", str(self._root), *words]
        told = subprocess.run(command, capture_output=True, text=True)
        return told.stdout if told.returncode == 0 else None


def _row(name: str, cells: Sequence[int | str]) -> str:
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _heading(topic: str) -> str:
    return topic.replace("-", " ").capitalize()
