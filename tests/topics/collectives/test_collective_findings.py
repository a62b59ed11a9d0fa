# SPDX-License-Identifier: BSD-3-Clause
"""Tables of collective operations: growth, and guidelines that are broken."""

from __future__ import annotations

import pytest
from made import build, column
from noted import shows
from recorded import Raw, collectives

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


def test_growth_compatible_with_two_laws_has_no_nearest_law() -> None:
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

    table, *_ = build("collectives", raws)

    laws = dict(zip(column(table, "operation"), column(table, "law"), strict=True))
    assert {name.text: law.text for name, law in laws.items()}["bcast"] == "no law shown"


def test_the_table_of_growth_has_both_times_and_the_interval_of_their_ratio() -> None:
    more = {point: 4 * time for point, time in times().items()}
    raws = [*launched(times(), ranks=2), *launched(more, ranks=32)]

    table, *others = build("collectives", raws)

    assert shows(table.title, " from 2 to 32 processes") and table.title.endswith(" on one node")
    assert len(others) == 2 and len(table.rows) == 14
    assert {cell.text for cell in column(table, "law")} == {"log₂ p"}
    apart = [*launched(times(), ranks=4, nodes=2), *launched(more, ranks=8, nodes=4)]
    title = build("collectives", apart)[0].title
    assert shows(title, " 4 processes on 2 nodes") and title.endswith(" 2 nodes to 8 on 4")
    times_longer = [cell.value for cell in column(table, "times")]
    assert times_longer == pytest.approx([4.0] * 14, rel=0.02)
    assert all(cell.low < cell.value < cell.high for cell in column(table, "times"))
    assert len(build("collectives", launched(times()))) == 1


def test_the_table_lists_every_guideline_and_its_violations() -> None:
    slow = times()
    for size in (512, 1024):
        slow["allreduce", size] *= 3.0

    (table,) = build("guidelines", launched(slow))

    assert len(table.rows) == 9
    texts = dict(zip(column(table, "guideline"), table.rows, strict=True))
    (row,) = (row for cell, row in texts.items() if cell.text.startswith("allreduce"))
    assert row[1].text.split(" no slower than ") == ["allreduce", "reduce and bcast"]
    assert [cell.text for cell in row[2:4]] == ["8", "512 B to 1 KiB"]
    assert row[4].value == pytest.approx(2.25, rel=0.02)
    assert isinstance(row[6].value, float) and row[6].value < 0.05
    assert [cell.text for cell in column(table, "broken_at")].count("–") == 8


@pytest.mark.usefixtures("exact")
def test_with_many_cases_the_table_has_only_violated_guidelines() -> None:
    slow = times()
    slow["reduce", 8] *= 3.0
    raws = [collectives(slow, ranks=ranks, **SIMULATED) for ranks in (2, 4, 16)]

    (table,) = build("guidelines", raws)

    assert {tuple(row[1].text.split(" no slower than ")) for row in table.rows} == {
        ("reduce", "allreduce"),
        ("bcast", "scatter and allgather"),
    }
    assert any("are omitted" in note for note in table.notes)
