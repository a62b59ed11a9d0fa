# SPDX-License-Identifier: BSD-3-Clause
"""The output of one process: counts by kind, its communicators, and events."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haloscope.quantities import count

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Sent:
    """Messages, or calls of an operation, and their bytes."""

    messages: int = 0
    bytes: int = 0

    def __add__(self, other: Sent) -> Sent:
        """Return the sum of both."""
        return Sent(self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class CallPlace:
    """Place of an MPI call: a function, and an offset in a file for addr2line."""

    function: str = UNKNOWN
    file: str = ""
    offset: int = 0


@dataclass(frozen=True)
class Communicator:
    """A communicator. ranks: of its world, in order.

    birth: how it was created and, of those created so from these ranks, its number; "" if other
    ranks may number it differently.
    """

    birth: str
    ranks: tuple[int, ...]
    name: str = ""

    def __str__(self) -> str:
        """Return its name: the program's, or how it was created, with its first ranks."""
        if self.birth.startswith("MPI_"):
            return self.birth
        who = count(len(self.ranks), "rank")
        if self.birth and len(self.ranks) <= 8:
            who = f"{'ranks' if len(self.ranks) > 1 else 'rank'} {', '.join(map(str, self.ranks))}"
        elif self.birth:
            who += f" from rank {self.ranks[0]}"
        return f"{self.name or self.birth or 'other communicator'} ({who})"


@dataclass(frozen=True)
class CountLine:
    """The key of a count. name: kind of message, operation, or timed function.

    size: messages of [2^(size - 1), 2^size) bytes; 0: without bytes.
    """

    way: str
    phase: str
    name: str
    group: int
    rank: int
    place: CallPlace
    comm: Communicator | None
    size: int


EVENT = np.dtype(
    [
        *((name, np.int64) for name in ("posted", "begin", "end")),
        *((name, np.int32) for name in ("line", "comm", "peer", "tag", "passing", "unused")),
    ]
)
"""EVENT is the layout of an event in files.hpp."""


@dataclass(frozen=True)
class Process:
    """The output of a process: its first line, its counts, and its events.

    lines: all, including those that counted nothing, because events refer to them by number. begin,
    end: of its use of MPI, in nanoseconds of its clock.
    """

    about: Mapping[str, Any]
    lines: Sequence[CountLine]
    numbers: Sequence[Sent]
    said: Sequence[Mapping[str, Any]]
    begin: int = 0
    end: int = 0
    comms: Mapping[int, Communicator] = field(default_factory=dict)
    events: NDArray[np.void] = field(default_factory=lambda: np.empty(0, EVENT))

    @property
    def rank(self) -> int:
        """Its rank in its world."""
        return int(self.about["rank"])

    @property
    def seconds(self) -> float:
        """Seconds from the end of MPI_Init to MPI_Finalize, or to its last call."""
        return (self.end - self.begin) / 1e9

    @property
    def counts(self) -> Iterator[tuple[CountLine, Sent]]:
        """Yield the counts."""
        return (
            (line, sent)
            for line, sent in zip(self.lines, self.numbers, strict=True)
            if sent.messages
        )

    @property
    def has_ended(self) -> bool:
        """Return whether it reached MPI_Finalize."""
        return next((bool(one["ended"]) for one in reversed(self.said) if "ended" in one), False)

    @property
    def has_all_events(self) -> bool:
        """Return whether no message was passed after its last event."""
        return self.has_ended and not any("events_until" in one for one in self.said)

    @property
    def has_threads(self) -> bool:
        """Return whether several threads called MPI."""
        return any("threads" in one for one in self.said)

    def groups(self) -> Iterator[Mapping[str, Any]]:
        """Yield the groups of ranks of other worlds that it communicated with."""
        yield from (one for one in self.said if "group" in one)


def read(path: Path) -> Process | None:
    """Read the output of a process; None if it was killed before it wrote its first line.

    A truncated last line, as on a full disk, is skipped.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    every = [json.loads(line) for line in text.split("\n")[:-1]]
    if not every:
        return None
    numbers = array("q")
    numbers.frombytes(path.with_name(f"{path.name}.counts").read_bytes())
    said = [line for line in every[1:] if isinstance(line, dict)]
    places = {
        one["place"]: CallPlace(one["function"], one.get("file", ""), one.get("offset", 0))
        for one in said
        if "place" in one
    }
    comms = _comms(said, int(every[0]["ranks"]))
    lines = []
    for one in every[1:]:
        if isinstance(one, list):
            way, phase, name, group, rank, place, comm, size = one
            where = places.get(place, CallPlace())
            named = where.function if phase is None else phase
            lines.append(CountLine(way, named, name, group, rank, where, comms.get(comm), size))
    pairs = [Sent(*pair) for pair in zip(numbers[2::2], numbers[3::2], strict=True)]
    pairs += [Sent()] * (len(lines) - len(pairs))
    begin, end = numbers[:2] if len(numbers) > 1 else (0, 0)
    return Process(
        every[0], lines, pairs[: len(lines)], said, begin, end, comms, _events(path, len(lines))
    )


def _comms(said: Sequence[Mapping[str, Any]], ranks: int) -> dict[int, Communicator]:
    """Return communicators by number; a later line may give a name."""
    found: dict[int, Communicator] = {}
    for one in said:
        if "birth" in one:
            members = tuple(one["ranks"]) or tuple(range(ranks))
            found[one["comm"]] = Communicator(one["birth"], members, one["name"])
        elif "comm" in one and one["comm"] in found:
            known = found[one["comm"]]
            found[one["comm"]] = Communicator(known.birth, known.ranks, one["name"])
    return found


def _events(path: Path, lines: int) -> NDArray[np.void]:
    """Return the complete events. The file may have unused space after them."""
    file = path.with_name(f"{path.name}.events")
    if not file.exists():
        return np.empty(0, EVENT)
    data = file.read_bytes()
    events = np.frombuffer(data[: len(data) // EVENT.itemsize * EVENT.itemsize], EVENT)
    return events[(events["passing"] > 0) & (events["line"] > 0) & (events["line"] <= lines)]
