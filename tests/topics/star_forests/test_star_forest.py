# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
from typing import Any

import pytest
from noted import noted, shows
from recorded import MACHINE, Raw, cases, on_device, pingpong, star_forest

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.quantities import rate, seconds
from haloscope.report.draw import csv_files
from haloscope.report.draw.figures.panels import draw_all
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Figure, Gantt, Lines
from haloscope.topics.common.table import Table
from haloscope.topics.star_forests import beside_messages
from haloscope.topics.star_forests.parts import split_phase_model

SUMMIT = "anl-petsc-summit-part2"


def build(kind: str, raws: list[Raw]) -> list[Table]:
    paper = next(paper for paper in papers.list_papers() if paper.id == SUMMIT)
    return tables.build(kind, cases(raws), Context(machine=MACHINE, paper=paper))


def column(table: Table, key: str) -> list[object]:
    index = [column.key for column in table.columns].index(key)
    return [row[index].value for row in table.rows]


def test_latencies_are_listed_with_the_overhead_of_a_star_forest() -> None:
    raws = [pingpong()] + [star_forest(kernel) for kernel in ("sf_pingpong", "sf_unpack")]

    (table,) = build("sf_latency", raws)

    keys = [column.key for column in table.columns]
    assert keys == ["size_bytes", "pingpong_s", "sf_pingpong_s", "sf_unpack_s", "added_s"]
    assert column(table, "size_bytes") == [8, 64, 512, 4096, 32768]
    first = table.rows[0]
    assert first[4].value == pytest.approx(first[2].value - first[1].value)  # type: ignore[operator]
    assert first[2].published_value == 23.8e-6  # option B, intra-socket
    assert first[3].published_value == 35.9e-6
    assert first[1].published_value == 17.8e-6
    named = [re.findall(rf"Summit, {SUMMIT}, tables (.+)", note) for note in table.notes]
    assert [re.findall(r"\d", one[0]) for one in named if one] == [["1", "2", "3"]]


SYNCS = ("general", "default_stream", "stream_aware", "typed")


def test_synchronisation_methods_are_compared_with_the_published_options() -> None:
    raws = [star_forest("sf_pingpong", memory="device", sync=sync) for sync in reversed(SYNCS)]
    raws += [star_forest("sf_unpack", memory="device", mpi=mpi) for mpi in ("gpu_aware", "staged")]
    raws += [pingpong(), star_forest("sf_unpack")]

    host, aware, staged = build("sf_latency", raws)

    assert [column.title for column in aware.columns[1:]] == [
        *(f"sf_pingpong, {sync}" for sync in SYNCS), "sf_unpack",
    ]  # fmt: skip
    published = [cell.published_value for cell in aware.rows[0][1:]]
    assert published == [25.3e-6, 23.8e-6, 19.9e-6, 19.0e-6, 35.9e-6]
    assert aware.title.endswith("GPU-aware MPI)")
    assert staged.title.endswith("through the host)")
    assert "device" not in host.title and len(host.columns) == 3


def test_times_of_an_emulated_device_are_marked() -> None:
    device, host = build("sf_latency", [on_device("sf_unpack"), star_forest("sf_unpack")])

    assert device.rows[0][1].marks == "‖" and host.rows[0][1].marks == ""
    assert [one.rows[0][1].published_value for one in (device, host)] == [None, 35.9e-6]
    assert any(note.startswith("‖ emulated device") for note in device.notes)
    assert not any("emulated" in note for note in host.notes)


def on_summit(cluster: str = "summit", **layout: Any) -> Raw:
    params: dict[str, Any] = {"memory": "device", "mpi": "gpu_aware"}
    params |= {key: layout.pop(key) for key in ("mpi", "gpus_shared") if key in layout}
    raw = star_forest("sf_unpack", **params)
    simulation = {"cluster": cluster, "verified": False}
    return {
        **raw,
        **{"device": "simulated", "clock": "simulated", "simulation": simulation},
        "layout": {**raw["layout"], **layout},
    }


