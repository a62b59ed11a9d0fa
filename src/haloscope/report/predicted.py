# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside what was published or measured, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.predictions import (
    JACOBI,
    LATENCY,
    METHODS,
    RELATIVE,
    Errors,
    PredictedCell,
    PredictedTime,
    Skill,
)
from haloscope.quantities import MISSING, SECONDS, count, error, number, seconds
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.notebook import REPLICATES, spread_notes, spread_text
from haloscope.topics.common.table import Cell, CellValue, Column, Table, label, missing, plain

NOT_SIMULATED = "not simulated"
FITTED, ONLY_PREDICTED = "set parameters", "only predicted"
"""What cells are called that set numbers of the cluster file, and all others."""
_ERRORS = (
    Column("number", "number"),
    Column("median", "median"),
    Column("tenth", "90th percentile"),
    Column("worst", "worst"),
)
_SKILL = (
    Column("guessed", "guessed"),
    Column("naive_median", "naive median"),
    Column("naive_tenth", "naive 90th percentile"),
    Column("skill_median", "skill, median"),
    Column("skill_tenth", "skill, 90th percentile"),
)
SKILL = (
    "guessed: cells with a naive estimate (no simulation). skill: 1 - error / error of the "
    "naive estimate. 1 is perfect, 0 is as good as the naive estimate, below 0 is worse."
)
"""SKILL is what the columns beside a naive guess mean."""
TENTH = "90th percentile: a tenth of the cells have a larger error."
"""TENTH is what one column of errors means."""


def published_tables(cells: Sequence[PredictedCell], notes: Sequence[str] = ()) -> list[Table]:
    """Cells of one published table in its own form, and their errors, with what is said of it."""
    match cells[0].kind:
        case kind if kind == JACOBI:
            tables = [_rates(cells)]
        case kind if kind == LATENCY:
            tables = list(_latencies(cells))
        case kind if kind == RELATIVE:
            tables = list(_ratios(cells))
        case _:
            tables = list(_times(cells))
    table = cells[0].table
    found = [*errors(cells, table, notes), *beside_guesses(cells, table)]
    return [*tables, *found, *structure(cells, table), *null_model(cells, table)]


def errors(cells: Sequence[PredictedCell], of: str, said: Sequence[str] = ()) -> list[Table]:
    """Median and worst error by reading and kind of cell; [] where there is nothing to say."""
    readings = dict.fromkeys(cell.reading for cell in cells)
    rows = [
        (label(reading), label(name), *_errors(found))
        for reading in readings
        for name, own in _kinds([cell for cell in cells if cell.reading == reading])
        if (found := Errors.of(own)).number
    ]
    notes = [*(note for reading in readings for note in _of_short(cells, reading)), *said]
    notes += [TENTH] if rows else []
    if not rows and not notes:
        return []
    columns = (Column("reading", "reading", align="left"), Column("cells", "cells", align="left"))
    named = any(readings)  # one way of reading has no name, and needs no column
    return [
        Table(
            id=f"errors-{of}",
            kind="predicted",
            title="Errors",
            columns=(*columns[not named :], *_ERRORS),
            rows=tuple(row[not named :] for row in rows),
            notes=tuple(notes),
            stub=1 + named,
        )
    ]


