# SPDX-License-Identifier: BSD-3-Clause
"""How a campaign's jobs are followed: how often the batch system is asked, and when no more."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from lab_jobs import QUIET
from noted import shows
from recorded import poisson
from rich.console import Console
from test_submission import Queue, a_case, lacking, of

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.run.jobs import following
from haloscope.run.jobs.job_notes import HEARTBEAT, Submitted
from haloscope.run.jobs.standing import RunningLaunch, standing
from haloscope.run.jobs.submission import Submission
from haloscope.run.progress import Teller
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.scheduler import GONE, JobState


class Saying(Batch):
    """A batch system that gives a list of answers about the only job in turn; None: no answer.

    "no" is a word of its own, of a command that fails.
    """

    def __init__(self, *said: str | None) -> None:
        super().__init__(Queue({}))
        object.__setattr__(self, "said", iter(said))

    def states(self, jobs: Iterable[str]) -> dict[str, JobState]:
        if (state := next(self.said)) is None:  # type: ignore[attr-defined]
            raise NoAnswerError("Socket timed out")
        if state == "no":
            raise RefusedError("slurm_load_jobs error: Protocol authentication error")
        return {job: JobState(state) for job in jobs}


def watch(folder: Path, *said: str | None) -> tuple[following.Watch, list[float]]:
    """Return the waits between queries while job 7 is watched with these answers."""
    waited: list[float] = []
    jobs = replace(of(folder), batch=Saying(*said))
    return following.Watch(jobs, ["7"], QUIET, waited.append, {}), waited


def waits(folder: Path, *said: str | None) -> list[float]:
    """How long is waited between the questions."""
    watched, waited = watch(folder, *said)
    between: list[float] = []
    ask = following.Watch._ask

    def asked(self: following.Watch) -> tuple[bool, bool]:
        between.append(sum(waited) - sum(between))
        return ask(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following.Watch, "_ask", asked)
        watched.until_over()
    return between[1:]


def test_polling_starts_at_30_s_and_backs_off(tmp_path: Path) -> None:
    said = (*["PENDING"] * 8, "COMPLETED")

    assert waits(tmp_path, *said) == [30, 45, 67.5, 101.25, 151.875, 227.8125, 300, 300]


def test_polling_restarts_after_a_change(tmp_path: Path) -> None:
    said = ("PENDING", "PENDING", "PENDING", "RUNNING", "RUNNING", "COMPLETED")

    assert waits(tmp_path, *said) == [30, 45, 67.5, 30, 45]


@pytest.mark.parametrize("away", [None, "no"])
def test_an_unresponsive_controller_is_queried_again(tmp_path: Path, away: str | None) -> None:
    assert waits(tmp_path, "RUNNING", away, away, "RUNNING", "COMPLETED") == [30, 30, 45, 30]


def test_a_forgotten_job_is_over_and_reported_with_its_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that has forgotten it, and no accounting."""
    jobs = replace(of(tmp_path), batch=Saying("RUNNING", GONE, GONE))
    monkeypatch.setattr(following, "submit_all", lambda *_: ["7"])
    beat = '{"job": "7", "at": "2026-11-23T12:00:00Z", "case": "ring, 2 ranks"}'
    (tmp_path / "heartbeat.json").write_text(beat)

    with pytest.raises(UserError) as caught:
        following.follow(jobs, QUIET, wait=lambda _: None)

    (problem,) = caught.value.problems
    assert "1 job no longer " in problem.what and "job 7 " in problem.what
    assert "2026-11-23T12:00:00Z: ring, 2 ranks" in problem.what


def test_jobs_without_results_are_reported_even_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = replace(of(tmp_path), batch=Saying("COMPLETED", None))
    monkeypatch.setattr(following, "submit_all", lambda *_: ["7"])

    with pytest.raises(UserError, match="1 job no longer "):
        following.follow(jobs, QUIET, wait=lambda _: None)


