# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong, its libraries and transports, and collectives: tables and figures."""

from __future__ import annotations

import pytest
from made import build, column, draw, panels
from noted import noted, shows
from recorded import Raw, cases, changed, pingpong, record

from haloscope.report.method import method

WITH = {"name": "mpich"}


def slower(raw: Raw, factor: float) -> Raw:
    """The same launch with all its times multiplied."""
    points = [
        {**point, "times_s": [factor * time for time in point["times_s"]]}
        for point in raw["points"]
    ]
    return changed(raw, points=points)


def test_streams_have_a_message_rate_and_no_latency() -> None:
    (table,) = build("pingpong", [pingpong(mode="stream", sizes=[8, 1024])])

    assert [c.key for c in table.columns][1:] == ["bandwidth_bytes_per_s", "messages_per_s"]
    rate, messages = (cell.value for cell in table.rows[0][1:])
    assert isinstance(rate, float) and messages == pytest.approx(rate / 8)
    assert build("fits", [pingpong(mode="stream")]) == []
    assert build("libraries", [pingpong(mode="stream"), pingpong(mode="bistream")]) == []


def test_the_rate_of_empty_messages_is_not_derived_from_bytes() -> None:
    (table,) = build("pingpong", [pingpong(mode="stream", sizes=[0, 8])])
    assert [cell.text for cell in table.rows[0]] == ["0 B", "–", "–"]
    assert table.rows[1][2].text != "–"


def test_libraries_are_tested_against_the_fastest_per_size() -> None:
    ours = [pingpong(launch=k) for k in range(8)]
    theirs = [slower(pingpong(launch=k, toolchain=WITH), 2.0) for k in range(8)]

    (table,) = build("libraries", [*ours, *theirs])

    assert [cell.text for cell in column(table, "size")] == ["8 B", "1 KiB", "64 KiB", "1 MiB"]
    assert {cell.text for cell in column(table, "fastest")} == {"system"}
    assert {cell.text for cell in column(table, "setting")} == {"mpich"}
    assert {cell.text for cell in column(table, "verdict")} == {"faster"}
    assert any("corrected for 24 comparisons" in note for note in table.notes)


def test_an_interval_that_contradicts_the_verdict_is_explained() -> None:
    """Six launches each never overlap: too few for a test among 24, and enough for an interval."""

    def notes(launches: int) -> bool:
        ours = [pingpong(launch=k) for k in range(launches)]
        theirs = [slower(pingpong(launch=k, toolchain=WITH), 2.0) for k in range(launches)]
        (table,) = build("libraries", [*ours, *theirs])
        return noted(table, "exclude 1")

    assert [notes(launches) for launches in (5, 6, 8)] == [False, True, False]


def test_transports_have_a_panel_per_library_and_a_curve_each() -> None:
    raws = [
        slower(pingpong(toolchain={"name": name}, transport=transport), factor)
        for name, transport, factor in (("a", "shm", 1), ("a", "tcp", 9), ("b", "shm", 2))
    ]

    (figure,) = draw("transports", raws)

    assert [[c.label for c in panel.curves] for panel in panels(figure)] == [
        ["shm", "tcp"],
        ["shm"],
    ]
    assert draw("transports", raws[:1]) == []


def test_models_are_lines_with_residuals_listed() -> None:
    (figure,) = draw("fits", [pingpong(launch=k) for k in range(6)])

    times, residuals = panels(figure)
    assert [curve.model for curve in times.curves] == [False, *[True] * 5]  # one in two pieces
    assert len(residuals.curves) == 4
    assert all(abs(mark.y) < 60 for mark in residuals.curves[1].marks)


def test_collectives_have_a_column_per_operation_and_a_panel() -> None:
    points = [
        {"size_bytes": size, "operation": name, "times_s": [1e-6], "bytes": size, "result": {}}
        for name, sizes in (("barrier", [0]), ("bcast", [8, 64]))
        for size in sizes
    ]
    raw = record("collectives", {"call": "blocking", "synchronisation": "round_time"}, [3e-6],
                 ranks=2, points=points)  # fmt: skip

    (table,) = build("collectives", [raw])
    (figure,) = draw("collectives", [raw])

    assert [c.title for c in table.columns] == ["message", "barrier", "bcast"]
    assert [row[0].text for row in table.rows] == ["none", "8 B", "64 B"]
    assert noted(table, "together: round time")
    assert [panel.title for panel in panels(figure)] == ["bcast"]


def test_a_detected_warmup_is_excluded_and_reported() -> None:
    raws = [
        record("ring", {}, [2e-6, 1e-6, 1.001e-6, 1e-6], ranks=2, launch=k, result={})
        for k in range(6)
    ]
    (case,) = cases(raws)
    assert case.times_s == [1e-6] * 6
    text = method(case.launches, [case], {})
    assert shows(text, "Warm-up ", " 1 of 1 series", " first 1 ")
    assert not any(
        "Warm-up was found" in line for line in method(case.launches[:5], cases(raws[:5]), {})
    )
