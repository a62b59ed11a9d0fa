# SPDX-License-Identifier: BSD-3-Clause
"""Counts of all processes combined: messages and bytes between ranks, by phase.

A world is the ranks of one MPI_COMM_WORLD. A command may start several, by successive launchers or
by MPI_Comm_spawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from haloscope.errors import Problem, UserError
from haloscope.profiling import process
from haloscope.profiling.process import Process, Sent
from haloscope.quantities import count

FINALIZE = "name the MPI library that the program is linked with: --toolchain NAME (statically "
FINALIZE += "linked programs are not supported)"
"""FINALIZE is the remedy if no process has written counts."""
_ABOUT = "profile"
MESSAGE, NEIGHBOUR, ONE_SIDED = "message", "neighbour", "one-sided"
_Of = TypeVar("_Of")
KINDS = (MESSAGE, NEIGHBOUR, ONE_SIDED)
"""KINDS of transfers between two ranks: a message, one of a neighbourhood collective, or one moved
by a single rank's call.
"""


@dataclass(frozen=True, order=True)
class Rank:
    """A rank of a world. world: its number, from 1; None if unknown."""

    world: int | None
    rank: int


@dataclass(frozen=True)
class Flow:
    """Transfers from one rank to another, possibly of different worlds."""

    phase: str
    sender: Rank
    receiver: Rank
    kind: str = MESSAGE


@dataclass(frozen=True)
class Traffic:
    """Transfers of the ranks of a world.

    pairs: with at least one end in this world; including one-sided ones. collectives, files: by
    phase and operation, bytes contributed, read, or written by all ranks. uncounted: calls that
    move data in an uncounted way. hosts: of each rank; None if it wrote nothing. unended: ranks
    that did not reach MPI_Finalize. functions: timed functions.
    """

    number: int
    hosts: tuple[str | None, ...]
    pairs: Mapping[Flow, Sent] = field(default_factory=dict)
    collectives: Mapping[tuple[str, str], Sent] = field(default_factory=dict)
    files: Mapping[tuple[str, str], Sent] = field(default_factory=dict)
    uncounted: Mapping[str, int] = field(default_factory=dict)
    unended: tuple[int, ...] = ()
    spawned_by: int | None = None
    functions: frozenset[str] = frozenset()

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.hosts)

    @property
    def lacking(self) -> list[int]:
        """Ranks that wrote nothing."""
        return [rank for rank, host in enumerate(self.hosts) if host is None]

    @property
    def is_partial(self) -> bool:
        """Whether a rank may have sent more than is counted."""
        return bool(self.unended or self.lacking)

    def matrix(self) -> dict[tuple[int, int], Sent]:
        """Return transfers between ranks of this world."""
        return _summed(
            ((flow.sender.rank, flow.receiver.rank), sent)
            for flow, sent in self.pairs.items()
            if not self.is_outside(flow)
        )

    def is_outside(self, flow: Flow) -> bool:
        """Return whether one end belongs to another world."""
        return flow.sender.world != self.number or flow.receiver.world != self.number

    def outside(self) -> dict[tuple[Rank, Rank], Sent]:
        """Return transfers to or from ranks of other worlds."""
        return _summed(
            ((flow.sender, flow.receiver), sent)
            for flow, sent in self.pairs.items()
            if self.is_outside(flow)
        )

    def total(self, kind: str) -> Sent:
        """Return the sum of transfers of a kind."""
        return sum((sent for flow, sent in self.pairs.items() if flow.kind == kind), start=Sent())


World = dict[int, Process]
"""Processes of a world by rank."""


def put_together(found: Sequence[World]) -> list[Traffic]:
    """Return the transfers of each world."""
    links = _links(found)
    return [_traffic(number, world, links) for number, world in enumerate(found, 1)]


def worlds(folder: Path) -> list[World]:
    """Read the processes in a folder, by world, in order of their start.

    Raise UserError if no process wrote counts, or if each rank of a launcher ran alone.
    """
    paths = sorted(path for path in folder.glob("rank-*") if not path.suffix)
    processes = [found for path in paths if (found := process.read(path)) is not None]
    if not processes:
        raise UserError(Problem(_ABOUT, "no rank wrote message counts", FINALIZE))
    for one in processes:
        launched, job = int(one.about["launched"]), one.about["job"]
        fellows = [other for other in processes if other.about["job"] == job]
        if launched > 1 and len(fellows) > 1 and all(it.about["ranks"] == 1 for it in fellows):
            what = f"{len(fellows)} processes ran separately, each as rank 0 of 1"
            remedy = "use the launcher of the MPI library that the program is linked with"
            raise UserError(Problem(_ABOUT, what, remedy))
    return _worlds(processes)


def _worlds(processes: Iterable[Process]) -> list[World]:
    """Group processes by world: each job by rank, in order of their start.

    A repeated rank begins another world, because launchers may not name their jobs.
    """
    worlds: list[World] = []
    of_jobs: dict[tuple[str, int], list[World]] = {}
    for one in sorted(processes, key=lambda one: float(one.about["time"])):
        known = of_jobs.setdefault((one.about["job"], one.about["ranks"]), [])
        world = next((world for world in known if one.rank not in world), None)
        if world is None:
            world = {}
            known.append(world)
            worlds.append(world)
        world[one.rank] = one
    return worlds


Links = Mapping[tuple[int, int, int], Sequence[Rank]]
"""Ranks of a group, by world, rank, and group."""


@dataclass(frozen=True)
class _Side:
    """One side of a connection between two worlds: its ranks, each with the group of the other
    side.

    tokens: identify the connection on both sides. children: the side that was spawned.
    """

    how: str
    tokens: frozenset[str]
    members: tuple[Rank, ...]
    groups: Mapping[int, int]
    size: int


_OTHER_SIDE = {"spawns": "spawned", "accepts": "connects"}


def _links(worlds: Sequence[World]) -> Links:
    """Match groups with ranks, if the values of both sides identify exactly one other side."""
    sides = [side for number, world in enumerate(worlds, 1) for side in _sides(number, world)]
    found: dict[tuple[int, int, int], Sequence[Rank]] = {}
    for one in sides:
        others = [it for it in sides if it.how == _OTHER_SIDE.get(one.how) and _fit(one, it)]
        if (
            len(others) != 1
            or sum(1 for it in sides if it.how == one.how and _fit(it, others[0])) != 1
        ):
            continue
        for here, there in ((one, others[0]), (others[0], one)):
            for rank, group in here.groups.items():
                assert here.members[0].world is not None
                found[here.members[0].world, rank, group] = there.members
    return found


def _fit(one: _Side, other: _Side) -> bool:
    sizes = one.size == len(other.members) and other.size == len(one.members)
    return sizes and bool(one.tokens & other.tokens)


def _sides(number: int, world: World) -> Iterator[_Side]:
    """Yield the sides that a world's ranks were on: each rank has them in the same
    order, by root.
    """
    together: dict[tuple[str, int, tuple[int, ...], int], list[tuple[int, Mapping[str, Any]]]] = {}
    for rank, one in sorted(world.items()):
        seen: dict[tuple[str, int, tuple[int, ...]], int] = {}
        for group in one.groups():
            how = next(one for one in ("spawns", "spawned", "accepts", "connects") if one in group)
            key = (how, int(group["root"]), tuple(group["ranks"]))
            seen[key] = seen.get(key, 0) + 1
            together.setdefault((*key, seen[key]), []).append((rank, group))
    for (how, _, ranks, _), said in together.items():
        every = [one[how] if isinstance(one[how], list) else [one[how]] for _, one in said]
        tokens = {token for tokens in every for token in tokens if token}
        # each rank saw all spawns in progress; the value of all ranks is its own
        if how == "spawned":
            tokens = set[str].intersection(*map(set, every))
        groups = {rank: int(group["group"]) for rank, group in said}
        members = tuple(Rank(number, rank) for rank in ranks)
        yield _Side(how, frozenset(tokens), members, groups, int(said[0][1]["size"]))


def _traffic(number: int, world: World, links: Links) -> Traffic:
    first = next(iter(world.values()))
    pairs: dict[Flow, Sent] = {}
    tables: dict[str, dict[tuple[str, str], Sent]] = {"collective": {}, "file": {}}
    uncounted: dict[str, int] = {}
    for rank, one in sorted(world.items()):
        own = Rank(number, rank)
        for line, sent in one.counts:
            if line.way == "uncounted":
                uncounted[line.name] = uncounted.get(line.name, 0) + sent.messages
            elif line.way in tables:
                table, key = tables[line.way], (line.phase, line.name)
                table[key] = table.get(key, Sent()) + sent
            elif line.way != "time":
                peer = Rank(number, line.rank)
                if line.group != 0:
                    known = links.get((number, rank, line.group))
                    peer = known[line.rank] if known else Rank(None, line.rank)
                ends = (own, peer) if line.way == "to" else (peer, own)
                flow = Flow(line.phase, *ends, line.name)
                pairs[flow] = pairs.get(flow, Sent()) + sent
    ranks = int(first.about["ranks"])
    parents = {
        known[0].world
        for rank, one in world.items()
        for group in one.groups()
        if "spawned" in group and (known := links.get((number, rank, int(group["group"]))))
    }
    return Traffic(
        number,
        tuple(str(world[rank].about["host"]) if rank in world else None for rank in range(ranks)),
        pairs,
        tables["collective"],
        tables["file"],
        uncounted,
        tuple(rank for rank, one in sorted(world.items()) if not one.has_ended),
        next(iter(parents), None),
        frozenset(
            line.name for one in world.values() for line, _ in one.counts if line.way == "time"
        ),
    )


def _summed(found: Iterable[tuple[_Of, Sent]]) -> dict[_Of, Sent]:
    sums: dict[_Of, Sent] = {}
    for key, sent in found:
        sums[key] = sums.get(key, Sent()) + sent
    return sums


_NOUNS = {
    MESSAGE: ("message", "messages"),
    NEIGHBOUR: ("neighbourhood message", "neighbourhood messages"),
    ONE_SIDED: ("one-sided transfer", "one-sided transfers"),
}


def summary(traffic: Traffic) -> str:
    """Return totals of messages and bytes as one line."""
    hosts = {host for host in traffic.hosts if host is not None}
    where = f"{count(traffic.ranks, 'rank')} on {count(len(hosts), 'node')}"
    totals = {kind: traffic.total(kind) for kind in KINDS}
    sent = [
        f"{count(total.messages, *_NOUNS[kind])} with {total.bytes:,} bytes"
        for kind, total in totals.items()
        if total.messages
    ]
    if not sent:
        if traffic.collectives or traffic.files or traffic.uncounted:
            return f"{where}: no messages between ranks"
        if traffic.functions:  # for example a world that receives from the one that spawned it
            return f"{where}: no messages sent"
        return f"{where}: no messages between ranks; no rank called an MPI function that moves data"
    pairs = count(len(traffic.matrix()) + len(traffic.outside()), "pair")
    return f"{where}: {', '.join(sent)} between {pairs} of ranks"
