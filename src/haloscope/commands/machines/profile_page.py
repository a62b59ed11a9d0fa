# SPDX-License-Identifier: BSD-3-Clause
"""The page of `profile`: time in MPI, waits, messages, sizes, communicators, and call sites."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.profiling.document import ProfileJson, WorldJson
from haloscope.profiling.waits import AT_COLLECTIVE, KINDS
from haloscope.quantities import count, listed, percent, seconds, size
from haloscope.records.folder import require_enclosed
from haloscope.report.document import Document, Section
from haloscope.report.draw import html
from haloscope.report.draw.figures.panels import draw_all
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged
from haloscope.topics.common.figure import Bars, Figure
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain

MOST_RANKS = 64
"""MOST_RANKS is the maximum number of ranks in the page's matrix: traffic.png has all."""
MOST_PRINTED = 16
"""MOST_PRINTED is the maximum number of ranks in a printed matrix: more do not fit on a line."""
MOST_ROWS = 12
"""MOST_ROWS is the maximum number of printed rows of other tables, the largest first."""
_NOT_PRINTED = ("ranks", "sizes")
_LONG = 30
_METHOD = (
    "Time in MPI: inside calls that the program makes, from the end of MPI_Init to MPI_Finalize. "
    "Calls that the library makes itself are part of the program's call.",
    "Late sender: a receive, or a wait for one, begins before its message is sent. Late receiver: "
    "a send blocks until its receive is posted. Wait at collective: a rank enters a blocking "
    "collective operation before the ranks whose data it needs. These are Scalasca's definitions.",
    "Waits are estimates from the times of both ranks' calls. The n-th message with a sender, "
    "receiver, tag, and communicator matches the n-th receive. They include any delay of the "
    "other rank, such as other programs on its core.",
)


def _is_known(data: WorldJson, wait: str) -> bool:
    known = data.waits_known
    return bool(known.collective_calls if wait == AT_COLLECTIVE else known.messages)


def _unknown_waits(data: WorldJson) -> Iterator[str]:
    """Yield why waits of some messages or collective operations are unknown."""
    known = data.waits_known
    parts = [
        f"{f'{covered:,}' if covered else 'none'} of {count(every, noun)}"
        for covered, every, noun in (
            (known.messages, known.of_messages, "message"),
            (known.collective_calls, known.of_collective_calls, "collective call"),
        )
        if covered < every
    ]
    if parts:
        why = f" ({'; '.join(known.reasons)})" if known.reasons else ""
        yield f"waits are lower bounds: known for {' and '.join(parts)}{why}"


def write(page: Document, directory: Path) -> Path:
    """Write report.html; return its path."""
    require_enclosed(directory)
    return html.write(page, draw_all(page.figures), directory)


def printed(page: Document) -> Iterator[Table]:
    """Yield the tables to print, without those by rank and size, and the largest rows of each."""
    for table in page.tables:
        name, more = table.id.rpartition("-")[0], len(table.rows) - MOST_ROWS
        if name == "matrix" and len(table.rows) <= MOST_PRINTED:
            yield table
        elif name != "matrix" and name not in _NOT_PRINTED:
            notes = (f"{count(more, 'more row')} in report.html.",) if more > 0 else ()
            yield replace(table, rows=table.rows[:MOST_ROWS], notes=notes)


def document(profile: ProfileJson) -> Document:
    """Return the page as data."""
    sections, first, drawn = [], 1, 0
    for world in profile.worlds:
        where = f" of world {world.world}" if len(profile.worlds) > 1 else ""
        tables = tuple(table for table in _tables(world) if table.rows)
        if tables:
            section = f"world-{world.world}"
            title = f"MPI{where}: {count(world.ranks, 'rank')}"
            figures = tuple(filter(None, [_figure(world)]))
            sections.append(Section(section, title, figures, tables, drawn + 1, first))
            first, drawn = first + len(tables), drawn + len(figures)
    lines = [line for world in profile.worlds for line in _left_out(world)]
    ranks = sum(world.ranks for world in profile.worlds)
    hosts = {host for world in profile.worlds for host in world.hosts if host}
    run = sum(value or 0.0 for world in profile.worlds for value in world.run_s)
    in_mpi = sum(value or 0.0 for world in profile.worlds for value in world.mpi_s)
    share = percent(in_mpi / run if run else 0.0)
    return Document(
        title=f"Profile: {shlex.join(profile.command)}",
        summary=f"{count(ranks, 'rank')} on {count(len(hosts), 'node')}. "
        f"{share} of the run time in MPI.",
        findings=tuple(arranged([*_findings(profile, run)], 1)),
        sections=tuple(sections),
        left_out=tuple(lines),
        machine=(),
        toolchains=(),
        method=_METHOD,
        provenance=(
            ("command", shlex.join(profile.command)),
            ("exit code", str(profile.exit_code)),
        ),
    )