@pytest.mark.parametrize(("again", "rounds"), [(True, 2), (False, 1)])
def test_launches_left_by_the_first_jobs_are_left_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool, rounds: int
) -> None:
    left, numbers = iter([(4, 4), (2, 2), (2, 2), (0, 0), (0, 0)]), iter("789")
    monkeypatch.setattr(Submission, "to_do", lambda _: next(left))
    monkeypatch.setattr(following, "submit_all", lambda *_: [next(numbers)])
    jobs = replace(of(tmp_path), batch=Saying("COMPLETED", "COMPLETED", "COMPLETED"))

    following.follow(jobs, QUIET, wait=lambda _: None, again=again)

    assert [*numbers] == [*"789"[rounds:]]


def submitted(folder: Path, *, check: bool) -> None:
    """Job 7 is noted in the folder, and has printed why it ended."""
    (folder / "jobs").mkdir(exist_ok=True)
    script = str(folder / "jobs" / "0123456789ab.sh")
    one = Submitted("haloscope:0123456789ab", 1, 5, script, job="7", check=check, at=0.0)
    of(folder).save([one])
    (folder / "jobs" / "0123456789ab.log").write_text("srun: error\n\nhaloscope: no such library\n")


def test_missing_node_software_is_reported_before_further_queries(tmp_path: Path) -> None:
    """A job that found it may stay at work for minutes, as where its node does not let it end."""
    watched, waited = watch(tmp_path, "RUNNING")
    wait = watched.wait

    def found(seconds: float) -> None:
        wait(seconds)
        lacking(tmp_path)

    watched.wait = found
    with pytest.raises(UserError, match="no halobench"):
        watched.until_over()

    assert waited == [following.LOOK_S]


def test_a_preflight_without_an_answer_ends_the_run_with_its_output(
    tmp_path: Path,
) -> None:
    submitted(tmp_path, check=True)
    watched, waited = watch(tmp_path, "NODE_FAIL")

    with pytest.raises(UserError, match="no such library") as caught:
        watched.until_over()

    assert (caught.value.problems[0].where, waited) == ("job 7", [])


def test_jobs_waiting_for_a_failed_preflight_are_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = replace(of(tmp_path), batch=Saying("RUNNING"))
    monkeypatch.setattr(following, "submit_all", lambda *_: ["7", "8"])
    monkeypatch.setattr(Submission, "waiting", lambda _: ["8"])
    cancelled: list[str] = []
    monkeypatch.setattr(Saying, "cancel", lambda _, ids: cancelled.extend(ids))
    lacking(tmp_path)

    with pytest.raises(UserError, match="no halobench"):
        following.follow(jobs, QUIET, wait=lambda _: None)

    assert cancelled == ["8"]


def test_a_job_failure_is_reported_once_with_the_end_of_its_log(tmp_path: Path) -> None:
    submitted(tmp_path, check=False)
    watched, _ = watch(tmp_path, "RUNNING", "FAILED")
    out = StringIO()
    watched.tell = Teller(Console(file=out, width=200))

    watched.until_over()

    assert out.getvalue().count("no such library") == 1


def record(jobs: Submission, launch: int, wall_s: float) -> None:
    one = poisson(64, launch=launch, time_s=1.0, wall_s=wall_s)
    with jobs.folder.records.open("a") as file:
        file.write(json.dumps(one) + "\n")


def measured(folder: Path) -> Submission:
    """Of a case of which there are records, ten launches."""
    jobs = of(folder)
    return replace(jobs, plan=replace(jobs.plan, cases=(a_case(10),)))


