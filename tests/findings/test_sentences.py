# SPDX-License-Identifier: BSD-3-Clause
"""The one place that writes sentences: each shape, each verdict, each part of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.analysis.validation.published import Reference
from haloscope.findings.caveats import EXPLAINED, RERUN, Caveat
from haloscope.findings.finding import (
    BANDWIDTH,
    TIME,
    Claim,
    Finding,
    FindingShape,
    Metric,
    Ratio,
    Verdict,
)
from haloscope.findings.sentences import key_figure, legend, sentence
from haloscope.findings.words import pace, spans, words
from haloscope.quantities import size
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes, Settings
from haloscope.topics.common.making import warning

SURE = Estimate(1.27, 1.21, 1.33, 7, "rank interval", 0.98)
FEW = Estimate(2.0, 1.5, 2.5, 3, "range")
ONE = Estimate(2.0, None, None, 1, "none")


def ratio(value: float, *others: float, n: int | None = None) -> Ratio:
    """A ratio of several, of which the first is the most extreme."""
    every = sorted((value, *others))
    return Ratio(
        Estimate(value, 0.9 * value, 1.1 * value, 7, "bootstrap interval", 0.95),
        *(every[0], every[-1], every[len(every) // 2]),
        {} if n is None else {"n": n},
    )


TARA = Reference(18.9, "18.9 s", 18.8, 19.0, "tara (p, table 3.1)", "textbook")
WAYS = ({"exchange": "nonblocking"}, {"exchange": "blocking"})
SHAPES = [
    (FindingShape.VALUE, {"metric": TIME}, [Claim({"threads": 4}, estimate=SURE)],
     "1.27 s (4 threads; 95 % CI 1.21 to 1.33 s, 7 launches)."),
    (FindingShape.VALUE, {"metric": BANDWIDTH}, [Claim({"size": Bytes(8192)}, estimate=FEW)],
     "2.00 B/s (8 KiB; range 1.50 to 2.50 B/s, 3 launches)."),
    (FindingShape.VALUE, {"metric": BANDWIDTH}, [
        Claim({"nodes": 1}, estimate=SURE),
        Claim({"allocation": "best_fit", "nodes": 2}, estimate=ONE),
        Claim({"allocation": "by_pod", "nodes": 2}, estimate=ONE),
        Claim({"allocation": "by_pod", "nodes": 4}, estimate=ONE)],
     "1.27 B/s (1 node; 95 % CI 1.21 to 1.33 B/s, 7 launches); 2.00 B/s (2 nodes, allocation = "
     "best_fit and by_pod); 2.00 B/s (4 nodes, allocation = by_pod)."),
    (FindingShape.VALUE, {}, [Claim({"operation": name}, estimate=Estimate(1.5, 1.0, k, 3, "range"))
                              for k, name in enumerate("abcd", start=2)],
     "1.50 s (a); 1.50 s (b); 1.50 s (c); 1.50 s (d)."),
    (FindingShape.BOUND, {"bound": "peak"}, [
        Claim({"operation": name}, estimate=ONE, share=0.5) for name in ("bcast", "sf_grid", "halo")
     ],
     "2.00 s, 50 % of peak (bcast); 2.00 s, 50 % of peak (sf_grid). 2.00 s, 50 % of peak (halo)."),
    (FindingShape.COMPARISON, {}, [
        Claim({"part": name}, {"part": "x"}, ratio=ratio(1.0), verdict=Verdict.EQUAL)
        for name in ("a", "b", "spread", "sf_grid", "none")],
     "a and x take the same time; b and x take the same time. Spread and x take the same time; "
     "sf_grid and x take the same time. None and x take the same time."),
    (FindingShape.COMPARISON, {}, [Claim(*WAYS, ratio=ratio(1.9), verdict=Verdict.FASTER)],
     "nonblocking is 1.90x faster than blocking (95 % CI 1.71 to 2.09, 7 launches)."),
    (FindingShape.COMPARISON, {}, [Claim(*WAYS, ratio=ratio(0.5), verdict=Verdict.SLOWER)],
     "nonblocking takes 2.00x as long as blocking (95 % CI 1.82 to 2.22, 7 launches)."),
    (FindingShape.COMPARISON, {}, [Claim(*WAYS, ratio=ratio(1.0), verdict=Verdict.EQUAL)],
     "nonblocking and blocking take the same time."),
    (FindingShape.COMPARISON, {"of": 1},
     [Claim(*WAYS, count=1, verdict=Verdict.UNDECIDED, needed=5)],
     "nonblocking vs blocking: undecided."),
    (FindingShape.COMPARISON, {"of": 9}, [
        Claim(*WAYS, count=6, ratio=ratio(2.1, 1.2, 1.4, n=4096), verdict=Verdict.FASTER),
        Claim(*WAYS, count=3, verdict=Verdict.NO_DIFFERENCE)],
     "nonblocking vs blocking: 1.20x to 2.10x faster in 6 of 9 settings (median 1.40x; most with "
     "n = 4096), no difference shown in 3 of 9 settings."),
    (FindingShape.COMPARISON, {"axis": "size", "points": (8, 64, 512)}, [
        Claim({"part": "a"}, {"part": "b"}, at=(8, 64), ratio=ratio(0.5),
                  verdict=Verdict.SLOWER),
        Claim({"part": "a"}, {"part": "b"}, at=(512,), verdict=Verdict.NO_DIFFERENCE)],
     "a vs b: takes 2.00x as long for 8 B to 64 B (median 2.00x), no difference shown at 512 B."),
    (FindingShape.BEST, {"axis": "tasks", "points": (8, 16, 32)}, [
        Claim({"pattern": "distributed"}, {"pattern": "concentrated", "nodes": 2}, at=(8, 16),
                  ratio=ratio(2.0), verdict=Verdict.FASTER)],
     "with 8 to 16 tasks, distributed is fastest; concentrated, 2 nodes takes 2.00x as long."),
    (FindingShape.BEST, {}, [
        Claim({"nodes": 8}, {"nodes": 2}, ratio=ratio(2.0), node_hours=ratio(0.5),
                  verdict=Verdict.FASTER)],
     "8 nodes are fastest; 2 nodes take 2.00x as long and use 0.500x the node-hours."),
    (FindingShape.VALUE, {}, [Claim({"nodes": 8}, estimate=ONE, node_s=16.0),
                              Claim({"nodes": 1}, estimate=FEW, node_s=5400.0)],
     "2.00 s (8 nodes; 16.0 node-s); 2.00 s (1 node; 1.50 node-h; range 1.50 to 2.50 s, "
     "3 launches)."),
    (FindingShape.TREND, {}, [
        Claim({"cores": 4}, {"cores": 1}, ratio=ratio(2.0), share=0.5, node_hours=ratio(0.5),
                  verdict=Verdict.FASTER)],
     "2.00x faster with 4 cores than with 1 core (95 % CI 1.80 to 2.20, 7 launches; "
     "efficiency 50 %; 2.00x the node-hours)."),
    (FindingShape.BEST, {}, [
        Claim({"part": "a"}, {"others": 2}, also=({"part": "b"},), estimate=ONE,
                  ratio=ratio(1.5, 3.0), verdict=Verdict.UNDECIDED, needed=4)],
     "undecided between a and b; a has the lowest median, 2.00 s. "
     "2 others take 1.50x to 3.00x as long."),
    (FindingShape.BEST, {},
     [Claim({"part": "a"}, also=({"part": "b"},), verdict=Verdict.EQUAL, estimate=ONE)],
     "a and b are equally fast (2.00 s)."),
    (FindingShape.BEST, {"axis": "nodes", "points": (1, 2, 4, 8, 16)}, [
        Claim({"per node": 48}, {"others": 2}, at=(1,), ratio=ratio(1.5), verdict=Verdict.FASTER),
        Claim({"per node": 16}, at=(2, 4), also=({"per node": 8},), verdict=Verdict.NO_DIFFERENCE),
        Claim({"per node": 8}, at=(8,), also=({"per node": 4},), verdict=Verdict.EQUAL),
        Claim({"per node": 4}, at=(16,), also=({"per node": 2},), verdict=Verdict.UNDECIDED,
              needed=3)],
     "48 processes per node on 1 node; 8 and 16 processes per node on 2 to 4 nodes; 4 and 8 "
     "processes per node on 8 nodes (the same); 2 and 4 processes per node on 16 nodes "
     "(undecided). No difference shown between those named together."),
    (FindingShape.COMPARISON, {"of": 9}, [
        Claim(*WAYS, count=6, ratio=ratio(1.03, n=512), verdict=Verdict.NO_DIFFERENCE),
        Claim(*WAYS, count=3, ratio=ratio(1.0), verdict=Verdict.EQUAL)],
     "nonblocking vs blocking: no difference shown in any of 9 settings (the same time in 3; "
     "median 1.03x as fast; most with n = 512)."),
    (FindingShape.TREND, {},
     [Claim({"cores": 2}, {"cores": 1}, ratio=ratio(1.9), share=0.95, verdict=Verdict.FASTER)],
     "1.90x faster with 2 cores than with 1 core (95 % CI 1.71 to 2.09, 7 launches; efficiency "
     "95 %)."),
    (FindingShape.TREND, {"metric": BANDWIDTH},
     [Claim({"cores": 2}, {"cores": 1}, estimate=ONE, ratio=Ratio.of(ONE),
                verdict=Verdict.UNDECIDED)],
     "2.00 B/s (2 cores), 2.00x that with 1 core (undecided)."),
    (FindingShape.TREND, {},
     [Claim({"cores": 2}, {"cores": 1}, estimate=ONE, ratio=Ratio.of(ONE), share=1.0,
                verdict=Verdict.UNDECIDED, needed=4)],
     "2.00 s (2 cores), 2.00x as fast as with 1 core (undecided; "
     "efficiency 100 %)."),
    (FindingShape.TREND, {},
     [Claim({"cores": 2}, {"cores": 1}, estimate=ONE, verdict=Verdict.NO_DIFFERENCE,
            ratio=Ratio.of(Estimate(1.1, 1.01, 1.2, 9, "bootstrap interval")))],
     "no difference shown between 2 cores and 1 core: 2.00 s, 1.10x as fast (95 % CI 1.01 to "
     "1.20, 9 launches)."),
    (FindingShape.REQUEST, {}, [
        Claim({"nodes": 8, "ppn": 2, "threads": 4, "mapping": "block"}, estimate=ONE, node_s=16.0)],
     "8 nodes, 2 processes per node, 4 threads, block (2.00 s; 16.0 node-s)."),
    (FindingShape.REQUEST, {},
     [Claim({"nodes": 8}, {"choice": "the default", "nodes": 1, "ppn": 2, "threads": 1},
            estimate=ONE, ratio=ratio(4), verdict=Verdict.FASTER)],
     "8 nodes (2.00 s). It is 4.00x faster than the default (1 node, 2 processes per node, "
     "1 thread; 95 % CI 3.60 to 4.40, 7 launches)."),
    (FindingShape.REQUEST, {},
     [Claim({"nodes": 8}, {"choice": "the default", "nodes": 1}, estimate=ONE, ratio=ratio(1.1),
            node_hours=ratio(1.1), verdict=Verdict.UNDECIDED)],
     "8 nodes (2.00 s). It is 1.10x as fast as the default (1 node; 95 % CI 0.990 to 1.21, "
     "7 launches; undecided), and uses 0.909x the node-hours."),
    (FindingShape.BREAKDOWN, {}, [
        Claim(estimate=SURE), Claim({"phase": "Pair"}, share=0.68),
        Claim({"phase": "Neigh"}, share=0.14)],
     "1.27 s (95 % CI 1.21 to 1.33 s, 7 launches): Pair 68 % and Neigh 14 %."),
    (FindingShape.BOUND, {"metric": BANDWIDTH, "bound": "STREAM triad"},
     [Claim({"n": 1024}, estimate=ONE, share=0.46)],
     "2.00 B/s, 46 % of STREAM triad (n = 1024)."),
    (FindingShape.BOUND, {"axis": "size", "points": (8, 64)}, [
        Claim({"operation": "bcast"}, {"operation": "scatter"}, at=(8,), ratio=ratio(0.5),
                  verdict=Verdict.VIOLATED, p_value=0.0004),
        Claim({"guidelines": 8, "of": 9}, verdict=Verdict.HOLDS)],
     "bcast takes 2.00x as long as scatter at 8 B (p = <0.001); 8 of 9 guidelines not shown to be "
     "violated."),
    (FindingShape.PUBLISHED, {}, [
        Claim({"variant": "fused"}, estimate=SURE,
                  published=(TARA,),
                  verdict=Verdict.DISAGREES)],
     "1.27 s here (fused; 95 % CI 1.21 to 1.33 s, 7 launches), published 18.9 s (tara, p, table "
     "3.1, textbook), disagrees."),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "more", "parts", "expected"), SHAPES)
def test_each_sentence_pattern_has_one_form(
    shape: FindingShape, more: dict[str, object], parts: list[Claim], expected: str
) -> None:
    finding = Finding("Asked", shape, tuple(parts), **more)  # type: ignore[arg-type]

    assert sentence(finding) == f"Asked: {expected}"


def test_the_reference_does_not_repeat_common_settings() -> None:
    own, other = {"ppn": 2, "nodes": 8}, {"ppn": 1, "nodes": 8}
    part = Claim(own, other, ratio=ratio(2.0), verdict=Verdict.FASTER)
    finding = Finding("Asked", FindingShape.BEST, (part,), common={"nodes": 8})

    assert sentence(finding).count("8 nodes") == 1


def test_shared_settings_are_named_after_the_question() -> None:
    common: Settings = {"kernel": "poisson_cg", "n": 64, "nodes": 1, "ppn": 2, "threads": 1}
    part = Claim({"part": "a"}, share=0.5)

    assert sentence(Finding("Asked", FindingShape.BREAKDOWN, (part,), common=common)) == (
        "Asked (n = 64, 2 processes): a 50 %."
    )


@pytest.mark.parametrize(
    ("caveat", "parts", "common", "start"),
    [
        (Caveat.INCOMPLETE,
         [Claim({"launches": 3}), Claim({"outcome": "failed"}, count=2),
          Claim({"outcome": "not run"}, count=1)], {},
         "Launches are missing from the tables (3 of 9 launches): 2 failed and 1 not run. Retry: "),
        (Caveat.NO_TIME, [Claim({"point": "8 B"}, count=2)], {"kernel": "ring", "n": 64},
         "ring, n = 64: The program printed no "),
        (Caveat.IMPLAUSIBLE, [Claim({"size": 8}, {"at_most": 1.0}, estimate=ONE)], {},
         "No machine has such a latency or bandwidth: 8 B 2.00 s (expected at most 1.00 s). "),
        (Caveat.DIFFERENT_CONDITIONS,
         [Claim({"host": "lark", "folder": "a"}, also=({"host": "owl", "folder": "b"},))], {},
         "The two folders differ in more than the compared setting: host: lark (a) and owl (b)."),
    ],
)  # fmt: skip
def test_a_warning_states_its_count_cause_and_facts(
    caveat: Caveat, parts: list[Claim], common: Settings, start: str
) -> None:
    finding = warning(caveat, (), parts, common=common, of=9)

    assert sentence(finding).startswith(start)


def test_a_caveat_is_a_mark_and_one_line_unless_all_findings_share_it() -> None:
    part = Claim({"part": "a"}, share=0.5)
    first, second = (
        Finding(name, FindingShape.BREAKDOWN, (part,), topic="any", caveats=caveats)
        for name, caveats in (
            ("A", (Caveat.SIMULATED, Caveat.ONE_LAUNCH)),
            ("B", (Caveat.SIMULATED,)),
        )
    )

    known = legend([first, second, Finding("C", FindingShape.BREAKDOWN, (part,))])

    assert sentence(first, known).endswith(". [1]") and sentence(second, known).endswith("%.")
    assert known.lines == (
        EXPLAINED[Caveat.SIMULATED].text,
        f"[1] {EXPLAINED[Caveat.ONE_LAUNCH].text}",
        known.explained[Caveat.ONE_LAUNCH].remedy,
    )


def test_marks_are_numbered_in_the_order_of_the_findings() -> None:
    part = Claim({"name": "a"}, share=0.5)
    found = [
        Finding(name, FindingShape.BREAKDOWN, (part,), topic="any", caveats=caveats)
        for name, caveats in (("A", ()), ("B", (Caveat.ONE_LAUNCH,)), ("C", (Caveat.EMULATED,)))
    ]

    assert [legend(found).of(one) for one in found] == ["", "[1]", "[2]"]
    assert [legend(found[::-1]).of(one) for one in found] == ["", "[2]", "[1]"]


def test_findings_on_published_values_alone_have_no_part_in_what_all_findings_share() -> None:
    part = Claim({"part": "a"}, share=0.5)
    shared = Finding(
        "A", FindingShape.BREAKDOWN, (part,), topic="any", caveats=(Caveat.SIMULATED,), cases=("1",)
    )
    published = Finding("B", FindingShape.BREAKDOWN, (part,), topic="any")

    assert legend([shared, published]).marks == {}


def test_many_that_may_be_as_fast_are_counted_beside_the_lowest_median() -> None:
    found = Finding(
        "Fastest",
        FindingShape.BEST,
        (Claim({"per node": 4, "n": 64}, also=({"others": 5},), estimate=ONE,
               verdict=Verdict.NO_DIFFERENCE),),
        common={"n": 64},
    )  # fmt: skip

    said = sentence(found).partition(": ")[2]
    assert (said.count("4 processes per node"), said.count("5 others"), "64" in said) == (
        1,
        1,
        False,
    )


def test_a_ratio_to_a_published_value_does_not_replace_the_verdict() -> None:
    for least, most, word in ((0.8, 1.2, "as fast"), (1.1, 1.2, "apart"), (0.5, 0.8, "apart")):
        part = Claim(
            {"variant": "fused"},
            estimate=ONE,
            published=(TARA,),
            ratio=Ratio(ONE, least, most, 1.0),
            verdict=Verdict.DISAGREES,
        )
        said = sentence(Finding("Asked", FindingShape.PUBLISHED, (part,)))
        assert "disagrees" in said and word in said


def test_ratios_to_one_reference_name_it_once() -> None:
    parts = tuple(
        Claim({"operation": name, "ranks": 32}, {"ranks": 2}, ratio=Ratio.of(ONE))
        for name in ("bcast", "reduce", "gather")
    )
    said = sentence(Finding("Asked", FindingShape.TREND, parts))
    assert (said.count("32 processes"), said.count("with 2 processes")) == (1, 1)


def test_values_of_parameters_are_not_capitalised() -> None:
    parts = tuple(
        Claim({"sync": value}, {"sync": "stream"}, verdict=Verdict.NO_DIFFERENCE)
        for value in ("some", "other", "general")
    )
    said = sentence(Finding("Asked", FindingShape.COMPARISON, parts))
    assert "general" in said and "General" not in said


def test_the_launches_that_a_report_needs_are_one_number_in_one_line() -> None:
    few = Claim({"part": "a"}, {"part": "b"}, verdict=Verdict.UNDECIDED, needed=8)
    caveats = (Caveat.FEW_LAUNCHES, Caveat.TOO_FEW)
    one, other = (
        Finding("A", FindingShape.COMPARISON, (replace(few, needed=n),), topic="any", caveats=own)
        for n, own in ((4, caveats), (8, caveats[1:]))
    )

    for found, expected in (([one, other], "8"), ([one], "6"), ([other], "8")):
        known = legend(found)
        (remedy,) = {explained.remedy for explained in known.explained.values()}
        assert remedy.count(expected) == 2
        assert [line for line in known.lines if remedy in line] == [remedy]
        assert remedy in known.listed([Caveat.TOO_FEW], briefly=True)


def test_a_caveat_of_all_findings_is_not_explained_if_a_warning_states_it() -> None:
    caveats = (Caveat.EMULATED,)
    one = Finding("A", FindingShape.VALUE, (Claim(),), topic="any", caveats=caveats)
    warned = Finding("", FindingShape.WARNING, caveats=caveats)
    other = replace(one, caveats=())

    assert legend([one]).lines and not legend([one, warned]).lines
    assert len(legend([one, other, warned]).lines) == 1  # with a mark


def test_an_unknown_number_of_launches_is_not_named() -> None:
    part = Claim({"part": "a"}, {"part": "b"}, verdict=Verdict.UNDECIDED)
    caveats = (Caveat.FEW_LAUNCHES, Caveat.TOO_FEW)
    found = Finding("A", FindingShape.COMPARISON, (part,), topic="any", caveats=caveats)

    assert legend([found]).explained[Caveat.TOO_FEW].remedy == RERUN


def test_ratios_below_1_are_inverted() -> None:
    assert pace(1.03, 1.06) == "1.03x to 1.06x as fast"
    assert pace(0.5, 0.8) == "1.25x to 2.00x as long"
    assert pace(0.5, 1.25) == "from 2.00x as long to 1.25x as fast"
    below = Ratio.of(Estimate(0.5, 0.4, 0.8, 3, "range"))
    part = Claim(*WAYS, ratio=below, verdict=Verdict.UNDECIDED)
    found = sentence(Finding("", FindingShape.COMPARISON, (part,)))
    assert "2.00x as long; range 1.25 to 2.50, 3 launches" in found


def test_every_caveat_has_an_explanation() -> None:
    assert {*EXPLAINED} == {*Caveat}
    for one in EXPLAINED.values():
        assert one.text.endswith(".") and one.text[0].isupper()


def test_a_key_figure_is_the_first_number_with_its_label() -> None:
    value = Finding("Latency", FindingShape.VALUE, (Claim({"size": 8}, estimate=SURE),))
    speedup = Finding(
        "Speedup",
        FindingShape.TREND,
        (Claim({"cores": 2}, {"cores": 1}, ratio=ratio(0.5)),),
        Metric("time"),
    )
    none = Finding("Asked", FindingShape.COMPARISON, (Claim(*WAYS, verdict=None),))
    open_ = replace(
        speedup,
        parts=(Claim({"cores": 2}, {"cores": 1}, ratio=ratio(3.0), verdict=Verdict.UNDECIDED),),
    )
    faster = replace(open_, parts=(replace(open_.parts[0], verdict=Verdict.FASTER),))
    undecided, decided = key_figure(open_), key_figure(faster)
    assert undecided and undecided.value == "3.00x as fast"
    assert undecided.label.endswith("vs 1 core (undecided)")
    assert decided and decided.value == "3.00x faster"
    assert decided.label.endswith("vs 1 core")

    first, second = key_figure(value), key_figure(speedup)
    assert first and (first.value, first.label) == ("1.27 s", "Latency, 8 B")
    assert first.spread.startswith("95 % CI")
    assert second and second.value == "2.00x as long"
    assert second.label == "Speedup, 2 cores vs 1 core"
    assert key_figure(none) is None
    parts = (Claim({"n": 256}, estimate=ONE, share=0.46),)
    bound = Finding("CG (fused)", FindingShape.BOUND, parts, BANDWIDTH, bound="STREAM triad")
    share = key_figure(bound)
    assert share and share.value == "46 %" and share.label.startswith("of STREAM triad (CG (")


def test_neighbouring_points_are_merged_into_one_range() -> None:
    sizes = [8, 16, 32, 64, 128, 256, 512, 1024]

    assert spans([8, 16, 64], sizes, size) == "8 B to 16 B and 64 B"
    assert spans([8, 32, 128, 512], sizes, size) == "4 of 8 from 8 B to 512 B"


def test_setting_names_omit_the_obvious() -> None:
    assert words({"ppn": 2, "nodes": 1, "threads": 1}) == "2 processes"
    assert words({"tasks": 8, "nodes": 1}) == "8 tasks, 1 node"
    assert words({"nodes": 1}) == "" and words({}) == ""