def _findings(profile: ProfileJson, run: float) -> Iterator[Finding]:
    functions = _functions(profile.worlds)
    if not functions or not run:
        return
    metric, topic = Metric("time of all ranks"), f"world-{profile.worlds[0].world}"
    shares = {_OUTSIDE: 1 - sum(functions.values()) / run}
    shares |= {name: value / run for name, value in [*functions.items()][:_SHOWN]}
    whole = Claim(estimate=Estimate.alone(run))
    parts = [Claim({"function": name}, share=share) for name, share in shares.items()]
    shape = FindingShape.BREAKDOWN
    yield Finding("Run time of all ranks", shape, (whole, *parts), metric, topic, kind="functions")
    waited = _summed((one for world in profile.worlds for one in world.waits), "kind", "seconds")
    if waited:
        whole = Claim(estimate=Estimate.alone(sum(time for (time,) in waited.values())))
        parts = [Claim({"wait": kind}, share=time / run) for (kind,), (time,) in waited.items()]
        question = "Waits for other ranks, and their share of the run time"
        yield Finding(question, shape, (whole, *parts), metric, topic, kind="waits")


def _functions(worlds: Iterable[WorldJson]) -> dict[str, float]:
    found = _summed((one for world in worlds for one in world.time), "function", "seconds")
    return {name: time for (name,), (time,) in found.items()}


