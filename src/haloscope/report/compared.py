# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two result folders: one table per kernel, and cases independent of the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.comparison import (
    FEW_ALLOCATIONS,
    UNDECIDED,
    Contrast,
    Measure,
    contrasts,
    launches_needed,
    measures,
    step,
)
from haloscope.grouped import grouped
from haloscope.quantities import capitalised, count, listed, percent
from haloscope.report.compared_tables import (
    NAMES,
    RESULTS,
    details_table,
    is_lacking,
    results_tables,
    sweeps_table,
)
from haloscope.study.settings import Setting
from haloscope.topics.common.notebook import left_out
from haloscope.topics.common.table import Table, joined
from haloscope.topics.phases import REST, shares
from haloscope.topics.programs import UNPAIRED, ResultContrast, results_compared

_EVERY = "comparisons"
_ELSEWHERE = ("runner",)
"""Settings that describe where a case was run."""


@dataclass(frozen=True)
class Compared:
    """Result of the comparison.

    tables: sweeps, one row each, and cases with a single time; empty if no case is in both.
    details: every comparison in a separate row, or empty. contrasts: all comparisons, corrected
    together. results: results of external programs besides times. refused: why cases with equal
    settings are not compared, or "". names: column names of the two folders. alone:
    names of cases measured in one folder only, and of that folder.
    """

    tables: tuple[Table, ...]
    details: Table | None
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    refused: str = ""
    names: tuple[str, str] = NAMES
    results: tuple[ResultContrast, ...] = ()
    alone: tuple[tuple[str, str], ...] = ()

    @property
    def every(self) -> Table | None:
        """Return all comparisons of times and of results in one table, for CSV files; None without
        any.
        """
        every = [table for table in (self.details, *self.tables) if table]
        shown = [table for table in every if table.id in (_EVERY, RESULTS)]
        return joined(shown) if shown else None


def compare_cases(
    first: Sequence[MeasuredCase],
    second: Sequence[MeasuredCase],
    seed: int = 0,
    names: tuple[str, str] = NAMES,
) -> Compared:
    """Compare every case of the first set with the one that has equal settings in the second.

    names: of the two sets, used in columns. If each set was measured with one toolchain and these
    differ, the toolchains are compared. Cases, points of sweeps, and results without a counterpart
    are listed. Times of an emulated device are not compared with those of a real one.
    """
    ignored = _ELSEWHERE + (("toolchain",) if _toolchain_differs(first, second) else ())
    sides = _by_settings(first, ignored), _by_settings(second, ignored)
    every = [(own, sides[1][key]) for key, own in sides[0].items() if key in sides[1]]
    alike = [pair for own, others in every for pair in product(own, others)]
    pairs = [pair for pair in alike if not _one_is_emulated(*pair)]
    found = contrasts(
        [
            pair
            for own, others in every
            if not any(_one_is_emulated(*pair) for pair in product(own, others))
            for pair in _measures(own, others)
        ],
        seed,
        apart=True,
    )
    printed = results_compared(pairs, seed)
    refused = ""
    if emulated := len(alike) - len(pairs):
        refused = f"{count(emulated, 'case')} used an emulated device in only one folder"
    unpaired = _unpaired(alike, first, second, names)
    apart = _untouched(pairs)
    notes = [
        *_what_is_compared(refused, first, second, names),
        *(f"Only in {which}: {name}." for name, which, _ in unpaired),
        *(line for cases in (first, second) for line in left_out(cases, cases)),
        *_lacking(found, [*first, *second], names),
        *_lacking_results(printed, first, names),
        *_what_cannot_change(apart),
        *_undecided(found, printed),
    ]
    return Compared(
        tuple(_tables(found, printed, first, names)),
        details_table(_EVERY, "All comparisons", found, first, names) if found else None,
        tuple(found),
        tuple(dict.fromkeys(notes)),
        refused,
        names,
        tuple(printed),
        tuple((name, which) for name, which, measured in unpaired if measured),
    )


