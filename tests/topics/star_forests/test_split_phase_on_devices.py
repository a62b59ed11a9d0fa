# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a split-phase operation in a device's memory: launches, waits, and what they start."""

from __future__ import annotations

import pytest
from made import build
from recorded import cases
from recorded_devices import parted_forest

from haloscope.topics.star_forests.parts import (
    LAUNCHING,
    dominant,
    split_phase_model,
    starting_device_kernels,
)


def test_on_a_device_launches_and_waits_are_separate_from_the_work() -> None:
    """Messages of 9 us are longer than a scatter of 0.1 to 4 us, though its launch takes 12."""
    (case,) = cases([parted_forest()])
    model = split_phase_model(case)
    assert model is not None

    scatters_s = [1e-9 * 8 * n**2 for n in (4, 8, 16, 32, 64)]
    by_hand = [2 * (4e-6 + max(2e-6 + 3 * 12e-6, 12e-6 + one)) for one in scatters_s]
    assert model.composed_s(overlap=True) == pytest.approx(by_hand)
    assert model.composed_s(overlap=True) == pytest.approx(model.whole_s)
    assert [model.longest(point) for point in range(5)] == ["launches"] * 5
    assert model.crossings_bytes == [pytest.approx(1024, rel=0.1)]
    assert dominant(model) == [LAUNCHING] * 5
    assert starting_device_kernels(model)[0] == pytest.approx(40 / 51, rel=0.01)


def test_a_device_parts_table_has_device_specific_columns() -> None:
    (table,) = build("split_phase", [parted_forest()])

    def column_us(key: str) -> list[float]:
        place = [column.key for column in table.columns].index(key)
        return [float(row[place].value or 0) * 1e6 for row in table.rows]

    assert column_us("begin_s") == pytest.approx([2.0] * 5)
    assert column_us("synchronise_s") == pytest.approx([4.0] * 5)
    assert column_us("launches_s") == pytest.approx([36.0] * 5)
    assert column_us("scatter_s") == pytest.approx([0.128, 0.512, 2.048, 8.192, 32.768])
    assert column_us("max_s")[0] == pytest.approx(42.0)
    assert column_us("max_s")[-1] == pytest.approx(4 + 12 + 32.768)


def test_staged_copies_are_part_of_packing_and_unpacking() -> None:
    raw = parted_forest(mpi="staged")
    names = ("bcast copy out", "bcast copy in", "reduce copy out", "reduce copy in")
    copies = [
        {"point": point, "name": name + more, "steps": 1, "times_s": [time_s]}
        for point in range(5)
        for name in names
        for more, time_s in (("", 12e-6 + 3e-6 + 4e-6), (" launch", 12e-6))
    ]
    (case,) = cases([{**raw, "parts": raw["parts"] + copies}])
    model = split_phase_model(case)
    assert model is not None

    assert model.parts_s["bcast pack"] == pytest.approx([27e-6] * 5)
    assert model.parts_s["reduce unpack launch"] == pytest.approx([24e-6] * 5)
