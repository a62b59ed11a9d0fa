# SPDX-License-Identifier: BSD-3-Clause
"""Errors of simulated times: bands from published cells and their predictions.

time_band(case): of a simulated time. ratio_band(first, second): of the ratio of two.

A band is a factor: for a simulated time t, COVERAGE of the published times are between t / factor
and t x factor. It is determined from cells of the same cluster file, kernel, and variant; without
any, from the nearest ones. docs/decisions.md gives the reasons, docs/bench/bands.md the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from itertools import combinations
from math import ceil, exp, hypot, log

from haloscope.grouped import grouped
from haloscope.layout import LAYOUT, PROCESSES, Layout
from haloscope.papers.file import Scalar
from haloscope.papers.validated import ValidatedCell, called, program_of, validated_cells, way_of
from haloscope.study.settings import OUTPUT, PROTOCOL, SIZES, Settings

COVERAGE = 0.95
FEWEST = 10
"""FEWEST is the number of cells from which a kind of case has a separate band."""
PROBLEM = ("n", "size", "L", "size_bytes", SIZES, "matrix", "row_length", "bandwidth", "iterations")
_FOLLOWING = ("ranks", "cores", "grid", "topology", "over", "cubes", "chunks")
_DEVICE = "memory=device"
_UNRELATED = ("runner", "clock", "toolchain", "transport", *PROTOCOL, *OUTPUT, *_FOLLOWING)


class Basis(StrEnum):
    """Origin of a band: the same cluster file, kernel, and variant; the nearest ones; all."""

    OWN = "validated"
    VARIANT = "other variant"
    NEAREST = "nearest"
    WIDEST = "widest"


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
class ErrorBand:
    """A factor and its origin.

    cells: number of published cells, or of pairs of cells. of: their cluster, kernel, and variant;
    "" if these are the case's own. spans: minimum and maximum of LAYOUT_AND_MESH in the cells of a
    time. binds: bindings of their processes. Both are empty for ratios.
    """

    factor: float
    cells: int
    basis: Basis
    of: str = ""
    tables: tuple[str, ...] = ()
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    binds: tuple[str, ...] = ()

    def beyond(self, settings: Settings) -> tuple[str, ...]:
        """Return the settings of LAYOUT_AND_MESH in which a case is outside the range of the cells.

        "bind" is included if the case has several processes per node and no cell has its binding.
        """
        found = [
            name
            for name, (least, most) in self.spans.items()
            if isinstance(own := settings.get(name), int) and not least <= own <= most
        ]
        bind, ppn = settings.get("bind"), settings.get("ppn")
        bound = self.binds and bind not in (None, *self.binds) and ppn not in (None, 1)
        return (*found, "bind") if bound else tuple(found)

    @property
    def own(self) -> bool:
        """Whether published cells validate such a case."""
        return self.basis is Basis.OWN


@dataclass(frozen=True)
class Subject:
    """The settings of a case on which the error of its simulation depends."""

    cluster: str
    platform: str
    kernel: str
    settings: Settings

    @property
    def program(self) -> str:
        """The variant, and the memory that it uses."""
        return program_of(self.settings)

    @property
    def way(self) -> str:
        """How a device's messages are sent and waited for; "" for PETSc's way."""
        return way_of(self.settings)

    @property
    def name(self) -> str:
        """For example "sf_grid (memory=device, mpi=staged)"."""
        return called(self.kernel, ", ".join(filter(None, (self.program, self.way))))

    @property
    def kind(self) -> ErrorKind:
        """Kind of the error of its time."""
        return _time_kind(self.settings)


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
                found[_time_kind(one.settings)].append(abs(_off(one)))
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

    def values(self, kind: ErrorKind, name: str) -> list[Scalar]:
        """Return a setting of the cells whose errors `of` returns; for times."""
        if kind not in TIMES:
            return []
        return [
            one.settings[name]
            for one in self.cells
            if not one.over and not one.fitted and _time_kind(one.settings) in self._counted(kind)
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


class Bands:
    """Bands from a set of cells: all of them, or all except those of one table."""

    def __init__(self, cells: Iterable[ValidatedCell]) -> None:
        """Group the cells by cluster file, kernel, and variant."""
        by_key = grouped(cells, lambda one: (one.cluster, one.platform, one.kernel, one.program))
        self.groups = [CellGroup(*key, tuple(own)) for key, own in by_key.items()]
        self._found: dict[tuple[str, ...], ErrorBand] = {}

    def band(self, subject: Subject, kind: ErrorKind) -> ErrorBand:
        """Return the band of the same cluster file, kernel, and variant; else the nearest or the
        widest.
        """
        of = (subject.kernel, subject.program, subject.way)
        key = (subject.cluster, subject.platform, *of, kind)
        if key not in self._found:
            self._found[key] = self._band(subject, kind)
        return self._found[key]

    def _band(self, subject: Subject, kind: ErrorKind) -> ErrorBand:
        tiers: dict[Basis, Callable[[CellGroup], bool]] = {
            Basis.OWN: lambda g: (
                _same(g, subject) and g.program == subject.program and subject.way in g.ways
            ),
            Basis.VARIANT: lambda g: _same(g, subject) and _in_one_memory(g, subject),
            Basis.NEAREST: lambda g: (
                (g.kernel == subject.kernel or _there(g, subject)) and _in_one_memory(g, subject)
            ),
            Basis.WIDEST: lambda _: True,
        }
        for basis, fits in tiers.items():
            found = [(g, g.of(kind)) for g in self.groups if fits(g)]
            # the error of a ratio is at least that of a time
            if basis is not Basis.OWN and kind in TIMES:
                found = [(g, errors or g.of(ErrorKind.NODES)) for g, errors in found]
            known = [(quantile(errors), g, errors) for g, errors in found if errors]
            # not determined by a few unusual cells of other programs
            if basis in (Basis.NEAREST, Basis.WIDEST):
                known = [one for one in known if len(one[2]) >= FEWEST] or known
            if known:
                most, group, errors = max(known, key=lambda one: one[0])
                of = group.name if group.of(kind) else f"published ratios of {group.name}"
                return ErrorBand(
                    exp(most),
                    len(errors),
                    basis,
                    "" if basis is Basis.OWN else of,
                    group.tables,
                    group.spans(kind),
                    tuple(sorted({str(one) for one in group.values(kind, "bind")})),
                )
        raise LookupError(f"no published cell has a {kind}")

    def time(self, subject: Subject) -> ErrorBand:
        """Return the band of a simulated time."""
        return self.band(subject, subject.kind)

    def beyond(self, subject: Subject) -> str:
        """Return properties of a case that no published cell of its cluster, kernel, and variant
        has.

        "" if there is such a cell, and if there are no cells at all. Several nodes use a network,
        several threads have parallel regions, more cores per node may use two sockets, and smaller
        meshes fit in caches. Cells without these properties do not validate them.
        """
        own = [g for g in self.groups if _same(g, subject) and g.program == subject.program]
        cells = [one.settings for group in own for one in group.cells]
        if not cells:
            return ""
        if _regime(subject.settings) not in {_regime(one) for one in cells}:
            nodes, threads = _regime(subject.settings)
            where = "several nodes" if nodes else "one node"
            return f"several threads per task on {where}" if threads else where
        cores, *known = (Layout.recorded(s).cores_of_a_node for s in (subject.settings, *cells))
        most = max(known)
        if cores > most:
            return f"{cores} cores per node (at most {most})"
        for name in MESH:
            known = [size for one in cells if isinstance(size := one.get(name), int)]
            size = subject.settings.get(name)
            if known and isinstance(size, int) and not min(known) <= size <= max(known):
                return f"{name} = {size} ({min(known)} to {max(known)})"
        return ""

    def ratio(self, first: Subject, second: Subject) -> ErrorBand:
        """Return the band of the ratio of two simulated times.

        Within one cluster file, kernel, and problem it is the error of published ratios. Other
        pairs have the errors of both times, combined as independent errors.
        """
        kind = pairing(first, second)
        if kind is not None:
            bands = [self.band(one, kind) for one in (first, second)]
            alike = second.program == first.program
            return max(bands, key=lambda band: [*Basis].index(band.basis)) if alike else bands[0]
        one, other = self.time(first), self.time(second)
        wider = max(one, other, key=lambda band: band.factor)
        basis = max(one.basis, other.basis, key=[*Basis].index)
        both = exp(hypot(log(one.factor), log(other.factor)))
        return ErrorBand(both, wider.cells, basis, wider.of, wider.tables)


def pairing(first: Subject, second: Subject) -> ErrorKind | None:
    """Return what distinguishes two cases; None for different clusters, kernels, or problems.

    Two times of one case, two operations, and one case in two folders count as variants.
    """
    if (first.platform, first.kernel) != (second.platform, second.kernel):
        return None
    return _apart(first.settings, second.settings)


def _apart(first: Settings, second: Settings) -> ErrorKind | None:
    names = {*first, *second} - {*_UNRELATED}
    differ = {name for name in names if first.get(name) != second.get(name)}
    if not differ:
        return ErrorKind.WAYS
    if differ <= {*LAYOUT}:
        return ErrorKind.NODES if "nodes" in differ else ErrorKind.LAYOUTS
    if differ & {*PROBLEM} or "nodes" in differ:
        return None
    return ErrorKind.WAYS


def quantile(errors: Sequence[float]) -> float:
    """Return the value that COVERAGE of further errors do not exceed; the largest if
    there are few.
    """
    rank = ceil(COVERAGE * (len(errors) + 1))
    return sorted(errors)[min(rank, len(errors)) - 1]


def _same(group: CellGroup, subject: Subject) -> bool:
    return _there(group, subject) and group.kernel == subject.kernel


def _in_one_memory(group: CellGroup, subject: Subject) -> bool:
    """Return whether both use a GPU or both the host; times of one do not validate the other."""
    return (_DEVICE in group.program) == (_DEVICE in subject.program)


def _there(group: CellGroup, subject: Subject) -> bool:
    """Return whether it is the same state of the cluster file; older records have only its name."""
    if not subject.platform:
        return group.cluster == subject.cluster
    return group.platform == subject.platform


def _off(cell: ValidatedCell) -> float:
    return log(cell.predicted / cell.published)


def _regime(settings: Settings) -> tuple[bool, bool]:
    """Return whether a case uses several nodes, and several threads per process."""
    layout = Layout.recorded(settings)
    return layout.nodes > 1, layout.threads > 1


def _time_kind(settings: Settings) -> ErrorKind:
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
            if predicted and _apart(a.settings, b.settings) is kind:
                yield a, b


@cache
def known() -> Bands:
    """Return the bands from all cells."""
    return Bands(validated_cells())
