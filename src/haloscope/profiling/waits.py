# SPDX-License-Identifier: BSD-3-Clause
"""How long ranks waited for others: estimated from when both sides of a message called MPI.

The definitions are those of Scalasca (performance properties, version 2.4,
http://apps.fz-juelich.de/scalasca/releases/scalasca/2.4/help/scalasca_patterns-2.4.html):

late sender     a rank receives, or waits for a message, before the sender has begun to send it
late receiver   a rank sends, or waits until a message is sent, before the receiver posts it
wait at collective   a rank enters a collective operation before those whose data it needs: all
                others, the root, or for the root all others

The n-th message of a sender to a receiver with a tag on a communicator is the n-th that is received
so: MPI keeps their order. Times of two ranks are compared only by a clock that both have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from haloscope.profiling.process import Communicator, Process

LATE_SENDER, LATE_RECEIVER, AT_COLLECTIVE = "late sender", "late receiver", "wait at collective"
KINDS = (LATE_SENDER, LATE_RECEIVER, AT_COLLECTIVE)
_SEND, _RECEIVE, _COLLECTIVE = 1, 2, 3
_FROM_ROOT = {"Bcast", "Scatter", "Scatterv"}
_TO_ROOT = {"Reduce", "Gather", "Gatherv"}
_ALL = {"Barrier", "Allreduce", "Reduce_scatter", "Reduce_scatter_block"}
_ALL |= {"Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"}
COVERED = _FROM_ROOT | _TO_ROOT | _ALL
"""COVERED are the collective operations whose waits are estimated: blocking ones."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Wait:
    """A kind of wait of a rank in calls of a function from one phase."""

    kind: str
    phase: str
    function: str
    rank: int


@dataclass(frozen=True)
class Waits:
    """Times that ranks waited, by cause.

    messages, collectives: numbers with known waits, of messages within this world and of blocking
    calls covered by the definitions. reasons: why others are unknown.
    """

    seconds: Mapping[Wait, float]
    calls: Mapping[Wait, int]
    messages: int
    of_messages: int
    collectives: int
    of_collectives: int
    reasons: tuple[str, ...]


class _Sums:
    """Sums of waits; each call counts once."""

    def __init__(self, world: Mapping[int, Process]) -> None:
        self.world = world
        self.seconds: dict[Wait, float] = {}
        self.calls: dict[Wait, int] = {}

    def add(self, kind: str, rank: int, number: int, nanoseconds: int) -> None:
        """Add the wait of a rank in a call, by the line of its time."""
        line = self.world[rank].lines[number - 1]
        key = Wait(kind, line.phase, line.name, rank)
        self.seconds[key] = self.seconds.get(key, 0.0) + nanoseconds / 1e9
        self.calls[key] = self.calls.get(key, 0) + 1


def of_world(world: Mapping[int, Process]) -> Waits:
    """Return the known waits of a world's ranks."""
    sums, reasons = _Sums(world), list[str]()
    messages = _of_messages(world, sums, reasons)
    collectives = _of_collectives(world, sums, reasons)
    counts = [pair for process in world.values() for pair in process.counts]
    sent = sum(n.messages for line, n in counts if (line.way, line.name) == ("to", "message"))
    called = sum(n.messages for line, n in counts if line.way == "time" and line.name in COVERED)
    if any("events_until" in one for process in world.values() for one in process.said):
        reasons.append("times are kept only for a limited number of messages")
    unique = tuple(dict.fromkeys(reasons))
    return Waits(sums.seconds, sums.calls, messages, sent, collectives, called, unique)


