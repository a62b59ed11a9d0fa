# SPDX-License-Identifier: BSD-3-Clause
"""Headlines say how sure a ratio is, where times come from, and what they rest on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from recorded import (
    MACHINE,
    Raw,
    cases,
    collectives,
    of_case,
    pingpong,
    poisson,
    record,
    spmv,
    stream,
)

from haloscope.papers import tables as papers
from haloscope.report.context import Context
from haloscope.report.findings import collectives as topic
from haloscope.report.findings import (
    exchange,
    findings,
    latency,
    memory,
    products,
    regions,
    scaling,
    variants,
)
from haloscope.report.findings import pingpong as exchanged
from haloscope.report.findings import published as beside_papers

SIMULATED: Raw = {"clock": "simulated", "simulation": {"cluster": "stampede2", "verified": False}}


def told(topic: Any, raws: list[Raw]) -> list[str]:
    own = cases(raws)
    found = topic.find(own, Context(machine=MACHINE, all_cases=own))
    return [finding.text for finding in found]


def solves(times_s: list[float], n: int = 512, **settings: Any) -> list[Raw]:
    """A launch of a solve for each of some times."""
    return [poisson(n, launch=k, time_s=time, **settings) for k, time in enumerate(times_s)]


THREE = [1.0, 1.5, 3.0]


def test_a_speedup_of_few_launches_has_their_range_and_no_test() -> None:
    (said,) = told(scaling, [*solves([4.0, 6.0, 8.0]), *solves(THREE, ranks=2)])

    assert said == (
        "With 2 processes, N = 512 is solved 4.00 times as fast as with one (1.33 to 8.00 of 3 "
        "launches, too few launches to tell): an efficiency of 200 % (by launches that scatter so "
        "far, more than 100 % is not shown)."
    )


def test_a_speedup_of_one_launch_says_so() -> None:
    (said,) = told(scaling, [*solves([4.0]), *solves([2.0], ranks=2)])

    assert "2.00 times as fast as with one (one launch, too few launches to tell): an" in said


def test_headlines_of_few_launches_say_of_how_few() -> None:
    raws = [pingpong(launch=k) for k in range(2)]
    (messages,) = told(exchanged, raws)
    serial = cases(solves([4.0, 5.0], n=1024))
    (beside,) = beside_papers.find(serial, Context(shelf=papers.list_papers()))

    assert messages.startswith("Ping-pong, medians of 2 launches: ")
    assert told(exchanged, [pingpong(launch=k) for k in range(6)])[0].startswith("Ping-pong: ")
    assert beside.text.startswith(
        "N = 1024 on one core takes 4.50 s (4.00 to 5.00 s of 2 launches)"
    )


def test_what_a_parallel_region_costs_is_told_of_the_fewest_threads_and_the_most() -> None:
    raws = [
        record("parallel_region", {}, [1e-4], threads=threads, launch=k, result={"region_s": cost})
        for threads, cost in ((1, 1e-7), (2, 1e-6), (4, 2e-6))
        for k in range(7)
    ]
    (said,) = told(regions, raws)

    assert re.fullmatch(
        r"A parallel region takes 100 ns with 1 thread \(95 % interval .*\) and 2.00 µs with 4 "
        r"threads \(95 % interval .*\)\.",
        said,
    )
    assert told(regions, solves([1.0])) == []


def test_five_launches_have_a_range_and_a_test_that_tells() -> None:
    many = [1.0, 1.1, 1.2, 1.3, 1.4]
    (said,) = told(scaling, [*solves([2 * time for time in many]), *solves(many, ranks=2)])

    assert "2.00 times as fast as with one (1.43 to 2.80 of 5 launches): an efficiency" in said


def test_an_efficiency_above_one_that_no_cache_explains_is_said_to_be_unexplained() -> None:
    times = [1 + 0.001 * k for k in range(7)]
    (said,) = told(scaling, [*solves([3 * time for time in times]), *solves(times, ranks=2)])

    assert said.endswith("an efficiency of 150 % (why it is above 100 % is not known).")


@pytest.mark.parametrize(("faster", "percent"), [(1.5, 75), (3.0, 150)])
def test_working_sets_that_move_to_another_cache_are_said_whatever_the_efficiency(
    faster: float, percent: int
) -> None:
    """Three vectors of N = 384 take 3.4 MiB: above one core's L2, below that of two."""
    times = [1 + 0.001 * k for k in range(7)]
    raws = [
        {
            **raw,
            "params": {**raw["params"], "n": 384},
            "result": {**raw["result"], "points": 384**2},
        }
        for ranks, factor in ((1, faster), (2, 1.0))
        for raw in solves([factor * time for time in times], ranks=ranks)
    ]
    raws = [of_case(raw) for raw in raws]

    (said,) = told(scaling, raws)

    assert said.endswith(
        f"an efficiency of {percent} % (what a sweep goes through lies in L3 with 1, in L2 with 2)."
    )


