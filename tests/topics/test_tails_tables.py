# SPDX-License-Identifier: BSD-3-Clause
"""Tables of slow repetitions, and of ranks that others wait for."""

from __future__ import annotations

import pytest
from made import build, column, texts
from noted import noted, shows
from recorded import Raw, cases, pingpong, poisson

from haloscope.analysis.context import Context
from haloscope.topics import tables


def repeated(n: int, launches: int = 6, **changes: object) -> list[Raw]:
    """Launches of so many repetitions: of 1 s, every tenth one of 2 s."""
    times = [2.0 if k % 10 == 5 else 1.0 + 0.0001 * (k % 7) for k in range(n)]
    return [
        {**poisson(64, ranks=2, launch=k), "times_s": times, **changes} for k in range(launches)
    ]


def test_percentiles_are_listed_with_the_median_and_their_intervals() -> None:
    (table,) = build("tails", repeated(100))

    (row,) = table.rows
    assert [cell.text for cell in row] == [
        "poisson_cg", "step", "600 in 6 launches", "1.00 s", "2.00 s", "2.00 s", "2.00 ×"
    ]  # fmt: skip
    assert [row[4].low, row[4].high] == pytest.approx([2.0, 2.0])
    assert any("P95 100 and P99 500, over all launches" in note for note in table.notes)
    assert noted(table, "geometric mean ", " of 6 launches")
    assert (row[5].low, row[5].spread) == (None, "")  # P99 takes 500 in each
    assert noted(table, "with too few for an interval")


def test_a_percentile_that_needs_more_repetitions_is_absent() -> None:
    (table,) = build("tails", repeated(20))

    (row,) = table.rows
    assert (row[2].text, row[5].text) == ("120 in 6 launches", "too few repetitions")
    assert build("tails", repeated(15)) == []
    why = tables.why_none("tails", cases(repeated(15)), Context())
    assert shows(why, "P95 requires 100 ", " more than 90 ")
    assert tables.why_none("tails", [], Context()) == "no matching case"


def test_warmup_repetitions_do_not_count_for_percentiles() -> None:
    warming = [3.0, 2.0, *(1.0 + 0.0001 * (k % 7) for k in range(18))]
    raws = [{**raw, "times_s": warming} for raw in repeated(20, launches=5)]

    assert build("tails", raws) == []
    why = tables.why_none("tails", cases(raws), Context())
    assert shows(why, "P95 requires 100 ", " more than 85 ")


def test_sweep_points_have_percentiles_and_simulations_have_none() -> None:
    raws = [pingpong(launch=k, sizes=[8, 64]) for k in range(20)]

    (table,) = build("tails", raws)

    assert [row[1].text for row in table.rows] == ["8 B", "64 B"]
    assert build("tails", [{**raw, "clock": "simulated"} for raw in raws]) == []


def straggling(times: list[float], launch: int, step_s: float = 10.0) -> Raw:
    """A launch whose ranks compute so long in a step, and say it."""
    phase: Raw = {"calls": 1, "model_s": None, "bytes": 1.0, "flops": 1.0,
                  "time_s": {"min": min(times), "mean": 0.0, "max": max(times)}}  # fmt: skip
    half = [time / 2 for time in times]
    phases = [
        {**phase, "name": "sweep", "by_rank_s": half},
        {**phase, "name": "dots", "by_rank_s": half},
        {**phase, "name": "halo", "bytes": 0.0, "flops": 0.0},
    ]
    return poisson(64, ranks=len(times), launch=launch, time_s=step_s, phases=phases)


def test_ranks_that_compute_longest_are_first_with_their_nodes() -> None:
    raws = [straggling([4.0, 8.0], k) for k in (0, 1)] + [straggling([8.0, 4.0], 2)]

    (table,) = build("stragglers", raws)

    assert texts(table) == [
        ["poisson_cg", "20.0 %", "1", "lark", "8.00 s", "1.33 ×", "2 of 3 launches"],
        ["", "", "0", "lark", "4.00 s", "0.667 ×", "1 of 3 launches"],
    ]
    assert column(table, "waiting_share")[0].value == pytest.approx(0.2)
    assert column(table, "over_mean")[0].low == pytest.approx(4 / 6)


def test_with_many_ranks_only_the_slowest_four_are_listed() -> None:
    (table,) = build("stragglers", [straggling([1.0, 5.0, 2.0, 4.0, 3.0, 6.0], 0)])

    assert [cell.value for cell in column(table, "rank")] == [5, 1, 3, 4]
    assert any("4 ranks" in note for note in table.notes)


def test_records_without_rank_times_have_no_stragglers() -> None:
    assert build("stragglers", [poisson(64, ranks=2)]) == []
    assert build("stragglers", [straggling([1.0], 0)]) == []
    assert build("stragglers", [{**straggling([4.0, 8.0], 0), "clock": "simulated"}]) == []
