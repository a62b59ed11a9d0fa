# SPDX-License-Identifier: BSD-3-Clause
"""Where predictions deviate, and by how much time: by nodes, processes, points, and messages.

Errors that are noise do not depend on settings. Errors with a structure have a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2
from statistics import median

from haloscope.analysis.validation.predictions import LATENCY, PredictedCell, PredictedTime
from haloscope.grouped import grouped as by_key
from haloscope.quantities import count, size

NODES, PROCESSES, POINTS, MESSAGE = "nodes", "processes per node", "points per node", "message"
GROUPS = (NODES, PROCESSES, "threads", POINTS, MESSAGE, "placement", "option", "test", "ranks")
FEWEST, LEAST, MOST_ALIKE = 3, 0.05, 0.75
"""Criteria for notable groups: number of cells, median error, and share of errors on one side."""
MOST_NAMED, MOST_ALIKE_NAMED = 8, 2
"""Maximum numbers of listed groups, the largest errors first, and of groups by the same
settings.
"""


@dataclass(frozen=True)
class Residual:
    """The deviation of one prediction.

    where: by group, its position in the group's order and its name. error: predicted / known - 1.
    missing_s: known - predicted, in seconds per iteration or message; None for values that are not
    times.
    """

    where: Mapping[str, tuple[float, str]]
    error: float
    missing_s: float | None


@dataclass(frozen=True)
class Group:
    """Residuals that agree in one or two settings.

    names: by group. median, low, high: of their errors. missing_s: the median. alike: share of
    errors on the median's side.
    """

    names: tuple[tuple[str, str], ...]
    number: int
    median: float
    low: float
    high: float
    missing_s: float | None
    alike: float


def of_cells(cells: Iterable[PredictedCell]) -> list[Residual]:
    """Return residuals of published cells that set no number and have an error."""
    found = []
    for cell in cells:
        if cell.fitted or cell.error is None or cell.predicted is None:
            continue
        missing = None
        if cell.iterations:
            missing = (cell.published - cell.predicted) / cell.iterations
        elif cell.kind == LATENCY:
            missing = cell.published - cell.predicted
        found.append(Residual(dict(_where(cell.keys)), cell.error, missing))
    return found


def of_times(times: Iterable[PredictedTime]) -> list[Residual]:
    """Return residuals of times measured on this machine."""
    return [
        Residual(
            dict(_where(one.keys)),
            one.error,
            (one.measured.value - one.predicted_s) / max(one.iterations, 1),
        )
        for one in times
    ]


def _where(keys: Mapping[str, object]) -> Iterator[tuple[str, tuple[float, str]]]:
    number = {key: float(v) for key, v in keys.items() if isinstance(v, int | float)}
    if "nodes" in number:
        yield NODES, (number["nodes"], count(int(number["nodes"]), "node"))
    if "ppn" in number:
        yield PROCESSES, (number["ppn"], count(int(number["ppn"]), "process", "processes"))
    elif "ranks" in number:
        yield "ranks", (number["ranks"], count(int(number["ranks"]), "rank"))
    if "threads" in number:
        yield "threads", (number["threads"], count(int(number["threads"]), "thread"))
    if "n" in number and "ppn" in number and "nodes" in number:
        points = number["n"] ** 2 / number["nodes"]
        yield POINTS, (points, f"{points / 1e6:.3g} million points")
        yield MESSAGE, (8 * number["n"], size(int(8 * number["n"])))
    elif "size_bytes" in number:
        yield MESSAGE, (number["size_bytes"], size(int(number["size_bytes"])))
    for key, group in (("placement", "placement"), ("option", "option"), ("kernel", "test")):
        if key in keys:
            yield group, (0.0, str(keys[key]).replace("_", "-"))


def grouped(residuals: Sequence[Residual], *by: str) -> list[Group]:
    """Group residuals by one or more settings, in the order of their values."""
    there = [one for one in residuals if all(group in one.where for group in by)]
    parts = by_key(there, lambda one: tuple(one.where[group] for group in by))
    found = []
    for names, own in sorted(parts.items()):
        errors = [one.error for one in own]
        missing = [one.missing_s for one in own if one.missing_s is not None]
        middle = median(errors)
        found.append(
            Group(
                tuple((group, name) for group, (_, name) in zip(by, names, strict=True)),
                len(own),
                middle,
                min(errors),
                max(errors),
                median(missing) if missing else None,
                sum((error < 0) == (middle < 0) for error in errors) / len(errors),
            )
        )
    return found


def varied(residuals: Sequence[Residual]) -> list[str]:
    """Return the settings that vary among residuals."""
    return [
        group
        for group in GROUPS
        if len({one.where[group] for one in residuals if group in one.where}) > 1
    ]


def outstanding(residuals: Sequence[Residual]) -> list[Group]:
    """Return groups by one or two settings with large errors on one side, the largest first.

    A group within a listed one is omitted, and so are more than MOST_ALIKE_NAMED by the same
    settings.
    """
    if not residuals:
        return []
    usual = median(abs(one.error) for one in residuals)
    settings = varied(residuals)
    every = [each for group in settings for each in grouped(residuals, group)]
    every += [each for pair in combinations(settings, 2) for each in grouped(residuals, *pair)]
    large = [each for each in every if each.number >= FEWEST and _stands_out(each, usual)]
    found: list[Group] = []
    for each in sorted(large, key=lambda one: (-_weight(one), len(one.names))):
        parts, by = set(each.names), [group for group, _ in each.names]
        alike = [other for other in found if [group for group, _ in other.names] == by]
        known = any(parts >= set(other.names) or parts <= set(other.names) for other in found)
        if not known and len(alike) < MOST_ALIKE_NAMED:
            found.append(each)
    return found[:MOST_NAMED]


def _stands_out(one: Group, usual: float) -> bool:
    return abs(one.median) >= max(LEAST, 1.5 * usual) and one.alike >= MOST_ALIKE


def _weight(one: Group) -> float:
    return abs(one.median) * log2(1 + one.number)
