# SPDX-License-Identifier: BSD-3-Clause
"""A performance guideline of halos: one neighbourhood collective is no slower than single messages.

As Träff, Gropp and Thakur have it (IEEE TPDS 21, 2010), a call that is made for a task should take
no longer than others that do it: MPI_Neighbor_alltoallw no longer than MPI_Irecv and MPI_Isend for
every neighbour. Of jacobi3d, in which both exchange the same buffers. Not of poisson_cg, which
computes while single messages travel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.guidelines import WORTH, over

if TYPE_CHECKING:
    from haloscope.records.record import Record

COLLECTIVE, SINGLE = "neighbor", "nonblocking"
"""The values of `exchange` that are set against each other."""
PHASE = "exchange"
"""PHASE is what is compared of a step, because sweeps take the same time either way."""


def followed(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Contrast]:
    """The collective against single messages, for each setting that was run with both.

    By the time of the phase in a step, of the slowest rank; corrected for the number of settings.
    """
    alike = [
        case
        for case in cases
        if case.kernel == "jacobi3d"
        and case.launches
        and case.ranks > 1
        and case.settings["overlap"] == "no"
    ]
    pairs = []
    for part in facets(alike, ("exchange",)):
        by = {str(case.settings.get("exchange")): case for case in part.cases}
        if {COLLECTIVE, SINGLE} <= by.keys():
            pairs.append((_exchange(by[SINGLE]), _exchange(by[COLLECTIVE])))
    return contrasts(pairs, seed)


def is_broken(one: Contrast) -> bool:
    """Whether the collective is shown to be slower, and by a factor that is worth a word."""
    return one.verdict == "slower" and over(one) >= WORTH


def _exchange(case: MeasuredCase) -> Measure:
    sample = case.sample(_exchange_s)
    return Measure(case, PHASE, tuple(sample), case.estimate(sample))


def _exchange_s(record: Record) -> float | None:
    """Seconds of the phase in a step, median over repetitions; in older records the mean."""
    own = [phase for phase in record.phases if phase["name"] == PHASE]
    return float(own[0].get("median_s", own[0]["time_s"])["max"]) if own else None
