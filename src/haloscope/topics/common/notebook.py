# SPDX-License-Identifier: BSD-3-Clause
"""Cells with their spread and marks, and the notes that these need.

A Notebook accompanies the construction of one table. It sees every estimate in a cell, so its notes
explain the kinds of spread in the table, the marks of cases, and every excluded launch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.conditions import mixed, scatter
from haloscope.analysis.validation.published import Reference, by_place, without_brackets
from haloscope.grouped import grouped
from haloscope.quantities import (
    NODE_SECONDS,
    PLAIN,
    SECONDS,
    Scale,
    capitalised,
    count,
    ends,
    listed,
    quantity,
    signed,
)
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.table import Cell, Column, Table, missing
from haloscope.topics.common.words import BECAME, RANGE, ratio_between
from haloscope.topics.contrast import alike

OVERSUBSCRIBED, SIMULATED, VERIFIED, FITTED, LAUNCHES_MISSING = "†", "‡", "§", "¶", "*"
EMULATED = "‖"
REPLICATES = (
    "launches are simulated replicates with random node speeds (--spread or the cluster "
    "file), which intervals cover."
)
ONE_ALLOCATION = (
    "All launches ran in one batch job (allocation); results may not hold on other nodes."
)
"""ONE_ALLOCATION states the limitation of intervals over launches on the same nodes."""
_LONGEST = 200
NAMED_CASES = 3
"""NAMED_CASES is the maximum number of cases not run that a note names: a study that was stopped
early has hundreds.
"""


class Notebook:
    """Makes the cells of one table and collects its notes."""

    def __init__(self, cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase]) -> None:
        """Start a table that shows (or excludes) these cases, named by their differences among
        others.
        """
        self._cases = list(cases)
        self._among = [*cases, *among]
        self._estimates: list[Estimate] = []
        self._marks: set[str] = set()
        self._extra: dict[str, None] = {}
        self._sources: dict[str, dict[str, None]] = {}

    def note(self, *sentences: str) -> None:
        """Add notes of one sentence each, the most important first; equal ones count once."""
        self._extra.update(dict.fromkeys(sentences))

    def estimate(self, estimate: Estimate | None, case: MeasuredCase, scale: Scale = PLAIN) -> Cell:
        """Return a cell for an estimate of one case, with its spread and marks."""
        if estimate is None:
            return self.absent(case)
        if not case.alike:  # launches that are all identical need no note
            self._estimates.append(estimate)
        return replace(estimated(estimate, scale), marks=self._marks_of(case), case=case.id)

    def time(
        self, case: MeasuredCase | None, published: Reference | None = None, mesh: str = ""
    ) -> Cell:
        """Return a case's wall time, with the published one."""
        if case is None:
            return missing()
        cell = self.estimate(case.time, case, SECONDS)
        if case.time is None or published is None:
            return cell
        cell = self.beside(cell, published, mesh)
        if published.threads_bound and case.ranks > 1:
            self.note(
                "The published times are for bound threads "
                f"(OMP_PROC_BIND={published.threads_bound}); the binding of processes is unknown."
            )
        if case.simulated and case.settings.get("nodes") == 1:  # as in `haloscope validate`
            self._marks.add(FITTED)
            cell = replace(cell, marks=cell.marks + FITTED)
        if published.low <= 0:
            return cell
        clock_of = "simulated" if case.simulated else "measured"
        self.note(f"ratio: {clock_of} time / published time.")
        own = case.time.value
        ratio = ratio_between(own / published.value, own / published.high, own / published.low)
        if RANGE in ratio:
            self.note(f"a{RANGE}b: range implied by the rounding of the published time.")
        return replace(cell, ratio=f"{ratio} ×")

    def node_time(self, case: MeasuredCase | None) -> Cell:
        """Return the nodes of a case times its wall time: the cost of a step."""
        return missing() if case is None else self.estimate(case.node_time, case, NODE_SECONDS)

    def beside(self, cell: Cell, published: Reference | None, mesh: str = "") -> Cell:
        """Return a cell with its published counterpart and the mesh of the latter, as in `time`."""
        if published is None:
            return cell
        self._sources.setdefault(published.source, {})[mesh] = None
        named = f" ({published.variant})" if published.variant else ""
        text = f"{signed(published.text)}{named}"
        unlike = bool(published.variant)
        return replace(
            cell,
            published=text,
            published_value=published.value,
            published_ends=(published.low, published.high),
            unlike=unlike,
        )

    def derived(self, cell: Cell, case: MeasuredCase) -> Cell:
        """Return a cell without spread that was computed from a case's launches, with its marks."""
        if cell.value is None:
            return cell
        return replace(cell, marks=self._marks_of(case), case=case.id)

    def absent(self, case: MeasuredCase) -> Cell:
        """Return a cell for a case without a good launch, with the outcome."""
        outcomes = Counter(record.outcome for record in case.excluded)
        cell = missing(outcomes.most_common(1)[0][0] if outcomes else "not run", warn=True)
        return replace(cell, case=case.id)

    def _published(self) -> str:
        meshes = [[mesh for mesh in own if mesh] for own in self._sources.values()]
        if len(meshes) == 1 or not all(meshes):
            return "; ".join(by_place(self._sources))
        pairs = zip(self._sources, meshes, strict=True)
        return "; ".join(
            f"for n = {listed(own)}, {without_brackets(source)}" for source, own in pairs
        )

    def _marks_of(self, case: MeasuredCase) -> str:
        marks = ""
        if case.oversubscribed:
            marks += OVERSUBSCRIBED
        if case.emulated:
            marks += EMULATED
        if case.simulated:
            marks += SIMULATED + (VERIFIED if case.verified else "")
        if case.excluded or (case.planned or 0) > len(case.launches):
            marks += LAUNCHES_MISSING
        self._marks.update(marks)
        return marks

    def table(
        self,
        kind: str,
        title: str,
        columns: Iterable[Column],
        rows: Iterable[tuple[Cell, ...]],
        *,
        id: str = "",
        stub: int = 1,
        points: tuple[tuple[Mapping[str, Any], ...], ...] = (),
    ) -> Table:
        """Return a table of these cells, with their notes. id: by default its kind."""
        shown = tuple(rows)  # before the notes, to which rows may add
        return Table(
            id or kind,
            kind,
            title,
            tuple(columns),
            shown,
            self.notes(),
            stub,
            points=points,
        )

    def notes(self) -> tuple[str, ...]:
        """Return all notes, most important first."""
        published = [f"Published values: {self._published()}."] if self._sources else []
        nested = any(case.allocations for case in self._cases)
        scattered = scatter(tuple(dict.fromkeys(self._among))) if nested else None
        return (
            *filter(None, [mixed(self._cases)]),
            *spread_notes(self._estimates),
            *filter(None, [scattered]),
            *self._mark_notes(),
            *_one_program(self._cases),
            *_pooled(self._cases),
            *published,
            *self._extra,
            *left_out(self._cases, self._among),
        )

    def _mark_notes(self) -> list[str]:
        texts = {
            OVERSUBSCRIBED: "oversubscribed: processes or threads shared cores.",
            EMULATED: "emulated device (host memory and threads): results are verified; "
            "timings are not representative of a GPU.",
            SIMULATED: self._simulated_note(),
            VERIFIED: "simulated with computation: the result was verified.",
            FITTED: (
                "one node: published times of this kind may have been used to set values in the "
                "cluster file."
            ),
            LAUNCHES_MISSING: "some launches of this case are not included; see below.",
        }
        return [f"{mark} {text}" for mark, text in texts.items() if mark in self._marks]

    def _simulated_note(self) -> str:
        alike = "simulated time: deterministic, so no interval is given."
        drawn = [case for case in self._cases if case.replicated]
        if not drawn:
            return alike
        also = ""
        if any(case.alike and case.launches for case in self._cases):
            also = " Launches with identical nodes have no interval."
        return f"simulated time: {REPLICATES}{also}"


