"""A cell of a published table that is to be predicted, and the case that is simulated for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haloscope.analysis.predictions import PredictedCell
from haloscope.stats.estimates import typical
from haloscope.study.case import Case, Layout
from haloscope.study.plan import Program
from haloscope.toolchains.simgrid import SIMGRID


@dataclass(frozen=True)
class Unpredicted:
    """A cell that is to be predicted. of: what its case's record says of the cell's figure."""

    cell: PredictedCell
    kernel: str
    given: Mapping[str, Any]
    layout: Layout
    of: Callable[[Mapping[str, Any]], float]

    def case(self, program: Program) -> Case:
        """What is to be simulated for it."""
        forecast = program.forecast(self.kernel, self.given, self.layout.ranks, self.layout.threads)
        return Case(
            kernel=self.kernel,
            given=self.given,
            params=forecast.params,
            layout=self.layout,
            toolchain=SIMGRID,
            run=0,
            launches=1,
            timeout_s=600,
            memory_bytes=forecast.memory_bytes,
        )

    def answered(self, records: Sequence[Mapping[str, Any]]) -> PredictedCell:
        """The cell with its prediction, the median of replicates, or with why there is none."""
        if bad := [record for record in records if record["outcome"] != "ok"]:
            return replace(self.cell, problem=bad[0]["reason"])
        found = typical([self.of(record) for record in records])
        drawn = found if len(records) > 1 else None
        return replace(self.cell, predicted=found.value, drawn=drawn)
