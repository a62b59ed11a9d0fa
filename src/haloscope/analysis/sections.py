# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS' own breakdown of a step, of LAMMPS and of the kernel that stands for it.

Source: the task-mapping paper, figure 7; LAMMPS' manual, "Screen and logfile output".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from haloscope.analysis.cases import MeasuredCase

NAMES = ("Pair", "Bond", "Kspace", "Neigh", "Comm", "Output", "Modify")
"""The sections, as LAMMPS prints them. What is in none of them, it calls Other."""

PHASES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "lammps_rhodo": {name: (name,) for name in NAMES},
    "md_pppm": {
        "Pair": ("pair",),
        "Bond": ("bond",),
        "Kspace": ("kspace", "fft", "remap", "grid", "grid_pack", "grid_sum"),
        "Neigh": ("neigh", "neigh_sum"),
        "Comm": ("comm", "movers", "borders", "pack"),
        "Output": ("output",),
        "Modify": ("modify", "shake", "shake_pack", "sum"),
    },
}
"""By kernel, the phases that each section has."""


def in_sections(case: MeasuredCase) -> MeasuredCase | None:
    """The case with its phases added up to sections; None where its kernel has none.

    Of a phase that md_pppm has in no section (`check`, which LAMMPS times in none) nothing is left
    but what the step has beside its phases. Of the ranks' times the means alone add up: no others
    are there.
    """
    sections = PHASES.get(case.kernel)
    if sections is None:
        return None
    launches = tuple(
        replace(record, phases=[_section(*section, record.phases) for section in sections.items()])
        if record.phases
        else record
        for record in case.launches
    )
    return replace(case, launches=launches)


def _section(name: str, own: Sequence[str], phases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One section: sums of the means over ranks of its phases; 0 where it has none."""
    parts = [phase for phase in phases if phase["name"] in own]
    kept = [key for key in ("time_s", "median_s") if all(key in phase for phase in phases)]
    return {"name": name, **{key: {"mean": sum(p[key]["mean"] for p in parts)} for key in kept}}
