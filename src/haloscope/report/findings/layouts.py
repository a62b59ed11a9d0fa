# SPDX-License-Identifier: BSD-3-Clause
"""Which layout of processes and threads solves the largest mesh fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import contrasts, step
from haloscope.analysis.published import WALL_TIMES
from haloscope.quantities import count, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place
from haloscope.study.settings import LAYOUT, describe, varying

ORDER = 120
ANSWERS = ("hybrid_grid",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh on the most cores that several layouts share: which of them to use.

    Of several other settings one, which is named. Bindings alone are set against each other by all
    of their settings together.
    """
    solved = [
        case for case in cases if case.kernel == "poisson_cg" and case.time and not _mapped(case)
    ]
    layouts: dict[tuple[int, ...], list[MeasuredCase]] = {}
    parts = facets(solved, (*LAYOUT, "n"))
    for index, part in enumerate(parts):
        for case in part.cases:
            key = (case.number("n"), case.cores, -case.number("nodes"), -index)
            layouts.setdefault(key, []).append(case)
    several = {key: group for key, group in layouts.items() if _differ(group)}
    if not several:
        return
    (n, cores, nodes, index), group = max(several.items())
    which = f", {label}," if (label := parts[-index].label) else ""
    best, *others = (step(case) for case in sorted(group, key=lambda case: case.time_s))
    apart = varying([case.settings for case in group])
    verdicts: dict[str, list[str]] = {}
    for contrast in contrasts([(best, other) for other in others], context.seed):
        name = describe(contrast.second.case.settings, apart)
        verdicts.setdefault(contrast.verdict, []).append(name)
    told = "; ".join(
        f"{verdict}: {names[0] if len(names) == 1 else f'{len(names)} others'}"
        for verdict, names in verdicts.items()
    )
    there = place(best.case)
    where = f"{f' of {-nodes} nodes' if nodes < -1 else ''}{there and f'{there},'}"
    shown = set(verdicts) == {"slower"}
    otherwise = _otherwise(best.case, group, apart, context)
    lowest = f"has its lowest {'time' if best.case.alike else 'median'}"
    yield Finding(
        f"N = {n}{which} on {count(cores, 'core')}{where} "
        f"{'is fastest' if shown else lowest} with "
        f"{describe(best.case.settings, apart)} ({seconds(best.case.time_s)}). "
        f"Against it, {told}.{otherwise}",
        "warning" if otherwise else "",
    )


def _otherwise(
    best: MeasuredCase, group: Sequence[MeasuredCase], apart: Sequence[str], context: Context
) -> str:
    """That the fastest by simulation was published as slower than another of the same cluster."""
    if not best.simulated:
        return ""
    pairs = ((case, context.library.find(case, "time_s", WALL_TIMES)) for case in group)
    known = [(case, found) for case, found in pairs if found]
    own = next((found for case, found in known if case is best), None)
    if own is None:
        return ""
    other, first = min(known, key=lambda pair: pair[1].value)
    if first.high >= own.low:
        return ""
    where = first.source.replace(" (", ", ").removesuffix(")")
    return (
        f" Published otherwise of this cluster: {first.text} with "
        f"{describe(other.settings, apart)}, {own.text} with {describe(best.settings, apart)} "
        f"({where})."
    )


def _differ(group: Sequence[MeasuredCase]) -> bool:
    """Whether there are several, which differ in more than how they are bound: that is told so."""
    return varying([case.settings for case in group]) not in ([], ["bind"])


def _mapped(case: MeasuredCase) -> bool:
    """Whether it is one of several with the same tasks on more and fewer nodes."""
    return bool(case.settings.get("tasks"))
