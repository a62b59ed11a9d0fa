# SPDX-License-Identifier: BSD-3-Clause
"""Which collective operations are slower than others that can do their work: PGMPI's guidelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.guidelines import Followed, Guideline, followed, over
from haloscope.quantities import count, listed, number, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import at_most, between, enough_launches, place, spans

ORDER = 126
ANSWERS = ("guidelines",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of all cases with the operations of a guideline: those that are broken, and where."""
    found = followed(cases, context.seed)
    if not found:
        return
    settings = list(dict.fromkeys(one.case for one in found))
    by: dict[Guideline, list[Followed]] = {}
    for one in found:
        by.setdefault(one.guideline, []).append(one)
    broken = [told for own in by.values() if (told := _told(own, settings, cases))]
    where = place(settings[0])
    if len(settings) > 1:
        where = f", {count(len(settings), 'setting')}{where}"
    told = f"{'; '.join(broken)}. " if broken else ""
    if all(one.too_few for one in found):
        rest = f"nothing is shown of {count(len(by), 'guideline')}"
    else:
        rest = f"{len(by) - len(broken)} of {count(len(by), 'guideline')} not shown to be broken"
    yield Finding(
        f"Guidelines (PGMPI){where}: {told}{rest}{_too_few(found)}{_whose(settings)}.",
        "warning" if broken else "",
    )


def _whose(settings: Sequence[MeasuredCase]) -> str:
    """That a simulation has algorithms of its own."""
    if not all(case.simulated for case in settings):
        return ""
    return (
        ". Algorithms are the simulator's, or those that the cluster file names: nothing is said "
        "of the library's own"
    )


def _told(
    own: Sequence[Followed], settings: Sequence[MeasuredCase], cases: Sequence[MeasuredCase]
) -> str:
    """Where a guideline is broken, by how much, and by what test; "" for nowhere."""
    broken = [one for one in own if one.broken]
    if not broken:
        return ""
    contrasts = [contrast for one in broken for contrast in one.broken.values()]
    worst = max((one.adjusted for one in contrasts if one.adjusted is not None), default=None)
    others = listed([name for name, _ in own[0].guideline.stand_in])
    return (
        f"{own[0].guideline.operation} takes {between(list(map(over, contrasts)))} times as long "
        f"as {others} {_where(broken, settings, cases)}{_test(worst)}"
    )


def _where(
    broken: Sequence[Followed], settings: Sequence[MeasuredCase], cases: Sequence[MeasuredCase]
) -> str:
    """At which sizes; of several settings in how many, and where most."""
    if len(settings) == 1:
        return f"at {spans(list(broken[0].broken), list(broken[0].at), size)}"
    at, worst = max(
        ((at, one) for one in broken for at in one.broken),
        key=lambda pair: over(pair[1].broken[pair[0]]),
    )
    most = f"most, {number(over(worst.broken[at]))} times, with {label_of(worst.case, cases)}"
    return f"in {len(broken)} of {len(settings)} settings ({most}, at {size(at)})"


def _test(p: float | None) -> str:
    return "" if p is None else f", p {at_most(p)}"


def _too_few(found: Sequence[Followed]) -> str:
    """That launches are too few to tell, and how many would do."""
    if not any(one.too_few for one in found):
        return ""
    tests = max(contrast.family for one in found for contrast in one.at.values())
    return f"; {enough_launches(tests)}"
