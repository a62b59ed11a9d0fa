# SPDX-License-Identifier: BSD-3-Clause
"""How far Jacobi's sweeps are from the model and the roofline, and which part of it is off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.jacobi import (
    JacobiCase,
    JacobiScaling,
    MemoryBound,
    measured_parts,
    memory_bounds,
    root_mean_square,
    scalings,
)
from haloscope.quantities import count, error, listed, number, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, place, shares_between

ORDER = 85
SMALL = 0.01
"""SMALL is the largest share of a sweep that a part may be off by without being named a cause."""


MOSTLY = 0.9
"""MOSTLY is the least share of a sweep in updates of points from which on messages explain
little."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """All scalings by their most detailed model; then each variant beside the memory's bound."""
    modelled = [one for one in scalings(cases, context.all_cases) if one.models]
    if modelled:
        yield Finding(_models(modelled))
    yield from map(Finding, _roofs(cases, context))


def _errors(scaling: JacobiScaling) -> tuple[str, dict[JacobiCase, float]]:
    """The most detailed model, and what its updates a second are off by on several ranks."""
    name = "detailed" if "detailed" in scaling.models else "textbook"
    return name, scaling.errors(name)


def _models(modelled: Sequence[JacobiScaling]) -> str:
    """How far models are off over all scalings, at worst where, and by which of their parts."""
    known = [(scaling, *_errors(scaling)) for scaling in modelled]
    errors = sorted(error for _, _, off in known for error in off.values())
    scaling, name, off = max(known, key=lambda each: max(map(abs, each[2].values())))
    worst = max(off, key=lambda one: abs(off[one]))
    ranks = sorted(one.sweep.ranks for _, _, own in known for one in own)
    processes = f"{ranks[0]} to {ranks[-1]}" if ranks[0] < ranks[-1] else f"{ranks[0]}"
    many = f", {count(len(known), 'setting')}" if len(known) > 1 else ""
    names = listed(list(dict.fromkeys(name for _, name, _ in known)))
    swept = [one.case for scaling, _, _ in known for one in scaling.swept]
    rms = [root_mean_square(off.values()) for _, _, off in known]
    return (
        f"Jacobi, {processes} processes{many}{place(worst.case)}{few(*swept)}: the {names} model's "
        f"updates a second are off by {_from_to(errors)}"
        f"{f'{_root_mean_square(rms)}, at worst' if len(errors) > 1 else ''} with {_named(worst)}"
        f"{f' ({scaling.part.label})' if scaling.part.label else ''}"
        f"{_cause(scaling, name, worst)}{_reckons_alike(swept)}."
    )


def _reckons_alike(swept: Sequence[MeasuredCase]) -> str:
    """What it is worth that a model agrees with a simulation, which rests on the same numbers."""
    if not all(case.simulated for case in swept):
        return ""
    return (
        ". Off the simulated ones, that is, whose one rank, messages and bandwidth the model "
        "takes: nothing is said of the machine"
    )


def _from_to(errors: Sequence[float]) -> str:
    low, high = error(errors[0]), error(errors[-1])
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _root_mean_square(shares: Sequence[float]) -> str:
    """Of each scaling, from the best to the worst."""
    return f" ({shares_between(shares)} root mean square)"


def _named(one: JacobiCase) -> str:
    nodes = f" on {one.sweep.nodes} nodes" if one.sweep.nodes > 1 else ""
    return f"{one.sweep.ranks} processes{nodes} as {' × '.join(map(str, one.sweep.grid))}"


def _cause(scaling: JacobiScaling, name: str, one: JacobiCase) -> str:
    """Which parts of a sweep are off the way that the whole is, those of most of it first."""
    measured = measured_parts(one)
    if measured is None:
        return ""
    modelled = scaling.models[name].parts(one.sweep)
    parts = {
        "the update of points takes": (measured.update_s, modelled.update_s),
        "ghosts (pack, exchange, unpack) take": (measured.ghosts_s, modelled.ghosts_s),
    }
    outside = one.seconds - measured.update_s - measured.ghosts_s
    parts["what lies outside phases, as waiting at the end, takes"] = (outside, 0.0)
    whole = one.seconds - modelled.update_s - modelled.ghosts_s
    shares = {part: (own - model) / one.seconds for part, (own, model) in parts.items()}
    alike = {part: abs(share) for part, share in shares.items() if share * whole > 0}
    least = max(SMALL, max(alike.values(), default=0.0) / 2)
    causes = [
        f"{part} {_times(*parts[part], one.seconds)}"
        for part in sorted(alike, key=lambda part: -alike[part])
        if alike[part] >= least
    ]
    return f": there {' and '.join(causes)}" if causes else ""


def _times(own: float, model: float, whole: float) -> str:
    """A part's time against the model's; a share of the sweep where the model has none."""
    if model > 0:
        return f"{number(own / model)} times the model's time"
    return f"{percent(own / whole)} of the sweep, and none by the model"


def _roofs(cases: Sequence[MeasuredCase], context: Context) -> Iterator[str]:
    """Each variant on its fewest and its most cores: its share of what the memory allows."""
    bounds = memory_bounds(cases, context.all_cases, context.machine)
    told: list[str] = []
    shown: list[MemoryBound] = []
    for variant in dict.fromkeys(bound.variant for bound in bounds):
        own = [bound for bound in bounds if bound.variant == variant]
        ends = dict.fromkeys((own[0], own[-1]))
        shown += ends
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
            f"{'; '.join(told)}{place(bounds[0].case)}{few(*(one.case for one in shown))}"
            f"{_why_below(shown)}."
        )


def _why_below(bounds: Sequence[MemoryBound]) -> str:
    """Whether what is lacking is lost in updates, or in messages and waiting, by the phases."""
    updating = [one.updating for one in bounds if one.share <= 1 and one.updating is not None]
    if not updating:
        return ""
    told = f". Updates of points take {shares_between(updating)} of a sweep there"
    if all(one.case.simulated for one in bounds):
        told += ", at the rate that the cluster file gives them"
    if min(updating) < MOSTLY:
        return f"{told}, ghosts and waiting the rest"
    return f"{told}: what is lacking is lost in them, not in messages"
