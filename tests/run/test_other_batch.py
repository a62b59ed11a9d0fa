"""Studies through PBS, LSF and Flux that are faked, with real launches: submitted, followed, told.

Jobs of the fakes run on this machine, and so have one node. PSI/J is the real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import far_site
import pytest
from lab_jobs import QUIET, shortly

from haloscope.cli import main
from haloscope.records.record import read_once
from haloscope.run import following, submission
from haloscope.run.campaign import Request, start
from haloscope.run.submission import Submission

pytestmark = pytest.mark.toolchains

SITE = """
source = "a test"
scheduler = "NAME"
partition = "short"
launcher = "mpirun"
[[partitions]]
name = "short"
nodes = 2
cores = 2
memory_mb = 2000
"""
STUDY = """
title = "Rings"
launches = 2
timeout_s = 60
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { ppn = [1, 2] }
"""


@pytest.fixture(params=far_site.COMMANDS)
def known(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def fake(tmp_path: Path, known: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the site `far`, whose batch system this is; the folder of that is given."""
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "far.toml").write_text(SITE.replace("NAME", known))
    monkeypatch.chdir(tmp_path)
    yield from far_site.commands(tmp_path, known, monkeypatch)


def submitted(toolchain: str) -> Submission:
    """A new campaign at the site, with its folder; no job of it yet."""
    Path("mine.toml").write_text(STUDY)
    campaign = start(Request("mine.toml", Path("out"), toolchain=toolchain, on="far"), QUIET)
    submission.begin(campaign, {}, QUIET)
    return submission.of(campaign, minutes=5)


def test_a_study_is_measured_by_jobs_and_told_of(
    known: str, fake: Path, built: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = submitted(built)
    following.follow(jobs, QUIET, wait=shortly)

    records = read_once(jobs.directory / "records.jsonl")
    assert [one.outcome for one in records] == ["ok"] * 4, [one.reason for one in records]
    assert {one.runner for one in records} == {known}
    assert all(one.raw["allocation"]["nodes"] == [os.uname().nodename] for one in records)
    assert {one.raw["allocation"]["scheduler"] for one in records} == {known}
    assert {(one.command or [""])[0].rpartition("/")[2] for one in records} == {"mpirun"}
    logs = [path.read_text() for path in jobs.directory.glob("jobs/*.log")]
    assert any("4 launches run, 0 left for another job" in text for text in logs), logs
    assert main(["status", "out"]) == 0
    assert "completed" in capsys.readouterr().out
    assert main(["collect", "out"]) == 0
    assert main(["cancel", "out"]) == 0
    assert "0 jobs cancelled" in capsys.readouterr().out


def test_jobs_that_wait_are_told_cancelled_and_submitted_again(
    known: str, fake: Path, built: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = submitted(built)
    (fake / "hold").touch()
    first = submission.submit_all(jobs, QUIET)
    assert len(first) == 2

    assert main(["status", "out"]) == 0
    assert "pending" in capsys.readouterr().out
    assert main(["cancel", "out"]) == 0
    assert "2 jobs cancelled" in capsys.readouterr().out
    assert jobs.waiting() == []
    (fake / "hold").unlink()
    following.follow(jobs, QUIET, wait=shortly)

    assert [one.outcome for one in read_once(jobs.directory / "records.jsonl")] == ["ok"] * 4
