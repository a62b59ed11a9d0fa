# SPDX-License-Identifier: BSD-3-Clause
"""profile.json: all that was counted, for programs; the rows of CSV files are its lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from haloscope.profiling.process import CallPlace, Sent
from haloscope.profiling.traffic import Flow, Traffic
from haloscope.profiling.usage import CallsOfRank, Spent, Usage, bounds, total


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, populate_by_name=True, serialize_by_alias=True, defer_build=True
    )


class MessageTotal(_Model):
    """What a rank sent to a rank. Worlds are null where they are not known."""

    phase: str
    sender: int = Field(alias="from")
    receiver: int = Field(alias="to")
    messages: int
    bytes: int
    kind: str
    from_world: int | None
    to_world: int | None


class Operation(_Model):
    """Calls of all ranks of a collective operation, or of one of files, and their bytes."""

    phase: str
    operation: str
    calls: int
    bytes: int


class Uncounted(_Model):
    """Calls that move data in a way that is not counted."""

    function: str
    calls: int


class Time(_Model):
    """Time of a rank in an MPI function."""

    phase: str
    function: str
    rank: int
    communicator: str | None
    calls: int
    seconds: float


class Size(_Model):
    """MessageTotal of a kind, or calls of an operation, whose bytes are in a range."""

    name: str
    from_bytes: int
    to_bytes: int
    messages: int
    bytes: int


class CommunicatorUse(_Model):
    """What went over a communicator."""

    communicator: str
    ranks: int
    messages: int
    bytes: int
    collectives: int
    collective_bytes: int
    seconds: float


class WaitTime(_Model):
    """Time that a rank waited for others in an MPI function."""

    kind: str
    phase: str
    function: str
    rank: int
    calls: int
    seconds: float


class SiteTime(_Model):
    """Calls of an MPI function by all ranks from one place in the source."""

    site: str
    function: str
    calls: int
    seconds: float


class WaitCoverage(_Model):
    """How many messages and calls of collective operations have known waits, and why others not."""

    messages: int
    of_messages: int
    collective_calls: int
    of_collective_calls: int
    reasons: tuple[str, ...]


class WorldJson(_Model):
    """The ranks of one MPI_COMM_WORLD. run_s, mpi_s: by rank; null where a rank wrote nothing."""

    world: int
    ranks: int
    hosts: tuple[str | None, ...]
    partial: bool
    unended: tuple[int, ...]
    spawned_by: int | None
    run_s: tuple[float | None, ...]
    mpi_s: tuple[float | None, ...]
    traffic: tuple[MessageTotal, ...]
    collectives: tuple[Operation, ...]
    files: tuple[Operation, ...]
    uncounted: tuple[Uncounted, ...]
    time: tuple[Time, ...]
    sizes: tuple[Size, ...]
    communicators: tuple[CommunicatorUse, ...]
    waits: tuple[WaitTime, ...]
    waits_known: WaitCoverage
    sites: tuple[SiteTime, ...]


class ProfileJson(_Model):
    """What haloscope profile counted of a command."""

    schema_: str = Field("haloscope.profile/1", alias="schema")
    command: tuple[str, ...]
    exit_code: int
    worlds: tuple[WorldJson, ...]


LISTS: Mapping[str, type[BaseModel]] = {
    "traffic": MessageTotal,
    "collectives": Operation,
    "files": Operation,
    "uncounted": Uncounted,
    "time": Time,
    "sizes": Size,
    "communicators": CommunicatorUse,
    "waits": WaitTime,
    "sites": SiteTime,
}
"""LISTS are those of a world that are CSV files, by their names."""


def of_world(found: Traffic, used: Usage, sites: Mapping[CallPlace, str] | None) -> WorldJson:
    """Return a world as data. sites: names of places in the source, if requested."""
    known, in_mpi = used.waits, _mpi_seconds(used)
    times: dict[tuple[str, str, int, str], Spent] = {}
    for function, spent in used.functions.items():
        comm = str(function.comm) if function.comm else ""
        key = (function.phase, function.name, function.rank, comm)
        times[key] = times.get(key, Spent()) + spent
    return WorldJson(
        world=found.number,
        ranks=found.ranks,
        hosts=found.hosts,
        partial=found.is_partial,
        unended=found.unended,
        spawned_by=found.spawned_by,
        run_s=tuple(used.seconds.get(rank) for rank in range(found.ranks)),
        mpi_s=tuple(in_mpi.get(rank) for rank in range(found.ranks)),
        traffic=tuple(_messages(found)),
        collectives=_operations(found.collectives),
        files=_operations(found.files),
        uncounted=tuple(
            Uncounted(function=name, calls=calls) for name, calls in sorted(found.uncounted.items())
        ),
        time=tuple(
            Time(
                phase=phase,
                function=name,
                rank=rank,
                communicator=comm or None,
                calls=spent.calls,
                seconds=spent.seconds,
            )
            for (phase, name, rank, comm), spent in sorted(times.items())
        ),
        sizes=tuple(_size(name, size, sent) for (name, size), sent in used.sizes.items()),
        communicators=tuple(_communicators(used)),
        waits=tuple(
            WaitTime(**vars(wait), calls=known.calls[wait], seconds=seconds)
            for wait, seconds in sorted(known.seconds.items(), key=lambda item: -item[1])
        ),
        waits_known=WaitCoverage(
            messages=known.messages,
            of_messages=known.of_messages,
            collective_calls=known.collectives,
            of_collective_calls=known.of_collectives,
            reasons=known.reasons,
        ),
        sites=tuple(_sites(used, sites or {})),
    )


def _mpi_seconds(used: Usage) -> dict[int, float]:
    found = dict.fromkeys(used.seconds, 0.0)
    for function, spent in used.functions.items():
        found[function.rank] += spent.seconds
    return found


def _messages(found: Traffic) -> Iterator[MessageTotal]:
    for flow, sent in sorted(found.pairs.items(), key=lambda item: _order(item[0])):
        yield MessageTotal(
            phase=flow.phase,
            sender=flow.sender.rank,
            receiver=flow.receiver.rank,
            messages=sent.messages,
            bytes=sent.bytes,
            kind=flow.kind,
            from_world=flow.sender.world,
            to_world=flow.receiver.world,
        )


def _order(flow: Flow) -> tuple[object, ...]:
    ends = ((end.world or 0, end.rank) for end in (flow.sender, flow.receiver))
    return (flow.phase, *ends, flow.kind)


def _operations(found: Mapping[tuple[str, str], Sent]) -> tuple[Operation, ...]:
    return tuple(
        Operation(phase=phase, operation=name, calls=sent.messages, bytes=sent.bytes)
        for (phase, name), sent in sorted(found.items())
    )


def _size(name: str, size: int, sent: Sent) -> Size:
    low, high = bounds(size)
    return Size(name=name, from_bytes=low, to_bytes=high, messages=sent.messages, bytes=sent.bytes)


def _communicators(used: Usage) -> Iterator[CommunicatorUse]:
    for comm, use in sorted(used.comms.items(), key=lambda item: -item[1].spent.seconds):
        yield CommunicatorUse(
            communicator=str(comm),
            ranks=len(comm.ranks),
            messages=use.messages.messages,
            bytes=use.messages.bytes,
            collectives=use.collectives.messages,
            collective_bytes=use.collectives.bytes,
            seconds=use.spent.seconds,
        )


def _sites(used: Usage, names: Mapping[CallPlace, str]) -> Iterator[SiteTime]:
    if not names:
        return

    def site(function: CallsOfRank) -> str:
        return f"{names[function.place]}\0{function.name}"

    for key, of_ranks in used.by(site).items():
        name, function = key.split("\0")
        spent = total(of_ranks)
        yield SiteTime(site=name, function=function, calls=spent.calls, seconds=spent.seconds)


def table(worlds: Sequence[WorldJson], name: str) -> list[list[str]]:
    """Return the rows of a CSV file: one list of each world, with its number and completeness.

    A MessageTotal already contains the worlds of both ends.
    """
    fields = LISTS[name].model_fields
    own = () if name == "traffic" else ("world",)
    rows = [[*(field.alias or key for key, field in fields.items()), *own, "partial"]]
    for world in worlds:
        number = [str(world.world)] if own else []
        for one in getattr(world, name):
            cells = [_text(getattr(one, key)) for key in fields]
            rows.append([*cells, *number, "yes" if world.partial else "no"])
    return rows


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.9f}" if isinstance(value, float) else str(value)
