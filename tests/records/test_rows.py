# SPDX-License-Identifier: BSD-3-Clause
"""Records as rows of a table: CSV, JSON, Parquet, and a data frame."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from recorded import bad, of_case, pingpong, poisson, record, write_folder

import haloscope
from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.records.folder import ResultFolder
from haloscope.records.rows import rows
from haloscope.study.case import Case
from haloscope.study.plan import SavedPlan
from programs import USED, swept

TIMES = [0.1 + 0.2, 1 / 3, 2.5e-7]


def recorded() -> list[dict[str, Any]]:
    return [
        of_case({**poisson(64, time_s=1.0), "times_s": TIMES}, transport="tcp"),
        pingpong(),
        bad(poisson(128, time_s=1.0), "failed", "exit code 1"),
    ]


def test_every_repetition_becomes_a_lossless_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raws = recorded()
    folder = write_folder(tmp_path, raws)
    assert main(["export", str(folder), "--to", "csv", "--rows", "repetitions"]) == 0
    found = list(csv.DictReader(capsys.readouterr().out.splitlines()))

    solve = [row for row in found if row["case_id"] == raws[0]["case"]]
    assert [float(row["time_s"]) for row in solve] == TIMES
    assert [row["repetition"] for row in solve] == ["0", "1", "2"]
    assert {(row["n"], row["transport"], row["launch"]) for row in solve} == {("64", "tcp", "0")}
    sweep = [(int(row["size_bytes"]), float(row["time_s"])) for row in found if row["size_bytes"]]
    points = raws[1]["points"]
    assert sweep == [(one["size_bytes"], time) for one in points for time in one["times_s"]]
    (lost,) = (row for row in found if row["case_id"] == raws[2]["case"])
    assert (lost["outcome"], lost["reason"], lost["time_s"]) == ("failed", "exit code 1", "")


def test_the_data_frame_of_the_documentation_has_a_median_per_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("results/before"), [poisson(64, time_s=1.0), poisson(128, time_s=3.0)])
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0].strip()
    *lines, last = code.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)

    found = eval(last, names)

    assert {row["n"]: row["time_s"] for row in found.iter_rows(named=True)} == {64: 1.0, 128: 3.0}


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="repetitions"):
        haloscope.load(write_folder(tmp_path, recorded()), rows="points")  # type: ignore[arg-type]


def test_a_launch_has_one_result_row_and_a_sweep_one_row_per_size(tmp_path: Path) -> None:
    raws = recorded()
    frame = haloscope.load(write_folder(tmp_path, raws))

    solve = frame.row(by_predicate=polars.col("case_id") == raws[0]["case"], named=True)
    assert (solve["time_s"], solve["time_min_s"], solve["time_max_s"]) == (TIMES[0], *TIMES[2:0:-1])
    assert solve["repetitions_timed"] == 3
    assert solve["result_iterations"] == raws[0]["result"]["iterations"]
    assert solve["mpi_library"] == raws[0]["toolchain"]["mpi"]
    assert solve["started"].isoformat() == "2026-11-21T01:02:03.456000+00:00"
    sweep = frame.filter(kernel="pingpong")
    assert sweep["size_bytes"].to_list() == [one["size_bytes"] for one in raws[1]["points"]]
    latencies = [one["result"]["latency_s"] for one in raws[1]["points"]]
    assert sweep["result_latency_s"].to_list() == latencies
    assert frame.schema["n"] == polars.Int64
    assert frame.schema["time_s"] == polars.Float64


def of_a_program(launch: int) -> dict[str, Any]:
    """A launch of a program that printed no time of 8 B in the first, and a list."""
    one = swept(launch)
    one["result"] = {"norms": [1.0, 0.5], "speed": 1.0}
    if launch == 0:
        lost = {"size_bytes": 8, "operation": None, "line": "8 0.00", "why": "invalid time"}
        one["points"] = [each for each in one["points"] if each["size_bytes"] != 8]
        one["program"] = {**USED, "untimed": [lost, lost]}
    return one


def test_a_size_without_a_time_has_a_row_with_the_reason(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [of_a_program(launch) for launch in range(2)])

    frame = haloscope.load(folder).filter(size_bytes=8)

    assert {*frame["launch"]} == {0, 1}
    lost = frame.row(by_predicate=polars.col("launch") == 0, named=True)
    assert (lost["time_s"], lost["repetitions_timed"]) == (None, 0)
    assert (lost["outcome"], lost["reason"]) == ("ok", "invalid time")
    assert len(haloscope.load(folder)) == 24
    raw = rows(folder, "repetitions")
    names = [column.name for column in raw.columns]
    reasons = [row[names.index("reason")] for row in raw]
    assert (len(reasons), reasons.count("invalid time")) == (25, 2)


def test_omissions_from_an_export_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path, [of_a_program(launch) for launch in range(2)])

    assert main(["export", str(folder), "--to", "csv", "-o", str(tmp_path / "rows.csv")]) == 0

    *written, left_out = capsys.readouterr().err.splitlines()
    files = [tmp_path / "rows.csv", tmp_path / "rows.schema.json"]
    assert written == [f"table: {file}" for file in files]
    assert "left out" in left_out and "result_norms of 2 launches" in left_out


def test_planned_launches_without_a_record_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = poisson(64)
    layout, library = Layout.recorded(raw["layout"]), raw["toolchain"]["name"]
    case = Case(raw["kernel"], {"n": 64}, raw["params"], layout, library, 0, 3, 1.0, 0)
    folder = ResultFolder(write_folder(tmp_path, [raw]))
    folder.save(SavedPlan("x", "x", 1, (case,), (), {}, {"host": "lark"}))

    assert main(["export", str(folder.path), "--to", "json"]) == 0

    assert "left out: 2 launches " in capsys.readouterr().err
    folder.plan.write_text("{")
    assert main(["export", str(folder.path), "--to", "json"]) == 0
    assert "left out: launches " in capsys.readouterr().err


def test_json_and_parquet_have_the_same_rows_and_schema(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "results", recorded())
    written = {to: tmp_path / f"rows.{to}" for to in ("csv", "json", "parquet")}
    for to, path in written.items():
        assert main(["export", str(folder), "--to", to, "-o", str(path)]) == 0

    table = json.loads(written["json"].read_text())
    frame = polars.read_parquet(written["parquet"])
    beside = json.loads((tmp_path / "rows.schema.json").read_text())
    metadata = json.loads(polars.read_parquet_metadata(written["parquet"])["schema"])
    assert table["schema"] == beside == metadata
    names = [field["name"] for field in table["schema"]["fields"]]
    assert names == frame.columns == next(csv.reader(io.StringIO(written["csv"].read_text())))
    for one, other in zip(table["data"], frame.iter_rows(named=True), strict=True):
        assert one["time_s"] == other["time_s"]
        assert one["case_id"] == other["case_id"]


def test_columns_use_the_units_of_kernels_and_programs(tmp_path: Path) -> None:
    used = {**USED, "units": {"pressure": "Pa"}}
    found = {"pressure": 2.5}
    own = record("mine", {"size": 8, "host": "a"}, [1.0], result=found, program=used)
    folder = write_folder(tmp_path, [pingpong(), own])
    columns = {column.name: column for column in rows(folder, "launches").columns}

    assert columns["time_s"].unit == "s"
    assert columns["sizes"].unit == "B"
    assert columns["result_bandwidth_bytes_per_s"].unit == "B/s"
    assert columns["result_pressure"].unit == "Pa"
    assert columns["kernel"].unit == ""
    assert columns["param_host"].type == "string"
    assert all(column.meaning for column in columns.values())


def test_values_of_several_types_become_text(tmp_path: Path) -> None:
    raws = [record("mine", {"level": value}, [1.0]) for value in (1, "high", True)]
    frame = haloscope.load(write_folder(tmp_path, raws))

    assert frame["level"].to_list() == ["1", "high", "true"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["none", "--to", "csv"], "no records.jsonl"),
        (["results", "--to", "parquet"], "-o FILE"),
        (["results", "--to", "csv", "-o", "lacking/rows.csv"], "lacking/rows.csv"),
    ],
)
def test_an_impossible_export_is_refused(
    words: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_folder(tmp_path / "results", [poisson(64, time_s=1.0)])
    monkeypatch.chdir(tmp_path)

    assert main(["export", *words]) == 2
    assert expected in capsys.readouterr().err


def test_only_a_data_frame_needs_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path, [poisson(64, time_s=1.0)])
    monkeypatch.setitem(sys.modules, "polars", None)

    assert main(["export", str(folder), "--to", "json"]) == 0
    with pytest.raises(UserError, match=r"haloscope\[data\]") as caught:
        haloscope.load(folder)
    assert "HALOSCOPE_EXTRAS=dev ./haloscope" in str(caught.value)  # of a checkout, which has it
    assert "\npolars==" in (Path(__file__).parents[2] / "requirements-dev.txt").read_text()
