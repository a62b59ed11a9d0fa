"""How far Jacobi's sweeps are from the model and the roofline, and which part of it is off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.jacobi import (
    JacobiCase,
    JacobiScaling,
    measured_parts,
    memory_bounds,
    scalings,
)
from haloscope.quantities import count, number, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place

ORDER = 85
SMALL = 0.01
"""SMALL is the largest share of a sweep that a part may be off by without being named a cause."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every scaling, by its most detailed model; then each variant beside the memory's bound."""
    modelled = [one for one in scalings(cases, context.all_cases) if one.models]
    most = max((len(one.swept) for one in modelled), default=0)
    for scaling in modelled:
        if len(scaling.swept) > 2 or most == 2:  # not of two cases beside whole scalings
            yield Finding(_model(scaling))
    yield from map(Finding, _roofs(cases, context))


def _model(scaling: JacobiScaling) -> str:
    """How far the model is off, at worst where, and by which of its parts."""
    name = "detailed" if "detailed" in scaling.models else "textbook"
    others = [one for one in scaling.swept if one.sweep.ranks > 1]
    off = {one: (scaling.predicted(name, one) or 0.0) / one.rate.value - 1 for one in others}
    worst = max(off, key=lambda one: abs(off[one]))
    label = f", {scaling.part.label}" if scaling.part.label else ""
    first, last = others[0].sweep.ranks, others[-1].sweep.ranks
    processes = f"{first} to {last}" if first < last else f"{first}"
    over = f"{processes} processes{label}{place(worst.case)}"
    signs = [f"{100 * off[one]:+.1f} %" for one in others]
    if len(others) == 1:
        told = f"the {name} model's updates a second are off by {signs[0]}"
    else:
        rms = percent(scaling.models[name].residuals.relative_rms)
        told = (
            f"the {name} model is off by {rms} (root mean square), at worst its updates a second "
            f"by {100 * off[worst]:+.1f} % ({_named(worst)})"
        )
    return f"Jacobi, {over}: {told}{_cause(scaling, name, worst)}."


def _named(one: JacobiCase) -> str:
    nodes = f" on {one.sweep.nodes} nodes" if one.sweep.nodes > 1 else ""
    return f"{one.sweep.ranks} processes{nodes} as {' × '.join(map(str, one.sweep.grid))}"


def _cause(scaling: JacobiScaling, name: str, one: JacobiCase) -> str:
    """Which part of a sweep takes longer, or less, than by the model, as shares of the sweep."""
    measured = measured_parts(one)
    if measured is None:
        return ""
    modelled = scaling.models[name].model.parts(one.sweep)
    parts = {
        "the update of points": (measured.update_s, modelled.update_s),
        "ghosts (pack, exchange, unpack)": (measured.ghosts_s, modelled.ghosts_s),
    }
    shares = {part: (own - model) / one.seconds for part, (own, model) in parts.items()}
    least = max(SMALL, max(map(abs, shares.values())) / 2)
    causes = [
        f"{part} {'takes' if part.startswith('the') else 'take'} {_times(*parts[part])}"
        for part in sorted(shares, key=lambda part: -abs(shares[part]))
        if abs(shares[part]) >= least
    ]
    return f": there {' and '.join(causes)}" if causes else ""


def _times(own: float, model: float) -> str:
    return f"{number(own / model)} times the model's time" if model > 0 else "time, the model none"


def _roofs(cases: Sequence[MeasuredCase], context: Context) -> Iterator[str]:
    """Each variant on its fewest and its most cores: its share of what the memory allows."""
    bounds = memory_bounds(cases, context.all_cases, context.machine)
    told = []
    for variant in dict.fromkeys(bound.variant for bound in bounds):
        own = [bound for bound in bounds if bound.variant == variant]
        ends = dict.fromkeys((own[0], own[-1]))
        each = [
            f"{percent(bound.share)} on {count(bound.case.cores, 'core')}"
            if bound.share <= 1
            else f"more than that on {count(bound.case.cores, 'core')}, as caches serve a part"
            for bound in ends
        ]
        told.append(f"{variant} {' and '.join(each)}")
    if told:
        yield (
            "Of the updates that the memory's bandwidth allows (triad), Jacobi reaches: "
            f"{'; '.join(told)}{place(bounds[0].case)}."
        )
