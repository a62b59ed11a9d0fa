# SPDX-License-Identifier: BSD-3-Clause
"""Tables of phases, sections of LAMMPS, and stragglers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase, label_of, row_name
from haloscope.analysis.context import Context
from haloscope.quantities import PERCENT, SECONDS, count, number, seconds
from haloscope.study.settings import describe, varying
from haloscope.topics.common.notebook import Notebook, estimated
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown
from haloscope.topics.phases import REST, PhaseShare, in_sections, modelled, shares
from haloscope.topics.tails import Waiting, waiting


def phases_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Share of the time of a step spent in each phase, averaged over ranks."""
    for kernel in dict.fromkeys(case.kernel for case in cases):
        own = [case for case in cases if case.kernel == kernel and (shares(case) or case.excluded)]
        if any(shares(case) for case in own):
            parts = _with_like_phases(own)
            yield from [_table(part, own, context) for part in parts]
            yield from [_seconds_table(part, own, context) for part in parts]
        if any(modelled(case) for case in own):
            yield _model_table(kernel, own, context)


PHASE_MOST = 10
"""Maximum number of phases per table, for paper and phones, if cases can be separated by them."""


def _with_like_phases(cases: Sequence[MeasuredCase]) -> list[list[MeasuredCase]]:
    """Return all cases or, with too many phases, groups in which one case has the phases of all."""
    if len(_names(cases)) <= PHASE_MOST:
        return [list(cases)]
    phases = {case: {phase.name for phase in shares(case)} for case in cases}
    widest: list[set[str]] = []
    for own in sorted(phases.values(), key=len, reverse=True):
        if not any(own <= other for other in widest):
            widest.append(own)
    parts: list[list[MeasuredCase]] = [[] for _ in widest]
    for case, own in phases.items():
        parts[next(i for i, other in enumerate(widest) if own <= other)].append(case)
    return sorted(parts, key=lambda part: cases.index(part[0]))


def one_table(cases: Sequence[MeasuredCase], title: str, kind: str, context: Context) -> Table:
    """Return shares of a step, one row per case, each named if there are several kernels."""
    return replace(_table(cases, cases, context), id=kind, kind=kind, title=context.title(title))


def _name(case: MeasuredCase, among: Sequence[MeasuredCase]) -> Cell:
    name = row_name(case, among) if len(among) > 1 else case.processes
    return label(name, case=case.id)


def _settings(cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase]) -> tuple[str, ...]:
    """Return the kernel of cases, and the settings that they share but others do not."""
    kernel = cases[0].kernel
    if len(cases) == len(among):
        return (kernel,)
    names = varying([case.settings for case in among])
    same = [name for name in names if len({case.settings.get(name) for case in cases}) == 1]
    return kernel, describe(cases[0].settings, same)


def _model_table(kernel: str, cases: Sequence[MeasuredCase], context: Context) -> Table:
    notebook = Notebook(cases, context.all_cases)
    rows = [
        (
            label(label_of(case, cases)),
            label(phase.name),
            notebook.estimate(phase.measured, case, SECONDS),
            shown(phase.model.value, seconds),
            plain(ratio := phase.measured.value / phase.model.value, number(ratio)),
        )
        for case in cases
        for phase in modelled(case)
    ]
    notebook.note(
        "model: node model with this machine's cluster file (haloscope calibrate), for phases "
        "without communication.",
        "Both times are of the slowest rank.",
    )
    return notebook.table(
        "phases",
        context.title("Phases, measured and from the node model", kernel),
        (
            Column("case", "case", align="left"),
            Column("phase", "phase", align="left"),
            Column("measured_s", "measured"),
            Column("model_s", "model"),
            Column("ratio", "measured / model"),
        ),
        rows,
        id="phases_model",
        stub=2,
    )


