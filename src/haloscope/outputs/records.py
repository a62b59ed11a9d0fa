# SPDX-License-Identifier: BSD-3-Clause
"""Convert the output of other benchmarks to records, of halobench's kernels if possible.

OSU's and IMB's ping-pong, bandwidth, and collective tests become cases of `pingpong` and
`collectives`, which time the same operations. All others become separate kernels, such as
`imb_exchange`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from typing import Any

from haloscope import __version__
from haloscope.errors import Problem, UserError, an_integer
from haloscope.layout import Layout
from haloscope.outputs.printed import Output, PrintedRun, SizeRow, slug
from haloscope.records import kernels
from haloscope.records.record import SCHEMA
from haloscope.study.case import Value, identity

_MODES = {
    ("imb", "PingPong"): "imb",
    ("osu", "MPI Latency"): "osu",
    ("osu", "MPI Bandwidth"): "stream",
    ("osu", "MPI Bi-Directional Bandwidth"): "bistream",
    ("osu", "MPI Multiple Bandwidth / Message Rate"): "stream",
}
_OPERATIONS = {
    "allreduce": "allreduce",
    "bcast": "bcast",
    "broadcast": "bcast",
    "reduce": "reduce",
    "all_to_all_personalized_exchange": "alltoall",
    "alltoall": "alltoall",
    "allgather": "allgather",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
}
_REDUCTIONS = ("allreduce", "reduce")
_WINDOW = 64
"""_WINDOW is the number of messages that OSU's bandwidth tests send before waiting, by default."""
_IN_FLIGHT_BYTES = 64 * 2**20
"""_IN_FLIGHT_BYTES is the maximum that `pingpong` sends before waiting, with large messages."""


@dataclass(frozen=True)
class ImportOptions:
    """Facts from the user that outputs do not contain; None if not given.

    nodes: number of nodes that share the ranks. host: name of the machine. toolchain: name of the
    library.
    """

    ranks: int | None = None
    nodes: int | None = None
    host: str | None = None
    toolchain: str | None = None


@dataclass(frozen=True)
class _Source:
    """A run with its file, and when the file was written (seconds since 1970).

    world: ranks of the command, if the run used only the first of them, as in IMB.
    """

    run: PrintedRun
    output: Output
    written: float
    world: int | None = None


def records(
    read: Sequence[tuple[Output, float, Sequence[PrintedRun]]], options: ImportOptions
) -> list[dict[str, Any]]:
    """Return a record for each run; runs with equal settings are launches of one case, in order.

    Reductions of another datatype are another case. read: each file, its time, and its runs. Tables
    of several collective operations on the same number of ranks form one launch, as with operation
    = all. Raise UserError if the number of ranks is unknown.
    """
    sources = [_Source(run, output, at, _world(runs)) for output, at, runs in read for run in runs]
    _check_ranks(sources, options)
    launches: dict[str, int] = {}
    made = []
    for raw in (*_together(sources, options), *_each(sources, options)):
        number = launches.get(raw["case"], 0)
        launches[raw["case"]] = number + 1
        made.append({**raw, "launch": number})
    return made


def _world(runs: Sequence[PrintedRun]) -> int | None:
    return max((run.ranks or 0 for run in runs if run.tool == "imb"), default=0) or None


def _check_ranks(sources: Sequence[_Source], options: ImportOptions) -> None:
    """Raise UserError if every run has its ranks, and --ranks contradicts one."""
    if options.ranks is None or not all(one.run.ranks for one in sources):
        return
    for one in sources:
        if one.run.ranks != options.ranks:
            ran = f"'{one.run.benchmark}' ran on {one.run.ranks} ranks"
            what = f"{ran}, but --ranks is {options.ranks}"
            raise UserError(Problem(f"{one.output.name}:{one.run.line}", what, "remove --ranks"))


def _operation(run: PrintedRun) -> str | None:
    name = re.sub(r"^MPI (.*) Latency$", r"\1", run.benchmark)
    return _OPERATIONS.get(slug(name)) if run.tool in ("osu", "imb") and run.rows else None


def _together(sources: Sequence[_Source], options: ImportOptions) -> Iterator[dict[str, Any]]:
    """Yield launches of `collectives`: the first table of each operation, then the second of each
    ...
    """
    groups: dict[tuple[str, int, Value | None], dict[str, list[_Source]]] = {}
    collectives = [(one, operation) for one in sources if (operation := _operation(one.run))]
    added: dict[tuple[str, int], Value] = {}  # the datatype of the first reduction
    for source, operation in sorted(collectives, key=lambda one: one[1] not in _REDUCTIONS):
        key = (source.run.tool, _layout(source, options).ranks)
        datatype = added.get(key)
        if operation in _REDUCTIONS and (datatype := source.run.params.get("datatype")):
            added.setdefault(key, datatype)
        groups.setdefault((*key, datatype), {}).setdefault(operation, []).append(source)
    for (_, _, datatype), operations in groups.items():
        name = "all" if len(operations) > 1 else next(iter(operations))
        for number in range(max(map(len, operations.values()))):
            own = {key: each[number] for key, each in operations.items() if number < len(each)}
            yield _collectives(name, own, datatype, options)


