# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from haloscope.models import split_phase
from haloscope.models.intervals import Intervals
from haloscope.models.split_phase import Neighbours, PartTimes, SplitPhase
from haloscope.models.sweep import Array

SIZES: Array = np.exp2(np.arange(3, 23, dtype=np.float64))
LAUNCHES = 7


def made(*, overlap: bool = True, noise: float = 0.0) -> PartTimes:
    """A machine whose parts are lines: alpha + bytes / bandwidth; scatter on n² bytes."""
    local = SIZES**2 / 64
    lines = {
        "messages": (2e-6, 2 / 1e10, SIZES),
        "bcast pack": (1e-7, 1 / 2e10, SIZES),
        "bcast scatter": (1e-8, 1 / 1e10, local),
        "bcast unpack": (0.0, 0.0, SIZES),
        "reduce pack": (2e-7, 1 / 2e10, SIZES),
        "reduce scatter": (2e-8, 1 / 5e9, local),
        "reduce unpack": (1e-7, 1 / 1e10, SIZES),
    }
    generator = np.random.default_rng(3)

    def launches(times: Array) -> Array:
        return times * (1 + noise * generator.standard_normal((LAUNCHES, SIZES.size)))

    parts = {name: launches(a + b * x) for name, (a, b, x) in lines.items()}
    medians = {name: np.median(times, axis=0) for name, times in parts.items()}
    whole = launches(split_phase.compose(medians, overlap=overlap))
    return PartTimes(SIZES, local, whole, parts)


def fitted(data: PartTimes) -> SplitPhase:
    return split_phase.fit(data, Intervals("none"))


def test_the_total_is_the_parts_with_the_longer_of_messages_and_scatter() -> None:
    parts: Mapping[str, Array] = {
        "messages": np.array([10.0, 2.0]),
        "bcast pack": np.array([1.0, 1.0]),
        "bcast scatter": np.array([3.0, 4.0]),
        "bcast unpack": np.array([0.0, 0.0]),
        "reduce pack": np.array([0.5, 0.5]),
        "reduce scatter": np.array([6.0, 7.0]),
        "reduce unpack": np.array([2.0, 2.0]),
    }

    assert list(split_phase.compose(parts, overlap=True)) == [
        1 + 5 + 0.5 + 6 + 2,
        1 + 4 + 0.5 + 7 + 2,
    ]
    assert list(split_phase.compose(parts, overlap=False)) == [22.5, 16.5]
    assert list(split_phase.both(parts, "scatter")) == [9.0, 11.0]


def test_a_device_adds_startup_and_wait_times() -> None:
    data = made()
    none = 0 * data.whole_s
    device = {"begin": none + 4e-6, "synchronise": none + 4e-6}
    device["synchronise at the end"] = none + 4e-6
    # a host that launches a move until it is done: nothing is left to do meanwhile
    launches = {f"{part} launch": data.parts_s[part] for part in split_phase.PARTS[1:]}
    model = fitted(PartTimes(SIZES, data.local_bytes, data.whole_s + 12e-6,
                             {**data.parts_s, **device, **launches}))  # fmt: skip

    assert model.on_device and not fitted(data).on_device
    assert model.composed_s(overlap=True) == pytest.approx(model.whole_s)
    assert model.residuals.predicted_s == pytest.approx(model.whole_s, rel=1e-6)
    lacking = {**data.parts_s, **device}
    lacking.pop("synchronise at the end")
    with pytest.raises(ValueError, match="device begin, synchronise, synchronise"):
        PartTimes(SIZES, SIZES, data.whole_s, lacking)


def on_device(scatter_us: float, *, at_the_end: float = 0.0) -> dict[str, Array]:
    """Microseconds of a step: launches of 12, messages of 8 each way, waits of 4."""
    parts = {"messages": 16.0, "begin": 4.0, "synchronise": 8.0}
    parts["synchronise at the end"] = at_the_end
    for operation in split_phase.OPERATIONS:
        for move, own in (("pack", 0.0), ("scatter", scatter_us), ("unpack", 1.0)):
            parts |= {f"{operation} {move}": 12 + own, f"{operation} {move} launch": 12.0}
    return {name: np.array([time]) for name, time in parts.items()}


