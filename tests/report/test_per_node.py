# SPDX-License-Identifier: BSD-3-Clause
"""The headline that says how many processes on each node solve a mesh fastest."""

from __future__ import annotations

from recorded import Raw, cases, poisson

from haloscope.report.context import Context
from haloscope.report.findings.per_node import find

SIMULATED: Raw = {"clock": "simulated", "simulation": {"cluster": "stampede2", "verified": False}}


def run(n: int, nodes: int, ppn: int, time_s: float, **more: object) -> Raw:
    raw = poisson(n, ranks=nodes * ppn, nodes=nodes, time_s=time_s, **more)  # type: ignore[arg-type]
    raw["layout"] |= {"ppn": ppn}
    return raw


def said(raws: list[Raw]) -> list[str]:
    return [finding.text for finding in find(cases(raws), Context())]


def test_each_mesh_has_its_fastest_number_on_few_nodes_and_on_many() -> None:
    times = {
        (64, 1): (4.0, 2.0, 1.0),
        (64, 2): (2.0, 0.9, 1.0),
        (128, 1): (16.0, 8.0, 4.0),
        (128, 2): (8.0, 4.0, 2.0),
    }
    raws = [
        run(n, nodes, ppn, time, **SIMULATED)
        for (n, nodes), own in times.items()
        for ppn, time in zip((1, 2, 4), own, strict=True)
    ]

    assert said(raws) == [
        "Fastest by processes per node, simulated on stampede2: N = 64 with 4 on 1 node and with 2 "
        "on 2 nodes; N = 128 with 4 on 1 and 2 nodes."
    ]


def test_those_that_are_as_fast_stand_beside_each_other() -> None:
    raws = [run(64, nodes, ppn, 1.0, **SIMULATED) for nodes in (1, 2) for ppn in (2, 4)]

    assert said(raws)[0].endswith(": N = 64 with 2 or 4 alike on 1 and 2 nodes.")


def test_of_several_settings_the_fastest_is_named() -> None:
    raws = [
        run(64, nodes, ppn, time / ppn, variant=variant, **SIMULATED)
        for variant, time in (("textbook", 2.0), ("fused", 1.0))
        for nodes in (1, 2)
        for ppn in (2, 4)
    ]

    assert said(raws) == [
        "Fastest by processes per node (fused), simulated on stampede2: N = 64 with 4 on 1 and 2 "
        "nodes."
    ]


def test_of_several_settings_the_one_with_the_largest_mesh_goes_before_a_faster_one() -> None:
    raws = [
        run(n, nodes, ppn, time / ppn, variant=variant, **SIMULATED)
        for variant, n, time in (("fused", 64, 1.0), ("textbook", 128, 9.0))
        for nodes in (1, 2)
        for ppn in (2, 4)
    ]

    assert said(raws) == [
        "Fastest by processes per node (textbook), simulated on stampede2: N = 128 with 4 on 1 and "
        "2 nodes."
    ]


def test_a_lowest_median_is_not_called_fastest_where_a_test_does_not_show_it() -> None:
    few = [run(64, nodes, ppn, 1.0 / ppn, launch=k)
           for nodes in (1, 2) for ppn in (2, 4) for k in range(2)]  # fmt: skip
    shown = [run(64, nodes, ppn, 1.0 / ppn + 1e-3 * k, launch=k)
             for nodes in (1, 2) for ppn in (2, 4) for k in range(7)]  # fmt: skip

    assert said(few) == [
        "Fastest by processes per node, medians of 2 launches: N = 64 with none that is shown to "
        "be (lowest median: 4) on 1 and 2 nodes."
    ]
    assert said(shown) == ["Fastest by processes per node: N = 64 with 4 on 1 and 2 nodes."]


def test_one_number_of_nodes_or_of_processes_on_each_asks_no_such_question() -> None:
    assert said([run(64, 1, ppn, 1.0) for ppn in (1, 2, 4)]) == []
    assert said([run(64, nodes, 4, 1.0) for nodes in (1, 2, 4)]) == []
    threads = [run(64, nodes, ppn, 1.0, threads=2) for nodes in (1, 2) for ppn in (1, 2)]
    assert said(threads) == []
