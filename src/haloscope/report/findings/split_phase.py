# SPDX-License-Identifier: BSD-3-Clause
"""What dominates a star forest's operation at which size: start-up, bytes, packing, copying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.split_phase import (
    MOVING,
    STARTING,
    dominant,
    moving,
    split_phase_model,
    starting_device_kernels,
)
from haloscope.models.split_phase import SplitPhase
from haloscope.quantities import size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, shares_between, spans

ORDER = 150
FEW = 4
"""FEW is the largest number of cases that each have a headline: of more, the fewest ranks' and the
most ranks'."""


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of each star forest that sends, and keeps a part: the longest of its parts by size.

    Not of one launch alone, whose parts may have been disturbed one by one.
    """
    known = [(case, model) for case in cases if (model := split_phase_model(case)) is not None]
    known = [(case, model) for case, model in known if model.data.local_bytes.any()]
    known = [(case, model) for case, model in known if model.data.remote_bytes.any()]
    known = [(case, model) for case, model in known if case.alike or _launches(model) > 1]
    known.sort(key=lambda pair: pair[0].ranks)
    for case, model in known if len(known) <= FEW else (known[0], known[-1]):
        yield Finding(f"{name_of(case, cases)}{place(case)}: {_told(case, model)}.")


def _launches(model: SplitPhase) -> int:
    return int(model.data.whole_s.shape[0])


def _told(case: MeasuredCase, model: SplitPhase) -> str:
    """By size, which part of an operation is longest, and how much moving data in memory is."""
    sent = [float(each) for each in model.data.remote_bytes]
    longest = dominant(model)
    least = size(sent[0])
    names = {STARTING: f"starting messages (what {least} take)"}
    at = {
        part: spans([size_ for size_, one in zip(sent, longest, strict=True) if one == part],
                    sent, size)
        for part in dict.fromkeys(longest)
    }  # fmt: skip
    told = [f"{names.get(part, part)} at {where}" for part, where in at.items() if part]
    if None in at:
        told.append(f"at {at[None]} launches differ in which")
    every = "" if case.alike else f" in each of {_launches(model)} launches"
    shares = f"{MOVING} are {shares_between(moving(model))} of all parts"
    if model.on_device:
        starts = shares_between(starting_device_kernels(model))
        shares += f", launches of device kernels and waits for them {starts}"
    return f"longest of an operation's parts{every}, by bytes sent: {'; '.join(told)}; {shares}"
