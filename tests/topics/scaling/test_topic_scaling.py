# SPDX-License-Identifier: BSD-3-Clause
"""How the same work scales, of kernels and programs without a scaling of their own."""

from __future__ import annotations

from typing import Any

import pytest
from found import SIMULATED, every, found, ratio, value
from recorded import Raw, fft, poisson, record

from haloscope.findings.finding import Prominence, Verdict
from haloscope.findings.sentences import sentence
from haloscope.quantities import within
from haloscope.topics.scaling.findings import layouts, strong

WORK = {"bytes": 1e9, "flops": 2e9, "messages": 0}


def _transforms(times: dict[int, float], **changes: Any) -> list[Raw]:
    return [
        {**fft(ranks=ranks, launch=launch, time_s=time), "work": WORK, **changes}
        for ranks, time in times.items()
        for launch in range(6)
    ]


def test_the_most_cores_are_compared_with_the_fewest() -> None:
    (one,) = found(strong, _transforms({1: 0.8, 2: 0.4, 4: 0.25}))

    (part,) = one.parts
    assert (part.subject, part.reference) == ({"cores": 4}, {"cores": 1})
    assert (ratio(part), value(part)) == pytest.approx((3.2, 0.25), rel=0.02)
    assert part.share == pytest.approx(0.8, rel=0.02)
    assert (part.verdict, part.node_hours) == (Verdict.FASTER, None)
    assert one.topic == "fft"


def test_a_smaller_core_count_that_is_fastest_comes_first() -> None:
    (one,) = found(strong, _transforms({1: 0.8, 2: 0.4, 4: 0.5}))

    assert [part.subject for part in one.parts] == [{"cores": 2}, {"cores": 4}]
    assert [ratio(part) for part in one.parts] == pytest.approx([2.0, 1.6], rel=0.02)


def test_several_nodes_state_their_node_hours() -> None:
    raws = [
        record("fft_pencil", {"topology": f"{2 * nodes}x1"}, [time], ranks=2 * nodes, nodes=nodes,
               launch=launch, work=WORK)
        for nodes, time in ((1, 1.0), (4, 0.5))
        for launch in range(6)
    ]  # fmt: skip

    (one,) = found(strong, raws)

    (part,) = one.parts
    assert part.subject == {"nodes": 4, "cores": 8}
    assert part.reference == {"nodes": 1, "cores": 2}
    assert part.node_hours
    assert part.node_hours.estimate.value == pytest.approx(0.5)


def test_scaling_uses_the_fastest_method() -> None:
    raws = [
        {**fft(ranks=ranks, launch=launch, time_s=time, transpose=way), "work": WORK}
        for way, times in (("pairwise", (0.8, 0.5)), ("alltoallv", (0.9, 0.3)))
        for ranks, time in zip((1, 4), times, strict=True)
        for launch in range(6)
    ]

    (one,) = found(strong, raws)

    assert one.common["transpose"] == "alltoallv"
    assert ratio(one.parts[0]) == pytest.approx(3.0, rel=0.02)


def test_scaling_uses_the_first_of_equally_fast_methods() -> None:
    raws = [
        {**fft(ranks=ranks, time_s=time, transpose=way), "work": WORK, **SIMULATED}
        for way, times in (("alltoallv", (0.8, 0.31)), ("pairwise", (0.9, 0.3)))
        for ranks, time in zip((1, 4), times, strict=True)
    ]

    (one,) = found(strong, raws)

    assert one.common["transpose"] == "alltoallv"


def test_a_simulated_number_is_followed_by_its_error() -> None:
    raws = [{**raw, **SIMULATED} for raw in _transforms({1: 0.8, 4: 0.25}) if not raw["launch"]]

    (one,) = found(strong, raws)

    (part,) = one.parts
    assert part.estimate and part.estimate.band and part.ratio and part.ratio.estimate.band
    text = sentence(one)
    assert within(part.estimate.band) in text and within(part.ratio.estimate.band) in text


def test_work_that_grows_with_processes_has_no_speedup() -> None:
    raws = [
        {**raw, "work": {**WORK, "flops": 1e9 * raw["layout"]["ranks"]}}
        for raw in _transforms({1: 0.8, 4: 0.8})
    ]

    assert found(strong, raws) == []
    assert found(strong, _transforms({1: 0.8, 4: 0.8}, work=None)) == []


def test_the_fastest_layout_of_equal_core_counts_is_named() -> None:
    raws = [
        {**fft(ranks=ranks, threads=threads, launch=launch, time_s=time, size=size), "work": WORK}
        for size, scale in (("64x64x64", 1), ("128x128x128", 8))
        for ranks, threads, time in ((4, 1, 0.3), (2, 2, 0.2), (1, 4, 0.4), (1, 1, 0.1))
        for launch, time in [(k, time * scale) for k in range(6)]
    ]

    (one,) = found(layouts, raws)

    (part,) = one.parts
    assert part.subject == {"ppn": 2, "threads": 2, "nodes": 1}
    assert part.reference == {"others": 2} and part.verdict is Verdict.FASTER
    assert part.ratio
    over = (ratio(part), part.ratio.least, part.ratio.most)
    assert over == pytest.approx((1.5, 1.5, 2.0), rel=0.03)
    assert value(part) == pytest.approx(1.6, rel=0.03)
    assert one.common["size"] == "128x128x128"


def test_layouts_with_different_work_or_cores_are_not_compared() -> None:
    assert found(layouts, _transforms({1: 0.8, 2: 0.4})) == []
    raws = [
        {**fft(ranks=ranks, threads=4 // ranks), "work": {**WORK, "flops": 1e9 * ranks}}
        for ranks in (1, 2, 4)
    ]
    assert found(layouts, raws) == []


def test_a_solver_is_excluded_from_the_generic_finding() -> None:
    raws = [poisson(64, ranks=ranks, launch=k) for ranks in (1, 4) for k in range(6)]

    assert found(strong, raws) == []


def test_scaling_is_the_answer_if_there_is_no_other() -> None:
    (answer,) = [
        one for one in every(_transforms({1: 0.8, 4: 0.25})) if one.severity is Prominence.ANSWER
    ]

    assert ratio(answer.parts[0]) == pytest.approx(3.2, rel=0.02)