def _of_messages(world: Mapping[int, Process], sums: _Sums, reasons: list[str]) -> int:
    """Add the waits of messages; return the number of messages with both sides."""
    numbers: dict[Communicator, int] = {}
    parts = [_ends(rank, process, numbers, reasons) for rank, process in sorted(world.items())]
    ends = np.concatenate(parts) if parts else np.empty((0, _COLUMNS), np.int64)
    if not len(ends):
        return 0
    _, channel = np.unique(ends[:, _CHANNEL], axis=0, return_inverse=True)
    channel = channel.reshape(-1)
    sides = [_in_order(ends, channel, passing) for passing in (_SEND, _RECEIVE)]
    channels = int(channel.max()) + 1
    sent, received = (np.bincount(channel[side], minlength=channels) for side in sides)
    is_whole = _is_whole(ends, channel, channels, world)
    together = np.where(is_whole & (sent != received), 0, np.minimum(sent, received))
    if np.any(is_whole & (sent != received)):
        reasons.append(
            "some messages were received with functions that are not tracked (MPI_Mrecv)"
        )
    pairs = [side[_nth(channel[side]) < together[channel[side]]] for side in sides]
    send, receive = ends[pairs[0]], ends[pairs[1]]
    clocks = _clocks(world)
    alike = np.asarray([clocks[a] == clocks[b] for a, b in send[:, [_FROM, _TO]]], bool)
    if not alike.all():
        reasons.append("ranks on different nodes have no common clock")
    send, receive = send[alike], receive[alike]
    lasted = receive[:, _END] - receive[:, _BEGIN]
    late_sender = np.clip(send[:, _POSTED] - receive[:, _BEGIN], 0, lasted)
    blocked = (send[:, _END] > 0) & (receive[:, _POSTED] <= send[:, _END])
    late_receiver = np.where(blocked, np.maximum(receive[:, _POSTED] - send[:, _BEGIN], 0), 0)
    _add(sums, (receive, late_sender), (send, late_receiver))
    return len(send)


def _in_order(ends: Numbers, channel: Numbers, passing: int) -> Numbers:
    """Return the rows of one side by channel, in the order of their start."""
    rows = np.flatnonzero(ends[:, _PASSING] == passing)
    return rows[np.lexsort((ends[rows, _POSTED], channel[rows]))]


def _nth(channel: Numbers) -> Numbers:
    """Return the index of each row in its channel, for rows sorted by channel."""
    at = np.arange(len(channel))
    is_first = np.ones(len(channel), bool)
    is_first[1:] = channel[1:] != channel[:-1]
    return at - np.maximum.accumulate(np.where(is_first, at, 0))


def _is_whole(
    ends: Numbers, channel: Numbers, channels: int, world: Mapping[int, Process]
) -> NDArray[np.bool_]:
    """Return whether both ranks of a channel kept all of its events."""
    first = np.zeros(channels, np.int64)
    first[channel] = np.arange(len(ends))
    whole = {rank for rank, process in world.items() if process.has_all_events}
    return np.asarray([{int(a), int(b)} <= whole for a, b in ends[first][:, [_FROM, _TO]]], bool)


def _clocks(world: Mapping[int, Process]) -> dict[int, str]:
    """Return the clock of each rank; ranks with an unknown clock share none."""
    return {rank: process.about.get("clock") or str(rank) for rank, process in world.items()}


def _add(sums: _Sums, late_sender: tuple[Numbers, Numbers], late: tuple[Numbers, Numbers]) -> None:
    """Add the longest wait of each call, which may complete several messages, from its start.

    The rest of a late-receiver wait begins at the end of the late-sender wait.
    """
    of_calls: list[dict[tuple[int, int, int], int]] = []
    for ends, nanoseconds in (late_sender, late):
        longest: dict[tuple[int, int, int], int] = {}
        waited = nanoseconds > 0
        for row, value in zip(
            ends[waited][:, [_OWN, _BEGIN, _LINE]], nanoseconds[waited], strict=True
        ):
            key = (int(row[0]), int(row[1]), int(row[2]))
            longest[key] = max(longest.get(key, 0), int(value))
        of_calls.append(longest)
    senders, receivers = of_calls
    left = {key: value - senders.get(key, 0) for key, value in receivers.items()}
    for kind, found in ((LATE_SENDER, senders), (LATE_RECEIVER, left)):
        for (rank, _, line), value in found.items():
            if value > 0:
                sums.add(kind, rank, line, value)


