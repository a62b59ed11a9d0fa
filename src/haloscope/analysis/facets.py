# SPDX-License-Identifier: BSD-3-Clause
"""Division of cases by their settings into parts with one table or panel each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.study.settings import MODE, OUTPUT, PROTOCOL, Setting, Settings, apart, describe

_Outside = tuple[tuple[str, Setting], ...]
"""The settings that the cases of a part share."""


@dataclass(frozen=True)
class Facet:
    """Cases that differ only in the axes of one table.

    label: what distinguishes this facet from others ("exchange = blocking"); "" if it is the only
    one.
    """

    label: str
    settings: Settings
    cases: tuple[MeasuredCase, ...]


def facets(cases: Sequence[MeasuredCase], axes: Iterable[str]) -> list[Facet]:
    """Split cases by every setting that is not in `axes`, and label each part.

    Without axes each case is a part, even if only its protocol differs. With axes, cases with
    different protocols are separate parts, because they would otherwise share a place.
    """
    chosen = {*axes}
    inside = {*chosen, *PROTOCOL, *OUTPUT}
    if chosen:
        inside -= _swept(cases) - chosen
    if {*PROCESSES} <= inside:
        inside.add("tasks")  # determined by these

    def outside(case: MeasuredCase) -> _Outside:
        return tuple((k, v) for k, v in sorted(case.settings.items()) if k not in inside)

    parts = grouped(cases, outside)
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
    parts: Mapping[_Outside, list[MeasuredCase]],
) -> dict[_Outside, list[MeasuredCase]]:
    """Add cases with one thread to every part that differs only in the binding of threads.

    They are the first point of each curve over threads.
    """
    bound = grouped(
        (key for key in parts if ("thread_bind", None) not in key),
        lambda key: frozenset(item for item in key if item[0] != "thread_bind"),
    )
    found: dict[_Outside, list[MeasuredCase]] = {}
    for key, own in parts.items():
        for other in bound.get(frozenset({*key} - {("thread_bind", None)}), [key]):
            found.setdefault(other, []).extend(own)
    return found


def _swept(cases: Sequence[MeasuredCase]) -> set[str]:
    """Return the protocol settings that are the only difference between some cases."""
    found = set()
    for name in PROTOCOL:
        if len({case.settings.get(name) for case in cases}) < 2:
            continue
        values_of: dict[_Outside, set[Setting]] = {}
        for case in cases:
            others = tuple((k, v) for k, v in sorted(case.settings.items()) if k != name)
            values_of.setdefault(others, set()).add(case.settings.get(name))
        if any(len(values) > 1 for values in values_of.values()):
            found.add(name)
    return found


def _each(part: Facet) -> list[Facet]:
    """Split a facet into its cases; a case that no setting distinguishes is labelled by its id."""
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


def labelled(cases: Sequence[MeasuredCase]) -> dict[MeasuredCase, str]:
    """Return what distinguishes each case from the others; "" for a single one."""
    return {part.cases[0]: part.label for part in facets(cases, ())}


def labelled_by_kernel(cases: Sequence[MeasuredCase]) -> dict[MeasuredCase, str]:
    """Return what distinguishes each case from the others of its kernel."""
    kernels = grouped(cases, lambda case: case.kernel)
    return {case: label for own in kernels.values() for case, label in labelled(own).items()}


def facets_of_kernels(cases: Sequence[MeasuredCase], axes: Sequence[str]) -> Iterator[Facet]:
    """Return the facets of each kernel, labelled within it, and by kernel if there are several."""
    kernels = grouped(cases, lambda case: case.kernel)
    for kernel, own in kernels.items():
        for part in facets(own, axes):
            parts = (kernel if len(kernels) > 1 else "", part.label)
            yield replace(part, label=", ".join(text for text in parts if text))
