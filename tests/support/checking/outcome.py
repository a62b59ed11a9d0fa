# SPDX-License-Identifier: BSD-3-Clause
"""What the logs of steps say of tests that did not run, and the last lines of a check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from checking.step import FAILED, SKIPPED, WELL, Ended


def skips(text: str) -> dict[str, int]:
    """How many tests a run of pytest skipped, by their reason."""
    found: Counter[str] = Counter()
    for number, reason in re.findall(r"^SKIPPED \[(\d+)\] [^ ]+: (.*)", text, re.M):
        found[reason] += int(number)
    return dict(found)


def second_tries(text: str) -> tuple[str, ...]:
    """Tests that passed only when they were run again, by the log of pytest or ctest."""
    python = re.findall(r"^RERUN (\S+)", text, re.M)
    cxx = re.findall(r"Test +#\d+: (\S+) \.*\*\*\*", text)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)|^\t *\d+ - (\S+) \(", text, re.M)
    ended = {name for pair in failed for name in pair}
    return tuple(dict.fromkeys(name for name in [*python, *cxx] if name not in ended))


def left_out(text: str) -> str:
    """Tests that a run of pytest --cheap or of changed_ctests.py left out; "" for none."""
    found = re.findall(r"^LEFT OUT \[(\d+)\] (.*)", text, re.M)
    words = (f"{int(number):,} tests that {reason}" for number, reason in found)
    return f"left out: {', '.join(words)}" if found else ""


def conclusion(
    outcomes: Sequence[Ended], every: Collection[str], seconds: float, *, stopped: bool = False
) -> list[str]:
    """Steps that failed or needed a second try, skipped steps with reasons, and other steps.

    every: the names of all steps. stopped: whether some requested steps did not begin.
    """
    failed = [f"FAILED: {one.step.name}: {one.why}" for one in outcomes if one.outcome == FAILED]
    reasons: Counter[str] = Counter()
    for one in outcomes:
        for reason, number in one.skipped.items():
            reasons[reason] += number
    skipped = [
        f"skipped: {f'{number} tests: ' if number else ''}{reason}"
        for reason, number in reasons.items()
    ]
    again = [
        f"passed at a second try: {name} (of {one.step.name}); its log has the failure"
        for one in outcomes
        for name in one.second_tries
    ]
    run = {one.step.name for one in outcomes}
    left = "; ".join(name for name in every if name not in run)
    others = [f"not asked for: {left}"] if left and not stopped else []
    counts = Counter(one.outcome for one in outcomes)
    processor = sum(one.processor for one in outcomes)
    return [
        *failed,
        *again,
        *skipped,
        *others,
        f"{seconds / 60:.1f} min, {processor / 60:.1f} min of processors",
        f"{counts[WELL]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped",
    ]
