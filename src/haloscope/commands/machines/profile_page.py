# SPDX-License-Identifier: BSD-3-Clause
"""The page of `profile`: time in MPI, waits, messages, sizes, communicators, and call sites."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.profiling.document import ProfileJson, WorldJson
from haloscope.profiling.waits import AT_COLLECTIVE, KINDS
from haloscope.quantities import count, listed, percent, seconds, size
from haloscope.records.folder import require_enclosed
from haloscope.report.document import Document
from haloscope.report.draw import html
from haloscope.report.draw.figures.panels import draw_all
from haloscope.report.section import Section
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged
from haloscope.topics.common.figure import Bars, Figure
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain

MOST_RANKS = 64
"""MOST_RANKS is the maximum number of ranks in the page's matrix: traffic.png has all."""
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


def waits(data: WorldJson) -> list[tuple[str, str, str]]:
    """Return each known kind of wait, its time, and its share of all ranks' run time."""
    run = sum(value or 0.0 for value in data.run_s)
    found = []
    for kind in KINDS:
        known = data.waits_known
        if known.collective_calls if kind == AT_COLLECTIVE else known.messages:
            total = sum(one.seconds for one in data.waits if one.kind == kind)
            found.append((kind, seconds(total), percent(total / run if run else 0.0)))
    return found


def unknown_waits(data: WorldJson) -> Iterator[str]:
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


def write(profile: ProfileJson, directory: Path) -> Path:
    """Write report.html; return its path."""
    require_enclosed(directory)
    page = document(profile)
    return html.write(page, draw_all(page.figures), directory)


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
    waited: dict[str, float] = {}
    for one in (one for world in profile.worlds for one in world.waits):
        waited[one.kind] = waited.get(one.kind, 0.0) + one.seconds
    if waited:
        whole = Claim(estimate=Estimate.alone(sum(waited.values())))
        parts = [Claim({"wait": kind}, share=time / run) for kind, time in waited.items()]
        question = "Waits for other ranks, and their share of the run time"
        yield Finding(question, shape, (whole, *parts), metric, topic, kind="waits")


def _functions(worlds: Iterable[WorldJson]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in (one for world in worlds for one in world.time):
        found[one.function] = found.get(one.function, 0.0) + one.seconds
    return dict(sorted(found.items(), key=lambda item: -item[1]))


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
    if world.partial:
        yield f"{where}: partial, some ranks did not reach MPI_Finalize or wrote no counts."
    for one in world.uncounted:
        yield f"{where}: {one.calls:,} {one.function} not counted."
    yield from (f"{where}: {line}." for line in unknown_waits(world))


def _tables(world: WorldJson) -> Iterator[Table]:
    yield _time(world)
    yield _ranks(world)
    yield _waits(world)
    yield _phases(world)
    yield _matrix(world)
    operations = [
        (one.phase, one.operation, _number(one.calls), _bytes(one.bytes))
        for one in (*world.collectives, *world.files)
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
    calls: dict[str, int] = {}
    times: dict[str, dict[int, float]] = {}
    for one in world.time:
        calls[one.function] = calls.get(one.function, 0) + one.calls
        own = times.setdefault(one.function, {})
        own[one.rank] = own.get(one.rank, 0.0) + one.seconds
    rows = [
        (
            name,
            _number(calls[name]),
            _seconds(sum(own.values())),
            _percent(sum(own.values()), run),
            _seconds(min(own.get(rank, 0.0) for rank in range(world.ranks))),
            _seconds(max(own.values())),
        )
        for name, own in sorted(times.items(), key=lambda item: -sum(item[1].values()))
    ]
    titles = ("function", "calls", "all ranks", "of run time", "least rank", "longest rank")
    return _table(world, "time", "Time in MPI by function", titles, rows, 1)


def _ranks(world: WorldJson) -> Table:
    waited: dict[tuple[int, str], float] = {}
    for one in world.waits:
        waited[one.rank, one.kind] = waited.get((one.rank, one.kind), 0.0) + one.seconds
    known = {kind for kind, _, _ in waits(world)}
    rows: list[tuple[str | Cell, ...]] = [
        (
            str(rank),
            world.hosts[rank] or "",
            *(missing() if value is None else _seconds(value) for value in (run, in_mpi)),
            *(
                _seconds(waited.get((rank, kind), 0.0)) if kind in known else missing()
                for kind in KINDS
            ),
        )
        for rank, (run, in_mpi) in enumerate(zip(world.run_s, world.mpi_s, strict=True))
    ]
    titles = ("rank", "node", "run time", "in MPI", *KINDS)
    return _table(world, "ranks", "Time by rank", titles, rows, 2)


def _waits(world: WorldJson) -> Table:
    run = sum(value or 0.0 for value in world.run_s)
    sums: dict[tuple[str, str, str], tuple[int, float]] = {}
    for one in world.waits:
        key = (one.kind, one.function, one.phase)
        calls, total = sums.get(key, (0, 0.0))
        sums[key] = (calls + one.calls, total + one.seconds)
    rows = [
        (*key, _number(calls), _seconds(total), _percent(total, run))
        for key, (calls, total) in sorted(sums.items(), key=lambda item: -item[1][1])
    ]
    titles = ("wait", "function", "phase", "calls", "all ranks", "of run time")
    return _table(world, "waits", "Waits for other ranks", titles, rows, 3)


def _phases(world: WorldJson) -> Table:
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for one in world.traffic:
        messages, sent = sums.get((one.phase, one.kind), (0, 0))
        sums[one.phase, one.kind] = (messages + one.messages, sent + one.bytes)
    rows = [
        (*key, _number(messages), _bytes(sent), _bytes(round(sent / messages)))
        for key, (messages, sent) in sorted(sums.items(), key=lambda item: -item[1][1])
    ]
    titles = ("phase", "kind", "messages", "bytes", "mean message")
    return _table(world, "phases", "Messages by phase", titles, rows, 2)


def _matrix(world: WorldJson) -> Table:
    cells: dict[tuple[int, int], int] = {}
    for one in world.traffic:
        if one.from_world == one.to_world == world.world:
            pair = (one.sender, one.receiver)
            cells[pair] = cells.get(pair, 0) + one.bytes
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
