# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from made import draw
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Figure_
from matplotlib.text import Annotation
from noted import noted, shows
from recorded import bad, cases, pingpong, poisson, quick, stream

from haloscope.analysis.context import Context
from haloscope.papers.validated import validated_cells
from haloscope.report.draw.figures.bars import draw_gantt
from haloscope.report.draw.figures.palette import series_styles
from haloscope.report.draw.figures.panels import BAND, canvas_of, draw_all
from haloscope.report.draw.figures.scales import plain, subdivide
from haloscope.study import kinds
from haloscope.study.kinds import Options
from haloscope.topics import figures
from haloscope.topics.common import figure as figure_model
from haloscope.topics.common.figure import (
    Axis,
    Bar,
    Bars,
    Curve,
    Figure,
    Gantt,
    Lines,
    Mark,
    Surface,
    powers_of_two,
    second_ticks,
)


def lines(figure: Figure, index: int = 0) -> Lines:
    panel = figure.panels[index]
    assert isinstance(panel, Lines)
    return panel


def test_speedup_and_efficiency_show_the_ideal_and_no_connecting_line() -> None:
    times = [4.0, 4.1, 4.2, 4.0, 4.1, 4.2]
    raws = [
        poisson(64, ranks=p, launch=k, time_s=time / p**0.5)
        for p in (1, 2, 4)
        for k, time in enumerate(times)
    ]

    (figure,) = draw("scaling", raws)

    ideal, speedup = lines(figure, 0).curves
    assert ideal.bound and ideal.marks == (Mark(1, 1.0), Mark(2, 2.0), Mark(4, 4.0))
    assert [mark.y for mark in speedup.marks] == pytest.approx([1.0, 2**0.5, 2.0])
    assert speedup.marks[0].low is None
    assert speedup.marks[1].low is not None and not speedup.joined
    flat, efficiency = lines(figure, 1).curves
    assert [mark.y for mark in flat.marks] == [1.0, 1.0, 1.0]
    assert [mark.y for mark in efficiency.marks] == pytest.approx([1.0, 0.5**0.5, 0.5])
    assert shows(figure.notes[0], "relative to 4.10 s with 1 process", " (n = 64).")
    assert "2.00 on 4" in figure.alt


def test_scaling_over_nodes_has_a_figure_per_mesh_and_a_curve_per_ppn() -> None:
    raws = [
        poisson(n, nodes=on, ranks=on * ppn, time_s=8.0 / on / ppn)
        for n in (64, 128)
        for on in (1, 2)
        for ppn in (1, 2)
    ]

    small, large = draw("scaling", raws)

    assert small.title == "Speedup and efficiency (n = 64)"
    assert large.title == "Speedup and efficiency (n = 128)"
    ideal, one, two = lines(small).curves
    assert [point.x for point in ideal.marks] == [1, 2, 4]
    assert one.joined and two.joined  # more nodes with as many on each
    assert one.label == "1 per node" and one.marks == (Mark(1, 1.0), Mark(2, 2.0))
    assert two.label == "2 per node" and two.marks == (Mark(2, 2.0), Mark(4, 4.0))


def test_overlapping_points_are_drawn_at_their_values() -> None:
    raws = [
        poisson(n, ranks=p, launch=k, time_s=time / p)
        for n in (64, 128, 256)
        for p in (1, 2, 4)
        for k, time in enumerate((4.0, 4.1, 4.2, 4.0, 4.1, 4.2))
    ]
    (figure,) = draw("scaling", raws)

    for panel in map(lines, [figure] * 2, (0, 1)):
        (axes,) = canvas_of(panel, {}, series_styles([figure])).axes
        drawn = [one.lines[0] for one in axes.containers if isinstance(one, ErrorbarContainer)]
        pointed = [curve for curve in panel.curves if not curve.bound]
        assert len(drawn) == len(pointed) == 3
        for line, curve in zip(drawn, pointed, strict=True):
            assert np.asarray(line.get_xdata()).tolist() == [mark.x for mark in curve.marks]
            assert np.asarray(line.get_ydata()).tolist() == [mark.y for mark in curve.marks]


