# SPDX-License-Identifier: BSD-3-Clause
"""How launches differ, and after how many their mean has settled."""

from __future__ import annotations

from typing import Any

from made import panels
from noted import noted, shows
from pytest import approx
from recorded import cases, poisson

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.topics import figures, tables
from haloscope.topics.variability import variabilities

TIMES = [1.2, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def launched(times: list[float], **more: Any) -> list[dict[str, Any]]:
    return [{**poisson(64, launch=k, time_s=time), **more} for k, time in enumerate(times)]


def test_launch_times_are_relative_to_their_mean() -> None:
    (table,) = tables.build("variability", cases(launched(TIMES)), Context())
    (row,) = table.rows

    assert [cell.text for cell in row[1:3]] == ["10", "1.00 s"]
    assert [row[at].value for at in (4, 5)] == approx([-0.2, 0.2])
    assert [row[at].text for at in (3, 4, 5)] == ["9.4 %", "−20 %", "+20 %"]


def test_a_mean_has_converged_if_it_stays_within_one_percent() -> None:
    """Not where it only comes by: after the second launch, and away with the third."""
    (early,) = variabilities(cases(launched(TIMES)))
    (late,) = variabilities(cases(launched([1.0] * 9 + [2.0])))

    assert (early.running[0], early.running[1]) == approx((1.2, 1.0))
    assert early.settled == 2
    assert late.settled == 10


def test_the_figure_has_the_running_mean_and_the_extremes() -> None:
    (figure,) = figures.build("variability", cases(launched(TIMES)), Context())
    (panel,) = panels(figure)
    (curve,) = panel.curves

    assert [mark.x for mark in curve.marks] == list(range(1, 11))
    assert [mark.y for mark in curve.marks[:3]] == approx([1.2, 1.0, 1.0])
    assert (curve.marks[-1].low, curve.marks[-1].high) == approx((0.8, 1.2))
    assert "the first 1.20, from 0.800 to 1.20" in figure.alt


def test_the_most_variable_cases_are_drawn_and_the_others_counted() -> None:
    raws = [
        raw
        for n in range(1, 11)
        for raw in launched([1 + 0.01 * n, *[1.0] * 9], case=f"{n}", params={"n": 64 * n})
    ]
    (figure,) = figures.build("variability", cases(raws), Context())
    (panel,) = panels(figure)

    assert [curve.label for curve in panel.curves] == [
        f"poisson_cg: n = {64 * n}" for n in range(10, 2, -1)
    ]
    assert shows(figure.notes, "less variation ", " 2.")


def test_few_or_simulated_launches_have_no_variability() -> None:
    for raws in (launched(TIMES[:9]), launched(TIMES, clock="simulated")):
        assert tables.build("variability", cases(raws), Context()) == []
        assert figures.build("variability", cases(raws), Context()) == []


def test_published_variability_of_the_same_program_is_reported() -> None:
    paper = papers.load("task-mapping-drop")
    raws = launched(TIMES, kernel="lammps_rhodo")

    (table,) = tables.build("variability", cases(raws), Context(paper=paper))

    assert noted(table, " lammps, ", " 2016-11: ±11.8 % ", "216 tasks")
    (other,) = tables.build("variability", cases(launched(TIMES)), Context(paper=paper))
    assert not any("Published" in note for note in other.notes)
