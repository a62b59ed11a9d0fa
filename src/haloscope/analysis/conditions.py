# SPDX-License-Identifier: BSD-3-Clause
"""What launches were measured with, and in what those differ that stand together in a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, listed
from haloscope.toolchains.tuning import in_words

if TYPE_CHECKING:
    from haloscope.records.record import Record

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


def mixed(cases: Sequence[MeasuredCase]) -> str | None:
    """In what the good launches of some cases differ that a plan fixes, or was changed in between.

    None where in nothing.

    Measured and simulated launches, and those of MPI libraries with different names, are meant to
    differ.
    """
    seen: dict[tuple[str, str], dict[str, None]] = {}
    for what, among, value in (fact for case in cases for fact in _facts(case)):
        seen.setdefault((what, among), {})[value] = None
    several = {what: values for (what, _), values in seen.items() if len(values) > 1}
    differences = "; ".join(f"{what}: {listed([*values])}" for what, values in several.items())
    told = [
        *([f"Not measured alike, though under one name: {differences}."] if several else []),
        *_accepted(cases),
    ]
    return " ".join(told) or None


def _accepted(cases: Sequence[MeasuredCase]) -> Iterator[str]:
    """How many launches came after a change that a user accepted, and which change it was."""
    after = [record.changed for case in cases for record in case.launches if record.changed]
    if after:
        changes = listed([*dict.fromkeys(change for changes in after for change in changes)])
        yield f"{count(len(after), 'launch', 'launches')} came after an accepted change: {changes}."


@lru_cache(maxsize=10_000)
def _facts(case: MeasuredCase) -> tuple[tuple[str, str, str], ...]:
    """What a plan fixes of a case's launches, each once: several parts of a report ask for it."""
    return tuple(dict.fromkeys(fact for record in case.launches for fact in _fixed(record)))


def _fixed(record: Record) -> Iterable[tuple[str, str, str]]:
    """What a plan fixes, in words; among which launches it is to be the same; and what it was."""
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
