# SPDX-License-Identifier: BSD-3-Clause
"""Studies through a real Slurm, that of a cluster in a box: whole, and what users do wrong."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from lab_jobs import (
    LIMIT,
    MINUTES,
    QUIET,
    followed,
    good,
    launched_by,
    slurm,
    submitted,
    until,
)

from haloscope.cli import main, parse
from haloscope.errors import UserError
from haloscope.host import machine
from haloscope.lab.cluster import RunningLab
from haloscope.paths import cache_path
from haloscope.records.log import read
from haloscope.run.campaign.request import Request, start
from haloscope.run.campaign.resuming import resume
from haloscope.run.jobs import submission
from haloscope.sites import file as site_file
from haloscope.study.plan import Via

pytestmark = [pytest.mark.lab, LIMIT, pytest.mark.usefixtures("whole")]

STUDY = """
title = "Rings on one, two and four nodes"
launches = 1
timeout_s = 600
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = [1, 2, 4], ppn = [2] }
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = [2], ppn = [2], mapping = ["round_robin", "random"] }
"""


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_a_study_runs_on_one_two_and_four_nodes(
    lab: RunningLab,
    built: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    launcher: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    launched_by(launcher, tmp_path)

    jobs = submitted(STUDY, tmp_path, built)
    followed(jobs)

    records = good(tmp_path / "out" / "records.jsonl")
    crashed = len(read(tmp_path / "out" / "records.jsonl")) - len(records)
    assert (len(records), jobs.left()) == (5, [])
    assert sorted(len(one.raw["allocation"]["nodes"]) for one in records) == [1, 2, 2, 2, 4]
    assert 3 <= len({one.raw["allocation"]["job"] for one in records}) <= 3 + crashed  # one a shape
    assert all((one.command or [""])[0].endswith(launcher) for one in records)
    for record in records:
        hosts = {seen["host"] for seen in record.layout["seen"]}
        assert hosts == {*record.raw["allocation"]["nodes"]}
        crowded = len(machine.physical_cores()) < 2  # nodes share them
        assert record.layout["oversubscribed"] == (crowded or record.layout["nodes"] > 1)
        assert record.runner == "slurm"
    left = [path.name for path in (tmp_path / "out").iterdir() if "scratch" in path.name]
    assert left == []


LAID_OUT = """
title = "Threads, and lists of ranks' nodes"
launches = 1
timeout_s = 600
[[runs]]
kernel = "stream"
params = { sizes = "32K", repetitions = 1 }
layout = { nodes = [1, 2], ppn = 1, threads = 2 }
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = 2, ppn = 2, mapping = ["0,1,1,0", "1,1,0,0", "1,0,1,0"] }
"""


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_ranks_have_threads_and_run_on_listed_nodes(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: str
) -> None:
    monkeypatch.chdir(tmp_path)
    launched_by(launcher, tmp_path)
    jobs = submitted(LAID_OUT, tmp_path, built)

    followed(jobs)

    records = good(tmp_path / "out" / "records.jsonl")
    assert (len(records), jobs.left()) == (5, [])
    for one in records:
        seen = one.layout["seen"]
        assert {len(rank["thread_cpus"]) for rank in seen} == {one.layout["threads"]}
        hosts = [rank["host"] for rank in seen]
        if one.kernel == "ring":
            nodes = one.layout["mapping"].split(",")
            assert len({*zip(hosts, nodes, strict=True)}) == len({*hosts}) == 2
    assert Counter(len(one.layout["seen"]) for one in records if one.kernel == "stream") == {
        1: 1,
        2: 1,
    }


def test_site_jobs_simulate_one_case_per_core(
    lab: RunningLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """
    title = "Solves on a simulated cluster"
    timeout_s = 600
    [[runs]]
    kernel = "poisson_cg"
    params = { n = 1024, iterations = 200, variant = ["textbook", "fused", "pipelined"] }
    layout = { nodes = [1, 2, 4], ppn = [2, 16] }
    """
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    nodes: set[str] = set()

    def look() -> None:
        nodes.update(slurm("squeue", "--steps", "--noheader", "--format=%N").split())

    kept = Path("cache") / "simulated"  # nothing is there that was simulated before
    kept.mkdir(parents=True)
    kept.with_name("builds").symlink_to(cache_path() / "builds")
    monkeypatch.setenv("HALOSCOPE_CACHE", str(kept.parent.absolute()))
    request = Request("mine.toml", Path("by-jobs"), on="stampede2", via=Via("lab", 2))
    campaign = start(request, QUIET)
    submission.begin(campaign, {}, QUIET)
    followed(submission.of(campaign, MINUTES), look)
    two_nodes = next(one for one in campaign.plan.cases if one.layout.nodes == 2)
    assert resume(Path("by-jobs"), None, None, QUIET).sent(two_nodes), "counted on this machine"
    shutil.rmtree(kept)
    assert main(["run", "mine.toml", "--on", "stampede2", "--out", "here", "--no-report"]) == 0

    by_jobs = {one.case: one for one in read(Path("by-jobs/records.jsonl"))}
    here = {one.case: one for one in read(Path("here/records.jsonl"))}
    assert len(by_jobs) == 18
    assert {one.outcome for one in by_jobs.values()} == {"ok"}
    assert len({name for name in nodes if name.startswith("lab")}) == 2
    for case, one in by_jobs.items():
        assert one.raw["times_s"] == here[case].raw["times_s"]
        assert (one.raw["simulation"]["cached"], here[case].raw["simulation"]["cached"]) == (
            False,
            False,
        )


def test_additional_launches_of_a_folder_are_planned_for_jobs(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = submitted(STUDY, tmp_path, built)
    assert len(jobs.left()) == 5

    assert main(["run", "--resume", "out", "--launches", "3", "--script-only"]) == 0

    assert len(jobs.left()) == 15


def test_a_precision_is_reached_over_allocations(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """
    title = "Until it is known well enough"
    precision = 0.9
    most_launches = 20
    timeout_s = 600
    [[runs]]
    kernel = "ring"
    params = { repetitions = 1 }
    layout = { ppn = 1 }
    """
    jobs = submitted(text, tmp_path, built)
    assert len(jobs.planned()) == 5

    followed(jobs)

    records = read(tmp_path / "out" / "records.jsonl")
    each = Counter(one.raw["allocation"]["job"] for one in records)
    assert len(each) >= 5
    *before, last = each.values()
    assert {*before} <= {3, 4}
    assert last in (3, 4) or (last, records[-1].stopped) in ((1, "count"), (2, "count"))
    assert [one.stopped for one in records[:-1]] == [None] * (len(records) - 1)
    assert records[-1].stopped in ("narrow", "count")
    assert jobs.left() == []


def test_an_unsupported_case_is_recorded_even_without_a_matching_job(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = [name for name, pair in machine.placements().items() if not pair]
    if not lacking:
        pytest.skip("two ranks can be placed in every way on this machine")
    monkeypatch.chdir(tmp_path)
    text = (
        STUDY[: STUDY.index("[[runs]]")]
        + f"""
    [[runs]]
    kernel = "ring"
    params = {{ repetitions = 1 }}
    layout = {{ nodes = 2, ppn = 1 }}
    [[runs]]
    kernel = "pingpong"
    params = {{ sizes = "8", repetitions = 1 }}
    layout = {{ placement = "{lacking[0]}" }}
    """
    )
    jobs = submitted(text, tmp_path, built)

    followed(jobs)

    records = read(tmp_path / "out" / "records.jsonl")
    assert [(one.kernel, one.outcome) for one in records] == [
        ("pingpong", "absent"),  # by the job that asks the nodes
        ("ring", "ok"),
    ]
    assert lacking[0] in (records[0].reason or "")


def test_a_job_is_identified_by_its_comment_and_not_resubmitted(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = submitted(STUDY, tmp_path, built)
    noted = jobs.write(jobs.check_asked())

    first = jobs.batch.submit(
        Path(noted.script), jobs.name, noted.comment
    )  # and we are killed just then
    jobs.found_again()

    assert jobs.batch.submit(Path(noted.script), jobs.name, noted.comment) == first
    assert [one.job for one in jobs.noted()] == [first]
    assert main(["cancel", str(tmp_path / "out")]) == 0
    until(lambda: jobs.waiting() == [], "the end of a job that was cancelled")


def test_the_reason_for_a_waiting_job_is_printed(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    jobs = submitted(STUDY, tmp_path, built)
    noted = jobs.write(jobs.check_asked())
    script = Path(noted.script)
    script.write_text(
        script.read_text().replace("#SBATCH --time", "#SBATCH --hold\n#SBATCH --time")
    )
    jobs.batch.submit(script, jobs.name, noted.comment)

    assert main(["status", str(tmp_path / "out")]) == 0
    assert main(["cancel", str(tmp_path / "out")]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert "pending (held" in said
    assert "5 launches left" in said


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (("nodes = [1, 2, 4]", "nodes = [9]"), [], "lab has 4 nodes"),
        (("", ""), ["--minutes", "999"], "240 minutes"),
        (("timeout_s = 600", "timeout_s = 20000"), [], "240 minutes"),
    ],
)
def test_a_request_the_site_does_not_allow_is_refused_by_name(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str], options: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    whole = STUDY.replace("nodes = [2], ppn", "nodes = [9], ppn") if "9" in change[1] else STUDY
    (tmp_path / "mine.toml").write_text(whole.replace(*change))

    with pytest.raises(UserError) as caught:
        arguments = ["run", "mine.toml", "--on", "lab", "--detach", "--out", "out", *options]
        parsed = parse([*arguments, "--toolchain", built])
        parsed.execute(parsed)

    assert any(said in str(problem) for problem in caught.value.problems)
    assert not (tmp_path / "out").exists()


def test_an_unknown_partition_is_refused_with_the_message_of_slurm(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(STUDY)
    own = site_file.find("lab")
    labs = own.used.model_copy(update={"name": "labs"})
    changed = own.model_copy(update={"partition": "labs", "partitions": (labs,)})
    site_file.write(changed, tmp_path / "sites" / "lab.toml")
    arguments = parse(["run", "mine.toml", "--on", "lab", "--detach", "--toolchain", built])

    with pytest.raises(UserError, match="invalid partition"):
        arguments.execute(arguments)


def test_missing_software_on_nodes_is_reported_before_other_jobs_start(
    lab: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = submitted(STUDY, tmp_path, built)
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "empty"))  # as a folder nodes don't see

    with pytest.raises(UserError, match="build .*ring"):
        followed(jobs)

    assert not (tmp_path / "out" / "records.jsonl").exists()
