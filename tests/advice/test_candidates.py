# SPDX-License-Identifier: BSD-3-Clause
"""Which layouts are worth comparing, and how ranks of a grid are put on nodes."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from haloscope.advice.candidates import (
    Candidate,
    bricks,
    default,
    grid_of,
    remapped,
    shapes,
    study,
)
from haloscope.errors import UserError
from haloscope.study.checks.capacity import PlaceFacts, Site
from haloscope.study.file import load


def site(nodes: int, cores: int) -> Site:
    return Site(
        nodes=nodes,
        cores=cores,
        hardware_threads=cores,
        memory_bytes=2**36,
        oversubscribe=False,
        toolchains=("simgrid",),
        transports={},
        missing={},
        placements=[],
        facts=PlaceFacts(clock="simulated", remote=True, deterministic=True),
        name="there",
        variants={},
        allocations=(),
    )


def test_shapes_range_from_full_nodes_to_one_task_per_node() -> None:
    found = shapes(16, site(100, 8), most_nodes=100)
    assert [(one.nodes, one.ppn, one.threads) for one in found] == [
        (2, 8, 1),
        (4, 4, 1),
        (4, 4, 2),
        (8, 2, 1),
        (8, 2, 4),
        (16, 1, 1),
        (16, 1, 8),
    ]
    assert found[0] == default(16, site(100, 8))
    assert {one.bind for one in found if one.ppn * one.threads == 8} == {"close"}
    assert {one.bind for one in found if one.ppn * one.threads < 8} == {"spread"}


def test_the_maximum_number_of_nodes_is_a_candidate() -> None:
    found = shapes(24, site(100, 16))
    assert list(dict.fromkeys(one.nodes for one in found)) == [2, 3, 6, 12, 16]
    assert [one.threads for one in found if one.nodes == 16] == [1, 8]


def test_shapes_use_only_available_nodes() -> None:
    assert {one.nodes for one in shapes(16, site(4, 8))} == {2, 4}
    assert {one.nodes for one in shapes(64, site(1000, 8))} <= {8, 16, 32, 64}
    assert max(one.nodes for one in shapes(512, site(1000, 8))) == 512
    assert {one.nodes for one in shapes(16, site(100, 8), most_nodes=2)} == {2}


def test_tasks_that_do_not_divide_evenly_are_distributed() -> None:
    found = shapes(1000, site(100, 48))
    assert (found[0].nodes, found[0].ppn) == (21, 48)
    assert all(one.ppn * one.nodes >= 1000 for one in found)


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(UserError) as error:
        shapes(100, site(4, 8))
    (problem,) = error.value.problems
    assert problem.where == "--tasks 100"


@pytest.mark.parametrize(
    ("grid", "nodes", "each"),
    [((4, 4, 4), 8, 8), ((8, 8), 4, 16), ((4, 4, 1), 4, 4), ((6, 4), 6, 4)],
)
def test_bricks_cover_a_grid(grid: tuple[int, ...], nodes: int, each: int) -> None:
    found = bricks(grid, nodes * each, nodes)
    assert found is not None
    assert Counter(found) == dict.fromkeys(range(nodes), each)


def test_a_brick_of_a_cube_is_a_cube() -> None:
    found = bricks((4, 4, 4), 64, 8)
    assert found is not None
    own = [rank for rank, node in enumerate(found) if node == 0]
    assert own == [x * 16 + y * 4 + z for x in (0, 1) for y in (0, 1) for z in (0, 1)]


def test_no_brick_is_offered_if_none_fits_or_beats_block() -> None:
    assert bricks((8,), 8, 4) is None  # pairs of neighbours: what block gives
    assert bricks((5, 5), 25, 2) is None
    assert bricks((3, 3), 9, 9) is None
    assert bricks((), 8, 4) is None


def test_other_mappings_are_tried_only_on_several_nodes() -> None:
    one = Candidate.of(64)
    assert not list(remapped(one, (4, 4, 4)))
    several = list(remapped(Candidate.of(64, 8), (4, 4, 4)))
    assert [each.mapping for each in several[:2]] == ["round_robin", "random"]
    assert several[2].mapping.count(",") == 63


def test_the_study_of_candidates_is_valid(tmp_path: Path) -> None:
    tried = [*shapes(16, site(4, 8)), *remapped(Candidate.of(16, 2), (4, 4))]
    text = study('a "title"', "jacobi3d", {"size": "8x8x8", "n": 4, "x": True}, tried, 3)
    assert tomllib.loads(text)["runs"][0]["params"] == {"size": "8x8x8", "n": 4, "x": True}
    (tmp_path / "study.toml").write_text(text)
    read = load(tmp_path / "study.toml")
    assert read.launches == 3
    assert [run.layout.nodes for run in read.runs] == [[one.nodes] for one in tried]
    assert read.runs[-1].layout.mapping == [tried[-1].mapping]


@pytest.mark.parametrize(
    ("topology", "grid"), [("4x2x1", [4, 2, 1]), ("8", [8]), ("auto", []), ("4x", []), (None, [])]
)
def test_a_topology_is_parsed_as_a_grid(topology: object, grid: list[int]) -> None:
    assert grid_of(topology) == grid
