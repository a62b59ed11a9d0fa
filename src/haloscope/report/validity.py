# SPDX-License-Identifier: BSD-3-Clause
"""What simulated times are worth, in words: how far predictions like them were off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.published import called
from haloscope.papers.validated import Validated, validated
from haloscope.quantities import count, listed


def validity(cases: Sequence[MeasuredCase]) -> Iterator[str]:
    """Of each simulated cluster a sentence of what was validated, and one of what was not."""
    simulated = [case for case in cases if case.simulated and case.cluster]
    for cluster in dict.fromkeys(str(case.cluster) for case in simulated):
        there = [case for case in simulated if case.cluster == cluster]
        known, unknown = [], []
        for kernel in dict.fromkeys(case.kernel for case in there):
            own = [case for case in there if case.kernel == kernel]
            tables = [v for v in validated() if (v.cluster, v.kernel) == (cluster, kernel)]
            if tables:
                known.append((kernel, _off(tables)))
            others = _unlike(own, tables)
            if others is not None:
                unknown.append(f"{kernel}{others}")
        if known:
            first, *further = known
            told = [f"{first[0]} on {cluster} were predicted (at the median, at worst) {first[1]}"]
            yield f"Published times of {'; of '.join([*told, *map(' '.join, further)])}."
        if unknown:
            yield f"Nothing validates what is simulated on {cluster} of {listed(unknown)}."


def _variant(case: MeasuredCase) -> str:
    """What is validated apart: a kernel's variant; of one without, the memory that it works in."""
    own = case.settings.get("variant")
    return f"memory={case.settings.get('memory', 'host')}" if own is None else str(own)


def _off(tables: Sequence[Validated]) -> str:
    """By how much, table by table: a solver, or a sweep, of the variant that was published."""
    told = []
    for one in tables:
        variant = "" if one.variant == _PLAIN else f"{one.variant}, "
        cells = count(one.cells, "cell") + (one.over and f" over {one.over}")
        told.append(
            f"{100 * one.median:.1f} and {100 * one.worst:.1f} % off ({variant}{cells}: "
            f"{one.paper}, {called(one.table)})"
        )
    return listed(told)


_PLAIN = "memory=host"
"""_PLAIN is the variant of a kernel without any, which needs no word."""


def _unlike(cases: Sequence[MeasuredCase], tables: Sequence[Validated]) -> str | None:
    """What of some cases no table validates: "" for all, their variants; None for nothing."""
    if not tables:
        return ""
    known = {one.variant for one in tables}
    variants = dict.fromkeys(_variant(case) for case in cases)
    others = [variant for variant in variants if variant not in known]
    return f" ({', '.join(others)})" if others else None
