# SPDX-License-Identifier: BSD-3-Clause
"""The same tasks on few nodes and on many: who is fastest, what papers have, weak scaling."""

from __future__ import annotations

from typing import Any

import pytest
from found import every, found, ratio, value
from noted import shows
from recorded import Raw, bad, poisson

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, FindingShape, Verdict
from haloscope.papers import tables as papers
from haloscope.topics.mapping import findings as topic

PAPER = papers.load("task-mapping-drop")
pytestmark = pytest.mark.usefixtures("exact")


def run(tasks: int, nodes: int, time_s: float, kernel: str = "", **layout: Any) -> Raw:
    where = {"tasks": tasks, "bind": "spread", **layout}
    raw = poisson(1024, time_s=time_s, ranks=tasks, nodes=nodes, layout=where, clock="simulated")
    return {**raw, "case": f"{raw['case']}-{where}-{kernel}", "kernel": kernel or raw["kernel"]}


RAWS = [
    run(8, 1, 1.0),
    run(8, 8, 0.5),
    run(8, 8, 0.8, mapping="random", mapping_seed=7),
    run(16, 2, 1.2),
    run(16, 4, 1.1),
    run(16, 16, 3.0),
]


def of(raws: list[Raw], host: str = "elsewhere", paper: bool = True) -> list[Finding]:
    own = PAPER if paper else None
    return found(topic.mappings, raws, paper=own, machine={"host": host})


def patterns(one: Finding) -> list[tuple[Any, ...]]:
    """By tasks: the first patterns, with nodes where these are one number, and who is behind."""
    return [
        (
            part.at,
            part.subject["pattern"],
            part.subject.get("nodes"),
            part.reference.get("pattern"),
            part.reference.get("nodes"),
        )
        for part in one.parts
    ]


def test_the_fastest_mapping_is_named_with_the_slowdown_of_others() -> None:
    nodes, ranks, _ = of(RAWS)

    assert patterns(nodes) == [
        ((8,), "distributed", 8, "concentrated", 1),
        ((16,), "intermediate", 4, "concentrated", 2),
    ]
    assert [ratio(part) for part in nodes.parts] == pytest.approx([2.0, 1.2 / 1.1])
    (part,) = ranks.parts
    assert (part.subject, part.reference) == (
        {"mapping": "block"},
        {"mapping": "random", "mapping_seed": 7},
    )
    assert ratio(part) == pytest.approx(1.6)


def test_a_faster_layout_on_other_nodes_states_the_node_hours_of_both() -> None:
    nodes, ranks, _ = of(RAWS)

    costs = [part.node_hours for part in nodes.parts]
    assert [one and one.median for one in costs] == pytest.approx([1.0 / 4.0, 2.4 / 4.4])
    assert ranks.parts[0].node_hours is None  # on as many nodes
    (slow, _) = of([run(8, 2, 1.0), run(8, 4, 0.4), run(8, 2, 2.0, mapping="round_robin")])
    assert slow.parts[0].node_hours and slow.parts[0].node_hours.median == pytest.approx(2.0 / 1.6)


def test_the_pareto_front_uses_the_most_tasks_with_a_choice() -> None:
    *_, front = of(RAWS)

    assert front.common["tasks"] == 16
    assert [(one.subject, value(one)) for one in front.parts] == [
        ({"nodes": 4}, 1.1),
        ({"nodes": 2}, 1.2),
    ]
    assert [one.node_s for one in front.parts] == pytest.approx([4.4, 2.4])
    *_, front = of([*RAWS[:3], run(8, 4, 0.6, mapping="random", mapping_seed=7)])
    assert [one.subject for one in front.parts] == [
        {"nodes": 8, "mapping": "block"},
        {"nodes": 4, "mapping": "random", "mapping_seed": 7},
        {"nodes": 1},
    ]


def test_task_counts_with_the_same_winner_are_merged() -> None:
    raws = [
        run(tasks, nodes, time)
        for tasks in (8, 16, 32)
        for nodes, time in ((1, 1.0), (tasks, 1 + tasks))
    ]

    (one,) = of(raws)

    assert patterns(one) == [((8, 16, 32), "concentrated", 1, "distributed", None)]
    assert one.parts[0].ratio and (one.parts[0].ratio.least, one.parts[0].ratio.most) == (9.0, 33.0)


def test_patterns_are_named_even_for_failed_runs() -> None:
    raws = [
        *(run(8, 1, 1.0), run(8, 4, 0.7), run(8, 8, 0.8)),
        *(run(16, 2, 1.0), run(16, 4, 0.7), bad(run(16, 16, 9.0), "timeout", "too long")),
        *(run(32, 4, 1.0), bad(run(32, 8, 9.0), "timeout", "too long"), run(32, 16, 2.0)),
        *(run(64, 4, 1.0), run(64, 16, 3.0), bad(run(64, 64, 9.0), "timeout", "too long")),
    ]

    (one, _) = of(raws)

    assert [(at, first, behind) for at, first, _, behind, _ in patterns(one)] == [
        ((8, 16), "intermediate", "concentrated"),
        ((32,), "concentrated", "distributed"),
        ((64,), "concentrated", "intermediate"),
    ]