def _collectives(
    name: str, own: Mapping[str, _Source], datatype: Value | None, options: ImportOptions
) -> dict[str, Any]:
    points = [
        _point(row, operation, _time(row), {"latency_s": _time(row), **row.results})
        for operation, source in own.items()
        for row in source.run.rows
    ]
    sizes = _sizes({row.size_bytes for source in own.values() for row in source.run.rows} - {0})
    given: dict[str, Any] = {"operation": name, "sizes": sizes or "8"}
    given |= {"synchronisation": "barrier"} | ({"datatype": datatype} if datatype else {})
    result = {f"{operation}_s": _time(one.run.rows[0]) for operation, one in own.items()}
    return _swept("collectives", given, points, result, [*own.values()], options)


def _each(sources: Sequence[_Source], options: ImportOptions) -> Iterator[dict[str, Any]]:
    for source in sources:
        run = source.run
        if _operation(run):
            continue
        if run.rows and (mode := _MODES.get((run.tool, run.benchmark))):
            yield _pingpong(mode, source, options)
        elif run.rows:
            yield _table(source, options)
        else:
            yield _summary(source, options)


def _pingpong(mode: str, source: _Source, options: ImportOptions) -> dict[str, Any]:
    """Return the record of a ping-pong; a step is a round trip, or a window of messages."""
    run = source.run
    window, pairs = (
        int(run.params.get(k, usual)) for k, usual in (("window", _WINDOW), ("pairs", 1))
    )
    points = []
    for row in run.rows:
        if mode in ("imb", "osu"):
            messages, time = 1, 2 * _time(row)
            latency, speed, sent = _time(row), row.size_bytes / _time(row), 2 * row.size_bytes
        else:
            fitting = max(2, _IN_FLIGHT_BYTES // max(1, row.size_bytes))
            messages, latency = min(window, fitting), None
            speed, ways = row.results["bandwidth_bytes_per_s"], 2 if mode == "bistream" else 1
            sent = messages * pairs * ways * row.size_bytes
            time = sent / speed
        rate = speed / row.size_bytes if row.size_bytes else 1 / _time(row)
        own = {"latency_s": latency, "bandwidth_bytes_per_s": speed, "messages_per_s": rate}
        more = {name: value for name, value in row.results.items() if name not in own}
        more.pop("latency_mean_s", None)  # the latency itself
        point = _point(row, None, time, {**own, **more})
        points.append({**point, "bytes": float(sent), "messages": messages, "checked_messages": 0})
    results = [point["result"] for point in points]
    best = {name: max(one[name] for one in results) for name in results[0] if name in _RATES}
    both = ",".join(f"{first}-{first + pairs}" for first in range(pairs))
    given: dict[str, Any] = {"mode": mode, "sizes": _sizes({row.size_bytes for row in run.rows})}
    given |= {"window": window, "pairs": both}
    smallest = min(points, key=lambda point: point["size_bytes"])["result"]["latency_s"]
    return _swept("pingpong", given, points, {"latency_s": smallest, **best}, [source], options)


_RATES = ("bandwidth_bytes_per_s", "messages_per_s")


def _table(source: _Source, options: ImportOptions) -> dict[str, Any]:
    run = source.run
    points = [_point(row, None, _time(row), row.results) for row in run.rows]
    raw = _record(_kernel(run), run.params, [source], options)
    names = dict.fromkeys(name for row in run.rows for name in row.results)
    units = {name: unit for name in names if (unit := _unit(name))}
    total = sum(point["times_s"][0] for point in points)
    return {**raw, "points": points, "times_s": [total], **_program(source, units)}


def _summary(source: _Source, options: ImportOptions) -> dict[str, Any]:
    run = source.run
    raw = _record(_kernel(run), run.params, [source], options)
    phases = [
        {"name": name, "time_s": {"mean": time}, "model_s": None}
        for name, time in run.phases.items()
    ]
    times = {"times_s": [] if run.time_s is None else [run.time_s], "steps": 1, "phases": phases}
    return {**raw, **times, "result": dict(run.results), **_program(source, run.units)}


def _swept(
    kernel: str,
    given: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    result: Mapping[str, Any],
    sources: Sequence[_Source],
    options: ImportOptions,
) -> dict[str, Any]:
    params = {**kernels.defaults(kernel), **given, "repetitions": 1}
    raw = _record(kernel, params, sources, options)
    total = sum(point["times_s"][0] for point in points)
    return {**raw, "points": [*points], "times_s": [total], "result": dict(result)}


def _point(
    row: SizeRow, operation: str | None, time_s: float, result: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "size_bytes": row.size_bytes,
        "operation": operation,
        "steps": row.repetitions or 1,
        "times_s": [time_s],
        "bytes": float(row.size_bytes),
        "result": dict(result),
    }


def _time(row: SizeRow) -> float:
    """Return the seconds of a row; from a bandwidth, those of its bytes."""
    if row.time_s is not None:
        return row.time_s
    return row.size_bytes / row.results["bandwidth_bytes_per_s"]


def _kernel(run: PrintedRun) -> str:
    """Return the name of a separate kernel: "imb_exchange", "osu_mpi_put_latency", "hpcg"."""
    own = slug(run.benchmark.removeprefix("MPI ") if run.tool == "osu" else run.benchmark)
    return own if own == run.tool else f"{run.tool}_{own}"


def _unit(name: str) -> str:
    endings = {"_bytes_per_s": "B/s", "messages_per_s": "1/s", "_s": "s"}
    return next((unit for end, unit in endings.items() if name.endswith(end)), "")


def _sizes(sizes: set[int]) -> str:
    """Format sizes as in a study, with ranges of doubling sizes: "0:4M"."""
    parts: list[list[int]] = []
    for size in sorted(sizes):
        if parts and size == (2 * parts[-1][-1] or 1):
            parts[-1].append(size)
        else:
            parts.append([size])
    return ",".join(
        f"{_size(part[0])}:{_size(part[-1])}" if len(part) > 1 else _size(part[0]) for part in parts
    )


def _size(size: int) -> str:
    for letter, factor in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if size and size % factor == 0:
            return f"{size // factor}{letter}"
    return str(size)


def _layout(source: _Source, options: ImportOptions) -> Layout:
    run = source.run
    ranks = run.ranks or options.ranks
    if ranks is None:
        what = f"the output of '{run.benchmark}' does not state the number of ranks"
        where = f"{source.output.name}:{run.line}"
        raise UserError(Problem(where, what, "add --ranks N"))
    nodes = options.nodes or run.nodes or 1
    if source.world and ranks < source.world:  # the first ranks, which fill node after node
        nodes = ceil(ranks / ceil(source.world / nodes))
    if nodes > ranks:
        what = f"{ranks} ranks cannot run on {nodes} nodes"
        raise UserError(Problem(f"--nodes {nodes}", what, an_integer(1, ranks)))
    layout = Layout.of(ranks, nodes, threads=run.threads or 1)
    return replace(layout, tasks=None) if layout.even else layout


def _record(
    kernel: str, params: Mapping[str, Any], sources: Sequence[_Source], options: ImportOptions
) -> dict[str, Any]:
    first = sources[0]
    layout = _layout(first, options)
    toolchain = options.toolchain or first.run.toolchain or "unknown"
    at = datetime.fromtimestamp(first.run.at or first.written, UTC)
    moment = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    failures = [run.failure for run in (one.run for one in sources) if run.failure]
    return {
        "schema": SCHEMA,
        "case": identity(kernel, params, layout, toolchain, None),
        "kernel": kernel,
        "params": dict(params),
        "layout": {
            **layout.as_recorded(),
            "ranks": layout.ranks,
            "oversubscribed": False,
            "seen": [],
        },
        "toolchain": {"name": toolchain},
        "transport": None,
        "clock": "wall",
        "outcome": "wrong" if failures else "ok",
        "reason": "; ".join(failures) or None,
        "runner": "import",
        "machine": {"host": options.host or first.run.host or "unknown"},
        "started": moment,
        "ended": moment,
        "haloscope": __version__,
        "imported": _imported(sources),
    }


def _imported(sources: Sequence[_Source]) -> dict[str, Any]:
    outputs = {one.output.name: one.output for one in sources}
    content = hashlib.sha256("\0".join(one.text for one in outputs.values()).encode())
    first = sources[0].run
    return {
        "tool": first.tool,
        "benchmark": "; ".join(dict.fromkeys(one.run.benchmark for one in sources)),
        "version": first.version,
        "files": [*outputs],
        "lines": [one.run.line for one in sources],
        "hash": content.hexdigest()[:12],
        "statistic": first.statistic,
        "verified": all(one.run.verified for one in sources),
    }


def _program(source: _Source, units: Mapping[str, str]) -> dict[str, Any]:
    run = source.run
    return {
        "program": {
            "file": source.output.name,
            "hash": hashlib.sha256(source.output.text.encode()).hexdigest()[:12],
            "executable": None,
            "version": run.version,
            "launcher": "unknown",
            "verified": run.verified,
            "checked": ["its own verification"] if run.verified else [],
            "units": dict(units),
        }
    }
