# SPDX-License-Identifier: BSD-3-Clause
"""A record for people in a terminal: result, time, phases; optionally everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.layout import Layout
from haloscope.quantities import (
    MISSING,
    PER_SECOND,
    SCALES,
    count,
    cpu_list,
    flops,
    listed,
    percent,
    quantity,
    rate,
    seconds,
    size,
)
from haloscope.records import kernels
from haloscope.records.points import (
    is_of_several,
    most_apart,
    point_key,
    point_name,
    size_in,
    size_unit,
)
from haloscope.records.record import Record
from haloscope.toolchains.launching.tuning import in_words

_UNITS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "_flops_per_s": ("rate", flops),
    "_bytes_per_s": ("bandwidth", rate),
    "_per_s": ("rate", lambda value: quantity(value, PER_SECOND)),
    "_bytes": ("size", size),
    "_s": ("time", seconds),
}
"""The units at the ends of names, with what a result is called whose name is only a unit."""


def record_view(record: Record, given: Collection[str] = (), *, whole: bool = False) -> Group:
    """Return a record, most important first: result, time, phases, sizes."""
    several = len(record.points) > 1
    step = "one step of every size" if several else "one step"
    unit = size_unit(record.program)
    timed = {point_key(one) for one in record.points}
    lost = dict.fromkeys(point_key(one) for one in _lost(record) if point_key(one) not in timed)
    if lost:
        step += f" but {listed([point_name(key, unit) for key in lost])}"
    details = (
        _section("simulation", _simulation(record.simulation or {}, good=record.outcome == "ok")),
        _section("parameters", _parameters(record)),
    )
    rest = (
        _section(f"work of {step}, all ranks", _work(record.work or {})),
        _section("memory, all ranks", _pairs(record.memory or {})),
        _placement(record.layout.get("seen", [])),
        _section("provenance", _provenance(record)),
    )
    parts: list[RenderableType | None] = [
        _headline(record, given),
        _badge(record),
        *(details if whole else ()),
        _section("result", _results(record, whole=whole)),
        _section(f"time of {step} (a solve, sweep, or operation)", _times(record)),
        _phases(record, several),
        _points(record.points, unit) if whole else _by_operation(record.points, unit),
        _parts(record, whole=whole),
        _section("left out", [(one["line"], one["why"]) for one in _lost(record)]),
        _scattered(record),
        *(rest if whole else ()),
        _output(record, whole=whole),
    ]
    return Group(*(part for part in parts if part is not None))


def _headline(record: Record, given: Collection[str]) -> Text:
    style = "bold green" if record.outcome == "ok" else "bold red"
    layout = record.layout
    shared = ", cores shared (oversubscribed)" if layout.get("oversubscribed") else ""
    simulation = record.simulation or {}
    cluster = simulation.get("cluster")
    nodes = f" on {count(layout['nodes'], 'node')} of {cluster}, simulated" if cluster else ""
    if cluster and record.outcome == "ok":
        nodes += ", answer verified" if simulation["verified"] else ", answer not computed"
    params = "".join(f" {key}={record.params[key]}" for key in given if key in record.params)
    ranks = f"{count(layout['ranks'], 'rank')} x {count(layout['threads'], 'thread')}"
    several = layout["ranks"] * layout["threads"] > 1 and not layout.get("placement")
    bind = f", bind = {layout.get('bind')}" if several and layout.get("bind") else ""
    if bind and (threads := Layout.recorded(layout).threads_bound):
        bind += f", thread_bind = {threads}"
    where = f"{params}, {ranks}{nodes}{bind}{shared}: "
    line = Text(record.kernel, style="bold").append(where, style="not bold")
    line.append(record.outcome, style=style)
    if record.reason:
        line.append(f": {record.reason}", style="not bold")
    return line


def _badge(record: Record) -> Text | None:
    if not record.simulation or record.outcome != "ok":
        return None
    from haloscope.analysis.grouping import group  # imported here because only simulations need it
    from haloscope.analysis.validation.trust import trust
    from haloscope.findings.badge import badge

    graded = trust(group([record]))
    return Text(badge(graded), style="cyan") if graded else None


_SIMGRID_SETTINGS = re.compile(r"^\[[^\]]*\] \[\w+/(INFO|VERBOSE|DEBUG)\] ")


def _output(record: Record, *, whole: bool) -> Text | None:
    """Return the errors that the launch printed.

    A wrong answer has its reason in the record; the launcher's messages about it add nothing.
    """
    lines = record.stderr.strip().splitlines() if record.stderr else []
    wrong = record.outcome == "wrong" and record.program is None
    kept = [one for one in lines if whole or not (wrong or _SIMGRID_SETTINGS.match(one))]
    if left_out := len(lines) - len(kept):
        kept.append(f"{count(left_out, 'line')} of output omitted; --all prints all")
    return Text("\n".join(kept), style="dim") if kept else None


def _simulation(simulation: Mapping[str, Any], *, good: bool) -> list[tuple[str, str]]:
    if not simulation:
        return []
    answer = (
        "computed and verified"
        if simulation["verified"]
        else "not verified: only time was simulated"
    )
    rows = [("cluster", str(simulation["cluster"])), *([("answer", answer)] if good else [])]
    if simulation["of_iterations"]:
        part = (
            f"{simulation['iterations']} of {simulation['of_iterations']:,} "
            f"({simulation['iterations_from']})"
        )
        rows.append(
            (
                "iterations",
                f"{part}; the remaining ones are assumed to take as long as the last of these",
            )
        )
    if spread := simulation.get("spread"):
        drawn = f"nodes {percent(spread['nodes'])}, phases {percent(spread['phases'])}"
        rows.append(("node variability", f"{drawn} (standard deviations), seed {spread['seed']}"))
    if others := simulation.get("others"):
        held = f"{percent(others['occupancy'])} of the nodes in use"
        sent = f"nodes of others send {percent(others['traffic'])} of their maximum rate"
        rows.append(("other jobs", f"{held}; {sent}; state {others['launch']}, drawn at random"))
    return [*rows, ("from the cache", "yes" if simulation["cached"] else "no")]


def _work(work: Mapping[str, float]) -> list[tuple[str, str]]:
    return [(key, f"{work[key]:,.0f}") for key in ("bytes", "flops", "messages") if key in work]


def _section(title: str, rows: Iterable[tuple[str, str]]) -> RenderableType | None:
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*(Text(word, overflow="fold") for word in row))  # keep paths whole
    return Group(Text(title, style="bold"), Padding(table, (0, 2))) if table.rows else None


def _pairs(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [named(k, value) for k, value in values.items() if not isinstance(value, dict | list)]


def _results(record: Record, *, whole: bool) -> list[tuple[str, str]]:
    """Return results with units: declared by external programs, otherwise in the names.

    Counts of zero, and the names of results without a value, are given with `whole`.
    """
    if record.program is None:
        found = {key: value for key, value in record.result.items() if value is not None}
        if not whole:
            counts = kernels.integers(record.kernel)
            found = {key: value for key, value in found.items() if value or key not in counts}
        without = [_title(key) for key in record.result if key not in found]
        return [*_pairs(found), *([("no value", ", ".join(without))] if whole and without else [])]
    units = record.program.get("units") or {}
    return [
        (_title(key), _in_unit(value, units.get(key, "")))
        if key in units or isinstance(value, list)
        else named(key, value)
        for key, value in record.result.items()
    ]


def _in_unit(value: Any, unit: str) -> str:
    """Format a value, or several, in its declared unit; a missing value and a text have none."""
    if isinstance(value, list):
        more = [f"... ({len(value)} values)"] * (len(value) > _VALUES)
        return ", ".join([*(_in_unit(one, unit) for one in value[:_VALUES]), *more])
    if not isinstance(value, int | float):
        return MISSING if value is None else str(value)
    if isinstance(value, int) and unit not in SCALES:
        return f"{value:,} {unit}".rstrip()
    return quantity(value, SCALES.get(unit, ((1.0, unit),)))


_VALUES = 5


def _parameters(record: Record) -> list[tuple[str, str]]:
    units = (record.program or {}).get("units") or {}
    return [(key, f"{value} {units.get(key, '')}".rstrip()) for key, value in record.params.items()]


def _lost(record: Record) -> Sequence[Mapping[str, Any]]:
    return (record.program or {}).get("untimed") or ()


def _times(record: Record) -> list[tuple[str, str]]:
    times_s = record.times_s
    of = f" of {count(record.steps, 'step')}" if record.steps else ""
    if len(times_s) < 2:
        return [(f"one repetition{of}", seconds(time_s)) for time_s in times_s]
    spread = f" ({seconds(min(times_s))} to {seconds(max(times_s))})"
    return [(f"median of {len(times_s)} repetitions{of}", seconds(median(times_s)) + spread)]


def _meant(times_s: Sequence[float], several: bool) -> str:
    """Return what means of phases refer to: all timed steps, which a few slow ones may dominate."""
    whole = f", which take {seconds(fmean(times_s))}" if len(times_s) > 1 else ""
    if several:
        return f"mean over the steps of all sizes{whole}"
    return f"mean over all timed steps{whole}" if whole else "one step"


def _phases(record: Record, several: bool) -> RenderableType | None:
    """Return phases with minimum, mean, and maximum over ranks, as medians over repetitions."""
    phases, times_s = record.phases, record.times_s
    if not phases:
        return None
    meant = _meant(times_s, several)
    medians = len(times_s) > 1 and all("median_s" in phase for phase in phases)
    title = f"phases, {meant}"
    if medians:
        sizes = " of the steps of all sizes" if several else ""
        title = f"phases, median of {len(times_s)} repetitions{sizes}; last column: {meant}"
    table = Table("phase", box=None)
    means = ("mean of all steps",) if medians else ()
    for column in ("calls", "min", "mean", "max over ranks", "bandwidth", *means):
        table.add_column(column, justify="right")
    for phase in phases:
        time = phase["median_s"] if medians else phase["time_s"]
        times = (seconds(time.get(key)) for key in ("min", "mean", "max"))
        moved = phase.get("bytes")
        speed = rate(moved / time["max"]) if moved and time["max"] else MISSING
        mean = (seconds(phase["time_s"]["mean"]),) if medians else ()
        calls = f"{phase['calls']:g}" if "calls" in phase else MISSING
        table.add_row(phase["name"], calls, *times, speed, *mean)
    return Group(Text(title, style="bold"), table)


def _points(points: Sequence[Mapping[str, Any]], unit: str) -> RenderableType | None:
    if not points:
        return None
    keys = list(dict.fromkeys(key for point in points for key in point["result"]))
    operations = any(point.get("operation") for point in points)
    table = Table("size", *(["operation"] if operations else []), box=None)
    for title in ("time", *map(_title, keys)):
        table.add_column(title, justify="right")
    for point in points:
        results = (named(key, point["result"].get(key))[1] for key in keys)
        time = seconds(median(point["times_s"]))
        operation = [point.get("operation") or MISSING] if operations else []
        table.add_row(size_in(point["size_bytes"], unit), *operation, time, *results)
    return Group(Text("by size", style="bold"), table)


def _by_operation(points: Sequence[Mapping[str, Any]], unit: str) -> RenderableType | None:
    """Return the first result of operations with several sizes in a row for each size."""
    sizes: dict[str, dict[int, Any]] = {}
    for point in points:
        own = sizes.setdefault(str(point.get("operation") or ""), {})
        own[point["size_bytes"]] = next(iter(point["result"].items()), None)
    swept = {name: own for name, own in sizes.items() if len(own) > 1}
    if len(swept) < 2 or None in (each for own in swept.values() for each in own.values()):
        return _points(points, unit)
    table = Table("size", box=None)
    for name in swept:
        table.add_column(name, justify="right", overflow="fold")
    for at in dict.fromkeys(at for own in swept.values() for at in own):
        cells = (named(*own[at])[1] if at in own else MISSING for own in swept.values())
        table.add_row(size_in(at, unit), *cells)
    (first, *_), *_ = ([*own.values()] for own in swept.values())
    title = f"{named(*first)[0]} by size; --all also prints times"
    return Group(Text(title, style="bold"), table)


def _parts(record: Record, *, whole: bool) -> RenderableType | None:
    if not record.parts:
        return None
    timed = {(part["name"], part["point"]): median(part["times_s"]) for part in record.parts}
    sizes = [point["size_bytes"] for point in record.points]
    numbers = sorted({point for _, point in timed}, key=lambda at: sizes[at])
    shown = numbers if whole else list(dict.fromkeys((numbers[0], numbers[-1])))
    names = list(dict.fromkeys(name for name, _ in timed))
    waits = "; moves include a wait" if "wait" in names else ""
    title = Text(f"parts of a step, each measured separately{waits}", style="bold")
    if whole:  # one row each, because there are many sizes
        table = Table("size", "part", box=None)
        table.add_column("time", justify="right")
        for at in shown:
            for name in names:
                time = timed.get((name, at))
                text = MISSING if time is None else seconds(time)
                table.add_row(size(sizes[at]), name, text)
        return Group(title, table)
    table = Table("part", box=None)
    for at in shown:
        table.add_column(size(sizes[at]), justify="right")
    for name in names:
        times = (timed.get((name, at)) for at in shown)
        table.add_row(name, *(MISSING if time is None else seconds(time) for time in times))
    return Group(title, table)


def _scattered(record: Record) -> RenderableType | None:
    if not is_of_several(record):
        return None
    factor, where = most_apart(record)
    explanation = EXPLAINED[Caveat.SEVERAL_OPERATIONS]
    at = f" at {where}" if where else ""
    found = f"warning: the longest takes {factor:.3g}x as long as the shortest{at}."
    return Text(f"{found} {explanation.text} {explanation.remedy}", style="yellow")


def _placement(seen: Sequence[Mapping[str, Any]]) -> RenderableType | None:
    rows = []
    for rank in seen:
        threads = "; ".join(",".join(map(str, cpus)) for cpus in rank.get("thread_cpus", []))
        processors = f"processors of its threads: {threads}"
        if not threads:  # external programs do not report their threads
            processors = f"processors that it may use: {cpu_list(rank['cpus'])}"
        rows.append((f"rank {rank['rank']}", f"{rank['host']}, {processors}"))
    return _section("placement", rows)


def _provenance(record: Record) -> list[tuple[str, str]]:
    made = {
        "toolchain": record.toolchain.get("name"),
        "MPI": record.toolchain.get("mpi"),
        "MPI library": record.toolchain.get("library"),
        "transport": record.transport,
        "messages by": record.transport_seen,
        "ranks started by": record.toolchain.get("launcher"),
        "MPI variables": in_words(record.tuning) if record.tuning else None,
        "overridden": ", ".join((record.tuning or {}).get("overridden", ())),
        "compiler": record.toolchain.get("compiler"),
        "flags": record.toolchain.get("flags"),
        **_program(record.program or {}),
        "command": " ".join(record.command or []),
    }
    return [(key, str(value)) for key, value in made.items() if value]


def _program(program: Mapping[str, Any]) -> dict[str, str | None]:
    if not program:
        return {}
    checked = "; ".join(program["checked"]) or "nothing"
    return {"program": program["executable"], "version": program["version"], "checked": checked}


def named(key: str, value: float | str | None) -> tuple[str, str]:
    """Return a result's name without its unit, and its value with it: ("latency", "440 ns")."""
    if not isinstance(value, int | float):
        return _title(key), MISSING if value is None else str(value)
    if ending := _ending(key):
        return _title(key), _UNITS[ending][1](value)
    return _title(key), f"{value:g}" if isinstance(value, float) else f"{value:,}"


def _title(key: str) -> str:
    key = key.replace("passed_over", "extrapolated")
    ending = _ending(key)
    name = f"_{key}".removesuffix(ending)[1:].replace("_", " ")
    return name or _UNITS[ending][0]


def _ending(key: str) -> str:
    return next((ending for ending in _UNITS if f"_{key}".endswith(ending)), "")
