# SPDX-License-Identifier: BSD-3-Clause
"""`haloscope schema`: what it takes and refuses, and that ready files name theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from recorded import poisson

from haloscope.cli import main
from haloscope.commands.reference.schema import SCHEMAS, text

ROOT = Path(__file__).parents[3]
READY = {
    "study": "studies/*.toml",
    "cluster": "clusters/*.toml",
    "paper": "papers/*/paper.toml",
    "program": "programs/*/program.toml",
}


def refused(kind: str, value: object) -> list[str]:
    """Where a schema refuses a value, the innermost places first of alternatives."""
    found = Draft202012Validator(json.loads(text(kind))).iter_errors(value)
    return sorted(one.json_path for one in found)


def study(kernel: str = "ring", **more: Any) -> dict[str, Any]:
    return {"title": "a study", "runs": [{"kernel": kernel, **more}]}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_copy_in_docs_matches_the_output_of_the_command(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", kind]) == 0
    printed = capsys.readouterr().out

    Draft202012Validator.check_schema(json.loads(printed))
    copy = ROOT / "docs" / "schemas" / f"{kind}.json"
    assert copy.read_text() == printed, f"run haloscope schema {kind} > docs/schemas/{kind}.json"


@pytest.mark.parametrize(("kind", "pattern"), READY.items())
def test_every_ready_file_refers_to_its_schema(kind: str, pattern: str) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files
    for file in files:
        first = file.read_text().splitlines()[0]
        named = file.parent / first.removeprefix("#:schema ")
        assert named.resolve() == ROOT / "docs" / "schemas" / f"{kind}.json", file


def test_an_axis_is_a_value_or_a_list_of_values() -> None:
    good: list[Any] = [2, "cores", [1, 2, "cores"]]
    bad: list[Any] = [0, "many", [], [1, "many"], 2.5]
    for ppn in good:
        assert refused("study", study(layout={"ppn": ppn})) == []
    for ppn in bad:
        assert refused("study", study(layout={"ppn": ppn})) == ["$.runs[0].layout.ppn"]


@pytest.mark.parametrize(
    ("kernel", "params", "where"),
    [
        ("poisson_cg", {"n": [64, 128], "variant": "fused"}, []),
        ("pingpong", {"sizes": "8:4M"}, []),
        ("of_somebody", {"anything": 1}, []),
        ("poisson_cg", {"n": 0}, ["$.runs[0].params.n"]),
        ("poisson_cg", {"n": "many"}, ["$.runs[0].params.n"]),
        ("poisson_cg", {"variant": ["fused", "fusde"]}, ["$.runs[0].params.variant"]),
        ("poisson_cg", {"sizes": "8"}, ["$.runs[0].params"]),
    ],
)
def test_parameters_match_the_kernel_of_the_run(
    kernel: str, params: dict[str, Any], where: list[str]
) -> None:
    assert refused("study", study(kernel, params=params)) == where


def test_a_record_line_is_valid_and_one_without_its_clock_is_not() -> None:
    record = poisson(64)
    assert refused("record", record) == []
    del record["clock"]
    assert refused("record", record) == ["$"]


def test_the_schema_has_no_name_key() -> None:
    for kind in ("cluster", "site"):
        schema = json.loads(text(kind))
        assert "name" not in schema["properties"]
        assert "name" not in schema["required"]
