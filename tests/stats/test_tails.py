"""Percentiles of repetitions nested in launches, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from haloscope.stats.tails import needed, percentile


def nested(launches: int, repetitions: int, between: float, seed: int) -> list[list[float]]:
    """Exponential times; a launch's scale is its own, by a factor with that deviation."""
    generator = np.random.default_rng(seed)
    scales = np.exp(between * generator.standard_normal(launches))
    return [list(scale * generator.exponential(1.0, repetitions)) for scale in scales]


def test_five_repetitions_lie_beyond_a_percentile_or_it_is_refused() -> None:
    assert (needed(0.95), needed(0.99), needed(0.5)) == (100, 500, 10)
    assert percentile(nested(9, 11, 0.0, 1), 0.95) is None
    assert percentile(nested(10, 10, 0.0, 1), 0.95) is not None
    assert percentile(nested(10, 10, 0.0, 1), 0.99) is None


def test_it_is_the_percentile_of_all_repetitions() -> None:
    launches = [list(np.arange(20.0) + 20 * k) for k in range(6)]

    found = percentile(launches, 0.95)

    assert found is not None
    assert found.value == pytest.approx(np.quantile(np.arange(120.0), 0.95))
    assert found.n == 6 and found.method == "nested bootstrap"
    assert found.low is not None and found.high is not None
    assert found.low < found.value <= found.high <= 119.0


def test_few_launches_have_no_interval() -> None:
    found = percentile(nested(5, 100, 0.0, 1), 0.95)

    assert found is not None
    assert (found.low, found.high, found.method) == (None, None, "none")


def test_launches_that_differ_make_the_interval_wider_than_repetitions_alone_would() -> None:
    """P95 of launches each ten times as slow as the last is not known to a few percent."""

    def width(launches: list[list[float]]) -> float:
        found = percentile(launches, 0.95)
        assert found is not None and found.low is not None and found.high is not None
        return (found.high - found.low) / found.value

    differing = nested(8, 100, 1.0, 3)
    mixed = list(np.random.default_rng(0).permutation(np.concatenate(differing)).reshape(8, 100))

    assert width(differing) > 2 * width([list(one) for one in mixed])


def test_the_interval_covers_the_true_percentile_about_as_often_as_it_says() -> None:
    """95 % of 200 experiments less what the bootstrap of ten launches is known to lack."""
    true = -np.log(0.05)
    covered = 0
    for seed in range(200):
        found = percentile(nested(10, 20, 0.0, seed), 0.95, resamples=200, seed=seed)
        assert found is not None and found.low is not None and found.high is not None
        covered += bool(found.low <= true <= found.high)

    assert covered >= 176


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_what_is_no_tail_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="a tail begins at"):
        percentile([[1.0]], share)