@pytest.mark.parametrize(
    ("parts", "step_us"),
    [
        # begin, pack, T(sync), the scatter's launch longer than messages, unpack: 42 each
        (on_device(0.0), 2 * (2 + 12 + 4 + 12 + 12)),
        # the device scatters while the host launches the unpack, begins and packs: nothing is added
        (on_device(24.0), 2 * (2 + 12 + 4 + 12 + 12)),
        # it is still busy when the host waits before messages: launch, scatter, unpack, T(sync)
        (on_device(100.0), 2 * (12 + 100 + 1 + 4)),
        # waiting at the end, too, leaves no work to the next operation
        (on_device(24.0, at_the_end=8.0), 2 * (2 + 12 + 4 + 12 + 24 + 1 + 4)),
    ],
)
def test_a_device_runs_concurrently_with_its_host(parts: dict[str, Array], step_us: float) -> None:
    assert split_phase.compose(parts, overlap=True) == pytest.approx([step_us])


def test_with_two_ranks_one_unpacks_while_the_other_scatters() -> None:
    parts = {"messages": 20.0, **dict.fromkeys(("bcast pack", "reduce pack"), 1.0)}
    parts |= {
        f"{one} {move}": 30.0 for one in ("bcast", "reduce") for move in ("scatter", "unpack")
    }
    times = {name: np.array([time]) for name, time in parts.items()}

    # its scatters of 60 are shorter than messages, an unpack, and a pack: 10 + 30 + 1 + 10
    at_once = split_phase.compose(times, overlap=True, one_sided=True)
    assert at_once == pytest.approx([1 + 60 + 30])
    assert split_phase.compose(times, overlap=True) == pytest.approx([2 * (1 + 30 + 30)])


def test_launches_can_be_the_longest_part() -> None:
    data = made()
    none = 0 * data.whole_s
    parts = {**data.parts_s, **dict.fromkeys(split_phase.DEVICE_PARTS, none + 1e-6)}
    for part in split_phase.PARTS[1:]:
        parts[part] = parts[part] + 1e-6
    model = fitted(PartTimes(SIZES, data.local_bytes, data.whole_s, parts))

    assert model.longest(0) == "launches"
    assert model.longest(SIZES.size - 1) == "scatter"


def test_the_size_with_the_largest_gap_between_parts_and_total_is_reported() -> None:
    data = made()
    whole = data.whole_s.copy()
    whole[:, 3] /= 1.45
    model = fitted(PartTimes(SIZES, data.local_bytes, whole, data.parts_s))

    point, off = model.farthest
    assert point == 3 and off == pytest.approx(0.45, abs=0.01)
    assert fitted(data).farthest[1] < 1e-6


def test_exact_parts_reproduce_their_lines_and_the_total() -> None:
    model = fitted(made())

    assert model.residuals.predicted_s == pytest.approx(model.whole_s, rel=1e-6)
    assert model.residuals.relative_rms < 1e-6
    assert model.composed_s(overlap=True) == pytest.approx(model.whole_s)
    assert model.lines["bcast unpack"] is None
    line = model.lines["bcast pack"]
    assert line is not None
    assert [one.estimate.value for one in line.parameters] == pytest.approx([1e-7, 2e10])
    assert model.valid == (8.0, 2.0**22)


def test_messages_dominate_below_the_switch_size_and_the_scatter_above() -> None:
    model = fitted(made())

    # 2e-6 + 2e-10 s = 3e-8 + 3e-10 s² / 64
    expected = np.roots([3e-10 / 64, -2e-10, 3e-8 - 2e-6]).max()
    assert model.crossings_bytes == [pytest.approx(expected, rel=0.05)]
    assert model.longest(0) == "messages"
    assert model.longest(SIZES.size - 1) == "scatter"


