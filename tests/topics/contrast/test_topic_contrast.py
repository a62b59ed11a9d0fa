# SPDX-License-Identifier: BSD-3-Clause
"""Ways to do the same against their reference, over all settings that have both."""

from __future__ import annotations

from typing import Any

import pytest
from found import SIMULATED, found, ratio
from made import build
from noted import noted
from recorded import MACHINE, Raw, cases, fft, heat, of_case, poisson, spmv

from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import Library
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.papers import tables as papers
from haloscope.topics import figures
from haloscope.topics.common.figure import Lines, ratio_ticks
from haloscope.topics.contrast import both
from haloscope.topics.contrast import findings as contrast


def solves(time_s: float, n: int = 512, number: int = 7, **settings: Any) -> list[Raw]:
    return [
        poisson(n, launch=k, time_s=time_s * (1 + 0.001 * k), **settings) for k in range(number)
    ]


def test_variants_are_compared_over_all_matching_settings() -> None:
    raws = []
    for n, faster in ((64, 0.8), (128, 1.1), (256, 2.0), (512, 4.0)):
        raws += solves(faster, n, variant="textbook") + solves(1.0, n)

    (one,) = found(contrast.variants, raws)

    assert one.of == 4
    assert [(part.verdict, part.count) for part in one.parts] == [
        (Verdict.FASTER, 3),
        (Verdict.SLOWER, 1),
    ]
    faster_, slower = (part.ratio for part in one.parts)
    assert faster_ and slower
    assert (faster_.least, faster_.median, faster_.most) == pytest.approx((1.1, 2.0, 4.0))
    assert (faster_.where["n"], slower.where["n"]) == (512, 64)
    assert slower.estimate.value == pytest.approx(0.8) and slower.estimate.confidence


def test_variants_undecided_with_few_launches_have_no_finding() -> None:
    raws = [*solves(1.0, number=3, variant="textbook"), *solves(1.1, number=3)]

    assert found(contrast.variants, raws) == []


def test_exchanges_in_few_jobs_state_the_number_of_allocations_needed() -> None:
    job = {"site": "lab", "scheduler": "slurm", "partition": "all", "nodes": ["n1"]}
    raws = [
        {
            **raw,
            "allocation": {**job, "job": str(raw["launch"] % 3), "switches": None, "restarts": 0},
        }
        for exchange, time_s in (("blocking", 2.0), ("nonblocking", 1.0))
        for raw in solves(time_s, number=6, ranks=2, exchange=exchange)
    ]

    (one,) = found(contrast.ways, raws)
    (table, *_) = build("exchange", raws)

    assert Caveat.FEW_ALLOCATIONS in one.caveats and Caveat.TOO_FEW not in one.caveats
    assert noted(table, "--allocations 4")


def test_undecided_exchanges_state_the_number_of_launches_needed() -> None:
    raws = [
        raw
        for exchange in ("blocking", "nonblocking")
        for raw in solves(1.0, number=3, ranks=2, exchange=exchange)
    ]

    (one,) = found(contrast.ways, raws)

    (part,) = one.parts
    assert (part.verdict, part.needed) == (Verdict.UNDECIDED, 4)
    assert Caveat.TOO_FEW in one.caveats
    assert (one.common["n"], one.common["variant"]) == (512, "fused")


@pytest.mark.parametrize(
    ("raws", "setting", "topic"),
    [
        ([spmv(ranks=2, launch=k, overlap=way, time_s=time)
          for way, time in (("none", 20e-3), ("split", 16e-3)) for k in range(7)],
         "overlap", "spmv"),
        ([fft(launch=k, transpose=way, time_s=time)
          for way, time in (("alltoallv", 0.12), ("pipelined", 0.08)) for k in range(7)],
         "transpose", "fft"),
        ([heat(launch=k, operator=way, time_s=time)
          for way, time in (("csr", 6.0), ("matrix_free", 1.0)) for k in range(7)],
         "operator", "heat"),
    ],
    ids=["overlap", "transpose", "operator"],
)  # fmt: skip
def test_other_settings_are_compared_likewise(raws: list[Raw], setting: str, topic: str) -> None:
    (one,) = found(contrast.ways, raws)

    (part,) = one.parts
    assert one.topic == topic and part.subject.keys() == part.reference.keys() == {setting}
    assert part.verdict is Verdict.FASTER and ratio(part) > 1.2


def test_an_emulated_device_is_a_caveat() -> None:
    raws = [
        {**spmv(ranks=2, launch=k, overlap=way), "device": "emulated"}
        for way in ("none", "split")
        for k in range(7)
    ]

    (one,) = found(contrast.ways, raws)

    assert Caveat.EMULATED in one.caveats


