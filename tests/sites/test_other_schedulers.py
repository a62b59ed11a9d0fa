# SPDX-License-Identifier: BSD-3-Clause
"""PBS, LSF and Flux: the scripts they are given, and what their commands say, by fakes of these."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import far_site
import pytest
from far_site import JOB

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.sites import file as site_file
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers import schedulers
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.pbs import Pbs
from haloscope.sites.schedulers.scheduler import Scheduler
from haloscope.sites.schema import BatchSite
from haloscope.sites.script import script


def site(name: str) -> BatchSite:
    return far_site.site(name, "mpirun")


@pytest.fixture(params=far_site.COMMANDS)
def known(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def fake(tmp_path: Path, known: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from far_site.commands(tmp_path, known, monkeypatch)


def taken(scheduler: Scheduler, folder: Path, text: str) -> str:
    """A job submitted by the batch system's own command; its id."""
    path = folder.parent / "job.sh"
    path.write_text(text)
    if scheduler.submits == "flux batch":
        return scheduler.submitted(path)
    with path.open() as file:
        words = ["qsub", str(path)] if scheduler.submits == "qsub" else ["bsub"]
        done = subprocess.run(words, stdin=file, capture_output=True, text=True, check=True)
    return (
        done.stdout.split()[-1] if words[0] == "qsub" else done.stdout.split("<")[1].split(">")[0]
    )


def until(scheduler: Scheduler, job: str, state: str) -> None:
    deadline = time.monotonic() + 300
    while (said := scheduler.states([job])[job]).state != state:
        assert time.monotonic() < deadline, said
        time.sleep(0.05)


EXPECTED = {
    "pbs": """\
#PBS -N haloscope-0123456789ab-ba9876543210
#PBS -q short
#PBS -A m17
#PBS -l select=2:ncpus=4:mpiprocs=4
#PBS -l place=scatter:exclhost
#PBS -l walltime=01:30:00
#PBS -W depend=afterok:7.far,afterany:8.far
#PBS -r n
#PBS -o /dev/null
#PBS -e /dev/null
""",
    "lsf": """\
#BSUB -J haloscope-0123456789ab-ba9876543210
#BSUB -q short
#BSUB -P m17
#BSUB -n 8
#BSUB -R "span[ptile=4]"
#BSUB -x
#BSUB -W 90
#BSUB -w "done(7) && ended(8)"
#BSUB -ti
#BSUB -rn
#BSUB -o /dev/null
#BSUB -e /dev/null
""",
    "flux": """\
#FLUX: --job-name=haloscope-0123456789ab-ba9876543210
#FLUX: --queue=short
#FLUX: --bank=m17
#FLUX: --nodes=2
#FLUX: --nslots=2
#FLUX: --exclusive
#FLUX: --time-limit=90m
#FLUX: --dependency=afterok:7
#FLUX: --dependency=afterany:8
#FLUX: --output=/dev/null
#FLUX: --error=/dev/null
""",
}


def test_the_script_requests_whole_nodes_in_the_syntax_of_the_batch_system(known: str) -> None:
    far = site(known)
    end = ".far" if known == "pbs" else ""
    job = replace(JOB, after=f"7{end}", behind=f"8{end}")

    text = script(schedulers.of(far), far, job, Path("/home/me"))

    assert text.startswith(f"#!/bin/bash\n{EXPECTED[known]}# A job of haloscope")
    assert "\nexec >>/R/jobs/ba9876543210.log 2>&1\n" in text
    assert text.endswith("-m haloscope drive /R --nodes 2\n")


def test_a_job_is_followed_from_its_wait_to_its_end(known: str, fake: Path) -> None:
    far = site(known)
    scheduler = schedulers.of(far)
    head = "".join(f"{scheduler.directive} {one}\n" for one in scheduler.options(far, JOB))
    first = taken(
        scheduler, fake, f"#!/bin/bash\n{head}while [ ! -e {fake}/go ]; do sleep 0.1; done\n"
    )
    later = replace(JOB, comment="haloscope:000000000000", behind=first)
    head = "".join(f"{scheduler.directive} {one}\n" for one in scheduler.options(far, later))
    second = taken(scheduler, fake, f"#!/bin/bash\n{head}exit 3\n")

    until(scheduler, first, "RUNNING")
    running, waiting = (scheduler.states([first, second])[job] for job in (first, second))
    assert running.nodes == os.uname().nodename
    assert (waiting.state, waiting.over) == ("PENDING", False)
    assert scheduler.found(JOB.name, JOB.comment) == first
    assert scheduler.found(JOB.name, "haloscope:111111111111") is None
    assert scheduler.named(JOB.name, [first, second]) == {first, second}
    assert scheduler.named("haloscope-999999999999", [first, second]) == set()
    (fake / "go").touch()
    until(scheduler, first, "COMPLETED")
    until(scheduler, second, "FAILED")
    assert scheduler.states(["99999"])["99999"].state == "GONE"


