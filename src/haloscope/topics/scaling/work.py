# SPDX-License-Identifier: BSD-3-Clause
"""Cases that do the same work in several layouts, of kernels without topics of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import sweep

GRIDS = ("topology", "chunks")
_ELSEWHERE = ("poisson_cg", "spmv")
"""Kernels whose own topics say how they scale."""
_SECTIONS = {"fft_pencil": "fft", "fe_heat": "heat", "jacobi3d": "jacobi"}
_ALIKE = 1.05
"""_ALIKE is by how much the work of layouts may differ: pencils and elements do not divide."""


def of_kernels(cases: Sequence[MeasuredCase]) -> Iterator[list[MeasuredCase]]:
    """The measured cases of each kernel and program."""
    own = [
        case
        for case in cases
        if case.time and case.kernel not in _ELSEWHERE and not case.settings.get("tasks")
        if not sweep(case)
    ]
    for kernel in dict.fromkeys(case.kernel for case in own):
        yield [case for case in own if case.kernel == kernel]


def is_same_work(cases: Sequence[MeasuredCase]) -> bool:
    """Whether their work is the same: programs do not say, and have the same arguments."""
    work = [float((case.launches[0].work or {}).get("flops") or 0) for case in cases]
    return cases[0].external or 0 < max(work) <= _ALIKE * min(work)


def section_of(case: MeasuredCase) -> str:
    """Where its findings stand."""
    return _SECTIONS.get(case.kernel, "summary")
