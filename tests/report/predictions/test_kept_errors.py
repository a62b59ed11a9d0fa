# SPDX-License-Identifier: BSD-3-Clause
"""Predictions kept in a result folder: what is written is read again, anything else is refused."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from recorded import quick, write_folder

from haloscope.analysis.validation.predictions import KeptError, KeptPredictions
from haloscope.errors import UserError
from haloscope.report.composing import compose
from haloscope.report.predictions.predicted import KEPT, digest, keep, kept_predictions

FAILED = ("jacobi3d, n = 1024: out of memory", "ring: deadlock")
ONE = KeptPredictions(
    "0", (KeptError("pingpong", "8 B, warm", 0.5),), FAILED, ("Others computed.",)
)
WRITTEN = json.dumps(asdict(ONE))


def test_kept_predictions_are_read_again(tmp_path: Path) -> None:
    assert kept_predictions(tmp_path) is None

    keep(ONE, tmp_path)

    assert kept_predictions(tmp_path) == ONE


def test_the_digest_changes_with_the_records(tmp_path: Path) -> None:
    first = digest(tmp_path)
    (tmp_path / "records.jsonl").write_text("{}\n", encoding="utf-8")

    assert digest(tmp_path) != first


def test_a_report_uses_only_predictions_of_its_records(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, quick())

    def shares(records: str) -> list[float | None]:
        keep(replace(ONE, records=records), folder)
        made = compose(folder)
        assert [any(why in line for line in made.left_out) for why in FAILED] == [
            records == digest(folder)
        ] * len(FAILED)
        return [p.share for f in made.findings for p in f.parts if f.kind == "error"]

    assert shares(digest(folder)) == [0.5]
    assert shares("0") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        WRITTEN[:-1],
        "kernel,what,error\nstream,a,0.1\n",
        "{}",
        WRITTEN.replace("failures", "left"),
        WRITTEN.replace("0.5", "NaN"),
        WRITTEN.replace("0.5", "null"),
        WRITTEN.replace("memory", "\\u001b[31m"),
        WRITTEN.replace("warm", "\\u001b[31m"),
        WRITTEN.replace("Others", "\\u001b[31m"),
    ],
    ids=[
        *("empty", "truncated", "another file", "another object", "another key"),
        *("not a number", "no error", "in a reason", "control character", "in a cause"),
    ],
)
def test_another_file_is_refused_with_the_command_that_writes_it(tmp_path: Path, text: str) -> None:
    (tmp_path / KEPT).write_text(text, encoding="utf-8")

    with pytest.raises(UserError) as caught:
        kept_predictions(tmp_path)
    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / KEPT)
