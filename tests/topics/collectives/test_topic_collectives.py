# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: by size, from few processes to many, leaps, and guidelines."""

from __future__ import annotations

import random
from typing import Any

import pytest
from found import SIMULATED, found, ratio, value
from noted import shows
from recorded import Raw, collectives, record

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, Verdict
from haloscope.topics.collectives import findings as topic

SIZES = [2**k for k in range(3, 12)]


def times(latency_s: float = 1e-6, s_per_byte: float = 1e-9) -> dict[tuple[str, int], float]:
    """All operations, each a little slower than those of which it is a part."""
    factors = {"bcast": 1.0, "reduce": 1.0, "allreduce": 1.5, "allgather": 1.2, "alltoall": 1.4}
    return {
        (name, size): factor * (latency_s + s_per_byte * size)
        for name, factor in {**factors, "gather": 0.8, "scatter": 0.8}.items()
        for size in SIZES
    }


def launched(all_times: dict[tuple[str, int], float], n: int = 10, **settings: Any) -> list[Raw]:
    return [collectives(all_times, launch=k, **settings) for k in range(n)]


def of(raws: list[Raw], question: str) -> list[Finding]:
    """Findings of collectives whose question has a word."""
    return [one for one in found(topic.collectives, raws) if question in one.question]


def test_the_fastest_and_slowest_operations_use_the_most_processes() -> None:
    raws = [*launched(times(), ranks=2, warmup=2), *launched(times(2e-6), ranks=8, warmup=2)]

    (ends,) = of(raws, "fastest")
    (flat,) = of(raws, "largest size")

    assert ends.common["ppn"] == 8
    assert [(part.subject["operation"], part.subject["size"]) for part in ends.parts][1::2] == [
        ("allreduce", 8),
        ("allreduce", 2048),
    ]
    assert {value(part) for part in flat.parts} == {1024.0}


def test_sizes_start_where_operations_are_warm() -> None:
    cold = times()
    for name in ("bcast", "allgather"):
        cold[name, SIZES[0]] *= 4.0

    for raws in (launched(cold, warmup=2), launched(cold)):
        (ends,) = of(raws, "fastest")
        assert min(int(str(part.subject["size"])) for part in ends.parts) == 16


@pytest.mark.parametrize(
    ("factor", "law"),
    [(1.02, ("nearest to no growth",)), (4.1, ("nearest to log₂ p",)),
     (15, ("nearest to p",)), (60, ("more than", " in proportion to p"))],
)  # fmt: skip
def test_growth_with_processes_has_the_nearest_law(factor: float, law: tuple[str, ...]) -> None:
    more = {point: factor * time for point, time in times().items()}

    (one,) = of([*launched(times(), ranks=2), *launched(more, ranks=32)], "growth")

    assert len({part.subject["size"] for part in one.parts}) == 2
    for part in one.parts:
        named = str(part.subject["law"])
        assert shows(named, *law) and named.endswith(law[-1])
        assert ratio(part) == pytest.approx(1 / factor, rel=0.05)
        assert part.ratio and part.ratio.estimate.confidence
        assert (part.reference, part.subject["ranks"]) == ({"ranks": 2}, 32)


def test_growth_compatible_with_two_laws_has_no_nearest_law() -> None:
    """One operation alone scatters; its interval reaches from no growth to more than p."""
    more = [
        {point: (1 + 6 * k if point[0] == "bcast" else 4.1) * time
         for point, time in times().items()}
        for k in range(10)
    ]  # fmt: skip
    raws = [*launched(times(), ranks=2)]
    raws += [collectives(own, launch=k, ranks=32) for k, own in enumerate(more)]

    for one in of(raws, "growth"):
        own = {part.subject["operation"]: part.subject.get("law") for part in one.parts}
        assert own["bcast"] == "no law shown"


def test_no_law_is_named_for_little_growth_or_across_nodes() -> None:
    little = [*launched(times(), ranks=2), *launched(times(2e-6, 2e-9), ranks=4)]
    leaving = [*launched(times(), ranks=2), *launched(times(latency_s=9e-6), ranks=4, nodes=2)]

    parts = [part for one in of(little, "growth") for part in one.parts]
    assert parts and not any("law" in part.subject for part in parts)
    assert of(leaving, "growth") == []


