"""Reports of Fourier transforms: rates, the share of transposes, ways set against each other."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, cases, fft

from haloscope.report import tables
from haloscope.report.findings import findings
from haloscope.report.tables import Context, Table

CONTEXT = Context(machine=MACHINE)


def build(kind: str, raws: list[Raw]) -> Table:
    (table,) = tables.build(kind, cases(raws), CONTEXT)
    return table


def launches(**settings: Any) -> list[Raw]:
    return [fft(launch=launch, **settings) for launch in range(7)]


def test_a_rate_is_the_field_s_count_and_transposes_have_their_share() -> None:
    table = build("fft", [*launches(ranks=1), *launches(ranks=2, time_s=0.06)])

    time, rate, share, sent = table.rows[1][1:]
    assert isinstance(time.value, float) and isinstance(rate.value, float)
    assert rate.value * time.value == pytest.approx(2 * 2.5 * 2**21 * 21)
    assert (share.text, sent.text) == ("20 %", "16.2 MiB")
    assert [cell.text for cell in table.rows[0][3:]] == ["–", "–"]


def test_ways_to_transpose_are_compared_though_their_groups_of_planes_differ() -> None:
    raws = [
        *launches(transpose="alltoallv", time_s=0.12),
        *launches(transpose="pairwise", time_s=0.12),
        *launches(transpose="pipelined", time_s=0.08),
    ]

    table = build("transpose", raws)

    assert [row[1].text for row in table.rows] == ["alltoallv", "pairwise", "pipelined"]
    assert table.rows[2][3].text.startswith("1.5")
    told = [finding.text for finding in findings(cases(raws), CONTEXT)]
    assert any(
        text.startswith("Transpose pipelined against alltoallv, 1 setting")
        and "faster in 1 (1.5" in text
        for text in told
    ), told


def test_blocks_of_lines_are_compared_on_one_process_too() -> None:
    raws = [*launches(ranks=1, layout="strided", time_s=0.2), *launches(ranks=1)]

    table = build("layout", raws)

    assert [row[1].text for row in table.rows] == ["strided", "blocked"]
