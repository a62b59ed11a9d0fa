# SPDX-License-Identifier: BSD-3-Clause
"""Curves of one name look alike in all figures of a report; published points look like none."""

from __future__ import annotations

from made import panels as lines_of
from matplotlib.container import ErrorbarContainer
from recorded import MACHINE, cases, pingpong, poisson

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.report.draw.figures.palette import BLUES, SERIES, series_styles
from haloscope.report.draw.figures.panels import canvas_of
from haloscope.topics import figures
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark


def figure(*names: str, style: int | None = None) -> Figure:
    curves = tuple(Curve(name, (Mark(1, 1),), style=style) for name in names)
    return Figure("scaling", "", (Lines("l", "", Axis("x"), Axis("y"), curves),), "")


def test_a_curve_has_the_same_style_in_any_order() -> None:
    styles = series_styles([figure("a", "b"), figure("b", "c"), figure("c", "a")])

    assert set(styles) == {"a", "b", "c"}
    assert len(set(styles.values())) == 3


def test_curves_of_one_panel_differ_even_with_more_names_than_styles() -> None:
    first = [f"a{k}" for k in range(5)]
    second = [f"b{k}" for k in range(len(SERIES))]
    styles = series_styles([figure(*first), figure(*second)])

    assert len({styles[name] for name in first}) == len(first)
    assert len({styles[name] for name in second}) == len(second)


def test_a_panel_with_few_curves_uses_distinguishable_colours() -> None:
    """Three libraries were all bluish where five curves of another figure had all other colours."""
    first, second = figure(*"abcde"), figure("mpich", "openmpi", "impi")
    styles = series_styles([first, second])

    mine = {styles[name] for name in ("mpich", "openmpi", "impi")}
    assert len(mine) == 3 and max(mine) < len(SERIES)
    assert len(mine & {*BLUES}) <= 1
    assert len({styles[name] for name in "abcde"}) == 5


def test_libraries_keep_one_blue_although_models_use_other_colours() -> None:
    """Models leave both blues and two more colours, for the libraries in a figure of fits."""
    names = ("impi-devel", "mpich", "openmpi")
    measured = cases([
        pingpong(launch=k, sizes=[2**p for p in range(23)], toolchain={"name": name})
        for name in names
        for k in range(3)
    ])  # fmt: skip
    context = Context(machine=MACHINE, all_cases=measured)
    drawn = [one for kind in ("pingpong", "fits") for one in figures.build(kind, measured, context)]

    styles = series_styles(drawn)

    of_models = {
        curve.style
        for one in drawn
        for panel in lines_of(one)
        for curve in panel.curves
        if curve.style is not None
    }
    assert len(of_models) == 4
    mine = [styles[name] for name in names]
    assert len({*mine}) == 3 and not of_models & {*mine} and max(mine) < len(SERIES)
    assert len({*mine} & {*BLUES}) == 1


def test_bounds_with_the_same_colour_differ_by_dash_pattern() -> None:
    ends = (Mark(1, 1), Mark(2, 2))
    names = ("equal", "± 10 %", "± 10 %")
    bounds = tuple(Curve(name, ends, bound=True) for name in names)
    panel = Lines("l", "", Axis("x"), Axis("y"), (*bounds, Curve("a", ends)))

    (axes,) = canvas_of(panel, {}, {"a": 0}).axes

    drawn: dict[str, set[str]] = {name: set() for name in names}
    for line in axes.lines:
        if line.get_label() in drawn:
            drawn[str(line.get_label())].add(str(line.get_linestyle()))
    assert drawn == {"equal": {"--"}, "± 10 %": {":"}}


def test_with_more_curves_than_colours_markers_differ() -> None:
    names = [f"{k}" for k in range(len(SERIES) + 1)]
    one = figure(*names)
    styles = series_styles([one])

    assert sorted(styles[name] for name in names) == list(range(len(SERIES) + 1))
    assert styles[names[-1]] == len(SERIES)
    (axes,) = canvas_of(one.panels[0], {}, styles).axes
    lines = [drawn for drawn in axes.containers if isinstance(drawn, ErrorbarContainer)]
    looks = [(line.lines[0].get_color(), line.lines[0].get_marker()) for line in lines]
    assert looks[0][0] == looks[-1][0]
    assert len(set(looks)) == len(names)


def test_a_curve_differs_from_neighbours_with_fixed_styles() -> None:
    own = figure("measured", style=0).panels[0]
    free = figure("a").panels[0]
    assert isinstance(own, Lines) and isinstance(free, Lines)
    both = Lines("l", "", Axis("x"), Axis("y"), (*own.curves, *free.curves))

    assert series_styles([Figure("fits", "", (both,), "")]) == {"a": 1}


def test_published_points_are_hollow_in_the_colour_of_their_mesh() -> None:
    raws = [
        poisson(1024, nodes=on, ranks=on * ppn, time_s=8.0 / on / ppn)
        for on in (1, 2, 4)
        for ppn in (1, 2)
    ]
    measured = cases(raws)
    context = Context(machine=MACHINE, paper=papers.load("hpcf-2010-6"), all_cases=measured)

    (drawn,) = figures.build("scaling", measured, context)

    speedup, efficiency = lines_of(drawn)
    ours, theirs = speedup.curves[1], speedup.curves[-2]
    assert (ours.label, theirs.label, theirs.like) == (
        "1 per node", "1 per node, published", "1 per node",
    )  # fmt: skip
    assert Mark(2, 2.0478) in theirs.marks  # table 4.2: p = 2 on two nodes
    assert efficiency.curves[-1].published
    assert any(note.startswith("Hollow: published: ") for note in drawn.notes)
    assert any("(hpcf-2010-6, table 4.2)" in note for note in drawn.notes)
    (axes,) = canvas_of(speedup, {}, series_styles([drawn])).axes
    lines = {
        one.get_label(): one.lines[0]
        for one in axes.containers
        if isinstance(one, ErrorbarContainer)
    }
    mine, printed = lines["1 per node"], lines["1 per node, published"]
    assert mine.get_color() == printed.get_color() != lines["2 per node"].get_color()
    assert printed.get_markerfacecolor() == "none" and mine.get_markerfacecolor() != "none"
    assert printed.get_marker() != mine.get_marker()


def test_without_a_paper_no_published_points_are_drawn() -> None:
    measured = cases([poisson(1024, ranks=p, time_s=8.0 / p) for p in (1, 2, 4)])

    (drawn,) = figures.build("scaling", measured, Context(all_cases=measured))

    assert not any(curve.published for panel in lines_of(drawn) for curve in panel.curves)
    assert not any("ublished" in note for note in drawn.notes)
