# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from model_data import SIZES, Array, holds, launches, orfeo
from noted import shows

from haloscope.models import hockney, piecewise_hockney
from haloscope.models.intervals import Intervals
from haloscope.models.piecewise_hockney import PiecewiseHockney
from haloscope.models.sweep import Sweep, sweep

NONE = Intervals("none")
FEW = Intervals(resamples=200)


def eager_and_rendezvous(sizes: Array) -> Array:
    """A jump of 2 us and a higher bandwidth above 8 KiB."""
    return np.where(sizes <= 8192, 4e-7 + sizes / 4e9, 2.4e-6 + sizes / 1e10)


def three_protocols(sizes: Array) -> Array:
    """Boundaries above 128 B, 8 KiB and 1 MiB; the last piece as from a cache that overflows."""
    last = np.where(sizes <= 2**20, 3e-6 + sizes / 2e10, -1.3e-4 + sizes / 5e9)
    return np.where(
        sizes <= 128, 3e-7 + sizes / 2e9, np.where(sizes <= 8192, 4.5e-7 + sizes / 5e9, last)
    )


def ends(fit: PiecewiseHockney) -> list[float]:
    return [boundary.after_bytes for boundary in fit.boundaries]


def test_exact_pieces_are_recovered_exactly() -> None:
    fit = piecewise_hockney.fit(sweep(list(SIZES), list(three_protocols(SIZES))), intervals=NONE)
    assert ends(fit) == [128, 8192, 2**20]
    assert [boundary.until_bytes for boundary in fit.boundaries] == [256, 16384, 2**21]
    assert [piece.label for piece in fit.pieces] == [
        "0 B to 128 B",
        "256 B to 8 KiB",
        "16 KiB to 1 MiB",
        "2 MiB to 256 MiB",
    ]
    bandwidths = [piece.bandwidth_bytes_per_s.value for piece in fit.pieces]
    assert bandwidths == pytest.approx([2e9, 5e9, 2e10, 5e9], rel=1e-9)
    assert [p.alpha_s.value for p in fit.pieces] == pytest.approx([3e-7, 4.5e-7, 3e-6, -1.3e-4])
    assert fit.residuals.relative_rms < 1e-9
    assert fit.predict(SIZES) == pytest.approx(three_protocols(SIZES), rel=1e-9)


def test_a_single_line_is_not_split() -> None:
    """In at least 95 % of noisy sweeps, which plain BIC and AICc do not reach."""
    whole = 0
    for seed in range(200):
        data = launches(SIZES, 1e-6 + SIZES / 1e10, seed, common=0.05)
        whole += len(piecewise_hockney.fit(data, intervals=NONE).pieces) == 1
    assert whole >= 190


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.05])
def test_a_protocol_change_is_found_at_its_size(noise: float) -> None:
    times_s = eager_and_rendezvous(SIZES)
    found = 0
    for seed in range(100):
        data = launches(SIZES, times_s, seed, noise=noise, common=0.05)
        found += ends(piecewise_hockney.fit(data, intervals=NONE)) == [8192]
    assert found >= 93


@pytest.mark.parametrize(("factor", "boundaries"), [(1.001, []), (1.05, [8192])])
def test_a_step_within_the_resolution_is_not_a_boundary(
    factor: float, boundaries: list[float]
) -> None:
    times_s = (1e-6 + SIZES / 1e10) * np.where(SIZES <= 8192, 1.0, factor)
    assert ends(piecewise_hockney.fit(sweep(list(SIZES), list(times_s)), intervals=NONE)) == (
        boundaries
    )


def test_three_changes_are_found() -> None:
    found = 0
    for seed in range(100):
        data = launches(SIZES, three_protocols(SIZES), seed, noise=0.01)
        found += ends(piecewise_hockney.fit(data, intervals=NONE)) == [128, 8192, 2**20]
    assert found >= 93


def test_a_disturbed_launch_creates_no_piece() -> None:
    quiet = launches(SIZES, 1e-6 + SIZES / 1e10, 0)
    disturbed = [sample.copy() for sample in quiet.times_s]
    for point in range(12, 18):
        disturbed[point][0] *= 10
    fit = piecewise_hockney.fit(Sweep(SIZES, tuple(disturbed)), intervals=NONE)
    assert len(fit.pieces) == 1


