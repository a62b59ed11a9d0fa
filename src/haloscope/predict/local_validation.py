"""This machine's real runs set against their simulation on its calibration.

Both are measured in turn, launch by launch, in one session: a machine that is shared changes its
speed by more than a model is wrong. What calibrates is never what is predicted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from haloscope.analysis.cases import MeasuredCase, group, label_of
from haloscope.analysis.dossier import open_folder
from haloscope.analysis.sweeps import sweep
from haloscope.clusters.schema import Cluster, missing_for_simulation
from haloscope.errors import Problem, UserError
from haloscope.predict.calibration import calibrate
from haloscope.predict.paper_validation import simulated
from haloscope.quantities import size
from haloscope.records.folder import ResultFolder
from haloscope.records.record import Record
from haloscope.run.progress import Teller
from haloscope.run.simulated import SimulatedCluster
from haloscope.stats.estimates import Estimate
from haloscope.study.case import Case
from haloscope.study.file import load
from haloscope.toolchains.simgrid import SIMGRID

STUDY = "validate-local"
PREDICTED = "predicted"
"""How the names of runs begin that are predicted; all others are the calibration's."""


@dataclass(frozen=True)
class Prediction:
    """A measured time with its spread, and the simulated one, in seconds."""

    kernel: str
    what: str
    measured: Estimate
    predicted_s: float

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted_s / self.measured.value - 1


@dataclass(frozen=True)
class Validation:
    """The calibration's cluster, what it predicts, and the cases that could not be simulated."""

    model: Cluster
    predictions: tuple[Prediction, ...]
    failures: tuple[str, ...]


def validate(path: Path, tell: Teller) -> Validation:
    """What a folder's calibration says of its other cases, as far as both were measured."""
    dossier, cells = open_folder(path), _predicted(ResultFolder(path))
    apart = {case.id for case in cells}
    own = [case for case in dossier.cases if case.id not in apart and case.launches]
    when = max(record.ended or "" for record in dossier.records)[:10]
    model = calibrate("calibrated", own, dossier.machine or {}, when)
    if problems := missing_for_simulation(model):
        raise UserError(problems)
    there = SimulatedCluster(model.name, model)
    cases = [replace(case, toolchain=SIMGRID, transport=None, launches=1) for case in cells]
    found = simulated(STUDY, cases, there, there.workbench({}, tell), tell)
    real = [case for case in dossier.cases if case.id in apart]
    twins = group(Record.of(record) for record in found.values())
    failures = (
        f"{case.label}: {record['reason']}"
        for case in cases
        if (record := found[case.id])["outcome"] != "ok"
    )
    return Validation(model, tuple(predictions(real, twins)), tuple(failures))


def _predicted(folder: ResultFolder) -> list[Case]:
    """The cases of a folder's plan that are to be predicted."""
    runs = load(folder.study).runs
    found = [
        case for case in folder.load().cases if (runs[case.run].name or "").startswith(PREDICTED)
    ]
    if not found:
        what, mend = "nothing in it is to be predicted", f"give a folder of the study {STUDY}"
        raise UserError(Problem(str(folder.path), what, mend))
    return found


def predictions(
    real: Sequence[MeasuredCase], simulated: Sequence[MeasuredCase]
) -> Iterator[Prediction]:
    """Every case that both have: the time of a step, or of each size of a sweep."""
    found = {_setting(case): case for case in simulated}
    for case in real:
        twin = found.get(_setting(case))
        if twin is None or case.time is None or twin.time is None:
            continue
        points = {point.size_bytes: point for point in sweep(twin)}
        for point in sweep(case):
            predicted = points[point.size_bytes].time.value
            yield Prediction(case.kernel, size(point.size_bytes), point.time, predicted)
        if not points:
            yield Prediction(case.kernel, label_of(case, real), case.time, twin.time.value)


def errors(found: Sequence[Prediction]) -> tuple[float, float]:
    """Median and worst absolute relative error."""
    absolute = [abs(one.error) for one in found]
    return median(absolute), max(absolute)


def _setting(case: MeasuredCase) -> str:
    """What is the same for a case and its simulation."""
    apart = ("toolchain", "transport", "runner", "clock")
    return json.dumps({k: v for k, v in case.settings.items() if k not in apart}, sort_keys=True)
