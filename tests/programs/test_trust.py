# SPDX-License-Identifier: BSD-3-Clause
"""Which programs may be run, and how a job is told of those that the user named."""

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


def test_what_came_with_haloscope_may_be_run() -> None:
    assert "lammps_rhodo" in trusted(())


def test_the_named_ones_go_before_the_users_own_and_these_before_ours(
    own: Path, tmp_path: Path
) -> None:
    mine, named = put(own, "lammps_rhodo"), put(tmp_path / "other", "lammps_rhodo")

    assert trusted(())["lammps_rhodo"].file == mine / "program.toml"
    assert trusted([named])["lammps_rhodo"] == Trusted(named / "program.toml", named=True)
    assert trusted([named / "program.toml"])["lammps_rhodo"].named


def test_where_another_folder_may_be_put_in_its_place_nothing_is_run(own: Path) -> None:
    put(own)
    own.parent.chmod(0o1777)
    assert "theirs" in trusted(())
    own.parent.chmod(0o777)

    with pytest.raises(UserError, match="chmod o-w"):
        trusted(())


def test_where_a_link_leads_to_an_open_folder_nothing_is_run(own: Path, tmp_path: Path) -> None:
    there = put(tmp_path / "open")
    own.mkdir(parents=True, exist_ok=True)
    (own / "theirs").symlink_to(there)
    assert "theirs" in trusted(())
    there.parent.chmod(0o777)

    with pytest.raises(UserError, match="chmod o-w"):
        trusted(())


@pytest.mark.parametrize("open_", [".", "theirs", "theirs/program.toml"])
def test_what_others_may_write_to_is_not_run(own: Path, open_: str) -> None:
    put(own)
    (own / open_).chmod((own / open_).stat().st_mode | 0o022)

    with pytest.raises(UserError, match="chmod go-w"):
        trusted(())


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="theirs"):
        trusted([put(tmp_path / "one"), put(tmp_path / "two")])


@pytest.mark.parametrize("name", ["Mine", "my-solver", "1st"])
def test_a_folder_that_can_be_no_kernels_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"'{name}'"):
        trusted([put(tmp_path, name)])


def test_a_folder_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not found: .*program.toml"):
        trusted([tmp_path])


def test_jobs_are_told_of_the_named_ones_alone(own: Path, tmp_path: Path) -> None:
    put(own, "mine")
    there = trusted([put(tmp_path)])

    options = named_again([there["mine"], there["theirs"]])

    assert options == ["--program", str(tmp_path / "theirs" / "program.toml")]


def test_a_user_without_a_variable_has_a_folder_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HALOSCOPE_PROGRAMS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert own_folder() == tmp_path / "haloscope" / "programs"