def test_a_refusal_and_a_missing_answer_are_distinguished(known: str, fake: Path) -> None:
    scheduler = schedulers.of(site(known))
    scheduler.require_queue("short")
    with pytest.raises(RefusedError, match="long"):
        scheduler.require_queue("long")

    (fake / "away").touch()

    with pytest.raises(NoAnswerError, match="refused"):
        scheduler.states(["100"])
    with pytest.raises(NoAnswerError, match="refused"):
        scheduler.found(JOB.name, JOB.comment)
    assert Batch(scheduler).has_its_nodes("100", 0)  # nobody says that it has not


def test_a_site_file_is_checked_against_the_batch_system(
    known: str, fake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(fake)
    site_file.write(site(known), Path("sites/far.toml"))
    assert main(["site", "check", "far"]) == 0
    assert "queue short" in " ".join(capsys.readouterr().out.split())

    text = Path("sites/far.toml").read_text()
    Path("sites/far.toml").write_text(text.replace('"short"', '"long"'))

    assert main(["site", "check", "far"]) == 1
    assert "'long'" in capsys.readouterr().out
    (fake / "away").touch()
    assert main(["site", "check", "far"]) == 2
    assert "no answer: Connection refused" in capsys.readouterr().err


def test_without_slurm_the_error_explains_how_to_write_a_site_file(
    known: str, fake: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(fake.parent / "bin"))

    assert main(["site", "detect"]) == 2

    assert f'scheduler = "{known}"' in capsys.readouterr().err


def test_an_unknown_start_time_is_not_invented(known: str) -> None:
    assert not re.search(r"\d", schedulers.of(site(known)).tested(Path("job.sh")))


def environment(known: str, folder: Path, nodes: list[str]) -> dict[str, str]:
    """The variables of a job with these nodes, each of two slots."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{node}\n" for node in nodes for _ in range(2)))
    if known == "pbs":
        return {"PBS_JOBID": "7.far", "PBS_NODEFILE": str(hosts), "PBS_QUEUE": "short"}
    return {"LSB_JOBID": "7", "LSB_DJOB_HOSTFILE": str(hosts), "LSB_QUEUE": "short"}


@pytest.mark.parametrize("known", ["pbs", "lsf"])
def test_a_job_has_the_unique_nodes_of_its_file_in_order(known: str, tmp_path: Path) -> None:
    far = site(known)
    variables = environment(known, tmp_path, ["n7.far", "n2.far"])

    found = schedulers.of(far).allocation(far, variables)

    assert found is not None
    assert found.as_record() == {
        "site": "far",
        "scheduler": known,
        "job": "7.far" if known == "pbs" else "7",
        "partition": "short",
        "nodes": ["n7.far", "n2.far"],
        "switches": None,
        "restarts": 0,
    }
    assert schedulers.of(far).allocation(far, {}) is None


def test_lsf_may_name_its_hosts_in_a_variable() -> None:
    far = site("lsf")

    found = schedulers.of(far).allocation(far, {"LSB_JOBID": "7", "LSB_HOSTS": "n1 n1 n2 n2"})

    assert found is not None
    assert found.nodes == ("n1", "n2")


@pytest.mark.parametrize(
    "slots", [["batch3", *["n1"] * 2, *["n2"] * 2], [*["n1"] * 2, *["n2"] * 2]]
)
def test_with_jsrun_a_job_has_only_compute_nodes(
    slots: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    far = far_site.site("lsf", "jsrun")
    monkeypatch.setattr("socket.gethostname", lambda: "n1.far")

    found = schedulers.of(far).allocation(far, {"LSB_JOBID": "7", "LSB_HOSTS": " ".join(slots)})

    assert found is not None
    assert found.nodes == ("n1", "n2")
    monkeypatch.setattr("socket.gethostname", lambda: "batch3")
    with pytest.raises(UserError, match="batch3") as caught:
        schedulers.of(far).allocation(far, {"LSB_JOBID": "7", "LSB_HOSTS": " ".join(slots)})
    assert "compute node" in caught.value.problems[0].remedy


def test_with_jsrun_lsf_requests_whole_nodes_by_count() -> None:
    options = schedulers.of(site("lsf")).options(far_site.site("lsf", "jsrun"), JOB)

    assert "-nnodes 2" in options
    assert not any(one.startswith(("-n ", "-R", "-x")) for one in options)


@pytest.mark.parametrize(
    ("scheduler", "launcher", "needs"),
    [("pbs", "srun", "slurm"), ("slurm", "jsrun", "lsf"), ("pbs", "jsrun", "lsf")],
)
def test_a_launcher_of_another_batch_system_is_refused(
    scheduler: str, launcher: str, needs: str, tmp_path: Path
) -> None:
    path = tmp_path / "far.toml"
    site_file.write(far_site.site(scheduler, launcher), path)

    with pytest.raises(UserError) as caught:
        site_file.load(path)

    (problem,) = (one for one in caught.value.problems if one.where == f"{path}: launcher")
    assert launcher in problem.what and f'"{needs}"' in problem.what


@pytest.mark.parametrize("known", ["pbs", "lsf"])
@pytest.mark.parametrize("wrong", [[], ["--help"], ["n1;x"], ["n1", "a/b"]])
def test_impossible_node_lists_are_refused_by_name(
    known: str, wrong: list[str], tmp_path: Path
) -> None:
    far, where = site(known), "PBS_NODEFILE" if known == "pbs" else "LSB_DJOB_HOSTFILE"
    variables = environment(known, tmp_path, wrong)

    with pytest.raises(UserError, match=where):
        schedulers.of(far).allocation(far, variables)
    with pytest.raises(UserError, match=where):
        schedulers.of(far).allocation(far, {**variables, where: "/nowhere"})


@pytest.mark.parametrize("known", ["flux"])
def test_a_flux_job_queries_its_own_instance(
    known: str, fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = site("flux")
    assert schedulers.of(far).allocation(far, {}) is None
    (fake / "hosts").write_text("n1\nn2\n")
    monkeypatch.setenv("FAKE_FLUX_JOB", "1234")
    monkeypatch.setenv("FAKE_FLUX_HOSTS", str(fake / "hosts"))

    found = schedulers.of(far).allocation(far, {})

    assert found is not None
    assert (found.job, found.nodes) == ("1234", ("n1", "n2"))


@pytest.mark.parametrize(
    ("letter", "status", "state"),
    [("F", 0, "COMPLETED"), ("F", 1, "FAILED"), ("F", -29, "TIMEOUT"), ("F", 271, "CANCELLED"),
     ("F", None, "CANCELLED"), ("E", None, "COMPLETING"), ("H", None, "PENDING")],
)  # fmt: skip
def test_qstat_letters_are_mapped_to_states(
    letter: str, status: int | None, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = "" if status is None else f', "Exit_status": {status}'
    said = f'{{"Jobs": {{"7.far": {{"Job_Name": "x", "job_state": "{letter}"{ended}}}}}}}'
    monkeypatch.setattr(Pbs, "output", lambda *_: said)

    assert Pbs().states(["7.far"])["7.far"].state == state


def test_pbs_without_a_job_history_uses_current_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def output(_: Pbs, *words: str) -> str:
        if "-x" in words:
            raise RefusedError("qselect: Server is not configured to keep a history of jobs")
        return "7.far\n"

    monkeypatch.setattr(Pbs, "output", output)

    assert Pbs().found(JOB.name, JOB.comment) == "7.far"


@pytest.mark.parametrize("known", ["pbs", "lsf"])
def test_the_script_is_submitted_unchanged_and_cancelled(known: str, fake: Path) -> None:
    far = site(known)
    scheduler, path = schedulers.of(far), fake.parent / "our job.sh"
    text = script(scheduler, far, replace(JOB, log=fake / "log"), fake)
    path.write_text(
        text.replace("exec ", "exec sleep 600 #", 2).replace("exec sleep 600 #", "exec ", 1)
    )

    job = Batch(scheduler).submit(path, JOB.name, JOB.comment)

    assert (fake / f"{job.partition('.')[0]}.sh").read_text() == path.read_text()
    assert Batch(scheduler).submit(path, JOB.name, JOB.comment) == job  # it is found
    until(scheduler, job, "RUNNING")
    scheduler.cancel(job)
    until(scheduler, job, "CANCELLED")
    Batch(scheduler).cancel([job])  # it has ended


def test_a_submission_without_an_answer_is_searched_for_and_not_repeated(
    known: str, fake: Path
) -> None:
    far = site(known)
    scheduler, path = schedulers.of(far), fake.parent / "job.sh"
    head = "".join(f"{scheduler.directive} {one}\n" for one in scheduler.options(far, JOB))
    path.write_text(f"#!/bin/bash\n{head}exit 0\n")
    (fake / "deaf").touch()

    job = Batch(scheduler, wait=lambda _: None).submit(path, JOB.name, JOB.comment)

    assert [one.stem for one in fake.glob("[0-9]*.json")] == [job.partition(".")[0]]


def test_a_refused_job_quotes_the_batch_system(known: str, fake: Path) -> None:
    far = site(known)
    scheduler, path = schedulers.of(far), fake.parent / "job.sh"
    head = "".join(f"{scheduler.directive} {one}\n" for one in scheduler.options(far, JOB))
    path.write_text(f"#!/bin/bash\n{head}".replace("short", "long"))

    with pytest.raises(UserError, match="Unknown queue long"):
        Batch(scheduler).submit(path, JOB.name, JOB.comment)


@pytest.mark.parametrize("known", ["pbs", "lsf"])
def test_a_missing_batch_command_is_named(
    known: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "job.sh").touch()

    with pytest.raises(UserError) as caught:
        schedulers.of(site(known)).submitted(tmp_path / "job.sh")
    assert caught.value.problems[0].where == {"pbs": "qsub", "lsf": "bsub"}[known]