def test_variants_that_few_launches_can_not_tell_apart_are_no_headline() -> None:
    assert told(variants, [*solves(THREE, variant="textbook"), *solves(THREE)]) == []


def test_exchanges_that_few_launches_can_not_tell_apart_have_no_ratio() -> None:
    blocking = solves(THREE, ranks=2, exchange="blocking")

    (said,) = told(exchange, [*blocking, *solves(THREE, ranks=2, exchange="nonblocking")])

    assert said.startswith("Exchange nonblocking against blocking (N = 512, fused, 2 processes)")
    assert said.endswith(": launches are too few to tell: 4 of each would do for 1 comparison.")


def test_variants_are_told_over_all_like_settings_with_the_median_and_the_best() -> None:
    raws = []
    for n, faster in ((64, 0.8), (128, 1.1), (256, 2.0), (512, 4.0)):
        times = [1 + 0.001 * k for k in range(7)]
        raws += solves([faster * time for time in times], n, variant="textbook")
        raws += solves(times, n)

    (said,) = told(variants, raws)

    assert said.startswith(
        "Variant fused against textbook, 4 settings (1 process): faster in 3 (1.10 to 4.00 times "
        "as fast, median 2.00, most with N = 512: 95 % interval "
    )
    assert "and slower in 1 (takes 1.25 times as long, with N = 64: 95 % interval " in said


def test_what_is_slower_by_little_does_not_take_1_00_times_as_long() -> None:
    times = [1 + 1e-7 * k for k in range(7)]
    slow = solves([1.0015 * time for time in times])

    (said,) = told(variants, [*solves(times, variant="textbook"), *slow])

    assert ": slower (takes 1.002 times as long, " in said


def by_ranks(**changes: Any) -> list[Raw]:
    """Four vectors of N = 256 are what one core's L2 holds; two cores' hold twice as much."""
    return [
        poisson(256, ranks=ranks, variant=variant, time_s=time, **changes)
        for ranks in (1, 2)
        for variant, time in (("textbook", 1.0), ("fused", 0.5))
    ]


def test_what_is_told_by_ranks_is_not_told_again_by_other_tests() -> None:
    assert told(variants, by_ranks()) == []
    assert told(latency, by_ranks())


def test_the_fastest_variant_near_a_step_of_the_model_is_said_to_rest_on_it() -> None:
    (simulated, _) = told(latency, by_ranks(**SIMULATED))
    (measured, _) = told(latency, by_ranks())

    assert simulated == (
        "An iteration (N = 256), simulated on stampede2: with 1 rank fused is fastest (2.00 times "
        "as fast as textbook, but textbook (at L2) is near a step of the model, where measured "
        "times may differ); with 2 ranks fused is fastest (2.00 times as fast as textbook)."
    )
    assert "near a step" not in measured


