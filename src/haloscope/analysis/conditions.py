# SPDX-License-Identifier: BSD-3-Clause
"""Measurement conditions of launches: mixed conditions, and allocations of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from haloscope.analysis import remembered
from haloscope.analysis.cases import MeasuredCase
from haloscope.grouped import grouped
from haloscope.quantities import capitalised, count, listed
from haloscope.records.record import Record
from haloscope.stats import Rule
from haloscope.stats.allocations import components, level_to_repeat
from haloscope.toolchains.launching.tuning import in_words

_OF_A_LIBRARY = {
    "mpi": "MPI library",
    "compiler": "compiler",
    "flags": "compiler's flags",
    "source": "halobench's sources",
    "launcher": "launcher",
}
_OF_A_PROGRAM = {
    "hash": "program.toml",
    "version": "version of the program",
    "launcher": "launcher",
}
_OF_A_MACHINE = {"host": "host", "cpu": "processor", "cores": "cores"}


def differences(cases: Sequence[MeasuredCase]) -> dict[str, list[str]]:
    """Return the conditions fixed by a plan that differ between good launches, with all values."""
    facts = dict.fromkeys(fact for case in cases for fact in _facts(case))
    seen = grouped(facts, lambda fact: fact[:2])
    return {what: [fact[2] for fact in own] for (what, _), own in seen.items() if len(own) > 1}


def changes(cases: Sequence[MeasuredCase]) -> list[str]:
    """Return the changes that a user accepted before some of the launches, each once."""
    after = [record.changed for case in cases for record in case.launches if record.changed]
    return [*dict.fromkeys(change for changed in after for change in changed)]


def mixed(cases: Sequence[MeasuredCase]) -> str | None:
    """Describe these differences for the note of a table; None if there are none."""
    text = "; ".join(f"{what}: {listed(values)}" for what, values in differences(cases).items())
    after = sum(bool(record.changed) for case in cases for record in case.launches)
    sentences = [
        *(
            [f"Measured under different conditions, but with the same name: {text}."]
            if text
            else []
        ),
        *(
            [
                f"{count(after, 'launch', 'launches')} measured after a change (--accept-change): "
                f"{listed(changes(cases))}."
            ]
            if after
            else []
        ),
    ]
    return " ".join(sentences) or None


@remembered(10_000)
def _facts(case: MeasuredCase) -> tuple[tuple[str, str, str], ...]:
    """Return the conditions of a case's launches, each once; several parts of a report use them."""
    different = {_objects(record): record for record in reversed(case.launches)}
    first = reversed(different.values())
    return tuple(dict.fromkeys(fact for record in first for fact in _fixed(record)))


def _objects(record: Record) -> tuple[object, ...]:
    """Return what `_fixed` reads of a record; the records of a case share these objects."""
    machine = record.machine or {}
    shared = (record.toolchain, record.program, record.tuning, record.simulation)
    return (*map(id, shared), *(str(machine.get(key)) for key in _OF_A_MACHINE))


def _fixed(record: Record) -> Iterable[tuple[str, str, str]]:
    """Yield each fixed condition in words, the scope in which it must be equal, and its value."""
    yield from _said(record.toolchain, _OF_A_LIBRARY, f"{record.clock} {record.toolchain['name']}")
    yield from _said(
        record.program or {}, _OF_A_PROGRAM, f"{record.kernel} {record.toolchain['name']}"
    )
    yield from _said(record.machine or {}, _OF_A_MACHINE, record.clock)
    if record.tuning is not None:
        tuned = in_words(record.tuning)
        yield "MPI variables", f"{record.clock} {record.toolchain['name']}", tuned
    if platform := (record.simulation or {}).get("platform"):
        yield "state of the cluster file", record.clock, platform


def _said(
    facts: dict[str, object], words: dict[str, str], among: str
) -> Iterator[tuple[str, str, str]]:
    for key, what in words.items():
        if facts.get(key) is not None:
            yield what, among, str(facts[key]).partition("\n")[0]


@remembered(2)
def scatter(cases: tuple[MeasuredCase, ...]) -> str | None:
    """Describe the scatter of allocations and launches, and which of them to add.

    Medians over the cases that were measured in at least two allocations; None without one. What to
    add depends on the default precision of studies. Cached, because every table of a report needs
    it.
    """
    nested = [case.by_allocation(case.times_s) for case in cases if case.allocations]
    several = [one for one in nested if one and len(one) > 1]
    if not several:
        return None
    found = [components(one) for one in several]
    within = [one.within for one in found if one.within is not None]
    text = (
        f"standard deviation between allocations {100 * median(one.between for one in found):.2g} %"
    )
    if within:
        text += f", between launches of one allocation {100 * median(within):.2g} %"
    asked = [level_to_repeat(one, Rule().half_width) for one in several]
    more = "; to narrow these intervals, add "
    level = next((one for one in ("allocation", "launch") if one in asked), "")
    add = {"allocation": f"{more}allocations rather than launches", "launch": f"{more}launches"}
    return f"{capitalised(text)} (medians over all cases){add.get(level, '')}."
