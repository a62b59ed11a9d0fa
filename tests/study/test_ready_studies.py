# SPDX-License-Identifier: BSD-3-Clause
"""The studies that come with haloscope, as the real halobench plans them in a large place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from kernel_programs import halobench

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.analysis.comparison import launches_needed
from haloscope.analysis.facets import facets
from haloscope.host.machine import PLACEMENTS
from haloscope.papers import tables as papers
from haloscope.records.kernels import declared
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.prepare.workbench import Workbench
from haloscope.study import file as study_file
from haloscope.study.checks.capacity import Site
from haloscope.study.checks.suited import empty, unsuited
from haloscope.study.expansion import expand
from haloscope.study.schema import FigureElement, Study, TableElement
from haloscope.study.settings import settings_of
from haloscope.toolchains.simgrid import SIMGRID
from haloscope.topics.contrast import (
    BINDINGS,
    EXCHANGES,
    FACES,
    LINES,
    OPERATORS,
    OVERLAPS,
    TRANSPOSES,
    VARIANTS,
    groups,
)

LARGE = Site(
    nodes=2, cores=24, hardware_threads=48, memory_bytes=2**40, placements=tuple(PLACEMENTS)
)

OF_HALOBENCH = [
    path
    for path in study_file.ready()
    if all(run.kernel in declared() for run in study_file.load(path).runs)
]
"""The ready studies whose kernels halobench itself has: of external programs it knows nothing."""


def elements(path: Path) -> list[TableElement | FigureElement]:
    """A study's tables and figures that choose among its cases."""
    study = study_file.load(path)
    return [one for one in (*(study.tables or ()), *(study.figures or ())) if one.where]


@cache
def planned(path: Path) -> Sequence[MeasuredCase]:
    """A study's cases as a report of it would find them, before any was launched."""
    plan = expand(study_file.load(path), LARGE, halobench())
    assert not plan.problems
    return [
        MeasuredCase(case.id, case.kernel, settings_of(case.as_dict()), (), ())
        for case in plan.cases
    ]


@pytest.mark.parametrize(
    "path", [path for path in study_file.ready() if elements(path)], ids=lambda path: path.stem
)
def test_tables_and_figures_select_existing_cases(path: Path) -> None:
    cases = planned(path)
    assert [one.where for one in elements(path) if not select(cases, one.where)] == []


@pytest.mark.parametrize("path", OF_HALOBENCH, ids=lambda path: path.stem)
def test_every_table_and_figure_has_suitable_cases(path: Path) -> None:
    study = study_file.load(path)
    planned(path)
    plan = expand(study, LARGE, halobench())

    assert [*unsuited(study, path.name), *empty(study, plan.cases)] == []


def test_the_jacobi_roofline_has_each_variant_on_one_and_two_cores() -> None:
    (path,) = (path for path in study_file.ready() if path.stem == "jacobi")
    (figure,) = (one for one in elements(path) if one.kind == "roofline")
    found = [
        (case.settings["variant"], case.settings["L"], case.cores)
        for case in select(planned(path), figure.where)
        if case.kernel == "jacobi3d"
    ]
    variants = ("plain", "streaming", "temporal")
    assert sorted(found) == sorted(
        [*((name, 400, cores) for name in variants for cores in (1, 2)), ("plain", 60, 1)]
    )


OF_WAYS = (EXCHANGES, FACES, OVERLAPS, TRANSPOSES, LINES, OPERATORS, BINDINGS, VARIANTS)
SIZES = {"pingpong-libraries": 25, "sf-latency": 20, "sf-device": 20}
"""How many sizes each message has in the studies that set messages against each other."""


IN_SHORT = ("quick", "poisson-convergence")
"""Studies that are to take no longer than they do, and that ask for other things than a ratio."""


def comparisons(path: Path) -> Iterator[list[MeasuredCase]]:
    """Each family of tests of a study's headlines: for each test a case that is tested."""
    cases = planned(path)
    for ways in OF_WAYS:
        yield [one.second.case for _, found in groups(cases, 0, ways) for one in found]
    sums = facets([case for case in cases if case.kernel == "sum3d"], ("topology", "distribution"))
    yield [case for part in sums for case in part.cases[1:]]
    messages = "pingpong" if path.stem == "pingpong-libraries" else "sf_pingpong"
    yield SIZES.get(path.stem, 0) * [case for case in cases if case.kernel == messages]
    yield [case for case in cases if case.settings.get("n") == 2048][1:] * (
        path.stem == "poisson-hybrid"
    )


@pytest.mark.parametrize(
    "path",
    [path for path in OF_HALOBENCH if path.stem not in IN_SHORT],
    ids=lambda path: path.stem,
)
def test_every_study_has_enough_launches_for_its_comparisons(path: Path) -> None:
    """Else its headlines could say nothing but that launches are too few, whatever it measured."""
    planned(path)
    plan = expand(study_file.load(path), LARGE, halobench())
    launches = {case.id: case.launches for case in plan.cases}

    for family in filter(None, comparisons(path)):
        assert min(launches[case.id] for case in family) >= launches_needed(len(family))


