# SPDX-License-Identifier: BSD-3-Clause
"""Whether a neighbourhood collective is slower than single messages to every neighbour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import UNTESTABLE, Contrast
from haloscope.analysis.guidelines import over
from haloscope.analysis.halo_guideline import followed, is_broken
from haloscope.quantities import count, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import at_most, between, enough_launches, place
from haloscope.study.settings import common, describe, varying

ORDER = 127


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Over all settings with both: how many times as long the collective takes, and where most."""
    found = [one for one in followed(cases, context.seed) if one.ratio]
    if not found:
        return
    same = common([one.second.case.settings for one in found])
    where = f"{count(len(found), 'setting')}{same and f' ({same})'}{place(found[0].second.case)}"
    broken = [one for one in found if is_broken(one)]
    told = _told(broken, found) if broken else f"{_takes(found)}, and is not shown to be slower"
    yield Finding(
        f"Guideline for halos, {where}: an exchange by MPI_Neighbor_alltoallw "
        f"{told}{_too_few(found)}.",
        "warning" if broken else "",
    )


def _takes(own: Sequence[Contrast]) -> str:
    return f"takes {between(list(map(over, own)))} times as long as by MPI_Irecv and MPI_Isend"


def _told(broken: Sequence[Contrast], found: Sequence[Contrast]) -> str:
    """Where the guideline is broken, by how much, and by what test."""
    worst = max((one.adjusted for one in broken if one.adjusted is not None), default=None)
    tested = "" if worst is None else f", p {at_most(worst)}"
    if len(found) == 1:
        return f"{_takes(broken)}{tested}"
    most = max(broken, key=over)
    names = [
        name for name in varying([one.second.case.settings for one in found]) if name != "exchange"
    ]
    where = describe(most.second.case.settings, names)
    greatest = f" (most, {number(over(most))} times, with {where})" if len(broken) > 1 else ""
    alone = f" ({where})" if len(broken) == 1 else ""
    return f"{_takes(broken)} in {len(broken)}{greatest}{alone}{tested}"


def _too_few(found: Sequence[Contrast]) -> str:
    if not any(one.verdict == UNTESTABLE for one in found):
        return ""
    return f"; {enough_launches(max(one.family for one in found))}"
