# SPDX-License-Identifier: BSD-3-Clause
"""Headlines of collective operations: growth, leaps, and guidelines that are broken."""

from __future__ import annotations

import pytest
from made import build, column
from recorded import Raw, cases, collectives

from haloscope.report.context import Context
from haloscope.report.findings import collectives as growth
from haloscope.report.findings import guidelines

SIZES = [2**k for k in range(3, 12)]
SIMULATED: Raw = {"clock": "simulated", "simulation": {"cluster": "stampede2", "verified": False}}


def times(latency_s: float = 1e-6, s_per_byte: float = 1e-9) -> dict[tuple[str, int], float]:
    """All operations, each a little slower than those of which it is a part."""
    factors = {"bcast": 1.0, "reduce": 1.0, "allreduce": 1.5, "allgather": 1.2, "alltoall": 1.4}
    return {
        (name, size): factor * (latency_s + s_per_byte * size)
        for name, factor in {**factors, "gather": 0.8, "scatter": 0.8}.items()
        for size in SIZES
    }


def launched(all_times: dict[tuple[str, int], float], n: int = 10, **settings: object) -> list[Raw]:
    return [collectives(all_times, launch=k, **settings) for k in range(n)]  # type: ignore[arg-type]


def told(finding: object, raws: list[Raw]) -> list[str]:
    own = cases(raws)
    return [one.text for one in finding.find(own, Context(all_cases=own))]  # type: ignore[attr-defined]


def test_growth_with_the_message_is_of_the_most_processes() -> None:
    raws = [
        *launched(times(), ranks=2, warmup=2),
        *launched(times(latency_s=2e-6), ranks=8, warmup=2),
    ]

    first, *_ = told(growth, raws)

    assert first.startswith("Collectives, 8 processes on one node: 8 B take 1.6")
    assert " µs (allreduce); 2 KiB take 3.2" in first
    assert "No more than 2 times as long as 8 B up to 1 KiB (" in first


def test_growth_with_the_message_begins_where_operations_are_warm() -> None:
    cold = times()
    for name in ("bcast", "allgather"):
        cold[name, SIZES[0]] *= 4.0

    warm, *_ = told(growth, launched(cold, warmup=2))
    unknown, *_ = told(growth, launched(cold))

    assert ": 16 B take " in warm and "as long as 16 B up to 1 KiB (" in warm
    assert unknown == warm


@pytest.mark.parametrize(
    ("factor", "law"),
    [(1.02, "nearest to no growth"), (4.1, "nearest to log₂ p"), (15, "nearest to p"),
     (60, "more than in proportion to p")],
)  # fmt: skip
def test_growth_with_processes_is_told_by_the_law_that_it_is_nearest_to(
    factor: float, law: str
) -> None:
    more = {point: factor * time for point, time in times().items()}
    raws = [*launched(times(), ranks=2), *launched(more, ranks=32)]

    (grown,) = (text for text in told(growth, raws) if "from 2 to 32 processes" in text)

    assert grown.count(f"({law}: ") == 2
    assert grown.count("(") == 3
    assert grown.endswith(f" (95 % intervals: at most ± {grown.split('± ')[1]}")


def test_growth_that_scatters_over_two_laws_is_nearest_to_none() -> None:
    """One operation alone scatters; its interval reaches from no growth to more than p."""
    more = [
        {
            point: (1 + 6 * k if point[0] == "bcast" else 4.1) * time
            for point, time in times().items()
        }
        for k in range(10)
    ]
    raws = [*launched(times(), ranks=2)]
    raws += [collectives(own, launch=k, ranks=32) for k, own in enumerate(more)]

    (grown,) = (text for text in told(growth, raws) if "from 2 to 32 processes" in text)
    table, *_ = build("collectives", raws)

    assert grown.count("(no law shown: bcast)") == 2
    assert grown.count("nearest to log₂ p: ") == 2
    laws = dict(zip(column(table, "operation"), column(table, "law"), strict=True))
    assert {name.text: law.text for name, law in laws.items()}["bcast"] == "no law shown"


