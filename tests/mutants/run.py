"""Break the code on purpose, one small thing at a time, and see that the test named for it fails.

python tests/mutants/run.py [TOPIC or ID ...]; without any, all of them. Each table of
tests/mutants/TOPIC.toml is one breakage: in `file`, the text `old`, which stands there once,
becomes `new`; `test` is what must then fail, a node id of pytest or the name of a test of ctest;
`why` says what would go wrong unseen. The checkout stays as it is: copies of it, in build/mutants,
are changed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from filelock import FileLock
from mutant import CAUGHT, FAILS, STALE, SURVIVED, UNFIT, Verdict, chosen, read
from suites import ROOT, SCRATCH, all_judged

PAGE = ROOT / "docs" / "mutants.md"


def page(verdicts: Iterable[Verdict]) -> str:
    """docs/mutants.md: how many of each topic are caught, and all of them."""
    topics: dict[str, list[Verdict]] = {}
    for verdict in sorted(verdicts, key=lambda one: one.mutant.topic):
        topics.setdefault(verdict.mutant.topic, []).append(verdict)
    caught = {name: sum(one.word == CAUGHT for one in those) for name, those in topics.items()}
    counts = [(_heading(name), len(those), caught[name]) for name, those in topics.items()]
    total = sum(map(len, topics.values()))
    lines = [
        "# Mutants",
        "",
        "Small deliberate breakages of the code, kept in `tests/mutants/`, each with the test that",
        "must fail with it. This page is written by `python tests/mutants/run.py --write`, which",
        "applies each to a copy of the checkout and runs its test; it is no part of `./check`.",
        "`run.py TOPIC` or `run.py ID` runs some; `--check-stale` sees in a second whether all can",
        "still be applied.",
        "",
        "| topic | mutants | caught |",
        "|---|---:|---:|",
        *(f"| {name} | {number} | {good} |" for name, number, good in counts),
        f"| **all** | **{total}** | **{sum(caught.values())}** |",
    ]
    for name, those in topics.items():
        lines += ["", f"## {_heading(name)}", "", "| mutant | what it breaks | its test |"]
        lines.append("|---|---|---|")
        for one in those:
            kept = "" if one.word == CAUGHT else f" **{one.word}**"
            test = one.mutant.test.removeprefix("tests/")
            lines.append(f"| `{one.mutant.id}`{kept} | {one.mutant.why} | `{test}` |")
    return "\n".join(lines) + "\n"


def _heading(topic: str) -> str:
    return topic.replace("-", " ").capitalize()


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many of each kind there were."""
    words = (CAUGHT, SURVIVED, STALE, UNFIT, FAILS)
    counts = {word: sum(one.word == word for one in verdicts) for word in words}
    there = [f"{number} {word}" for word, number in counts.items() if number]
    return f"{len(verdicts)} mutants: {', '.join(there)}"


def main() -> int:
    """Run the mutants; 0 if all of them were caught."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="TOPIC or ID", help="all, where none is given")
    parser.add_argument("--list", action="store_true", help="show them, run nothing")
    parser.add_argument("--check-stale", action="store_true", help="see whether all can be applied")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md; of all alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="side by side")
    asked = parser.parse_args()
    if asked.write and asked.names:
        parser.error("--write is for a run of all of them")
    try:
        mutants = chosen(read(Path(__file__).parent), asked.names)
    except ValueError as error:
        parser.error(str(error))
    if asked.list:
        print("\n".join(f"{one.topic}: {one.id}: {one.why}" for one in mutants))
        return 0
    verdicts = [Verdict(one, STALE, why) for one in mutants if (why := one.stale(ROOT))]
    for verdict in verdicts:
        print(verdict)
    if not asked.check_stale:
        there = {verdict.mutant for verdict in verdicts}
        SCRATCH.mkdir(parents=True, exist_ok=True)
        with FileLock(SCRATCH / ".lock"):  # one after the other: they share the copies
            for verdict in all_judged([one for one in mutants if one not in there], asked.jobs):
                verdicts.append(verdict)
                print(verdict, flush=True)
        if asked.write:
            PAGE.write_text(page(verdicts), encoding="utf-8")
    if asked.check_stale:
        print(f"{len(mutants) - len(verdicts)} of {len(mutants)} mutants can be applied")
    else:
        print(summary(verdicts))
    return 0 if all(verdict.word == CAUGHT for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
