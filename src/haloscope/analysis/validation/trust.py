# SPDX-License-Identifier: BSD-3-Clause
"""Trust in the simulated times of a report, based on published times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.validation.bands import ErrorBand, known
from haloscope.analysis.validation.cell_groups import ErrorKind
from haloscope.grouped import grouped


@dataclass(frozen=True)
class KindOfTime:
    """A kind of time, and its band."""

    kind: ErrorKind
    band: ErrorBand


@dataclass(frozen=True)
class Grade:
    """Simulated cases of one kernel, variant, and cluster, and the widest of their bands.

    copied: the built-in cluster file of which theirs is an unchanged copy; otherwise "". beyond:
    properties that some case has and no published cell has (ErrorBand.beyond). fitted: whether
    published times of such cases set numbers of the cluster file, and none validates it. other: the
    kind of time that has a narrower band of its own.
    """

    cluster: str
    name: str
    cases: int
    band: ErrorBand
    copied: str = ""
    beyond: tuple[str, ...] = ()
    fitted: bool = False
    other: KindOfTime | None = None

    @property
    def contradicted(self) -> bool:
        """Whether the cases were compared with published times and are far off."""
        return self.band.compared and not self.band.own


@dataclass(frozen=True)
class Trust:
    """The grades of all simulated cases of a report, validated ones first.

    verified: number of cases whose result was computed and verified.
    """

    grades: tuple[Grade, ...]
    verified: int = 0

    @property
    def own(self) -> tuple[Grade, ...]:
        """Grades that published times validate."""
        return tuple(one for one in self.grades if one.band.own)

    @property
    def others(self) -> tuple[Grade, ...]:
        """Grades that no published time validates."""
        return tuple(one for one in self.grades if not one.band.own)

    @property
    def contradicted(self) -> tuple[Grade, ...]:
        """Grades of `others` that were compared with published times and are far off."""
        return tuple(one for one in self.grades if one.contradicted)

    @property
    def validated(self) -> str:
        """Whether cases are validated: "yes", "partly", or "no"."""
        return "no" if not self.own else "partly" if self.others else "yes"

    @property
    def clusters(self) -> tuple[str, ...]:
        """The simulated clusters."""
        return tuple(dict.fromkeys(one.cluster for one in self.grades))

    @property
    def copied(self) -> str:
        """The built-in cluster file of which one of theirs is a copy; otherwise ""."""
        return next((one.copied for one in self.grades if one.copied), "")


def trust(cases: Sequence[MeasuredCase]) -> Trust | None:
    """Return the grades of the simulated cases; None without any."""
    simulated = [(case.subject, case) for case in cases if case.subject]
    by_name = grouped(simulated, lambda pair: (pair[0].cluster, pair[0].name))
    grades = []
    for (cluster, name), pairs in by_name.items():
        own = [case for _, case in pairs]
        found = [case.band for case in own if case.band]
        widest = max(found, key=lambda band: (not band.own, band.factor))
        beyond = {each for case in own if case.band for each in case.band.beyond(case.settings)}
        fitted = not widest.compared and _fitted(f"{name} on {cluster}")
        kinds = {subject.kind: case.band for subject, case in pairs if case.band}
        narrower = [KindOfTime(*one) for one in kinds.items() if one[1].factor < widest.factor]
        other = narrower[0] if narrower else None
        copied, ranges = _copied(own[0]), tuple(sorted(beyond))
        grades.append(Grade(cluster, name, len(own), widest, copied, ranges, fitted, other))
    ordered = sorted(grades, key=lambda one: (not one.band.own, -one.cases))
    verified = sum(case.verified for _, case in simulated)
    return Trust(tuple(ordered), verified) if ordered else None


def preferred(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases of validated variants for kernels that have some, and all others."""
    own = {case.kernel for case in cases if case.band and case.band.own}
    return [case for case in cases if case.kernel not in own or not case.band or case.band.own]


def _fitted(name: str) -> bool:
    """Return whether all published times of a kernel and variant set numbers of its cluster."""
    cells = [cell for group in known().groups if group.name == name for cell in group.cells]
    return bool(cells) and all(cell.fitted for cell in cells)


def _copied(case: MeasuredCase) -> str:
    simulation = case.launches[0].simulation or {}
    return str(simulation.get("copied_from", ""))
