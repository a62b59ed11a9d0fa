# SPDX-License-Identifier: BSD-3-Clause
"""Which programs may run, and how a job receives those that the user named."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.programs.trust import Trusted, named_again, own_folder, trusted
from programs import put


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HALOSCOPE_PROGRAMS", str(tmp_path / "own"))
    return tmp_path / "own"


def test_shipped_programs_are_trusted() -> None:
    assert "lammps_rhodo" in trusted(())


def test_named_folders_precede_the_users_own_which_precede_shipped_ones(
    own: Path, tmp_path: Path
) -> None:
    mine, named = put(own, "lammps_rhodo"), put(tmp_path / "other", "lammps_rhodo")

    assert trusted(())["lammps_rhodo"].file == mine / "program.toml"
    assert trusted([named])["lammps_rhodo"] == Trusted(named / "program.toml", named=True)
    assert trusted([named / "program.toml"])["lammps_rhodo"].named


def test_a_folder_that_others_can_replace_is_not_trusted(own: Path) -> None:
    put(own)
    own.parent.chmod(0o1777)
    assert "theirs" in trusted(())
    own.parent.chmod(0o777)

    with pytest.raises(UserError, match="chmod o-w"):
        trusted(())


def test_a_link_to_a_world_writable_folder_is_not_trusted(own: Path, tmp_path: Path) -> None:
    there = put(tmp_path / "open")
    own.mkdir(parents=True, exist_ok=True)
    (own / "theirs").symlink_to(there)
    assert "theirs" in trusted(())
    there.parent.chmod(0o777)

    with pytest.raises(UserError, match="chmod o-w"):
        trusted(())


@pytest.mark.parametrize("open_", [".", "theirs", "theirs/program.toml"])
def test_files_writable_by_others_are_not_executed(own: Path, open_: str) -> None:
    put(own)
    (own / open_).chmod((own / open_).stat().st_mode | 0o022)

    with pytest.raises(UserError, match="chmod go-w"):
        trusted(())


def test_two_programs_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="theirs"):
        trusted([put(tmp_path / "one"), put(tmp_path / "two")])


@pytest.mark.parametrize("name", ["Mine", "my-solver", "1st"])
def test_a_folder_whose_name_is_not_a_valid_kernel_name_is_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(UserError, match=f"'{name}'"):
        trusted([put(tmp_path, name)])


def test_a_folder_without_a_program_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="program.toml not found"):
        trusted([tmp_path])


def test_jobs_receive_only_the_explicitly_named_folders(own: Path, tmp_path: Path) -> None:
    put(own, "mine")
    there = trusted([put(tmp_path)])

    options = named_again([there["mine"], there["theirs"]])

    assert options == ["--program", str(tmp_path / "theirs" / "program.toml")]


def test_without_the_variable_the_system_default_folder_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HALOSCOPE_PROGRAMS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert own_folder() == tmp_path / "haloscope" / "programs"