def beside_guesses(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Errors of naive guesses, and the skill over them, as `errors`; [] where there are none."""
    readings = dict.fromkeys(cell.reading for cell in cells)
    rows = [
        (label(reading), label(name), *_skill(own))
        for reading in readings
        for name, own in _kinds([cell for cell in cells if cell.reading == reading])
        if Skill.of(own, "naive").guess.number
    ]
    columns = (Column("reading", "reading", align="left"), Column("cells", "cells", align="left"))
    named = any(readings)
    kinds = dict.fromkeys(cell.kind for cell in cells)
    table = Table(
        id=f"naive-{of}",
        kind="predicted",
        title="Compared with a naive estimate",
        columns=(*columns[not named :], *_SKILL),
        rows=tuple(row[not named :] for row in rows),
        notes=(*(f"naive: {METHODS[kind]}." for kind in kinds), SKILL),
        stub=1 + named,
    )
    return [table] if rows else []


def structure(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Errors of cells that set no number, by where they are: distance, size of time, placement."""
    own = [cell for cell in cells if not cell.fitted and cell.error is not None]
    rows = [
        (label(group), label(name), *_errors(Errors.of(some)), *_skill(some)[1::2])
        for group, parts in groups(own).items()
        for name, some in parts.items()
    ]
    if not rows:
        return []
    return [
        Table(
            id=f"errors-by-{of}",
            kind="predicted",
            title="Errors of cells that are only predicted, by distance and size",
            columns=(
                *(Column("by", "by", align="left"), Column("cells", "cells", align="left")),
                *(*_ERRORS, *_SKILL[1::2]),
            ),
            rows=tuple(rows),
            stub=2,
        )
    ]


def null_model(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Predictions beside a better guess than the naive one, by placement; [] without any."""
    own = [one for one in cells if one.error is not None and one.null is not None]
    if not own:
        return []
    parts = {"all": own, **groups(own).get("placement", {})}
    kinds = {FITTED: True, ONLY_PREDICTED: False}
    rows = []
    for kind, fitted in kinds.items():
        for name, some in parts.items():
            skill = Skill.of([one for one in some if one.fitted == fitted], "null")
            if skill.model.number:
                both = (skill.model.median, skill.guess.median)
                tenths = (skill.model.tenth, skill.guess.tenth)
                errors_ = (_share(value) for value in (*both, *tenths))
                rows.append((label(kind), label(name), plain(skill.model.number), *errors_))
    columns = (
        Column("kind", "cells", align="left"),
        Column("placement", "placement", align="left"),
        Column("number", "number"),
        Column("median", "simulated, median"),
        Column("null_median", "null model, median"),
        Column("tenth", "simulated, 90th percentile"),
        Column("null_tenth", "null model, 90th percentile"),
    )
    title = "Compared with a null model"
    notes = ("null model: the MPI latency of table 1, and constants from the text.",)
    name = f"null-{of}"
    return [Table(name, "predicted", title, columns, tuple(rows), notes=notes, stub=2)]


_DECADES = ((0.0, 1.0, "below 1 s"), (1.0, 10.0, "1 to 10 s"), (10.0, 100.0, "10 to 100 s"))
_LONGEST = "100 s or more"


def groups(cells: Sequence[PredictedCell]) -> dict[str, dict[str, list[PredictedCell]]]:
    """Cells by each thing that errors may depend on, in its order; things that all share left out.

    Nodes; the published time of a solve; the placement and the size of a message.
    """
    found: dict[str, dict[str, list[PredictedCell]]] = {}

    def add(group: str, name: str, cell: PredictedCell) -> None:
        found.setdefault(group, {}).setdefault(name, []).append(cell)

    for cell in sorted(cells, key=lambda one: float(one.keys.get("nodes", 0))):
        if "nodes" in cell.keys:
            add("nodes", count(int(cell.keys["nodes"]), "node"), cell)
    for cell in sorted(cells, key=lambda one: one.published):
        if cell.unit == "s" and "placement" not in cell.keys and cell.iterations:
            names = (name for low, high, name in _DECADES if low <= cell.published < high)
            add("published time", next(names, _LONGEST), cell)
    for cell in cells:
        if "placement" in cell.keys:
            add("placement", str(cell.keys["placement"]).replace("_", "-"), cell)
    for cell in sorted(cells, key=lambda one: float(one.keys.get("size_bytes", 0))):
        if "size_bytes" in cell.keys:
            small = int(cell.keys["size_bytes"])
            part = "to 8 kB" if small <= 8192 else "to 128 kB" if small <= 2**17 else "above 128 kB"
            add("size of a message", part, cell)
    return {group: parts for group, parts in found.items() if len(parts) > 1}


def _skill(cells: Sequence[PredictedCell]) -> tuple[Cell, ...]:
    """The naive guess beside cells: how many have one, its errors, and the skill over it."""
    found = Skill.of(cells, "naive")
    if not found.guess.number:
        return tuple(missing() for _ in _SKILL)
    skills = (found.at_median, found.at_tenth)
    return (
        plain(found.guess.number),
        *(_share(value) for value in (found.guess.median, found.guess.tenth)),
        *(missing() if one is None else plain(one, f"{one:.2f}") for one in skills),
    )


def _kinds(cells: Sequence[PredictedCell]) -> Iterator[tuple[str, list[PredictedCell]]]:
    """What cells are called together: predicted ones apart where some keep whole nodes busy."""
    yield FITTED, [cell for cell in cells if cell.fitted]
    others = [cell for cell in cells if not cell.fitted]
    yield ONLY_PREDICTED, others
    telling = [cell for cell in others if cell.error is not None]
    if {cell.whole_nodes for cell in telling} == {True, False}:
        for name, whole in (("on all cores of nodes", True), ("on some of their cores", False)):
            yield f"... {name}", [cell for cell in telling if cell.whole_nodes == whole]


def _errors(found: Errors) -> tuple[Cell, ...]:
    shares = (found.median, found.tenth, found.worst)
    return (plain(found.number), *(_share(value) for value in shares))


def _share(value: float | None, sign: str = "") -> Cell:
    return missing() if value is None else plain(value, error(value, sign))


def _of_short(cells: Sequence[PredictedCell], reading: str) -> Iterator[str]:
    """What is said of cells too short for an error: how many are as they were printed."""
    known = [cell for cell in cells if not cell.telling and cell.as_printed is not None]
    short = [cell for cell in known if cell.reading == reading]
    if short:
        name = f"{reading}: " if reading else ""
        alike = sum(bool(cell.as_printed) for cell in short)
        below = f"{count(len(short), 'cell')} have too few digits for an error"
        yield f"{name}{below}: {alike} would be printed as published"


def _times(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    """For each mesh a grid of wall times, by processes and threads down and by nodes across."""
    for n in sorted({int(cell.keys["n"]) for cell in cells}):
        mesh = {
            (int(cell.keys["ppn"]), int(cell.keys["threads"]), int(cell.keys["nodes"])): cell
            for cell in cells
            if cell.keys["n"] == n
        }
        nodes = sorted({int(cell.keys["nodes"]) for cell in cells})
        yield Table(
            id=f"predicted-{cells[0].table}-{n}",
            kind="predicted",
            title=f"N = {n}, seconds",
            columns=(
                Column("ppn", "ppn"),
                Column("threads", "threads"),
                *(Column(f"nodes_{on}_s", count(on, "node")) for on in nodes),
            ),
            rows=tuple(
                (
                    label(str(ppn), ppn),
                    label(str(threads), threads),
                    *(_time(mesh.get((ppn, threads, on))) for on in nodes),
                )
                for ppn, threads in dict.fromkeys(key[:2] for key in mesh)
            ),
            notes=_failures(list(mesh.values())),
            stub=2,
        )


_DOWN = ("n", "size_bytes")
"""Settings that rows of latencies are told apart by; those across are all others but the first."""


def _latencies(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    """For each placement, latencies by size, or by n, down, and by all other settings across.

    Where there are neither sizes nor n, they are times, by the first setting.
    """
    down = [*(key for key in _DOWN if key in cells[0].keys), *cells[0].keys][:1]
    what = "latency" if down[0] in _DOWN else "time"
    parts = dict.fromkeys(cell.keys.get("placement") for cell in cells)
    for position, placement in enumerate(parts, start=1):
        own = [cell for cell in cells if cell.keys.get("placement") == placement]
        across = [key for key in own[0].keys if key not in (*_DOWN, *down, "placement")]
        columns = dict.fromkeys(tuple(cell.keys[key] for key in across) for cell in own)
        found = {
            (cell.keys[down[0]], tuple(cell.keys[key] for key in across)): cell for cell in own
        }
        yield Table(
            id=f"predicted-{cells[0].table}-{position}",
            kind="predicted",
            title=f"{str(placement).replace('_', '-')}, µs" if placement else "µs",
            columns=(
                Column(down[0], "bytes" if down[0] == "size_bytes" else down[0]),
                *(_across(what, across, values) for values in columns),
            ),
            rows=tuple(
                (
                    label(at if isinstance(at, str) else f"{at:,}", at),
                    *(_latency(found.get((at, values))) for values in columns),
                )
                for at in dict.fromkeys(cell.keys[down[0]] for cell in own)
            ),
            notes=_failures(own),
            stub=1,
        )


def _ratios(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    """For each number of tasks, what a job takes by nodes, over what it takes where it is least."""
    for reading in dict.fromkeys(cell.reading for cell in cells):
        own = [cell for cell in cells if cell.reading == reading]
        keys = own[0].keys
        over = count(int(keys["over"]), "node")
        yield Table(
            id=f"predicted-{own[0].table}-{keys['ranks']}",
            kind="predicted",
            title=f"{reading}: time over that on {over}",
            columns=(Column("nodes", "nodes"), Column("time_ratio", f"over {over}")),
            rows=tuple(
                (
                    label(str(cell.keys["nodes"]), cell.keys["nodes"]),
                    _beside(cell, f"{cell.published:.2f}", f"{cell.predicted or 0:.2f}", ".2f"),
                )
                for cell in own
            ),
            notes=_failures(own),
            stub=1,
        )


def _across(what: str, keys: Sequence[str], values: Sequence[object]) -> Column:
    """A column of latencies or times: named by what tells it from others, if anything does."""
    words = [
        count(int(str(value)), "node") if key == "nodes" else str(value)
        for key, value in zip(keys, values, strict=True)
    ]
    name = "_".join(str(value) for value in values)
    return Column(f"{what}_{name}_s" if name else f"{what}_s", ", ".join(words) or what)


def _latency(cell: PredictedCell | None) -> Cell:
    if cell is None:
        return missing("")
    return _beside(cell, f"{1e6 * cell.published:.1f}", f"{1e6 * (cell.predicted or 0):.1f}", ".3f")


def _time(cell: PredictedCell | None) -> Cell:
    if cell is None:
        return missing("")
    published = f"{cell.published:,g}" if cell.step >= 1 else number(cell.published)
    return _beside(cell, published, number(cell.predicted or 0.0), ".2f")


def _beside(cell: PredictedCell, published: str, predicted: str, digits: str) -> Cell:
    """A predicted figure, below it the published one and, where it tells, their ratio."""
    if cell.predicted is None:
        return missing(NOT_SIMULATED, warn=True)
    ratio = "" if cell.error is None else f"{cell.predicted / cell.published:{digits}}"
    drawn = cell.drawn
    return Cell(
        cell.predicted,
        predicted,
        low=drawn.low if drawn else None,
        high=drawn.high if drawn else None,
        spread=spread_text(drawn) if drawn else "",
        published=published,
        published_value=cell.published,
        ratio=ratio,
    )


def _failures(cells: Sequence[PredictedCell]) -> tuple[str, ...]:
    """Why there are cells without a prediction; the same reason counts once."""
    reasons = [cell.problem or "no reason recorded" for cell in cells if cell.predicted is None]
    numbers = [cell.drawn.n for cell in cells if cell.drawn]
    drawn = [f"predicted: medians of {max(numbers)}: {REPLICATES}"] if numbers else []
    return (*drawn, *(f"{NOT_SIMULATED}: {reason}" for reason in dict.fromkeys(reasons)))


def _rates(cells: Sequence[PredictedCell]) -> Table:
    """A row for each grid of ranks: published MLUP/s, and predicted ones in each reading."""
    readings = dict.fromkeys(cell.reading for cell in cells)
    rows: dict[tuple[object, ...], dict[str, PredictedCell]] = {}
    for cell in cells:
        rows.setdefault((cell.keys["ranks"], cell.keys["grid"]), {})[cell.reading] = cell
    return Table(
        id=f"predicted-{cells[0].table}",
        kind="predicted",
        title="MLUP/s by ranks",
        columns=(
            Column("ranks", "ranks"),
            Column("grid", "grid", align="left"),
            *(Column(f"mlups_{reading}", reading) for reading in readings),
        ),
        rows=tuple(
            (label(str(ranks)), label(str(grid)), *(_rate(row.get(each)) for each in readings))
            for (ranks, grid), row in rows.items()
        ),
        notes=_failures(cells),
        stub=2,
    )


def _rate(cell: PredictedCell | None) -> Cell:
    if cell is None:
        return missing("")
    return _beside(cell, f"{cell.published:.1f}", f"{cell.predicted or 0.0:.1f}", ".3f")


def every_cell(cells: Sequence[PredictedCell]) -> Table:
    """A row for each cell; what tells cells of one table apart is empty for those of others.

    sets: the numbers of the cluster file that it set, by their places.
    """
    keys = list(dict.fromkeys(key for cell in cells for key in cell.keys))
    ends = ("low", "high") if any(cell.drawn for cell in cells) else ()  # of replicates
    names = ("table", *keys, "reading", "unit", "published", "predicted")
    names += (*ends, "error", "naive", "null_model", "sets")
    return Table(
        id="cells",
        kind="predicted",
        title="All predicted cells",
        columns=tuple(Column(name, name) for name in names),
        rows=tuple(
            (
                label(cell.table),
                *(_exact(cell.keys.get(key)) for key in keys),
                label(cell.reading),
                label(cell.unit),
                plain(cell.published),
                _exact(cell.predicted, cell.problem),
                *(_exact(getattr(cell.drawn, end, None)) for end in ends),
                _exact(cell.error),
                _exact(cell.naive),
                _exact(cell.null),
                label(" ".join(cell.sets)),
            )
            for cell in cells
        ),
    )


def _exact(value: CellValue, why: str | None = None) -> Cell:
    """A value with all its digits; where there is none, why."""
    return missing(why or MISSING) if value is None else plain(value)


def measured_tables(predictions: Sequence[PredictedTime]) -> list[Table]:
    """A table for each kernel, a row for each time measured here, and the errors of all."""
    kernels = {
        kernel: [each for each in predictions if each.kernel == kernel]
        for kernel in dict.fromkeys(each.kernel for each in predictions)
    }
    tables = [
        Table(
            id=f"predicted-{kernel}",
            kind="predicted",
            title=f"{kernel}, half round trip" if kernel == "pingpong" else kernel,
            columns=(
                Column("what", "what", align="left"),
                Column("measured_s", "measured"),
                Column("predicted_s", "predicted"),
                Column("error", "error"),
            ),
            rows=tuple(map(_measured, times)),
            notes=tuple(spread_notes(_by_method([each.measured for each in times]))),
        )
        for kernel, times in kernels.items()
    ]
    return [*tables, *([_errors_by_kernel(kernels)] if kernels else [])]


def _by_method(estimates: Sequence[Estimate]) -> dict[str, list[Estimate]]:
    found: dict[str, list[Estimate]] = {}
    for one in estimates:
        found.setdefault(one.method, []).append(one)
    return found


def _measured(time: PredictedTime) -> tuple[Cell, ...]:
    measured = time.measured
    return (
        label(time.what),
        Cell(
            measured.value,
            seconds(measured.value),
            low=measured.low,
            high=measured.high,
            spread=spread_text(measured, SECONDS),
        ),
        plain(time.predicted_s, seconds(time.predicted_s)),
        _share(time.error, "+"),
    )


def _errors_by_kernel(kernels: Mapping[str, Sequence[PredictedTime]]) -> Table:
    every = [each for times in kernels.values() for each in times]
    parts = {**kernels, "all": every}
    return Table(
        id="errors",
        kind="predicted",
        title="Errors",
        columns=(Column("times", "times", align="left"), *_ERRORS),
        rows=tuple((label(name), *_errors(Errors.of(times))) for name, times in parts.items()),
    )


def every_time(predictions: Sequence[PredictedTime]) -> Table:
    """A row for each time measured here, with its spread and what was predicted."""
    names = ("kernel", "what", "unit", "measured", "low", "high", "predicted", "error")
    return Table(
        id="times",
        kind="predicted",
        title="All predicted times",
        columns=tuple(Column(name, name) for name in names),
        rows=tuple(
            (
                label(each.kernel),
                label(each.what),
                label("s"),
                *map(_exact, (each.measured.value, each.measured.low, each.measured.high)),
                *map(_exact, (each.predicted_s, each.error)),
            )
            for each in predictions
        ),
    )
