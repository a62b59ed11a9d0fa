# SPDX-License-Identifier: BSD-3-Clause
"""Use of MPI by the ranks of a world: time by function, message sizes, communicators, waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from haloscope.profiling import waits
from haloscope.profiling.process import CallPlace, Communicator, CountLine, Process, Sent
from haloscope.profiling.traffic import KINDS
from haloscope.profiling.waits import Waits


@dataclass(frozen=True)
class Spent:
    """Calls, and their time."""

    calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        """Return the sum of both."""
        return Spent(self.calls + other.calls, self.seconds + other.seconds)


@dataclass(frozen=True)
class CallsOfRank:
    """Calls of a function by a rank from one place in the program, on one communicator."""

    phase: str
    name: str
    rank: int
    place: CallPlace
    comm: Communicator | None


@dataclass(frozen=True)
class CommTotals:
    """Use of a communicator: messages between two ranks, calls of collectives, time."""

    messages: Sent
    collectives: Sent
    spent: Spent


@dataclass(frozen=True)
class Usage:
    """Use of MPI by the ranks of a world.

    seconds: by rank, from the end of MPI_Init to MPI_Finalize, or to the last call. sizes: of
    messages and of collective operations, by name and by size as in CountLine.
    """

    seconds: Mapping[int, float]
    functions: Mapping[CallsOfRank, Spent]
    sizes: Mapping[tuple[str, int], Sent]
    comms: Mapping[Communicator, CommTotals]
    waits: Waits

    def by(self, key: Callable[[CallsOfRank], str]) -> dict[str, dict[int, Spent]]:
        """Return the time of each rank by a key of its calls; the key with the most time first."""
        found: dict[str, dict[int, Spent]] = {}
        for function, spent in self.functions.items():
            of_ranks = found.setdefault(key(function), {})
            of_ranks[function.rank] = of_ranks.get(function.rank, Spent()) + spent
        return dict(sorted(found.items(), key=lambda item: (-total(item[1]).seconds, item[0])))


def total(of_ranks: Mapping[int, Spent]) -> Spent:
    """Return the sum over all ranks."""
    return sum(of_ranks.values(), Spent())


def of_world(world: Mapping[int, Process]) -> Usage:
    """Return the use of MPI by a world's ranks."""
    functions: dict[CallsOfRank, Spent] = {}
    sizes: dict[tuple[str, int], Sent] = {}
    comms: dict[Communicator, CommTotals] = {}
    for rank, process in sorted(world.items()):
        for line, sent in process.counts:
            if line.way == "time":
                key = CallsOfRank(line.phase, line.name, rank, line.place, line.comm)
                spent = Spent(sent.messages, sent.bytes / 1e9)
                functions[key] = functions.get(key, Spent()) + spent
            elif line.way != "uncounted":
                sizes[line.name, line.size] = sizes.get((line.name, line.size), Sent()) + sent
            if line.comm is not None:
                _add(comms, line, sent)
    return Usage(
        {rank: process.seconds for rank, process in sorted(world.items())},
        functions,
        dict(sorted(sizes.items(), key=lambda item: _order(item[0]))),
        comms,
        waits.of_world(world),
    )


def _add(comms: dict[Communicator, CommTotals], line: CountLine, sent: Sent) -> None:
    assert line.comm is not None
    before = comms.get(line.comm, CommTotals(Sent(), Sent(), Spent()))
    messages, collectives, spent = before.messages, before.collectives, before.spent
    if line.way == "time":
        spent += Spent(sent.messages, sent.bytes / 1e9)
    elif line.way == "collective":
        collectives += sent
    elif line.way in ("to", "from"):
        messages += sent
    comms[line.comm] = CommTotals(messages, collectives, spent)


def _order(key: tuple[str, int]) -> tuple[bool, int, str, int]:
    name, size = key
    return name not in KINDS, KINDS.index(name) if name in KINDS else 0, name, size


def bounds(size: int) -> tuple[int, int]:
    """Return the minimum and maximum bytes of a size."""
    return (0, 0) if size == 0 else (1 << (size - 1), (1 << size) - 1)
