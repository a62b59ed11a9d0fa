# SPDX-License-Identifier: BSD-3-Clause
"""Device kernels one after the other: with a synchronisation after the first, against without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.published import Library, Reference, source
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import printed_seconds

WAYS = ("pipelined", "synchronised")
"""WAYS are the points of a case: without a synchronisation after the first device kernel, and with
one."""
FIGURE_15: Mapping[str, int] = MappingProxyType({"kernels": 5, "size": 3_670_016, "first": 8})
"""FIGURE_15 is what the device kernels of the paper's figure 15 move on a V100, whose memory moves
729 GB/s: in 40 us the first, in 5 us each other."""
_CLUSTER = "summit"
"""Of the paper, as its cluster file is called."""


def published_chain(case: MeasuredCase, way: str, library: Library) -> Reference | None:
    """What the figure has for a case of its device kernels on its cluster, simulated.

    It is an example, whose launches and synchronisations take other times than the cluster's.
    """
    chain = {name: case.settings.get(name) for name in FIGURE_15}
    if case.cluster != _CLUSTER or chain != FIGURE_15:
        return None
    for table in library.tables(("launches",)):
        cell = table.cell("time_s", operation=way)
        if cell is not None and isinstance(cell.value, float):
            text = printed_seconds(cell.value, table.resolution_s)
            return Reference(cell.value, text, cell.value, cell.value, source(table))
    return None


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