def _summed(rows: Iterable[object], keys: str, values: str) -> dict[tuple[Any, ...], list[Any]]:
    """Return the sums of some values of rows by other ones; the largest last sum is first."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        key = tuple(getattr(row, name) for name in keys.split())
        own = [getattr(row, name) for name in values.split()]
        found[key] = [sum(both) for both in zip(found.get(key, [0] * len(own)), own, strict=True)]
    return dict(sorted(found.items(), key=lambda item: -item[1][-1]))


def _figure(world: WorldJson) -> Figure | None:
    longest = [*_functions([world])][:_SHOWN]
    run = [value or 0.0 for value in world.run_s]
    if not longest or world.ranks > MOST_RANKS or 0.0 in run:
        return None
    names = [_OUTSIDE, *longest, _OTHERS]
    times = {name: [0.0] * world.ranks for name in names}
    for one in world.time:
        times[one.function if one.function in longest else _OTHERS][one.rank] += one.seconds
    for rank, whole in enumerate(run):
        times[_OUTSIDE][rank] = max(0.0, whole - sum(own[rank] for own in times.values()))
    if not any(times[_OTHERS]):
        names.remove(_OTHERS)
    panel = Bars(
        "ranks",
        "",
        tuple(f"rank {rank}" for rank in range(world.ranks)),
        tuple(
            (name, tuple(part / whole for part, whole in zip(times[name], run, strict=True)))
            for name in names
        ),
        tuple(map(seconds, run)),
    )
    alt = f"{count(world.ranks, 'rank')}: time outside MPI and in {listed(longest)}."
    return Figure("profile", "Run time by rank", (panel,), alt, id=f"ranks-{world.world}")


_SHOWN = 4
_OUTSIDE, _OTHERS = "outside MPI", "other MPI functions"


def _left_out(world: WorldJson) -> Iterator[str]:
    where = f"World {world.world}"
    silent = [rank for rank, host in enumerate(world.hosts) if host is None]
    for ranks, why in (
        (world.unended, "did not reach MPI_Finalize (counted up to the last call)"),
        (silent, "wrote no counts"),
    ):
        if ranks:
            shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
            yield f"{where} is partial: {'rank' if len(ranks) == 1 else 'ranks'} {shown} {why}."
    for one in world.uncounted:
        yield f"{where}: {one.calls:,} {one.function} not counted."
    yield from (f"{where}: {line}." for line in _unknown_waits(world))


def _tables(world: WorldJson) -> Iterator[Table]:
    yield _time(world)
    yield _ranks(world)
    yield _waits(world)
    yield _phases(world)
    yield _outside(world)
    yield _matrix(world)
    operations = [
        (one.phase, one.operation, _number(one.calls), _bytes(one.bytes))
        for one in sorted((*world.collectives, *world.files), key=lambda one: -one.bytes)
    ]
    yield _table(
        *(world, "operations", "Collective and file operations"),
        ("phase", "operation", "calls", "bytes"),
        operations,
        2,
    )
    sizes = [
        (
            one.name,
            f"{size(one.from_bytes)} to {size(one.to_bytes)}" if one.to_bytes else size(0),
            _number(one.messages),
            _bytes(one.bytes),
        )
        for one in world.sizes
    ]
    yield _table(
        *(world, "sizes", "Sizes of messages and operations"),
        ("name", "size", "number", "bytes"),
        sizes,
        2,
    )
    comms = [
        (
            one.communicator,
            _number(one.messages),
            _bytes(one.bytes),
            _number(one.collectives),
            _seconds(one.seconds),
        )
        for one in world.communicators
    ]
    titles = ("communicator", "messages", "bytes", "collective calls", "time")
    yield _table(world, "communicators", "Communicators", titles, comms, 1)
    sites = [
        (one.site, one.function, _number(one.calls), _seconds(one.seconds)) for one in world.sites
    ]
    columns = ("call site", "function", "calls", "time")
    yield _table(world, "sites", "Call sites", columns, sites, 2)


def _time(world: WorldJson) -> Table:
    run = sum(value or 0.0 for value in world.run_s)
    of_ranks = _summed(world.time, "function rank", "seconds")
    rows = []
    for (name,), (calls, total) in _summed(world.time, "function", "calls seconds").items():
        own = [of_ranks.get((name, rank), [0.0])[0] for rank in range(world.ranks)]
        longest = f"{seconds(max(own))} (rank {own.index(max(own))})"
        times = (_seconds(total), _percent(total, run), _seconds(min(own)))
        rows.append((name, _number(calls), *times, plain(max(own), longest)))
    titles = ("function", "calls", "all ranks", "of run time", "least rank", "longest rank")
    return _table(world, "time", "Time in MPI by function", titles, rows, 1)


def _ranks(world: WorldJson) -> Table:
    waited = _summed(world.waits, "rank kind", "seconds")
    rows: list[tuple[str | Cell, ...]] = [
        (
            str(rank),
            world.hosts[rank] or "",
            *(missing() if value is None else _seconds(value) for value in (run, in_mpi)),
            *(
                _seconds(waited.get((rank, kind), [0.0])[0])
                if _is_known(world, kind)
                else missing()
                for kind in KINDS
            ),
        )
        for rank, (run, in_mpi) in enumerate(zip(world.run_s, world.mpi_s, strict=True))
    ]
    titles = ("rank", "node", "run time", "in MPI", *KINDS)
    return _table(world, "ranks", "Time by rank", titles, rows, 2)


def _waits(world: WorldJson) -> Table:
    run = sum(value or 0.0 for value in world.run_s)
    sums = _summed(world.waits, "kind function phase", "calls seconds")
    rows = [
        (*key, _number(calls), _seconds(total), _percent(total, run))
        for key, (calls, total) in sums.items()
    ]
    titles = ("wait", "function", "phase", "calls", "all ranks", "of run time")
    return _table(world, "waits", "Waits for other ranks", titles, rows, 3)


def _phases(world: WorldJson) -> Table:
    pairs = _summed(world.traffic, "phase kind from_world sender to_world receiver", "messages")
    pairs_of = Counter(key[:2] for key in pairs)
    rows = [
        (
            *key,
            _number(messages),
            _bytes(sent),
            _number(pairs_of[key]),
            _bytes(round(sent / messages)),
        )
        for key, (messages, sent) in _summed(world.traffic, "phase kind", "messages bytes").items()
    ]
    titles = ("phase", "kind", "messages", "bytes", "pairs", "mean message")
    return _table(world, "phases", "Messages by phase", titles, rows, 2)


def _outside(world: WorldJson) -> Table:
    sums = _summed(world.traffic, "from_world sender to_world receiver", "messages bytes")
    rows: list[tuple[str | Cell, ...]] = [
        (_rank(*key[:2]), _rank(*key[2:]), _number(messages), _bytes(sent))
        for key, (messages, sent) in sums.items()
        if {key[0], key[2]} != {world.world}
    ]
    titles = ("from", "to", "messages", "bytes")
    return _table(world, "outside", "Messages between worlds", titles, rows, 2)


def _rank(world: int | None, rank: int) -> str:
    return f"rank {rank} of {'another world' if world is None else f'world {world}'}"


def _matrix(world: WorldJson) -> Table:
    sums = _summed(world.traffic, "from_world to_world sender receiver", "bytes")
    own = (world.world, world.world)
    cells = {key[2:]: sent for key, (sent,) in sums.items() if key[:2] == own}
    every = range(world.ranks if cells and world.ranks <= MOST_RANKS else 0)
    rows: list[tuple[str | Cell, ...]] = [
        (
            str(sender),
            *(_bytes(cells[sender, to]) if (sender, to) in cells else missing(".") for to in every),
        )
        for sender in every
    ]
    titles = ("from", *(f"to {rank}" for rank in every))
    return _table(world, "matrix", "Bytes between ranks", titles, rows, 1)


def _number(value: int) -> Cell:
    return plain(value, f"{value:,}")


def _bytes(value: int) -> Cell:
    return plain(value, size(value))


def _seconds(value: float) -> Cell:
    return plain(value, seconds(value))


def _percent(part: float, whole: float) -> Cell:
    return plain(part / whole if whole else None, percent(part / whole if whole else 0.0))


def _table(
    world: WorldJson,
    name: str,
    title: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    stub: int,
) -> Table:
    columns = tuple(
        Column(f"{name}-{at}", text, align="left" if at < stub else "right")
        for at, text in enumerate(titles)
    )
    cells = tuple(
        tuple(label(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
    folded = len(cells) > _LONG
    return Table(
        f"{name}-{world.world}", "profile", title, columns, cells, stub=stub, folded=folded
    )
