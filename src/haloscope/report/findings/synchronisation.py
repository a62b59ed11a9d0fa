# SPDX-License-Identifier: BSD-3-Clause
"""How a device's messages are synchronised and sent, against what PETSc does, by a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import UNTESTABLE
from haloscope.analysis.star_forests import WAYS_OF_A_DEVICE, DeviceWay, device_ways
from haloscope.quantities import listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.findings.star_forests import by_sizes
from haloscope.report.words import beyond, few, place, shared_words

ORDER = 147
ANSWERS = ("sf_latency",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Star forests in a device's memory: all other ways against the reference, size by size.

    A sentence for each kernel and setting; a grid's sizes are those of its messages.
    """
    alike: dict[tuple[str, str], list[DeviceWay]] = {}
    for one in device_ways(cases, context.seed):
        alike.setdefault((one.case.kernel, one.setting), []).append(one)
    for (kernel, setting), own in alike.items():
        case = own[0].case
        whose = "an emulated device's memory" if case.emulated else "a device's memory"
        same = shared_words([one.of for one in own])
        if all(each.verdict == UNTESTABLE for one in own for each in one.by_size.values()):
            ways = listed(list(dict.fromkeys(one.way for one in own)))
            told = f"launches are too few to tell of {ways} at any size"
        else:
            told = "; ".join(_told(one, same) for one in own)
        every = [one.case for one in own]
        where = f"{same and f' ({same})'}{place(*every)}{few(*every)}"
        reference = f"{setting} = {WAYS_OF_A_DEVICE[setting]}"
        yield Finding(f"A star forest ({kernel}) in {whose}{where}: against {reference}, {told}.")


def _told(one: DeviceWay, same: str) -> str:
    """A way, with what sets it apart from the others, and its verdicts by size."""
    apart = beyond(one.of, same)
    return f"with {one.way}{apart and f' ({apart})'} {by_sizes(one.by_size, ', ', 'it ')}"
