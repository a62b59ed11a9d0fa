# SPDX-License-Identifier: BSD-3-Clause
"""The badge of a report with simulated times: validation and error."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.validation.bands import Basis
from haloscope.analysis.validation.cell_groups import TIMES
from haloscope.analysis.validation.trust import Grade, Trust
from haloscope.grouped import grouped
from haloscope.quantities import capitalised, listed, within

_GRADES = 2
"""_GRADES is the maximum number of validated kernels in a badge, and of errors of the others, with
as many kernels each.
"""


def badge(trust: Trust) -> str:
    """Return the badge: that times were simulated, whether they are validated, and their error."""
    sentences = [f"Simulated on {listed(trust.clusters)}"]
    if trust.copied:
        sentences.append(
            f"The cluster file is a copy of {trust.copied}, with most of its sources. "
            f"Unless its numbers were changed, these are times of {trust.copied}"
        )
    if trust.own:
        sentences += [
            f"Times of {one.name} are validated: {_kind(one)}95 % of {one.band.cells} published "
            f"values{_elsewhere(one)} are within {within(one.band.factor)} of the simulated "
            f"times{_other(one)}"
            for one in trust.own[:_GRADES]
        ]
        sentences += [f"Times of {more} are validated" for more in _more(trust.own)]
    if off := trust.contradicted:
        sentences += [
            f"Published values contradict the times of {one.name}: the error is "
            f"{within(one.band.factor)} ({one.band.cells} published values)"
            for one in off[:_GRADES]
        ]
        sentences += [f"Published values contradict the times of {more}" for more in _more(off)]
    if others := [one for one in trust.others if not one.contradicted]:
        alike = grouped(
            others,
            lambda one: f"likely within {within(one.band.factor)}{'' if trust.own else _from(one)}",
        )
        sentences += [
            f"Times of {_names(these)} are not validated: their error is {error}"
            for error, these in [*alike.items()][:_GRADES]
        ]
        rest = [one for these in [*alike.values()][_GRADES:] for one in these]
        sentences += [f"Times of {more} are not validated" for more in _more(rest, 0)]
    if fitted := [one.name for one in trust.others if one.fitted]:
        sentences.append(
            f"Published times of {listed(fitted)} were used to set values in the cluster file, so "
            "agreement with them does not validate the simulation"
        )
    return ". ".join(sentences) + "."


def brief_badge(trust: Trust) -> str:
    """Return the badge in a line: "Simulated on tara; validated, within ± 9.2 %."."""
    if trust.contradicted:
        widest = within(max(one.band.factor for one in trust.contradicted))
        where = listed(trust.clusters)
        return f"Simulated on {where}; contradicted by published values: error {widest}."
    widest = within(max(one.band.factor for one in trust.grades))
    how = {
        "yes": f"validated, within {widest}",
        "partly": f"partly validated, likely within {widest}",
        "no": f"not validated there, likely within {widest}",
    }[trust.validated]
    return f"Simulated on {listed(trust.clusters)}; {how}."


def _names(grades: Sequence[Grade]) -> str:
    """Return for example "pingpong, ring and 3 more"."""
    return listed([*(one.name for one in grades[:_GRADES]), *_more(grades)])


def _more(grades: Sequence[Grade], shown: int = _GRADES) -> list[str]:
    rest = len(grades) - shown
    return [f"{rest} more"] if rest > 0 else []


def _elsewhere(one: Grade) -> str:
    """Return where the published values are from, if some case has other settings."""
    spans = {name: span for name, span in one.band.spans.items() if name in one.beyond}
    layout = [
        f"{before} {_span(*spans[name])} {noun[spans[name][1] != 1]}"
        for name, before, noun in _LAYOUT
        if name in spans
    ]
    mesh = [f"with {_MESH[name]} = {_span(*span)}" for name, span in spans.items() if name in _MESH]
    bind = [f"with bind = {listed(one.band.binds)}"] if "bind" in one.beyond else []
    parts = [each for each in (" ".join(layout), *mesh, *bind) if each]
    return f" ({', '.join(parts)})" if parts else ""


def _kind(one: Grade) -> str:
    """Return "on several nodes, " if the badge states the error of times on one node too."""
    kinds = [kind for kind in TIMES if one.other and _other(one) and kind != one.other.kind]
    return f"{_WHERE[kinds[0]]}, " if kinds else ""


def _other(one: Grade) -> str:
    """Return the narrower error of times on one node, or of those on several."""
    if one.other is None or within(one.other.band.factor) == within(one.band.factor):
        return ""
    return f". {capitalised(_WHERE[one.other.kind])}, the error is {within(one.other.band.factor)}"


_WHERE = {kind: kind.removeprefix("time ") for kind in TIMES}


_LAYOUT = (
    ("nodes", "on", ("node", "nodes")),
    ("ppn", "with", ("process per node", "processes per node")),
)
_MESH = {"n": "n", "L": "L"}


def _span(least: int, most: int) -> str:
    return f"{least:,} to {most:,}" if least < most else f"{most:,}"


def _from(one: Grade) -> str:
    if one.band.basis is Basis.WIDEST:
        return (
            f" (the largest known error, that of {one.band.of}; this kernel has no published times)"
        )
    way = ", another variant" if one.band.basis is Basis.VARIANT else ""
    return f" (the error of {one.band.of}{way})"
