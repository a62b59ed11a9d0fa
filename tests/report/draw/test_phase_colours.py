# SPDX-License-Identifier: BSD-3-Clause
"""One phase, one colour, in all figures of a report."""

from __future__ import annotations

from made import draw
from noted import shows
from recorded import heat

from haloscope.report.draw.figures.palette import INK, MUTED, SERIES, hatches_of, phase_colours
from haloscope.topics.common.figure import Bar, Bars, Figure, Gantt


def bars(*names: str) -> Figure:
    parts = tuple((name, (0.5,)) for name in (*names, "outside phases"))
    return Figure("phases", "", (Bars("b", "", ("one",), parts, ("",)),), "")


def gantt(*names: str, outer: str = "") -> Figure:
    shown = tuple(Bar(0, name, 0.0, 1.0, name == outer) for name in names)
    return Figure("timeline", "", (Gantt("g", "", "", ("rank 0",), shown),), "")


def test_a_phase_has_the_same_colour_in_any_order() -> None:
    colours = phase_colours(
        [gantt("pack", "send"), gantt("send", "wait"), bars("wait", "pack")], {}
    )

    assert set(colours) == {"pack", "send", "wait", "outside phases"}
    assert len(set(colours.values())) == 4
    assert colours["outside phases"] == MUTED


def test_a_phase_shares_the_colour_of_the_curve_with_its_name() -> None:
    curves = {"whole": SERIES[0], "messages": SERIES[1], "scatter": SERIES[2]}
    colours = phase_colours([gantt("pack", "scatter", "wait")], curves)

    assert colours["scatter"] == SERIES[2]
    assert not {colours["pack"], colours["wait"]} & set(curves.values())


def test_enclosing_phases_are_grey_in_every_figure() -> None:
    colours = phase_colours(
        [bars("exchange", "pack"), gantt("exchange", "wait", outer="exchange")], {}
    )

    assert colours["exchange"] == INK
    assert {colours["pack"], colours["wait"]} <= set(SERIES)


def test_phases_of_one_figure_differ_even_with_more_names_than_colours() -> None:
    first = [f"a{k}" for k in range(5)]
    second = [f"b{k}" for k in range(6)]
    colours = phase_colours([bars(*first), bars(*second)], {})

    assert len({colours[name] for name in first}) == len(first)
    assert len({colours[name] for name in second}) == len(second)


def test_phases_with_the_same_colour_differ_by_hatch() -> None:
    names = [f"a{k}" for k in range(2 * len(SERIES) + 1)]
    colours = phase_colours([bars(*names)], {})
    hatches = hatches_of(names, colours)

    assert len({(colours[name], hatches[name]) for name in names}) == len(names)
    assert not any(hatches[name] for name in names[: len(SERIES)])
    assert all(hatches[name] for name in names[len(SERIES) :])


def test_the_largest_phase_has_its_range_or_maximum_in_the_alt_text() -> None:
    (alike,) = draw("phases", [heat(ranks=ranks) for ranks in (1, 2)])
    assert shows(alike.alt, "Largest share ") and alike.alt.endswith(" cases: matvec, 80 %.")
    (lacking,) = draw("phases", [heat(), {**heat(ranks=2), "phases": heat(ranks=2)["phases"][:1]}])
    assert lacking.alt.endswith(": outside phases, up to 99 %.")
