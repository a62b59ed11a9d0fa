# SPDX-License-Identifier: BSD-3-Clause
"""Topics: findings from cases, with the only list of topics, in the order of a report.

findings(cases, context) returns all findings: warnings first, then the answer.

A topic is a function of cases that yields findings. `answers` are the kinds of tables whose
question it answers: if a study's first table is one of them, its findings come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, FindingShape, Prominence, Verdict
from haloscope.study.settings import Settings, varying
from haloscope.topics import grids, messages, phases, predicted, quality, ring, spmv
from haloscope.topics.collectives import findings as collectives
from haloscope.topics.contrast import findings as contrast
from haloscope.topics.jacobi import findings as jacobi
from haloscope.topics.mapping import characterization
from haloscope.topics.mapping import findings as mapping
from haloscope.topics.memory import findings as memory
from haloscope.topics.poisson import accuracy
from haloscope.topics.poisson import findings as poisson
from haloscope.topics.scaling import findings as scaling
from haloscope.topics.star_forests import findings as star_forests

KEY_FIGURES = 4


@dataclass(frozen=True)
class Topic:
    """A topic: the function that computes its findings, and the kinds of tables it answers.

    name: one of study.kinds.FINDINGS, by which a study selects its answer; "" for warnings. It is
    the kind of findings that have none of their own.
    """

    find: Callable[[Sequence[MeasuredCase], Context], Iterator[Finding]]
    name: str = ""
    answers: tuple[str, ...] = ()


TOPICS = (
    Topic(quality.incomplete),
    Topic(quality.mixed),
    Topic(quality.marked),
    Topic(quality.simulation),
    Topic(quality.core_kinds),
    Topic(quality.disturbed),
    Topic(quality.implausible),
    Topic(quality.scattered),
    Topic(quality.untimed),
    Topic(quality.near_steps),
    Topic(predicted.predicted, predicted.NAME),
    Topic(memory.bandwidth, "memory_bandwidth", ("stream",)),
    Topic(memory.regions, "parallel_regions"),
    Topic(accuracy.order, "order_of_accuracy"),
    Topic(memory.solver, "solver_bandwidth", ("bandwidth",)),
    Topic(contrast.variants, "variants"),
    Topic(poisson.variants_by_ranks, "variants", ("iterations",)),
    Topic(poisson.per_node, "processes_per_node", ("walltime_grid",)),
    Topic(poisson.speedup, "speedup", ("walltime_grid", "scaling")),
    Topic(poisson.turns, "turning_points", ("scaling",)),
    Topic(spmv.products, "sparse_products", ("spmv",)),
    Topic(jacobi.model, "jacobi_model", ("jacobi",)),
    Topic(jacobi.memory_bound, "jacobi_bound", ("jacobi",)),
    Topic(accuracy.serial, "serial_time"),
    Topic(accuracy.convergence, "convergence", ("convergence",)),
    Topic(
        contrast.ways, "alternatives", ("exchange", "overlap", "operator", "bind", "fft", "heat")
    ),
    Topic(contrast.published, "published_exchanges", ("exchange",)),
    Topic(scaling.strong, "speedup", ("scaling", "summary")),
    Topic(scaling.layouts, "layouts", ("summary",)),
    Topic(phases.heat, "heat", ("heat",)),
    Topic(poisson.layouts, "layouts", ("hybrid_grid",)),
    Topic(grids.transforms, "transforms", ("fft",)),
    Topic(grids.sums, "sums", ("sum3d",)),
    Topic(collectives.collectives, "collectives", ("guidelines", "collectives")),
    Topic(collectives.pgmpi, "guidelines", ("guidelines",)),
    Topic(collectives.halos, "halo_guidelines"),
    Topic(characterization.findings, "characterization", ("characterization",)),
    Topic(mapping.mappings, "mapping", ("mapping",)),
    Topic(mapping.weak, "weak_scaling", ("weak_scaling",)),
    Topic(phases.sections, "sections"),
    Topic(messages.libraries, "libraries", ("libraries",)),
    Topic(ring.ring, "ring", ("ring",)),
    Topic(messages.pingpong, "pingpong", ("pingpong",)),
    Topic(messages.streams, "message_streams", ("pingpong",)),
    Topic(star_forests.between_gpus, "gpu_messages", ("sf_latency",)),
    Topic(star_forests.overhead, "forest_overhead", ("sf_latency",)),
    Topic(star_forests.starts, "startup", ("sf_latency",)),
    Topic(star_forests.device, "device_settings", ("sf_latency",)),
    Topic(star_forests.messages, "forests_or_messages", ("sf_latency",)),
    Topic(star_forests.launches, "synchronisation", ("launches",)),
    Topic(star_forests.grids, "grid_halos", ("sf_grid",)),
    Topic(star_forests.dominating, "longest_part", ("split_phase",)),
    Topic(star_forests.more, "additional_work"),
)


def findings(
    cases: Sequence[MeasuredCase], context: Context, warnings: Sequence[Finding] = ()
) -> list[Finding]:
    """Return all findings: warnings, the answer to the study's question, key figures, the rest."""
    if not context.all_cases:
        context = replace(context, all_cases=tuple(cases))
    found = [
        (topic, replace(one, kind=one.kind or topic.name))
        for topic in TOPICS
        for one in topic.find(cases, context)
    ]
    named = context.answer and any(topic.name == context.answer for topic, _ in found)

    def answers(topic: Topic) -> bool:
        return topic.name == context.answer if named else context.question in topic.answers

    found.sort(key=lambda pair: not answers(pair[0]))
    asked = sum(answers(topic) for topic, _ in found)
    return arranged([*(one for _, one in found), *warnings], asked)