def test_a_speedup_and_a_ratio_near_a_step_of_the_model_say_so() -> None:
    textbook = [raw for raw in by_ranks(**SIMULATED) if raw["params"]["variant"] == "textbook"]
    alone = [raw for raw in by_ranks(**SIMULATED) if raw["layout"]["ranks"] == 1]

    (speedup,) = told(scaling, textbook)
    (ratio,) = told(variants, alone)

    assert "but 1 process (at L2) is near a step of the model" in speedup
    assert "2.00 times as fast, but textbook (at L2) is near a step of the model" in ratio


def test_more_bandwidth_on_more_cores_says_how_sure_that_is() -> None:
    few = [stream(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(3)]

    (said,) = told(memory, few)

    assert re.match(
        r"2 cores give 1\.9 times the memory bandwidth of one \(1\.\d+ to 1\.\d+ of 3 launches, "
        r"too few launches to tell\): ",
        said,
    )


def test_products_say_how_sure_their_speedups_are() -> None:
    (said,) = told(products, [spmv(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(3)])

    assert re.search(
        r"1\.8\d with N = 100 \(1\.\d+ to 1\.\d+ of 3 launches, too few launches to tell; an ", said
    )


def growing(launches: int) -> list[Raw]:
    times = {("bcast", size): 1e-6 + 1e-9 * size for size in (8, 64, 512)}
    return [
        raw
        for k in range(launches)
        for raw in (collectives(times, ranks=2, launch=k), collectives(times, ranks=4, launch=k))
    ]


def test_medians_of_few_launches_that_no_test_is_made_of_are_said_to_be_that() -> None:
    solved = [raw for k in range(3) for raw in by_ranks(launch=k)]

    assert all("medians of 3 launches: " in text for text in told(topic, growing(3)))
    assert "measured once: " in told(topic, growing(1))[0]
    assert not any("launches" in text for text in told(topic, growing(6)))
    assert told(latency, solved)[1].endswith("iteration (N = 256), medians of 3 launches.")


NAMELESS = ("Where the mesh is twice as fine", "Errors agree", "Published times", "Nothing valid")


def test_every_headline_of_a_simulation_names_its_machine() -> None:
    raws = [
        *(poisson(n, ranks=ranks, variant=variant, **SIMULATED)
          for n in (512, 1024) for ranks in (1, 2) for variant in ("textbook", "fused")),
        poisson(512, threads=2, **SIMULATED),
        *(stream(ranks=ranks, **SIMULATED) for ranks in (1, 2)),
    ]  # fmt: skip
    own = cases(raws)

    found = findings(own, Context(machine=MACHINE, all_cases=own))

    assert len(found) > 6
    own_words = [one.text for one in found if not one.text.startswith(NAMELESS)]
    assert [text for text in own_words if "simulated on stampede2" not in text] == []


def test_cases_that_were_launched_differently_often_are_said_to_be() -> None:
    raws = [pingpong(launch=k) for k in range(2)]
    raws += [pingpong(launch=k, mode="osu") for k in range(7)]

    assert told(exchanged, raws)[0].startswith("Ping-pong, medians of 2 to 7 launches: ")


def test_of_many_settings_a_sparse_product_has_its_ends() -> None:
    raws = [
        spmv(matrix=matrix, ranks=ranks, overlap=overlap, time_s=1.0 / ranks)
        for matrix in ("2d5", "3d7", "3d27")
        for overlap in ("none", "split", "split_temporary")
        for ranks in (1, 2)
    ]
    (said,) = told(products, raws)

    assert said.count("an efficiency of") == 2
    assert " so many times as fast as with one: of 9 settings at most 2.02 with 3d27, " in said
    assert ", at least 1.99 with 2d5, overlap = split_temporary, N = 100 (" in said


def test_of_many_meshes_the_largest_is_told_by_ranks() -> None:
    def raws(meshes: tuple[int, ...]) -> list[Raw]:
        return [
            one
            for n in meshes
            for ranks in (1, 2)
            for variant in ("textbook", "fused")
            for one in solves([1.0, 1.1], n, ranks=ranks, variant=variant)
        ]

    assert [text for text in told(latency, raws((64, 128, 256))) if "N = 256" not in text] == []
    assert any("N = 64" in text for text in told(latency, raws((64, 128))))
