# SPDX-License-Identifier: BSD-3-Clause
"""Findings on star forests: overhead over plain messages, device settings, parts, grid halos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.context import Context
from haloscope.analysis.facets import facets
from haloscope.analysis.validation.published import Library
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import (
    BANDWIDTH,
    LATENCY,
    Claim,
    Finding,
    FindingShape,
    Metric,
    Ratio,
    Verdict,
)
from haloscope.models.split_phase import FARTHEST, SplitPhase
from haloscope.papers.validated import WAYS_OF_A_DEVICE
from haloscope.quantities import size as size_in_words
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes
from haloscope.topics.collectives.analysis import flat_to
from haloscope.topics.common.making import by_points, made, verdict_of
from haloscope.topics.star_forests.analysis import (
    BEYOND,
    beside_messages,
    by_n,
    device_starts,
    device_ways,
    gpu_messages,
    more_done,
    published_latency,
)
from haloscope.topics.star_forests.parts import (
    LAUNCHING,
    MOVING,
    STARTING,
    dominant,
    moving,
    split_phase_model,
    starting_device_kernels,
    waits,
)

FEW = 4
"""With more cases, only those of the fewest and of the most ranks have a finding."""
_TOPIC = "star_forests"
_SWEPT = ("sizes", "n", "parts")
_MORE = {
    "sf_unpack": ("Adding values on arrival", "adding values", "writing values"),
    "sf_scatter": (
        "Leaves on the sending rank as well",
        "leaves on both ranks",
        "on the other alone",
    ),
}


def messages(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield sf_pingpong against pingpong for two ranks in each placement, by size."""
    for case, by_size in beside_messages(cases, context.seed):
        yield _by_size(
            "Star forest or plain messages",
            [case],
            by_points(by_size, {"name": "sf_pingpong"}, {"name": "pingpong"}),
            by_size,
            context,
        )


def _by_size(
    question: str,
    cases: Sequence[MeasuredCase],
    parts: Sequence[Claim],
    sizes: Mapping[int, object],
    context: Context,
    but: Sequence[str] = (),
) -> Finding:
    return made(
        context, cases, question, FindingShape.COMPARISON, parts,
        topic=_TOPIC, metric=LATENCY, axis="size", points=[*sizes], but=(*_SWEPT, *but),
    )  # fmt: skip