def test_dynamic_programming_finds_the_optimal_segmentation() -> None:
    """Against every division of 14 noisy points into three pieces, each fitted by itself.

    The small sizes are so noisy that lines through some of them would fall.
    """
    for seed, sizes in enumerate([SIZES[8:22], SIZES[8:22], SIZES[1:15], SIZES[1:15]]):
        data = launches(sizes, eager_and_rendezvous(sizes), seed, noise=0.1)
        centres = data.centres_s
        misfit = piecewise_hockney._misfits(sizes, centres)
        best, starts = piecewise_hockney._cuts(misfit, 3)[2]

        def alone(first: int, last: int, sizes: Array = sizes, centres: Array = centres) -> float:
            own = slice(first, last)
            design = np.stack([np.ones(last - first), sizes[own]], axis=1) / centres[own, None]
            (alpha, slope), *_ = np.linalg.lstsq(design, np.ones(last - first), rcond=None)
            if slope < 0:
                alpha, slope = np.sum(1 / centres[own]) / np.sum(1 / centres[own] ** 2), 0.0
            return float(np.sum(((alpha + slope * sizes[own]) / centres[own] - 1) ** 2))

        for first, last in combinations(range(15), 2):
            found = misfit[first, last - 1]
            assert found == (
                pytest.approx(alone(first, last), rel=1e-6) if last - first > 2 else np.inf
            )
        tried = {
            (0, a, b): alone(0, a) + alone(a, b) + alone(b, 14)
            for a, b in combinations(range(3, 12), 2)
            if b - a >= 3
        }
        least = min(tried, key=lambda cut: tried[cut])
        assert tuple(starts) == least
        assert best == pytest.approx(tried[least], rel=1e-6)


def test_intervals_have_nominal_coverage() -> None:
    held = np.zeros(4, dtype=int)
    seeds = 0
    for seed in range(120):
        data = launches(SIZES, eager_and_rendezvous(SIZES), seed)
        fit = piecewise_hockney.fit(data, intervals=Intervals(resamples=200, seed=seed))
        if ends(fit) == [8192]:
            seeds += 1
            eager, rendezvous = fit.pieces
            held += [
                holds(eager.alpha_s, 4e-7),
                holds(eager.bandwidth_bytes_per_s, 4e9),
                holds(rendezvous.alpha_s, 2.4e-6),
                holds(rendezvous.bandwidth_bytes_per_s, 1e10),
            ]
    assert seeds > 110
    assert np.all(held >= 0.89 * seeds)


def test_few_launches_have_no_interval() -> None:
    data = launches(SIZES, eager_and_rendezvous(SIZES), 0, count=5)
    fit = piecewise_hockney.fit(data)
    assert fit.pieces[0].alpha_s.method == "none"


@pytest.mark.parametrize(
    ("curve", "jumps"),
    [
        ("thin_socket_ucx", [131072]),  # 46.7 us at 128 KiB, 14.0 at 256 KiB
        ("thin_core_ucx", [131072]),
        ("thin_node_verbs", [131072]),  # 20.1 us, then 63.8
        ("thin_node_tcp_br0", [1024, 32768]),  # 17.7 us, then 39.2; 51.0, then 151
        ("gpu_node_tcp_ib0", [32768]),  # 38.3 us, then 82.6
        ("thin_core_vader", [2048]),  # 0.87 us, then 1.79
    ],
)
def test_the_jumps_of_published_curves_become_boundaries(curve: str, jumps: list[int]) -> None:
    fit = piecewise_hockney.fit(orfeo(curve), intervals=NONE)
    assert set(jumps) <= set(ends(fit))
    assert len(fit.pieces) <= 6
    assert fit.residuals.relative_rms < 0.06


def test_pieces_fit_published_curves_that_one_line_cannot() -> None:
    data = orfeo("thin_socket_ucx")
    one = hockney.fit(data, "log", NONE)
    many = piecewise_hockney.fit(data, intervals=NONE)
    assert one.residuals.relative_rms > 0.4
    assert many.residuals.relative_rms < 0.06


def test_a_negative_alpha_is_explained() -> None:
    fit = piecewise_hockney.fit(orfeo("thin_core_vader"), intervals=NONE)
    assert fit.pieces[-1].alpha_s.value < 0
    assert shows(fit.warnings, "4 MiB to 256 MiB: ", "negative")


def test_a_constant_piece_has_no_bandwidth() -> None:
    times_s = np.where(SIZES <= 64, 1e-6 - 1e-9 * SIZES, 3e-6 + SIZES / 1e10)
    fit = piecewise_hockney.fit(sweep(list(SIZES), list(times_s)), intervals=NONE)
    assert fit.pieces[0].bandwidth_bytes_per_s.value == np.inf
    assert shows(fit.warnings[0], "bandwidth is undefined")
    assert np.all(np.isfinite(fit.predict(SIZES)))


def test_a_boundary_divides_at_its_midpoint() -> None:
    fit = piecewise_hockney.fit(sweep(list(SIZES), list(eager_and_rendezvous(SIZES))))
    middle = np.sqrt(8192 * 16384)
    below, above = fit.predict([middle * 0.999, middle * 1.001])
    assert below == pytest.approx(4e-7 + middle / 4e9, rel=0.01)
    assert above == pytest.approx(2.4e-6 + middle / 1e10, rel=0.01)


def test_too_few_points_are_refused() -> None:
    with pytest.raises(ValueError, match="as many sizes"):
        piecewise_hockney.fit(sweep(list(SIZES[:2]), [1e-6] * 2))
