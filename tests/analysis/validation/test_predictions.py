# SPDX-License-Identifier: BSD-3-Clause
"""Errors of predictions."""

from dataclasses import replace

import pytest

from haloscope.analysis.validation.predictions import Errors, PredictedCell


def cell(published: float, predicted: float | None, *, telling: bool = True) -> PredictedCell:
    return PredictedCell(
        *("4.1", "wall time", {"n": 1024}, published),
        telling=telling,
        predicted=predicted,
    )


def test_short_times_have_no_error() -> None:
    assert cell(4, 8, telling=False).error is None
    assert cell(5, 4).error == pytest.approx(-0.2)
    assert cell(5, None).error is None


def test_short_times_are_printed_alike_or_not() -> None:
    """In whole seconds."""
    printed = [
        replace(cell(4, time, telling=False), step=1.0).as_printed for time in (3.4, 3.6, 4.5)
    ]
    assert printed == [False, True, True]
    assert cell(4, None).as_printed is None


def test_median_and_maximum_use_only_cells_with_an_error() -> None:
    errors = Errors.of([cell(10, 12), cell(10, 9), cell(10, 10.5), cell(1, 5, telling=False)])
    assert errors.number == 3
    assert errors.median == pytest.approx(0.1)
    assert errors.worst == pytest.approx(0.2)
    assert Errors.of([]) == Errors(0, None, None)
