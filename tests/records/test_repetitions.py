# SPDX-License-Identifier: BSD-3-Clause
"""The raw data: every repetition a row."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from recorded import bad, of_case, pingpong, poisson, write_folder

from haloscope.cli import main

TIMES = [0.1 + 0.2, 1 / 3, 2.5e-7]


def test_every_repetition_is_a_row_without_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raws = [
        of_case({**poisson(64, time_s=1.0), "times_s": TIMES}, transport="tcp"),
        pingpong(),
        bad(poisson(128, time_s=1.0), "failed", "exit code 1"),
    ]
    folder = write_folder(tmp_path, raws)
    assert main(["show", str(folder), "--raw"]) == 0
    found = list(csv.DictReader(capsys.readouterr().out.splitlines()))

    solve = [row for row in found if row["case_id"] == raws[0]["case"]]
    assert [float(row["time_s"]) for row in solve] == TIMES
    assert [row["repetition"] for row in solve] == ["0", "1", "2"]
    assert {(row["n"], row["transport"], row["launch"]) for row in solve} == {("64", "tcp", "0")}
    sweep = [(int(row["size_bytes"]), float(row["time_s"])) for row in found if row["size_bytes"]]
    points = raws[1]["points"]
    assert sweep == [(one["size_bytes"], time) for one in points for time in one["times_s"]]
    (lost,) = (row for row in found if row["case_id"] == raws[2]["case"])
    assert (lost["outcome"], lost["time_s"]) == ("failed", "")


def test_raw_data_have_no_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tmp_path, [poisson(64, time_s=1.0)])
    assert main(["show", str(folder), "summary", "--raw"]) == 2
    assert main(["show", str(tmp_path / "none"), "--raw"]) == 2
