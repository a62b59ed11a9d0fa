# SPDX-License-Identifier: BSD-3-Clause
"""Which cells of published tables are predicted, and as which cases."""

from __future__ import annotations

import pytest
from kernel_programs import halobench

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.validation.predictions import STEP
from haloscope.analysis.validation.published import Library
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable
from haloscope.predict.naive import with_guesses
from haloscope.predict.paper_validation import _unpredicted, simulated_place, tables_of
from haloscope.predict.unpredicted import Unpredicted
from haloscope.run.places.places import place
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.prepare.workbench import Workbench
from haloscope.study import file as study_file
from haloscope.study.expansion import expand
from haloscope.study.settings import settings_of


def unpredicted(table: PaperTable) -> list[Unpredicted]:
    there = place(str(table.facts["cluster_file"]))
    assert isinstance(there, SimulatedCluster)
    return list(_unpredicted(table, there))


def test_one_node_wall_times_and_a_few_others_set_parameters() -> None:
    """And those of less than 5 s say too little."""
    cells = [one.cell for one in unpredicted(tables_of("hpcf-2018-10", ["4.1"])[0])]
    assert {cell.fitted for cell in cells if cell.keys["nodes"] == 1} == {True}
    several = [cell.keys for cell in cells if cell.fitted and cell.keys["nodes"] != 1]
    assert {(keys["n"], keys["nodes"]) for keys in several} == {(8192, 8), (8192, 16)}
    assert {cell.telling for cell in cells} == {True, False}
    assert all(cell.telling == (cell.published >= 5) for cell in cells)


def test_multi_node_solves_are_unbound_if_the_file_has_that_cost() -> None:
    def binds(paper: str) -> dict[object, set[str]]:
        (table,) = tables_of(paper, ["4.1"])
        found: dict[object, set[str]] = {}
        for one in unpredicted(table):
            found.setdefault(one.layout.nodes == 1, set()).add(one.layout.bind)
        return found

    assert binds("hpcf-2010-6") == {True: {"spread"}, False: {"none"}}
    assert binds("hpcf-2018-10") == {True: {"spread"}, False: {"spread"}}


def test_ranks_and_threads_are_placed_as_published() -> None:
    for table, threads in (("7.1", "close"), ("7.2", "close"), ("4.2", "spread")):
        found = unpredicted(tables_of("hpcf-2018-10", [table])[0])
        assert {(one.layout.bind, one.layout.thread_bind) for one in found} == {("spread", threads)}


def test_jobs_that_use_all_cores_of_their_nodes_are_identified() -> None:
    cells = [one.cell for one in unpredicted(tables_of("hpcf-2010-6", ["4.1"])[0])]
    assert {cell.whole_nodes for cell in cells if cell.keys["ppn"] == 8} == {True}
    assert {cell.whole_nodes for cell in cells if cell.keys["ppn"] != 8} == {False}


def test_calibration_cells_are_those_named_in_the_cluster_file() -> None:
    """Of Jacobi one rank, one whole socket, and all cores and hardware threads of a node."""
    fitted = {
        (table.id, one.cell.keys.get("ranks")): one.cell.sets
        for table in tables_of("orfeo-mpi-report", [])
        for one in unpredicted(table)
    }
    assert {key: sets for key, sets in fitted.items() if sets} == {
        **{(table, 1): ("node.kernels#1.core_flops_per_s",) for table in ("IV", "V")},
        **{(table, 12): ("node.kernels#1.crowded_flops_per_s",) for table in ("VI", "VII")},
        **{("XI", ranks): ("node.smt_gain",) for ranks in (24, 48)},
        ("eq1", 48): ("network.link_latency_s",),
    }
    assert {(table, ranks) for table, ranks in fitted if table == "X"} == {
        ("X", ranks) for ranks in (12, 24, 32, 40, 48)
    }


def test_mpi_messages_and_the_example_set_numbers() -> None:
    fitted = {
        table.id: {one.cell.fitted for one in _unpredicted(table, simulated_place(table))}
        for table in tables_of("anl-petsc-summit-part2", ["1", "fig15"])
    }
    assert fitted == {"1": {True}, "fig15": {True}}


def test_an_example_is_predicted_under_its_assumptions() -> None:
    """Its kernels take 40 and 5 us on the cluster, and launches and waits what it says."""
    (figure,) = tables_of("anl-petsc-summit-part2", ["fig15"])
    (measured,) = tables_of("anl-petsc-summit-part2", ["section-5.4"])
    assumed, there = simulated_place(figure).cluster.node.gpu, simulated_place(measured)

    assert assumed is not None and there.cluster.node.gpu is not None
    assert assumed.launch_s.value == pytest.approx(10e-6)
    assert assumed.stream_sync_s.value < 1e-9
    assert there.cluster.node.gpu.launch_s.value == 12e-6
    assert there == place("summit")
    one, other = unpredicted(figure)
    each_s = int(one.given["size"]) / assumed.memory_bandwidth_bytes_per_s.value
    assert (each_s, one.given["first"] * each_s) == pytest.approx((5e-6, 40e-6), rel=0.01)
    record = {"result": {"pipelined_s": 1.0, "synchronised_s": 2.0}}
    assert (one.of(record), other.of(record)) == (1.0, 2.0)


