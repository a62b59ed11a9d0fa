# SPDX-License-Identifier: BSD-3-Clause
"""Errors of simulated times: bands from published cells and their predictions.

time_band(case): of a simulated time. ratio_band(first, second): of the ratio of two.

A band is a factor: for a simulated time t, COVERAGE of the published times are between t / factor
and t x factor. It is determined from cells of the same cluster file, kernel, and variant; without
any, from the kernel's cells elsewhere; for a kernel without cells, from all of them.
docs/decisions.md gives the reasons, docs/bench/bands.md the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from math import ceil, exp, hypot, log

from haloscope.analysis.validation.cell_groups import (
    FEWEST,
    MESH,
    TIMES,
    CellGroup,
    ErrorKind,
    apart,
    time_kind,
)
from haloscope.grouped import grouped
from haloscope.layout import Layout
from haloscope.papers.validated import ValidatedCell, called, program_of, validated_cells, way_of
from haloscope.study.settings import Settings

COVERAGE = 0.95
FAR = 1.5
"""FAR is the factor from which a simulated and a published value disagree."""
_DEVICE = "memory=device"


class Basis(StrEnum):
    """Origin of a band: the published values in the report itself; the same cluster file, kernel,
    and variant; another variant; the kernel on other clusters; all kernels.
    """

    REPORT = "report"
    OWN = "validated"
    VARIANT = "other variant"
    NEAREST = "nearest"
    WIDEST = "widest"


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
    def compared(self) -> bool:
        """Whether such cases were compared with published values."""
        return self.basis in (Basis.REPORT, Basis.OWN)

    @property
    def own(self) -> bool:
        """Whether published values validate such a case: they were compared and are not FAR off."""
        return self.compared and self.factor < FAR


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
        return time_kind(self.settings)


class Bands:
    """Bands from a set of cells: all of them, or all except those of one table."""

    def __init__(self, cells: Iterable[ValidatedCell]) -> None:
        """Group the cells by cluster file, kernel, and variant."""
        by_key = grouped(cells, lambda one: (one.cluster, one.platform, one.kernel, one.program))
        self.groups = [CellGroup(*key, tuple(own)) for key, own in by_key.items()]
        self._found: dict[tuple[str, ...], ErrorBand] = {}

    def band(self, subject: Subject, kind: ErrorKind) -> ErrorBand:
        """Return the band of the same cluster file, kernel, and variant; else of the kernel; else
        the widest.

        Another kernel on the same cluster validates nothing: a kernel's time may depend on numbers
        of the cluster file that the other's does not. The widest of all bands is assumed then.
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
            Basis.NEAREST: lambda g: g.kernel == subject.kernel and _in_one_memory(g, subject),
            Basis.WIDEST: lambda _: True,
        }
        for basis, fits in tiers.items():
            found = [(g, g.of(kind)) for g in self.groups if fits(g)]
            # the error of a ratio is hardly smaller than that of a time
            if basis is Basis.NEAREST:
                found = [(g, errors or g.of_any()) for g, errors in found]
            elif basis is not Basis.OWN and kind in TIMES:
                found = [(g, errors or g.of(ErrorKind.NODES)) for g, errors in found]
            known = [(quantile(errors), g, errors) for g, errors in found if errors]
            # not determined by a few unusual cells if there are others
            if basis in (Basis.NEAREST, Basis.WIDEST):
                known = [one for one in known if len(one[2]) >= FEWEST] or known
            if basis is Basis.WIDEST:  # a kernel that is not modelled says nothing about others
                known = [one for one in known if one[0] < log(FAR)] or known
            if known:
                most, group, errors = max(known, key=lambda one: one[0])
                of = group.name
                if not group.of(kind):
                    other = "ratios" if group.of(ErrorKind.NODES) else "times"
                    of = f"published {other} of {group.name}"
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
    return apart(first.settings, second.settings)


def reported(errors: Sequence[float], band: ErrorBand) -> ErrorBand | None:
    """Return the band of a report whose own published values contradict a band; otherwise None.

    errors: absolute logarithms of simulated over published values, from the nearest value with the
    same print. They contradict a band if fewer than COVERAGE of them are within it or within FAR.
    A single one does not contradict published values that were compared before.
    """
    limit = log(max(FAR, band.factor))
    far = sum(error > limit for error in errors)
    if far <= (1 - COVERAGE) * len(errors) or far <= band.compared:
        return None
    return ErrorBand(exp(quantile(errors)), len(errors), Basis.REPORT)


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


def _regime(settings: Settings) -> tuple[bool, bool]:
    """Return whether a case uses several nodes, and several threads per process."""
    layout = Layout.recorded(settings)
    return layout.nodes > 1, layout.threads > 1


@cache
def known() -> Bands:
    """Return the bands from all cells."""
    return Bands(validated_cells())
