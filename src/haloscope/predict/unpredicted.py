# SPDX-License-Identifier: BSD-3-Clause
"""A cell of a published table to predict, and the case that is simulated for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haloscope.analysis.validation.predictions import PredictedCell
from haloscope.layout import CORES, Layout
from haloscope.stats.estimates import typical
from haloscope.study.case import Case
from haloscope.study.program import Program
from haloscope.study.settings import SIZES, Settings
from haloscope.toolchains.simgrid import SIMGRID

_WHERE = (*CORES, "places", "bind", "thread_bind")


def case_of(program: Program, kernel: str, given: Mapping[str, Any], layout: Layout) -> Case:
    """Return one simulated launch of a kernel with these parameters."""
    forecast = program.forecast(kernel, given, layout.ranks, layout.threads)
    return Case(
        kernel=kernel,
        given=given,
        params=forecast.params,
        layout=layout,
        toolchain=SIMGRID,
        run=0,
        launches=1,
        timeout_s=3600,
        memory_bytes=forecast.memory_bytes,
    )


def _time(record: Mapping[str, Any]) -> float:
    return float(record["times_s"][0])


@dataclass(frozen=True)
class Unpredicted:
    """A cell to predict.

    of: function from its case's record to the cell's value, by default its time. over: what the
    value is divided by, launch by launch, if it is a ratio.
    """

    cell: PredictedCell
    kernel: str
    given: Mapping[str, Any]
    layout: Layout
    of: Callable[[Mapping[str, Any]], float] = _time
    over: Unpredicted | None = None

    def case(self, program: Program) -> Case:
        """Return the case to simulate."""
        return case_of(program, self.kernel, self.given, self.layout)

    def answered(
        self, records: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()
    ) -> PredictedCell:
        """Return the cell with its prediction, the median of replicates, or with the reason for
        none.

        others: records of `over`, if any.
        """
        if bad := [record for record in (*records, *others) if record["outcome"] != "ok"]:
            return replace(self.cell, problem=bad[0]["reason"])
        own = self._settings
        below_it = self.over._settings if self.over is not None else own
        figures = [self.of(record) for record in records]
        if self.over is not None:
            below = [self.over.of(record) for record in others]
            figures = [one / other for one, other in zip(figures, below, strict=True)]
        found = typical(figures)
        drawn = found if len(records) > 1 else None
        return replace(
            self.cell,
            predicted=found.value,
            drawn=drawn,
            kernel=self.kernel,
            settings=own,
            over={key: value for key, value in below_it.items() if value != own[key]},
        )

    @property
    def _settings(self) -> Settings:
        """Return its keys, the given parameters, and the places of its ranks."""
        recorded = self.layout.as_recorded()
        where = {key: recorded[key] for key in _WHERE if key in recorded}
        given = {key: value for key, value in self.given.items() if key != SIZES}
        return {**self.cell.keys, **given, **where}
