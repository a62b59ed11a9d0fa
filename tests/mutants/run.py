# SPDX-License-Identifier: BSD-3-Clause
"""Break the code on purpose, one small thing at a time, and see that the test named for it fails.

python tests/mutants/run.py [TOPIC or ID ...]; without any, all of them. Each table of
tests/mutants/TOPIC.toml is one breakage that sample.py's tool can't make: in `file`, the text
`old`, which occurs there once, becomes `new`; `test` is what must then fail, a node id of pytest
or the name of a test of ctest; `why` is the fault that would remain unseen. Only copies of the
checkout, in build/mutants, are changed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock
from mutant import CAUGHT, FAILS, STALE, SURVIVED, UNFIT, Verdict, chosen, read
from suites import ROOT, SCRATCH, all_judged


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
    parser.add_argument("--list", action="store_true", help="list them, run nothing")
    parser.add_argument("--check-stale", action="store_true", help="only check that all apply")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="side by side")
    asked = parser.parse_args()
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
    if asked.check_stale:
        print(f"{len(mutants) - len(verdicts)} of {len(mutants)} mutants can be applied")
        return 1 if verdicts else 0
    stale = {verdict.mutant for verdict in verdicts}
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with FileLock(SCRATCH / ".lock"):  # one after the other: they share the copies
        for verdict in all_judged([one for one in mutants if one not in stale], asked.jobs):
            verdicts.append(verdict)
            print(verdict, flush=True)
    print(summary(verdicts))
    return 0 if all(verdict.word == CAUGHT for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