def test_messages_and_scatter_may_switch_more_than_once() -> None:
    data = made()
    longer = (SIZES > 1e4) & (SIZES < 1e5)
    parts = {**data.parts_s, "messages": np.full_like(data.whole_s, 1e-6)}
    for operation in ("bcast", "reduce"):
        parts[f"{operation} scatter"] = np.where(longer, 1e-6, 2e-7) + 0 * data.whole_s
    model = fitted(PartTimes(SIZES, SIZES, data.whole_s, parts))

    first, second = model.crossings_bytes
    assert 8e3 < first < 1.7e4 and 6e4 < second < 1.4e5


def test_a_scatter_that_dominates_from_the_start_switches_at_the_first_size() -> None:
    data = made()
    parts = {**data.parts_s, "messages": np.full_like(data.whole_s, 1e-6)}
    for operation in ("bcast", "reduce"):
        parts[f"{operation} scatter"] = np.where(SIZES < 1024, 0.0, 1e-6) + 0 * data.whole_s

    model = fitted(PartTimes(SIZES, np.full_like(SIZES, 8.0), data.whole_s, parts))

    assert model.crossings_bytes == [pytest.approx(1024)]


def test_without_a_scatter_no_switch_is_reported() -> None:
    data = made()
    none = {name: 0 * t if "scatter" in name else t for name, t in data.parts_s.items()}

    assert fitted(PartTimes(SIZES, 0 * SIZES, data.whole_s, none)).crossings_bytes == []


@pytest.mark.parametrize(("overlap", "word"), [(True, "max"), (False, "sum")])
def test_the_fit_detects_whether_messages_overlap(overlap: bool, word: str) -> None:
    assert fitted(made(overlap=overlap, noise=0.01)).nearer == word


def test_intervals_have_nominal_coverage() -> None:
    model = split_phase.fit(made(noise=0.01), Intervals(resamples=200))

    line = model.lines["reduce pack"]
    assert line is not None
    (pack,) = [one for one in line.parameters if "band" in one.name]
    assert pack.estimate.low is not None and pack.estimate.high is not None
    assert pack.estimate.low < 2e10 < pack.estimate.high


def test_invalid_measurements_are_refused() -> None:
    data = made()
    with pytest.raises(ValueError, match="4 increasing sizes"):
        PartTimes(SIZES[:3], SIZES[:3], data.whole_s[:, :3], {})
    with pytest.raises(ValueError, match=" are messages, bcast pack"):
        PartTimes(SIZES, SIZES, data.whole_s, {"messages": data.whole_s})
    with pytest.raises(ValueError, match="one value >= 0"):
        PartTimes(SIZES, SIZES, -data.whole_s, data.parts_s)


def test_gaps_between_neighbours_are_found() -> None:
    neighbours = np.array([1.0] * 4 + [2.0] * 4 + [4.0] * 4)
    sizes = np.array([8.0, 1024.0, 2.0**16, 2.0**20] * 3)
    true = 1e-6 + (neighbours - 1) * 2e-7 + sizes / 1e10
    noise = 1 + 0.005 * np.random.default_rng(1).standard_normal((LAUNCHES, 12))

    found = split_phase.fit_neighbours(neighbours, sizes, true * noise)

    assert isinstance(found, Neighbours)
    assert found.alpha_s.value == pytest.approx(1e-6, rel=0.02)
    assert found.gap_s.value == pytest.approx(2e-7, rel=0.05)
    assert 1 / found.gap_s_per_byte.value == pytest.approx(1e10, rel=0.02)
    assert found.alpha_s.low is not None and found.alpha_s.low < 1e-6 * 1.005
    with pytest.raises(ValueError, match="two numbers of neighbours"):
        split_phase.fit_neighbours(neighbours[:4], sizes[:4], true[None, :4])
