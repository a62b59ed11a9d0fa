# SPDX-License-Identifier: BSD-3-Clause
"""One record in a terminal: names and units of results."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from found import SIMULATED
from noted import shows
from recorded import bad, cases, poisson, record, star_forest
from rich.console import Console

from haloscope.quantities import seconds, within
from haloscope.records.record import Record
from haloscope.report.record_view import named, record_view
from programs import USED


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("latency_s", 4.4e-7, ("latency", "440 ns")),
        ("bandwidth_bytes_per_s", 2e9, ("bandwidth", "2.00 GB/s")),
        ("messages_per_s", 1354595.0, ("messages", "1.35 M/s")),
        ("gap_s_per_byte", 1.5e-10, ("gap s per byte", "1.5e-10")),
        ("rss_bytes", 4096, ("rss", "4 KiB")),
        ("elements", 2400000, ("elements", "2,400,000")),
        ("latency_s", None, ("latency", "–")),
    ],
)
def test_names_have_no_units_and_values_have_them(
    key: str, value: float | None, shown: tuple[str, str]
) -> None:
    assert named(key, value) == shown


def test_phases_are_marked_as_means_if_the_step_is_a_median() -> None:
    """One slow step of three: its phases are longer than the median step."""
    raw = poisson(64, time_s=1.0)
    raw["times_s"] = [0.1, 0.1, 2.8]
    out = StringIO()

    Console(file=out, width=100).print(record_view(Record.of(raw)))

    assert "  100 ms (100 ms to 2.80 s)" in out.getvalue()
    assert shows(out.getvalue(), "phases, mean over all ", " 1.00 s")


def test_medians_of_phases_are_listed_with_the_median_step() -> None:
    """The one slow step is in the means, and in the last column alone."""
    raw = poisson(64, time_s=1.0)
    raw["times_s"] = [0.1, 0.1, 2.8]
    for phase in raw["phases"]:
        phase["time_s"] = dict.fromkeys(("min", "mean", "max"), 0.9)
        phase["median_s"] = {"min": 0.02, "mean": 0.03, "max": 0.04}
    out = StringIO()

    Console(file=out, width=120).print(record_view(Record.of(raw)))

    shown = out.getvalue()
    assert shows(shown, "median of 3 repetitions; ", " mean ")
    (row,) = (
        line.split()
        for line in shown.splitlines()
        if line.split()[:1] == [raw["phases"][0]["name"]]
    )
    assert row[2:8] == ["20.0", "ms", "30.0", "ms", "40.0", "ms"] and row[-2:] == ["900", "ms"]


def test_a_simulated_time_has_its_error() -> None:
    simulation = {**SIMULATED["simulation"], "of_iterations": None, "cached": False}
    raw = poisson(1024, variant="textbook", clock="simulated", simulation=simulation)
    (case,) = cases([raw])
    out = StringIO()

    Console(file=out, width=200).print(record_view(Record.of(raw)))

    assert case.band and within(case.band.factor) in out.getvalue()
    failed = Record.of(bad(raw, "timeout", "too long"))
    Console(file=(out := StringIO()), width=200).print(record_view(failed))
    assert within(case.band.factor) not in out.getvalue()


def test_a_failed_launch_has_no_verified_result() -> None:
    raw = poisson(64, time_s=1.0)
    simulation = {"cluster": "c", "verified": True, "cached": False, "of_iterations": None}
    raw |= {"simulation": simulation, "outcome": "failed", "reason": "so"}
    out = StringIO()

    Console(file=out, width=100).print(record_view(Record.of(raw)))

    assert "answer" not in out.getvalue()


def test_results_of_an_external_program_use_their_declared_units() -> None:
    units = {"speed": "FLOP/s", "size": "B", "cells": "cells", "norms": "K", "took_s": "s"}
    lost = {"size_bytes": 8, "operation": None, "line": "8 0.00", "why": "invalid time"}
    raw = record(
        "theirs",
        {"size": 4096},
        [1.0],
        program={**USED, "units": units, "untimed": [lost]},
        result={
            **{"speed": 2.5e9, "size": 8192, "cells": 12345, "took_s": 2e-3, "note": "fine"},
            **{"norms": [1.0, 0.5], "lost": None, "plain": [1, 2], "long": [1.0] * 9},
        },
    )
    out = StringIO()

    Console(file=out, width=100).print(record_view(Record.of(raw), whole=True))

    lines = [line.strip() for line in out.getvalue().splitlines() if line.startswith("  ")]
    rows = dict(re.split(r"  +", line, maxsplit=1) for line in lines if "  " in line)
    assert rows["speed"] == "2.50 GFLOP/s"
    assert rows["cells"] == "12,345 cells"
    assert rows["took"] == "2.00 ms"
    assert rows["norms"] == "1.00 K, 0.500 K"
    assert rows["plain"] == "1.00, 2.00"
    assert rows["long"].endswith("... (9 values)")
    assert (rows["note"], rows["lost"], rows["8 0.00"]) == ("fine", "–", "invalid time")
    assert "8.00 KiB" in out.getvalue() and "4096 B" in out.getvalue()


@pytest.mark.parametrize(("whole", "shown"), [(False, False), (True, True)])
def test_counts_of_zero_are_shown_on_request_and_other_zeros_always(
    *, whole: bool, shown: bool
) -> None:
    raw = poisson(64)
    raw["result"] = {**raw["result"], "error_max": 0, "iterations_passed_over": 0}
    out = StringIO()

    Console(file=out, width=120).print(record_view(Record.of(raw), whole=whole))

    assert ("iterations extrapolated" in out.getvalue()) == shown
    assert "error max" in out.getvalue()


def test_results_without_a_value_share_a_row() -> None:
    raw = poisson(64)
    raw["result"] = {**raw["result"], "error_max": None, "fallback_at": None}
    out = StringIO()

    Console(file=out, width=120).print(record_view(Record.of(raw), whole=True))

    (line,) = [line for line in out.getvalue().splitlines() if "fallback" in line]
    assert re.split("  +", line.strip()) == ["no value", "error max, fallback at"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("bytes_per_s", ("bandwidth", "182 GB/s")),
        ("triad_bytes_per_s", ("triad", "182 GB/s")),
        ("messages_per_s", ("messages", "182,000 M/s")),
    ],
)
def test_rates_have_the_unit_of_their_key(key: str, expected: tuple[str, str]) -> None:
    assert named(key, 182e9) == expected


def test_parts_are_listed_at_the_extreme_sizes_and_all_on_request() -> None:
    raw = star_forest("sf_grid")
    shown: dict[bool, list[list[str]]] = {}
    for whole in (False, True):
        out = StringIO()
        Console(file=out, width=100).print(record_view(Record.of(raw), whole=whole))
        lines = [line.strip() for line in out.getvalue().splitlines()]
        (title,) = (n for n, line in enumerate(lines) if line.startswith("parts of a step"))
        shown[whole] = [line.split() for line in lines[title + 1 :]]

    header, first = shown[False][:2]
    assert header == ["part", "32", "B", "512", "B"]
    least, most = (
        seconds(part["times_s"][0])
        for part in raw["parts"]
        if part["name"] == "messages" and part["point"] in (0, 4)
    )
    assert first == ["messages", *least.split(), *most.split()]
    assert len([row for row in shown[True] if row[2:3] == ["messages"]]) == len(raw["points"])


@pytest.mark.parametrize(
    ("times_s", "kept", "warned"),
    [([1e-3, 9e-3], {}, False), ([1e-3, 10e-3], {}, True), ([1e-3, 10e-3], None, False)],
)
def test_different_timed_operations_cause_a_warning(
    times_s: list[float], kept: dict[str, str] | None, warned: bool
) -> None:
    program = {**USED, "units": {}} if kept is not None else None
    out = StringIO()

    raw = record("theirs", {}, times_s, program=program)
    Console(file=out, width=300).print(record_view(Record.of(raw)))

    assert ("differ by 10x or more" in out.getvalue()) is warned


@pytest.mark.parametrize(
    ("outcome", "whole", "shown"),
    [
        ("wrong", False, [3]),
        ("wrong", True, [0, 1, 2]),
        ("failed", False, [1, 2, 3]),
        ("failed", True, [0, 1, 2]),
    ],
)
def test_only_the_relevant_output_of_a_launch_is_printed(
    outcome: str, whole: bool, shown: list[int]
) -> None:
    printed = [
        "[0.000000] [xbt_cfg/INFO] Configuration change: Set 'smpi/np' to '2'",
        "[node-0:0:(1) 0.01] [smpi_kernel/WARNING] SMPI process did not return 0",
        "Execution failed with code 1.",
    ]
    raw = record("ring", {}, [1e-3], outcome=outcome, reason="why", stderr="\n".join(printed))
    out = StringIO()

    Console(file=out, width=300).print(record_view(Record.of(raw), whole=whole))

    lines = [*printed, "omitted; --all"]
    assert [n for n, line in enumerate(lines) if line in out.getvalue()] == shown
