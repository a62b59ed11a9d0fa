# SPDX-License-Identifier: BSD-3-Clause
"""Sensitivity of a published table's predictions to the assumed numbers of a cluster file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from haloscope.analysis.validation.predictions import PredictedCell
from haloscope.clusters.assumed import Assumed, numbers, scaled
from haloscope.papers.tables import PaperTable
from haloscope.predict.paper_validation import predicted, simulated_place
from haloscope.run.progress import Teller

FACTOR = 1.2
"""Factor applied to each assumed number; data sheets are about that uncertain."""


@dataclass(frozen=True)
class Moved:
    """Change of a table's predictions if one assumed number is multiplied by FACTOR.

    median, most: of the absolute relative changes of the cells that have an error, or of all if
    none has. farthest: the cell with the largest change, with its new prediction. change: that
    change, signed.
    """

    assumption: Assumed
    median: float
    most: float
    farthest: PredictedCell
    change: float


def sensitivity(table: PaperTable, tell: Teller) -> list[Moved]:
    """Return the change for each assumed number, the largest change first.

    Each needs as many simulations as the table has cells. [] if nothing is assumed, or no cell
    could be simulated.
    """
    there = simulated_place(table)
    usual = predicted(table, there, tell)
    found = []
    for one in numbers(there.cluster):
        tell.say(f"{one.where} = {one.value:g}, multiplied by {FACTOR:g}")
        other = replace(there, cluster=scaled(there.cluster, one, FACTOR))
        if (moved := _moved(one, usual, predicted(table, other, tell))) is not None:
            found.append(moved)
    return sorted(found, key=lambda each: -each.most)


def _moved(
    one: Assumed, usual: Sequence[PredictedCell], then: Sequence[PredictedCell]
) -> Moved | None:
    changes = [
        (after.predicted / before.predicted - 1, after)
        for before, after in zip(usual, then, strict=True)
        if before.predicted and after.predicted
    ]
    changes = [each for each in changes if each[1].telling] or changes
    if not changes:
        return None
    change, farthest = max(changes, key=lambda each: abs(each[0]))
    middle = median(abs(each) for each, _ in changes)
    return Moved(one, middle, abs(change), farthest, change)
