# SPDX-License-Identifier: BSD-3-Clause
"""The guideline of halos: a neighbourhood collective beside single messages."""

from __future__ import annotations

import random
from typing import Any

import pytest
from found import found, ratio
from made import build, column, texts
from recorded import Raw, record

from haloscope.findings.finding import Verdict
from haloscope.topics.contrast.findings import ways

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


@pytest.mark.parametrize(
    "changes", [{"ranks": 1}, {"overlap": "yes"}], ids=["one process", "overlap"]
)
def test_overlapped_and_absent_messages_are_not_compared(changes: Raw) -> None:
    assert build("guidelines", both(150e-6, 50e-6, **changes)) == []


def test_the_table_has_both_slowest_rank_times_and_the_verdict() -> None:
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


def test_halo_exchange_methods_have_a_table_and_a_headline() -> None:
    raws = both(500e-6, 50e-6)
    (table,) = build("exchange", raws)

    assert [row[1].text for row in table.rows] == ["nonblocking", "neighbor"]
    assert table.title.startswith("Exchanges of faces compared")
    (one,) = found(ways, raws)
    (part,) = one.parts
    assert (part.subject, part.reference) == ({"exchange": "neighbor"}, {"exchange": "nonblocking"})
    assert part.verdict is Verdict.SLOWER and 1 / ratio(part) == pytest.approx(1.43, rel=0.01)
