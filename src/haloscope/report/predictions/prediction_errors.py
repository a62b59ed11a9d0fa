# SPDX-License-Identifier: BSD-3-Clause
"""Tables of prediction errors: by group, relative to guesses, and without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from haloscope.analysis.validation.predictions import METHODS, Errors, PredictedCell, Skill
from haloscope.grouped import grouped
from haloscope.quantities import count, error
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown

FITTED, ONLY_PREDICTED = "set parameters", "only predicted"
NOT_SIMULATED = "not simulated"


ERROR_COLUMNS = (
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
    "guessed: cells with a naive estimate (no simulation).",
    "skill: 1 - error / error of the naive estimate; 1 is perfect, below 0 is worse.",
)


TENTH = "90th percentile: a tenth of the cells have a larger error."


def errors(cells: Sequence[PredictedCell], of: str, said: Sequence[str] = ()) -> list[Table]:
    """Return median and worst error by reading and kind of cell; [] without errors."""
    table = _by_reading(
        cells,
        (f"errors-{of}", "Errors"),
        ERROR_COLUMNS,
        lambda own: error_cells(found) if (found := Errors.of(own)).number else (),
    )
    notes = [note for reading in _readings(cells) for note in _of_short(cells, reading)]
    notes += [*said, *([TENTH] if table.rows else [])]
    return [replace(table, notes=tuple(notes))] if notes else []


def beside_guesses(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Return errors of naive guesses and the skill relative to them; [] without any."""
    table = _by_reading(
        cells,
        (f"naive-{of}", "Compared with a naive estimate"),
        _SKILL,
        lambda own: _skill(own) if Skill.of(own, "naive").guess.number else (),
    )
    kinds = dict.fromkeys(cell.kind for cell in cells if cell.naive is not None)
    notes = (*(f"naive: {METHODS[kind]}." for kind in kinds), *SKILL)
    return [replace(table, notes=notes)] if table.rows else []


def _readings(cells: Sequence[PredictedCell]) -> dict[str, list[PredictedCell]]:
    return grouped(cells, lambda cell: cell.reading)


def _by_reading(
    cells: Sequence[PredictedCell],
    name: tuple[str, str],
    columns: Sequence[Column],
    row: Callable[[Sequence[PredictedCell]], tuple[Cell, ...]],
) -> Table:
    """Return a row for each kind of cell in each reading, without kinds whose row is empty.

    name: id and title of the table.
    """
    rows = [
        (label(reading), label(kind), *found)
        for reading, read in _readings(cells).items()
        for kind, own in _kinds(read)
        if (found := row(own))
    ]
    named = any(_readings(cells))  # a single reading has no name and needs no column
    first = (Column("reading", "reading", align="left"), Column("cells", "cells", align="left"))
    return Table(
        name[0],
        "predicted",
        name[1],
        (*first[not named :], *columns),
        tuple(one[not named :] for one in rows),
        stub=1 + named,
    )


def structure(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Return errors of cells that set no number, by distance, length of the time, and placement."""
    own = [cell for cell in cells if not cell.fitted and cell.error is not None]
    rows = [
        (label(group), label(name), *error_cells(Errors.of(some)), *_skill(some)[1::2])
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
                *(*ERROR_COLUMNS, *_SKILL[1::2]),
            ),
            rows=tuple(rows),
            stub=2,
        )
    ]


def null_model(cells: Sequence[PredictedCell], of: str) -> list[Table]:
    """Return predictions and a better guess than the naive one, by placement; [] without any."""
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
                errors_ = (share_cell(value) for value in (*both, *tenths))
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
    """Group cells by settings that errors may depend on, without settings that all share.

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
    """Return the naive guess of cells: how many have one, its errors, and the skill."""
    found = Skill.of(cells, "naive")
    if not found.guess.number:
        return tuple(missing() for _ in _SKILL)
    skills = (found.at_median, found.at_tenth)
    return (
        plain(found.guess.number),
        *(share_cell(value) for value in (found.guess.median, found.guess.tenth)),
        *(shown(one, "{:.2f}".format) for one in skills),
    )


def _kinds(cells: Sequence[PredictedCell]) -> Iterator[tuple[str, list[PredictedCell]]]:
    """Yield groups of cells with their names; predicted ones separately by use of whole nodes."""
    yield FITTED, [cell for cell in cells if cell.fitted]
    others = [cell for cell in cells if not cell.fitted]
    yield ONLY_PREDICTED, others
    telling = [cell for cell in others if cell.error is not None]
    if {cell.whole_nodes for cell in telling} == {True, False}:
        for name, whole in (("on all cores of nodes", True), ("on some of their cores", False)):
            yield f"... {name}", [cell for cell in telling if cell.whole_nodes == whole]


def error_cells(found: Errors) -> tuple[Cell, ...]:
    """Return the number of cells, and their median and largest errors."""
    shares = (found.median, found.tenth, found.worst)
    return (plain(found.number), *(share_cell(value) for value in shares))


def share_cell(value: float | None, sign: str = "") -> Cell:
    """Return a share in per cent."""
    return shown(value, lambda known: error(known, sign))


def _of_short(cells: Sequence[PredictedCell], reading: str) -> Iterator[str]:
    """Yield notes on cells too short for an error: how many agree with the printed value."""
    known = [cell for cell in cells if not cell.telling and cell.as_printed is not None]
    short = [cell for cell in known if cell.reading == reading]
    if short:
        name = f"{reading}: " if reading else ""
        alike = sum(bool(cell.as_printed) for cell in short)
        below = f"{count(len(short), 'cell')} have too few digits for an error"
        yield f"{name}{below}: {alike} would be printed as published"
