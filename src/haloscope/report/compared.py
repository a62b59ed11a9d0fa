# SPDX-License-Identifier: BSD-3-Clause
"""Two result folders compared: a table a kernel, and what the network can't touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.comparison import (
    ALPHA,
    UNDECIDED,
    Contrast,
    Measure,
    contrasts,
    measures,
    step,
)
from haloscope.analysis.fits import exchanges
from haloscope.quantities import count, listed, percent, probability
from haloscope.study.settings import Setting
from haloscope.topics.common.notebook import Notebook, left_out
from haloscope.topics.common.table import Cell, Column, Table, joined, label, missing, plain
from haloscope.topics.contrast.tables import COLUMNS, cells, explain
from haloscope.topics.phases.analysis import REST, shares
from haloscope.topics.programs import ResultContrast, number_of, results_compared, scale

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("point", "point", align="left"),
)
_NAMES = ("first", "second")
_EVERY = "comparisons"
_RESULTS = "results"
_ELSEWHERE = ("runner",)
"""Settings that say where a case was run rather than what it is."""


@dataclass(frozen=True)
class Compared:
    """What came of it.

    tables:    sweeps, a row each, and cases that are one time; none where no case is in both.
    details:   every comparison in a row of its own; None likewise.
    contrasts: all comparisons, corrected together.
    results:   what external programs print besides times.
    refused:   why cases of the same settings are not set against each other; "" where all are.
    names:     of the two folders, as columns carry them.
    untouched: cases that a change of the network can't touch, each with the reason; nothing where
               no case is on several nodes.
    """

    tables: tuple[Table, ...]
    details: Table | None
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    refused: str = ""
    names: tuple[str, str] = _NAMES
    untouched: tuple[tuple[str, str], ...] = ()
    results: tuple[ResultContrast, ...] = ()

    @property
    def every(self) -> Table | None:
        """All comparisons of times and of results in one table, for CSV files; None for none."""
        shown = [table for table in (self.details, *self.tables) if table and _is_whole(table)]
        return joined(shown) if shown else None


def compare_cases(
    first: Sequence[MeasuredCase],
    second: Sequence[MeasuredCase],
    seed: int = 0,
    names: tuple[str, str] = _NAMES,
) -> Compared:
    """Compare every case of the first set with the one of the same settings in the second.

    names: of the two sets, as their columns carry them.
    Where the two sets were each measured with one toolchain, and not with the same one, toolchains
    are what is compared: they need not be the same. Cases without a counterpart are named. An
    emulated device's times are not set against those of a real one.
    """
    ignored = _ELSEWHERE + (("toolchain",) if _toolchain_differs(first, second) else ())
    counterparts = {_key(case, ignored): case for case in second}
    alike = [
        (case, counterparts[key]) for case in first if (key := _key(case, ignored)) in counterparts
    ]
    pairs = [pair for pair in alike if not _one_is_emulated(*pair)]
    paired = {id(case) for pair in alike for case in pair}
    notes = [
        f"Only in {which}: {name_of(case, [*first, *second])}."
        for which, cases in zip(names, (first, second), strict=True)
        for case in cases
        if id(case) not in paired
    ]
    notes += [line for cases in (first, second) for line in left_out(cases, cases)]
    if ignored != _ELSEWHERE:
        told = [
            f"{cases[0].settings.get('toolchain')} ({which})"
            for which, cases in zip(names, (first, second), strict=True)
        ]
        notes.insert(0, f"Toolchains compared: {listed(told)}.")
    refused = ""
    if emulated := len(alike) - len(pairs):
        refused = f"{count(emulated, 'case')} worked on an emulated device in one folder alone"
        notes.insert(0, f"Not compared: {refused}, whose times say nothing of a real one's.")
    measured = [pair for one, other in pairs for pair in _measures(one, other)]
    found = contrasts(measured, seed, apart=True)
    sweeps, alone = _groups(found)
    tables = []
    if sweeps:
        tables.append(_sweeps(sweeps, first, names))
    if alone:
        tables.append(_details("compare", _compared(names), alone, first, names))
    printed = results_compared(pairs, seed)
    if printed:
        tables.append(_results(printed, first, names))
    details = _details(_EVERY, "Every comparison", found, first, names) if found else None
    apart = _untouched(pairs)
    if apart:
        every = "; ".join(f"{name} ({why})" for name, why in apart)
        notes.append(f"A change of the network between nodes can't touch: {every}.")
    if UNDECIDED in {*(one.verdict for one in found), *(one.verdict for one in printed)}:
        notes.append(_MORE_ALLOCATIONS)
    notes = list(dict.fromkeys(notes))
    return Compared(
        tuple(tables), details, tuple(found), tuple(notes), refused, names, apart, tuple(printed)
    )


_MORE_ALLOCATIONS = (
    "The allocation is the unit: nodes of one job say nothing of how those of the next would "
    "differ. Measure each side in several: run --resume DIR --allocations 5 submits further jobs."
)


def _compared(names: tuple[str, str]) -> str:
    return (
        f"{' and '.join(names).capitalize() if names == _NAMES else ' and '.join(names)} compared"
    )


def _untouched(
    pairs: Sequence[tuple[MeasuredCase, MeasuredCase]],
) -> tuple[tuple[str, str], ...]:
    """Cases that the network between nodes can't touch, where others are on several nodes."""
    among = [case for pair in pairs for case in pair]
    if not any(map(between_nodes, among)):
        return ()
    firsts = [one for one, _ in pairs]
    found = ((name_of(one, firsts), untouched(one, other)) for one, other in pairs)
    return tuple((name, why) for name, why in found if why)


