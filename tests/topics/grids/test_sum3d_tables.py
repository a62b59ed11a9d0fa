# SPDX-License-Identifier: BSD-3-Clause
"""Sums of three-dimensional arrays, beside the published ones."""

from __future__ import annotations

import pytest
from made import build
from recorded import Raw, record

from haloscope.topics.grids import shared_out

REPORT = "orfeo-mpi-report"


def sum3d(distribution: str, counts: list[int], launch: int = 0, size: str = "2400x100x100") -> Raw:
    return record(
        "sum3d",
        {"size": size, "topology": "24x1x1", "distribution": distribution},
        [0.6 + 0.01 * launch],
        ranks=24,
        launch=launch,
        result={"cycle_s": 0.6, "elements_per_rank": counts},
    )


def test_sums_are_compared_with_the_published_interval_per_process() -> None:
    raws = [sum3d("balanced", [1000000] * 24, k) for k in range(4)]
    raws.append(sum3d("subblock", [5, 7]))

    (table,) = build("sum3d", raws, REPORT)

    first, second = table.rows
    assert [cell.text for cell in first[:3]] == ["24x1x1", "balanced", "24 × 1,000,000"]
    assert first[3].value == pytest.approx(0.615)
    assert first[3].published == "[0.623, 0.631] s"
    assert second[2].text == "1 × 5; 1 × 7 (1)"
    assert second[3].published == ""


def test_sums_are_sorted_by_size_longest_arrays_first() -> None:
    sizes = ("1200x200x100", "2400x100x100", "800x300x100")
    raws = [sum3d("balanced", [1], size=size) for size in sizes]
    titles = [table.title for table in build("sum3d", raws)]
    assert [title.split("size = ")[1][:4] for title in titles] == ["2400", "1200", "800x"]


def test_elements_per_process_are_written_as_in_the_report() -> None:
    assert shared_out([7]) == "1 × 7"
    assert shared_out([9, 9, 8] * 3) == "6 × 9; 3 × 8 (2, 5, 8)"
    assert shared_out([9, 9, 8] * 8) == "16 × 9; 8 × 8 (2, 5 … 23)"
    assert shared_out([9, 9, 9, 9, 8, 8] * 2) == "8 × 9; 4 × 8 (4-5, 10-11)"
    assert shared_out([3, 2, 1, 3]) == "2 × 3; 1 × 2 (1); 1 × 1 (2)"
