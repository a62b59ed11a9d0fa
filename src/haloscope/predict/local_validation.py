# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of this machine's real runs with their simulation from its calibration.

Both are measured in turn, launch by launch, in one campaign: the speed of a shared machine varies
by more than the error of the model. Runs used for the calibration are never predicted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.dossier import open_folder
from haloscope.analysis.fits import exchanges
from haloscope.analysis.grouping import group
from haloscope.analysis.sweeps import sweep
from haloscope.analysis.validation.predictions import PredictedTime
from haloscope.clusters.schema import Cluster, missing_for_simulation, require_undisturbed
from haloscope.errors import Problem, UserError, reject
from haloscope.layout import CORES
from haloscope.papers.tables import Scalar
from haloscope.predict.calibration import calibrate
from haloscope.predict.paper_validation import simulated
from haloscope.quantities import size
from haloscope.records.folder import ResultFolder
from haloscope.records.record import Record
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.progress import Teller
from haloscope.study.case import Case
from haloscope.study.file import load
from haloscope.toolchains.simgrid import SIMGRID

STUDY = "validate-local"
PREDICTED = "predicted"
"""PREDICTED begins the names of the study's runs that are predicted; all others are for the
calibration.
"""


@dataclass(frozen=True)
class Validation:
    """The calibrated cluster, its predictions, and the cases that could not be simulated."""

    model: Cluster
    predictions: tuple[PredictedTime, ...]
    failures: tuple[str, ...]


def validate(path: Path, tell: Teller, *, disturbed: bool = False) -> Validation:
    """Return what a folder's calibration predicts for its other cases, as far as both were
    measured.

    disturbed: accept a disturbed calibration. Raise UserError for one otherwise.
    """
    dossier, cells = open_folder(path), _predicted(ResultFolder(path))
    apart = {case.id for case in cells}
    calibrating = [case for case in dossier.cases if case.id not in apart and case.launches]
    when = max(record.ended or "" for record in dossier.records)[:10]
    model = calibrate("calibrated", calibrating, dossier.machine or {}, when)
    if not disturbed:
        require_undisturbed(model, f"validate local --from {path} --disturbed")
    reject(missing_for_simulation(model))
    there = SimulatedCluster(model.name, model)
    cases = [replace(case, toolchain=SIMGRID, transport=None, launches=1) for case in cells]
    bench = there.workbench({}, tell)
    bench.build(bench.needed(cases), tell)
    records = simulated(STUDY, cases, there, bench, tell)
    real = [case for case in dossier.cases if case.id in apart]
    twins = group(Record.of(record) for (record,) in records.values())
    failures = (
        f"{case.label}: {' '.join(str(record['reason']).split())}"
        for case in cases
        for record in records[case.id]
        if record["outcome"] != "ok"
    )
    return Validation(model, tuple(predictions(real, twins)), tuple(failures))


def _predicted(folder: ResultFolder) -> list[Case]:
    """Return the cases of a folder's plan that are to be predicted."""
    runs = load(folder.study).runs
    cases = [
        case for case in folder.load().cases if (runs[case.run].name or "").startswith(PREDICTED)
    ]
    if not cases:
        what, remedy = "contains no case to predict", f"give a folder of the study {STUDY}"
        raise UserError(Problem(str(folder.path), what, remedy))
    return cases


def predictions(
    real: Sequence[MeasuredCase], simulated: Sequence[MeasuredCase]
) -> Iterator[PredictedTime]:
    """Yield every case that both have: time per step, or per size of a sweep.

    Round trips are halved, as in reports.
    """
    twins = {_setting(case): case for case in simulated}
    for case in real:
        twin = twins.get(_setting(case))
        if twin is None or case.time is None or twin.time is None:
            continue
        points = {point.size_bytes: point for point in sweep(twin)}
        for point in sweep(case):
            other = points[point.size_bytes]
            times = (point.one_way, other.one_way) if exchanges(case) else (point.time, other.time)
            keys = {**_keys(case), "size_bytes": point.size_bytes}
            what = size(point.size_bytes)
            yield PredictedTime(case.kernel, what, times[0], times[1].value, keys)
        if not points:
            what, cut = _named(case, real), case.settings.get("iterations")
            predicted, keys = twin.time.value, _keys(case)
            iterations = int(cut) if isinstance(cut, int) else 0
            yield PredictedTime(case.kernel, what, case.time, predicted, keys, iterations)


def _keys(case: MeasuredCase) -> dict[str, Scalar]:
    """Return settings that errors may depend on."""
    names = (*CORES, "n", "placement", "bind")
    settings = {name: case.settings.get(name) for name in names}
    return {name: value for name, value in settings.items() if isinstance(value, int | float | str)}


def _named(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """Name a case by its settings that vary, and by its reduced number of iterations."""
    iterations = case.settings.get("iterations")
    cut = f", {iterations} iterations" if iterations else ""
    return f"{label_of(case, [each for each in among if each.kernel == case.kernel])}{cut}"


def _setting(case: MeasuredCase) -> str:
    """Return what a case and its simulation have in common."""
    apart = ("toolchain", "transport", "runner", "clock")
    return json.dumps({k: v for k, v in case.settings.items() if k not in apart}, sort_keys=True)