def test_text_of_a_pingpong_figure_describes_all_curves() -> None:
    """Half a round trip of the fastest, the bandwidth of the broadest, each named."""
    near, far = (
        {
            **pingpong(),
            "transport": name,
            "case": name,
            "points": [
                {
                    **pingpong()["points"][1],
                    "size_bytes": 8,
                    "bytes": 16,
                    "times_s": [2 * time],
                    "result": {},
                },
                {
                    **pingpong()["points"][1],
                    "size_bytes": 2**20,
                    "bytes": 2**21,
                    "times_s": [2**21 / rate],
                    "result": {},
                },
            ],
        }
        for name, time, rate in (("shm", 1e-6, 4e9), ("tcp", 9e-6, 8e9))
    )

    (figure,) = draw("pingpong", [near, far])

    assert shows(figure.alt, " 1.00 µs (shm)", " 8.00 GB/s ", " (tcp)")


def test_a_speedup_below_one_has_suitable_ticks() -> None:
    raws = [poisson(64, ranks=p, time_s=p * 1.7) for p in (1, 2)]

    (figure,) = draw("scaling", raws)

    assert [word for _, word in lines(figure).y.ticks] == ["0.5", "1", "2"]


def test_one_process_count_draws_nothing() -> None:
    assert draw("scaling", [poisson(64)]) == []


def test_stream_has_a_curve_per_core_count_and_the_cache_sizes() -> None:
    (figure,) = draw("stream", [stream(), stream(ranks=2)])

    panel = lines(figure)
    assert [curve.label for curve in panel.curves] == ["1 core", "2 cores"]
    assert panel.guides == ((32768.0, "L1"), (2.0**21, "L2"), (2.0**24, "L3"))
    assert panel.y.scale == "log", "else what a first cache gives hides what memory does"
    assert panel.curves[0].marks[0].x == 32768
    assert panel.curves[0].marks[-1].y == pytest.approx(13.0, rel=0.05), "GB/s"
    assert panel.curves[0].marks[0].low is not None


def test_pingpong_omits_the_empty_message_on_log_axes() -> None:
    (figure,) = draw("pingpong", [pingpong()])

    assert lines(figure).curves[0].marks[0].x == 1
    assert lines(figure).curves[0].label == "measured"
    assert (lines(figure).y.scale, lines(figure, 1).y.scale) == ("log", "log")
    assert len(lines(figure).x.ticks) <= 6


def test_an_outlier_launch_is_a_separate_dot() -> None:
    raws = [pingpong(launch=launch, sizes=[8, 64]) for launch in range(8)]
    slow = raws[7]["points"][0]
    slow["times_s"] = [100 * time for time in slow["times_s"]]

    (figure,) = draw("pingpong", raws)

    first, second = lines(figure).curves[0].marks
    (far,) = first.outliers
    assert far > 90 * first.y
    assert all(one < 2 * second.y for one in second.outliers)


@pytest.mark.parametrize(
    ("launches", "bars"),
    [(1, ("repetitions", "one launch")), (2, ("confidence interval", "over launches"))],
)
def test_only_drawn_elements_are_explained(launches: int, bars: tuple[str, ...]) -> None:
    """No launch of two can lie far outside of both."""
    (figure,) = draw("pingpong", [pingpong(launch=k) for k in range(launches)])

    assert len(figure.notes) == 1 and shows(figure.notes, "Bars show ", *bars)


def test_dots_are_explained_if_present() -> None:
    raws = [pingpong(launch=k) for k in range(9)]
    for point in raws[4]["points"]:
        point["times_s"] = [9 * time for time in point["times_s"]]
    (figure,) = draw("pingpong", raws)

    assert any(mark.outliers for mark in lines(figure).curves[0].marks)
    assert [re.split(r"\W", note)[0] for note in figure.notes] == ["Bars", "Dots"]