def test_published_gpu_times_are_compared_with_the_same_simulated_placement() -> None:
    def published(raw: Raw) -> list[float | None]:
        (table,) = build("sf_latency", [raw])
        return [row[1].published_value for row in table.rows][:1]

    assert published(on_summit(bind="close")) == [35.9e-6]
    assert published(on_summit(bind="spread")) == [37.6e-6]
    assert published(on_summit(nodes=2, ppn=1)) == [22.9e-6]
    assert published(on_summit(gpus_shared=2)) == [None]  # which table 3 has not
    assert published(on_summit(gpus_shared=2, bind="spread")) == [None]
    assert published(on_summit(mpi="staged")) == [None]
    assert published(on_summit(mpi="nccl")) == [None]
    assert published(on_summit("another")) == [None]
    (table,) = build("sf_latency", [on_summit(bind="close")])
    assert table.title.split(", ")[-2:] == ["GPU memory", "GPU-aware MPI)"]
    assert any("cluster that is simulated" in note for note in table.notes)


def test_published_gpu_times_are_compared_only_with_real_runs_of_equal_messages() -> None:
    def built(kernel: str = "sf_unpack", bind: str = "close", **params: Any) -> Table:
        raw = star_forest(kernel, **{"memory": "device", "mpi": "gpu_aware", **params})
        layout = {**raw["layout"], "bind": bind}
        (table,) = build("sf_latency", [{**raw, "device": "NVIDIA H200", "layout": layout}])
        return table

    def published(**given: Any) -> object:
        return built(**given).rows[0][1].published_value

    assert published() == 35.9e-6
    assert published(bind="spread") == 35.9e-6  # GPUs are taken by number, whatever the sockets
    assert published(gpus_shared=2) is None  # which table 3 has not
    assert (published(mpi="staged"), published(mpi="nccl")) == (None, None)
    assert any(note.startswith("Published times") for note in built().notes)
    assert "(ranks on one GPU, " in built(gpus_shared=2).title


def test_ranks_on_two_sockets_never_share_a_gpu() -> None:
    """The positions of simulated ranks in the input of halobench: `gpus_of_ranks`."""

    def where(**layout: Any) -> str:
        (table,) = build("sf_latency", [on_summit(gpus_shared=2, **layout)])
        return table.title.removesuffix(", GPU memory, GPU-aware MPI)")

    assert where(bind="close").endswith("(ranks on one GPU")
    assert where(bind="spread").endswith("(ranks on two sockets")


def test_published_gpu_grids_are_not_compared_with_emulated_ones() -> None:
    raw = on_device("sf_grid", ranks=9, nodes=3, messages=2, n="4,8,16,32,64", topology="9x1")

    (table,) = build("sf_grid", [raw])

    assert [column.key for column in table.columns] == ["n", "latency_s_0"]


def test_device_messages_are_not_ranked_against_host_messages() -> None:
    raws = [pingpong(), on_device("sf_pingpong")]

    assert not beside_messages(cases(raws))
    assert beside_messages(cases([*raws, star_forest("sf_pingpong")]))


def test_pingpong_alone_has_no_star_forest_table() -> None:
    assert build("sf_latency", [pingpong()]) == []


def test_grids_are_listed_next_to_the_published_ones() -> None:
    raws = [
        star_forest("sf_grid", ranks=9, nodes=nodes, messages=4, n="4,8,16,32,64", topology="3x3")
        for nodes in (9, 3, 1)
    ]

    (table,) = build("sf_grid", raws)

    assert column(table, "n") == [4, 8, 16, 32, 64]
    assert [cell.published_value for cell in table.rows[0][1:]] == [None, 75.7e-6, 45.6e-6]
    assert [column.title for column in table.columns[1:]] == [
        "1 node, 9 processes per node", "3 nodes, 3 processes per node",
        "9 nodes, 1 process per node",
    ]  # fmt: skip


