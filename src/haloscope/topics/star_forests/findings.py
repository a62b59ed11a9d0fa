# SPDX-License-Identifier: BSD-3-Clause
"""Findings on star forests: overhead over plain messages, device settings, parts, grid halos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.context import Context
from haloscope.analysis.facets import facets
from haloscope.analysis.validation.published import Library, Reference
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
from haloscope.findings.words import MANY, words
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.models.split_phase import FARTHEST, SplitPhase
from haloscope.papers.validated import WAYS_OF_A_DEVICE
from haloscope.quantities import seconds
from haloscope.quantities import size as size_in_words
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes, Settings, varying, with_nodes
from haloscope.topics.collectives import flat_to
from haloscope.topics.common.making import by_points, made, verdict_of
from haloscope.topics.star_forests import (
    BEYOND,
    BetweenGpus,
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
        "leaves on the other rank only",
    ),
}


def messages(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield sf_pingpong against pingpong for two ranks in each placement, by size."""
    for case, by_size in beside_messages(cases, context.seed):
        latencies = {at: contrast.second.time for at, contrast in by_size.items()}
        parts = [
            replace(part, estimate=next(latencies[at] for at in latencies if at in part.at))
            for part in by_points(by_size, {"kernel": "sf_pingpong"}, {"kernel": "pingpong"})
        ]
        yield _by_size("Star forest or plain messages", [case], parts, by_size, context)


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
    """Yield all other device settings against the reference, by size, the best first."""

    def gain(finding: Finding) -> float:
        return max((part.ratio.median for part in finding.parts if part.ratio), default=0.0)

    found = []
    for setting, (case, by_size) in device_ways(cases, context.seed):
        subject, reference = str(case.settings[setting]), WAYS_OF_A_DEVICE[setting]
        found.append(
            _by_size(
                f"Star forest in device memory ({case.kernel}), {setting}",
                [case],
                by_points(by_size, {setting: subject}, {setting: reference}),
                by_size,
                context,
                (setting,),
            )
        )
    yield from sorted(found, key=gain, reverse=True)


