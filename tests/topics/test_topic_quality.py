# SPDX-License-Identifier: BSD-3-Clause
"""What the other findings are worth: each warning where it holds, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from found import SIMULATED, every, found
from recorded import (
    MACHINE,
    Raw,
    bad,
    fft,
    on_device,
    pingpong,
    poisson,
    star_forest,
    stream,
)

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Prominence
from haloscope.papers.validated import validated
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged, quality


def caveats(raws: list[Raw], **context: Any) -> set[Caveat]:
    """What a report warns of."""
    return {one.caveats[0] for one in every(raws, **context) if one.severity is Prominence.WARNING}


@pytest.mark.parametrize(
    ("raws", "counts", "planned"),
    [
        ([bad(poisson(64), "failed", "killed"), bad(stream(), "timeout", "late")],
         {"failed": 1, "timed out": 1}, 2),
        ([bad(poisson(64), "failed", "killed"), poisson(64, launch=1)],
         {"failed": 1}, 2),
    ],
)  # fmt: skip
def test_launches_in_no_table_are_counted_by_outcome(
    raws: list[Raw], counts: dict[str, int], planned: int
) -> None:
    (one,) = found(quality.incomplete, raws)

    total, *parts = one.parts
    assert {part.subject["outcome"]: part.count for part in parts} == counts
    assert (total.subject, one.of) == ({"launches": sum(counts.values())}, planned)
    assert one.caveats == (Caveat.INCOMPLETE,)


def test_unsupported_cases_are_not_reported_missing() -> None:
    assert found(quality.incomplete, [poisson(64), bad(stream(), "absent", "no GPU")]) == []


@pytest.mark.parametrize(
    ("raws", "caveat", "number"),
    [
        ([poisson(64, ranks=4, layout={"oversubscribed": True}), poisson(128)],
         Caveat.OVERSUBSCRIBED, 1),
        ([star_forest("sf_unpack"), on_device("sf_unpack")], Caveat.EMULATED, 1),
        ([on_device("sf_unpack"), on_device("sf_pingpong")], Caveat.EMULATED, 2),
    ],
)  # fmt: skip
def test_marked_cases_cause_a_warning(raws: list[Raw], caveat: Caveat, number: int) -> None:
    (one,) = found(quality.marked, raws)

    assert one.caveats == (caveat,) and len(one.cases) == number
    assert (one.parts[0].subject, one.of) == ({"cases": number}, 2)
    assert found(quality.marked, [poisson(64)]) == []


def test_simulations_state_the_errors_published_tables_give_for_their_kernel() -> None:
    raws = [poisson(1024, variant="textbook", **SIMULATED), poisson(64, **SIMULATED)]

    (known,) = found(quality.simulation, raws)

    tables = [v for v in validated() if (v.cluster, v.kernel) == ("stampede2", "poisson_cg")]
    (part,) = known.parts
    assert len(tables) > 4 and {one.paper for one in tables} == {"hpcf-2018-10"}
    assert part.share == max(one.median for one in tables)
    assert part.published[0].value == max(one.worst for one in tables)
    assert found(quality.simulation, [poisson(64)]) == []


def test_a_cluster_without_published_tables_has_no_errors() -> None:
    simulation = {**SIMULATED["simulation"], "cluster": "cab"}

    assert found(quality.simulation, [poisson(64, clock="simulated", simulation=simulation)]) == []


def test_replicates_cause_a_warning() -> None:
    drawn = {**SIMULATED["simulation"], "spread": {"nodes": 0.01, "phases": 0.0, "seed": 3}}
    raws = [poisson(64, launch=k, clock="simulated", simulation=drawn) for k in range(2)]

    first, _ = found(quality.simulation, [*raws, poisson(128, **SIMULATED)])

    assert first.caveats == (Caveat.REPLICATES,)
    assert (first.parts[0].subject, first.of) == ({"simulated cases": 1}, 2)


def test_errors_of_relative_times_name_their_reference() -> None:
    raw = {**fft(), **SIMULATED, "simulation": {**SIMULATED["simulation"], "cluster": "eagle"}}

    (known,) = found(quality.simulation, [raw])

    assert known.parts[0].subject["relative_to"] == "other nodes"


HYBRID = {"machine": {"topology": {**MACHINE["topology"], "kind": ["0-3", "4-7"]}}}


def seen(*cpus: list[int]) -> dict[str, Any]:
    """A launch on a machine of two kinds of cores, whose ranks were bound to these."""
    ranks = [
        {"rank": rank, "host": "lark", "cpus": own, "thread_cpus": [own]}
        for rank, own in enumerate(cpus)
    ]
    return {"layout": {"seen": ranks}, **HYBRID}


@pytest.mark.parametrize(
    ("more", "number"),
    [(seen([0], [1]), 0), (seen([3], [4]), 1), (seen([5], [6]), 0), ({}, 0)],
)
def test_ranks_on_two_core_types_cause_a_warning(more: dict[str, Any], number: int) -> None:
    assert len(found(quality.core_kinds, [poisson(64, **more)])) == number


def test_a_busy_machine_and_uneven_launches_come_first() -> None:
    raws = [poisson(64, launch=k, time_s=time) for k, time in enumerate((1.0, 1.2, 1.4))]

    busy, uneven, *_ = every(raws, machine={**MACHINE, "busy_processors": 1.23})

    assert [one.caveats for one in (busy, uneven)] == [(Caveat.BUSY,), (Caveat.UNSTEADY,)]
    assert busy.parts[0].estimate and busy.parts[0].estimate.value == 1.23
    assert (uneven.parts[0].subject, uneven.of) == ({"cases": 1}, 1)
    assert found(quality.disturbed, raws[:2]) == []


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"toolchain": {"mpi": "MPICH 5"}}, "MPI library"),
        ({"machine": {"host": "owl", "cores": 2}}, "host"),
    ],
)
def test_launches_with_one_name_and_different_conditions_cause_a_warning(
    change: dict[str, Any], differs: str
) -> None:
    (one,) = found(quality.mixed, [poisson(64), poisson(64, launch=1, **change)])

    assert one.caveats == (Caveat.MIXED,)
    values = {name: len(part.also) for part in one.parts for name in part.subject}
    assert values[differs] == 1


def test_launches_after_an_accepted_change_cause_a_warning() -> None:
    change = "node model: a -> b"

    (one,) = found(quality.mixed, [poisson(64), poisson(64, launch=1, changed=[change])])

    total, part = one.parts
    assert (one.caveats, one.of) == ((Caveat.CHANGED,), 2)
    assert (total.subject, part.subject) == ({"launches": 1}, {"change": change})


def times(raw: Raw, factor: float) -> Raw:
    """A ping-pong with all its times multiplied."""
    for point in raw["points"]:
        point["times_s"] = [factor * time for time in point["times_s"]]
    return raw


@pytest.mark.parametrize(
    ("factor", "changes", "expected"),
    [
        (1, {}, None),
        (100, {}, None),  # 45 µs: TCP within a node does as much
        (1000, {}, {"at_most": 100e-6}),
        (100, {"transport": "shm"}, {"at_most": 20e-6}),
        (1000, {"nodes": 2}, None),
        (1 / 30, {}, {"at_least": 20e-9}),
        (1000, {"layout": {"oversubscribed": True}}, None),  # is warned of as such
        (1000, {"device": "emulated"}, None),
        (1000, SIMULATED, None),
    ],
)
def test_impossible_latencies_cause_a_warning(
    factor: float, changes: dict[str, Any], expected: dict[str, float] | None
) -> None:
    raw = times(pingpong(sizes=[8, 64], **changes), factor)

    own = found(quality.implausible, [raw])

    assert [one.parts[0].reference for one in own] == ([expected] if expected else [])


def test_a_solve_that_barely_fits_a_cache_is_near_a_model_threshold() -> None:
    """256 x 256 points of four vectors take 2 MiB, which is what a core's L2 holds here."""

    def near(edge: int, **changes: Any) -> list[Caveat]:
        own = found(quality.near_steps, [poisson(edge, variant="textbook", **changes)])
        return [one.caveats[0] for one in own]

    assert near(256, **SIMULATED) == [Caveat.NEAR_CACHE_SIZE]
    assert near(1024, **SIMULATED) == []
    assert near(256) == []


def test_warnings_precede_all_other_findings() -> None:
    raws = [bad(poisson(64), "failed", "killed"), poisson(128), stream(), pingpong()]

    order = [one.severity is Prominence.WARNING for one in every(raws)]

    assert order == sorted(order, reverse=True) and any(order) and not all(order)
    assert caveats(raws) == {Caveat.INCOMPLETE}


def test_a_number_from_outside_these_launches_is_not_a_key_figure() -> None:
    values = [
        Finding(
            f"question {launches}",
            FindingShape.VALUE,
            (Claim(estimate=Estimate(1.0, None, None, launches, "none")),),
            topic=f"topic {launches}",
        )
        for launches in (2, 1, 0)
    ]

    assert [one.severity for one in arranged(values)] == [
        Prominence.ANSWER,
        Prominence.KEY_FIGURE,
        Prominence.DETAIL,
    ]
