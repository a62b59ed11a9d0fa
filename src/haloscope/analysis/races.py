# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of several alternatives: the fastest against each other one, by a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from haloscope.analysis.comparison import OPEN, Contrast, Measure, contrasts

Name = TypeVar("Name")


@dataclass(frozen=True)
class Race(Generic[Name]):
    """Times of one task done in several ways.

    at: the task, such as a size or a number of ranks. best: name of the fastest by its median.
    against: the contrast with each other, whose second side is the fastest, by name.
    """

    at: float
    best: Name
    against: Mapping[Name, Contrast]

    @property
    def first(self) -> tuple[Name, ...]:
        """The fastest, and all that are not shown to be slower."""
        return (self.best, *(name for name, c in self.against.items() if c.verdict != "faster"))

    @property
    def tied(self) -> bool:
        """Whether several are first because they are equal, not because launches are too few."""
        alike = all(c.verdict in ("equal", "faster") for c in self.against.values())
        return alike and len(self.first) > 1

    @property
    def too_few(self) -> bool:
        """Whether the launches are too few to distinguish the fastest from another."""
        return any(c.verdict in OPEN for c in self.against.values())

    def over(self, name: Name) -> float:
        """Return the time of another relative to the fastest, by medians."""
        contrast = self.against[name]
        assert contrast.first.time is not None and contrast.second.time is not None
        return contrast.first.time.value / contrast.second.time.value

    @property
    def lead(self) -> tuple[Name, float] | None:
        """The fastest that is shown to be slower, and its time relative to the fastest."""
        behind = [name for name, c in self.against.items() if c.verdict == "faster"]
        nearest = min(behind, key=self.over, default=None)
        return None if nearest is None else (nearest, self.over(nearest))


def races(fields: Mapping[float, Mapping[Name, Measure]], seed: int = 0) -> list[Race[Name]]:
    """Return a race for each key of `fields`, tested as one family.

    Keys with fewer than two measured alternatives are omitted.
    """
    fields = {
        at: {name: measure for name, measure in field.items() if measure.time is not None}
        for at, field in fields.items()
    }
    ordered = [(at, _by_time(field)) for at, field in fields.items() if len(field) > 1]
    pairs = [
        (fields[at][other], fields[at][best]) for at, (best, *others) in ordered for other in others
    ]
    found = iter(contrasts(pairs, seed))
    return [
        Race(at, best, {other: next(found) for other in others}) for at, (best, *others) in ordered
    ]


def _by_time(field: Mapping[Name, Measure]) -> Sequence[Name]:
    def seconds(name: Name) -> float:
        time = field[name].time
        assert time is not None
        return time.value

    return sorted(field, key=seconds)


One = TypeVar("One")


def front(
    choices: Sequence[One], time: Callable[[One], float], cost: Callable[[One], float]
) -> list[One]:
    """Return the Pareto front, from the fastest to the cheapest; of equal ones the first."""
    found: list[One] = []
    for one in sorted(choices, key=lambda choice: (time(choice), cost(choice))):
        if not found or cost(one) < cost(found[-1]):
            found.append(one)
    return found