def test_the_table_of_growth_has_both_times_and_the_interval_of_their_ratio() -> None:
    more = {point: 4 * time for point, time in times().items()}
    raws = [*launched(times(), ranks=2), *launched(more, ranks=32)]

    table, *others = build("collectives", raws)

    assert table.title == "Growth of collective operations from 2 to 32 processes on one node"
    assert len(others) == 2 and len(table.rows) == 14
    assert {cell.text for cell in column(table, "law")} == {"log₂ p"}
    apart = [*launched(times(), ranks=4, nodes=2), *launched(more, ranks=8, nodes=4)]
    assert build("collectives", apart)[0].title == (
        "Growth of collective operations from 4 processes on 2 nodes to 8 on 4"
    )
    times_longer = [cell.value for cell in column(table, "times")]
    assert times_longer == pytest.approx([4.0] * 14, rel=0.02)
    assert all(cell.low < cell.value < cell.high for cell in column(table, "times"))
    assert len(build("collectives", launched(times()))) == 1


def test_a_law_is_not_named_where_processes_grow_too_little_to_tell() -> None:
    raws = [*launched(times(), ranks=2), *launched(times(2e-6, 2e-9), ranks=4)]

    (grown,) = (text for text in told(growth, raws) if "from 2 to 4 processes" in text)

    assert "nearest" not in grown and grown.count("take 2.0 times as long (") == 2


def test_what_leaves_a_node_is_no_growth_with_processes() -> None:
    raws = [*launched(times(), ranks=2), *launched(times(latency_s=9e-6), ranks=4, nodes=2)]

    assert not any("from " in text for text in told(growth, raws))


def test_leaps_are_where_a_longer_message_is_faster_or_far_slower() -> None:
    leaping = times()
    for size in SIZES:
        leaping["alltoall", size] *= 0.2 if size >= 256 else 1.0
        leaping["bcast", size] *= 4.0 if size >= 1024 else 1.0

    (said,) = (text for text in told(growth, launched(leaping)) if "probably" in text)

    assert "alltoall at 256 B takes 0.22 times as long as at 128 B (0.2" in said
    assert "bcast at 1 KiB takes 5.3 times as long as at 512 B (5." in said
    assert said.count("takes") == 2
    assert said.endswith(
        "95 % intervals in brackets: there the library probably changes its algorithm or "
        "protocol, or a cache is full."
    )


def test_a_first_size_that_is_slower_may_not_have_been_warm() -> None:
    cold = times()
    cold["alltoall", SIZES[0]] *= 3.0

    (said,) = (text for text in told(growth, launched(cold, warmup=2)) if "probably" in text)

    assert said.endswith("or a cache is full, or the first size was not warm yet.")


def test_smooth_times_leap_nowhere_and_two_launches_show_nothing() -> None:
    leaping = times()
    leaping["bcast", 2048] *= 10

    assert not any("probably" in text for text in told(growth, launched(times())))
    assert not any("probably" in text for text in told(growth, launched(leaping, n=2)))


def test_operations_that_keep_to_the_guidelines_break_none() -> None:
    assert told(guidelines, launched(times())) == [
        "Guidelines (PGMPI): 9 of 9 guidelines not shown to be broken."
    ]


def test_a_broken_guideline_is_told_with_its_factor_sizes_and_test() -> None:
    slow = times()
    for size in (512, 1024):
        slow["allreduce", size] *= 3.0

    (said,) = told(guidelines, launched(slow))

    assert said.startswith("Guidelines (PGMPI): allreduce takes 2.2")
    assert " times as long as reduce and bcast at 512 B to 1 KiB, p <0.001" in said
    assert said.endswith("8 of 9 guidelines not shown to be broken.")


def test_a_message_of_all_ranks_blocks_stands_in_for_a_scatter() -> None:
    """With four ranks, scatter of 8 B against bcast of 32 B."""
    slow = times(latency_s=1e-9)
    for size in SIZES:
        slow["scatter", size] = 1.2 * (1e-9 + 1e-9 * 4 * size)

    (said,) = told(guidelines, launched(slow))

    assert "scatter takes 1.2" in said and "times as long as bcast at 16 B to 512 B" in said


