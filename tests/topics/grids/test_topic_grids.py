# SPDX-License-Identifier: BSD-3-Clause
"""The fastest grid of processes, of transforms and of sums; sections and phases of solves."""

from __future__ import annotations

from typing import Any

import pytest
from found import found, ratio, value
from recorded import Raw, fft, heat, of_phases, poisson, record

from haloscope.findings.finding import Finding, Verdict
from haloscope.topics import grids, phases
from haloscope.topics.phases import NAMES


def launches(**settings: Any) -> list[Raw]:
    return [fft(launch=launch, **settings) for launch in range(7)]


def test_the_fastest_grid_of_a_transform_is_named_if_there_are_several() -> None:
    (one,) = found(grids.transforms, [
        *launches(ranks=4, topology="4x1", time_s=0.10),
        *launches(ranks=4, topology="2x2", time_s=0.12),
        *launches(ranks=4, topology="4x1", transpose="pairwise"),  # one grid: nothing to compare
    ])  # fmt: skip

    (part,) = one.parts
    assert (part.subject, part.reference) == ({"grid": "4x1"}, {"grid": "2x2"})
    assert part.verdict is Verdict.FASTER and ratio(part) == pytest.approx(1.2, rel=0.02)


def test_each_process_count_is_ranked_separately() -> None:
    raws = [fft(ranks=4, topology=grid) for grid in ("4x1", "2x2")] + [
        fft(ranks=2, topology=grid) for grid in ("2x1", "1x2")
    ]

    assert [one.common["ppn"] for one in found(grids.transforms, raws)] == [2, 4]


def test_grids_with_fewer_pencils_than_chunks_are_included() -> None:
    (one,) = found(grids.transforms, [
        *launches(ranks=4, topology="4x1", time_s=0.10, chunks=2),
        *launches(ranks=4, topology="2x2", time_s=0.12, chunks=8),
    ])  # fmt: skip

    (part,) = one.parts
    assert part.subject == {"grid": "4x1", "chunks": 2}
    assert part.reference == {"grid": "2x2", "chunks": 8}


def sum3d(distribution: str, time_s: float, launch: int = 0, **changes: Any) -> Raw:
    params = {"size": "2400x100x100", "topology": "24x1x1", "distribution": distribution}
    return record("sum3d", params, [time_s], ranks=24, launch=launch, **changes)


def sums(*times: float, number: int = 7) -> list[Finding]:
    """One size of arrays, a distribution a time."""
    names = ("balanced", "topology", "subblock")
    return found(grids.sums, [
        sum3d(name, time * (1 + 0.001 * k), k)
        for name, time in zip(names, times, strict=False)
        for k in range(number)
    ])  # fmt: skip


def test_the_fastest_distribution_of_a_sum_is_named() -> None:
    (one,) = sums(2.0, 1.0, 1.0001)

    (part,) = one.parts
    assert part.subject == {"grid": "24x1x1", "distribution": "topology"}
    assert part.also == ({"grid": "24x1x1", "distribution": "subblock"},)
    assert part.reference == {"grid": "24x1x1", "distribution": "balanced"}
    assert value(part) == pytest.approx(1.0, rel=0.01) and ratio(part) == pytest.approx(2.0)


def test_few_launches_name_no_fastest_and_one_method_is_not_ranked() -> None:
    (few,) = sums(2.0, 1.0, number=2)

    assert few.parts[0].verdict is Verdict.UNDECIDED
    assert sums(2.0) == []


def test_the_longest_phases_of_a_solve_use_the_most_processes() -> None:
    raws = [heat(launch=k, **own) for k in range(7) for own in (
        {}, {"ranks": 2}, {"ranks": 2, "operator": "matrix_free"}
    )]  # fmt: skip

    own = found(phases.heat, raws)

    assert {one.common["operator"] for one in own} == {"csr", "matrix_free"}
    for one in own:
        whole, *parts = one.parts
        assert whole.estimate is not None and one.common["ppn"] == 2
        shares = {part.subject["phase"]: part.share for part in parts}
        assert shares == pytest.approx({"matvec": 0.8, "update": 0.18}, abs=0.01)
    assert found(phases.heat, [{**heat(), "phases": []}]) == []


def test_longest_sections_are_named_for_the_fewest_and_most_tasks() -> None:
    taken = {"Pair": 1.0, "Neigh": 0.5, "Kspace": 0.3, "Comm": 0.1}
    raws = [
        of_phases("lammps_rhodo", dict.fromkeys(NAMES, 0.0) | taken, 2.0, ranks=ranks, nodes=nodes)
        for ranks, nodes in ((2, 1), (8, 4))
    ]

    few, many = found(phases.sections, raws)

    for one in (few, many):
        whole, *parts = one.parts
        assert value(whole) == 2.0
        assert [(p.subject["phase"], p.share) for p in parts] == [
            ("Pair", 0.5), ("Neigh", 0.25), ("Kspace", pytest.approx(0.15)),
            ("all others", pytest.approx(0.1)),
        ]  # fmt: skip
    assert many.common["nodes"] == 4
    assert found(phases.sections, [poisson(64)]) == []
