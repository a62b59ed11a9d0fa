# SPDX-License-Identifier: BSD-3-Clause
"""Which kernels stand for published programs, so that nobody takes their times for those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.mappings import PROGRAMS, spreads
from haloscope.quantities import listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 129
ITSELF = "lammps_rhodo"
"""ITSELF is the one program of the paper that is run, and stands for nothing."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of tasks on few nodes and on many, beside a paper that has such runs of other programs."""
    if not context.library.tables(("mapping_plan",)):
        return
    shown = [case for part, _ in spreads(cases) for case in part.cases if case.launches]
    kernels = dict.fromkeys(case.kernel for case in shown if case.kernel != ITSELF)
    stood_for = {
        kernel: [name for name, stand_ins in PROGRAMS.items() if kernel in stand_ins]
        for kernel in kernels
    }
    told = [(kernel, listed(programs)) for kernel, programs in stood_for.items() if programs]
    if told:
        (kernel, programs), *others = told
        names = listed([
            f"{kernel} stands for {programs}", *(f"{one} for {what}" for one, what in others)
        ])  # fmt: skip
        what = "kernels that communicate" if others else "a kernel that communicates"
        several = others or len(stood_for[kernel]) > 1
        as_they = "these programs of the paper do" if several else "this program of the paper does"
        yield Finding(
            f"{names}: {what} as {as_they}; times of a step are no times of "
            f"{'their' if several else 'its'} runs."
        )
