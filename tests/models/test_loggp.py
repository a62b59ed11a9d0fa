# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_data import Array, holds
from noted import shows

from haloscope.models import loggp
from haloscope.models.intervals import Intervals
from haloscope.models.loggp import Measurements
from haloscope.quantities import seconds

SIZES = np.array([2.0**i for i in range(17)])
TRUE = {
    "latency_s": 0.8e-6,
    "send_overhead_s": 0.20e-6,
    "receive_overhead_s": 0.25e-6,
    "gap_s": 0.6e-6,
    "gap_s_per_byte": 1e-10,
}
NONE = Intervals("none")


def measured(
    true: dict[str, float] = TRUE, *, count: int = 1, noise: float = 0.0, seed: int = 0
) -> Measurements:
    """What the five measurements give by the model's own rules, with noise a launch and a point.

    Written from the rules of LogGP, not from the fit: an event at a time.
    """
    n = 16
    generator = np.random.default_rng(seed)
    shape = (count, SIZES.size)
    once = np.array([round_trip(true, s) for s in SIZES])
    delay = np.maximum(once, 1e-6)
    bursts = np.array([burst(true, n, 0.0, s) for s in SIZES])
    delayed = np.array([burst(true, n, d, s) for s, d in zip(SIZES, delay, strict=True)])
    common = 1 + noise * generator.standard_normal((count, 1))

    def noisy(times_s: Array) -> Array:
        own = 1 + 0.2 * noise * generator.standard_normal(shape)
        return np.asarray(times_s * common * own, dtype=np.float64)

    return Measurements(
        SIZES,
        n,
        noisy(once),
        noisy(bursts),
        np.asarray(delayed * np.ones(shape), dtype=np.float64) + noisy(once) - once,
        np.asarray(delay * np.ones(shape), dtype=np.float64),
        noisy(np.full(SIZES.size, true["receive_overhead_s"])),
    )


def round_trip(true: dict[str, float], size: float) -> float:
    one_way = true["send_overhead_s"] + true["latency_s"] + true["receive_overhead_s"]
    return 2 * (one_way + (size - 1) * true["gap_s_per_byte"])


def burst(true: dict[str, float], messages: int, delay: float, size: float) -> float:
    """Client's time from its first send until the reply to all of them has arrived."""
    start = injected = arrived = 0.0
    ready = -np.inf
    per_message = true["gap_s"] + (size - 1) * true["gap_s_per_byte"]
    for message in range(messages):
        start = start if message == 0 else start + true["send_overhead_s"] + delay
        injected = max(start + true["send_overhead_s"], ready)
        start = injected - true["send_overhead_s"]
        ready = injected + per_message
        arrived = injected + true["latency_s"] + (size - 1) * true["gap_s_per_byte"]
    return arrived + true["receive_overhead_s"] + 0.5 * round_trip(true, size)


def test_exact_measurements_give_exact_parameters() -> None:
    fit = loggp.fit(measured(), NONE)
    for parameter in fit.parameters:
        assert parameter.estimate.value == pytest.approx(TRUE[parameter.name], rel=1e-6)
    assert fit.residuals.relative_rms < 1e-6
    assert fit.warnings == ()
    assert fit.valid == (1, 65536)


def test_predictions_match_the_model() -> None:
    fit = loggp.fit(measured(), NONE)
    assert fit.predict([1, 1001]) == pytest.approx([1.25e-6, 1.35e-6])
    assert fit.predict(0) == fit.predict(1)


def test_intervals_have_nominal_coverage() -> None:
    held = dict.fromkeys(TRUE, 0)
    for seed in range(150):
        data = measured(count=10, noise=0.02, seed=seed)
        fit = loggp.fit(data, Intervals(resamples=200, seed=seed))
        for parameter in fit.parameters:
            held[parameter.name] += holds(parameter.estimate, TRUE[parameter.name])
    assert all(count >= 134 for count in held.values()), held


def test_common_variation_of_a_launch_cancels_in_the_overhead() -> None:
    data = measured(count=10)
    late = 5e-6 * np.arange(10.0)[:, None]
    disturbed = replace(
        data, round_trip_s=data.round_trip_s + late, delayed_s=data.delayed_s + late
    )
    value = loggp.fit(disturbed, NONE).send_overhead_s.value
    assert value == pytest.approx(TRUE["send_overhead_s"], rel=1e-6)


def test_overheads_use_only_small_messages() -> None:
    data = measured()
    copied = data.receive_s + np.where(SIZES > 64, SIZES / 1e10, 0.0)
    fit = loggp.fit(replace(data, receive_s=copied), NONE)
    assert fit.receive_overhead_s.value == pytest.approx(TRUE["receive_overhead_s"])


def test_gaps_of_all_sizes_are_weighted_by_relative_error() -> None:
    data = measured(count=1, noise=0.3, seed=5)
    gap = (data.burst_s - data.round_trip_s)[0] / 15
    fit = loggp.fit(data, NONE)
    per_byte, first = np.polyfit(SIZES - 1, gap, 1, w=1 / gap)
    assert (fit.gap_s.value, fit.gap_s_per_byte.value) == pytest.approx((first, per_byte))


def test_a_processor_bound_burst_is_reported() -> None:
    fit = loggp.fit(measured({**TRUE, "gap_s": 0.05e-6}), NONE)
    assert fit.gap_s.value == pytest.approx(TRUE["send_overhead_s"], rel=0.2)
    assert "g is at most this" in fit.warnings[0]


def test_a_negative_latency_is_explained() -> None:
    data = measured()
    fit = loggp.fit(replace(data, receive_s=data.receive_s + 2e-6), NONE)
    assert fit.latency_s.value < 0
    parts = (fit.latency_s, fit.send_overhead_s, fit.receive_overhead_s)
    assert shows(fit.warnings[0], *(seconds(each.value) for each in parts))


def test_a_delay_shorter_than_the_gap_is_refused() -> None:
    data = measured()
    with pytest.raises(ValueError, match=r"1 B .*100 ns.* shorter .*gap"):
        loggp.fit(replace(data, delay_s=np.full_like(data.delay_s, 1e-7)), NONE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"burst": 1}, "two messages"),
        ({"sizes_bytes": SIZES - 1}, "from 1 byte up"),
        ({"sizes_bytes": SIZES[::-1].copy()}, "must increase"),
        ({"burst_s": np.ones((2, 3))}, "burst_s .*launch and size"),
        ({"receive_s": np.zeros((1, SIZES.size))}, "receive_s .*finite and positive"),
    ],
)
def test_invalid_measurements_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(measured(), **change)  # type: ignore[arg-type]