def test_phases_add_up_to_one() -> None:
    (figure,) = draw("phases", [poisson(64), poisson(64, ranks=2)])

    (panel,) = figure.panels
    assert isinstance(panel, Bars)
    assert panel.bars == ("1 process", "2 processes")
    assert [name for name, _ in panel.parts] == ["sweep", "halo", "reduce", "outside phases"]
    for bar in range(2):
        assert sum(shares[bar] for _, shares in panel.parts) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("alone", "others", "drawn_to"), [(0.8, 0.1, 1.0), (0.1, 0.45, 1.35)], ids=["short", "beyond"]
)
def test_medians_that_do_not_fill_a_bar_are_noted_and_scaled(
    alone: float, others: float, drawn_to: float
) -> None:
    """Of three launches each has one phase unlike the others, halo, reduce and sweep in turn."""
    raws = [poisson(64, ranks=2, launch=k, time_s=1.0) for k in range(3)]
    for k, raw in enumerate(raws):
        for index, phase in enumerate(raw["phases"]):
            seconds = alone if index == k else others
            phase["time_s"] = dict.fromkeys(("min", "mean", "max"), seconds)
    (figure,) = draw("phases", raws)
    (whole,) = draw("phases", [poisson(64), poisson(64, ranks=2)])
    (panel,) = figure.panels
    assert isinstance(panel, Bars)

    canvas = canvas_of(panel, {name: "#000000" for name, _ in panel.parts}, {})

    assert noted(figure, "need not add up")
    assert not any("need not add up" in note for note in whole.notes)
    assert canvas.axes[0].get_xlim()[1] == pytest.approx(drawn_to)


def test_with_many_phases_the_extremes_of_the_grid_are_drawn() -> None:
    grid = [poisson(64, nodes=on, ranks=on * ppn) for on in range(1, 8) for ppn in range(1, 6)]

    (figure,) = draw("phases", grid)

    (panel,) = figure.panels
    assert isinstance(panel, Bars)
    assert len(panel.bars) == 5 + 6
    assert "7 nodes, 5 processes per node" in panel.bars
    assert "7 nodes, 4 processes per node" not in panel.bars
    assert figure.notes[1].startswith("Not drawn: 24 cases")


def test_bars_too_small_for_a_page_are_split_into_panels() -> None:
    grid = [poisson(64, nodes=on, ranks=on * ppn) for on in range(1, 7) for ppn in range(1, 6)]

    (figure,) = draw("phases", grid)
    (few,) = draw("phases", grid[:18])

    first, second = (panel for panel in figure.panels if isinstance(panel, Bars))
    assert (len(first.bars), len(second.bars)) == (15, 15)
    assert len({*first.bars, *second.bars}) == 30
    assert [name for name, _ in first.parts] == [name for name, _ in second.parts]
    assert (first.title, second.title) == ("1 of 2", "2 of 2")
    assert [panel.title for panel in few.panels if isinstance(panel, Bars)] == [""]


def test_surfaces_state_their_mesh_once() -> None:
    both = cases([poisson(32, surface=33), poisson(64)])
    for where in ({}, {"n": 32}):
        context = Context(options=Options(where=where), all_cases=both)
        (figure,) = figures.build("surfaces", both, context)

        assert (figure.title + figure.notes[0]).count("n = 32") == 1


def test_each_mesh_has_one_set_of_surfaces() -> None:
    raws = [poisson(n, surface=surface) for n, surface in ((32, 33), (64, 33), (32, 33))]

    assert [figure.title.count(f"n = {n}") for figure, n in
            zip(draw("surfaces", raws), (32, 64), strict=True)] == [1, 1]  # fmt: skip


def test_local_simulated_and_published_times_share_a_figure() -> None:
    times = {1: 9.0, 2: 5.0}
    raws = [poisson(1024, ranks=p, variant="textbook", time_s=t) for p, t in times.items()]
    raws.append(poisson(1024, ranks=4, variant="fused"))  # another program

    (figure,) = draw("overlay", raws)

    curves = {curve.label: curve for curve in lines(figure).curves}
    assert [(one.x, one.y) for one in curves["this machine"].marks] == [(1, 9.0), (2, 5.0)]
    tara = [
        cell
        for cell in validated_cells()
        if (cell.cluster, cell.settings.get("n")) == ("tara", 1024)
        if cell.settings.get("exchange") == "nonblocking"
    ]
    for label, value in (("simulated", "predicted"), ("published", "published")):
        curve = curves[f"tara, {label}"]
        (last,) = [getattr(one, value) for one in tara
                   if (one.settings["nodes"], one.settings["ppn"]) == (64, 8)]  # fmt: skip
        assert (curve.marks[-1].x, curve.marks[-1].y) == (512, last)
    assert curves["tara, published"].published
    assert curves["tara, published"].like == "tara, simulated"
    assert all(one.band for one in curves["tara, simulated"].marks)


