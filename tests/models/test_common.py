# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from model_data import SIZES, holds, launches

from haloscope.models import hockney, piecewise_hockney, ring
from haloscope.models.intervals import Intervals, bandwidth, bootstrapped, inverted
from haloscope.models.model import Model, Residuals
from haloscope.models.sweep import Sweep, fit_lines, sweep
from haloscope.stats.estimates import Estimate


def fitted() -> Sequence[Model]:
    """A fit of every kind that keeps to the protocol; mypy checks that they do."""
    data = launches(SIZES, 1e-6 + SIZES / 1e10, 0)
    ranks = np.arange(1.0, 13.0)
    around = launches(ranks, 1e-6 * ranks, 0, joint=False)
    few = Intervals(resamples=100)
    return (
        hockney.fit(data, intervals=few),
        piecewise_hockney.fit(data, intervals=few),
        ring.fit(around, [ring.RingLevel("intra_socket", 1, 12)], few),
    )


@pytest.mark.parametrize("model", fitted(), ids=lambda model: model.name)
def test_every_model_provides_what_a_report_plots(model: Model) -> None:
    assert model.source
    assert all(parameter.name.endswith(("_s", "_per_s")) for parameter in model.parameters)
    assert all(parameter.estimate.low is not None for parameter in model.parameters)
    predicted = model.predict(model.residuals.x)
    assert predicted == pytest.approx(model.residuals.predicted_s)
    assert model.predict(2.0).shape == ()
    assert model.valid == (model.residuals.x[0], model.residuals.x[-1])


def test_residuals_are_measured_minus_predicted() -> None:
    residuals = Residuals(np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([1.0, 5.0]))
    assert residuals.absolute_s == pytest.approx([1.0, -1.0])
    assert residuals.relative == pytest.approx([0.5, -0.25])
    assert residuals.relative_rms == pytest.approx(np.sqrt((0.25 + 0.0625) / 2))


def test_line_fits_match_polyfit() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0])
    y = np.array([[1.0, 2.5, 3.5, 9.0], [2.0, 2.0, 1.0, 0.5]])
    line = fit_lines(x, y)
    for row in range(2):
        slope, intercept = np.polyfit(x, y[row], 1)
        assert (line.slope[row], line.intercept[row]) == pytest.approx((slope, intercept))


def test_weights_are_the_squared_polyfit_weights() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 2.5, 3.5, 9.0])
    line = fit_lines(x, y[None], 1 / y[None] ** 2)
    slope, intercept = np.polyfit(x, y, 1, w=1 / y)
    assert (line.slope[0], line.intercept[0]) == pytest.approx((slope, intercept))


def test_lines_that_may_not_fall_are_constant_at_the_mean() -> None:
    line = fit_lines(np.array([1.0, 2.0, 3.0]), np.array([[3.0, 2.0, 1.0]]), falling=False)
    assert (line.slope[0], line.intercept[0]) == pytest.approx((0.0, 2.0))


def test_one_point_does_not_define_a_line() -> None:
    with pytest.raises(ValueError, match="two points"):
        fit_lines(np.array([1.0]), np.array([[1.0]]))


def test_launches_of_a_joint_sweep_are_resampled_together() -> None:
    first = np.arange(1.0, 8.0)
    whole = Sweep(np.array([1.0, 2.0]), (first, 10 * first)).resampled(50, 0)
    assert whole[:, 1] == pytest.approx(10 * whole[:, 0])
    apart = Sweep(np.array([1.0, 2.0]), (first, 10 * first), joint=False).resampled(50, 0)
    assert not np.allclose(apart[:, 1], 10 * apart[:, 0])


def test_points_are_selected_with_their_launches() -> None:
    picked = sweep([1, 2, 4], [[1.0], [2.0], [3.0]], joint=False).only([0, 2])
    assert list(picked.x) == [1, 4]
    assert list(picked.centres_s) == [1, 3]
    assert not picked.joint


@pytest.mark.parametrize(
    ("x", "times_s", "said"),
    [
        ([1, 1], [[1.0], [1.0]], "increase"),
        ([-1, 1], [[1.0], [1.0]], ">= 0"),
        ([1, 2], [[1.0]], "one sample"),
        ([1], [[0.0]], "positive"),
        ([1], [[float("nan")]], "finite"),
        ([1], [[]], "at least one launch"),
        ([1, 2], [[1.0, 2.0], [1.0]], "equally many"),
        ([], [], "one sample"),
    ],
)
def test_invalid_sweeps_are_refused(x: list[float], times_s: list[list[float]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sweep(x, times_s)


def test_widened_percentiles_contain_the_mean_of_few_launches() -> None:
    """Where plain percentiles of 6 launches hold it in about 87 % of samples."""
    held = plain = 0
    for seed in range(400):
        generator = np.random.default_rng(seed)
        sample = generator.standard_normal(6)
        draws = sample[generator.integers(0, 6, (400, 6))].mean(axis=1)
        held += holds(bootstrapped(float(sample.mean()), draws, 6, 0.95), 0.0)
        low, high = np.percentile(draws, [2.5, 97.5])
        plain += bool(low <= 0 <= high)
    assert held >= 368
    assert plain < 364


def test_constant_times_give_no_bandwidth() -> None:
    sizes, times = np.array([8.0, 4e6]), np.array([12e-6, 12e-6 + 1e-9])
    rounding = Estimate(2.5e-16, None, None, 1, "none")
    assert bandwidth(rounding, sizes, times).value == np.inf
    steeper = Estimate(2.5e-14, None, None, 1, "none")
    assert bandwidth(steeper, sizes, times).value == pytest.approx(4e13)
    flat = sweep([8, 512, 4 << 20], [[t] for t in (12e-6, 12e-6, 12.001e-6)])
    methods: tuple[hockney.Method, ...] = ("least_squares", "log")
    models: list[Model] = [hockney.fit(flat, method) for method in methods]
    for fitted in (*models, piecewise_hockney.fit(flat)):
        found = [p.estimate for p in fitted.parameters if p.name == "bandwidth_bytes_per_s"]
        assert [one.value for one in found] == [np.inf]
        assert any("grow with size" in warning for warning in fitted.warnings)


def test_a_bandwidth_is_the_inverse_of_a_slope() -> None:
    found = inverted(Estimate(2.0, 1.0, 4.0, 9, "bootstrap interval", 0.95))
    assert (found.value, found.low, found.high) == (0.5, 0.25, 1.0)
    open_ended = inverted(Estimate(2.0, -1.0, 4.0, 9, "bootstrap interval", 0.95))
    assert (open_ended.low, open_ended.high) == (0.25, np.inf)
    negative = inverted(Estimate(-2.0, -3.0, 4.0, 9, "bootstrap interval", 0.95))
    assert (negative.value, negative.low, negative.high) == (-0.5, None, None)
    assert inverted(Estimate(0.0, None, None, 1, "none")).value == np.inf
