# SPDX-License-Identifier: BSD-3-Clause
"""Predictions kept in a result folder: what is written is read again, anything else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.analysis.validation.predictions import KeptError, PredictedTime
from haloscope.errors import UserError
from haloscope.report.draw import csv_files
from haloscope.report.predictions.predicted_times import KEPT, every_time, kept_errors
from haloscope.stats.estimates import Estimate


def test_kept_predictions_are_read_again(tmp_path: Path) -> None:
    assert kept_errors(tmp_path) == ()
    one = PredictedTime("pingpong", "8 B, warm", Estimate(2.0, None, None, 1, "none"), 3.0)

    csv_files.write_table(every_time([one]), tmp_path / KEPT)

    assert kept_errors(tmp_path) == (KeptError("pingpong", "8 B, warm", 0.5),)


@pytest.mark.parametrize(
    "text",
    [
        "kernel,what\nstream,a\n",
        "kernel,what,error\nstream,a,nan\n",
        "kernel,what,error\nstream,a,\n",
        "kernel,what,error\nstream\n",
        "kernel,what,error\nstream,\x1b[31m,0.1\n",
    ],
    ids=["no error", "not a number", "empty", "short", "control character"],
)
def test_another_table_is_refused_with_the_command_that_writes_it(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / KEPT).write_text(text, encoding="utf-8")

    with pytest.raises(UserError) as caught:
        kept_errors(tmp_path)
    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / KEPT)