def _unpaired(
    alike: Sequence[tuple[MeasuredCase, MeasuredCase]],
    first: Sequence[MeasuredCase],
    second: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> list[tuple[str, str, bool]]:
    """Return name, folder, and whether it was measured, for cases without a counterpart."""
    paired = {id(case) for pair in alike for case in pair}
    return [
        (name_of(case, [*first, *second]), which, bool(case.launches))
        for which, cases in zip(names, (first, second), strict=True)
        for case in cases
        if id(case) not in paired
    ]


def _what_is_compared(
    refused: str,
    first: Sequence[MeasuredCase],
    second: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> Iterator[str]:
    if refused:
        yield f"Not compared: {refused}, whose timings are not representative of a real device."
    if _toolchain_differs(first, second):
        used = [
            f"{cases[0].settings.get('toolchain')} ({which})"
            for which, cases in zip(names, (first, second), strict=True)
        ]
        yield f"Toolchains compared: {listed(used)}."


def _tables(
    found: Sequence[Contrast],
    printed: Sequence[ResultContrast],
    among: Sequence[MeasuredCase],
    names: tuple[str, str],
) -> Iterator[Table]:
    """Yield tables of sweeps, cases with a single time, and results, if there are any."""
    groups = grouped(found, lambda one: (one.first.case.id, one.first.group))
    sweeps = [own for own in groups.values() if len(own) > 1]
    alone = [one for own in groups.values() if len(own) == 1 for one in own]
    if sweeps:
        yield sweeps_table(sweeps, among, names)
    if alone:
        both = " and ".join(names)
        title = f"{capitalised(both) if names == NAMES else both} compared"
        yield details_table("compare", title, alone, among, names)
    if printed:
        yield results_tables(printed, among, names)


def _lacking_results(
    printed: Sequence[ResultContrast], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> list[str]:
    return [
        f"Only in {which}: {name_of(one.first, among)}: result {one.name}."
        for which, verdict in zip(names, UNPAIRED, strict=True)
        for one in printed
        if one.verdict == verdict
    ]


def _what_cannot_change(apart: Sequence[tuple[str, str]]) -> Iterator[str]:
    if apart:
        unaffected = "; ".join(f"{name} ({why})" for name, why in apart)
        yield f"A change in the network between nodes cannot affect these cases: {unaffected}."


def _undecided(found: Sequence[Contrast], printed: Sequence[ResultContrast]) -> Iterator[str]:
    """Yield how many allocations would decide undecided comparisons."""
    verdicts = {*(one.verdict for one in found), *(one.verdict for one in printed)}
    if {UNDECIDED, FEW_ALLOCATIONS} & verdicts:
        tests = max(len(found), len(printed))
        needed = launches_needed(tests)
        yield (
            "Allocations are compared, because results of one job may not hold on other nodes. "
            f"{count(tests, 'comparison')} {'needs' if tests == 1 else 'need'} {needed} "
            "allocations on each side; with fewer, no difference can be significant. To submit "
            f"more jobs: run --resume DIR --allocations {needed}."
        )


def _untouched(pairs: Sequence[tuple[MeasuredCase, MeasuredCase]]) -> tuple[tuple[str, str], ...]:
    """Return the cases that the network cannot affect, if others run on several nodes."""
    among = [case for pair in pairs for case in pair]
    if not any(map(between_nodes, among)):
        return ()
    firsts = [one for one, _ in pairs]
    found = ((name_of(one, firsts), untouched(one, other)) for one, other in pairs)
    return tuple((name, why) for name, why in found if why)


def _one_is_emulated(first: MeasuredCase, second: MeasuredCase) -> bool:
    return bool(first.launches and second.launches) and first.emulated != second.emulated


def _toolchain_differs(first: Sequence[MeasuredCase], second: Sequence[MeasuredCase]) -> bool:
    names = [{case.settings.get("toolchain") for case in cases} for cases in (first, second)]
    return all(len(one) == 1 for one in names) and names[0] != names[1]


def _by_settings(
    cases: Sequence[MeasuredCase], ignored: Sequence[str]
) -> Mapping[frozenset[tuple[str, Setting]], Sequence[MeasuredCase]]:
    """Group cases by settings: imported ones with different operations may have equal settings."""

    def compared(case: MeasuredCase) -> frozenset[tuple[str, Setting]]:
        return frozenset((name, v) for name, v in case.settings.items() if name not in ignored)

    return grouped(cases, compared)


def _measures(
    first: Sequence[MeasuredCase], second: Sequence[MeasuredCase]
) -> list[tuple[Measure, Measure]]:
    """Return the pairs of steps or of points; the steps if one side has no good launch."""
    mine, theirs = ([one for case in side for one in measures(case)] for side in (first, second))
    if not all(any(one.sample for one in side) for side in (mine, theirs)):
        return [(step(first[0]), step(second[0]))]
    return [
        pair
        for what in dict.fromkeys(one.what for one in (*mine, *theirs))
        for pair in product(_at(what, mine, theirs, first[0]), _at(what, theirs, mine, second[0]))
    ]


def _at(
    what: str, own: Sequence[Measure], others: Sequence[Measure], case: MeasuredCase
) -> list[Measure]:
    """Return what one side measured at a point; without a time if it lacks the point."""
    found = [one for one in own if one.what == what]
    return (
        found
        or [
            replace(one, case=case, sample=(), time=None, of=None)
            for one in others
            if one.what == what
        ][:1]
    )


def _lacking(
    found: Sequence[Contrast], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> list[str]:
    lacking: dict[tuple[str, str], list[str]] = {}
    for one in found:
        sides = one.first, one.second
        if is_lacking(one):
            which, side = next(pair for pair in zip(names, sides, strict=True) if pair[1].sample)
            lacking.setdefault((which, name_of(side.case, among)), []).append(one.first.what)
    return [
        f"Only in {which}: {name} at {listed(points[:_NAMED])}"
        f"{f' and {len(points) - _NAMED} more (--details lists all)' * (len(points) > _NAMED)}."
        for (which, name), points in lacking.items()
    ]


_NAMED = 12


LEAST = 0.02
"""Messages that become twice as slow then add more than the usual scatter of launches."""


def between_nodes(case: MeasuredCase) -> bool:
    """Return whether a case was measured on several nodes."""
    return not case.simulated and case.layout.nodes > 1


def untouched(first: MeasuredCase, second: MeasuredCase) -> str:
    """Return why a change of the network cannot affect two measurements of a case, or ""."""
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
    """Return the share of a step in phases without computation; None without phases.

    A phase that computes declares its bytes or its operations. External programs declare none, so
    all of their phases count as messages.
    """
    found = shares(case)
    if not found or case.settings.get("memory") == "device":  # waits may be in any phase
        return None
    computing = {
        phase["name"]
        for record in case.launches
        for phase in record.phases
        if phase.get("bytes") or phase.get("flops")
    }
    return sum(one.share.value for one in found if one.name not in {*computing, REST})
