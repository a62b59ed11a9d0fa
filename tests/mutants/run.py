# SPDX-License-Identifier: BSD-3-Clause
"""Break the code on purpose, one small thing at a time, and see that the test named for it fails.

python tests/mutants/run.py [TOPIC or ID ...]; without any, all of them; with --due, those of them
that docs/mutants.md does not show as they are now. With --write that page is written anew after
each, with the commit that it was seen at. Each table of
tests/mutants/TOPIC.toml is one breakage: in `file`, the text `old`, which stands there once,
becomes `new`; `test` is what must then fail, a node id of pytest or the name of a test of ctest;
`why` says what would go wrong unseen. The checkout stays as it is: copies of it, in build/mutants,
are changed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock
from mutant import CAUGHT, FAILS, STALE, SURVIVED, UNFIT, Verdict, chosen, read
from page import Page
from suites import ROOT, SCRATCH, all_judged

PAGE = ROOT / "docs" / "mutants.md"


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
    parser.add_argument("--due", action="store_true", help="those not on the page as they are now")
    parser.add_argument("--list", action="store_true", help="show them, run nothing")
    parser.add_argument("--check-stale", action="store_true", help="see whether all can be applied")
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md, after each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="side by side")
    asked = parser.parse_args()
    try:
        there = read(Path(__file__).parent)
        mutants = chosen(there, asked.names)
        page = Page(ROOT, PAGE, there)
        if asked.write:
            page.require_committed()
    except ValueError as error:
        parser.error(str(error))
    if asked.due:
        mutants = page.due(mutants)
    if asked.list:
        print("\n".join(f"{one.topic}: {one.id}: {one.why}" for one in mutants))
        return 0
    verdicts = [Verdict(one, STALE, why) for one in mutants if (why := one.stale(ROOT))]
    for verdict in verdicts:
        print(verdict)
        if asked.write and not asked.check_stale:
            page.add(verdict)
    if asked.check_stale:
        print(f"{len(mutants) - len(verdicts)} of {len(mutants)} mutants can be applied")
        return 1 if verdicts else 0
    stale = {verdict.mutant for verdict in verdicts}
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with FileLock(SCRATCH / ".lock"):  # one after the other: they share the copies
        for verdict in all_judged([one for one in mutants if one not in stale], asked.jobs):
            verdicts.append(verdict)
            print(verdict, flush=True)
            if asked.write:
                page.add(verdict)
    print(summary(verdicts))
    return 0 if all(verdict.word == CAUGHT for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