def _of_collectives(world: Mapping[int, Process], sums: _Sums, reasons: list[str]) -> int:
    """Add the waits at collective operations; return the number of calls with all of
    their ranks.
    """
    comms = {comm for process in world.values() for comm in process.comms.values() if comm.birth}
    clocks = _clocks(world)
    covered = 0
    for comm in comms:
        calls = [_calls(world[rank], comm) for rank in comm.ranks if rank in world]
        if len(calls) < len(comm.ranks) or not any(map(len, calls)):
            continue
        if len({clocks[rank] for rank in comm.ranks}) > 1:
            reasons.append("ranks on different nodes have no common clock")
            continue
        number = min(map(len, calls))
        names = np.asarray(
            [_names(world[rank], own[:number]) for rank, own in zip(comm.ranks, calls, strict=True)]
        )
        differ = np.flatnonzero((names != names[0]).any(axis=0))
        number = int(differ[0]) if len(differ) else number
        if number == 0:
            continue
        begin, end = (np.stack([own[name][:number] for own in calls]) for name in ("begin", "end"))
        roots = calls[0]["peer"][:number]
        waited = _waited(names[0][:number], begin, end, roots)
        covered += waited.size
        for rank, own, values in zip(comm.ranks, calls, waited, strict=True):
            for line, value in zip(own["line"][:number], values, strict=True):
                if value > 0:
                    sums.add(AT_COLLECTIVE, rank, int(line), int(value))
    return covered


def _calls(process: Process, comm: Communicator) -> NDArray[np.void]:
    """Return a rank's calls of collective operations on a communicator."""
    numbers = [number for number, one in process.comms.items() if one == comm]
    is_own = np.isin(process.events["comm"], numbers)
    found: NDArray[np.void] = process.events[(process.events["passing"] == _COLLECTIVE) & is_own]
    return found


def _names(process: Process, calls: NDArray[np.void]) -> list[str]:
    return [process.lines[int(line) - 1].name for line in calls["line"]]


def _waited(names: NDArray[np.str_], begin: Numbers, end: Numbers, roots: Numbers) -> Numbers:
    """Return the wait of each rank (rows) in each call (columns).

    0 if the rank ended before the others began, which is possible in an operation without data.
    """
    at = np.arange(len(names))
    root = np.clip(roots, 0, len(begin) - 1)
    is_root = np.zeros(begin.shape, bool)
    is_root[root, at] = True
    last = begin.max(axis=0)
    from_root, to_root = (np.isin(names, sorted(some)) for some in (_FROM_ROOT, _TO_ROOT))
    needed = np.where(from_root, begin[root, at], last)
    waits = (~is_root | ~from_root) & (is_root | ~to_root)
    return np.where(waits & (needed <= end), np.maximum(needed - begin, 0), 0)


_CHANNEL = slice(0, 4)
_COMM, _FROM, _TO, _TAG, _OWN, _POSTED, _BEGIN, _END, _LINE, _PASSING = range(10)
_COLUMNS = 10


def _ends(
    rank: int, process: Process, numbers: dict[Communicator, int], reasons: list[str]
) -> Numbers:
    """Return the ends of a rank's messages: the keys shared with the other end, and the time."""
    events = process.events[process.events["passing"] != _COLLECTIVE]
    events = events[(events["passing"] == _SEND) | ((events["end"] > 0) & (events["peer"] >= 0))]
    if len(events) and process.has_threads:
        reasons.append("several threads of a rank send or receive messages")
        events = events[:0]
    found = []
    for number in np.unique(events["comm"]):
        comm, own = process.comms.get(int(number)), events[events["comm"] == number]
        if comm is None or not comm.birth:
            reasons.append("communicators of other worlds, or created without synchronisation")
            continue
        table = np.empty((len(own), _COLUMNS), np.int64)
        ranks = np.asarray(comm.ranks, np.int64)
        peer, here = ranks[own["peer"]], np.full(len(own), rank)
        is_send = own["passing"] == _SEND
        table[:, _COMM] = numbers.setdefault(comm, len(numbers))
        table[:, _FROM], table[:, _TO] = (
            np.where(is_send, here, peer),
            np.where(is_send, peer, here),
        )
        table[:, _OWN] = rank
        for column, name in (
            *((_TAG, "tag"), (_POSTED, "posted"), (_BEGIN, "begin"), (_END, "end")),
            *((_LINE, "line"), (_PASSING, "passing")),
        ):
            table[:, column] = own[name]
        found.append(table)
    return np.concatenate(found) if found else np.empty((0, _COLUMNS), np.int64)