def test_bindings_are_compared_where_two_are_possible() -> None:
    """Of a core on each node there is one way alone."""
    raws = [
        raw
        for ranks, nodes in ((4, 4), (8, 4))
        for bind, time in (("close", 1.0), ("spread", 0.8 if ranks > nodes else 1.0))
        for raw in solves(time, 64, ranks=ranks, nodes=nodes,
                          layout={"bind": bind, "ppn": ranks // nodes})
    ]  # fmt: skip

    (one,) = found(contrast.ways, raws)

    assert one.of == 1
    assert ratio(one.parts[0]) == pytest.approx(1.25)


def test_processes_and_threads_are_bound_separately() -> None:
    """The reference is close for both; a record without thread_bind has the processes' binding."""
    ways = (({"bind": "close"}, 1.0), ({"bind": "spread", "thread_bind": "close"}, 0.5),
            ({"bind": "spread"}, 0.8))  # fmt: skip
    raws = [
        raw for layout, time in ways for raw in solves(time, 64, ranks=2, threads=4, layout=layout)
    ]

    apart, together = found(contrast.ways, raws)

    assert apart.parts[0].subject == together.parts[0].subject == {"bind": "spread"}
    assert apart.parts[0].reference == together.parts[0].reference == {"bind": "close"}
    assert apart.common["thread_bind"] == "close" and "thread_bind" not in together.common
    assert ratio(apart.parts[0]) == pytest.approx(2)
    assert ratio(together.parts[0]) == pytest.approx(1.25)


def test_threads_bound_otherwise_are_compared_by_their_binding_alone() -> None:
    ways = (({"bind": "spread", "thread_bind": "close"}, 1.0), ({"bind": "spread"}, 0.5))
    raws = [
        raw for layout, time in ways for raw in solves(time, 64, ranks=2, threads=4, layout=layout)
    ]

    (one,) = found(contrast.ways, raws)

    part = one.parts[0]
    assert [*part.subject] == [*part.reference] == ["thread_bind"]
    assert {part.subject["thread_bind"], part.reference["thread_bind"]} == {"spread", "close"}


def test_a_binding_of_threads_is_named_beside_no_binding() -> None:
    ways = (({"bind": "close", "thread_bind": "spread"}, 1.0), ({"bind": "none"}, 0.5))
    raws = [
        raw for layout, time in ways for raw in solves(time, 64, ranks=2, threads=4, layout=layout)
    ]

    (one,) = found(contrast.ways, raws)

    part = one.parts[0]
    bound = {"bind": "close", "thread_bind": "spread"}
    assert bound in (part.subject, part.reference) and {"bind": "none"} in (
        part.subject, part.reference
    )  # fmt: skip


def test_bindings_that_differ_in_one_of_two_settings() -> None:
    raws = [
        raw
        for n, times in ((64, (1.0, 1.0)), (128, (2.0, 1.5)))
        for bind, time in zip(("close", "spread"), times, strict=True)
        for raw in solves(time, n, ranks=2, layout={"bind": bind})
    ]

    (one,) = found(contrast.ways, raws)

    by = {part.verdict: part for part in one.parts}
    assert {verdict: part.count for verdict, part in by.items()} == {
        Verdict.NO_DIFFERENCE: 1,
        Verdict.FASTER: 1,
    }
    faster = by[Verdict.FASTER].ratio
    assert faster and faster.where["n"] == 128 and faster.most == pytest.approx(4 / 3)


def test_a_figure_has_a_point_per_setting_and_a_curve_per_method() -> None:
    raws = [
        raw
        for ranks, faster in ((2, 1.1), (4, 1.2), (8, 1.5))
        for variant in ("fused", "textbook")
        for exchange, time_s in (("blocking", 3.0), ("nonblocking", 3.0 / faster))
        for raw in solves(time_s, ranks=ranks, variant=variant, exchange=exchange)
    ]

    (figure,) = figures.build("exchange", cases(raws), Context(machine=MACHINE))

    (panel,) = figure.panels
    assert isinstance(panel, Lines) and figure.shows_enough
    level, *curves = panel.curves
    assert {mark.y for mark in level.marks} == {1.0} and level.bound
    assert [curve.label for curve in curves] == ["fused", "textbook"]
    for curve in curves:
        assert [mark.x for mark in curve.marks] == [2, 4, 8]
        assert [mark.y for mark in curve.marks] == pytest.approx([1.1, 1.2, 1.5])
    assert panel.bands == ()


def test_with_more_settings_than_colours_methods_remain_distinguishable() -> None:
    raws = [
        raw
        for n in (64, 128, 256, 512)
        for ranks in (2, 4)
        for variant in ("fused", "textbook")
        for exchange in ("blocking", "sendrecv", "nonblocking")
        for raw in solves(1.0, n, 2, ranks=ranks, variant=variant, exchange=exchange)
    ]

    (figure,) = figures.build("exchange", cases(raws), Context(machine=MACHINE))

    (panel,) = figure.panels
    assert isinstance(panel, Lines)
    labels = [curve.label for curve in panel.curves[1:]]
    assert len(labels) <= 8
    assert {label.split(",")[0] for label in labels} == {"sendrecv", "nonblocking"}
    assert sum(len(curve.marks) for curve in panel.curves[1:]) == 32


def test_two_core_counts_make_a_figure_with_several_settings() -> None:
    few = [
        fft(ranks=ranks, launch=k, transpose=way)
        for ranks in (2, 8)
        for way in ("alltoallv", "pipelined")
        for k in range(7)
    ]
    more = [
        fft(ranks=ranks, launch=k, transpose=way, layout="strided")
        for ranks in (2, 8)
        for way in ("alltoallv", "pairwise")
        for k in range(7)
    ]

    (of_two,) = figures.build("transpose", cases(few), Context(machine=MACHINE))
    (of_four,) = figures.build("transpose", cases(few + more), Context(machine=MACHINE))

    assert (of_two.shows_enough, of_four.shows_enough) == (False, True)


def test_the_method_that_differs_in_most_settings_is_first() -> None:
    times = {"alltoallv": 0.12, "pairwise": 0.12, "pipelined": 0.08}
    raws = [
        fft(ranks=ranks, launch=k, transpose=way, time_s=0.12 if ranks == 8 else time)
        for ranks in (2, 4, 8)
        for way, time in times.items()
        for k in range(7)
    ]

    transposes = [one for one in found(contrast.ways, raws) if one.topic == "fft"]

    assert [one.parts[0].subject["transpose"] for one in transposes] == ["pipelined", "pairwise"]
    assert (transposes[0].parts[0].verdict, transposes[0].parts[0].count) == (Verdict.FASTER, 2)


@pytest.mark.parametrize(
    ("ratios", "ticks"),
    [
        ([0.8, 1.35], ["0.8", "1", "1.2", "1.4", "1.6"]),
        ([1.0, 74.0], ["1", "2", "5", "10", "20", "50", "100"]),
        ([0.99, 1.01], ["0.96", "0.98", "1", "1.02", "1.04"]),
    ],
)
def test_ratio_ticks_include_1(ratios: list[float], ticks: list[str]) -> None:
    assert [label for _, label in ratio_ticks(ratios)] == ticks


def test_a_figure_of_simulations_shades_the_ratio_error_once() -> None:
    raws = [
        poisson(1024, ranks=ranks, variant="textbook", exchange=exchange, time_s=1.0, **SIMULATED)
        for ranks in (2, 4, 8)
        for exchange in ("blocking", "nonblocking")
    ]

    (figure,) = figures.build("exchange", cases(raws), Context(machine=MACHINE))

    (panel,) = figure.panels
    assert isinstance(panel, Lines)
    ((low, high),) = panel.bands
    assert high > 1 and low == pytest.approx(1 / high)
    assert all(mark.band is None for curve in panel.curves for mark in curve.marks)


TARA = {**SIMULATED, "simulation": {**SIMULATED["simulation"], "cluster": "tara"}}


def test_published_times_of_both_exchanges_are_listed_with_simulated_ones() -> None:
    """Serial cells have no exchange: 140 cells have 135 of both."""
    raws = [
        poisson(
            4096, nodes=64, ranks=512, variant="textbook", exchange=exchange, time_s=time, **TARA
        )
        for exchange, time in (("blocking", 74.0), ("nonblocking", 1.0))
    ]
    paper = papers.load("hpcf-2010-6")

    (one,) = found(contrast.published, raws, paper=paper)
    of_another = [of_case({**raw, "params": {**raw["params"], "variant": "fused"}}) for raw in raws]

    assert one.of == 135
    counts = {part.verdict: part.count for part in one.parts}
    assert counts[Verdict.SLOWER] == 22 and sum(filter(None, counts.values())) == 135
    faster = next(part.ratio for part in one.parts if part.verdict is Verdict.FASTER)
    assert faster and faster.most == faster.estimate.value == pytest.approx(38.4, rel=0.01)
    assert faster.where == {"n": 1024, "nodes": 64, "ppn": 8}
    (printed,) = both(Library([paper]), cases(raws)[0], "nonblocking", "blocking")
    at = {tuple(where.values()): ratio for ratio, where in printed.ratios}
    assert at[4096, 64, 8] == pytest.approx(22.5, rel=0.01)
    assert not found(contrast.published, of_another, paper=paper)
    assert not found(contrast.published, raws[:1], paper=paper)
