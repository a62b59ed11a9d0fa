# SPDX-License-Identifier: BSD-3-Clause
"""The guideline of halos: a neighbourhood collective beside single messages."""

from __future__ import annotations

import random
from typing import Any

import pytest
from made import build, column, texts
from recorded import Raw, cases, record

from haloscope.report.context import Context
from haloscope.report.findings import exchange, halo_guideline

STEP_S = 1e-3


def swept(exchange: str, exchange_s: float, launch: int, ranks: int = 2, **params: Any) -> Raw:
    """A launch whose exchange takes so long, within 1 % of noise; its sweeps take the rest."""
    noise = random.Random(f"{exchange} {exchange_s} {launch} {params}").uniform(1, 1.01)
    took = exchange_s * noise
    seconds = STEP_S + took
    settings = {
        **{"L": 16, "size": "cubes", "topology": "2x1x1", "variant": "plain", "depth": 1},
        **{"overlap": "no", "precision": "double", "sweeps": 8, "exchange": exchange, **params},
    }
    own = {"min": 0.5 * took, "mean": 0.75 * took, "max": took}
    phase = {"name": "exchange", "calls": 8, "time_s": {key: 9.0 for key in own}, "median_s": own}
    return record("jacobi3d", settings, [seconds] * 3, ranks=ranks, launch=launch, phases=[phase])


def both(collective_s: float, single_s: float, n: int = 8, **params: Any) -> list[Raw]:
    return [
        swept(exchange, seconds, launch, **params)
        for launch in range(n)
        for exchange, seconds in (("neighbor", collective_s), ("nonblocking", single_s))
    ]


def told(raws: list[Raw], finding: Any = halo_guideline) -> list[tuple[str, str]]:
    own = cases(raws)
    return [(one.text, one.tone) for one in finding.find(own, Context(all_cases=own))]


def test_a_broken_guideline_is_told_by_the_exchange_and_not_by_the_step() -> None:
    """Of 1 ms of sweeps and 50 us of messages, twice 50 us are hardly a tenth."""
    ((said, tone),) = told(both(100e-6, 50e-6))

    assert said.startswith("Guideline for halos, 1 setting")
    assert "by MPI_Neighbor_alltoallw takes 2.00 times as long as by MPI_Irecv and MPI_" in said
    assert said.endswith(", p <0.001.")
    assert tone == "warning"


def test_of_several_settings_it_is_said_in_how_many_and_where_most() -> None:
    raws = both(150e-6, 50e-6, L=8) + both(60e-6, 50e-6, L=16) + both(50e-6, 50e-6, L=64)

    ((said, tone),) = told(raws)

    assert "3 settings" in said and tone == "warning"
    assert "takes 1.20 to 3.00 times as long as by MPI_Irecv and MPI_Isend in 2 (most, " in said
    assert "with L = 8)" in said


@pytest.mark.parametrize("collective_s", [50e-6, 51e-6, 30e-6])
def test_what_is_as_fast_or_slower_by_a_trifle_breaks_nothing(collective_s: float) -> None:
    ((said, tone),) = told(both(collective_s, 50e-6))

    assert said.endswith("and is not shown to be slower.") and tone == ""


def test_too_few_launches_break_nothing_and_say_how_many_would_do() -> None:
    ((said, tone),) = told(both(150e-6, 50e-6, n=3))

    assert "not shown to be slower; launches are too few to tell: 4 of each would do" in said
    assert tone == ""


@pytest.mark.parametrize(
    "changes", [{"ranks": 1}, {"overlap": "yes"}], ids=["one process", "overlap"]
)
def test_what_travels_while_ranks_compute_or_not_at_all_is_not_compared(changes: Raw) -> None:
    assert told(both(150e-6, 50e-6, **changes)) == []
    assert build("guidelines", both(150e-6, 50e-6, **changes)) == []


def test_other_exchanges_have_no_guideline() -> None:
    raws = [swept(each, 50e-6, k) for k in range(8) for each in ("blocking", "persistent")]

    assert told(raws) == []


def test_the_table_has_both_times_of_the_slowest_rank_and_the_verdict() -> None:
    (table,) = build("guidelines", both(100e-6, 50e-6, L=8) + both(50e-6, 50e-6, L=64))

    small, large = range(2)
    assert [cell.text for cell in column(table, "setting")] == ["L = 8", "L = 64"]
    single, collective = column(table, "single_s"), column(table, "collective_s")
    assert single[small].value == pytest.approx(50e-6, rel=0.011)
    assert collective[small].value == pytest.approx(100e-6, rel=0.011)
    assert single[small].text.endswith(" µs") and collective[small].text.endswith(" µs")
    assert column(table, "times_as_fast")[small].value == pytest.approx(0.5, rel=0.02)
    assert texts(table)[small][-1] == "slower" and texts(table)[large][-1] != "slower"
    assert "on the slowest rank" in " ".join(table.notes)


def test_ways_to_exchange_faces_stand_in_a_table_and_a_headline() -> None:
    raws = both(500e-6, 50e-6)
    (table,) = build("exchange", raws)

    assert [row[1].text for row in table.rows] == ["nonblocking", "neighbor"]
    assert table.title.startswith("Exchanges of faces compared")
    ((said, _),) = told(raws, exchange)
    assert said.startswith(
        "Exchange neighbor against nonblocking (plain, 2 processes): slower (takes 1.43 times"
    )
    assert "slower (takes 1.43 times as long, 95 % interval" in said