def test_the_smallest_size_counts_where_others_came_before_it_that_do_not() -> None:
    slow = times()
    slow["allreduce", SIZES[0]] *= 3.0

    (cold,) = told(guidelines, launched(slow))
    (warm,) = told(guidelines, launched(slow, warmup=10))
    (table,) = build("guidelines", launched(slow, warmup=10))
    (without,) = build("guidelines", launched(slow))

    assert "9 of 9 guidelines not shown to be broken" in cold
    assert "allreduce takes 2.2" in warm and " at 8 B, p" in warm
    assert not any("smallest size" in note for note in table.notes)
    assert any(note.startswith("Without the smallest size") for note in without.notes)


def test_a_trifle_breaks_nothing() -> None:
    slow = times()
    for size in SIZES:
        slow["reduce", size] = 1.03 * slow["allreduce", size]

    assert told(guidelines, launched(slow))[0].endswith("9 of 9 guidelines not shown to be broken.")


def test_too_few_launches_break_nothing_and_say_how_many_would_do() -> None:
    slow = times()
    for size in SIZES:
        slow["reduce", size] *= 3.0

    (said,) = told(guidelines, launched(slow, n=3))

    assert "nothing is shown of 9 guidelines; launches are too few to tell: 7 of" in said


def test_one_process_and_missing_operations_have_no_guideline() -> None:
    bcast = {point: time for point, time in times().items() if point[0] in ("bcast", "barrier")}

    assert told(guidelines, launched(times(), ranks=1)) == []
    assert told(guidelines, launched(bcast)) == []


def test_a_simulated_guideline_names_its_machine_and_has_no_test() -> None:
    slow = times()
    slow["reduce", 8] *= 3.0
    raws = [collectives(slow, ranks=ranks, **SIMULATED) for ranks in (2, 4)]

    (said,) = told(guidelines, raws)

    assert said.startswith(
        "Guidelines (PGMPI), 2 settings, simulated on stampede2: reduce takes 2.00 times"
    )
    assert "in 2 of 2 settings (most, 2.00 times, with " in said and ", p " not in said
    whose = "Algorithms are the simulator's, or those that the cluster file names: nothing is said"
    assert f". {whose} of the library's own." in said
    assert whose not in told(guidelines, launched(slow))[0]


def test_the_table_has_every_guideline_and_where_it_is_broken() -> None:
    slow = times()
    for size in (512, 1024):
        slow["allreduce", size] *= 3.0

    (table,) = build("guidelines", launched(slow))

    assert len(table.rows) == 9
    texts = dict(zip(column(table, "guideline"), table.rows, strict=True))
    (row,) = (row for cell, row in texts.items() if cell.text.startswith("allreduce"))
    assert [cell.text for cell in row[1:4]] == [
        "allreduce no slower than reduce and bcast", "8", "512 B to 1 KiB"
    ]  # fmt: skip
    assert row[4].value == pytest.approx(2.25, rel=0.02)
    assert isinstance(row[6].value, float) and row[6].value < 0.05
    assert [cell.text for cell in column(table, "broken_at")].count("–") == 8


def test_of_many_cases_the_broken_guidelines_alone_stand_in_the_table() -> None:
    slow = times()
    slow["reduce", 8] *= 3.0
    raws = [collectives(slow, ranks=ranks, **SIMULATED) for ranks in (2, 4, 16)]

    (table,) = build("guidelines", raws)

    assert {row[1].text for row in table.rows} == {"reduce no slower than allreduce"} | {
        "bcast no slower than scatter and allgather"
    }
    assert any(note.startswith("Without ") for note in table.notes)


def test_simulated_leaps_within_a_node_may_be_those_of_its_caches() -> None:
    leaping = times()
    leaping["bcast", 2048] *= 10

    (node,) = (t for t in told(growth, [collectives(leaping, **SIMULATED)]) if "probably" in t)
    alone = [collectives(leaping, ranks=4, nodes=4, **SIMULATED)]
    (network,) = (text for text in told(growth, alone) if "probably" in text)

    assert node.endswith("changes its algorithm or protocol, or messages leave a cache.")
    assert network.endswith("changes its algorithm or protocol.")


def test_leaps_are_looked_for_within_a_node_too() -> None:
    leaping = times()
    leaping["bcast", 2048] *= 10
    raws = [*launched(leaping, ranks=8), *launched(times(), ranks=16, nodes=2)]

    (said,) = (text for text in told(growth, raws) if "probably" in text)

    assert said.startswith("Collectives, 8 processes on one node: bcast at 2 KiB takes ")
