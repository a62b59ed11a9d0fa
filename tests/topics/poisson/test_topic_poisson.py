# SPDX-License-Identifier: BSD-3-Clause
"""Speedup, layouts, variants by ranks, accuracy and published times of the Poisson solver."""

from __future__ import annotations

from typing import Any

import pytest
from found import SIMULATED, every, found, ratio, value
from recorded import Raw, cases, of_case, poisson

from haloscope.analysis.validation.published import WALL_TIMES, Library
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, FindingShape, Verdict
from haloscope.papers import tables as papers
from haloscope.topics.contrast import findings as contrast
from haloscope.topics.poisson import accuracy
from haloscope.topics.poisson import findings as topic

THREE = [1.0, 1.5, 3.0]
SHELF = papers.list_papers()


def solves(times_s: list[float], n: int = 512, **settings: Any) -> list[Raw]:
    """A launch of a solve for each of some times."""
    return [poisson(n, launch=k, time_s=time, **settings) for k, time in enumerate(times_s)]


def many(time_s: float, n: int = 512, **settings: Any) -> list[Raw]:
    """Seven launches that hardly differ."""
    return solves([time_s * (1 + 0.001 * k) for k in range(7)], n, **settings)


def test_a_speedup_has_its_interval_efficiency_and_base() -> None:
    (one,) = found(topic.speedup, [*many(2.0), *many(1.0, ranks=2)])

    (part,) = one.parts
    assert (part.subject, part.reference) == ({"cores": 2}, {"cores": 1})
    assert [ratio(part), part.share] == pytest.approx([2.0, 1.0])
    assert part.verdict is Verdict.FASTER and part.ratio and part.ratio.estimate.confidence
    assert one.common["n"] == 512 and one.metric.name == "time of a solve"


def test_a_speedup_with_few_launches_has_a_range_and_no_verdict() -> None:
    (one,) = found(topic.speedup, [*solves([4.0, 6.0, 8.0]), *solves(THREE, ranks=2)])

    (part,) = one.parts
    assert part.ratio and part.ratio.estimate.method == "range"
    assert [part.ratio.estimate.low, part.ratio.estimate.high] == pytest.approx([4 / 3, 8.0])
    assert part.verdict is Verdict.UNDECIDED
    assert {Caveat.FEW_LAUNCHES, Caveat.TOO_FEW, Caveat.SUPERLINEAR_UNSHOWN} <= {*one.caveats}


def test_a_speedup_of_one_launch_has_no_range_or_verdict() -> None:
    (one,) = found(topic.speedup, [*solves([4.0]), *solves([2.0], ranks=2)])

    assert Caveat.ONE_LAUNCH in one.caveats and one.parts[0].verdict is Verdict.UNDECIDED