def test_a_mesh_without_published_times_has_no_overlay() -> None:
    assert draw("overlay", [poisson(64, ranks=p, variant="textbook") for p in (1, 2, 4)]) == []
    assert draw("overlay", [poisson(1024, ranks=p, variant="fused") for p in (1, 2, 4)]) == []


def test_a_simulated_cluster_is_not_drawn_twice() -> None:
    raw = poisson(1024, variant="textbook")
    raw |= {"clock": "simulated", "simulation": {"cluster": "tara", "verified": False}}

    (figure,) = draw("overlay", [raw])

    labels = [curve.label for curve in lines(figure).curves]
    assert labels.count("tara, simulated") == labels.count("tara, published") == 1


@pytest.mark.parametrize("height", [0.88e-3, 89.74, 979.0, 3.3])
@pytest.mark.parametrize("ratio", [1.02, 1.25, 1.52, 1.954, 2.0387, 4.7, 9.9])
def test_a_logarithmic_axis_below_a_decade_has_several_ticks(height: float, ratio: float) -> None:
    axes = Figure_().subplots()
    axes.set_yscale("log")
    axes.set_ylim(height, height * ratio)

    subdivide(axes, "y", Axis("time (s)", "log"))

    shown = [tick for tick in axes.get_yticks() if height <= tick <= height * ratio]
    assert len(shown) >= 2 if ratio > 9 else len(shown) >= 3


def test_surfaces_use_comparable_scales() -> None:
    (figure,) = draw("surfaces", [poisson(32, surface=33)])

    solution, error = figure.panels
    assert isinstance(solution, Surface) and isinstance(error, Surface)
    assert solution.title == "(a) solution"
    assert error.title == "(b) error u − u_h, in 1e-3"
    assert max(map(max, solution.heights)) == 1.0
    assert min(map(min, error.heights)) == pytest.approx(-3.0127)
    assert (len(solution.points), solution.points[16]) == (33, 0.5)


def test_every_kind_handles_records_that_all_failed() -> None:
    raws = [bad(raw, "failed", "no such file") for raw in quick()]

    assert not any(draw(kind, raws) for kind in kinds.figures())


def test_long_bar_names_are_wrapped_at_full_size() -> None:
    long = "sstep, 128 nodes, 32 processes per node, iterations = 16, reorthogonalise = 16, s = 2"
    panel = Bars("b", "B", (long, "fused"), (("sweep", (1.0, 1.0)),), ("1.66 s", "2 ms"))

    (axes,) = canvas_of(panel, {"sweep": "#000000"}, {}).axes

    names = [text for text in axes.texts if "%" not in text.get_text()]
    lines = [text.get_text().replace("\xa0", " ").split("\n") for text in names]
    assert [" ".join(own) for own in lines] == [f"{panel.bars[0]}: 1.66 s", "fused: 2 ms"]
    assert len(lines[0]) == 2 and lines[0][1].endswith("s = 2: 1.66 s")
    assert {text.get_fontsize() for text in names} == {8.0}


def test_a_single_bar_keeps_its_size_with_many_names() -> None:
    heights = []
    for names in (tuple("abcdef"), tuple("abcdefghi")):
        parts = tuple((name, (1 / len(names),)) for name in names)
        panel = Bars("b", "B", ("one",), parts, ("1 s",))
        canvas = canvas_of(panel, dict.fromkeys(names, "#000000"), {})
        canvas.draw_without_rendering()
        heights.append(canvas.axes[0].patches[0].get_window_extent().height)

    assert heights[1] >= 0.95 * heights[0]


def test_time_axes_have_surrounding_ticks_with_units() -> None:
    assert second_ticks([3e-4, 4e-4]) == ((2e-4, "200 µs"), (5e-4, "500 µs"))
    assert [text for _, text in second_ticks([2e-6, 3.0])] == [
        *("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s")
    ]


