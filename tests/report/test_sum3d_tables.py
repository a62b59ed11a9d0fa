# SPDX-License-Identifier: BSD-3-Clause
"""Sums of three-dimensional arrays, beside the published ones."""

from __future__ import annotations

import pytest
from made import build
from recorded import Raw, cases, record

from haloscope.papers import tables as papers
from haloscope.report.context import Context
from haloscope.report.findings import Finding, sums
from haloscope.report.tables.sum3d import shared_out

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


def test_sums_stand_beside_the_reports_interval_with_elements_a_process() -> None:
    raws = [sum3d("balanced", [1000000] * 24, k) for k in range(4)]
    raws.append(sum3d("subblock", [5, 7]))

    (table,) = build("sum3d", raws, REPORT)

    first, second = table.rows
    assert [cell.text for cell in first[:3]] == ["24x1x1", "balanced", "24 × 1,000,000"]
    assert first[3].value == pytest.approx(0.615)
    assert first[3].published == "[0.623, 0.631] s"
    assert second[2].text == "1 × 5; 1 × 7 (1)"
    assert second[3].published == ""


def test_sums_come_by_size_the_longest_arrays_first() -> None:
    sizes = ("1200x200x100", "2400x100x100", "800x300x100")
    raws = [sum3d("balanced", [1], size=size) for size in sizes]
    titles = [table.title for table in build("sum3d", raws)]
    assert [title.split("size = ")[1][:4] for title in titles] == ["2400", "1200", "800x"]


def test_elements_of_each_process_are_told_as_the_report_does() -> None:
    assert shared_out([7]) == "1 × 7"
    assert shared_out([9, 9, 8] * 3) == "6 × 9; 3 × 8 (2, 5, 8)"
    assert shared_out([9, 9, 8] * 8) == "16 × 9; 8 × 8 (2, 5 … 23)"
    assert shared_out([9, 9, 9, 9, 8, 8] * 2) == "8 × 9; 4 × 8 (4-5, 10-11)"
    assert shared_out([3, 2, 1, 3]) == "2 × 3; 1 × 2 (1); 1 × 1 (2)"


def told(*times: float, launches: int = 7) -> list[str]:
    """One size of arrays, a distribution a time."""
    names = ("balanced", "topology", "subblock")
    own = cases([
        {**sum3d(name, [1], k), "times_s": [time * (1 + 0.001 * k)]}
        for name, time in zip(names, times, strict=False)
        for k in range(launches)
    ])  # fmt: skip
    return [finding.text for finding in sums.find(own, Context())]


def test_the_headline_names_the_fastest_way_to_share_out_and_what_is_behind() -> None:
    assert told(2.0, 1.0, 1.0001) == [
        "Sum of 2400x100x100 arrays, 24 processes: fastest with 24x1x1 (distribution = topology) "
        "(median 1.00 s); 24x1x1 (distribution = balanced) takes 2.00 times as long; 24x1x1 "
        "(distribution = subblock): no difference shown."
    ]


def test_few_launches_show_no_fastest_and_one_way_is_no_race() -> None:
    (few,) = told(2.0, 1.0, launches=2)
    assert "none is shown to be fastest, lowest median with 24x1x1 (distribution = topology)" in few
    assert few.endswith("(distribution = balanced): launches are too few to tell.")
    assert told(2.0) == []


def simulated(time_s: float) -> list[Finding]:
    """Of simulated sums of one size, all as long."""
    own = cases([
        {**sum3d(name, [1]), "times_s": [time_s], "clock": "simulated"}
        for name in ("balanced", "topology", "subblock")
    ])  # fmt: skip
    return list(sums.find(own, Context(paper=papers.load(REPORT))))


def test_sums_that_are_all_equally_fast_are_said_to_be_in_few_words() -> None:
    first, *_ = simulated(0.05)
    assert first.text.endswith("24 processes: all 3 are equally fast (50.0 ms).")


def test_a_simulated_sum_far_off_the_published_one_says_by_how_many_times() -> None:
    _, off = simulated(0.05)
    assert (off.tone, off.text) == (
        "warning",
        "Published times of 2 of 3 sums are 12.5 to 12.6 times the ones simulated here: 623 ms to "
        "631 ms (orfeo-mpi-report, table I).",
    )
    assert len(simulated(0.4)) == 1
