# SPDX-License-Identifier: BSD-3-Clause
"""Memory bandwidth, what solvers make of it, and parallel regions."""

from __future__ import annotations

import pytest
from found import every, found, ratio, value
from recorded import poisson, record, stream

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Verdict
from haloscope.topics.memory import findings as memory


def test_bandwidth_on_the_most_cores_is_compared_with_the_fewest() -> None:
    raws = [stream(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(3)]

    (one,) = found(memory.bandwidth, raws)

    many, few = one.parts
    assert (many.subject, many.reference) == ({"cores": 2}, {"cores": 1})
    assert ratio(many) == pytest.approx(value(many) / value(few))
    assert many.verdict is Verdict.UNDECIDED
    assert {Caveat.FEW_LAUNCHES, Caveat.TOO_FEW} <= {*one.caveats}


def test_one_core_count_gives_no_comparison() -> None:
    (one,) = every([stream()])

    assert [part.ratio for part in one.parts] == [None]
    assert value(one.parts[0]) == pytest.approx(12.9e9, rel=0.01)
    assert Caveat.ONE_LAUNCH in one.caveats


def test_cache_bandwidth_is_not_memory_bandwidth() -> None:
    raw = stream()
    raw["points"] = [point for point in raw["points"] if point["size_bytes"] == 2**15]

    assert every([raw]) == []


def test_more_than_the_triad_is_not_a_share_of_it() -> None:
    assert found(memory.solver, [stream(), poisson(512, time_s=0.1)]) == []


@pytest.mark.parametrize(("faster", "served"), [(1.0, False), (2.0, True)])
def test_a_triad_above_memory_bandwidth_shows_cache_use(faster: float, served: bool) -> None:
    triads = stream()
    for point in triads["points"]:
        if point["size_bytes"] == 2**27:
            point["times_s"] = [time / faster for time in point["times_s"]]

    (one,) = found(memory.solver, [poisson(2048), triads])

    assert (Caveat.PARTLY_CACHED in one.caveats) == served
    where = one.parts[0].subject
    assert (where["working_set"], where["level"]) == (96 << 20, "memory")
    assert 0 < (one.parts[0].share or 0) < 1


def test_parallel_regions_are_compared_for_the_fewest_and_most_threads() -> None:
    raws = [
        record("parallel_region", {}, [1e-4], threads=threads, launch=k, result={"region_s": cost})
        for threads, cost in ((1, 1e-7), (2, 1e-6), (4, 2e-6))
        for k in range(7)
    ]
    (one,) = found(memory.regions, raws)

    assert [(part.subject, value(part)) for part in one.parts] == [
        ({"threads": 1}, 1e-7),
        ({"threads": 4}, 2e-6),
    ]
    assert all(part.estimate and part.estimate.confidence for part in one.parts)
    assert found(memory.regions, [poisson(64)]) == []
