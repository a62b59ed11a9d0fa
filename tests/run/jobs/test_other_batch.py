# SPDX-License-Identifier: BSD-3-Clause
"""Studies through faked PBS, LSF, and Flux, with real launches: submitted, followed, reported.

Jobs of the fakes run on this machine, and so have one node.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import far_site
import pytest
from lab_jobs import MINUTES, QUIET, followed
from noted import shows

from haloscope.analysis.grouping import group
from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.records.log import read
from haloscope.records.record import Record
from haloscope.run.campaign.request import Request, start
from haloscope.run.campaign.resuming import resume
from haloscope.run.jobs import submission
from haloscope.run.jobs.submission import Submission

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
timeout_s = 600
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


def submitted(
    toolchain: str, study: str = "mine.toml", allocations: int | None = None
) -> Submission:
    """A new campaign at the site, with its folder; no job of it yet."""
    Path("mine.toml").write_text(STUDY)
    asked = Request(study, Path("out"), toolchain=toolchain, on="far", allocations=allocations)
    campaign = start(asked, QUIET)
    submission.begin(campaign, {}, QUIET)
    return submission.of(campaign, MINUTES)


def test_a_study_survives_cancellation_and_resubmission(
    known: str, fake: Path, built: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = submitted(built)
    named = ["run", "mine.toml", "--on", "far", "--toolchain", built]
    assert main([*named, "--dry-run"]) == 0
    assert "preflight check" in capsys.readouterr().out
    assert main([*named, "--script-only", "--out", "other"]) == 0
    assert len([*Path("other/jobs").glob("*.sh")]) == 2
    assert capsys.readouterr().err != ""

    (fake / "hold").touch()
    assert len(submission.submit_all(jobs, QUIET)) == 2
    assert main(["status", "out"]) == 0
    assert "pending" in capsys.readouterr().out
    assert main(["cancel", "out"]) == 0
    assert "2 jobs cancelled" in capsys.readouterr().out
    assert jobs.waiting() == []
    (fake / "hold").unlink()
    followed(jobs)

    measured(known, read(jobs.directory / "records.jsonl"))
    logs = [path.read_text() for path in jobs.directory.glob("jobs/*.log")]
    assert shows(logs, "4 launches run", "0 left "), logs
    assert main(["status", "out"]) == 0
    assert "completed" in capsys.readouterr().out
    assert main(["collect", "out"]) == 0


def measured(known: str, records: Sequence[Record]) -> None:
    """What records of one job of this batch system have to say."""
    assert [one.outcome for one in records] == ["ok"] * 4, [one.reason for one in records]
    assert {one.runner for one in records} == {known}
    assert all(one.raw["allocation"]["nodes"] == [os.uname().nodename] for one in records)
    assert {one.raw["allocation"]["scheduler"] for one in records} == {known}
    assert {(one.command or [""])[0].rpartition("/")[2] for one in records} == {"mpirun"}


@pytest.mark.parametrize("known", ["flux"])
def test_a_permanently_failing_case_is_retried_and_then_reported(
    known: str, fake: Path, built: str
) -> None:
    endless = STUDY.replace("timeout_s = 600", "timeout_s = 0.01")
    endless = endless.replace("repetitions = 1", "repetitions = 1, steps = 1_000_000_000")
    Path("study.toml").write_text(endless)
    jobs = submitted(built, "study.toml")

    followed(jobs)

    assert jobs.to_do() == (4, 0)
    records = read(jobs.directory / "records.jsonl")
    assert [one.outcome for one in records] == ["timeout"] * 8


@pytest.mark.parametrize("known", ["flux"])
def test_a_job_with_fewer_nodes_than_requested_measures_nothing(
    known: str, fake: Path, built: str
) -> None:
    """As where the batch system does not heed the script's lines."""
    Path("study.toml").write_text(STUDY.replace("ppn = [1, 2]", "ppn = 1, nodes = 2"))
    jobs = submitted(built, "study.toml")
    (fake / "nodes").write_text("1")

    with pytest.raises(UserError) as caught:
        followed(jobs)
    assert [one.where for one in caught.value.problems] == [str(jobs.directory)]

    logs = [path.read_text() for path in jobs.directory.glob("jobs/*.log")]
    assert any("1 node, but 2 " in text for text in logs), logs
    assert not (jobs.directory / "records.jsonl").exists()


@pytest.mark.parametrize("known", ["flux"])
def test_every_case_is_measured_in_the_requested_number_of_jobs(
    known: str, fake: Path, built: str
) -> None:
    """And in further ones when the campaign continues."""
    jobs = submitted(built, allocations=2)
    followed(jobs)
    assert each_job(jobs) == [4, 4]

    more = resume(Path("out"), None, None, QUIET, allocations=3)
    submission.begin(more, {}, QUIET)
    followed(submission.of(more, MINUTES))

    assert each_job(jobs) == [4, 4, 4]
    (ring, other) = group(read(jobs.directory / "records.jsonl"))
    assert [len({*(case.allocations or ())}) for case in (ring, other)] == [3, 3]
    with pytest.raises(UserError, match="3 allocations, more than 2"):
        resume(Path("out"), None, None, QUIET, allocations=2)
    with pytest.raises(UserError, match="--allocations N"):
        resume(Path("out"), None, 20, QUIET)


def each_job(jobs: Submission) -> list[int]:
    """The good launches of each job, in their order."""
    records = read(jobs.directory / "records.jsonl")
    given = [one.raw["allocation"]["job"] for one in records if one.outcome == "ok"]
    return [*Counter(given).values()]
