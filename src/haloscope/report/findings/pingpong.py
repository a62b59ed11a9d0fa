# SPDX-License-Identifier: BSD-3-Clause
"""The smallest messages' time and the best bandwidth between two processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import listed, rate, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, on_emulated, place

ORDER = 140
TOLD = 4
"""TOLD is the largest number of settings that are told one by one; of more, the best alone."""

_REST = "no placement asked for"
"""_REST names the ranks that are placed nowhere in particular beside others that are."""

_Ends = Mapping[str, tuple[Swept, Swept]]
"""By setting, its smallest message, and the one with the highest bandwidth."""


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """The smallest messages' time and the best bandwidth of each setting, or the best of many."""
    own = [case for case in cases if exchanges(case) and case.launches]
    parts = {
        part.label: [p for p in sweep(part.cases[0]) if p.size_bytes] for part in facets(own, ())
    }
    ends = {
        label: (points[0], max(points, key=lambda point: point.rate.value))
        for label, points in parts.items()
        if points
    }
    if not ends:
        return
    quick = sorted(ends, key=lambda label: ends[label][0].one_way.value)
    broad = sorted(ends, key=lambda label: -ends[label][1].rate.value)
    where = place(*own) + on_emulated(*own)
    least = ends[quick[0]][0].size_bytes
    if 1 < len(ends) <= TOLD and {first.size_bytes for first, _ in ends.values()} == {least}:
        times = listed([f"{_time(ends, one)}{_named(one or _REST)}" for one in quick])
        rates = listed([f"{_rate(ends, one, ' at')}{_named(one or _REST)}" for one in broad])
        yield Finding(
            f"Ping-pong{where}{few(*own)}: {size(least)} take one way {times}; the highest "
            f"bandwidth is {rates}."
        )
        return
    told = [part.cases[0] for part in facets(own, ()) if part.label in (quick[0], broad[0])]
    yield Finding(
        f"Ping-pong{where}{few(*told)}: {size(least)} take {_time(ends, quick[0])} one way"
        f"{_named(quick[0])}; the highest bandwidth is {_rate(ends, broad[0])}{_named(broad[0])}"
        f"{f', of {len(ends)} settings' if len(ends) > 1 else ''}."
    )


def _time(ends: _Ends, label: str) -> str:
    return seconds(ends[label][0].one_way.value)


def _rate(ends: _Ends, label: str, at: str = ", at") -> str:
    best = ends[label][1]
    return f"{rate(best.rate.value)}{at} {size(best.size_bytes)}"


def _named(label: str) -> str:
    """A setting's name after its number; one that nothing sets apart has none."""
    return f" ({label})" if label else ""
