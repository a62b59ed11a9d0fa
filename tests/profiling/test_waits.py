# SPDX-License-Identifier: BSD-3-Clause
"""Waits follow from when both sides of a message, or all ranks of an operation, called MPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from haloscope.profiling import waits
from haloscope.profiling.process import EVENT, CallPlace, Communicator, CountLine, Process, Sent
from haloscope.profiling.waits import AT_COLLECTIVE, LATE_RECEIVER, LATE_SENDER, Waits

S = 1_000_000_000
FUNCTIONS = ("Send", "Recv", "Waitall", "Barrier", "Bcast", "Reduce")
WORLD = Communicator("MPI_COMM_WORLD", (0, 1, 2))
Event = tuple[Any, ...]


def passing(
    kind: int, function: str, peer: int, begin: float, end: float, tag: int = 0, posted: float = -1
) -> Event:
    """An end of a message, or a part of an operation; seconds."""
    times = (begin if posted < 0 else posted, begin, end)
    return (*(int(t * S) for t in times), FUNCTIONS.index(function) + 1, 0, peer, tag, kind, 0)


def send(to: int, begin: float, end: float, **more: Any) -> Event:
    return passing(1, more.pop("function", "Send"), to, begin, end, **more)


def receive(source: int, begin: float, end: float, **more: Any) -> Event:
    return passing(2, more.pop("function", "Recv"), source, begin, end, **more)


def together(function: str, begin: float, end: float, root: int = -1) -> Event:
    return passing(3, function, root, begin, end)


def found(
    events: Sequence[Sequence[Event]],
    *,
    clocks: Sequence[str] = ("a", "a", "a"),
    said: Mapping[int, Mapping[str, Any]] | None = None,
    comm: Communicator = WORLD,
) -> Waits:
    """The waits of ranks with these events, by rank."""
    world = {}
    for rank, own in enumerate(events):
        lines = [CountLine("time", "p", name, 0, -1, CallPlace(), comm, 0) for name in FUNCTIONS]
        lines.append(CountLine("to", "p", "message", 0, 0, CallPlace(), comm, 0))
        calls = [Sent(sum(one[3] == k + 1 for one in own)) for k in range(len(FUNCTIONS))]
        sent = Sent(sum(one[7] == 1 for one in own))
        heard = [{"ended": True}, *([said[rank]] if said and rank in said else [])]
        about = {"rank": rank, "ranks": len(events), "clock": clocks[rank]}
        table = np.array([*own], EVENT)
        world[rank] = Process(about, lines, [*calls, sent], heard, 0, S, {0: comm}, table)
    return waits.of_world(world)


def seconds(waits: Waits) -> dict[tuple[str, str, int], float]:
    return {(one.kind, one.function, one.rank): value for one, value in waits.seconds.items()}


def test_a_receive_waits_until_its_message_is_sent() -> None:
    waits = found([[send(1, 3, 3.1), send(1, 4, 4.1)], [receive(0, 1, 3.5), receive(0, 4.5, 5)]])

    assert seconds(waits) == {(LATE_SENDER, "Recv", 1): 2}
    assert (waits.messages, waits.of_messages) == (2, 2)


def test_a_blocking_send_waits_until_it_is_received() -> None:
    waits = found([[send(1, 1, 3.5)], [receive(0, 3, 4)]])

    assert seconds(waits) == {(LATE_RECEIVER, "Send", 0): 2}


def test_a_send_that_ended_before_its_receive_did_not_wait() -> None:
    assert seconds(found([[send(1, 1, 2.5)], [receive(0, 3, 4)]])) == {}


def test_messages_match_by_tag_in_order_of_start() -> None:
    late = receive(0, 2, 6, function="Waitall", tag=7, posted=1.5)
    early = receive(0, 2, 6, function="Waitall", tag=7, posted=1)
    other = receive(0, 1, 9, tag=8)

    waits = found([[send(1, 3, 3, tag=7), send(1, 5, 5, tag=7), send(1, 8, 8, tag=8)],
                  [late, early, other]])  # fmt: skip

    # the call waits until the last of its messages is sent, once
    assert seconds(waits) == {(LATE_SENDER, "Waitall", 1): 3, (LATE_SENDER, "Recv", 1): 7}
    assert {one.function: waits.calls[one] for one in waits.calls} == {"Waitall": 1, "Recv": 1}


def test_a_sendrecv_call_waits_for_one_side_at_a_time() -> None:
    both = [
        send(1, 0, 6, function="Waitall", posted=0),
        receive(1, 0, 6, function="Waitall", posted=0),
    ]

    waits = found([both, [receive(0, 5, 6), send(0, 2, 2)]])

    assert seconds(waits)[LATE_SENDER, "Waitall", 0] == 2
    assert seconds(waits)[LATE_RECEIVER, "Waitall", 0] == 3


def test_ranks_wait_in_a_collective_for_the_ranks_they_depend_on() -> None:
    waits = found(
        [
            [together("Barrier", 1, 4), together("Bcast", 8, 9, 0), together("Reduce", 10, 13, 0)],
            [together("Barrier", 3, 4), together("Bcast", 6, 9, 0), together("Reduce", 12, 13, 0)],
        ],
        comm=Communicator("MPI_COMM_WORLD", (0, 1)),
    )

    assert seconds(waits) == {
        (AT_COLLECTIVE, "Barrier", 0): 2,
        (AT_COLLECTIVE, "Bcast", 1): 2,
        (AT_COLLECTIVE, "Reduce", 0): 2,
    }
    assert (waits.collectives, waits.of_collectives) == (6, 6)


def test_a_collective_that_ended_before_others_began_did_not_wait() -> None:
    waits = found(
        [[together("Barrier", 1, 2)], [together("Barrier", 3, 4)]],
        comm=Communicator("MPI_COMM_WORLD", (0, 1)),
    )

    assert seconds(waits) == {}


RECEIVED_LATE = ([send(1, 3, 3.1)], [receive(0, 1, 3.5)])


@pytest.mark.parametrize(
    ("events", "more", "why"),
    [
        (RECEIVED_LATE, {"clocks": ("a", "b")}, "nodes"),
        (RECEIVED_LATE, {"said": {1: {"threads": True}}}, "threads"),
        (RECEIVED_LATE, {"comm": Communicator("", (0, 1))}, "communicators"),
        (([send(1, 3, 3.1)] * 2, [receive(0, 1, 3.5)]), {}, "MPI_Mrecv"),
    ],
)
def test_undeterminable_waits_are_absent_with_a_reason(
    events: Sequence[Sequence[Event]], more: dict[str, Any], why: str
) -> None:
    waits = found(events, **more)

    assert (seconds(waits), waits.messages) == ({}, 0)
    assert waits.of_messages == len(events[0])
    assert any(why in reason for reason in waits.reasons)


def test_waits_before_a_truncated_trace_are_reported() -> None:
    waits = found([[send(1, 3, 3.1)], [receive(0, 1, 3.5), receive(0, 4, 5)]],
                 said={0: {"events_until": 0}})  # fmt: skip

    assert seconds(waits) == {(LATE_SENDER, "Recv", 1): 2}


def test_one_rank_is_printed_in_the_singular() -> None:
    assert str(Communicator("", (0,))) == "other communicator (1 rank)"
    assert str(Communicator("split", (0,))) == "split (rank 0)"
    assert str(Communicator("split", tuple(range(9)))) == "split (9 ranks from rank 0)"