def more(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield sf_unpack against sf_newpingpong, and sf_scatter against sf_unpack, by size."""
    for case, by_size in more_done(cases, context.seed):
        question, own, less = _MORE[case.kernel]
        yield _by_size(
            f"{question} ({case.kernel} vs {BEYOND[case.kernel]})",
            [case],
            by_points(by_size, {"operation": own}, {"operation": less}),
            by_size,
            context,
        )
        if apart := _published_apart(by_size, context.library):
            ends = _ends(apart)
            which = "least and largest published" if len(ends) < len(apart) else "published"
            yield made(
                context,
                [case],
                f"{question} ({case.kernel}), {which} difference where none was measured",
                FindingShape.VALUE,
                [Claim({"size": at}, estimate=Estimate.alone(ends[at])) for at in ends],
                topic=_TOPIC,
                kind="published_apart",
                metric=LATENCY,
                but=_SWEPT,
            )


_APART = 1.01
"""_APART is the minimum ratio of two published times that is mentioned if ours do not differ."""


def _published_apart(by_size: Mapping[int, Contrast], library: Library) -> dict[Bytes, float]:
    """Return differences of published times in seconds, by the sizes where ours do not differ."""
    found = {}
    for size, contrast in by_size.items():
        first, second = (
            published_latency(side.case, size, library)
            for side in (contrast.first, contrast.second)
        )
        same = contrast.verdict not in ("slower", "faster")
        if same and first and second and second.value > _APART * first.value:
            found[Bytes(size)] = second.value - first.value
    return found


def _ends(apart: Mapping[Bytes, float]) -> Mapping[Bytes, float]:
    """Return differences by size; of many, the least and the largest."""
    if len(apart) <= MANY:
        return apart
    return {at: apart[at] for at in (choose(apart, key=apart.__getitem__) for choose in (min, max))}


def between_gpus(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the bandwidth of messages between GPUs, by their position.

    As in section 3 of the report on Summit. The topic of ping-pongs has the latency.
    """
    by_sizes = grouped(gpu_messages(cases), lambda one: one.sizes)
    for (least, most), own in by_sizes.items():
        speed = "Bandwidth of messages in GPU memory (pingpong), computed from the times for "
        speed += f"{size_in_words(least)} and {size_in_words(most)} messages"
        fast = sorted(own, key=lambda one: -one.bandwidth.value)
        yield _by_layout(
            context, speed, BANDWIDTH, [(one.case, most, one.bandwidth) for one in fast]
        )


def overhead(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the overhead of a star forest over messages between GPUs, over all layouts and sizes.

    One value if all are within 1 %, otherwise the least and the most, and those of the smallest
    size if there is a single layout.
    """
    own = [one for one in gpu_messages(cases) if one.added_s]
    every = [
        (one.case, size, Estimate(added, None, None, len(one.case.launches), "none"))
        for one in own
        for size, added in one.added_s.items()
    ]
    if not every:
        return
    question = "Overhead of a star forest (sf_pingpong) over messages between GPUs"
    ordered = sorted(every, key=lambda each: each[2].value)
    least, most = ordered[0], ordered[-1]
    sizes = sorted({size for _, size, _ in every})
    if 0 < most[2].value <= _APART * least[2].value:
        settings = {"settings": len(own)} if len(own) > 1 else {}
        middle = ordered[len(ordered) // 2][2]
        beside = _published_overhead(own, context.library)
        part = Claim(settings, at=tuple(map(Bytes, sizes)), estimate=middle, published=beside)
        shape = FindingShape.PUBLISHED if beside else FindingShape.VALUE
        yield made(
            context, [one.case for one in own], question, shape, [part],
            topic=_TOPIC, metric=LATENCY, axis="size", points=sizes,
            but=(*_SWEPT, *_varying(one.case for one in own)),
        )  # fmt: skip
        return
    first = [min(every, key=lambda each: each[1])] if len(own) == 1 else []
    ends = {each[:2]: each for each in (*first, least, most)}
    yield _by_layout(context, question, LATENCY, [*ends.values()], [one.case for one in own])


def _published_overhead(own: Sequence[BetweenGpus], library: Library) -> tuple[Reference, ...]:
    """Return the least and the most published overhead in the same places, as one value."""
    added, sources = [], set()
    for one, size in ((each, size) for each in own for size in each.added_s):
        plain = published_latency(one.case, size, library)
        forest = published_latency(one.forest, size, library) if one.forest else None
        if plain and forest:
            added.append(forest.value - plain.value)
            sources.add(forest.source)
    if not added:
        return ()
    least, most = min(added), max(added)
    text = f"{seconds(least)} to {seconds(most)}"
    return (Reference(median(added), text, least, most, " and ".join(sorted(sources))),)


def _varying(cases: Iterable[MeasuredCase]) -> list[str]:
    """Return the settings that distinguish layouts; "ppn" follows from the nodes of two ranks."""
    names = varying([case.settings for case in cases])
    return with_nodes(name for name in names if name not in _SWEPT)


def _layout(case: MeasuredCase, names: Sequence[str]) -> Settings:
    return {name: case.settings.get(name) for name in names if name != "ppn" or case.ranks != 2}


def _by_layout(
    context: Context,
    question: str,
    metric: Metric,
    values: Sequence[tuple[MeasuredCase, int, Estimate]],
    cases: Sequence[MeasuredCase] = (),
) -> Finding:
    """Return one value per layout, with its size. cases: those behind it, if more."""
    own = cases or [case for case, *_ in values]
    names = _varying(own)
    parts = [
        Claim({**_layout(case, names), "size": Bytes(size)}, estimate=value)
        for case, size, value in values
    ]
    return made(
        context, own, question, FindingShape.VALUE, parts,
        topic=_TOPIC, metric=metric, but=(*_SWEPT, *names, *(["ppn"] if names else [])),
    )  # fmt: skip


def starts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the sizes whose time is mostly start-up, by layout, with PETSc's settings."""
    found = device_starts(cases)
    if not found:
        return
    names = _varying(one.case for one in found)
    mostly = len(found) > 1 and all(words(_layout(one.case, names)) for one in found)
    mostly = mostly and not any(one.undecided for one in found)
    parts = [
        Claim({**_layout(one.case, names), **part}, at=tuple(sizes), estimate=estimate)
        for one in found
        for part, sizes, estimate in (
            ({} if mostly else {"part": "start-up"}, one.starting, one.least),
            ({"part": "transfer"}, () if len(found) > 1 else one.moving, None),
            ({"part": "launches differ"}, one.undecided, None),
        )
        if sizes
    ]
    points = sorted({size for one in found for size in one.sizes})
    yield made(
        context, [one.case for one in found],
        "Messages from device memory whose time is mostly start-up"
        if mostly
        else "Largest part of the time of messages from device memory",
        FindingShape.BREAKDOWN, parts, topic=_TOPIC, metric=LATENCY, axis="size",
        points=points, but=(*_SWEPT, *names, *(["ppn"] if names else [])),
    )  # fmt: skip


def grids(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the halo exchange of each kind of grid, on the most processes, at the extreme n."""
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches and case.ranks > 1]
    untimed = [case for case in own if split_phase_model(case) is None]
    for part in facets(untimed, PROCESSES):
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
    names = {None: _OPEN, STARTING: "message start-up"}
    longest = [names.get(part, str(part)) for part in dominant(model)]
    by_name = grouped(zip(longest, sent, strict=True), lambda pair: pair[0])
    at = {name: [size for _, size in own] for name, own in by_name.items()}
    shares = {MOVING: moving(model)}
    if model.on_device:
        shares[LAUNCHING] = starting_device_kernels(model)
    parts = [
        Claim({"part": name}, at=tuple(map(Bytes, sizes)), share=_most(shares.pop(name, None)))
        for name, sizes in sorted(at.items(), key=lambda item: item[0] == _OPEN)
    ]
    for name, each in shares.items():
        largest = Bytes(sent[each.index(max(each))])
        parts.append(Claim({"part": name, "most_at": largest}, share=max(each)))
    return made(
        context, [case], f"Largest part of the time of {case.kernel}, by bytes sent",
        FindingShape.BREAKDOWN, parts,
        topic=_TOPIC, axis="size", points=sent, but=_SWEPT,
        caveats=[Caveat.PARTS_DEVIATE] * (model.farthest[1] > FARTHEST),
    )  # fmt: skip


def _most(shares: Sequence[float] | None) -> float | None:
    return max(shares) if shares else None


_OPEN = "launches differ"


def launches(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the relative cost of a synchronisation after the first kernel, by case."""
    known = [
        (case, contrast)
        for case, contrast in waits(cases, context.seed)
        if contrast.first.time and contrast.second.time and contrast.ratio
    ]
    if known:
        own = [case for case, _ in known]
        names = varying([case.settings for case in own])
        yield made(
            context,
            own,
            "Device kernels with a synchronisation after the first one",
            FindingShape.TREND,
            [_waiting(case, names, contrast) for case, contrast in known],
            topic="launches",
            but=names,
        )


def _waiting(case: MeasuredCase, names: Sequence[str], contrast: Contrast) -> Claim:
    assert contrast.ratio is not None
    verdict = verdict_of(contrast)
    return Claim(
        {"wait": "synchronised", **{name: case.settings.get(name) for name in names}},
        {"wait": "none"},
        estimate=contrast.first.time,
        ratio=Ratio.of(contrast.ratio.rate(1.0)),
        verdict=_INVERSE.get(verdict, verdict) if verdict else None,
    )


_INVERSE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
