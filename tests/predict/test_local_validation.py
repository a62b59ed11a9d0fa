# SPDX-License-Identifier: BSD-3-Clause
"""Real runs set against simulated ones: which belong together, and how far apart they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorded import cases, pingpong, poisson
from rich.console import Console

from haloscope.analysis.validation.predictions import Errors
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.predict.local_validation import PREDICTED, STUDY, predictions, validate
from haloscope.records.folder import ResultFolder
from haloscope.records.log import append
from haloscope.run.progress import Teller
from haloscope.study.case import Case
from haloscope.study.file import load
from haloscope.study.plan import SavedPlan

SIMULATED: dict[str, Any] = {"clock": "simulated", "runner": "simgrid"}


def test_solves_are_compared_per_case_and_messages_per_size() -> None:
    real = cases([poisson(n, time_s=1.0, launch=k) for n in (512, 1024) for k in range(3)])
    real += cases([pingpong(launch=k) for k in range(3)])
    other_sizes = cases([pingpong(sizes=[1, 1024], **SIMULATED)])
    assert list(predictions(real, other_sizes)) == []

    twins = [poisson(512, time_s=1.1, **SIMULATED), pingpong(**SIMULATED)]
    found = list(predictions(real, cases(twins)))
    solves = [one for one in found if one.kernel == "poisson_cg"]
    messages = [one for one in found if one.kernel == "pingpong"]
    assert [one.error for one in solves] == pytest.approx([0.1])  # 1024 has no twin
    assert len(messages) == 24 and messages[0].what == "0 B"
    assert messages[0].measured.value == pytest.approx(0.45e-6, rel=0.1)  # half of there and back
    assert messages[0].predicted_s == pytest.approx(0.45e-6, rel=0.1)
    assert Errors.of(solves).median == pytest.approx(0.1)


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    case = Case("poisson_cg", {}, {}, Layout(), "system", 0, 1, 1.0, 0)
    plan = SavedPlan("x", "x", 1, (case,), (), {}, {"host": "here"})
    folder = ResultFolder(tmp_path / "x")
    folder.create('title = "x"\n[[runs]]\nkernel = "poisson_cg"\n', plan)
    append(folder.records, poisson(512))
    with pytest.raises(UserError, match="no case to predict"):
        validate(folder.path, Teller(Console(stderr=True)))


def test_the_study_measures_calibration_and_predicted_cases() -> None:
    runs = load(STUDY).runs
    own = [run for run in runs if not (run.name or "").startswith(PREDICTED)]
    assert own == load("calibrate").runs
    assert {run.kernel for run in runs if run not in own} == {"poisson_cg", "pingpong"}