def test_a_different_grid_has_published_values_in_separate_columns() -> None:
    raw = star_forest("sf_grid", ranks=9, nodes=3, messages=2, n="4,8,16,32,64", topology="9x1")

    (table,) = build("sf_grid", [raw])

    assert [row[1].published_value for row in table.rows] == [None] * 5
    assert [column.title for column in table.columns[2:]] == [
        "published, 9 processes on 9 nodes", "published, 9 processes on 3 nodes",
    ]  # fmt: skip
    assert [cell.value for cell in table.rows[0][2:]] == [45.6e-6, 75.7e-6]
    assert any("GPU memory" in note for note in table.notes)


def without(raw: Raw, *parts: str, local: bool = True) -> Raw:
    """A record whose forest has nothing to do in some parts; timing these takes 20 ns too."""
    points = []
    for point in raw["points"]:
        shape = point["shape"]
        moved = {**shape["moved_bytes"], **dict.fromkeys(parts, 0)}
        kept = shape["local_bytes"] if local else 0
        points.append({**point, "shape": {**shape, "moved_bytes": moved, "local_bytes": kept}})
    timed = [
        {**part, "times_s": [2e-8]} if part["name"] in parts else part for part in raw["parts"]
    ]
    return {**raw, "points": points, "parts": timed}


def test_a_part_that_moves_no_data_takes_no_time() -> None:
    raw = without(star_forest(), "bcast pack", "reduce pack")

    (table,) = build("split_phase", [raw])

    assert column(table, "pack_s") == [None] * 5
    assert None not in column(table, "unpack_s")
    assert not any(note.startswith("bcast pack") for note in table.notes)
    assert any(note.startswith("bcast unpack") for note in table.notes)


def test_numbers_of_parts_in_csv_are_plain() -> None:
    """Array scalars would be written as np.float64(...)."""
    (table,) = build("split_phase", [star_forest()])

    head, *rows = csv_files.lines(table)
    numbers = [
        text
        for row in rows
        for name, text in zip(head, row, strict=True)
        if name.endswith(("_s", "_off", "_bytes")) and text
    ]
    assert len(numbers) > len(rows)
    assert all(float(text) >= -1 for text in numbers)


def test_without_a_scatter_overlap_is_not_mentioned() -> None:
    raw = without(star_forest(), "bcast scatter", "reduce scatter", local=False)

    (table,) = build("split_phase", [raw])

    notes = " ".join(table.notes)
    assert "stays within a rank" in notes
    assert "closer to" not in notes
    assert set(column(table, "longest")) == {"messages"}


def test_the_sum_of_parts_is_listed_with_the_total() -> None:
    (table,) = build("split_phase", [star_forest(launch=launch) for launch in range(7)])

    assert column(table, "longest") == ["messages"] * 4 + ["scatter"]
    whole, added, summed = (column(table, key) for key in ("whole_s", "max_s", "sum_s"))
    assert added == pytest.approx(whole, rel=0.02)
    # a scatter that ends before the other rank's message comes back delays nothing
    assert summed[:3] == pytest.approx(added[:3])
    assert summed[4] > 1.05 * added[4]  # type: ignore[operator]
    notes = " ".join(table.notes)
    assert "closer to the maximum" in notes
    assert "longer than the scatter" in notes
    assert re.search("scatter up to [45].* shorter", notes)
    assert "reduce unpack, fitted" in notes
    assert "leave a barrier" not in notes


def test_fitted_messages_are_one_way_like_the_rows() -> None:
    """Messages of a broadcast and of a reduction are timed together."""
    raws = [star_forest(launch=launch) for launch in range(7)]
    (table,) = build("split_phase", raws)

    (case,) = cases(raws)
    model = split_phase_model(case)
    assert model is not None
    line = model.lines["messages"]
    assert line is not None
    alpha_s = line.pieces[0].alpha_s.value
    bandwidth = line.pieces[0].bandwidth_bytes_per_s.value
    (note,) = (note for note in table.notes if note.startswith("messages, fitted"))
    assert f"{seconds(alpha_s / 2)} + s / {rate(2 * bandwidth)}" in note


