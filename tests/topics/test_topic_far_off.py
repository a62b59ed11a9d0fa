# SPDX-License-Identifier: BSD-3-Clause
"""Simulated values that are far off the published ones beside them, of any topic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from found import SIMULATED, found, ratio
from recorded import Raw, cases, poisson, record

from haloscope.analysis.validation.bands import Basis
from haloscope.findings.finding import Finding, FindingShape, Prominence, Verdict
from haloscope.papers import tables as papers
from haloscope.topics import grids
from haloscope.topics.common.table import Cell, Column, Table, label
from haloscope.topics.far_off import beside, contradicted, far_off

COLUMNS = (Column("n", "n"), Column("time_s", "time"), Column("rate", "rate"))
TABLE = Table("one", "walltime_grid", "Solves", COLUMNS, ())


def rows(*ratios: float, case: str, text: str = "2.00", count: int = 1) -> Table:
    """A table of so many times, each with a published one of 2 s."""
    made = [
        (label(str(n)), Cell(2.0 * one, f"{2 * one:g} s", published=f"{text} s", case=case,
                             published_value=2.0 + n * 1e-9), Cell(None, ""))
        for n, one in enumerate(ratios * count)
    ]  # fmt: skip
    return replace(TABLE, rows=tuple(made))


def of_case(simulated: bool, *ratios: float, text: str = "2.00") -> list[Finding]:
    """The findings about such a table."""
    raw = record("empty", {}, [1.0], clock="simulated" if simulated else "real")
    made = found(
        lambda cases, context: far_off(
            [rows(*ratios, case=cases[0].id, text=text)], cases, context
        ),
        [raw],
    )
    assert all(one.of == len(ratios) and one.topic == "walltime" for one in made)
    return made


def test_values_off_by_more_than_1_5x_are_counted_and_the_largest_difference_is_named() -> None:
    assert of_case(True, 1.0, 1.49, 0.68) == []
    (one,) = of_case(True, 1.0, 1.52, 0.5, 1.6, 0.66, 1.7)

    counted, named = one.parts
    assert (counted.count, counted.verdict, one.of) == (5, Verdict.DISAGREES, 6)
    assert named.estimate and named.estimate.value == 1.0
    assert (one.metric.unit, one.severity) == ("s", Prominence.DETAIL)


def test_a_ratio_is_above_1_if_the_simulated_time_is_shorter() -> None:
    (one,) = of_case(True, 0.25)

    counted, named = one.parts
    assert ratio(named) == ratio(counted) == pytest.approx(1.995 / 0.5)
    (known,) = named.published
    assert (known.value, known.text) == (2.0, "2.00 s")
    assert (known.low, known.high) == pytest.approx((1.995, 2.005))


def test_a_value_is_compared_with_the_range_of_the_printed_digits() -> None:
    assert len(of_case(True, 0.6)) == 1
    assert of_case(True, 0.6, text="2") == [], "1.2 s is 1.25x from 1.5 s, printed as 2 s"


def test_measured_values_are_not_compared_with_another_machine() -> None:
    assert of_case(False, 3.0) == []


def test_published_values_in_a_separate_column_are_compared_too() -> None:
    columns = (Column("n", "n"), Column("rate", "rate"), Column("published_rate", "published"))
    row = (label("8"), Cell(3.0, "3", case="a"), Cell(1.5, "1.50"))
    (one,) = beside(replace(TABLE, columns=columns, rows=(row,)))
    assert (one.value, one.published, one.metric.better) == (3.0, 1.5, "higher")
    assert one.better == one.over == pytest.approx(3.0 / 1.505)
    unlike = (label("8"), Cell(3.0, "3", case="a", unlike=True), Cell(1.5, "1.5"))
    assert [*beside(replace(TABLE, columns=columns, rows=(unlike,)))] == []
    lacking = (label("8"), Cell(3.0, "3", case="a"), Cell(None, "–"))
    assert [*beside(replace(TABLE, columns=columns, rows=(lacking,)))] == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.34 µs", 0.335, 0.345),
        ("7 s", 6.5, 7.5),
        ("1,200", 1199.5, 1200.5),
        ("2.5e-3", 2.45, 2.55),
    ],
)
def test_the_range_of_printed_digits(text: str, low: float, high: float) -> None:
    value = (low + high) / 2
    row = (
        label("8"),
        Cell(value, "", case="a", published=text, published_value=value),
        Cell(1, ""),
    )
    (one,) = beside(replace(TABLE, rows=(row,)))
    assert (one.low, one.high) == pytest.approx((low, high))


def sums(time_s: float) -> list[Raw]:
    simulation = {**SIMULATED["simulation"], "cluster": "orfeo-thin"}
    return [
        record("sum3d", {"size": "2400x100x100", "topology": "24x1x1", "distribution": name},
               [time_s], ranks=24, clock="simulated", simulation=simulation)
        for name in ("balanced", "topology", "subblock")
    ]  # fmt: skip


@pytest.mark.parametrize(("time_s", "far"), [(0.05, 2), (0.5, 0)])
def test_a_simulated_sum_far_from_the_published_one_disagrees(time_s: float, far: int) -> None:
    def of_tables(cases, context):  # type: ignore[no-untyped-def]
        return far_off(grids.sum3d_tables(cases, context), cases, context)

    made = found(of_tables, sums(time_s), paper=papers.load("orfeo-mpi-report"))

    assert [one.shape for one in made] == [FindingShape.PUBLISHED] * bool(far)
    for one in made:
        counted, named = one.parts
        assert counted.count == far and named.subject["distribution"] in ("balanced", "topology")
        assert named.estimate and named.estimate.value == time_s and one.metric.unit == "s"
        assert named.published[0].low < named.published[0].high
        assert one.severity is Prominence.WARNING


@pytest.mark.parametrize(("far", "contradicts"), [(1, False), (2, True)])
def test_more_than_5_percent_of_far_values_contradict_the_known_error(
    far: int, contradicts: bool
) -> None:
    simulation = {**SIMULATED["simulation"], "cluster": "stampede2"}
    (case,) = cases([poisson(1024, variant="textbook", clock="simulated", simulation=simulation)])
    table = rows(*[1.0] * (20 - far), *[0.1] * far, case=case.id)
    made = [table, replace(table, id="again")]  # a value in two tables is one
    fused = replace(case, id="fused", settings={**case.settings, "variant": "fused"})

    found = contradicted(made, [case, fused])

    assert bool(found) is contradicts
    if found:
        band = found[0].band or pytest.fail("no band")
        other = found[1].band or pytest.fail("no band")
        assert (other.factor, other.basis, other.own) == (band.factor, Basis.VARIANT, False)
        assert band.factor == pytest.approx(10.0, rel=0.02)
        assert (band.basis, band.cells, band.compared, band.own) == (Basis.REPORT, 20, True, False)
