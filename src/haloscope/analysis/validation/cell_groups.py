# SPDX-License-Identifier: BSD-3-Clause
"""Published cells of one cluster file, kernel, and variant, and the errors of their predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from math import log

from haloscope.grouped import grouped
from haloscope.layout import LAYOUT, PROCESSES, Layout
from haloscope.papers.file import Scalar
from haloscope.papers.validated import ValidatedCell, called
from haloscope.study.settings import OUTPUT, PROTOCOL, SIZES, Settings

FEWEST = 10
"""FEWEST is the number of cells from which a kind of case has a separate band."""
PROBLEM = ("n", "size", "L", "size_bytes", SIZES, "matrix", "row_length", "bandwidth", "iterations")
_FOLLOWING = ("ranks", "cores", "grid", "topology", "over", "cubes", "chunks")
_UNRELATED = ("runner", "clock", "toolchain", "transport", *PROTOCOL, *OUTPUT, *_FOLLOWING)


class ErrorKind(StrEnum):
    """What an error belongs to: a time on one node or on several; a ratio of two times."""

    ONE_NODE = "time on one node"
    SEVERAL_NODES = "time on several nodes"
    LAYOUTS = "ratio between layouts"
    NODES = "ratio between node counts"
    WAYS = "ratio between variants"


MESH = ("n", "L")
LAYOUT_AND_MESH = (*PROCESSES, *MESH)
"""Settings of published cells that a badge names if a case is outside their range."""

TIMES = (ErrorKind.ONE_NODE, ErrorKind.SEVERAL_NODES)


@dataclass(frozen=True)
class CellGroup:
    """Cells of one cluster file, kernel, and variant.

    errors: absolute logarithms of predicted over published, by kind.
    """

    cluster: str
    platform: str
    kernel: str
    program: str
    cells: tuple[ValidatedCell, ...]

    @property
    def name(self) -> str:
        """For example "poisson_cg (textbook) on tara"."""
        return f"{called(self.kernel, self.program)} on {self.cluster}"

    @cached_property
    def ways(self) -> frozenset[str]:
        """Ways in which a device's messages are sent in its cells."""
        return frozenset(one.way for one in self.cells)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The published tables that contain the cells."""
        return tuple(dict.fromkeys(f"{one.paper}, table {one.table}" for one in self.cells))

    @cached_property
    def errors(self) -> Mapping[ErrorKind, tuple[float, ...]]:
        """Errors of times, and of ratios over all pairs of cells that differ in nothing else."""
        found: dict[ErrorKind, list[float]] = {kind: [] for kind in ErrorKind}
        for one in self.cells:
            if one.over:
                found[ErrorKind.NODES].append(abs(_off(one)))
            elif not one.fitted:
                found[time_kind(one.settings)].append(abs(_off(one)))
        times = [one for one in self.cells if not one.over]
        for kind in (ErrorKind.LAYOUTS, ErrorKind.NODES, ErrorKind.WAYS):
            found[kind] += [abs(_off(a) - _off(b)) for a, b in _pairs(times, kind)]
        return {kind: tuple(sorted(own)) for kind, own in found.items()}

    def of(self, kind: ErrorKind) -> tuple[float, ...]:
        """Return the errors of a kind; those of both kinds of times if one has too few.

        Cells on one node do not validate several nodes, which have a network.
        """
        kinds = self._counted(kind)
        return tuple(sorted(error for each in kinds for error in self.errors[each]))

    def of_any(self) -> tuple[float, ...]:
        """Return its errors of ratios between node counts, or else of times."""
        return self.of(ErrorKind.NODES) or self.of(ErrorKind.ONE_NODE)

    def values(self, kind: ErrorKind, name: str) -> list[Scalar]:
        """Return a setting of the cells whose errors `of` returns; for times."""
        if kind not in TIMES:
            return []
        return [
            one.settings[name]
            for one in self.cells
            if not one.over and not one.fitted and time_kind(one.settings) in self._counted(kind)
            if name in one.settings
        ]

    def spans(self, kind: ErrorKind) -> dict[str, tuple[int, int]]:
        """Return minimum and maximum of LAYOUT_AND_MESH in these cells."""
        numbers = {
            name: [value for value in self.values(kind, name) if isinstance(value, int)]
            for name in LAYOUT_AND_MESH
        }
        return {name: (min(own), max(own)) for name, own in numbers.items() if own}

    def _counted(self, kind: ErrorKind) -> tuple[ErrorKind, ...]:
        own = self.errors[kind]
        if kind not in TIMES or len(own) >= FEWEST or (kind is TIMES[1] and not own):
            return (kind,)
        return TIMES


def apart(first: Settings, second: Settings) -> ErrorKind | None:
    """Return the kind of the ratio of two cases of one kernel; None for different problems."""
    names = {*first, *second} - {*_UNRELATED}
    differ = {name for name in names if first.get(name) != second.get(name)}
    if not differ:
        return ErrorKind.WAYS
    if differ <= {*LAYOUT}:
        return ErrorKind.NODES if "nodes" in differ else ErrorKind.LAYOUTS
    if differ & {*PROBLEM} or "nodes" in differ:
        return None
    return ErrorKind.WAYS


def _off(cell: ValidatedCell) -> float:
    return log(cell.predicted / cell.published)


def time_kind(settings: Settings) -> ErrorKind:
    """Return the kind of the error of a case's time."""
    several = Layout.recorded(settings).nodes > 1
    return ErrorKind.SEVERAL_NODES if several else ErrorKind.ONE_NODE


def _pairs(
    cells: Sequence[ValidatedCell], kind: ErrorKind
) -> Iterator[tuple[ValidatedCell, ValidatedCell]]:
    """Yield the pairs that differ as this kind requires, except two cells that set numbers."""
    free = {ErrorKind.LAYOUTS: {*LAYOUT} - {"nodes"}, ErrorKind.NODES: {*LAYOUT}}

    def shared(one: ValidatedCell) -> tuple[tuple[str, object], ...]:
        kept = [*LAYOUT, *PROBLEM] if kind is ErrorKind.WAYS else {*one.settings} - free[kind]
        names = sorted({*kept} & {*one.settings} - {*_UNRELATED})
        return tuple((name, one.settings[name]) for name in names)

    for own in grouped(cells, shared).values():
        for a, b in combinations(own, 2):
            predicted = not (a.fitted and b.fitted) and a.settings != b.settings
            if predicted and apart(a.settings, b.settings) is kind:
                yield a, b