def test_jumps_are_where_a_longer_message_is_faster_or_much_slower() -> None:
    leaping = times()
    for size in SIZES:
        leaping["alltoall", size] *= 0.2 if size >= 256 else 1.0
        leaping["bcast", size] *= 4.0 if size >= 1024 else 1.0

    (one,) = of(launched(leaping), "changes")

    by = {str(part.subject["operation"]): part for part in one.parts}
    assert (by["alltoall"].subject["size"], by["alltoall"].reference["size"]) == (256, 128)
    assert 1 / ratio(by["alltoall"]) == pytest.approx(0.22, rel=0.05)
    assert by["bcast"].subject["size"] == 1024
    assert 1 / ratio(by["bcast"]) == pytest.approx(5.3, rel=0.05)
    assert Caveat.COLD not in one.caveats


def test_a_slow_first_size_may_be_cold() -> None:
    cold = times()
    cold["alltoall", SIZES[0]] *= 3.0

    (one,) = of(launched(cold, warmup=2), "changes")

    assert Caveat.COLD in one.caveats


def test_smooth_times_and_two_launches_have_no_jumps() -> None:
    leaping = times()
    leaping["bcast", 2048] *= 10

    assert of(launched(times()), "changes") == []
    assert of(launched(leaping, n=2), "changes") == []
    (simulated,) = of([collectives(leaping, **SIMULATED)], "changes")
    assert Caveat.OF_THE_SIMULATOR in simulated.caveats


def guidelines(raws: list[Raw]) -> Finding:
    (one,) = found(topic.pgmpi, raws)
    return one


def holding(one: Finding) -> str:
    """How many guidelines are not shown to be violated."""
    (part,) = (each for each in one.parts if each.verdict is not Verdict.VIOLATED)
    return "{guidelines} of {of} guidelines".format(**part.subject)


def test_operations_that_follow_the_guidelines_have_no_violation() -> None:
    trifle = times()
    for size in SIZES:
        trifle["reduce", size] = 1.03 * trifle["allreduce", size]

    for raws in (launched(times()), launched(trifle)):
        assert [part.verdict for part in guidelines(raws).parts] == [Verdict.HOLDS]
        assert holding(guidelines(raws)) == "9 of 9 guidelines"


def test_a_violated_guideline_has_a_factor_sizes_and_a_test() -> None:
    slow = times()
    for size in (512, 1024):
        slow["allreduce", size] *= 3.0

    one = guidelines(launched(slow))

    broken = one.parts[0]
    assert broken.subject == {"operation": "allreduce"}
    assert broken.reference == {"operation": "reduce and bcast"} and broken.at == (512, 1024)
    assert 1 / ratio(broken) == pytest.approx(2.25, rel=0.03)
    assert broken.p_value is not None and broken.p_value < 0.001
    assert holding(one) == "8 of 9 guidelines"


def test_a_broadcast_of_all_blocks_substitutes_for_a_scatter() -> None:
    """With four ranks, scatter of 8 B against bcast of 32 B."""
    slow = times(latency_s=1e-9)
    for size in SIZES:
        slow["scatter", size] = 1.2 * (1e-9 + 1e-9 * 4 * size)

    one = guidelines(launched(slow))

    (scatter,) = (part for part in one.parts if part.subject.get("operation") == "scatter")
    assert scatter.at == (16, 32, 64, 128, 256, 512)


def test_the_smallest_size_counts_if_smaller_ones_warmed_it_up() -> None:
    slow = times()
    slow["allreduce", SIZES[0]] *= 3.0

    assert holding(guidelines(launched(slow))) == "9 of 9 guidelines"
    warm = guidelines(launched(slow, warmup=10))
    assert (warm.parts[0].subject, warm.parts[0].at) == ({"operation": "allreduce"}, (8,))


