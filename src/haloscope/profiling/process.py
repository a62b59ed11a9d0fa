# SPDX-License-Identifier: BSD-3-Clause
"""What one process wrote: counts by what they are of, its communicators, and events."""

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
        """Both together."""
        return Sent(self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class CallPlace:
    """Where in the program MPI was called: a function, and an offset in a file for addr2line."""

    function: str = UNKNOWN
    file: str = ""
    offset: int = 0


@dataclass(frozen=True)
class Communicator:
    """A communicator. ranks: of its world, in order. birth: how it was made and, of those made so
    of these ranks, which it is; "" where other ranks may number it in another way.
    """

    birth: str
    ranks: tuple[int, ...]
    name: str = ""

    def __str__(self) -> str:
        """Its name for people: the program's, or how it was made, with its first ranks."""
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
    """What a count is of. name: a kind of message, an operation, or a function whose time it is.

    size: messages of [2^(size - 1), 2^size) bytes; 0: of none.
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
"""EVENT is one of files.hpp."""


@dataclass(frozen=True)
class Process:
    """What a process wrote: its first line, counts by what its other lines say, and events.

    lines: all, those that counted nothing too, as events name them by their number. begin, end: of
    its use of MPI, in nanoseconds of its clock.
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
        """From the end of MPI_Init to MPI_Finalize, or its last call."""
        return (self.end - self.begin) / 1e9

    @property
    def counts(self) -> Iterator[tuple[CountLine, Sent]]:
        """What was counted."""
        return (
            (line, sent)
            for line, sent in zip(self.lines, self.numbers, strict=True)
            if sent.messages
        )

    @property
    def has_ended(self) -> bool:
        """Whether it came to the end of MPI."""
        return next((bool(one["ended"]) for one in reversed(self.said) if "ended" in one), False)

    @property
    def has_all_events(self) -> bool:
        """Whether no message was passed after its last event."""
        return self.has_ended and not any("events_until" in one for one in self.said)

    @property
    def has_threads(self) -> bool:
        """Whether several threads called MPI."""
        return any("threads" in one for one in self.said)

    def groups(self) -> Iterator[Mapping[str, Any]]:
        """The groups of ranks of other worlds that it met."""
        yield from (one for one in self.said if "group" in one)


def read(path: Path) -> Process | None:
    """What a process wrote; None where it was killed before it wrote its first line.

    A last line that was cut off, as on a full disk, is left out.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    every = [json.loads(line) for line in text.split("\n")[:-1]]
    if not every:
        return None
    numbers = array("q")
    numbers.frombytes(path.with_name(f"{path.name}.counts").read_bytes())
    said = [line for line in every[1:] if isinstance(line, dict)]
    places = {one["place"]: _place(one) for one in said if "place" in one}
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


def _place(one: Mapping[str, Any]) -> CallPlace:
    return CallPlace(one["function"], one.get("file", ""), one.get("offset", 0))


def _comms(said: Sequence[Mapping[str, Any]], ranks: int) -> dict[int, Communicator]:
    """Communicators by their number; a later line may give a name."""
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
    """Those that are whole. The file may have room behind them."""
    file = path.with_name(f"{path.name}.events")
    if not file.exists():
        return np.empty(0, EVENT)
    data = file.read_bytes()
    events = np.frombuffer(data[: len(data) // EVENT.itemsize * EVENT.itemsize], EVENT)
    return events[(events["passing"] > 0) & (events["line"] > 0) & (events["line"] <= lines)]