def test_status_prints_done_running_left_elapsed_and_expected(tmp_path: Path) -> None:
    jobs = measured(tmp_path)
    submitted(tmp_path, check=False)
    record(jobs, 0, 4.0)
    record(jobs, 1, 6.0)
    beat = {"job": "7", "node": "n1", "at": "1970-01-01T00:01:30Z", "case": "fake", "launch": 2}
    (tmp_path / HEARTBEAT).write_text(json.dumps(beat))

    now = standing(jobs, {"7": JobState("RUNNING")}, now=100.0)

    assert (now.done, now.left) == (2, 8)
    assert [now.elapsed_s, now.expected_s] == pytest.approx([100.0, 40.0])
    assert now.running == RunningLaunch("7", "n1", "fake", 2, 10.0)


def test_a_written_script_is_not_a_submitted_job(tmp_path: Path) -> None:
    jobs = measured(tmp_path)
    (tmp_path / "jobs").mkdir()
    noted = Submitted("haloscope:0123456789ab", 1, 5, "jobs/1.sh", at=40.0)
    jobs.save([noted])

    now = standing(jobs, {}, now=100.0)
    jobs.save([replace(noted, job="7")])
    then = standing(jobs, {}, now=100.0)

    assert (now.elapsed_s, now.unsent) == (None, 1)
    assert (then.elapsed_s, then.unsent) == (60.0, 0)
    assert shows(str(now), "1 job script ", "not submitted")


@pytest.mark.parametrize("states", [{}, {"7": JobState("COMPLETED")}, {"8": JobState("RUNNING")}])
def test_without_an_active_job_nothing_is_running(
    tmp_path: Path, states: dict[str, JobState]
) -> None:
    beat = {"job": "7", "node": "n1", "at": "1970-01-01T00:01:30Z", "case": "fake", "launch": 2}
    (tmp_path / HEARTBEAT).write_text(json.dumps(beat))

    assert standing(of(tmp_path), states).running is None


@pytest.mark.parametrize("beat", ["", "{}", "no", '{"job": "7", "at": 3}'])
def test_a_damaged_heartbeat_is_ignored(tmp_path: Path, beat: str) -> None:
    (tmp_path / HEARTBEAT).write_text(beat)

    assert standing(of(tmp_path), {"7": JobState("RUNNING")}).running is None


def test_a_folder_whose_site_is_gone_has_a_status_and_can_be_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = measured(tmp_path / "out")
    jobs.folder.create("title = 't'\n", jobs.plan)
    submitted(tmp_path / "out", check=False)
    record(jobs, 0, 4.0)

    assert main(["status", "out"]) == 0
    printed = capsys.readouterr().out
    assert "1 of 10 launches done" in printed and "--on taki" in printed and "job 7" in printed
    assert main(["collect", "out"]) == 1
    assert (tmp_path / "out" / "report.html").exists()


def test_a_forgotten_cancelled_job_is_reported_as_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = measured(tmp_path / "out")
    jobs.folder.create("title = 't'\n", jobs.plan)
    submitted(tmp_path / "out", check=False)
    noted = jobs.noted()
    jobs.save([*noted, replace(noted[0], job="8", comment="haloscope:0123456789ac")])
    queue = Queue({"7": f"PENDING {jobs.name}", "8": f"COMPLETED {jobs.name}"})
    there = replace(jobs, batch=Batch(queue))

    assert there.cancel() == ["7"]

    forgotten = replace(there, batch=Saying(GONE, GONE))
    assert {job: one.state for job, one in forgotten.states().items()} == {
        "7": "CANCELLED",
        "8": GONE,
    }
    assert [one.cancelled for one in forgotten.noted()] == [True, False]
    assert main(["status", "out"]) == 0  # its site file is gone
    lines = capsys.readouterr().out.splitlines()
    line_of = {line.split(":")[0]: line for line in lines if line.startswith("job ")}
    assert ["cancelled" in line_of["job 7"], "cancelled" in line_of["job 8"]] == [True, False]


def test_a_local_folder_has_no_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = of(tmp_path / "out")
    jobs.folder.create("title = 't'\n", replace(jobs.plan, on="local"))

    assert main(["status", "out"]) == 2
    assert "no batch system" in capsys.readouterr().err