@pytest.mark.parametrize("path", study_file.ready(), ids=lambda path: path.stem)
def test_ranks_that_leave_cores_free_are_spread_over_the_sockets(path: Path) -> None:
    """Or bound in both ways: side by side they would fill one socket's memory before the next.

    Those that work in the memory of devices do not fill the host's.
    """
    runs = study_file.load(path).runs
    layouts = [run.layout for run in runs if run.params.get("memory") != ["device"]]
    full = (None, [1], ["cores"])
    shared = [
        layout
        for layout in layouts
        if layout.tasks or (layout.nodes != [1] and layout.ppn not in full and not layout.cores)
    ]

    assert [layout for layout in shared if "spread" not in layout.bind] == []


TASKS_AND_NODES = {
    "1": ("task-mapping-lammps", "md_pppm", ("stampede", "helios", "eagle")),
    "2": ("task-mapping-minife", "fe_heat", ("stampede", "helios", "eagle")),
    "3": ("task-mapping-bigfft", "fft_pencil", ("stampede", "eagle")),
}
"""The tables of the task-mapping paper that say what was run: the study, what stands for the
program, and where."""


@pytest.mark.parametrize(
    ("table", "cluster"),
    [(table, name) for table, (_, _, names) in TASKS_AND_NODES.items() for name in names],
)
def test_every_row_of_the_task_mapping_paper_is_planned_on_its_clusters(
    table: str, cluster: str
) -> None:
    """But not 1000 tasks on 50 nodes of 16 cores: at most one task per core."""
    study, kernel, _ = TASKS_AND_NODES[table]
    of_paper = papers.load("task-mapping-drop").tables
    (published,) = (one for one in of_paper.values() if one.id == table)
    (references,) = (one for one in of_paper.values() if one.id == "5")
    nodes = "nodes_stampede" if (table, cluster) == ("2", "stampede") else "nodes"
    rows = {(int(str(row["ranks"])), int(str(row[nodes]))): size_of(row) for row in published.rows}
    too_full = {(1000, 50)} if (table, cluster) in {("1", "stampede"), ("1", "helios")} else set()

    there = on_cluster(study, kernel, cluster)
    assert {key: there.get(key) for key in rows if key not in too_full} == {
        key: size for key, size in rows.items() if key not in too_full
    }
    assert not too_full & {*there}
    assert {(ranks, -(-ranks // 16)) for ranks, _ in too_full} <= {*there}
    assert {
        (row["ranks"], 1) for row in references.rows if row["kernel"] == published.facts["kernel"]
    } <= {*there}


def test_figure_8_and_table_6_of_the_task_mapping_paper_are_planned() -> None:
    tasks = [2**power for power in range(4, 12)]
    assert {*on_cluster("task-mapping-cab", "fe_heat", "cab")} == {
        (ranks, ranks // ppn) for ranks in tasks for ppn in (2, 16)
    }
    tables = papers.load("task-mapping-drop").tables
    (published,) = (one for one in tables.values() if one.id == "6")
    rows = {(row["ranks"], row["nodes"]) for row in published.rows}
    assert rows <= {*on_cluster("task-mapping-bigfft", "fft_pencil", "eagle")}


def size_of(row: Mapping[str, object]) -> str:
    """What a published program of so many tasks works on, as the kernel has it."""
    if "bins" in row:
        return "ranks"  # a copy each
    if "n" in row:
        return f"{row['n']}x{row['n']}x{row['n']}"
    grid = f"{row['pencil_rows']}x{row['pencil_columns']}"
    return f"{row['nz']}x{row['ny']}x{row['nx']}, {grid}"


def on_cluster(study: str, kernel: str, cluster: str) -> dict[tuple[int, int], str]:
    """The sizes that a study has for a kernel on a simulated cluster, by tasks and nodes."""
    (path,) = (path for path in study_file.ready() if path.stem == study)
    read = study_file.load(path)
    runs = [run for run in read.runs if run.kernel == kernel]
    bench = Workbench({}, (SIMGRID,), ())
    site = SimulatedCluster.named(cluster).site(bench, oversubscribe=False)
    plan = expand(read.model_copy(update={"runs": runs}), site, halobench())
    assert not plan.problems
    found = {}
    for case in plan.cases:
        params = case.params
        sizes = (params.get("copies") or params["size"], params.get("topology"))
        found[case.layout.ranks, case.layout.nodes] = ", ".join(str(one) for one in sizes if one)
    return found


def network() -> Study:
    (path,) = (path for path in study_file.ready() if path.stem == "network")
    return study_file.load(path)


def test_the_network_is_measured_per_level_with_memory_as_a_control() -> None:
    site = SimulatedCluster.named("eagle").site(Workbench({}, (SIMGRID,), ()), oversubscribe=False)

    plan = expand(network(), site, halobench())

    assert not plan.problems and not any(case.absent for case in plan.cases)
    own = {(case.kernel, case.layout.nodes, case.layout.allocation) for case in plan.cases}
    assert {one for one in own if one[0] == "pingpong"} == {
        ("pingpong", 1, "best_fit"),
        *(("pingpong", 2, how) for how in ("best_fit", "by_switch", "by_pod")),
    }
    for kernel in ("ring", "collectives"):
        assert {nodes for name, nodes, _ in own if name == kernel} == {2, 4, 8}
    assert ("stream", 1, "best_fit") in own


def test_the_network_study_is_refused_on_one_node_with_a_remedy() -> None:
    alone = Site(nodes=1, cores=2, hardware_threads=2, memory_bytes=2**34)

    (problem, *others) = expand(network(), alone, halobench()).problems

    assert not others
    assert problem.where.endswith("layout.nodes") and "--on SITE" in problem.remedy
