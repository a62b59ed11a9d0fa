"""Which part of a star forest's operation takes longest, from small to large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.split_phase import split_phase_model, switch_text
from haloscope.quantities import size
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 150


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """What dominates a star forest's operation, from small to large."""
    for case in cases:
        model = split_phase_model(case)
        if model is None or not model.data.local_bytes.any():
            continue
        least, most = (size(model.data.remote_bytes[point]) for point in (0, -1))
        longest = [model.longest(point) for point in range(len(model.whole_s))]
        where = (
            f"{longest[0]} at every size from {least} to {most} sent"
            if len(set(longest)) == 1
            else f"{longest[0]} at {least} sent, {longest[-1]} at {most}. {switch_text(model)}"
        )
        yield Finding(
            f"{name_of(case, cases)}: longest of an operation's parts: {where.rstrip('.')}."
        )
