# SPDX-License-Identifier: BSD-3-Clause
"""Cases divided by their settings: parts of which each is one table or panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.study.settings import MODE, OUTPUT, PROTOCOL, Setting, Settings, apart, describe


@dataclass(frozen=True)
class Facet:
    """Cases that differ in nothing but the axes of one table.

    label: what sets this facet apart from the others ("exchange = blocking"); "" when alone.
    """

    label: str
    settings: Settings
    cases: tuple[MeasuredCase, ...]


def facets(cases: Sequence[MeasuredCase], axes: Iterable[str]) -> list[Facet]:
    """Split cases by every setting that is not one of `axes`; name what sets each part apart.

    Without axes each case is a part, also where it differs from another in its protocol alone. With
    axes, what only the protocol tells apart are parts too, as one would stand in the other's place.
    """
    chosen = {*axes}
    inside = {*chosen, *PROTOCOL, *OUTPUT}
    if chosen:
        inside -= _swept(cases) - chosen
    if {"nodes", "ppn"} <= inside:
        inside.add("tasks")  # that follows from these
    parts: dict[tuple[tuple[str, Setting], ...], list[MeasuredCase]] = {}
    for case in cases:
        outside = tuple((k, v) for k, v in sorted(case.settings.items()) if k not in inside)
        parts.setdefault(outside, []).append(case)
    if "threads" in inside:
        parts = _with_one_thread(parts)
    every = [dict(key) for key in parts]
    names = {mode: apart({MODE: mode}, every) for mode in {one.get(MODE) for one in every}}
    found = [
        Facet(describe(one, names[one.get(MODE)]), one, tuple(own))
        for one, own in zip(every, parts.values(), strict=True)
    ]
    return found if chosen else [one for part in found for one in _each(part)]


def _with_one_thread(
    parts: Mapping[tuple[tuple[str, Setting], ...], list[MeasuredCase]],
) -> dict[tuple[tuple[str, Setting], ...], list[MeasuredCase]]:
    """Put cases in which the binding of threads is moot into every part that differs in it alone.

    They are the first point of each curve over threads.
    """
    bound: dict[frozenset[tuple[str, Setting]], list[tuple[tuple[str, Setting], ...]]] = {}
    for key in parts:
        if ("thread_bind", None) not in key:
            rest = frozenset(item for item in key if item[0] != "thread_bind")
            bound.setdefault(rest, []).append(key)
    found: dict[tuple[tuple[str, Setting], ...], list[MeasuredCase]] = {}
    for key, own in parts.items():
        for other in bound.get(frozenset({*key} - {("thread_bind", None)}), [key]):
            found.setdefault(other, []).extend(own)
    return found


def _swept(cases: Sequence[MeasuredCase]) -> set[str]:
    """The names of the protocol by which alone some cases differ from others."""
    found = set()
    for name in PROTOCOL:
        if len({case.settings.get(name) for case in cases}) < 2:
            continue
        values_of: dict[tuple[tuple[str, Setting], ...], set[Setting]] = {}
        for case in cases:
            others = tuple((k, v) for k, v in sorted(case.settings.items()) if k != name)
            values_of.setdefault(others, set()).add(case.settings.get(name))
        if any(len(values) > 1 for values in values_of.values()):
            found.add(name)
    return found


def _each(part: Facet) -> list[Facet]:
    """Its cases by themselves; what no setting tells apart is called by its id."""
    if len(part.cases) == 1:
        return [part]
    names = [
        name
        for name in (*PROTOCOL, *OUTPUT)
        if len({case.settings.get(name) for case in part.cases}) > 1
    ]
    found = []
    for case in part.cases:
        description = describe(case.settings, names) or f"case {case.id}"
        label = ", ".join(text for text in (part.label, description) if text)
        found.append(Facet(label, part.settings, (case,)))
    return found


def facets_by_kernel(cases: Sequence[MeasuredCase]) -> list[Facet]:
    """Each case by itself, named among those of its kernel."""
    kernels = dict.fromkeys(case.kernel for case in cases)
    return [
        part
        for kernel in kernels
        for part in facets([case for case in cases if case.kernel == kernel], ())
    ]


def facets_of_kernels(cases: Sequence[MeasuredCase], axes: Sequence[str]) -> list[Facet]:
    """Facets of each kernel, named among cases of it alone; by the kernel too where are several."""
    kernels = dict.fromkeys(case.kernel for case in cases)
    found = []
    for kernel in kernels:
        for part in facets([case for case in cases if case.kernel == kernel], axes):
            parts = (kernel if len(kernels) > 1 else "", part.label)
            found.append(replace(part, label=", ".join(text for text in parts if text)))
    return found
