# SPDX-License-Identifier: BSD-3-Clause
"""What waiting for the first of several device kernels costs, by a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.device_kernels import waits
from haloscope.quantities import count, number, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, sure

ORDER = 148


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each case: how much longer it takes with a synchronisation after the first kernel."""
    found = waits(cases, context.seed)
    for case, contrast in found:
        if told := _told(contrast):
            kernels = count(case.number("kernels"), "device kernel")
            whose = " of an emulated device" if case.emulated else ""
            name = label_of(case, [one for one, _ in found]) if len(found) > 1 else ""
            yield Finding(
                f"{kernels}{whose}{name and f' ({name})'}{place(case)}, "
                f"with a synchronisation after the first: {told}."
            )


def _told(contrast: Contrast) -> str:
    """By how much longer, in seconds and as a ratio, and how sure that is."""
    waiting, going_on = contrast.first.time, contrast.second.time
    if waiting is None or going_on is None or contrast.ratio is None:
        return ""
    added = waiting.value - going_on.value
    more = f"{seconds(abs(round(added, 12)))} {'more' if added >= 0 else 'less'}"
    how_sure = sure(contrast.ratio, contrast.verdict)
    return f"{more}, {number(contrast.ratio.value)} times as long{how_sure}"