def test_a_power_of_two_axis_starts_and_ends_at_labelled_values() -> None:
    y = Axis("ratio", "log2", powers_of_two([0.27, 1.2]))
    curve = Curve("a", (Mark(1, 0.27), Mark(2, 1.2, 1.1, 1.3)))
    panel = Lines("p", "P", Axis("x"), y, (curve,))

    (axes,) = canvas_of(panel, {}, {"a": 0}).axes

    low, high = axes.get_ylim()
    assert low < 0.25 < 2 < high < 2.2


@pytest.mark.parametrize("high", (1.05, 1.4, 4.0, 9.0, 99.0, 1e6))
def test_a_logarithmic_axis_of_any_length_has_labelled_grid_lines(high: float) -> None:
    curve = Curve("a", (Mark(1, 1.3), Mark(2, 1.3 * high)))
    panel = Lines("p", "P", Axis("x"), Axis("time", "log"), (curve,))

    (axes,) = canvas_of(panel, {}, {"a": 0}).axes

    low, top = axes.get_ylim()
    assert sum(low <= tick <= top for tick in axes.get_yticks()) >= 2
    assert not any(text.get_text() for text in axes.yaxis.get_minorticklabels())


def test_ticks_keep_only_labels_that_fit() -> None:
    ticks = figure_model.counts([1, 2, 4, 8, 16, 20, 24, 25, 32, 40, 48])
    assert [value for value, _ in ticks] == [1, 2, 4, 8, 16, 20, 24, 25, 32, 40, 48]
    assert [word for _, word in ticks if word] == ["1", "2", "4", "8", "16", "24", "32", "48"]


@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2, 4, 8, 16, 32, 48, 64, 128, 192, 256, 384],
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048],
        [8, 27, 64, 125, 216, 512, 1000, 2197],
    ],
)
def test_tick_labels_do_not_overlap(numbers: list[int]) -> None:
    """Three digits take more room than one."""
    marks = tuple(Mark(n, n / 1000) for n in numbers)
    x = Axis("processes", "log2", figure_model.counts(numbers))
    panel = Lines("p", "P", x, Axis("y"), (Curve("a", marks),))

    canvas = canvas_of(panel, {}, {"a": 0})
    canvas.draw_without_rendering()

    (axes,) = canvas.axes
    boxes = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
    assert len(boxes) > 4
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-5, "0.00001"), (0.3, "0.3"), (10000.0, "10000"), (0.0, "0"), (-100.0, "−100"),
     (1e-9, "1e−09"), (0.1 + 0.2, "0.3")],
)  # fmt: skip
def test_a_tick_is_a_plain_number(value: float, text: str) -> None:
    assert plain(value) == text


def test_labels_of_close_guides_are_stacked() -> None:
    x, curve = Axis("sent", "log2"), Curve("own", (Mark(1.0, 1.0), Mark(2.0**20, 2.0)))
    guides = ((2.0**18, "256 KiB"), (3 * 2.0**17, "384 KiB"), (2.0**10, "1 KiB"))
    panel = Lines("p", "P", x, Axis("time", "log"), (curve,), guides=guides)

    (axes,) = canvas_of(panel, {}, {"own": 0}).axes

    words = [text for text in axes.texts if isinstance(text, Annotation)]
    at = {text.get_text(): text.xyann[1] for text in words}
    assert at["1 KiB"] == at["256 KiB"] > at["384 KiB"]
    beside = {text.get_text(): text.get_horizontalalignment() for text in words}
    assert (beside["1 KiB"], beside["384 KiB"]) == ("left", "right"), "no word leaves its panel"


def test_phases_with_the_same_colour_differ_by_hatch_in_a_timeline() -> None:
    bars = tuple(Bar(0, name, k, k + 1.0, False) for k, name in enumerate("abc"))
    colours = {"a": "#0072b2", "b": "#c84f00", "c": "#0072b2"}

    canvas = draw_gantt(Gantt("g", "", "", ("0",), bars), 4.6, colours)

    drawn = [one.get_hatch() or "" for one in canvas.axes[0].collections]
    (legend,) = canvas.legends
    assert drawn == [patch.get_hatch() or "" for patch in legend.get_patches()]
    assert [bool(hatch) for hatch in drawn] == [False, False, True]