def test_simulated_times_within_0_1_percent_are_equal() -> None:
    raws = [run(8, 2, 1.0), run(8, 2, 1.0005, mapping="round_robin"), run(8, 8, 1.0002)]

    nodes, ranks = of(raws)

    assert [part.verdict for part in (*nodes.parts, *ranks.parts)] == [Verdict.EQUAL] * 2
    assert [part.also for part in ranks.parts] == [({"mapping": "round_robin"},)]
    (apart,) = of([*raws[:2], run(8, 2, 1.1, mapping="random", mapping_seed=1)])
    assert apart.parts[0].reference == {"mapping": "random", "mapping_seed": 1}
    assert ratio(apart.parts[0]) == pytest.approx(1.1)


def test_measured_times_of_one_launch_are_undecided() -> None:
    raws = [{**run(8, nodes, time), "clock": "wall"} for nodes, time in ((1, 1.0), (8, 1.1))]

    (one,) = of(raws)

    assert one.parts[0].verdict is Verdict.UNDECIDED


def test_ranks_that_fill_one_socket_first_are_a_caveat() -> None:
    close, spread = (
        of([run(8, 1, 1.0, bind=bind), run(8, 8, 0.5, bind=bind)])[0]
        for bind in ("close", "spread")
    )

    assert Caveat.ONE_SOCKET in close.caveats and Caveat.ONE_SOCKET not in spread.caveats


def test_task_counts_have_no_layout_finding() -> None:
    assert not [one for one in every(RAWS) if one.topic == "walltime"]


def published(raws: list[Raw], host: str = "eagle") -> dict[str, Verdict | None]:
    """What the paper has, by its text."""
    return {
        part.published[0].text: part.verdict
        for one in of(raws, host)
        if one.shape is FindingShape.PUBLISHED
        for part in one.parts
    }


def test_published_results_for_other_task_counts_count_if_they_disagree() -> None:
    raws = [run(16, nodes, time) for nodes, time in ((1, 2.0), (16, 1.0))]

    ((name, verdict),) = published(raws).items()
    assert shows(name, "minife, 2048 tasks, ", "concentrated", " 250 %")
    assert verdict is Verdict.DISAGREES
    assert published(raws, "lark") == {}


def test_published_results_for_the_same_task_count_count_if_they_agree_too() -> None:
    raws = [run(16, nodes, time, "fft_pencil") for nodes, time in ((1, 3.0), (16, 1.0))]

    own = published(raws)

    (alike,) = (text for text, verdict in own.items() if verdict is Verdict.AGREES)
    assert alike.startswith("bigfft, 16 tasks")
    assert any(text.startswith("bigfft, 2048 tasks") for text in own)


def test_tasks_slower_here_but_faster_in_the_paper_disagree() -> None:
    slow = [run(512, nodes, time, "fft_pencil") for nodes, time in ((32, 2.0), (256, 1.0))]
    alike = [
        run(tasks, nodes, time, "fft_pencil")
        for tasks, times in ((256, (2.0, 1.0)), (512, (1.0, 2.0)))
        for nodes, time in zip((16, tasks), times, strict=True)
    ]

    assert Verdict.DISAGREES in published(slow).values()
    assert any("more than 256 tasks" in text for text in published(slow))
    assert Verdict.DISAGREES not in published(alike).values()


@pytest.mark.parametrize(
    ("kernel", "paper", "stands"),
    [("fft_pencil", True, True), ("jacobi3d", True, True), ("lammps_rhodo", True, False),
     ("fft_pencil", False, False)],
)  # fmt: skip
def test_kernels_that_represent_published_programs_are_a_caveat(
    kernel: str, paper: bool, stands: bool
) -> None:
    raws = [{**raw, "kernel": kernel, "case": f"{raw['case']}-{kernel}"} for raw in RAWS]

    (one, *_) = of(raws, "eagle", paper)

    assert (Caveat.STAND_IN in one.caveats) == stands


def test_weak_scaling_uses_the_most_tasks_timed_in_every_pattern() -> None:
    raws = [
        *(run(8, 1, 2.0), run(64, 4, 2.2), run(64, 32, 2.6), run(64, 64, 3.0)),
        bad(run(128, 60, 9.0), "timeout", "too long"),
    ]

    (one,) = found(topic.weak, raws)

    assert [(p.subject["pattern"], p.subject["nodes"]) for p in one.parts] == [
        ("concentrated", 4),
        ("intermediate", 32),
        ("distributed", 64),
    ]
    assert [1 / ratio(p) for p in one.parts] == pytest.approx([1.1, 1.3, 1.5])
    assert {(p.reference["tasks"], p.reference["nodes"]) for p in one.parts} == {(8, 1)}
    assert found(topic.weak, raws[1:]) == []