def test_too_few_launches_show_no_violation_and_state_the_number_needed() -> None:
    slow = times()
    for size in SIZES:
        slow["reduce", size] *= 3.0

    (part,) = guidelines(launched(slow, n=3)).parts

    assert (part.verdict, part.needed) == (Verdict.UNDECIDED, 7)


def test_one_process_and_missing_operations_have_no_guideline() -> None:
    bcast = {point: time for point, time in times().items() if point[0] in ("bcast", "barrier")}

    assert found(topic.pgmpi, launched(times(), ranks=1)) == []
    assert found(topic.pgmpi, launched(bcast)) == []


def test_a_simulated_guideline_has_no_test_and_concerns_the_simulator() -> None:
    slow = times()
    slow["reduce", 8] *= 3.0

    one = guidelines([collectives(slow, ranks=ranks, **SIMULATED) for ranks in (2, 4)])

    broken = one.parts[0]
    assert (broken.count, one.of, broken.p_value) == (2, 2, None)
    assert 1 / ratio(broken) == pytest.approx(2.0, rel=0.01)
    assert Caveat.OF_THE_SIMULATOR in one.caveats


def swept(exchange: str, exchange_s: float, launch: int, ranks: int = 2, **params: Any) -> Raw:
    """A launch whose exchange takes so long, within 1 % of noise; its sweeps take the rest."""
    noise = random.Random(f"{exchange} {exchange_s} {launch} {params}").uniform(1, 1.01)
    took = exchange_s * noise
    settings = {
        **{"L": 16, "size": "cubes", "topology": "2x1x1", "variant": "plain", "depth": 1},
        **{"overlap": "no", "precision": "double", "sweeps": 8, "exchange": exchange, **params},
    }
    own = {"min": 0.5 * took, "mean": 0.75 * took, "max": took}
    phase = {"name": "exchange", "calls": 8, "time_s": {key: 9.0 for key in own}, "median_s": own}
    times_s = [1e-3 + took] * 3
    return record("jacobi3d", settings, times_s, ranks=ranks, launch=launch, phases=[phase])


def both(collective_s: float, single_s: float, n: int = 8, **params: Any) -> list[Raw]:
    return [
        swept(exchange, seconds, launch, **params)
        for launch in range(n)
        for exchange, seconds in (("neighbor", collective_s), ("nonblocking", single_s))
    ]


def test_the_halo_guideline_concerns_the_exchange_not_the_step() -> None:
    """Of 1 ms of sweeps and 50 us of messages, twice 50 us are hardly a tenth."""
    (one,) = found(topic.halos, both(100e-6, 50e-6))

    (part,) = one.parts
    assert part.verdict is Verdict.VIOLATED and 1 / ratio(part) == pytest.approx(2.0, rel=0.02)
    assert part.p_value is not None and part.p_value < 0.001


def test_a_guideline_violated_in_some_settings_names_the_worst() -> None:
    raws = both(150e-6, 50e-6, L=8) + both(60e-6, 50e-6, L=16) + both(50e-6, 50e-6, L=64)

    (one,) = found(topic.halos, raws)

    (part,) = one.parts
    assert (part.count, one.of) == (2, 3)
    assert part.ratio and part.ratio.where["L"] == 8


@pytest.mark.parametrize("collective_s", [50e-6, 51e-6, 30e-6])
def test_equal_or_slightly_slower_times_are_not_violations(collective_s: float) -> None:
    (one,) = found(topic.halos, both(collective_s, 50e-6))

    assert one.parts[0].verdict is Verdict.HOLDS and Caveat.TOO_FEW not in one.caveats


def test_too_few_halo_launches_show_no_violation() -> None:
    (one,) = found(topic.halos, both(150e-6, 50e-6, n=3))

    assert (one.parts[0].verdict, one.parts[0].needed) == (Verdict.HOLDS, 4)
    assert Caveat.TOO_FEW in one.caveats


@pytest.mark.parametrize(
    "changes", [{"ranks": 1}, {"overlap": "yes"}], ids=["one process", "overlap"]
)
def test_overlapped_and_absent_messages_are_not_compared(changes: Raw) -> None:
    assert found(topic.halos, both(150e-6, 50e-6, **changes)) == []