def test_bars_too_short_to_see_become_lines_behind_other_bars() -> None:
    bars = (Bar(0, "wait", 0.0, 50.0, False), Bar(1, "pack", 12.0, 12.000001, False))
    colours = {"wait": "#0072b2", "pack": "#c84f00"}

    canvas = draw_gantt(Gantt("g", "", "", ("rank 0", "stream 0"), bars), 4.6, colours)

    drawn = canvas.axes[0].collections
    (line,) = [one for one in drawn if isinstance(one, LineCollection)]
    assert np.array_equal(line.get_colors(), to_rgba_array(colours["pack"]))
    (ends,) = line.get_segments()
    assert [end[0] for end in ends] == [12.0, 12.0]
    assert all(one.get_zorder() > line.get_zorder() for one in drawn if one is not line)


@pytest.mark.parametrize("width_in", [3.6, 4.6])
def test_names_below_a_timeline_are_never_truncated(width_in: float) -> None:
    names = ("synchronise", "launch of product", "multiply off-diagonal", "wait", "pack", "send")
    bars = tuple(Bar(0, name, 0.0, 1.0, False) for name in names)

    canvas = draw_gantt(Gantt("g", "", "", ("0",), bars), width_in, dict.fromkeys(names, "#000000"))
    canvas.draw_without_rendering()

    (legend,) = canvas.legends
    below = legend.get_window_extent()
    assert below.x0 >= 0 and below.x1 <= canvas.bbox.width
    assert below.y1 < canvas.axes[0].get_window_extent().y0
    assert [text.get_text() for text in legend.get_texts()] == list(names)


def test_short_names_below_a_timeline_use_three_columns() -> None:
    bars = tuple(Bar(0, name, 0.0, 1.0, False) for name in "abcdef")

    canvas = draw_gantt(Gantt("g", "", "", ("0",), bars), 4.6, dict.fromkeys("abcdef", "#000000"))
    canvas.draw_without_rendering()

    (legend,) = canvas.legends
    left = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    assert len(left) == 3


@pytest.mark.parametrize(("band", "entries"), [(None, 0), (1.2, 1)])
def test_the_error_band_has_one_legend_entry(band: float | None, entries: int) -> None:
    curves = tuple(Curve(name, (Mark(1, 1, band=band), Mark(2, 2, band=band))) for name in "ab")
    panel = Lines("p", "p", Axis("x"), Axis("y"), curves)

    (drawn,) = draw_all([Figure("f", "Title", (panel,), "")])["f"]

    assert drawn.svg.count(BAND) == entries


@pytest.mark.parametrize(("band", "shown"), [(1.2, True), (20.0, False)])
def test_an_error_larger_than_the_axis_is_not_shaded(band: float, shown: bool) -> None:
    curve = Curve("a", (Mark(1, 1, band=band), Mark(2, 2, band=band)), joined=False)
    panel = Lines("p", "p", Axis("x"), Axis("y", from_zero=False), (curve,))

    canvas = canvas_of(panel, {}, {"a": 0})
    (shade,) = (one for one in canvas.axes[0].collections if isinstance(one, LineCollection))

    assert shade.get_visible() is shown


def test_a_figure_with_many_bars_is_not_short() -> None:
    bars = [Bars("b", "", ("case",) * n, (), ("",) * n) for n in (12, 12)]

    assert Figure("f", "Title", (bars[0],), "").is_short
    assert not Figure("f", "Title", tuple(bars), "").is_short


@pytest.mark.parametrize(
    ("names", "legends"),
    [("ab", [None, "shared-legend"]), ("ac", ["legend", "legend"])],
)
def test_panels_with_the_same_curves_share_a_legend(names: str, legends: list[str | None]) -> None:
    panels = tuple(
        Lines(
            key, key, Axis("x"), Axis("y"), tuple(Curve(n, (Mark(1, 1), Mark(2, 2))) for n in own)
        )
        for key, own in (("first", "ab"), ("second", names))
    )

    drawn = draw_all([Figure("f", "Title", panels, "")])["f"]

    found = [re.findall(r'id="([a-z-]*legend)-series-1"', one.svg) for one in drawn]
    assert [next(iter(each), None) for each in found] == legends
