# SPDX-License-Identifier: BSD-3-Clause
"""Share of each phase, and of each section of LAMMPS, in a step.

Source: the task-mapping paper, figure 7; LAMMPS' manual, "Screen and logfile output".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, median
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.grouped import grouped
from haloscope.records.record import Record
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.making import made

REST = "outside phases"
"""The rest of a step outside its phases, named like a phase."""


ROUNDING = 1e-9
"""Relative rounding error of sums of thousands of phases, below the resolution of any clock."""


@dataclass(frozen=True)
class PhaseShare:
    """One phase of a case: its share of all steps' time, and its seconds in a median step.

    median: whether the seconds are medians over repetitions, like those of a step; older records
    have none, and the seconds are the share of a step's.
    """

    name: str
    share: Estimate
    seconds: float
    median: bool


def shares(case: MeasuredCase) -> list[PhaseShare]:
    """Return the phases in the kernel's order, then the rest; medians over launches.

    None for a launch with several points, whose phases are recorded together.
    """
    if any(record.points for record in case.launches):
        return []
    names = dict.fromkeys(phase["name"] for record in case.launches for phase in record.phases)
    if not names:
        return []
    found = []
    with_medians = all("median_s" in phase for record in case.launches for phase in record.phases)
    for name in (*names, REST):
        share = case.estimate(case.sample(partial(_share, name=name)))
        if share is None or case.time is None:
            continue
        own = case.estimate(case.sample(partial(_median_s, name=name))) if with_medians else None
        time_s = share.value * case.time.value if own is None else own.value
        found.append(PhaseShare(name, share, time_s, median=own is not None))
    return found


def _median_s(record: Record, name: str) -> float | None:
    """Return a phase's seconds, median over repetitions of the mean over ranks, or those of the
    rest.
    """
    if not record.times_s or not record.phases:
        return None
    inside: dict[str, float] = {p["name"]: p["median_s"]["mean"] for p in record.phases}
    if name == REST:
        step = median(record.times_s)
        rest = step - sum(inside.values())
        return rest if rest > ROUNDING * step else 0.0
    return inside.get(name)


def _share(record: Record, name: str) -> float | None:
    """Return a phase's time, mean over ranks, over the step's, or the share of the rest.

    Both are means over all steps, a few of which may have been slow.
    """
    if not record.times_s or not record.phases:
        return None
    step = fmean(record.times_s)
    inside: dict[str, float] = {p["name"]: p["time_s"]["mean"] for p in record.phases}
    if name == REST:
        rest = 1.0 - sum(inside.values()) / step
        return rest if rest > ROUNDING else 0.0
    return inside[name] / step if name in inside else None


@dataclass(frozen=True)
class ModelledPhase:
    """A phase's seconds per step on the slowest rank, as measured and by the node model.

    measured: median over repetitions; in older records, which have none, the mean.
    """

    name: str
    measured: Estimate
    model: Estimate


def modelled(case: MeasuredCase) -> list[ModelledPhase]:
    """Return the phases of a real case that have a node model; medians over launches."""
    if case.simulated:
        return []
    names = dict.fromkeys(phase["name"] for record in case.launches for phase in record.phases)
    found = []
    for name in names:
        own = [
            phase
            for record in case.launches
            for phase in record.phases
            if phase["name"] == name and phase.get("model_s")
        ]
        measured = case.estimate([phase.get("median_s", phase["time_s"])["max"] for phase in own])
        model = case.estimate([phase["model_s"] for phase in own])
        if measured is not None and model is not None:
            found.append(ModelledPhase(name, measured, model))
    return found


NAMES = ("Pair", "Bond", "Kspace", "Neigh", "Comm", "Output", "Modify")
"""The sections as printed by LAMMPS, which calls the rest Other."""

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
"""By kernel, the phases of each section."""


def in_sections(case: MeasuredCase) -> MeasuredCase | None:
    """Return the case with its phases summed to sections; None if its kernel has none.

    A phase of md_pppm in no section (`check`, which LAMMPS does not time) belongs to the rest. Only
    means over ranks can be added, so there are no other values.
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
    """Return one section: sums of the means over ranks of its phases; 0 without phases."""
    parts = [phase for phase in phases if phase["name"] in own]
    kept = [key for key in ("time_s", "median_s") if all(key in phase for phase in phases)]
    return {"name": name, **{key: {"mean": sum(p[key]["mean"] for p in parts)} for key in kept}}


LONGEST = 3
LEAST = 0.03
SOLVE, STEP = Metric("time of a solve"), Metric("time of a step")


def heat(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the longest phases of each operator, on the most processes and the most nodes with
    these.
    """
    own = [case for case in cases if case.kernel == "fe_heat" and case.launches and shares(case)]
    if not own:
        return
    most = max(own, key=lambda case: (case.ranks, case.layout.nodes))
    for case in own:
        alike = (case.ranks, case.cores, case.settings["nodes"])
        if alike == (most.ranks, most.cores, most.settings["nodes"]):
            yield _longest(case, case, "A solve of heat conduction", "heat", context)


def sections(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the sections of each kernel for the fewest and the most tasks, on the fewest nodes."""
    own = [case for case in cases if case.time and (known := in_sections(case)) and shares(known)]
    for kernel, alike in grouped(own, lambda case: case.kernel).items():
        ordered = sorted(alike, key=lambda case: (case.ranks, case.layout.nodes))
        most = next(case for case in ordered if case.ranks == ordered[-1].ranks)
        for case in dict.fromkeys((ordered[0], most)):
            known = in_sections(case)
            assert known is not None
            yield _longest(case, known, f"A step of {kernel}", "phases", context)


def _longest(
    case: MeasuredCase, phased: MeasuredCase, question: str, topic: str, context: Context
) -> Finding:
    longest = sorted(shares(phased), key=lambda phase: -phase.share.value)[:LONGEST]
    worth = [phase for phase in longest if phase.share.value >= LEAST] or longest[:1]
    parts = [Claim({"phase": phase.name}, share=phase.share.value) for phase in worth]
    rest = 1 - sum(phase.share.value for phase in worth)
    if rest >= LEAST:
        parts.append(Claim({"phase": "all others"}, share=rest))
    return made(
        context, [case], question, FindingShape.BREAKDOWN, [Claim(estimate=case.time), *parts],
        topic=topic, metric=SOLVE if topic == "heat" else STEP,
    )  # fmt: skip
