# SPDX-License-Identifier: BSD-3-Clause
"""The characterization map: few nodes or many, by the data of a task and the number of tasks."""

from __future__ import annotations

from typing import Any

import pytest
from found import found, ratio
from made import panels
from recorded import Raw, cases, poisson

from haloscope.analysis.context import Context
from haloscope.findings.finding import Verdict
from haloscope.topics import figures, tables
from haloscope.topics.mapping import characterization as topic
from haloscope.topics.mapping import loads, spreads


def run(n: int, tasks: int, nodes: int, time_s: float, **changes: Any) -> Raw:
    where = {"tasks": tasks, "bind": "spread", "mapping": changes.pop("mapping", "block")}
    clock = changes.pop("clock", "simulated")
    raw = poisson(n, time_s=time_s, ranks=tasks, nodes=nodes, layout=where, clock=clock, **changes)
    return {**raw, "case": f"{n}-{tasks}-{nodes}-{where['mapping']}"}


pytestmark = pytest.mark.usefixtures("exact")

RAWS = [
    *(run(256, 4, 1, 1.0), run(256, 4, 2, 1.5), run(256, 4, 4, 2.0)),
    *(run(1024, 4, 1, 8.0), run(1024, 4, 2, 5.0), run(1024, 4, 4, 4.0)),
    *(run(512, 16, 4, 1.0), run(512, 16, 16, 1.0005)),
    *(run(2048, 16, 4, 9.0, mapping="random"), run(2048, 16, 4, 8.0), run(2048, 16, 16, 6.0)),
]


def test_each_cell_of_the_map_has_the_winner_and_its_lead() -> None:
    (found_map,) = topic.maps(cases(RAWS))

    small, large = found_map.loads
    assert large / small == pytest.approx(16)
    assert found_map.tasks == [4, 16]
    assert {place: one.wins for place, one in found_map.choices.items()} == {
        (small, 4): topic.PACK,
        (small, 16): topic.NEITHER,
        (large, 4): topic.SPREAD,
        (large, 16): topic.SPREAD,
    }
    ratios = [one.ratio for one in found_map.choices.values()]
    assert ratios == pytest.approx([1 / 1.5, 1 / 1.0005, 2.0, 8 / 6])


def test_the_table_has_data_rows_and_the_cost_of_spreading() -> None:
    (table,) = tables.build("characterization", cases(RAWS), Context())

    rows = [dict(zip([c.key for c in table.columns], row, strict=True)) for row in table.rows]
    assert [row["tasks_4_ratio"].tone for row in rows] == ["", "good"]
    assert (rows[1]["tasks_4_packed_nodes"].value, rows[1]["tasks_4_spread_nodes"].value) == (1, 4)
    assert rows[1]["tasks_4_node_hours"].value == pytest.approx(2.0)
    assert [column.title for column in table.columns if not column.only_csv] == [
        *("data per task", "4 tasks", "16 tasks")
    ]


def test_the_figure_has_a_curve_per_load_and_the_ratio_error() -> None:
    (figure,) = figures.build("characterization", cases(RAWS), Context())

    (panel,) = panels(figure)
    assert [[mark.x for mark in one.marks] for one in panel.curves] == [[4, 16], [4, 16]]
    heights = [mark.y for one in panel.curves for mark in one.marks]
    assert heights == pytest.approx([1 / 1.5, 1 / 1.0005, 2.0, 8 / 6])
    assert [mark.band for one in panel.curves for mark in one.marks] == [1.0] * 4
    assert figures.build("characterization", cases(RAWS[:3]), Context()) == []


def test_measured_cells_are_distinguished_by_a_test() -> None:
    raws = [
        {**run(256, 4, nodes, time + 0.001 * k, clock="wall"), "launch": k}
        for nodes, time in ((1, 1.0), (4, 1.03))
        for k in range(8)
    ] + [run(1024, 4, nodes, 1.0, clock="wall") for nodes in (1, 4)]

    (found_map,) = topic.maps(cases(raws))

    assert [one.wins for one in found_map.choices.values()] == [topic.PACK, topic.NEITHER]


def test_the_finding_counts_cells_of_the_map() -> None:
    (one,) = found(topic.findings, RAWS)

    assert one.of == 4
    assert [(part.count, part.verdict) for part in one.parts] == [
        *((2, Verdict.FASTER), (1, Verdict.SLOWER), (1, Verdict.NO_DIFFERENCE))
    ]
    assert ratio(one.parts[0]) == pytest.approx(2.0)
    assert [*found(topic.findings, RAWS[:3])] == []


def test_loads_that_differ_only_by_halos_are_one() -> None:
    raws = [
        {**run(256, 4, nodes, 1.0), "memory": {**RAWS[0]["memory"], "predicted_bytes": 4 * load}}
        for nodes, load in ((1, 1000), (2, 1400), (3, 1600), (4, 2500))
    ]
    assert sorted(filter(None, loads(cases(raws)).values())) == [1000, 1000, 1600, 2500]


def test_different_loads_of_the_same_tasks_are_never_compared() -> None:
    found_loads = loads(own := cases(RAWS))

    parts = spreads(own)
    assert len(parts) == 2
    for part, of in parts:
        assert len({found_loads[case] for case in part.cases}) == 1
        assert sorted(one.tasks for one in of if one.name == "block") == [4, 16]
    assert len(spreads(cases([one for one in RAWS if one["params"]["n"] in (256, 512)]))) == 1