def _one_is_emulated(first: MeasuredCase, second: MeasuredCase) -> bool:
    """Whether one of two that were measured worked on an emulated device, and not the other."""
    return bool(first.launches and second.launches) and first.emulated != second.emulated


def _toolchain_differs(first: Sequence[MeasuredCase], second: Sequence[MeasuredCase]) -> bool:
    """Whether each set has one toolchain, and not the same one."""
    names = [{case.settings.get("toolchain") for case in cases} for cases in (first, second)]
    return all(len(one) == 1 for one in names) and names[0] != names[1]


def _key(case: MeasuredCase, ignored: Sequence[str]) -> frozenset[tuple[str, Setting]]:
    return frozenset((name, v) for name, v in case.settings.items() if name not in ignored)


def _measures(first: MeasuredCase, second: MeasuredCase) -> list[tuple[Measure, Measure]]:
    """Their steps, or the points of a sweep that both have; without a good launch, the step."""
    theirs: Mapping[str, Measure] = {measure.what: measure for measure in measures(second)}
    common = [(own, theirs[own.what]) for own in measures(first) if own.what in theirs]
    return common or [(step(first), step(second))]


def _groups(found: Sequence[Contrast]) -> tuple[list[list[Contrast]], list[Contrast]]:
    """The comparisons of every sweep together, and those that are alone."""
    groups: dict[tuple[str, str], list[Contrast]] = {}
    for one in found:
        groups.setdefault((one.first.case.id, one.first.group), []).append(one)
    several = [own for own in groups.values() if len(own) > 1]
    return several, [one for own in groups.values() if len(own) == 1 for one in own]


