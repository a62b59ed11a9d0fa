# SPDX-License-Identifier: BSD-3-Clause
"""A result folder belongs to the last job that took it; a launch without nodes is not recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProgram, Laboratory

from haloscope.errors import UserError
from haloscope.run.jobs import job_notes
from haloscope.run.runners.local import LocalRunner, Nodes
from haloscope.sites.schedulers.allocation import Allocation
from haloscope.study.case import Launch
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.schema import Study

JOB = Allocation("s", "slurm", "7", "short", ("n1",), None, 0)


def test_the_last_job_to_take_a_folder_holds_it(tmp_path: Path) -> None:
    assert job_notes.holds(tmp_path, JOB)  # nobody took it yet

    job_notes.take(tmp_path, JOB)
    assert job_notes.holds(tmp_path, JOB)

    again = replace(JOB, restarts=1, nodes=("n2",))
    job_notes.take(tmp_path, again)
    assert job_notes.holds(tmp_path, again)
    assert not job_notes.holds(tmp_path, JOB)
    assert not job_notes.holds(tmp_path, replace(JOB, job="8", restarts=1))


@pytest.mark.parametrize("text", ["", "no JSON", "[]"])
def test_an_invalid_holder_file_does_not_release_a_folder(tmp_path: Path, text: str) -> None:
    job_notes.take(tmp_path, JOB)
    (tmp_path / "jobs" / "driver.json").write_text(text)

    assert job_notes.holds(tmp_path, JOB)


@pytest.mark.parametrize(("fault", "well"), [("none", True), ("late", False)])
def test_a_launch_that_lost_its_nodes_is_not_recorded(
    laboratory: Laboratory, tmp_path: Path, fault: str, well: bool
) -> None:
    runs = [{"kernel": "fake", "params": {"fault": fault}, "layout": {"ppn": 2}}]
    study = Study.model_validate({"title": "t", "launches": 3, "runs": runs})
    (case,) = expand(study, Site(1, 4, 4, 2**30, False, ("fake",)), FakeProgram()).cases
    asked = []

    def held(ended_well: bool) -> bool:
        asked.append(ended_well)
        return len(asked) < 2

    runner = LocalRunner(laboratory.facts, laboratory.built, nodes=Nodes(JOB, tmp_path, held=held))
    records = runner.run([Launch(case, number) for number in range(3)])

    assert next(records)["launch"] == 0
    with pytest.raises(UserError, match=r"launch 1 of"):
        next(records)
    assert asked == [well, well]
