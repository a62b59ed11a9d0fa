# SPDX-License-Identifier: BSD-3-Clause
"""Cases whose sends would cost nothing on a simulated cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.layout import Layout
from haloscope.study.case import Case, Value
from haloscope.study.checks.capacity import MANY_SENDS, Site, sends_in_a_row

CASE = Case("collectives", {}, {}, Layout(), "simgrid", 0, 1, 60.0, 0)


def case(kernel: str, layout: Layout = CASE.layout, **params: Value) -> Case:
    return replace(CASE, kernel=kernel, layout=layout, params=params)


MANY = Layout(nodes=64, ppn=16)


@pytest.mark.parametrize(
    ("one", "messages"),
    [
        (case("pingpong", mode="stream", window=4096), 4096),
        (case("pingpong", mode="imb", window=4096), 0),
        (case("collectives", MANY, operation="alltoall"), 1023),
        (case("collectives", MANY, operation="all"), 1023),
        (case("collectives", MANY, operation="allreduce"), 0),
        (case("neighbours", burst=16), 16),
        (case("poisson_cg", MANY), 0),
        (case("fft_pencil", MANY, topology="1024x1", transpose="alltoallv"), 1023),
        (case("fft_pencil", MANY, topology="32x32", transpose="pipelined"), 31),
        (case("fft_pencil", MANY, topology="1024x1", transpose="pairwise"), 0),
        (case("fft_pencil", MANY, topology="columns", transpose="alltoallv"), 0),
    ],
)
def test_consecutive_messages_of_a_rank_are_counted(one: Case, messages: int) -> None:
    assert sends_in_a_row(one) == messages


def test_many_free_sends_are_reported_before_a_run() -> None:
    site = Site(nodes=64, cores=16, hardware_threads=16, memory_bytes=1, doubts=["another"])
    free = replace(site, sends_are_free=True)
    many = case("collectives", MANY, operation="alltoall")
    few = case("pingpong", mode="stream", window=MANY_SENDS - 1)

    assert site.doubts_of([many]) == free.doubts_of([few]) == ["another"]
    first, second = free.doubts_of([few, many])
    assert first == "another" and "send_overhead_s" in second and "1,023" in second
