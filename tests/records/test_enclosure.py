# SPDX-License-Identifier: BSD-3-Clause
"""A result folder keeps to itself: links and special files in it are refused, not followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded import of_case, quick, write_folder

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.paths import write_whole
from haloscope.records.folder import FILES, FOLDERS, REPORTS, ResultFolder, enclosed

NAMES = (*FILES, *REPORTS, *FOLDERS)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What somebody wants to keep, with names that a report writes and deletes."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in (*NAMES, "thesis.svg", "thesis.pdf", "thesis.csv"):
        (folder / name).write_text("precious\n")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["report", "show"])
def test_a_link_in_a_received_folder_is_refused(
    tmp_path: Path, outside: Path, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, before = write_folder(tmp_path / "received", quick(1)), contents(outside)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside if name in FOLDERS else outside / name)

    assert main([command, str(folder)]) == 2

    assert f"{folder / name}: " in capsys.readouterr().err
    assert contents(outside) == before


@pytest.mark.parametrize("name", [*FILES, *REPORTS])
def test_a_pipe_is_refused_without_waiting(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path / "received", quick(1))
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)

    assert main(["report", str(folder)]) == 2

    assert f"{folder / name}: " in capsys.readouterr().err


def test_a_report_replaces_links_to_figures_and_tables(tmp_path: Path, outside: Path) -> None:
    folder, before = write_folder(tmp_path / "received", quick(1)), contents(outside)
    (folder / "tables").mkdir()
    (folder / "figures").mkdir()
    (folder / "tables" / "summary.csv").symlink_to(outside / "thesis.csv")
    (folder / "figures" / "x.svg").symlink_to(outside / "thesis.svg")
    (folder / "report.md").hardlink_to(outside / "report.md")

    assert main(["report", str(folder)]) == 0

    assert contents(outside) == before
    assert not (folder / "tables" / "summary.csv").is_symlink()
    assert "precious" not in (folder / "report.md").read_text()


def test_measuring_into_a_hard_linked_file_is_refused(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "received").mkdir()
    (tmp_path / "received" / "records.jsonl").hardlink_to(outside / "thesis.csv")

    with (
        pytest.raises(UserError, match="received/records.jsonl: "),
        ResultFolder(tmp_path / "received").alone(),
    ):
        pass


def test_links_and_pipes_in_neighbouring_folders_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")

    assert list(enclosed(sorted(tmp_path.iterdir()))) == [tmp_path / "real"]


def test_record_text_never_names_files_elsewhere(tmp_path: Path) -> None:
    raws = [of_case(raw, kernel="../../../evil") for raw in quick(1)]
    folder = write_folder(tmp_path / "received", raws)

    assert main(["report", str(folder)]) == 0

    assert [path.name for path in tmp_path.iterdir()] == ["received"]


def test_a_file_that_cannot_be_replaced_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "file", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_temporary_files_of_killed_writers_are_removed_on_locking(tmp_path: Path) -> None:
    for name in ("plan.json.123.new", "report.html.99.new", "mine.new", "plan.json"):
        (tmp_path / name).touch()

    with ResultFolder(tmp_path).alone():
        left = {path.name for path in tmp_path.iterdir()}

    assert left == {"mine.new", "plan.json", ".lock"}
