# SPDX-License-Identifier: BSD-3-Clause
"""A job's time: which launches still fit; numbers that no job has; what killed launches left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes import FakeProgram

from haloscope.cli import parse
from haloscope.errors import UserError
from haloscope.records.folder import ResultFolder
from haloscope.run.jobs import driving
from haloscope.run.jobs.driving import Budget
from haloscope.sites.schedulers.flux import Flux
from haloscope.sites.schedulers.lsf import Lsf
from haloscope.sites.schedulers.pbs import Pbs
from haloscope.sites.schedulers.scheduler import Scheduler
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.study.case import Case, Launch
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.plan import SavedPlan
from haloscope.study.schema import Study


def case(timeout_s: float = 60.0) -> Case:
    runs = [{"kernel": "fake", "layout": {"ppn": 2}}]
    study = Study.model_validate({"title": "t", "timeout_s": timeout_s, "runs": runs})
    (one,) = expand(study, Site(1, 4, 4, 2**30, False, ("fake",)), FakeProgram()).cases
    return one


def budget(one: Case, end: float, walls: tuple[float, ...] = (), begun: int = 1) -> Budget:
    """Of a job that ends so many seconds from now."""
    return Budget(end, {one.id: [*walls]} if walls else {}, clock=lambda: 0.0, begun=begun)


@pytest.mark.parametrize(
    ("walls", "end", "fits"),
    [
        ((2.0, 10.0), 20.1, True),  # 1.5 times the longest, and 5 s to end in order
        ((2.0, 10.0), 19.9, False),
        ((), 65.1, True),  # not known: its time limit
        ((), 64.9, False),
        ((100.0,), 65.1, True),  # never more than its time limit
    ],
)
def test_a_launch_fits_if_its_longest_run_does(
    walls: tuple[float, ...], end: float, fits: bool
) -> None:
    one = case()

    assert budget(one, end, walls).fits(Launch(one, 0)) is fits


def test_the_first_launch_of_a_job_always_fits() -> None:
    one = case()

    assert budget(one, 1.0, begun=0).fits(Launch(one, 0))


def test_after_the_warning_no_launch_fits() -> None:
    one = case()
    warned = budget(one, 1e6, begun=0)
    warned.close()

    assert not warned.fits(Launch(one, 0))


def test_a_job_runs_what_fits_and_leaves_the_rest() -> None:
    slow, quick = case(), case(timeout_s=3.0)
    slow = replace(slow, params={"n": 1})
    absent = replace(slow, absent="no such nodes")
    job = Budget(20.0, {}, clock=lambda: 0.0, begun=1)

    taken = [*job.fitting([Launch(slow, 0), Launch(quick, 0), Launch(absent, 0), Launch(slow, 1)])]

    assert [launch.case for launch in taken] == [quick, absent]
    assert (job.begun, job.left_out) == (2, 2)


@pytest.mark.parametrize(
    ("scheduler", "minutes", "seconds"),
    [(Slurm({}), 60, 3600), (Pbs(), 60, 3480), (Lsf(), 60, 3480), (Flux(), 4, 180)],
)
def test_without_a_warning_signal_the_driver_uses_a_timer(
    scheduler: Scheduler, minutes: int, seconds: int
) -> None:
    assert driving.closing_s(scheduler, minutes) == seconds


def test_measured_launch_times_update_the_estimate() -> None:
    one = case()
    job = budget(one, 30.0)
    assert not job.fits(Launch(one, 0))

    job.ended({"case": one.id, "wall_s": 4.0})

    assert job.fits(Launch(one, 1))


@pytest.mark.parametrize(
    ("option", "number"),
    [("nodes", "-1"), ("nodes", "0"), ("minutes", "-5"), ("minutes", "0"), ("minutes", "9999999")],
)
def test_out_of_range_job_options_are_refused(tmp_path: Path, option: str, number: str) -> None:
    given = {"nodes": "1", "minutes": "5", option: number}
    arguments = parse(
        ["drive", str(tmp_path), *(f"--{name}={value}" for name, value in given.items())]
    )

    with pytest.raises(UserError, match=rf"--{option} {number}: out of range"):
        arguments.execute(arguments)


def test_failed_launches_are_retried_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a few launches that hang take the time of every job."""
    launches = [Launch(case(), number) for number in range(3)]
    tried = SimpleNamespace(key=(launches[0].case.id, 0))
    monkeypatch.setattr(driving, "attempts", lambda _: [tried])

    plan = SavedPlan("a", "a", 0, (case(),), (), {}, {})
    first = driving._for_one_allocation(plan, launches, ResultFolder(tmp_path))

    assert [one.number for one in first] == [1, 2, 0]


def test_only_remains_of_killed_launches_are_removed(tmp_path: Path) -> None:
    (tmp_path / "haloscope-scratch-x").mkdir()
    (tmp_path / "haloscope-scratch-x" / "record.json").write_text("{}")
    (tmp_path / "jobs").mkdir()

    assert driving.remove_left(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["jobs"]
