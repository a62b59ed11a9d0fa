# SPDX-License-Identifier: BSD-3-Clause
"""How many times as fast a sparse product is on the most processes, matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.scaling import Ladder, Scaling, scalings
from haloscope.analysis.sweeps import level_of
from haloscope.quantities import listed, number, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import above_one, place, sure

ORDER = 82

TOLD = 6
"""TOLD is the largest number of settings that are told one by one; of more, the ends."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each matrix, and whatever else differs: its most processes against its fewest."""
    by: dict[tuple[int, int, str, str], list[tuple[float, str]]] = {}
    for scaling in scalings([case for case in cases if case.kernel == "spmv"]):
        for ladder in scaling.ladders:
            good = [case for case in ladder.steps.values() if case.launches]
            if (
                len(good) > 1
                and ladder.base
                and (told := _told(scaling, ladder, good[-1], context))
            ):
                key = (good[-1].cores, ladder.base.cores, scaling.p, place(good[-1]))
                by.setdefault(key, []).append(told)
    for (most, fewest, what, where), found in sorted(by.items(), reverse=True):
        fewer = "one" if fewest == 1 else f"{fewest} of them"
        ordered = [text for _, text in sorted(found, reverse=True)]
        faster = f"With {most} {what}{where}, a sparse product is"
        words = listed(ordered)
        if len(ordered) > TOLD:
            words = f"of {len(ordered)} settings at most {ordered[0]}, at least {ordered[-1]}"
        yield Finding(f"{faster} so many times as fast as with {fewer}: {words}.")


def _told(
    scaling: Scaling, ladder: Ladder, case: MeasuredCase, context: Context
) -> tuple[float, str] | None:
    """A speedup, to order by, and in words with how sure it is; None where there is none."""
    contrast = ladder.against_base(case, context.seed)
    share = ladder.efficiency(case, context.seed)
    if contrast is None or contrast.ratio is None or share is None:
        return None
    ratio = contrast.ratio
    named = ", ".join(text for text in (scaling.label, f"N = {ladder.n}") if text)
    sureness = sure(ratio, contrast.verdict).strip(" ()")
    known = f"{sureness}; " if sureness else ""
    why = _levels(ladder.base, case, context) or above_one(case, share)
    of = f"an efficiency of {percent(share.value)}{why and f'; {why}'}"
    return ratio.value, f"{number(ratio.value)} with {named} ({known}{of})"


def _levels(base: MeasuredCase | None, top: MeasuredCase, context: Context) -> str:
    """The levels of memory that hold what a product goes through, where they differ."""
    if base is None:
        return ""
    few, many = (level_of(_moved_bytes(case), case, context.machine) for case in (base, top))
    if few == many:
        return ""
    lies = f"lies in {few} with {base.cores}, in {many} with {top.cores}"
    return f"what a product goes through {lies}"


def _moved_bytes(case: MeasuredCase) -> float:
    """What all processes read and write in a product, each once."""
    work = case.launches[0].work or {}
    return float(work.get("bytes") or 0)