def device(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield all other device settings against the reference, by size."""
    for one in device_ways(cases, context.seed):
        subject, reference = {one.setting: one.way}, {one.setting: WAYS_OF_A_DEVICE[one.setting]}
        yield _by_size(
            f"Star forest in device memory ({one.case.kernel}), {one.setting}",
            [one.case],
            by_points(one.by_size, subject, reference),
            one.by_size,
            context,
            (one.setting,),
        )


def more(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield sf_unpack against sf_newpingpong, and sf_scatter against sf_unpack, by size."""
    for one in more_done(cases, context.seed):
        question, own, less = _MORE[one.kernel]
        yield _by_size(
            f"{question} ({one.kernel} vs {BEYOND[one.kernel]})",
            [one.case],
            by_points(one.by_size, {"name": own}, {"name": less}),
            one.by_size,
            context,
        )
        if apart := _published_apart(one.by_size, context.library):
            yield made(
                context,
                [one.case],
                f"{question} ({one.kernel}), published difference that was not measured",
                FindingShape.VALUE,
                apart,
                topic=_TOPIC,
                metric=LATENCY,
                but=_SWEPT,
            )


_APART = 1.01
"""_APART is the minimum ratio of two published times that is mentioned if ours do not differ."""


def _published_apart(by_size: Mapping[int, Contrast], library: Library) -> list[Claim]:
    """Return the ratio of published times at sizes where ours do not differ."""
    found = []
    for size, contrast in by_size.items():
        first, second = (
            published_latency(side.case, size, library)
            for side in (contrast.first, contrast.second)
        )
        same = contrast.verdict not in ("slower", "faster")
        if same and first and second and second.value > _APART * first.value:
            extra = Estimate(second.value - first.value, None, None, 0, "none")
            found.append(Claim({"size": Bytes(size)}, estimate=extra))
    return found


def between_gpus(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield messages between GPUs: start-up time, bandwidth, and the overhead of a star forest.

    Table 1 of the report on Summit and its interpretation in section 3, by position of the GPUs.
    """
    for one in gpu_messages(cases):
        least, most = one.sizes
        question = "Message time between GPUs (pingpong)"
        yield _by_sizes(context, one.case, question, LATENCY, {least: one.smallest})
        question = "Bandwidth between GPUs (pingpong), computed from the times for "
        question += f"{size_in_words(least)} and {size_in_words(most)} messages"
        yield _by_sizes(context, one.case, question, BANDWIDTH, {most: one.bandwidth})
        if added := one.added_s:
            ends = (
                min(added),
                min(added, key=added.__getitem__),
                max(added, key=added.__getitem__),
            )
            question = "Overhead of a star forest (sf_pingpong) over messages between GPUs"
            shown = {
                size: Estimate(added[size], None, None, len(one.case.launches), "none")
                for size in dict.fromkeys(ends)
            }
            yield _by_sizes(context, one.case, question, LATENCY, shown)


def _by_sizes(
    context: Context,
    case: MeasuredCase,
    question: str,
    metric: Metric,
    values: Mapping[int, Estimate],
) -> Finding:
    parts = [Claim({"size": Bytes(size)}, estimate=value) for size, value in values.items()]
    shape = FindingShape.VALUE
    return made(context, [case], question, shape, parts, topic=_TOPIC, metric=metric, but=_SWEPT)


def starts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the size up to which the start-up time dominates messages with PETSc's settings."""
    for one in device_starts(cases):
        parts = [
            Claim({"name": name}, at=tuple(sizes), estimate=estimate)
            for name, sizes, estimate in (
                ("start-up", one.starting, one.least),
                ("transfer", one.moving, None),
                ("launches differ", one.undecided, None),
            )
            if sizes
        ]
        yield made(
            context, [one.case], "Largest part of the message time from device memory",
            FindingShape.BREAKDOWN, parts,
            topic=_TOPIC, metric=LATENCY, axis="size", points=one.sizes, but=_SWEPT,
        )  # fmt: skip


def grids(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the halo exchange of each kind of grid, on the most processes, at the extreme n."""
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches and case.ranks > 1]
    untimed = [case for case in own if split_phase_model(case) is None]
    for part in facets(untimed, ("nodes", "ppn")):
        case = max(part.cases, key=lambda case: case.ranks)
        points = by_n(case)
        if len(points) < 2:
            continue
        flat = flat_to([points[n] for n in sorted(points)])
        to = next(n for n, point in points.items() if point.size_bytes == flat)
        ends = dict.fromkeys((min(points), to, max(points)))
        yield made(
            context,
            [case],
            "Halo of a grid (sf_grid), one way",
            FindingShape.VALUE,
            [Claim({"n": n}, estimate=points[n].one_way) for n in ends],
            topic=_TOPIC,
            metric=LATENCY,
            but=_SWEPT,
        )


def dominating(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the longest part by size of each star forest that sends and keeps data."""
    known = [(case, model) for case in cases if (model := split_phase_model(case)) is not None]
    known = [
        (case, model)
        for case, model in known
        if model.data.local_bytes.any() and model.data.remote_bytes.any()
        if case.alike or int(model.data.whole_s.shape[0]) > 1
    ]
    known.sort(key=lambda pair: pair[0].ranks)
    for case, model in known if len(known) <= FEW else (known[0], known[-1]):
        yield _dominant(case, model, context)


def _dominant(case: MeasuredCase, model: SplitPhase, context: Context) -> Finding:
    """Return the longest part of an operation by bytes sent, and the share of packing."""
    sent = [int(each) for each in model.data.remote_bytes]
    at: dict[str, list[int]] = {}
    for size, part in zip(sent, dominant(model), strict=True):
        name = "message start-up" if part == STARTING else part or "launches differ"
        at.setdefault(name, []).append(size)
    shares = {MOVING: max(moving(model))}
    if model.on_device:
        shares[LAUNCHING] = max(starting_device_kernels(model))
    parts = [
        Claim({"name": name}, at=tuple(map(Bytes, sizes)), share=shares.pop(name, None))
        for name, sizes in at.items()
    ]
    parts += [Claim({"name": name}, share=share) for name, share in shares.items()]
    return made(
        context, [case], f"Largest part of the time of {case.kernel}, by bytes sent",
        FindingShape.BREAKDOWN, parts,
        topic=_TOPIC, axis="size", points=sent, but=_SWEPT,
        caveats=[Caveat.PARTS_DEVIATE] * (model.farthest[1] > FARTHEST),
    )  # fmt: skip


def launches(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the relative cost of a synchronisation after the first kernel, for each case."""
    for case, contrast in waits(cases, context.seed):
        if contrast.first.time and contrast.second.time and contrast.ratio:
            yield made(
                context,
                [case],
                "Device kernels with a synchronisation after the first one",
                FindingShape.TREND,
                [_waiting(contrast)],
                topic="launches",
            )


def _waiting(contrast: Contrast) -> Claim:
    assert contrast.ratio is not None
    verdict = verdict_of(contrast)
    return Claim(
        {"name": "synchronised"},
        {"name": "none"},
        estimate=contrast.first.time,
        ratio=Ratio.of(contrast.ratio.rate(1.0)),
        verdict=_INVERSE.get(verdict, verdict) if verdict else None,
    )


_INVERSE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