def spread_notes(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Explain the spreads of estimates, by method, with the number of launches."""
    by_method = grouped(estimates, lambda one: one.method)
    texts = {
        "rank interval": "[a, b]: rank-based interval of the median over {launches}, "
        "confidence {confidence} or more.",
        "bootstrap interval": "[a, b]: bootstrap interval over {launches}, {confidence}.",
        "interval over launches": "[a, b]: Student's interval around the geometric "
        "mean of the percentiles of {launches}, {confidence}.",
        "pooled": "A percentile without a range: all repetitions of {launches} together, each "
        "with too few for an interval.",
        "interval over allocations": "[a, b]: Student's interval around the geometric "
        "mean of the medians of {allocations} of the batch system, with {launches} "
        "(Kalibera and Jones 2013), {confidence}.",
        "range": "a … b: range over {launches}; too few for a confidence interval.",
        "repetitions": "(a … b): range over the repetitions of one launch; other "
        "launches may differ.",
        "none": "A value without a range: {launches}, too few for an interval.",
    }
    for method, text in texts.items():
        if own := by_method.get(method):
            launches = _counted([one.n for one in own], "launch", "launches")
            over = _counted([one.allocations or 1 for one in own], "allocation", "allocations")
            confidence = f"{100 * min(one.confidence or 0 for one in own):.1f} %"
            yield text.format(launches=launches, allocations=over, confidence=confidence)
    if any(one.allocations == 1 for one in estimates):
        yield ONE_ALLOCATION


def _one_program(cases: Sequence[MeasuredCase]) -> list[str]:
    """Explain that one process exchanges nothing, so that its variants run identical code."""
    values: dict[str, dict[str, None]] = {}
    for ways, part in alike(cases):
        for case in part.cases:
            values.setdefault(ways.setting, {})[str(case.settings[ways.setting])] = None
    alike_ = all(case.alike for case in cases)
    what = "simulations" if alike_ else "measurements"
    noise = "" if alike_ else "; differences are noise"
    return [
        f"On a single process, which exchanges no messages, {name} = {listed(list(own))} run "
        f"identical code ({len(own)} {what}{noise})."
        for name, own in values.items()
    ]


def _pooled(cases: Sequence[MeasuredCase]) -> list[str]:
    """State that a case has the launches of others with identical code, if one has."""
    several = any(len({record.case for record in case.launches}) > 1 for case in cases)
    return (
        ["Cases with one process run identical code, so their launches are pooled."]
        if several
        else []
    )


def left_out(cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase]) -> list[str]:
    """Return a line for every reason to exclude launches; cases not run are listed or counted."""
    lines = _excluded(cases, among)
    missing = {
        name_of(case, among): (_total(case) - _seen(case), _total(case))
        for case in cases
        if _total(case) > _seen(case)
    }
    if len(missing) > NAMED_CASES:
        not_run, total = (sum(each) for each in zip(*missing.values(), strict=True))
        launches = count(total, "launch", "launches")
        named = _named(list(missing))
        lines.append(f"Not run: {not_run} of {launches} of {len(missing)} cases: {named}.")
    else:
        lines += [
            f"Not run: {name}: {_of(not_run, total)}." for name, (not_run, total) in missing.items()
        ]
    return lines


def _of(some: int, total: int) -> str:
    """Return "2 of 6 launches", "all 6 launches", or "the only launch"."""
    if total == 1:
        return "the only launch"
    if some == total:
        return f"{'both' if total == 2 else f'all {total:,}'} launches"
    return f"{some:,} of {count(total, 'launch', 'launches')}"


def _seen(case: MeasuredCase) -> int:
    return len(case.launches) + len(case.excluded)


def _total(case: MeasuredCase) -> int:
    return max(case.planned or 0, _seen(case))


def _named(names: Sequence[str]) -> str:
    rest = len(names) - NAMED_CASES
    return "; ".join([*names[:NAMED_CASES], *([f"and {rest} more"] if rest > 0 else [])])


def _excluded(cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase]) -> list[str]:
    alike: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    for case in cases:
        for outcome in dict.fromkeys(record.outcome for record in case.excluded):
            own = [record for record in case.excluded if record.outcome == outcome]
            reason = next((record.reason for record in own if record.reason), "no reason recorded")
            one = (name_of(case, among), len(own), _total(case))
            alike.setdefault((outcome, _shortened(reason)), []).append(one)
    lines = []
    for (outcome, reason), several in alike.items():
        names, left, totals = zip(*several, strict=True)
        launches = _of(sum(left), sum(totals))
        lines.append(
            f"Left out: {_named(names)}. {capitalised(launches)} {BECAME[outcome]}: {reason}"
        )
    return lines


def estimated(estimate: Estimate, scale: Scale = PLAIN) -> Cell:
    """Return a cell for an estimate with its spread, without the marks of a case."""
    text = quantity(estimate.value, scale)
    spread = spread_text(estimate, scale)
    return Cell(estimate.value, text, estimate.low, estimate.high, spread)


def spread_text(estimate: Estimate, scale: Scale = PLAIN) -> str:
    """Format a spread: [a, b] interval, a … b launches, (a … b) repetitions of one launch."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = ends(estimate.value, estimate.low, estimate.high, scale)
    if estimate.method == "range":
        return f"{low} … {high}"
    return f"({low} … {high})" if estimate.method == "repetitions" else f"[{low}, {high}]"


def _counted(numbers: Sequence[int], what: str, several: str) -> str:
    low, high = min(numbers), max(numbers)
    return count(low, what, several) if low == high else f"{low} to {high} {several}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
