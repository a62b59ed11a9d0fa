# SPDX-License-Identifier: BSD-3-Clause
"""What ranks counted, put together: messages and bytes from each to each, phase by phase."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haloscope.errors import Problem, UserError
from haloscope.paths import opened
from haloscope.quantities import count

FINALIZE = "did it end well, by MPI_Finalize? Programs of Fortran alone are not counted"
"""FINALIZE says why a rank may have written nothing."""
_ABOUT = "what the ranks sent"


@dataclass(frozen=True)
class Sent:
    """Messages, or calls of a collective operation, and their bytes."""

    messages: int = 0
    bytes: int = 0

    def __add__(self, other: Sent) -> Sent:
        """Both together."""
        return Sent(self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class Traffic:
    """What a program sent.

    pairs: by phase, sender and receiver, both ranks of all. collectives: by phase and operation,
    what all ranks together gave to it. hosts: of each rank.
    """

    hosts: tuple[str, ...]
    pairs: Mapping[tuple[str, int, int], Sent]
    collectives: Mapping[tuple[str, str], Sent]

    @property
    def ranks(self) -> int:
        """How many there were."""
        return len(self.hosts)

    @property
    def phases(self) -> list[str]:
        """Those that sent, the one with the most bytes first."""
        sums: dict[str, Sent] = {}
        for (phase, _, _), sent in self.pairs.items():
            sums[phase] = sums.get(phase, Sent()) + sent
        return sorted(sums, key=lambda phase: (-sums[phase].bytes, phase))

    @property
    def operations(self) -> dict[str, Sent]:
        """What all ranks gave to each collective operation, by its name."""
        sums: dict[str, Sent] = {}
        for (_, operation), sent in sorted(self.collectives.items(), key=lambda one: one[0][1]):
            sums[operation] = sums.get(operation, Sent()) + sent
        return sums

    def matrix(self, phase: str | None = None) -> dict[tuple[int, int], Sent]:
        """What each sent to each, in a phase or in all."""
        found: dict[tuple[int, int], Sent] = {}
        for (name, sender, receiver), sent in self.pairs.items():
            if phase in (None, name):
                found[sender, receiver] = found.get((sender, receiver), Sent()) + sent
        return found

    def total(self, phase: str | None = None) -> Sent:
        """All messages of a phase, or of all."""
        return sum(self.matrix(phase).values(), start=Sent())


def read(folder: Path) -> Traffic:
    """What the ranks wrote into a folder. UserError where one did not, or each was alone."""
    written = [*folder.glob("rank.*.json")]
    files = {int(path.suffixes[0][1:]): path for path in written}
    if not files:
        what = "no rank said what it sent"
        mend = f"{FINALIZE}; is it linked with another MPI library, or statically? --toolchain NAME"
        raise UserError(Problem(_ABOUT, what, mend))
    if len(written) > len(files):
        what = f"{len(written)} programs ran, each alone, as rank 0 of 1"
        mend = "start it by the launcher of the MPI library that it is linked with"
        raise UserError(Problem(_ABOUT, what, mend))
    said = {rank: _content(path) for rank, path in sorted(files.items())}
    ranks = int(said[min(said)]["ranks"])
    if lacking := [rank for rank in range(ranks) if rank not in said]:
        what = f"rank {lacking[0]} of {ranks} did not say what it sent"
        raise UserError(Problem(_ABOUT, what, FINALIZE))
    pairs: dict[tuple[str, int, int], Sent] = {}
    together: dict[tuple[str, str], Sent] = {}
    for rank, one in said.items():
        for phase, receiver, messages, size in one["sent"]:
            pairs[phase, rank, receiver] = Sent(messages, size)
        for phase, operation, calls, size in one["collectives"]:
            key = (phase, operation)
            together[key] = together.get(key, Sent()) + Sent(calls, size)
    return Traffic(tuple(str(said[rank]["host"]) for rank in range(ranks)), pairs, together)


def table(traffic: Traffic) -> Iterator[list[str]]:
    """Rows for a CSV file: phase, sender, receiver, messages, bytes."""
    yield ["phase", "from", "to", "messages", "bytes"]
    for (phase, sender, receiver), sent in sorted(traffic.pairs.items()):
        yield [phase, str(sender), str(receiver), str(sent.messages), str(sent.bytes)]


def collectives_table(traffic: Traffic) -> Iterator[list[str]]:
    """Rows for a CSV file: phase, collective operation, calls of all ranks, bytes they gave."""
    yield ["phase", "operation", "calls", "bytes"]
    for (phase, operation), sent in sorted(traffic.collectives.items()):
        yield [phase, operation, str(sent.messages), str(sent.bytes)]


def summary(traffic: Traffic) -> str:
    """All of it in a sentence."""
    total, hosts = traffic.total(), len({*traffic.hosts})
    where = f"{count(traffic.ranks, 'rank')} on {count(hosts, 'node')}"
    pairs = count(len(traffic.matrix()), "pair")
    return f"{where}: {total.messages:,} messages of {total.bytes:,} bytes between {pairs} of ranks"


def _content(path: Path) -> dict[str, Any]:
    """What a rank said, as count_messages.cpp writes it."""
    with opened(path) as file:
        found: dict[str, Any] = json.load(file)
    return found
