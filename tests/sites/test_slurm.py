# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's commands print, as data; and that a user's shell does not change what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.sites.schedulers import asking, slurm
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.slurm import Slurm


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("30", 30),
        ("30:00", 30),
        ("4:00:00", 240),
        ("1-00:00:00", 1440),
        ("2-12", 3600),
        ("infinite", None),
        ("UNLIMITED", None),
    ],
)
def test_times_use_the_slurm_format(text: str, minutes: int | None) -> None:
    assert slurm.minutes(text) == minutes


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("None", slurm.REASONS["None"]),
        ("(Dependency)", slurm.REASONS["Dependency"]),
        ("ReqNodeNotAvail, May be reserved", slurm.REASONS["ReqNodeNotAvail"]),
        ("SomethingNew", "SomethingNew"),
    ],
)
def test_the_reason_a_job_waits_is_described(reason: str, words: str) -> None:
    assert slurm.in_words(reason) == words


def test_an_scontrol_line_may_have_values_with_spaces() -> None:
    given = {
        "JobId": "7",
        "JobName": "a b",
        "Comment": "haloscope 1",
        "Reason": "None",
        "Command": "(null)",
    }
    line = " ".join(f"{key}={value}" for key, value in given.items())

    assert slurm.settings(f"{line}\n") == [given]


def test_lines_with_other_fields_are_ignored() -> None:
    assert slurm.rows("7|a\n\nwarning: slow\n8|b|c\n9|\n", 2) == [["7", "a"], ["9", ""]]


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        (
            "MPI plugin types are...\n\tnone\n\tpmix\nspecific pmix plugin versions: pmix_v4\n",
            ["none", "pmix"],
        ),
        (  # of older versions
            "srun: MPI types are...\nsrun: none\nsrun: pmix\nsrun: pmi2\n",
            ["none", "pmix", "pmi2"],
        ),
    ],
)
def test_mpi_types_are_the_lines_after_the_heading(said: str, kinds: list[str]) -> None:
    assert slurm.mpi_kinds(said) == kinds


def program(folder: Path, text: str, name: str = "squeue") -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def own_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_user_variables_are_not_passed_on(own_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SBATCH_PARTITION", "SLURM_JOB_ID", "SQUEUE_FORMAT"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("SLURM_CONF", "/etc/mine")
    program(own_path, "env")

    said = Slurm({"OWN": "1"}).output("squeue")

    assert {"SLURM_CONF=/etc/mine", "OWN=1"} <= {*said.splitlines()}
    assert not [line for line in said.splitlines() if line.endswith("=x")]
    assert Slurm({}).overriding({"SBATCH_QOS": "a", "SLURM_X": "b"}) == ["SBATCH_QOS"]


def test_a_refusal_and_a_missing_answer_are_distinguished(own_path: Path) -> None:
    program(own_path, "echo 'error: Invalid partition name' >&2; exit 1")
    with pytest.raises(RefusedError, match="Invalid partition"):
        Slurm({}).output("squeue")

    program(own_path, "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1")
    with pytest.raises(NoAnswerError, match="Unable to contact"):
        Slurm({}).output("squeue")


@pytest.mark.parametrize(
    ("output", "never"),
    [
        ("srun: error: Unable to create step for job 4: Try again later", True),
        ("srun: error: Unable to confirm allocation for job 4: Connection reset", True),
        ("srun: error: lab1: task 0: Exited with exit code 1", False),
    ],
)
def test_a_launch_that_never_started_is_distinguished_from_a_failed_one(
    output: str, *, never: bool
) -> None:
    assert slurm.never_began(output) == never


def test_a_command_that_does_not_respond_times_out(
    own_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ANSWER_S", 0.2)
    program(own_path, "exec sleep 20")

    with pytest.raises(NoAnswerError, match="squeue"):
        Slurm({}).output("squeue")


@pytest.mark.parametrize(
    "accounting", ["echo 'Slurm accounting storage is disabled' >&2; exit 1", "exit 0"]
)
def test_a_forgotten_job_is_over(own_path: Path, accounting: str) -> None:
    """The controller has forgotten the job, and accounting is off or has no entry of it."""
    program(own_path, "echo '8|RUNNING|n1|None'")
    program(own_path, "echo 'slurm_load_jobs error: Invalid job id' >&2; exit 1", "scontrol")
    program(own_path, accounting, "sacct")

    states = Slurm({}).states(["7", "8"])

    assert (states["7"].state, states["7"].over) == ("GONE", True)
    assert (states["8"].state, states["8"].over) == ("RUNNING", False)


def test_a_missing_slurm_is_reported(own_path: Path) -> None:
    with pytest.raises(UserError, match="login node"):
        Slurm({}).output("sbatchx")


@pytest.mark.parametrize("text", ["#!/no/such/python3\n", "\x7fno first line\n"])
def test_a_command_that_cannot_be_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It ended in a traceback."""
    (tmp_path / "sinfo").write_text(text)
    (tmp_path / "sinfo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RefusedError, match="sinfo .*#!"):
        Slurm({}).output("sinfo")
