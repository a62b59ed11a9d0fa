# SPDX-License-Identifier: BSD-3-Clause
"""Reports of Fourier transforms: rates, the share of transposes, ways set against each other."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, bad, cases, fft

from haloscope.analysis.context import Context
from haloscope.topics import tables
from haloscope.topics.common.table import Table

CONTEXT = Context(machine=MACHINE)


def build(kind: str, raws: list[Raw]) -> Table:
    (table,) = tables.build(kind, cases(raws), CONTEXT)
    return table


def launches(**settings: Any) -> list[Raw]:
    return [fft(launch=launch, **settings) for launch in range(7)]


def test_a_rate_uses_declared_operations_and_transposes_have_their_share() -> None:
    table = build("fft", [*launches(ranks=1), *launches(ranks=2, time_s=0.06)])

    time, rate, share, sent = table.rows[1][1:]
    assert isinstance(time.value, float) and isinstance(rate.value, float)
    assert rate.value * time.value == pytest.approx(2 * 2.5 * 2**21 * 21)
    assert (share.text, sent.text) == ("20 %", "16.2 MiB")
    assert [cell.text for cell in table.rows[0][3:]] == ["–", "–"]


def test_a_transform_with_missing_launches_marks_all_its_numbers() -> None:
    lost = bad(fft(ranks=2, launch=7), "failed", "killed")
    (row,) = build("fft", [*(fft(ranks=2, launch=k) for k in range(7)), lost]).rows

    assert [cell.marks for cell in row[1:]] == ["*"] * 4


def test_transpose_methods_are_compared_despite_different_plane_groups() -> None:
    raws = [
        *launches(transpose="alltoallv", time_s=0.12),
        *launches(transpose="pairwise", time_s=0.12),
        *launches(transpose="pipelined", time_s=0.08),
    ]

    table = build("transpose", raws)

    assert [row[1].text for row in table.rows] == ["alltoallv", "pairwise", "pipelined"]
    assert table.rows[2][3].text.startswith("1.5")


def test_line_blocks_are_compared_on_one_process_too() -> None:
    raws = [*launches(ranks=1, layout="strided", time_s=0.2), *launches(ranks=1)]

    table = build("layout", raws)

    assert [row[1].text for row in table.rows] == ["strided", "blocked"]


def test_one_process_has_no_transpose_and_is_compared_once() -> None:
    raws = [
        raw
        for ranks, transposes in ((1, ("alltoallv", "pipelined")), (2, ("alltoallv", "pipelined")))
        for transpose in transposes
        for layout in ("strided", "blocked")
        for raw in launches(ranks=ranks, layout=layout, transpose=transpose)
    ]

    lines, transposes = build("layout", raws), build("transpose", raws)

    assert len(lines.rows) == 2 * 3
    assert len(transposes.rows) == 2 * 2


def phased(names: list[str], **settings: Any) -> Raw:
    """A transform whose phases take a hundredth of a second each."""
    each = {"min": 0.01, "mean": 0.01, "max": 0.01}
    phases = [
        {"name": name, "calls": 1, "time_s": each, "bytes": 0.0, "flops": 0.0, "model_s": None}
        for name in names
    ]
    return {**fft(time_s=0.2, **settings), "phases": phases}


def test_cases_with_too_many_phases_are_grouped_by_equal_phases() -> None:
    blocked, strided = ([f"{way}_{k}" for k in range(8)] for way in ("blocks", "lines"))
    raws = [
        phased(blocked, layout="blocked", ranks=2),
        phased(strided, layout="strided", ranks=2),
        phased(blocked[:5], layout="blocked", ranks=1),
    ]

    shares = [one for one in tables.build("phases", cases(raws), CONTEXT) if one.id == "phases"]

    assert [table.title.split(" (")[1].split(", ") for table in shares] == [
        ["fft_pencil", "layout = blocked)"],
        ["fft_pencil", "2 processes", "layout = strided)"],
    ]
    assert [len(table.rows) for table in shares] == [2, 1]
    assert [len(table.columns) for table in shares] == [11, 11]


def test_few_phases_of_all_cases_share_a_table() -> None:
    raws = [phased(["a", "b"], layout="blocked"), phased(["c", "d"], layout="strided")]

    (shares,) = (one for one in tables.build("phases", cases(raws), CONTEXT) if one.id == "phases")

    assert shares.title == "Time by phase (fft_pencil)" and len(shares.rows) == 2