def _table(cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase], context: Context) -> Table:
    notebook = Notebook(cases, context.all_cases)
    names = _names(cases)

    def row(case: MeasuredCase) -> tuple[Cell, ...]:
        own = {phase.name: phase for phase in shares(case)}
        head = (_name(case, cases), notebook.time(case))
        if not own:
            return (*head, *(missing() for _ in names))
        return (*head, *(_cell(own.get(name), case, notebook) for name in names))

    rows = tuple(row(case) for case in cases)
    notebook.note("Shares of the total time are means over ranks and medians over launches.")
    return notebook.table(
        "phases",
        context.title("Time by phase", *_settings(cases, among)),
        (
            Column("case", "case", align="left"),
            Column("time_s", "step"),
            *(Column(f"{name.replace(' ', '_')}_share", name, "share of a step") for name in names),
        ),
        rows,
    )


def _seconds_table(
    cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase], context: Context
) -> Table:
    names = _names(cases)
    rows = []
    medians = all(phase.median for case in cases for phase in shares(case))
    for case in cases:
        own = {phase.name: phase.seconds for phase in shares(case)}
        cells = (shown(own.get(name), seconds) for name in names)
        rows.append((_name(case, cases), *cells))
    return Table(
        id="phases_s",
        kind="phases",
        title=context.title("Seconds by phase", *_settings(cases, among)),
        columns=(
            Column("case", "case", align="left"),
            *(Column(f"{name.replace(' ', '_')}_s", name) for name in names),
        ),
        rows=tuple(rows),
        notes=(
            _MEDIANS
            if medians
            else "Seconds: the phase's share of the step, multiplied by the case's time.",
        ),
        folded=True,
    )


_MEDIANS = (
    "Times are means over ranks and medians over repetitions. 'Outside phases' is "
    "the rest of the step."
)


def _names(cases: Sequence[MeasuredCase]) -> list[str]:
    names = dict.fromkeys(phase.name for case in cases for phase in shares(case))
    return [name for name in names if name != REST] + [REST]


def _cell(phase: PhaseShare | None, case: MeasuredCase, notebook: Notebook) -> Cell:
    if phase is None:
        return missing()
    return notebook.estimate(phase.share, case, PERCENT)


def sections_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Time by section of LAMMPS, and of the kernel that models LAMMPS."""
    own = [found for case in cases if (found := in_sections(case)) and shares(found)]
    return [one_table(own, "Time by section of LAMMPS", "sections", context)] if own else []


STRAGGLER_MOST = 4
"""STRAGGLER_MOST is the maximum number of shown ranks per case: the slowest."""


def stragglers_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Ranks that compute longer than others, and the share of a step for which the others wait."""
    found = [one for case in cases if (one := waiting(case)) is not None]
    if not found:
        return
    notebook = Notebook([one.case for one in found], context.all_cases)
    rows = tuple(row for one in found for row in _rows(one, cases, notebook))
    notebook.note(
        "waiting: time per step by which the rank with the most computation exceeds the mean. "
        "Other delays of messages are not included.",
        "Values are means over steps; a few slow steps can raise them above the median.",
    )
    if any(len(one.ranks) > STRAGGLER_MOST for one in found):
        notebook.note(f"For each case: the {STRAGGLER_MOST} ranks with the longest computation.")
    yield notebook.table(
        "stragglers",
        context.title("Ranks that others wait for"),
        (
            Column("case", "case", align="left"),
            Column("waiting_share", "waiting"),
            Column("rank", "rank"),
            Column("node", "node", align="left"),
            Column("computing_s", "computes"),
            Column("over_mean", "/ mean rank"),
            Column("slowest_launches", "slowest in"),
        ),
        rows,
    )


def _rows(
    one: Waiting, cases: Sequence[MeasuredCase], notebook: Notebook
) -> Iterator[tuple[Cell, ...]]:
    name = row_name(one.case, cases)
    launches = count(one.share.n, "launch", "launches")
    for place, rank in enumerate(one.ranks[:STRAGGLER_MOST]):
        first = place == 0
        yield (
            label(name if first else "", name, one.case.id),
            notebook.estimate(one.share, one.case, PERCENT)
            if first
            else plain(one.share.value, ""),
            label(str(rank.rank), rank.rank),
            label(rank.host or "–"),
            notebook.estimate(rank.seconds, one.case, SECONDS),
            replace(estimated(rank.beyond), text=f"{number(rank.beyond.value)} ×"),
            plain(rank.slowest, f"{rank.slowest} of {launches}"),
        )
