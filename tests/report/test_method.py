# SPDX-License-Identifier: BSD-3-Clause
"""How it was measured, in words: toolchains once each, and what ended the launches of cases."""

from __future__ import annotations

from noted import shows
from recorded import Raw, cases, pingpong

from haloscope.report.method import method, toolchain_facts


def plan(*stopped: tuple[str | None, str | None]) -> Raw:
    """A plan of a rule, with cases that something ended, or that are absent."""
    rule = {"half_width": 0.05, "fewest": 7, "most": 20, "most_s": 120.0}
    return {"rule": rule, "cases": [{"stopped": why, "absent": no} for why, no in stopped]}


def test_a_library_is_described_once_with_its_transports() -> None:
    one, other = ({"name": name, "mpi": f"{name} 1"} for name in ("openmpi", "mpich"))
    raws = [pingpong(toolchain=one, transport=name) for name in ("tcp", "shm")]
    records = [r for case in cases([*raws, pingpong(toolchain=other)]) for r in case.launches]

    rest = "g++ 12.2.0; -O3 -march=native -std=c++20"
    facts = sorted(toolchain_facts(records))
    assert [(name.split(", transports "), fact) for name, fact in facts] == [
        (["mpich"], f"mpich 1; {rest}"),
        (["openmpi", "shm and tcp"], f"openmpi 1; {rest}"),
    ]


def test_the_stopping_reason_of_each_case_is_counted() -> None:
    asked = plan(("narrow", None), ("time", None), (None, None), (None, "no such provider"))
    (line,) = (line for line in method([], [], asked) if "were launched until" in line)

    assert " ± 5.0 %" in line
    assert shows(line, "1 case narrow", "1 case at", " 120 s")
    assert shows(line, "1 case unfinished")


def test_separation_of_compared_intervals_is_reported() -> None:
    def text_of(why: str | None) -> str:
        asked = {"parting": 6, "cases": [{"stopped": why, "absent": None}] * 2}
        return next(line for line in method([], [], asked) if "launched in turn" in line)

    assert "limit" not in text_of("parted")
    assert "limit" in text_of(None)


def test_the_start_synchronisation_is_described() -> None:
    def text_of(way: str) -> str:
        records = cases([pingpong(synchronisation=way)])[0].launches
        return next(line for line in method(records, [], {}) if "resolution" in line)

    assert text_of("barrier").endswith(" start after a barrier.")
    assert text_of("round_time").endswith(" by round time.")
