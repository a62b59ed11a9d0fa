# SPDX-License-Identifier: BSD-3-Clause
"""How srun can start ranks, by what Slurm says: listed, loaded, and named in site files."""

from __future__ import annotations

import os
from pathlib import Path

import fake_slurm
import pytest

from haloscope.cli import main
from haloscope.sites import detect
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import srun_kinds
from haloscope.sites.schedulers.slurm import Slurm


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a Slurm whose commands come first in PATH."""
    for name in ("bin", "state"):
        (tmp_path / name).mkdir()
    for command in ("srun", "sinfo", "scontrol", "sbatch"):
        (tmp_path / "bin" / command).symlink_to(fake_slurm.__file__)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path / "state"))
    monkeypatch.delenv("SLURM_CONF", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


def test_a_listed_kind_that_cannot_be_loaded_is_not_usable(slurm: Path) -> None:
    kinds = srun_kinds.asked(Slurm({}))

    assert kinds.listed == ("pmix", "none", "cray_shasta", "pmi2", "pmix_v4")
    assert kinds.broken.keys() == {"pmix"} and "PMIx library" in kinds.broken["pmix"]
    assert kinds.usable == ["pmi2", "cray_shasta"]
    (slurm / "pmix").touch()
    assert srun_kinds.asked(Slurm({})).usable == ["pmix", "pmi2", "cray_shasta"]


@pytest.mark.parametrize(
    ("files", "launcher", "mpi"),
    [
        ({"pmix": ""}, "srun", "pmix"),
        ({}, "srun", "pmi2"),
        ({"default": "cray_shasta"}, "srun", "cray_shasta"),
        ({"default": "pmix"}, "srun", "pmi2"),
        ({"kinds": "none", "versions": ""}, "mpirun", None),
        # before 22.05, with the plugins that real clusters list
        ({"old": "", "kinds": "none openmpi pmi2", "default": "openmpi"}, "srun", "openmpi"),
        (
            {"old": "", "kinds": "pmix_v3 pmi2 none pmix_v1 pmix cray_shasta"},
            "srun",
            "pmi2",
        ),
        ({"old": "", "kinds": "none pmi2 pmix pmix_v3", "default": "pmix_v3"}, "srun", "pmi2"),
        ({"old": "", "kinds": "none pmix pmix_v3", "default": "pmix_v3"}, "mpirun", None),
        (
            {
                "old": "",
                "pmix": "",
                "kinds": "none openmpi pmi2 pmix pmix_v3",
                "default": "pmix_v3",
            },
            *("srun", "pmix_v3"),
        ),
        ({"old": "", "kinds": "mpi/none mpi/mvapich mpi/openmpi mpi/pmi2"}, "srun", "pmi2"),
        ({"old": "", "kinds": "none", "default": "none"}, "mpirun", None),
        # 22.05 and 23.11
        ({"pmix": "", "versions": "pmix_v3,pmix_v4", "default": "pmix_v3"}, "srun", "pmix_v3"),
        ({"versions": "pmix_v5", "default": "pmix_v5"}, "srun", "pmi2"),
    ],
)
def test_a_site_is_detected_with_a_working_kind(
    slurm: Path, files: dict[str, str], launcher: str, mpi: str | None
) -> None:
    for name, text in files.items():
        (slurm / name).write_text(text)

    site = detect.detected("here", {})

    assert (site.launcher, site.mpi) == (launcher, mpi)
    site_file.write(site, Path("sites/here.toml"))
    assert site_file.load(Path("sites/here.toml")) == site


def test_detect_and_check_name_a_kind_that_cannot_be_loaded(
    slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["site", "detect", "--name", "here"]) == 0
    assert "load PMIx library" in " ".join(capsys.readouterr().out.split())

    path = Path("sites/here.toml")
    path.write_text(path.read_text().replace('mpi = "pmi2"', 'mpi = "pmix"'))
    (problem,) = detect.disagreements(site_file.load(path))

    assert "'pmix'" in problem.what and "load PMIx library" in problem.what
    assert 'mpi = "pmi2"' in problem.remedy and "libpmix2" in problem.remedy
    path.write_text(path.read_text().replace('mpi = "pmix"', 'mpi = "pmi2"'))
    assert [*detect.disagreements(site_file.load(path))] == []


@pytest.mark.parametrize(("mpi", "problems"), [("pmix_v4", 1), ("pmix_v9", 1), ("none", 0)])
def test_the_kind_in_a_site_file_is_always_tested(slurm: Path, mpi: str, problems: int) -> None:
    assert main(["site", "detect", "--name", "here"]) == 0
    path = Path("sites/here.toml")
    path.write_text(path.read_text().replace('mpi = "pmi2"', f'mpi = "{mpi}"'))

    found = [*detect.disagreements(site_file.load(path))]

    assert [one.where for one in found] == ["site here: mpi"] * problems
    assert all(f"'{mpi}'" in one.what for one in found)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (fake_slurm.NO_PMIX, "can not load PMIx library"),
        (fake_slurm.NO_PMIX_OLD, "can not load PMIx library"),
        (fake_slurm.NONE_SUCH.format("pmix"), "Cannot create context for mpi/pmix"),
        (fake_slurm.NONE_SUCH_OLD.format("pmix"), "cannot create mpi context for mpi/pmix"),
        ("srun: error: Unable to allocate resources: Invalid account\n", None),
    ],
)
def test_the_reason_for_an_unusable_kind_is_found_for_each_slurm(
    said: str, why: str | None
) -> None:
    assert srun_kinds.cause(said) == why