def test_hardware_threads_on_shared_cores_are_not_more_cores() -> None:
    def placed(places: str, ranks: int, threads: int) -> Raw:
        where = {"places": places}
        return poisson(256, ranks=ranks, threads=threads, time_s=1 / ranks, layout=where)

    raws = [placed("cores", p, t) for p, t in ((1, 1), (2, 1), (4, 1), (2, 2), (1, 4))]
    raws += [placed("threads", p, 8 // p) for p in (2, 4, 8)]
    for raw in raws:
        raw["machine"] = {**raw["machine"], "cores": 4, "threads_per_core": 2}

    (layout,), (speedup,) = found(topic.layouts, raws), found(topic.speedup, raws)

    assert (layout.parts[0].subject["ppn"], layout.common["places"]) == (4, "cores")
    assert speedup.parts[0].subject == {"cores": 4}


def test_a_slowdown_has_a_ratio_below_one() -> None:
    (one,) = found(topic.speedup, [*many(1.0), *many(2.0, ranks=2)])

    assert ratio(one.parts[0]) == pytest.approx(0.5)
    assert one.parts[0].verdict is Verdict.SLOWER and one.parts[0].share == pytest.approx(0.25)


def test_fixed_iterations_are_not_a_solve_and_the_fastest_variant_is_named() -> None:
    def speedup(iterations: int) -> Finding:
        raws = [
            poisson(256, ranks=p, variant=variant, time_s=time / p)
            for p in (1, 2)
            for variant, time in (("textbook", 4.0), ("fused", 2.0))
        ]
        for raw in raws:
            raw["params"]["iterations"] = iterations
        (one,) = found(topic.speedup, raws)
        return one

    assert speedup(0).metric.name == "time of a solve"
    assert speedup(16).metric.name == "time of an iteration"
    assert speedup(0).common["variant"] == "fused"


def test_processes_with_threads_are_counted_as_cores() -> None:
    (one,) = found(topic.speedup, [poisson(256, ranks=p, threads=4) for p in (1, 8)])

    assert (one.parts[0].subject, one.parts[0].reference) == ({"cores": 32}, {"cores": 4})


def test_superlinear_efficiency_without_a_cache_effect_is_noted() -> None:
    (one,) = found(topic.speedup, [*many(3.0), *many(1.0, ranks=2)])

    assert one.parts[0].share == pytest.approx(1.5)
    assert Caveat.SUPERLINEAR in one.caveats and Caveat.OTHER_LEVEL not in one.caveats


@pytest.mark.parametrize("faster", [1.5, 3.0])
def test_working_sets_that_move_to_another_cache_are_always_a_caveat(
    faster: float,
) -> None:
    """Three vectors of n = 384 take 3.4 MiB: above one core's L2, below that of two."""
    raws = [
        of_case({
            **raw,
            "params": {**raw["params"], "n": 384},
            "result": {**raw["result"], "points": 384**2},
        })
        for ranks, factor in ((1, faster), (2, 1.0))
        for raw in many(factor, ranks=ranks)
    ]  # fmt: skip

    (one,) = found(topic.speedup, raws)

    assert Caveat.OTHER_LEVEL in one.caveats and Caveat.SUPERLINEAR not in one.caveats


def layouts(*seconds: float, launches: int = 6) -> list[Raw]:
    """N = 256 on two cores: two processes and one process of two threads, seconds of each."""
    return [
        poisson(256, ranks=ranks, threads=threads, launch=k, time_s=time * (1 + 0.01 * k))
        for (ranks, threads), time in zip(((2, 1), (1, 2)), seconds, strict=True)
        for k in range(launches)
    ]


def test_the_fastest_layout_is_named_with_the_slower_ones() -> None:
    (one,) = found(topic.layouts, layouts(2.0, 3.0))

    (part,) = one.parts
    assert (part.subject["ppn"], part.subject["threads"]) == (2, 1)
    assert (part.reference["ppn"], part.reference["threads"]) == (1, 2)
    assert part.verdict is Verdict.FASTER and part.also == ()
    assert value(part) == pytest.approx(2.05) and ratio(part) == pytest.approx(1.5)


def test_a_layout_is_not_called_slower_with_too_few_launches() -> None:
    (one,) = found(topic.layouts, layouts(2.0, 3.0, launches=2))

    assert one.parts[0].verdict is Verdict.UNDECIDED and len(one.parts[0].also) == 1


def test_nearly_equal_simulated_layouts_with_equal_nodes_are_ties() -> None:
    def mapped(nodes: int, mapping: str, time_s: float) -> Raw:
        raw = poisson(256, nodes=nodes, ranks=16, time_s=time_s, **SIMULATED)
        layout = {**raw["layout"], "mapping": mapping}
        return {**raw, "layout": layout, "case": f"{raw['case']}-{mapping}"}

    (one,) = found(topic.layouts, [
        *(mapped(2, "block", 3.0), mapped(2, "random", 3.0001)),
        *(mapped(4, "block", 2.0), mapped(4, "random", 2.5)),
    ])  # fmt: skip

    (part,) = one.parts
    assert part.verdict is Verdict.EQUAL
    assert [part.subject["mapping"], part.also[0]["mapping"]] == ["block", "random"]
    assert one.common["nodes"] == 2


def test_a_simulated_order_unlike_the_published_one_is_reported() -> None:
    """On 32 nodes of Stampede2: 9 s with a process a node, 7 s with two, 6 s with four and more."""

    def simulated(*seconds: float) -> list[Finding]:
        raws = [
            poisson(8192, nodes=32, ranks=32 * ppn, threads=32 // ppn, variant="textbook",
                    exchange="nonblocking", time_s=time_s, **SIMULATED)
            for ppn, time_s in zip((1, 2, 4), seconds, strict=True)
        ]  # fmt: skip
        return found(topic.layouts, raws, paper=papers.load("hpcf-2018-10"))

    best, beside = simulated(4.42, 5.58, 6.73)
    assert best.parts[0].subject["ppn"] == 1 and best.parts[0].reference == {"others": 2}
    assert [part.verdict for part in beside.parts] == [None, Verdict.DISAGREES]
    assert [part.published[0].value for part in beside.parts] == [6.0, 9.0]
    assert len(simulated(6.73, 5.58, 4.42)) == 1
    assert len(simulated(6.60, 6.73, 6.74)) == 1  # within the error of the simulation


@pytest.mark.parametrize(
    ("bind", "ppn", "clock", "beside"),
    [
        ("spread", 2, "simulated", True),
        ("close", 2, "simulated", False),
        ("close", 1, "simulated", True),
        ("close", 8, "simulated", True),
        ("close", 2, "wall", True),
    ],
)
def test_packed_ranks_are_not_compared_with_published_spread_ranks(
    bind: str, ppn: int, clock: str, beside: bool
) -> None:
    more = SIMULATED if clock == "simulated" else {}
    raw = poisson(1024, variant="textbook", nodes=2, ranks=2 * ppn, layout={"bind": bind}, **more)
    raw["machine"] = {**raw["machine"], "cores": 8}
    (case,) = cases([of_case(raw)])

    known = Library([papers.load("hpcf-2018-10")]).find(case, "time_s", WALL_TIMES)

    assert (known is not None) is beside


@pytest.mark.parametrize(("thread_bind", "beside"), [("close", True), ("spread", False)])
def test_published_times_are_compared_with_equally_bound_threads(
    thread_bind: str, beside: bool
) -> None:
    bound = {"bind": "spread", "thread_bind": thread_bind}
    raw = poisson(8192, variant="textbook", nodes=2, ranks=4, threads=16, layout=bound, **SIMULATED)
    (case,) = cases([of_case(raw)])

    known = Library([papers.load("hpcf-2018-10")]).find(case, "time_s", ("hybrid_grid",))

    assert (known is not None) is beside


@pytest.mark.parametrize(("places", "value"), [("threads", 147.0), ("cores", None)])
def test_times_of_two_threads_per_core_are_compared_with_shared_cores(
    places: str, value: float | None
) -> None:
    """64 threads on 48 cores: the table's OMP_PLACES=cores does not say which share one."""
    bound = {"bind": "spread", "thread_bind": "spread", "places": places}
    raw = poisson(8192, variant="textbook", nodes=4, ranks=8, threads=32, layout=bound, **SIMULATED)
    (case,) = cases([of_case(raw)])

    known = Library([papers.load("hpcf-2018-10")]).find(case, "time_s", ("hybrid_grid",))

    assert (known and known.value) == value


def test_simulated_layouts_within_their_ratio_error_are_ties() -> None:
    raws = [
        poisson(8192, nodes=32, ranks=32 * ppn, threads=32 // ppn, variant="textbook",
                exchange="nonblocking", time_s=time_s, **SIMULATED)
        for ppn, time_s in ((1, 4.42), (2, 4.58), (4, 9.0))
    ]  # fmt: skip

    (part,) = found(topic.layouts, raws)[0].parts

    assert part.verdict is Verdict.NO_DIFFERENCE
    assert [one["ppn"] for one in part.also] == [2] and part.reference["ppn"] == 4
    assert part.band is not None and 4.58 / 4.42 < part.band < 9.0 / 4.42


def test_different_bindings_alone_are_not_layouts() -> None:
    raws = [
        poisson(256, ranks=2, launch=k, time_s=time, layout={"bind": bind})
        for bind, time in (("close", 1.0), ("spread", 2.0))
        for k in range(4)
    ]

    assert found(topic.layouts, raws) == []
    (one,) = found(contrast.ways, raws)
    assert (one.parts[0].subject, one.parts[0].verdict) == ({"bind": "spread"}, Verdict.SLOWER)


def run(n: int, nodes: int, ppn: int, time_s: float, **more: Any) -> Raw:
    raw = poisson(n, ranks=nodes * ppn, nodes=nodes, time_s=time_s, **more)
    raw["layout"] |= {"ppn": ppn}
    return raw


def fastest(raws: list[Raw]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """By mesh and nodes, who is first, and the verdict."""
    return {
        (one.common["n"], *part.at): (
            *sorted(int(str(each["per node"])) for each in (part.subject, *part.also)),
            part.verdict,
        )
        for one in found(topic.per_node, raws)
        for part in one.parts
    }


@pytest.mark.usefixtures("exact")
def test_each_mesh_has_its_best_process_count_on_few_and_many_nodes() -> None:
    times = {
        (64, 1): (4.0, 2.0, 1.0),
        (64, 2): (2.0, 0.9, 1.0),
        (128, 1): (16.0, 8.0, 4.0),
        (128, 2): (8.0, 4.0, 2.0),
    }
    raws = [
        run(n, nodes, ppn, time, **SIMULATED)
        for (n, nodes), own in times.items()
        for ppn, time in zip((1, 2, 4), own, strict=True)
    ]

    assert fastest(raws) == {
        (64, 1): (4, Verdict.FASTER),
        (64, 2): (2, Verdict.FASTER),
        (128, 1, 2): (4, Verdict.FASTER),
    }


def test_equally_fast_process_counts_are_ties() -> None:
    raws = [run(64, nodes, ppn, 1.0, **SIMULATED) for nodes in (1, 2) for ppn in (2, 4)]

    assert fastest(raws) == {(64, 1, 2): (2, 4, Verdict.EQUAL)}


def test_the_headline_prefers_the_largest_mesh_over_a_faster_setting() -> None:
    raws = [
        run(n, nodes, ppn, time / ppn, variant=variant, **SIMULATED)
        for variant, n, time in (("fused", 64, 1.0), ("textbook", 128, 9.0))
        for nodes in (1, 2)
        for ppn in (2, 4)
    ]

    (one,) = found(topic.per_node, raws)

    assert (one.common["n"], one.common["variant"]) == (128, "textbook")


def test_a_lowest_median_is_not_called_fastest_without_a_significant_test() -> None:
    few = [run(64, nodes, ppn, 1.0 / ppn, launch=k)
           for nodes in (1, 2) for ppn in (2, 4) for k in range(2)]  # fmt: skip
    shown = [run(64, nodes, ppn, 1.0 / ppn + 1e-3 * k, launch=k)
             for nodes in (1, 2) for ppn in (2, 4) for k in range(7)]  # fmt: skip

    assert fastest(few) == {(64, 1, 2): (2, 4, Verdict.UNDECIDED)}
    assert fastest(shown) == {(64, 1, 2): (4, Verdict.FASTER)}


def test_one_node_or_process_count_gives_no_finding() -> None:
    assert fastest([run(64, 1, ppn, 1.0) for ppn in (1, 2, 4)]) == {}
    assert fastest([run(64, nodes, 4, 1.0) for nodes in (1, 2, 4)]) == {}
    assert fastest([run(64, k, p, 1.0, threads=2) for k in (1, 2) for p in (1, 2)]) == {}


def tara(exchange: str) -> list[Raw]:
    """Solves with the times of tara's tables, on many nodes."""
    table = papers.load("hpcf-2010-6").table("5.1" if exchange == "blocking" else "4.1")
    return [
        run(n, nodes, ppn, float(cell.value), exchange=exchange, variant="textbook", **SIMULATED)
        for n in (2048, 4096)
        for nodes in (16, 32, 64)
        for ppn in (1, 4, 8)
        if (cell := table.cell(n=n, nodes=nodes, ppn=ppn))
    ]


def winners_of(one: Finding, name: str) -> dict[tuple[Any, ...], list[Any]]:
    return {
        part.at: sorted(each[name] for each in (part.subject, *part.also)) for part in one.parts
    }


@pytest.mark.usefixtures("exact")
def test_each_exchange_has_its_best_processes_per_node() -> None:
    raws = [*tara("blocking"), *tara("nonblocking")]
    for raw in raws:
        raw["simulation"] = {"cluster": "tara", "verified": False}

    every_one = found(topic.per_node, raws, paper=papers.load("hpcf-2010-6"))

    blocking = [one for one in every_one if one.common["exchange"] == "blocking"]
    assert [one.common["n"] for one in every_one] == [4096] * 4
    assert [winners_of(one, "per node") for one in blocking] == [
        {(16,): [8], (32,): [4], (64,): [1]}
    ] * 2
    assert "hpcf-2010-6, table 5.1" in blocking[1].question


@pytest.mark.usefixtures("exact")
def test_the_process_count_beyond_which_a_mesh_slows_down_is_reported() -> None:
    raws = tara("blocking")
    for raw in raws:
        raw["simulation"] = {"cluster": "tara", "verified": False}

    ours, theirs = found(topic.turns, raws, paper=papers.load("hpcf-2010-6"))

    assert ours.axis == "n" and ours.points == (2048, 4096)
    assert (
        winners_of(ours, "ranks") == winners_of(theirs, "ranks") == {(2048,): [64], (4096,): [128]}
    )
    assert "hpcf-2010-6, table 5.1" in theirs.question


@pytest.mark.usefixtures("exact")
def test_without_a_slowdown_no_turning_point_is_reported() -> None:
    raws = [run(64, nodes, ppn, 1 / nodes / ppn, **SIMULATED) for nodes in (1, 2) for ppn in (1, 2)]

    assert found(topic.turns, raws) == []
    (one,) = found(topic.turns, [*raws, *(run(64, 4, ppn, 0.9, **SIMULATED) for ppn in (1, 2))])
    assert winners_of(one, "ranks") == {(64,): [4]}


def by_ranks(**changes: Any) -> list[Raw]:
    """Four vectors of n = 256 are what one core's L2 holds; two cores' hold twice as much."""
    return [
        poisson(256, ranks=ranks, variant=variant, time_s=time, **changes)
        for ranks in (1, 2)
        for variant, time in (("textbook", 1.0), ("fused", 0.5))
    ]


def test_findings_by_rank_are_not_repeated_over_settings() -> None:
    assert found(contrast.variants, by_ranks()) == []
    assert found(topic.variants_by_ranks, by_ranks())


def test_a_simulated_lead_states_its_error() -> None:
    leads = [
        part.ratio
        for one in found(topic.variants_by_ranks, by_ranks(**SIMULATED))
        for part in one.parts
        if part.ratio and part.verdict is Verdict.FASTER
    ]

    (band,) = {lead.estimate.band for lead in leads}
    assert band and band > 1


def test_simulated_times_near_a_model_threshold_are_a_caveat() -> None:
    def near(find: Any, raws: list[Raw]) -> bool:
        return Caveat.NEAR_CACHE_SIZE in found(find, raws)[0].caveats

    simulated = by_ranks(**SIMULATED)
    textbook = [raw for raw in simulated if raw["params"]["variant"] == "textbook"]
    alone = [raw for raw in simulated if raw["layout"]["ranks"] == 1]
    assert near(topic.variants_by_ranks, simulated)
    assert not near(topic.variants_by_ranks, by_ranks())
    assert near(topic.speedup, textbook)
    assert near(contrast.variants, alone)


def test_with_many_meshes_the_largest_is_ranked_by_ranks() -> None:
    def meshes(*edges: int) -> set[Any]:
        raws = [
            one
            for n in edges
            for ranks in (1, 2)
            for variant in ("textbook", "fused")
            for one in solves([1.0, 1.1], n, ranks=ranks, variant=variant)
        ]
        return {one.common["n"] for one in found(topic.variants_by_ranks, raws)}

    assert meshes(64, 128, 256) == {256}
    assert meshes(64, 128) == {64, 128}


def solved(variant: str, ranks: int, seconds: float, communicating: float = 0.1) -> list[Raw]:
    """Seven launches of 100 iterations each."""
    phases = [
        {"name": name, "calls": 1, "bytes": 0.0, "flops": 0.0, "model_s": None,
         "time_s": dict.fromkeys(("min", "mean", "max"), share * seconds)}
        for name, share in (("sweep", 1 - communicating), ("reduce", communicating))
    ]  # fmt: skip
    raws = []
    for k in range(7):
        raw = poisson(256, ranks=ranks, launch=k, time_s=seconds * (1 + 0.001 * k), phases=phases)
        raw["result"]["iterations"] = 100
        raws.append({**raw, "params": {**raw["params"], "variant": variant, "iterations": 100},
                     "case": f"{variant}-{ranks}"})  # fmt: skip
    return raws


def test_tied_first_variants_are_listed_before_slower_ones() -> None:
    seconds = {"textbook": 3.0, "fused": 1.0, "sstep": 1.0, "pipelined": 2.0}
    raws = [r for p in (1, 2) for name, time_s in seconds.items() for r in solved(name, p, time_s)]

    pace, _ = found(topic.variants_by_ranks, raws)

    (part,) = pace.parts
    assert {str(each["variant"]) for each in (part.subject, *part.also)} == {"fused", "sstep"}
    assert (part.at, part.verdict) == ((1, 2), Verdict.NO_DIFFERENCE)
    assert part.reference == {"others": 2}
    assert part.ratio and [part.ratio.least, part.ratio.most] == pytest.approx([2.0, 3.0])


def test_the_rank_count_from_which_a_variant_is_fastest_is_reported() -> None:
    raws = [
        *(raw for ranks in (1, 2) for raw in solved("textbook", ranks, 3.0 / ranks)),
        *(raw for ranks in (1, 2) for raw in solved("fused", ranks, 1.0 / ranks)),
        *(raw for ranks in (1, 2) for raw in solved("pipelined", ranks, 2.0 / ranks)),
        *solved("textbook", 16, 1.0, 0.7),
        *solved("fused", 16, 0.5, 0.5),
        *solved("pipelined", 16, 0.25, 0.2),
        *(raw for variant in ("textbook", "fused") for raw in solved(variant, 32, 0.5)),
    ]

    pace, spent = found(topic.variants_by_ranks, raws)

    assert {part.at: part.subject["variant"] for part in pace.parts if not part.also} == {
        (1, 2): "fused",
        (16,): "pipelined",
    }
    assert spent.shape is FindingShape.BREAKDOWN
    assert {str(part.subject["variant"]): part.share for part in spent.parts} == pytest.approx(
        {"pipelined": 0.2, "fused": 0.5, "textbook": 0.7}, rel=0.01
    )


def test_one_rank_count_or_several_layouts_give_no_rank_finding() -> None:
    alone = [*solved("textbook", 2, 1.0), *solved("fused", 2, 0.5)]
    several = [
        {**raw, "layout": {**raw["layout"], "nodes": nodes, "ppn": ranks // nodes},
         "case": f"{raw['case']}-{nodes}"}
        for variant, time in (("textbook", 2.0), ("fused", 1.0))
        for ranks in (2, 4)
        for nodes in (1, 2)
        for raw in solved(variant, ranks, time)
    ]  # fmt: skip

    assert found(topic.variants_by_ranks, alone) == []
    assert found(topic.variants_by_ranks, several) == []


def serial(raws: list[Raw]) -> Finding:
    (one,) = found(accuracy.serial, raws, shelf=SHELF)
    return one


def test_a_serial_solve_is_compared_with_published_ones_of_its_mesh() -> None:
    one = serial([poisson(1024, time_s=2.0)])

    (part,) = one.parts
    assert value(part) == 2.0
    assert part.published[0].value == pytest.approx(18.88, rel=0.01)
    assert {known.variant for known in part.published} == {"textbook"}
    assert Caveat.DIFFERENT_PROGRAM in one.caveats
    same = serial([poisson(1024, variant="textbook", time_s=2.0)])
    assert Caveat.DIFFERENT_PROGRAM not in same.caveats


def test_a_published_time_has_only_the_printed_digits() -> None:
    texts = [one.text for one in serial([poisson(128, variant="textbook")]).parts[0].published]

    assert texts == ["0.03 s"]


def test_the_fastest_of_settings_is_labelled_and_identical_programs_are_one() -> None:
    bound = [
        poisson(1024, time_s=time, layout={"bind": bind})
        for bind, time in (("close", 3.0), ("spread", 2.0))
    ]
    ways = [
        poisson(1024, time_s=time, exchange=exchange)
        for exchange, time in (("blocking", 3.0), ("nonblocking", 2.0))
    ]

    parts = [serial(raws).parts[0] for raws in (bound, ways, bound[:1])]

    assert [part.subject.get("fastest_of") for part in parts] == [2, None, None]
    assert [value(part) for part in parts] == [2.0, 2.5, 3.0]


def test_only_serial_measured_times_are_compared_with_published_serial_times() -> None:
    assert found(accuracy.serial, [poisson(1024, ranks=2)], shelf=SHELF) == []
    assert found(accuracy.serial, [poisson(1024, **SIMULATED)], shelf=SHELF) == []


@pytest.mark.parametrize(
    ("change", "error", "iterations"),
    [({}, 0.0, 0.0), ({"error_max": 3.2e-6}, 0.0235, 0.0), ({"iterations": 1583}, 0.0, 0.00127)],
)
def test_errors_and_iteration_counts_are_compared_with_published_ones(
    change: dict[str, Any], error: float, iterations: float
) -> None:
    raw = poisson(1024)
    raw["result"] |= change

    (one,) = found(accuracy.convergence, [raw], shelf=SHELF)

    assert [part.share for part in one.parts] == pytest.approx([error, iterations], abs=1e-4)
    assert one.parts[0].published[0].source.startswith("tara")


def test_meshes_refined_by_two_have_second_order_errors() -> None:
    (one,) = found(accuracy.order, [poisson(n) for n in (128, 256, 512, 1024)])

    assert [part.subject for part in one.parts] == [{"n": 128}, {"n": 256}, {"n": 512}]
    assert [value(part) for part in one.parts] == pytest.approx([4.0] * 3, rel=0.01)
    assert found(accuracy.order, [poisson(n) for n in (256, 512, 1024)]) == []
    assert found(accuracy.order, [poisson(n) for n in (64, 256, 1024)]) == []


def at(tolerance: float, n: int, error: float | None = None, **more: Any) -> Raw:
    raw = poisson(n, **more)
    raw = of_case(raw, params={**raw["params"], "tolerance": tolerance})
    if error is not None:
        raw["result"] |= {"error_max": error}
    return raw


def test_solves_with_another_tolerance_are_not_compared_with_published_ones() -> None:
    raws = [at(tolerance, 1024, time_s=time) for tolerance, time in ((1e-6, 2.0), (1e-2, 1.0))]

    (one,) = found(accuracy.convergence, raws, shelf=SHELF)

    assert len(one.cases) == 1
    assert found(accuracy.convergence, raws[1:], shelf=SHELF) == []
    assert value(serial(raws).parts[0]) == 2.0


def test_the_order_of_errors_uses_the_smallest_tolerance() -> None:
    fine = [at(1e-8, n) for n in (128, 256, 512, 1024)]
    coarse = [at(1e-2, n, error=1.0) for n in (128, 256, 512, 1024)]

    (one,) = found(accuracy.order, [*fine, *coarse])

    assert [value(part) for part in one.parts] == pytest.approx([4.0] * 3, rel=0.01)


def test_a_simulation_is_marked_in_each_of_its_findings() -> None:
    raws = [
        *(poisson(n, ranks=ranks, variant=variant, **SIMULATED)
          for n in (512, 1024) for ranks in (1, 2) for variant in ("textbook", "fused")),
        poisson(512, threads=2, **SIMULATED),
    ]  # fmt: skip

    own = [one for one in every(raws) if one.topic]

    assert len(own) > 3
    assert all(Caveat.SIMULATED in one.caveats for one in own)
