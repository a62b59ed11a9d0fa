# SPDX-License-Identifier: BSD-3-Clause
"""Performance guidelines: no operation should take longer than others that do its work.

Sources: Träff, Gropp and Thakur, Self-consistent MPI performance guidelines (IEEE TPDS 21, 2010);
Hunold, Carpen-Amarie, Lübbe and Träff, Automatic verification of self-consistent MPI performance
guidelines (PGMPI; Euro-Par 2016). Of their guidelines those whose operations `collectives` has.

A stand-in's time is the sum of its operations' times, each by itself, launch by launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.collectives import undisturbed
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.sweeps import Swept, sweep

WORTH = 1.05
"""WORTH is the smallest factor by which an operation that is slower breaks a guideline, because
nobody would look for a stand-in to save less."""

Sized = Literal["alike", "by ranks", "of ranks"]
"""A stand-in's message beside the operation's: as long, a p-th of it, or p times as long."""


@dataclass(frozen=True)
class Guideline:
    """An operation, and the operations that can stand in for it, each with its message's size."""

    operation: str
    stand_in: tuple[tuple[str, Sized], ...]

    @property
    def text(self) -> str:
        """ "bcast no slower than scatter and allgather"."""
        others = " and ".join(name for name, _ in self.stand_in)
        return f"{self.operation} no slower than {others}"


GUIDELINES = (
    Guideline("allreduce", (("reduce", "alike"), ("bcast", "alike"))),
    Guideline("reduce", (("allreduce", "alike"),)),
    Guideline("bcast", (("scatter", "by ranks"), ("allgather", "by ranks"))),
    Guideline("allgather", (("gather", "alike"), ("bcast", "of ranks"))),
    Guideline("allgather", (("alltoall", "alike"),)),
    Guideline("allgather", (("allreduce", "of ranks"),)),
    Guideline("gather", (("allgather", "alike"),)),
    Guideline("gather", (("reduce", "of ranks"),)),
    Guideline("scatter", (("bcast", "of ranks"),)),
)
"""GUIDELINES hold for any MPI library. Sizes are messages of bcast, reduce and allreduce, and one
rank's block of the others: scatter and allgather of a p-th each do what a bcast does."""


@dataclass(frozen=True)
class Followed:
    """A guideline on one case, at every size that was measured of all its operations.

    at: by size, the operation against its stand-in: "slower" where the guideline is broken.
    """

    guideline: Guideline
    case: MeasuredCase
    at: Mapping[int, Contrast]

    @property
    def broken(self) -> dict[int, Contrast]:
        """Where the operation is shown to be slower, and by a factor that is worth a word."""
        return {
            size: one
            for size, one in self.at.items()
            if one.verdict == "slower" and over(one) >= WORTH
        }

    @property
    def too_few(self) -> bool:
        """Whether launches are too few to tell, at some size."""
        return any(one.verdict == "too few launches to tell" for one in self.at.values())

    @property
    def worst(self) -> tuple[int, Contrast] | None:
        """The size at which the operation takes longest against its stand-in, of those broken."""
        broken = self.broken
        at = max(broken, key=lambda size: over(broken[size]), default=None)
        return None if at is None else (at, broken[at])


def over(contrast: Contrast) -> float:
    """How many times as long as its stand-in the operation takes."""
    assert contrast.ratio is not None
    return 1 / contrast.ratio.value


def followed(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Followed]:
    """All guidelines on all cases of collectives, corrected for the tests of all of them."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    pairs: dict[tuple[MeasuredCase, Guideline], dict[int, tuple[Measure, Measure]]] = {}
    for case in own:
        if case.ranks > 1:
            points = {(str(one.operation), Fraction(one.size_bytes)): one for one in sweep(case)}
            for guideline in GUIDELINES:
                if found := _pairs(case, guideline, points):
                    pairs[case, guideline] = found
    tests = iter(contrasts([pair for found in pairs.values() for pair in found.values()], seed))
    return [
        Followed(guideline, case, {size: next(tests) for size in found})
        for (case, guideline), found in pairs.items()
    ]


def _pairs(
    case: MeasuredCase, guideline: Guideline, points: Mapping[tuple[str, Fraction], Swept]
) -> dict[int, tuple[Measure, Measure]]:
    """By size: the stand-in, and the operation. Not at sizes that were measured disturbed."""
    found = {}
    factors = {"alike": Fraction(1), "by ranks": Fraction(1, case.ranks)}
    factors["of ranks"] = Fraction(case.ranks)
    for point in undisturbed(case).get(guideline.operation, ()):
        size = point.size_bytes
        others = [points.get((name, size * factors[how])) for name, how in guideline.stand_in]
        there = [one for one in others if one is not None]
        if len(there) == len(others) and len({len(one.sample) for one in (point, *there)}) == 1:
            sample = tuple(map(sum, zip(*(one.sample for one in there), strict=True)))
            stand_in = Measure(case, "", sample, case.estimate(sample))
            found[size] = (stand_in, Measure(case, "", point.sample, point.time))
    return found
