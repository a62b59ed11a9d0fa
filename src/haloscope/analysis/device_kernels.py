"""Device kernels one after the other: with a synchronisation after the first, against without."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.sweeps import Swept, sweep

WAYS = ("pipelined", "synchronised")
"""WAYS are the points of a case: without a synchronisation after the first device kernel, and with
one."""


def waits(cases: Sequence[MeasuredCase], seed: int = 0) -> list[tuple[MeasuredCase, Contrast]]:
    """Of each case that has both: waiting first, so that a ratio is how much longer it takes."""
    own = [case for case in cases if case.kernel == "launches" and case.launches]
    timed = [(case, {point.operation: point for point in sweep(case)}) for case in own]
    both = [
        (case, [found[way] for way in WAYS]) for case, found in timed if set(WAYS) <= set(found)
    ]
    pairs = [(_of(case, waiting), _of(case, going_on)) for case, (going_on, waiting) in both]
    tested = contrasts(pairs, seed)
    return [(case, contrast) for (case, _), contrast in zip(both, tested, strict=True)]


def _of(case: MeasuredCase, point: Swept) -> Measure:
    return Measure(case, "", point.sample, point.time)