def _sweeps(
    sweeps: Sequence[Sequence[Contrast]],
    among: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> Table:
    every = [one for own in sweeps for one in own]
    notebook = _notebook(every)
    rows = tuple(_sweep(own, among, notebook) for own in sweeps)
    explain(every, notebook)
    notebook.note("open: no difference shown, or none could be. least, most: over all points.")
    pingpongs = [one.first.case for one in every if one.first.case.kernel == "pingpong"]
    if any(exchanges(case) for case in pingpongs):
        notebook.note("pingpong: by the time of a message one way.")
    if not all(exchanges(case) for case in pingpongs):
        notebook.note("pingpong without answers (mode = stream): by the time a message.")
    title = f"Sweeps of {' and '.join(names)} compared, point by point"
    of = f"{names[1]} is"
    columns = (
        Column("case", "case", align="left"),
        Column("points", "points"),
        Column("faster", "faster", of),
        Column("slower", "slower", of),
        Column("open", "open"),
        Column("least", "least", "times as fast"),
        Column("least_at", "at", "times as fast", "left"),
        Column("most", "most", "times as fast"),
        Column("most_at", "at", "times as fast", "left"),
    )
    return Table("sweeps", "compare", title, columns, rows, notebook.notes())


def _sweep(
    own: Sequence[Contrast], among: Sequence[MeasuredCase], notebook: Notebook
) -> tuple[Cell, ...]:
    verdicts = Counter(one.verdict for one in own)
    faster, slower = verdicts["faster"], verdicts["slower"]
    measure = own[0].first
    group = "" if measure.group == "sizes" else f", {measure.group}"
    rated = sorted((one for one in own if one.ratio), key=_ratio)
    ends = (
        [cell for one in (rated[0], rated[-1]) for cell in _where(one, notebook)] if rated else []
    )
    return (
        label(f"{name_of(measure.case, among)}{group}", case=measure.case.id),
        plain(len(own)),
        Cell(faster, str(faster), tone="good" if faster else ""),
        Cell(slower, str(slower), tone="bad" if slower else ""),
        plain(len(own) - faster - slower),
        *(ends or [missing()] * 4),
    )


def _ratio(one: Contrast) -> float:
    return one.ratio.value if one.ratio else 1.0


def _where(one: Contrast, notebook: Notebook) -> tuple[Cell, Cell]:
    """A ratio, and the point that it is at: a size, or the sign of a parameter."""
    ratio = notebook.estimate(one.ratio, one.second.case)
    if one.first.group == "parameters":
        return ratio, plain(one.first.what.split()[-1])
    return ratio, plain(one.first.what.removeprefix(one.first.group).strip())


def _details(
    name: str,
    title: str,
    found: Sequence[Contrast],
    among: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> Table:
    notebook = _notebook(found)
    rows = tuple(_row(one, among, notebook) for one in found)
    explain(found, notebook)
    alone = not any(one.first.what for one in found)
    times = [Column(f"{key}_s", named, "time") for key, named in zip(_NAMES, names, strict=True)]
    *ratio, verdict = COLUMNS
    verdict = replace(verdict, title=f"{names[1]} is")
    columns = (*(_COLUMNS[:1] if alone else _COLUMNS), *times, *ratio, verdict)
    rows = tuple(row[:1] + row[2:] for row in rows) if alone else rows
    return Table(name, "compare", title, columns, rows, notebook.notes(), 1 if alone else 2)


def _is_whole(table: Table) -> bool:
    """Whether a table has a row for each comparison that it is of."""
    return table.id in (_EVERY, _RESULTS)


def _results(
    found: Sequence[ResultContrast], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> Table:
    """What external programs print besides times: which is better, haloscope can't know."""
    notebook = Notebook([], [case for one in found for case in (one.first, one.second)])
    rows = tuple(
        (
            label(name_of(one.first, among), case=one.first.id),
            label(one.name),
            *(
                notebook.estimate(
                    case.estimate(number_of(case, one.name)), case, scale(case, one.name)
                )
                for case in (one.first, one.second)
            ),
            plain(one.first.unit(one.name)),
            plain(one.adjusted, probability(one.adjusted)),
            plain(one.verdict),
        )
        for one in found
    )
    tested = [one for one in found if one.adjusted is not None]
    if tested:
        over = "allocations" if any(one.first.allocations for one in tested) else "launches"
        test = "Student's" if over == "allocations" else "Mann-Whitney"
        notebook.note(
            f"p: {test} test over {over}, Holm's correction for {count(len(tested), 'result')}; "
            f"a difference is shown at p ≤ {ALPHA}."
        )
    columns = (
        *(Column("case", "case", align="left"), Column("result", "result", align="left")),
        *(Column(key, named) for key, named in zip(_NAMES, names, strict=True)),
        Column("unit", "unit", align="left", only_csv=True),
        *(Column("p_adjusted", "p"), Column("verdict", f"{names[1]} is", align="left")),
    )
    title = f"Results of {' and '.join(names)} compared"
    return Table(_RESULTS, "compare", title, columns, rows, notebook.notes(), 2)


def _notebook(found: Sequence[Contrast]) -> Notebook:
    return Notebook([], [case for one in found for case in (one.first.case, one.second.case)])


def _row(one: Contrast, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    return (
        label(name_of(one.first.case, among), case=one.first.case.id),
        label(one.first.what),
        notebook.estimate(one.first.time, one.first.case, one.first.scale),
        notebook.estimate(one.second.time, one.second.case, one.second.scale),
        *cells(one, notebook),
    )


LEAST = 0.02
"""LEAST is the share of a step in messages from which a change of the network can be seen in it:
messages that become twice as slow then add more than launches of one allocation usually scatter."""


def between_nodes(case: MeasuredCase) -> bool:
    """Whether a case was measured on several nodes."""
    return not case.simulated and case.number("nodes") > 1


def untouched(first: MeasuredCase, second: MeasuredCase) -> str:
    """Why a change of the network can't make two measurements of a case differ; "" where it can.

    "on one node", or the share of messages, by its phases, on the side where it is larger.
    """
    if first.simulated or second.simulated or not (first.launches and second.launches):
        return ""
    if not between_nodes(first) and not between_nodes(second):
        return "on one node"
    spent = [_in_messages(side) for side in (first, second)]
    known = [one for one in spent if one is not None]
    if len(known) < len(spent) or max(known) >= LEAST:
        return ""
    return f"messages take {percent(max(known))} of its time"


def _in_messages(case: MeasuredCase) -> float | None:
    """The share of a step in phases that compute nothing; None where no phase was recorded.

    A phase that computes declares its bytes or its operations. External programs declare none, so
    that all of their phases are taken for messages.
    """
    found = shares(case)
    if not found or case.settings.get("memory") == "device":  # whose waits lie in any phase
        return None
    computing = {
        phase["name"]
        for record in case.launches
        for phase in record.phases
        if phase.get("bytes") or phase.get("flops")
    }
    return sum(one.share.value for one in found if one.name not in {*computing, REST})
