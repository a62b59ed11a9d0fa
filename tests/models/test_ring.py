# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest
from model_data import Array, holds, launches
from noted import shows

from haloscope.models import ring
from haloscope.models.intervals import Intervals
from haloscope.models.ring import RingLevel
from haloscope.models.sweep import sweep
from haloscope.papers import tables as papers

RANKS = np.arange(1.0, 49.0)
NONE = Intervals("none")
THIN = (
    RingLevel("intra_socket", 1, 12),
    RingLevel("inter_socket", 13, 24),
    RingLevel("inter_node", 25, 48),
)


def published(node: str) -> tuple[tuple[RingLevel, ...], Array, list[float]]:
    """The levels of equation (1), a cycle's times with exactly its latencies, and these."""
    rows = [row for row in papers.load("orfeo-mpi-report").table("eq1").rows if row["node"] == node]
    levels, times_s, latencies_s = [], np.zeros(RANKS.size), []
    for number, row in enumerate(rows):
        first, last, latency = row["ranks_from"], row["ranks_to"], row["latency_s"]
        assert isinstance(first, int)
        assert isinstance(last, int)
        assert isinstance(latency, float)
        levels.append(RingLevel(f"{node} {number}", first, last))
        latencies_s.append(latency)
        within = (first <= RANKS) & (last >= RANKS)
        times_s[within] = 2e-7 * (number + 1) + 2 * latency * RANKS[within]
    return tuple(levels), times_s, latencies_s


@pytest.mark.parametrize("node", ["THIN", "GPU"])
def test_the_published_latencies_are_reproduced(node: str) -> None:
    levels, times_s, latencies_s = published(node)
    fit = ring.fit(sweep(list(RANKS), list(times_s), joint=False), levels, NONE)
    assert [piece.latency_s.value for piece in fit.pieces] == pytest.approx(latencies_s, rel=1e-9)
    assert fit.residuals.relative_rms < 1e-12
    assert fit.valid == (1, 48)
    assert fit.warnings == ()


@pytest.mark.parametrize("node", ["THIN", "GPU"])
def test_the_published_latencies_are_recovered_from_noisy_launches(node: str) -> None:
    levels, times_s, latencies_s = published(node)
    data = launches(RANKS, times_s, 1, noise=0.01, count=20, joint=False)
    fit = ring.fit(data, levels, Intervals(resamples=200))
    found = [piece.latency_s.value for piece in fit.pieces]
    assert found == pytest.approx(latencies_s, abs=0.01e-6)


def test_intervals_have_nominal_coverage() -> None:
    """They are on the wide side here."""
    times_s = 1e-5 + 2 * 0.34e-6 * RANKS[:12]
    held = wrong = 0
    for seed in range(200):
        data = launches(RANKS[:12], times_s, seed, joint=False)
        (piece,) = ring.fit(data, THIN[:1], Intervals(resamples=200)).pieces
        held += holds(piece.latency_s, 0.34e-6)
        wrong += holds(piece.latency_s, 0.6e-6)
    assert held >= 180
    assert wrong <= 20


def test_levels_are_fitted_separately_and_may_be_discontinuous() -> None:
    levels, times_s, latencies_s = published("THIN")
    data = sweep(list(RANKS), list(times_s), joint=False)
    alone = ring.fit(data.only(range(12)), levels, NONE)
    assert [piece.level.name for piece in alone.pieces] == ["THIN 0"]
    assert alone.pieces[0].latency_s.value == pytest.approx(latencies_s[0])


def test_predictions_use_the_level_of_the_rank_count() -> None:
    levels, times_s, latencies_s = published("THIN")
    fit = ring.fit(sweep(list(RANKS), list(times_s), joint=False), levels, NONE)
    assert fit.predict([12, 13, 48]) == pytest.approx(times_s[[11, 12, 47]])
    beyond, last = fit.predict([100, 48])
    assert beyond - last == pytest.approx(2 * latencies_s[2] * 52)
    assert np.isnan(fit.predict(0.0))


def test_a_level_with_one_point_is_omitted_and_reported() -> None:
    times_s = 1e-6 + 1e-6 * RANKS[:13]
    fit = ring.fit(sweep(list(RANKS[:13]), list(times_s), joint=False), THIN, NONE)
    assert [piece.level.name for piece in fit.pieces] == ["intra_socket"]
    assert len(fit.warnings) == 1 and shows(fit.warnings, "inter_socket: ", "one number ")
    assert np.isnan(fit.predict(13.0))
    assert fit.residuals.x.size == 12


def test_a_negative_latency_is_explained() -> None:
    fit = ring.fit(sweep([2, 3, 4], [3e-6, 2.5e-6, 2.9e-6], joint=False), THIN, NONE)
    assert fit.pieces[0].latency_s.value < 0
    assert shows(fit.warnings[0], "intra_socket: ", "latency is negative")


def test_a_line_below_zero_is_reported_at_the_start_of_its_level() -> None:
    steep = [3e-6, 9e-6, 15e-6]
    fit = ring.fit(sweep([2, 3, 4], steep, joint=False), THIN, NONE)
    assert fit.doubts == fit.warnings
    assert shows(fit.doubts[0], "intra_socket: ", "−9.00 µs for 0 ranks")

    both = sweep([2, 3, 13, 14], [3e-6, 4e-6, 20e-6, 30e-6], joint=False)
    assert ring.fit(both, THIN, NONE).doubts == ()  # dearer messages than the first level's
    bent = sweep([2, 3, 13, 14, 24], [3e-6, 4e-6, 1e-6, 1e-6, 100e-6], joint=False)
    (doubt,) = ring.fit(bent, THIN, NONE).doubts
    assert doubt.startswith("inter_socket: ")
    assert shows(doubt, " for 13 ranks, ", "impossible")


def test_overlapping_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="overlapping"):
        ring.fit(
            sweep([1, 2], [1e-6, 2e-6], joint=False),
            (RingLevel("a", 1, 12), RingLevel("b", 12, 24)),
            NONE,
        )


def test_data_that_define_no_line_are_refused() -> None:
    with pytest.raises(ValueError, match="no level .* with two"):
        ring.fit(sweep([2], [1e-6], joint=False), THIN, NONE)
