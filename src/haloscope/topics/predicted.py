# SPDX-License-Identifier: BSD-3-Clause
"""Errors of predictions: of a machine's own times, and of published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.validation.predictions import Errors, KeptError, KeptPredictions
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.study.settings import Settings
from haloscope.topics.common.making import warning

NAME = "predictions"
"""NAME is what a study calls these findings as its answer."""
_QUESTION = "Prediction error from the calibration"
_METRIC = Metric("relative error", "")
_MOST, _MANY = 0.75, 8
"""At least _MANY errors with this share of one sign are systematic."""


def predicted(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the errors of the predictions kept in a result folder, of all and by kernel.

    If its records changed after them, or without any for a study whose answer they are, yield how
    to get them.
    """
    if kept := context.predictions:
        yield from of_machine(kept)
    elif context.outdated or context.answer == NAME:
        why = Caveat.OUTDATED if context.outdated else Caveat.NOT_PREDICTED
        yield _stated({"outcome": "outdated" if context.outdated else "not known"}, why)


def of_machine(kept: KeptPredictions) -> Iterator[Finding]:
    """Yield what disturbed the calibration of a machine, the errors of all predicted times, those
    of each kernel, and how many cases could not be simulated.
    """
    for why in kept.disturbed:
        yield warning(Caveat.DISTURBED_CALIBRATION, (), [Claim({"disturbance": why.rstrip(".")})])
    kernels = dict.fromkeys(one.kernel for one in kept.errors)
    if len(kernels) > 1:
        yield off(_QUESTION, kept.errors)
    for kernel in kernels:
        own = [one for one in kept.errors if one.kernel == kernel]
        yield off(f"{_QUESTION}, {kernel}", own)
    if kept.failures:
        yield _stated({"unsimulated cases": len(kept.failures)})


def not_simulated(kept: KeptPredictions | None) -> list[str]:
    """Return the reasons of these cases, a line each."""
    return [f"Not simulated: {why}." for why in (kept.failures if kept else ())]


def _stated(subject: Settings, *caveats: Caveat) -> Finding:
    return Finding(
        _QUESTION,
        FindingShape.BREAKDOWN,
        (Claim(subject),),
        _METRIC,
        topic="predicted",
        caveats=caveats,
        kind="missing",
    )


def off(question: str, kept: Sequence[KeptError], *, signs: bool = True) -> Finding:
    """Return the median and the largest error, and whether most have one sign.

    signs: whether the last one is asked.
    """
    found = Errors.among([abs(one.error) for one in kept])
    parts = [Claim({"statistic": "median", "predictions": found.number}, share=found.median)]
    if found.number > 1:
        worst = max(kept, key=lambda one: abs(one.error))
        where = {"kernel": worst.kernel, "case": worst.what}
        named = {name: value for name, value in where.items() if value}
        parts.append(Claim({"statistic": "largest", **named}, share=found.worst))
    if signs:
        parts += _one_way([one.error for one in kept])
    kernels = {one.kernel for one in kept if one.kernel}
    return Finding(
        question,
        FindingShape.BREAKDOWN,
        tuple(parts),
        _METRIC,
        topic="predicted",
        common={"kernel": kernels.pop()} if len(kernels) == 1 else {},
        kind="error",
    )


def _one_way(errors: Sequence[float]) -> list[Claim]:
    signs = {"lower": sum(e < 0 for e in errors), "higher": sum(e > 0 for e in errors)}
    side = max(signs, key=lambda name: signs[name])
    if len(errors) < _MANY or signs[side] < _MOST * len(errors):
        return []
    return [Claim({"predicted": side}, count=signs[side], share=signs[side] / len(errors))]
