# SPDX-License-Identifier: BSD-3-Clause
"""Where predictions are off, and by how much time: errors by nodes, processes, points and messages.

Errors that are noise look alike wherever they are. Errors with a structure have a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2
from statistics import median

from haloscope.analysis.validation.predictions import LATENCY, PredictedCell, PredictedTime
from haloscope.quantities import count, size

NODES, PROCESSES, POINTS, MESSAGE = "nodes", "processes per node", "points per node", "message"
GROUPS = (NODES, PROCESSES, "threads", POINTS, MESSAGE, "placement", "option", "test", "ranks")
FEWEST, LEAST, MOST_ALIKE = 3, 0.05, 0.75
"""What stands out: so many cells, a median error twice that of all, most errors on one side."""
MOST_NAMED, MOST_ALIKE_NAMED = 8, 2
"""How many groups are named, the largest errors first, and how many by the same settings."""


@dataclass(frozen=True)
class Residual:
    """How far one prediction is off.

    where: by group, its place in the group's order and its name. error: predicted over known, less
    one. missing_s: what is known less what was predicted, of one iteration or message; None of what
    is no time.
    """

    where: Mapping[str, tuple[float, str]]
    error: float
    missing_s: float | None


@dataclass(frozen=True)
class Group:
    """Residuals that agree in one setting, or in two.

    names: by group. median, low, high: of their errors. missing_s: the median. alike: the share of
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
    """Residuals of published cells that set no number and have an error."""
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
    """Residuals of what was measured here."""
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
    """Residuals by one setting or several, in the order of these."""
    parts: dict[tuple[tuple[float, str], ...], list[Residual]] = {}
    for one in residuals:
        if all(group in one.where for group in by):
            parts.setdefault(tuple(one.where[group] for group in by), []).append(one)
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
    """The settings that some of them differ in."""
    return [
        group
        for group in GROUPS
        if len({one.where[group] for one in residuals if group in one.where}) > 1
    ]


def outstanding(residuals: Sequence[Residual]) -> list[Group]:
    """Groups by one or two settings whose errors are large and on one side, the largest first.

    A group within one that is named is not, nor more than MOST_ALIKE_NAMED by the same settings.
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
