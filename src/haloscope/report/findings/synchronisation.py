"""How a device's messages are synchronised and sent, against what PETSc does, by a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.star_forests import WAYS_OF_A_DEVICE, device_ways
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.findings.star_forests import by_sizes
from haloscope.report.words import place

ORDER = 147


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Star forests in a device's memory: each other way against the reference, size by size.

    A grid's sizes are those of its messages.
    """
    for one in device_ways(cases, context.seed):
        whose = "an emulated device's memory" if one.case.emulated else "a device's memory"
        where = f"{whose}{one.of and f' ({one.of})'}{place(one.case)}"
        yield Finding(
            f"A star forest ({one.case.kernel}) in {where}: "
            f"{one.setting} = {one.way} against {WAYS_OF_A_DEVICE[one.setting]}: "
            f"{by_sizes(one.by_size)}."
        )
