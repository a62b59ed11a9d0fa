# SPDX-License-Identifier: BSD-3-Clause
"""The report as JSON: what programs read is what the report has, and its schema is documented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from recorded import poisson, quick, write_folder

from haloscope.cli import main
from haloscope.commands.reference import schema as schemas
from haloscope.report.composing import compose
from haloscope.report.draw import json_document

DOCS = Path(__file__).parents[3] / "docs"


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    main([*map(str, arguments), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_report_and_show_output_the_same_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path, quick(3))

    document = printed(capsys, "report", folder)

    assert printed(capsys, "show", folder) == document
    assert document["schema"] == "haloscope.report/1"
    assert not (folder / "report.html").exists()


def test_the_document_has_every_finding_table_and_case(tmp_path: Path) -> None:
    report = compose(write_folder(tmp_path, quick(3)))

    document = json.loads(json_document.text(report))

    ids = [one["id"] for one in document["findings"]]
    assert ids == [one.id for one in report.findings] and len({*ids}) == len(ids)
    assert document["answer"] in ids and {*document["key_figures"]} <= {*ids}
    assert len(document["key_figures"]) <= 4
    assert [one["id"] for one in document["tables"]] == [one.id for one in report.tables]
    assert {*document["cases"]} == {*report.settings}
    for one in document["findings"]:
        assert {*one["cases"]} <= {*document["cases"]}
        assert {*one["caveats"]} <= {*document["caveats"]}
    cells = [cell for table in report.tables for row in table.rows for cell in row]
    exact = [c["value"] for table in document["tables"] for row in table["rows"] for c in row]
    assert exact == [cell.value for cell in cells]


def test_a_comparison_has_the_same_document_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (
        write_folder(
            tmp_path / name,
            [poisson(64, launch=k, time_s=time * (1 + 0.001 * k)) for k in range(7)],
        )
        for name, time in (("before", 1.0), ("after", 0.5))
    )

    document = printed(capsys, "compare", before, after)

    (result,) = (one for one in document["findings"] if one["severity"] == "answer")
    assert document["answer"] == result["id"] and result["of"] == 1
    (part,) = result["parts"]
    assert (part["verdict"], part["count"]) == ("faster", 1)
    assert part["ratio"]["estimate"]["value"] == pytest.approx(2.0)


def test_the_document_validates_against_its_schema(tmp_path: Path) -> None:
    report = compose(write_folder(tmp_path, quick(3)))
    schema = Draft202012Validator(json.loads(schemas.text("report")))

    document = json.loads(json_document.text(report))

    assert [one.json_path for one in schema.iter_errors(document)] == []
    document["findings"][0]["shape"] = "sentence"
    assert [one.json_path for one in schema.iter_errors(document)] == ["$.findings[0].shape"]


def test_every_field_of_a_finding_is_documented() -> None:
    page = (DOCS / "findings.md").read_text(encoding="utf-8")
    models = (json_document.ReportJson, json_document.FindingJson, json_document.PartJson)
    fields = {field.alias or name for one in models for name, field in one.model_fields.items()}

    undocumented = {name for name in fields if f"`{name}`" not in page}

    assert undocumented <= {"schema", "text", "count", "p_value"}
