"""Where the time goes: each phase's share of a step, from the phases' mean over ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.quantities import PERCENT, SECONDS, number, seconds
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.stats.estimates import Estimate

if TYPE_CHECKING:
    from haloscope.records.record import Record

REST = "outside phases"


@dataclass(frozen=True)
class PhaseShare:
    """One phase of one case: its share of a step, and that share of the case's time in seconds."""

    name: str
    share: Estimate
    seconds: float


def shares(case: MeasuredCase) -> list[PhaseShare]:
    """The phases in the kernel's order, then what lies outside of all; medians over launches.

    None where a launch has several points: their phases are recorded all together.
    """
    if any(record.points for record in case.launches):
        return []
    names = dict.fromkeys(phase["name"] for record in case.launches for phase in record.phases)
    if not names:
        return []
    found = []
    for name in (*names, REST):
        share = case.estimate(case.sample(partial(_share, name=name)))
        if share is not None and case.time is not None:
            found.append(PhaseShare(name, share, share.value * case.time.value))
    return found


def _share(record: Record, name: str) -> float | None:
    """A phase's time, mean over ranks, over the step's; outside phases, what they leave.

    Both are means over all steps, of which a few may have been slow.
    """
    if not record.times_s or not record.phases:
        return None
    step = fmean(record.times_s)
    inside: dict[str, float] = {p["name"]: p["time_s"]["mean"] for p in record.phases}
    if name == REST:
        return max(0.0, 1.0 - sum(inside.values()) / step)
    return inside[name] / step if name in inside else None


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a kernel: cases in rows, phases in columns."""
    tables = []
    for kernel in dict.fromkeys(case.kernel for case in cases):
        own = [case for case in cases if case.kernel == kernel and (shares(case) or case.excluded)]
        if any(shares(case) for case in own):
            tables.append(_table(kernel, own, context))
        if any(modelled(case) for case in own):
            tables.append(_model_table(kernel, own, context))
    return tables


@dataclass(frozen=True)
class ModelledPhase:
    """A phase's seconds in a step as measured and by the node model: the slowest rank's."""

    name: str
    measured: Estimate
    model: Estimate


def modelled(case: MeasuredCase) -> list[ModelledPhase]:
    """The phases of a real case that the node model speaks of; medians over launches."""
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
        measured = case.estimate([phase["time_s"]["max"] for phase in own])
        model = case.estimate([phase["model_s"] for phase in own])
        if measured is not None and model is not None:
            found.append(ModelledPhase(name, measured, model))
    return found


def _model_table(kernel: str, cases: Sequence[MeasuredCase], context: Context) -> Table:
    """Cases and their phases in rows: measured, modelled, and how many times as long it took."""
    notebook = Notebook(cases, context.all_cases)
    rows = [
        (
            label(label_of(case, cases)),
            label(phase.name),
            notebook.estimate(phase.measured, case, SECONDS),
            plain(phase.model.value, seconds(phase.model.value)),
            plain(ratio := phase.measured.value / phase.model.value, number(ratio)),
        )
        for case in cases
        for phase in modelled(case)
    ]
    notebook.note(
        "Model: by the node model, from this machine's cluster file (haloscope calibrate); phases "
        "that communicate have none. Both are the slowest rank's."
    )
    return Table(
        id="phases_model",
        kind="phases",
        title=context.title(f"Phases measured and by the node model, {kernel}"),
        columns=(
            Column("case", "case", align="left"),
            Column("phase", "phase", align="left"),
            Column("measured_s", "measured"),
            Column("model_s", "model"),
            Column("ratio", "measured / model"),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=2,
    )


def _table(kernel: str, cases: Sequence[MeasuredCase], context: Context) -> Table:
    notebook = Notebook(cases, context.all_cases)
    names = list(dict.fromkeys(phase.name for case in cases for phase in shares(case)))
    names = [name for name in names if name != REST] + [REST]

    def row(case: MeasuredCase) -> tuple[Cell, ...]:
        own = {phase.name: phase for phase in shares(case)}
        head = (label(label_of(case, cases)), notebook.time(case))
        if not own:
            return (*head, *(notebook.absent(case) for _ in names))
        return (*head, *(_cell(own.get(name), case, notebook) for name in names))

    rows = tuple(row(case) for case in cases)
    notebook.note("Share of a step: mean over ranks, median over launches; below it the seconds.")
    return Table(
        id="phases",
        kind="phases",
        title=context.title(f"Time by phase, {kernel}"),
        columns=(
            Column("case", "case", align="left"),
            Column("time_s", "step"),
            *(Column(f"{name.replace(' ', '_')}_share", name, "share of a step") for name in names),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


def _cell(phase: PhaseShare | None, case: MeasuredCase, notebook: Notebook) -> Cell:
    if phase is None:
        return missing()
    cell = notebook.estimate(phase.share, case, PERCENT)
    return replace(cell, also=seconds(phase.seconds, 2))
