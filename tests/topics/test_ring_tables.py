# SPDX-License-Identifier: BSD-3-Clause
"""The ring: its straight pieces, and where its ranks lay."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from found import found, value
from made import build, column, draw, panels
from noted import noted, shows
from recorded import MACHINE, Raw, cases, changed, ring

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.fits import ring_levels, widest
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding, Verdict
from haloscope.papers import tables as papers
from haloscope.topics.common.table import Table
from haloscope.topics.ring import ring as topic

REPORT = "orfeo-mpi-report"


def of_ring(ranks: int, launch: int, *, message_s: float = 0.4e-6) -> Raw:
    cycle = 2 * ranks * message_s * (1 + 0.01 * (launch % 3))
    return ring(cycle, ranks=ranks, launch=launch)


def test_the_latency_of_a_ring_level_is_half_its_slope() -> None:
    four = {"core": ["0", "1", "2", "3"], "cache": ["0-3"]}
    raws = [
        changed(of_ring(ranks, k), machine={**MACHINE, "topology": four})
        for ranks in (1, 2, 3, 4)
        for k in range(6)
    ]

    cycles, latencies = build("ring", raws, REPORT)

    assert [cell.value for cell in column(cycles, "ranks")] == [1, 2, 3, 4]
    assert column(cycles, "message_s")[1].value == pytest.approx(0.404e-6)
    assert [cell.value for cell in column(latencies, "level")] == ["same-cache"]
    assert column(latencies, "latency_s")[0].value == pytest.approx(0.4e-6, rel=0.05)
    assert any("inter node 1.16 µs (THIN)" in note for note in latencies.notes)
    (figure,) = draw("ring", raws)
    assert [curve.model for curve in panels(figure)[0].curves] == [False, True]


# Two sockets of two cores of two hardware threads; the caches are the sockets'.
TWO_SOCKETS = {
    "core": ["0,4", "1,5", "2,6", "3,7"],
    "cache": ["0,2,4,6", "1,3,5,7"],
    "socket": ["0,2,4,6", "1,3,5,7"],
}


def case_on(cpus: list[int], hosts: str = "", **layout: Any) -> MeasuredCase:
    """A ring whose ranks run on these processors, of these hosts (one letter a rank)."""
    seen = [
        {"rank": rank, "host": host, "cpus": [cpu], "thread_cpus": [[cpu]]}
        for rank, (cpu, host) in enumerate(zip(cpus, hosts or "a" * len(cpus), strict=True))
    ]
    raw = changed(of_ring(len(cpus), 0), machine={**MACHINE, "topology": TWO_SOCKETS})
    raw["layout"] |= {"seen": seen, **layout}
    return cases([raw])[0]


@pytest.mark.parametrize(
    ("cpus", "hosts", "far"),
    [
        ([0], "", None),
        ([0, 4], "", "same-core"),
        ([0, 2], "", "same-cache"),
        ([0, 1], "", "other-socket"),
        ([0, 2, 1, 3], "", "other-socket"),
        ([0, 4, 2, 6], "", "same-cache, cores shared"),
        ([0, 2, 0, 2], "aabb", "other-node"),
        ([0, 4, 0], "aab", "other-node, cores shared"),
        ([0, 0], "", "oversubscribed"),
    ],
)
def test_the_level_of_a_ring_follows_from_the_actual_placement(
    cpus: list[int], hosts: str, far: str | None
) -> None:
    assert widest(case_on(cpus, hosts)) == far


def test_requested_oversubscription_is_kept_and_unknown_is_unknown() -> None:
    assert widest(case_on([0, 2], oversubscribed=True)) == "oversubscribed"
    assert widest(case_on([0, 2], seen=[])) is None
    unknown = changed(of_ring(2, 0), machine={"cores": 2})
    assert widest(cases([unknown])[0]) == "same-node"


def simulated(ranks: int, *, cores: int = 4, **layout: Any) -> Raw:
    machine = {"cores": cores, "sockets": 2, "threads_per_core": 2}
    raw = changed(of_ring(ranks, 0), clock="simulated", machine=machine)
    raw["layout"] |= {"ppn": ranks, "seen": [], **layout}
    return raw


@pytest.mark.parametrize(
    ("ranks", "layout", "far"),
    [
        (2, {}, "same-socket"),
        (3, {}, "other-socket"),
        (2, {"bind": "spread"}, "other-socket"),
        (2, {"threads": 2}, "other-socket"),
        (4, {"places": "threads"}, "same-socket"),
        (5, {"places": "threads"}, "other-socket"),
        (4, {"cores": 0}, "same-node"),
        (4, {"nodes": 2, "ppn": 2}, "other-node"),
    ],
)
def test_simulated_ranks_are_placed_as_requested(
    ranks: int, layout: dict[str, Any], far: str
) -> None:
    assert widest(cases([simulated(ranks, **layout)])[0]) == far


def test_a_simulated_ring_has_lines_within_and_beyond_the_socket() -> None:
    raws = [simulated(ranks, cores=8) for ranks in range(1, 9)]
    for raw, ranks in zip(raws, range(1, 9), strict=True):
        raw["times_s"] = [2 * ranks * (0.2e-6 if ranks < 5 else 0.4e-6) - 3e-17]

    cycles, latencies = build("ring", raws)

    (figure,) = draw("ring", raws)
    assert panels(figure)[0].curves[0].label == "simulated"
    assert [cell.value for cell in column(latencies, "level")] == ["same-socket", "other-socket"]
    assert [cell.text for cell in column(latencies, "latency_s")] == ["200 ns", "400 ns"]
    assert [cell.text for cell in column(latencies, "intercept_s")] == ["0 ns", "0 ns"]
    assert any("(as requested)" in note for note in latencies.notes)
    assert not [note for note in cycles.notes + latencies.notes if "the line gives" in note]


def test_a_simulated_ring_is_compared_with_its_own_published_cluster() -> None:
    """Level by level, in as many processes; a warning where that is far off."""
    paper = papers.load(REPORT)

    def of(cluster: str, scale: float = 1.0) -> tuple[Table, Finding]:
        raws = [simulated(ranks, cores=8) for ranks in range(2, 9)]
        for raw in raws:
            ranks = raw["layout"]["ranks"]
            raw["simulation"] = {"cluster": cluster, "verified": False}
            raw["times_s"] = [scale * 2 * ranks * (0.2e-6 if ranks < 5 else 0.4e-6)]
        _, latencies = build("ring", raws, REPORT)
        _, levels = found(topic, raws, paper=paper)
        return latencies, levels

    thin, said = of("orfeo-thin")
    assert [cell.published for cell in column(thin, "latency_s")] == ["0.34 µs", ""]
    assert not any("GPU" in note for note in thin.notes)
    levels = [part.subject["level"] for part in said.parts]
    assert levels == ["within a socket", "between sockets"]
    assert [value(part) for part in said.parts] == pytest.approx([200e-9, 400e-9])
    assert [one.text for one in said.parts[0].published] == ["0.34 µs"]
    assert said.parts[0].verdict is Verdict.DISAGREES
    assert of("orfeo-thin", 1.7)[1].parts[0].verdict is Verdict.AGREES
    elsewhere, said = of("stampede2")
    assert noted(elsewhere, " ORFEO (orfeo-mpi-report")
    assert not any(part.published for part in said.parts)


def test_replicate_latencies_have_an_interval_despite_a_single_process_point() -> None:
    """Replicates differ; one process that was simulated once is like any launch of it."""
    simulation = {"cluster": "orfeo-thin", "verified": False}
    alone = changed(simulated(1, cores=8), simulation=simulation, times_s=[0.0])
    drawn = [
        changed(
            simulated(ranks, cores=8),
            launch=k,
            simulation={**simulation, "spread": {"node": 0.01}, "replicate": k},
            times_s=[2 * ranks * 0.2e-6 * (1 + 0.01 * k)],
        )
        for ranks in (2, 3, 4)
        for k in range(7)
    ]

    _, levels = found(topic, [alone, *drawn])

    assert levels.parts[0].subject == {"level": "within a socket"}
    assert levels.parts[0].estimate and levels.parts[0].estimate.confidence
    assert Caveat.REPLICATES in levels.caveats


def test_ring_levels_are_contiguous() -> None:
    found = ring_levels([case_on([0, 2, 4, 6, 1, 3, 5, 7][:ranks]) for ranks in (1, 2, 3, 4, 5, 8)])
    assert [(level.name, level.first_ranks, level.last_ranks) for level in found] == [
        ("same-cache", 2, 2),
        ("same-cache, cores shared", 3, 4),
        ("other-socket, cores shared", 5, 8),
    ]
    assert ring_levels([case_on([0])]) == []


def test_one_rank_count_gives_no_latency() -> None:
    (alone,) = build("ring", [of_ring(2, 0)])
    assert alone.id == "ring"
    assert noted(alone, " latency ", "one number ")


def test_a_single_simulated_rank_takes_no_time_and_is_not_fitted() -> None:
    raws = [of_ring(ranks, 0) for ranks in (2, 3, 4)]
    alone = changed(of_ring(1, 0), times_s=[0.0])

    cycles, _ = build("ring", [alone, *raws])
    (figure,) = draw("ring", [alone, *raws])

    assert [row[0].value for row in cycles.rows] == [1, 2, 3, 4]
    assert figure.panels


def test_few_ring_launches_have_a_range_and_the_common_median() -> None:
    raws = [of_ring(ranks, k) for ranks in (2, 3, 4) for k in range(3)]
    raws[2]["times_s"] = [10 * time for time in raws[2]["times_s"]]

    cycles, *_ = build("ring", raws)
    (all_cases,) = build("summary", raws)

    (two, *_) = column(cycles, "cycle_s")
    assert two.value == column(all_cases, "time_s")[0].value == raws[1]["times_s"][0]
    assert (two.low, two.high) == (raws[0]["times_s"][0], raws[2]["times_s"][0])
    assert noted(cycles, "a … b: ")
    assert two.spread == "1.60 … 16.3"


def test_an_impossible_ring_fit_is_reported_everywhere() -> None:
    """Messages that take longer the more ranks there are."""
    raws = [of_ring(ranks, 0, message_s=1e-6 * ranks**2) for ranks in (2, 3, 4)]

    _, latencies = build("ring", raws)
    (figure,) = draw("ring", raws)
    _, levels = found(topic, raws)

    for item in (latencies, figure):
        assert noted(item, "other-socket: ", " −168 µs for 0 ranks")
    assert Caveat.DOUBTFUL_FIT in levels.caveats


def test_process_labels_fit_on_a_linear_axis() -> None:
    raws = [of_ring(ranks, 0) for ranks in (1, 2, 3, 4, 6, 8, 12, 16, 24, 25, 32, 47, 48)]

    (figure,) = draw("ring", raws)

    (panel,) = panels(figure)
    named = [value for value, word in panel.x.ticks if word]
    assert {1, 16, 48} >= {named[0], named[-1]}
    assert min(later - sooner for sooner, later in pairwise(named)) >= 47 / 16


@pytest.mark.parametrize(("message_s", "unit"), [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms")])
def test_the_axis_of_cycle_times_uses_a_suitable_unit(message_s: float, unit: str) -> None:
    raws = [of_ring(ranks, k, message_s=message_s) for ranks in (2, 3, 4) for k in range(3)]

    (panel,) = panels(draw("ring", raws)[0])

    assert panel.y.label == f"cycle ({unit})"
    measured, line = panel.curves
    assert measured.marks[-1].y == pytest.approx(8.08) and line.marks[-1].y == pytest.approx(8.08)


def test_bars_of_one_and_of_several_launches_are_distinguished() -> None:
    raws = [of_ring(ranks, k) for ranks in (2, 3) for k in range(3)]
    alone = {**of_ring(4, 0), "times_s": [1e-6, 2e-6, 3e-6]}

    (several,), (both,) = (
        draw("ring", [*raws, of_ring(4, 0), of_ring(4, 1)]),
        draw("ring", [*raws, alone]),
    )

    assert shows(several.notes[0], "Bars show ", "over launches")
    assert both.notes[0].endswith("over its repetitions.")