def test_a_generated_matrix_represents_the_published_one() -> None:
    (table,) = tables_of("anl-petsc-summit-part2", ["section-5.4"])
    one, *others = unpredicted(table)
    assert (one.kernel, one.layout.nodes, one.layout.ppn) == ("spmv", 1, 6)
    assert (one.given["n"], one.given["row_length"]) == (2017169, 140)
    assert [each.given["overlap"] for each in (one, *others)] == [
        *("split", "early_launch", "split_temporary"),
    ]
    assert one.cell.published == 918.9e-6
    assert one.of({"times_s": [1e-3]}) == 1e-3


def test_gpu_placements_and_options_become_layouts_and_synchronisations() -> None:
    tables = tables_of("anl-petsc-summit-part2", ["2", "3", "4"])
    cells = {table.id: list(unpredicted(table)) for table in tables}
    asked = {
        (one.kernel, one.cell.keys["placement"], one.given.get("sync")): one.layout
        for one in (*cells["2"], *cells["3"])
    }
    near, across, apart = Layout(ppn=2), Layout(ppn=2, bind="spread"), Layout(nodes=2)
    assert asked["sf_pingpong", "intra_socket", "typed"] == near
    assert asked["sf_pingpong", "inter_socket", "default_stream"] == across
    assert asked["sf_scatter", "inter_node", "default_stream"] == apart
    assert len(asked) == 6 + 9
    assert {(one.given["n"], one.layout.nodes, one.layout.ppn) for one in cells["4"]} == {
        (2**k, nodes, 9 // nodes) for k in range(2, 13) for nodes in (3, 9)
    }
    assert {one.given["memory"] for own in cells.values() for one in own} == {"device"}


def test_a_cell_uses_the_latency_of_its_own_size() -> None:
    (table,) = tables_of("anl-petsc-summit-part2", ["2"])
    points = [{"size_bytes": 8 * 2**k, "result": {"latency_s": k * 1e-6}} for k in range(20)]
    for one in unpredicted(table):
        size = 8 * 2 ** round(1e6 * one.of({"points": points}))
        assert size == one.cell.keys["size_bytes"]


def test_both_readings_of_the_size_and_of_the_rank_placement_are_predicted() -> None:
    (table,) = tables_of("orfeo-mpi-report", ["X"])
    cubes, whole = (one for one in unpredicted(table) if one.cell.keys["grid"] == "4x3x2")
    assert cubes.given["L"] == 1200
    assert whole.given["size"] == "1200x1200x1200"
    assert (cubes.layout.nodes, cubes.layout.ppn, cubes.layout.bind) == (2, 12, "spread")
    assert cubes.cell.published == whole.cell.published == 2633.94
    (socket,) = tables_of("orfeo-mpi-report", ["VII"])
    assert {one.layout.bind for one in unpredicted(socket)} == {"close"}


def test_tables_that_name_a_cluster_file() -> None:
    assert [table.id for table in tables_of("hpcf-2010-6", [])] == ["3.1", "4.1", "5.1"]
    assert [table.id for table in tables_of("hpcf-2018-10", ["7.1"])] == ["7.1"]
    with pytest.raises(UserError, match=r"unknown table '9\.9'"):
        tables_of("hpcf-2018-10", ["9.9"])
    with pytest.raises(UserError, match=r"table 4\.2 cannot be predicted"):
        tables_of("hpcf-2010-6", ["4.2"])
    assert [table.id for table in tables_of("task-mapping-drop", [])] == ["6"]


def test_a_table_with_several_machines_is_predicted_on_each() -> None:
    parts = tables_of("hpcf-2018-10", ["5.1"])

    assert {part.id for part in parts} == {"5.1"}
    found = {
        str(part.facts["cluster_file"]): [
            (one.cell.row["case"], one.cell.published, one.cell.fitted)
            for one in _unpredicted(part, simulated_place(part))
        ]
        for part in parts
    }
    assert found == {
        "kali": [("serial", 7249, True), ("spread", 245, False), ("full", 289, True)],
        "maya-2013": [
            *(("serial", 746, True), ("node", 164, True)),
            *(("spread", 15, False), ("full", 12, False)),
        ],
        "stampede2": [("spread", 16, False), ("full", 1, False)],
    }


def test_jobs_on_few_and_many_nodes_are_relative_to_the_fastest() -> None:
    """The paper's table 3 has their pencils, x last here."""
    (table,) = tables_of("task-mapping-drop", [])
    cells = {(one.cell.keys["ranks"], one.cell.keys["nodes"]): one for one in unpredicted(table)}
    assert list(cells) == [(16, 8), (16, 4), (16, 2), (16, 1), (2048, 256), (2048, 167)]
    assert cells[2048, 167].layout == Layout(167, 13, bind="spread", tasks=2048)
    one = cells[16, 2]
    assert (one.given["size"], one.given["topology"]) == ("512x1024x1024", "4x4")
    assert one.layout == Layout(2, 8, bind="spread", tasks=16)
    assert one.over is not None and one.over.layout == Layout(16, 1, bind="spread", tasks=16)
    assert one.cell.published == 411 / 153 and not one.cell.fitted
    assert one.over.given == one.given


def test_a_relative_time_is_computed_per_launch_or_names_what_is_missing() -> None:
    one = unpredicted(tables_of("task-mapping-drop", [])[0])[0]
    own = [{"outcome": "ok", "times_s": [seconds]} for seconds in (3.0, 8.0, 5.0)]
    over = [{"outcome": "ok", "times_s": [seconds]} for seconds in (1.0, 2.0, 2.0)]
    assert one.answered(own[:1], over[:1]).predicted == 3.0
    drawn = one.answered(own, over)
    assert drawn.predicted == 3.0 and drawn.drawn is not None and drawn.drawn.low == 2.5
    failed = {"outcome": "failed", "reason": "no room"}
    assert one.answered(own[:1], [failed]).problem == "no room"


def test_the_ready_study_covers_the_cells_that_validate_predicts() -> None:
    """Table 4.1, cell by cell: the same cases, by their settings, in run --on and in validate."""
    (path,) = (path for path in study_file.ready() if path.stem == "poisson-scaling")
    there = place("stampede2")
    assert isinstance(there, SimulatedCluster)
    site = there.site(Workbench({}, (), ()), oversubscribe=False)
    program = halobench()
    plan = expand(study_file.load(path), site, program)
    (table,) = tables_of("hpcf-2018-10", ["4.1"])
    cells = {one.case(program).id: one.cell for one in unpredicted(table)}
    library = Library([papers.load("hpcf-2018-10")], only="4.1")
    beside = {}
    for case in plan.cases:
        settings = {**settings_of(case.as_dict()), "clock": "simulated"}
        measured = MeasuredCase(case.id, case.kernel, settings, (), ())
        if found := library.find(measured, "time_s", ("walltime_grid",)):
            assert case.params["variant"] == "textbook"
            beside[case.id] = found.value
    assert beside == {id: one.published for id, one in cells.items()}
    assert len(beside) == 150


def test_published_times_are_whole_seconds() -> None:
    steps = {one.cell.step for one in unpredicted(tables_of("hpcf-2018-10", ["4.1"])[0])}
    assert steps == {1.0}


def test_a_published_sum_is_the_case_of_its_topology_and_split() -> None:
    table = tables_of("orfeo-mpi-report", ["I"])[0]
    row = next(row for row in table.rows if (row["px"], row["split"]) == (8, "topology"))

    (one,) = [one for one in unpredicted(table) if one.cell.row == row]

    assert one.kernel == "sum3d" and (one.layout.nodes, one.layout.ppn) == (1, 24)
    expected = {"size": "2400x100x100", "topology": "8x3x1", "distribution": "topology"}
    assert expected.items() <= one.given.items()
    assert one.cell.published == pytest.approx((0.62446 + 0.630308) / 2)
    assert one.of({"times_s": [0.25]}) == 0.25


@pytest.mark.parametrize(("ranks", "nodes", "latency_s"), [(12, 1, 0.34e-6), (48, 2, 1.16e-6)])
def test_a_published_ring_latency_is_half_the_time_per_process(
    ranks: int, nodes: int, latency_s: float
) -> None:
    (table,) = tables_of("orfeo-mpi-report", ["eq1"])
    row = next(row for row in table.rows if row["ranks_to"] == ranks)

    (one,) = [one for one in unpredicted(table) if one.cell.row == row]

    assert table.facts["cluster_file"] == "orfeo-thin" and one.cell.published == latency_s
    assert (one.kernel, one.layout.nodes, one.layout.ranks) == ("ring", nodes, ranks)
    assert one.of({"times_s": [2e-6 * ranks]}) == pytest.approx(1e-6)


def test_steps_have_no_guess() -> None:
    table = tables_of("orfeo-mpi-report", ["I"])[0]
    cells = [one.cell for one in unpredicted(table)]

    assert {cell.kind for cell in cells} == {STEP}
    assert with_guesses(table, cells) == cells
