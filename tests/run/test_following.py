# SPDX-License-Identifier: BSD-3-Clause
"""How a campaign's jobs are followed: how often the batch system is asked, and when no more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from lab_jobs import QUIET
from test_submission import Queue, of

from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.batch.job_state import GONE, JobState
from haloscope.batch.jobs import Batch
from haloscope.errors import UserError
from haloscope.run import following


class Saying(Batch):
    """A batch system that says one thing after the other of the only job; None: no answer.

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


def waits(folder: Path, *said: str | None) -> list[float]:
    """How long is waited between the questions."""
    waited: list[float] = []
    jobs = replace(of(folder), batch=Saying(*said))
    following._until_over(jobs, ["7"], QUIET, waited.append, following.FIRST_POLL_S)
    return waited


def test_polls_begin_at_30_s_and_back_off(tmp_path: Path) -> None:
    said = (*["PENDING"] * 8, "COMPLETED")

    assert waits(tmp_path, *said) == [30, 45, 67.5, 101.25, 151.875, 227.8125, 300, 300]


def test_polls_begin_anew_where_something_changed(tmp_path: Path) -> None:
    said = ("PENDING", "PENDING", "PENDING", "RUNNING", "RUNNING", "COMPLETED")

    assert waits(tmp_path, *said) == [30, 45, 67.5, 30, 45]


@pytest.mark.parametrize("away", [None, "no"])
def test_a_controller_that_does_not_answer_is_asked_again(tmp_path: Path, away: str | None) -> None:
    assert waits(tmp_path, "RUNNING", away, away, "RUNNING", "COMPLETED") == [30, 30, 45, 30]


def test_a_job_that_nobody_remembers_is_over_and_told_with_its_heartbeat(
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
    assert "jobs ended without a launch more: 1 gone" in problem.what
    assert "job 7 last began a launch at 2026-11-23T12:00:00Z, of ring, 2 ranks" in problem.what


def test_that_jobs_brought_nothing_is_told_though_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = replace(of(tmp_path), batch=Saying("COMPLETED", None))
    monkeypatch.setattr(following, "submit_all", lambda *_: ["7"])

    with pytest.raises(UserError, match="jobs ended without a launch more: 1 gone"):
        following.follow(jobs, QUIET, wait=lambda _: None)
