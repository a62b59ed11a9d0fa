# SPDX-License-Identifier: BSD-3-Clause
"""Result folders and site files of somebody else: where a batch system is, they run nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from noted import shows

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.records.folder import ResultFolder
from haloscope.run.jobs import job_notes, submission
from haloscope.sites import file as site_file
from haloscope.sites import script
from haloscope.sites.schedulers import schedulers, slurm
from haloscope.sites.schedulers.scheduler import JobAsked
from haloscope.study.plan import SavedPlan

SITE = """
source = "a friend"
scheduler = "slurm"
partition = "short"
launcher = "srun"
mpi = "pmix"
template = {template!r}

[[partitions]]
name = "short"
nodes = 8
cores = 16
memory_mb = 64000
"""
COMMENT = "haloscope:0123456789ab"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a site, and a Slurm that has jobs 900 and 901 of its user, 901 of R."""
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "friend.toml").write_text(SITE.replace("template = {template!r}\n", ""))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()
    plan = SavedPlan("R", "study.toml", 1, (), (), {}, {"host": "friend"}, on="friend")
    ResultFolder(tmp_path / "R").create("title = 'R'\n", plan)
    name = submission.of_folder(Path("R")).name
    fake = {
        "squeue": 'case "$*" in *%k*) echo "900|(null)";; *%j*) echo "900|own work";'
        f' echo "901|{name}";; *) for j in 900 901; do echo "$j|RUNNING|n1|None"; done;; esac',
        "scancel": 'echo "$*" >> cancelled',
        "scontrol": "exit 1",
        "sacct": "exit 1",
    }
    for command, text in fake.items():
        (tmp_path / "bin" / command).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / command).chmod(0o755)
    return tmp_path


def noted(folder: Path, **job: object) -> None:
    (folder / "R" / "jobs").mkdir(exist_ok=True)
    one = {"comment": COMMENT, "nodes": 1, "minutes": 1, "script": "s", **job}
    (folder / "R" / "jobs" / "jobs.json").write_text(json.dumps([one]))


def test_cancelling_affects_only_jobs_of_the_folder(place: Path) -> None:
    noted(place, job="900")
    assert main(["cancel", "R"]) == 0
    assert not (place / "cancelled").exists()

    noted(place, job="901")
    assert main(["cancel", "R"]) == 0
    assert (place / "cancelled").read_text() == "901\n"


def test_without_an_answer_nothing_is_cancelled_and_an_error_is_printed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted(place, job="901")
    (place / "bin" / "squeue").write_text(
        "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n"
    )

    assert main(["cancel", "R"]) == 2
    assert shows(capsys.readouterr().err, "no answer: Unable ")
    assert main(["status", "R"]) == 0
    assert "Unable to contact" in capsys.readouterr().out
    assert not (place / "cancelled").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"comment": "(null)"},
        {"job": "--me"},
        {"job": "7.a b"},
        {"job": "7./x"},
        {"job": 5},
        {"job": "5\0"},
        {"more": 1, "comment": None},
    ],
)
def test_invalid_jobs_are_refused_by_name(
    place: Path, wrong: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    noted(place, **wrong)

    assert main(["cancel", "R"]) == 2

    said = capsys.readouterr().err
    assert "jobs.json" in said and "damaged" in said
    assert not (place / "cancelled").exists()


def _link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "elsewhere")


@pytest.mark.parametrize(
    "name", ["jobs", "jobs/jobs.json", "jobs/check.json", "jobs/driver.json", "heartbeat.json"]
)
@pytest.mark.parametrize("make", [os.mkfifo, _link])
def test_links_and_pipes_are_refused(
    place: Path, name: str, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "elsewhere").mkdir()
    (place / "R" / name).parent.mkdir(exist_ok=True)
    make(place / "R" / name)

    assert main(["status", "R"]) == 2

    assert name in capsys.readouterr().err
    assert not [*(place / "elsewhere").iterdir()]


@pytest.mark.parametrize("text", ["[", "[" * 100_000, "\xff", '{"problems":[{"where":1}]}', "[]"])
def test_a_forged_preflight_answer_is_refused(place: Path, text: str) -> None:
    path = place / "R" / "jobs" / "check.json"
    path.parent.mkdir()
    path.write_text(text, encoding="latin-1")

    with pytest.raises(UserError, match=r"check.json: damaged"):
        job_notes.lacking(place / "R")


@pytest.mark.parametrize(
    "template",
    [
        "{{ cycler.__init__.__globals__.os.system('touch ran') }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ 1 / 0 }}",
        "{% for one in range(10 ** 9) %}x{% endfor %}",
    ],
)
def test_templates_execute_nothing_on_submission(place: Path, template: str) -> None:
    (place / "job.jinja").write_text(template)
    described = place / "sites" / "tpl.toml"
    described.write_text(SITE.replace("{template!r}", '"job.jinja"'))
    job = JobAsked("a", COMMENT, 1, 1, place / "log", ["drive"])

    with pytest.raises(UserError, match="site tpl: template"):
        site = site_file.load(described)
        script.script(schedulers.of(site), site, job, place)

    assert not (place / "ran").exists()


@pytest.mark.parametrize("template", ["/dev/zero", "pipe", "sites"])
def test_templates_must_be_regular_files(place: Path, template: str) -> None:
    os.mkfifo(place / "pipe")
    described = place / "sites" / "tpl.toml"
    described.write_text(SITE.replace("{template!r}", f'"{template}"'))
    job = JobAsked("a", COMMENT, 1, 1, place / "log", ["drive"])

    with pytest.raises(UserError, match="site tpl: template"):
        site = site_file.load(described)
        script.script(schedulers.of(site), site, job, place)


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "X;touch ran;Y", "BASH_ENV", "A=B"])
def test_a_site_may_set_only_slurm_variables(place: Path, name: str) -> None:
    described = place / "sites" / "env.toml"
    text = SITE.replace("template = {template!r}\n", "")
    described.write_text(f'{text}\n[environment]\n"{name}" = "/tmp/evil"\n')

    with pytest.raises(UserError, match="env.toml"):
        site_file.load(described)


@pytest.mark.parametrize(
    ("output", "never"),
    [
        ("srun: error: Unable to create step for job 7: busy\n", True),
        ("btl_tcp: connect() failed: Connection refused (111)\n", False),
    ],
)
def test_program_output_is_not_mistaken_for_batch_system_output(
    output: str, *, never: bool
) -> None:
    """A launch that ran and failed is a failed launch, and is not tried again unseen."""
    assert slurm.never_began(output) == never
