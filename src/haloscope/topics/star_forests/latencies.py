# SPDX-License-Identifier: BSD-3-Clause
"""Cases with one-way latencies of star forests: grouped by layout and memory, and named."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.layout import PROCESSES
from haloscope.topics.star_forests import APART, OPTIONS, memory_of, placement_of

KERNELS = ("pingpong", "sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")


def by_layout(cases: Sequence[MeasuredCase]) -> list[list[MeasuredCase]]:
    """Return the cases with one-way latencies of each layout and memory that has star forests."""
    own = [case for case in cases if case.kernel in KERNELS and case.launches]
    own = [case for case in own if case.settings.get("mode", "imb") == "imb"]
    layouts = (*PROCESSES, "placement", "gpus_shared", "toolchain", "transport", "clock")
    parts: dict[tuple[object, ...], list[MeasuredCase]] = {}
    for case in own:
        at = tuple(case.settings.get(key) for key in (*layouts, *(["bind"] * case.on_gpus)))
        parts.setdefault((*memory_of(case), *at), []).append(case)
    return [own for own in parts.values() if any(case.kernel != "pingpong" for case in own)]


def named(cases: Sequence[MeasuredCase]) -> dict[str, MeasuredCase]:
    """Return cases by kernel, with the synchronisation where a kernel has several."""
    order = [*OPTIONS]
    syncs = {case: str(case.settings.get("sync")) for case in cases}
    several = {
        kernel
        for kernel in KERNELS
        if len({sync for case, sync in syncs.items() if case.kernel == kernel}) > 1
    }

    def place(case: MeasuredCase) -> tuple[int, int]:
        known = syncs[case] in order
        return KERNELS.index(case.kernel), order.index(syncs[case]) if known else -1

    return {
        f"{case.kernel}{f', {syncs[case]}' if case.kernel in several else ''}": case
        for case in sorted(cases, key=place)
    }


def where(case: MeasuredCase) -> list[str]:
    """Return where the processes and their memory are, for titles."""
    memory, *given = (str(one) for one in memory_of(case))
    if case.on_gpus:  # GPUs are on their ranks' sockets
        return [APART.get(str(placement_of(case)), ""), "GPU memory", *given[:1]]
    of_device = [f"{memory}'s memory", *given[:1]] if given else []
    shared = case.on_real_gpus and placement_of(case) == "intra_gpu"
    asked = str(case.settings.get("placement") or "")
    return ["on one GPU" if shared else asked, *of_device]