def test_a_part_of_constant_time_has_no_bandwidth() -> None:
    raw = star_forest()
    for part in raw["parts"]:
        if part["name"] == "messages":
            part["times_s"] = [2e-5 + 1e-12 * part["point"]]  # as a simulation rounds

    (table,) = build("split_phase", [raw])

    (note,) = (note for note in table.notes if note.startswith("messages, fitted"))
    assert "no bandwidth" in note and "B/s" not in note


def test_parts_that_do_not_add_up_give_no_overlap() -> None:
    disturbed = star_forest()
    for point in disturbed["points"]:
        point["times_s"] = [100 * time_s for time_s in point["times_s"]]

    (table,) = build("split_phase", [disturbed])

    notes = " ".join(table.notes)
    assert "overlap cannot be determined." in notes
    assert "not explain the whole" in notes
    assert "while the rank copies" not in notes


def test_deviations_below_half_a_percent_are_printed_as_0() -> None:
    (table,) = build("split_phase", [star_forest()])

    texts = [cell.text for row in table.rows for cell in row if cell.text.endswith(" %")]
    assert "0 %" in texts
    assert not {"+0 %", "-0 %"} & {*texts}


def test_the_barrier_of_simulated_parts_is_named() -> None:
    (table,) = build("split_phase", [{**star_forest(), "clock": "simulated"}])

    assert any("up to one latency" in note for note in table.notes)


def test_several_neighbour_counts_give_the_gap() -> None:
    raws = [
        star_forest("sf_grid", ranks=ranks, messages=ranks - 1, n="4,8,16,32,64", launch=launch)
        for ranks in (2, 3)
        for launch in range(2)
    ]

    first, second = build("split_phase", raws)

    assert any("Messages to k neighbours" in note for note in first.notes)
    assert first.title != second.title


def test_a_figure_of_the_parts_marks_the_switch() -> None:
    (figure,) = figures.build("split_phase", cases([star_forest()]), Context(machine=MACHINE))

    times, residuals = figure.panels
    assert isinstance(times, Lines) and isinstance(residuals, Lines)
    assert [curve.label for curve in times.curves] == [
        *("whole", "messages", "pack", "scatter", "unpack"), "model, with max()", "sum of parts",
    ]  # fmt: skip
    assert [curve.label for curve in residuals.curves] == [
        "model, with max()", "sum of parts", "parts with max()",
    ]  # fmt: skip
    ((at, word),) = times.guides
    assert 2048 < at < 8192 and word.endswith(" KiB")
    assert max(abs(mark.y) for mark in residuals.curves[0].marks) < 3


def test_a_timeline_has_a_row_per_rank_and_outer_phases() -> None:
    (figure,) = figures.build("timeline", cases([star_forest()]), Context(machine=MACHINE))

    first, last = figure.panels
    assert isinstance(first, Gantt) and isinstance(last, Gantt)
    assert first.rows == ("rank 0", "rank 1") and first.title == "8 B" and last.title == "32 KiB"
    assert [(bar.name, bar.outer) for bar in first.bars[:3]] == [
        ("pack", False), ("wait", False), ("exchange", True),
    ]  # fmt: skip
    assert shows(figure.alt, " 2 ranks ", " wait (8 B) ", " (32 KiB).")
    assert first.x == "time (ns)" and first.bars[0].begin == 0  # the first phase's
    assert first.bars[2].end == pytest.approx(900)
    assert "Clocks agree within 400 ns." in figure.notes
    assert any(note.startswith("Thin bars") for note in figure.notes)
    drawing = draw_all([figure])[figure.id][0]
    assert drawing.name == "timeline-point0"
    for word in ("rank 1", "wait", "exchange", "time (ns)"):
        assert word in drawing.svg


def test_thin_bars_are_explained_if_present() -> None:
    raw = star_forest()
    flat = [
        {**one, "ranks": [[call for call in own if call[0] != "exchange"] for own in one["ranks"]]}
        for one in raw["timeline"]
    ]
    (figure,) = figures.build("timeline", cases([{**raw, "timeline": flat}]), Context())

    assert not any("Thin bars" in note for note in figure.notes)