def arranged(found: Sequence[Finding], asked: int = 0) -> list[Finding]:
    """Number findings in the order of a report: warnings, the answer, key figures, the rest."""
    warnings = [one for one in found if one.severity is Prominence.WARNING]
    others = [one for one in found if one.severity is not Prominence.WARNING]
    asked -= sum(one.severity is Prominence.WARNING for one in found[:asked])
    sound = [one for one in others if one.topic]
    decided = [one for one in sound if _decides(one)]
    answer = _answer(others[: max(0, asked)] or decided or sound)
    rest = [one for one in others if one is not answer]
    keys = _keys([one for one in rest if _is_a_figure(one)])
    ranked = [
        *warnings,
        *([replace(answer, severity=Prominence.ANSWER)] if answer else []),
        *(replace(one, severity=Prominence.KEY_FIGURE) for one in keys),
        *(replace(one, severity=Prominence.DETAIL) for one in rest if one not in keys),
    ]
    return _identified(ranked)


def _keys(figures: Sequence[Finding]) -> list[Finding]:
    """Return at most four findings with different values, the first of each topic before others."""
    first = [*{one.topic: one for one in reversed(figures)}.values()]
    chosen: list[Finding] = []
    for one in (*(one for one in figures if one in first), *figures):
        if len(chosen) < KEY_FIGURES and all(_value(key) != _value(one) for key in chosen):
            chosen.append(one)
    return [one for one in figures if one in chosen]


def _answer(found: Sequence[Finding]) -> Finding | None:
    """Return the first finding; for simulated cases, the first one validated by
    published values.
    """
    own = (one for one in found if one.cases and Caveat.NOT_VALIDATED not in one.caveats)
    return next(own, None) or next(iter(found), None)


def _decides(finding: Finding) -> bool:
    verdicts = {part.verdict for part in finding.parts}
    return verdicts - {Verdict.UNDECIDED, Verdict.NO_DIFFERENCE} != set() or not verdicts


_OF_NUMBERS = (
    *(FindingShape.VALUE, FindingShape.BEST, FindingShape.TREND),
    *(FindingShape.BREAKDOWN, FindingShape.BOUND),
)


def _is_a_figure(finding: Finding) -> bool:
    if not finding.topic or finding.shape not in _OF_NUMBERS:
        return False
    first = finding.parts[0]
    measured = first.estimate is not None and first.estimate.n > 0
    shown = measured or first.ratio is not None
    shown |= finding.shape is FindingShape.BOUND and first.share is not None
    return shown and _decides(finding)


def _value(finding: Finding) -> object:
    """Return the first value of a finding, to find two findings on one time."""
    estimate = finding.parts[0].estimate
    return estimate.value if estimate else finding


def _identified(found: Sequence[Finding]) -> list[Finding]:
    """Return findings with ids from topic, kind, and settings: "exchange.exchange.nonblocking".

    Of several of one kind, each has the settings in which they differ: those common to its cases
    or, if these are the same, also those of its first part.
    """
    alike: dict[str, list[Finding]] = {}
    for one in found:
        alike.setdefault(_name(one), []).append(one)
    named = {name: iter(_apart(own)) for name, own in alike.items()}
    return [
        replace(one, id=_joined(name, next(named[name])))
        for one, name in ((one, _name(one)) for one in found)
    ]


def _name(finding: Finding) -> str:
    """Return topic and kind; for a comparison also its subject, which is not a result."""
    subject = finding.parts[0].subject if finding.parts else {}
    asked = finding.shape is FindingShape.COMPARISON
    values = [str(value) for name, value in subject.items() if asked and name != "folder"]
    return _joined(finding.topic or "quality", finding.kind or finding.question, *values)


_NOT_IN_IDS = ("folder", "working_set")
"""_NOT_IN_IDS are paths, and what follows from other settings."""


def _apart(alike: Sequence[Finding]) -> list[str]:
    """Return for each finding of a kind what distinguishes it: settings, or its number."""
    if len(alike) == 1:
        return [""]
    firsts = [one.parts[0].subject if one.parts else {} for one in alike]
    numbers: list[Settings] = [
        {name: value for name, value in first.items() if isinstance(value, int)} for first in firsts
    ]
    nothing: list[Settings] = [{}] * len(alike)
    for more in (nothing, numbers, firsts):
        settings = [{**one.common, **own} for one, own in zip(alike, more, strict=True)]
        names = [name for name in varying(settings) if name not in _NOT_IN_IDS]
        found = [_joined(*(f"{n} {own[n]}" for n in names if n in own)) for own in settings]
        if len({*found}) == len(alike):
            return found
    return [str(number) for number in range(1, len(alike) + 1)]


def _joined(*words: str) -> str:
    """Join words to an id of letters, digits, ".", and "_"."""
    return ".".join(re.sub(r"[^\w.]+", "_", word.lower()).strip("_") for word in words if word)
