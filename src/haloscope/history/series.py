# SPDX-License-Identifier: BSD-3-Clause
"""Times of a case over result folders, their change points, and simultaneous other changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median

from haloscope.history.index import IndexedLaunch
from haloscope.stats.change_points import change_points, lacking
from haloscope.stats.estimates import Estimate, typical
from haloscope.study.settings import Settings, describe, order, varying


@dataclass(frozen=True)
class Measured:
    """A case in one result folder. facts: conditions of its launches, with all values."""

    folder: Path
    started: datetime
    time: Estimate
    facts: Mapping[str, str]


@dataclass(frozen=True)
class ChangePoint:
    """A change of times between two folders of a series.

    index: of the first folder after the change. ratio: median time after it over the one before.
    beside: other differences between the two folders: name, before, after.
    """

    index: int
    ratio: float
    beside: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Series:
    """A case on a machine over time. name: what distinguishes it from others there."""

    place: str
    case: str
    name: str
    settings: Settings
    measured: tuple[Measured, ...]

    @property
    def changes(self) -> tuple[ChangePoint, ...]:
        """Change points, in order; () if they cannot be searched for, see `lacking`."""
        if lacking():
            return ()
        medians = [one.time.value for one in self.measured]
        starts = [0, *change_points(medians), len(medians)]
        found = []
        for begin, at, end in zip(starts, starts[1:], starts[2:], strict=False):
            ratio = median(medians[at:end]) / median(medians[begin:at])
            before, after = self.measured[at - 1], self.measured[at]
            found.append(ChangePoint(at, ratio, tuple(differences(before.facts, after.facts))))
        return tuple(found)


def series(launches: Iterable[IndexedLaunch]) -> list[Series]:
    """Return the series of every case on every machine, by machine, kernel, and settings."""
    found: dict[tuple[str, str], dict[Path, list[IndexedLaunch]]] = {}
    for one in launches:
        found.setdefault((one.place, one.case), {}).setdefault(one.folder, []).append(one)
    latest = {key: [*folders.values()][-1][-1].settings for key, folders in found.items()}
    made = []
    for (place, case), folders in found.items():
        settings = latest[place, case]
        alike = [own for own in latest.values() if own["kernel"] == settings["kernel"]]
        name = f"{settings['kernel']} {describe(settings, varying(alike))}".strip()
        measured = sorted((_measured(*each) for each in folders.items()), key=lambda m: m.started)
        made.append(Series(place, case, name, settings, tuple(measured)))
    return sorted(made, key=lambda one: (one.place, order(one.settings)))


def _measured(folder: Path, launches: Sequence[IndexedLaunch]) -> Measured:
    names = dict.fromkeys(name for one in launches for name in one.facts)
    values = {name: {one.facts[name] for one in launches if name in one.facts} for name in names}
    facts = {name: "; ".join(sorted(own)) for name, own in values.items()}
    times = [one.time_s for one in launches]
    return Measured(folder, min(one.started for one in launches), typical(times), facts)


def differences(
    before: Mapping[str, str], after: Mapping[str, str]
) -> Iterable[tuple[str, str, str]]:
    """Return the differences by name; "not known" if one side has no value."""
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, "not known"), after.get(name, "not known")
        if one != other:
            yield name, one, other