def test_a_timeline_has_a_row_per_active_stream() -> None:
    raw = star_forest(memory="device", mpi="gpu_aware")
    works = [["pack", 0, 3e-7, 6e-7, 0], ["unpack", 0, 6e-7, 9e-7, 2], ["pack", 0, 7e-7, 8e-7, 0]]
    traces = [{**one, "ranks": [[*calls, *works] for calls in one["ranks"]]}
              for one in raw["timeline"]]  # fmt: skip
    (figure,) = figures.build("timeline", cases([{**raw, "timeline": traces}]), Context())

    panel = figure.panels[0]
    assert isinstance(panel, Gantt)
    assert panel.rows == (
        *("rank 0", "rank 0, stream 0", "rank 0, stream 2"),
        *("rank 1", "rank 1, stream 0", "rank 1, stream 2"),
    )
    bars = [(bar.row, bar.name, bar.outer) for bar in panel.bars]
    assert bars[3:6] == [(1, "pack", False), (1, "pack", False), (2, "unpack", False)]
    assert any("that launched the work" in note for note in figure.notes)
    (plain,) = figures.build("timeline", cases([raw]), Context())
    assert not any("stream" in note for note in plain.notes)


def test_zero_time_phases_are_not_drawn_and_not_nested() -> None:
    raw = star_forest(memory="device", mpi="gpu_aware")
    calls = [["pack", 0, 0.0, 0.0], ["diagonal", 0, 0.0, 2e-6], ["send", 1, 2e-6, 2e-6]]
    traces = [{**one, "ranks": [calls]} for one in raw["timeline"]]
    (figure,) = figures.build("timeline", cases([{**raw, "timeline": traces}]), Context())

    panel = figure.panels[0]
    assert isinstance(panel, Gantt)
    assert [(bar.name, bar.outer) for bar in panel.bars] == [("diagonal", False)]
    assert noted(figure, "without measurable time")


def test_with_many_streams_fewer_ranks_are_drawn() -> None:
    raw = star_forest(memory="device", mpi="gpu_aware")
    works = [["pack", 0, 3e-7, 6e-7, stream] for stream in range(9)]
    traces = [{**one, "ranks": [[*calls, *works] for calls in one["ranks"]]}
              for one in raw["timeline"]]  # fmt: skip
    (figure,) = figures.build("timeline", cases([{**raw, "timeline": traces}]), Context())

    panel = figure.panels[0]
    assert isinstance(panel, Gantt) and len(panel.rows) == 10
    assert "The first 1 of 2 ranks." in figure.notes


def test_a_timeline_that_ends_before_its_step_is_marked() -> None:
    """The launches have three phases of each rank, which end after 900 ns."""

    def drawn(most: int) -> Figure:
        measured = cases([star_forest(timeline=most)])
        (figure,) = figures.build("timeline", measured, Context(machine=MACHINE))
        return figure

    cut, whole = drawn(3), drawn(4)
    assert shows(" ".join(cut.notes), "(8 B: at 900 ns; 32", "; 32 KiB: at 900 ns)")
    assert shows(cut.alt, "Cut off 32 KiB: ") and cut.alt.endswith(" 32 KiB: at 900 ns.")
    panel = cut.panels[0]
    assert isinstance(panel, Gantt)
    assert dict(panel.ends) == pytest.approx({0: 900, 1: 900})
    assert "…" in draw_all([cut])[cut.id][0].svg
    assert "were kept" not in " ".join(whole.notes) and "Cut off" not in whole.alt
    assert "…" not in draw_all([whole])[whole.id][0].svg


def test_without_a_timeline_nothing_is_drawn() -> None:
    raw = {**star_forest(), "timeline": [], "parts": []}

    assert figures.build("timeline", cases([raw]), Context()) == []
    assert figures.build("split_phase", cases([raw]), Context()) == []
    assert build("split_phase", [raw]) == []
