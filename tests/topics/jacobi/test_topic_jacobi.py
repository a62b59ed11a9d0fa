# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi's sweeps beside their model and the memory's bandwidth."""

from __future__ import annotations

from typing import Any

import pytest
from found import found
from recorded import Raw, quick, record

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Finding
from haloscope.topics.jacobi import findings as topic


def sweeps(grid: tuple[int, int, int], mlups: float, ghosts: float = 0.0, **params: Any) -> Raw:
    """A launch of L = 400 on every rank. ghosts: the share of a sweep in exchanges."""
    ranks = grid[0] * grid[1] * grid[2]
    topology = "x".join(map(str, grid))
    settings = {
        **{"L": 400, "size": "cubes", "topology": topology, "variant": "plain"},
        **{"depth": 0, "overlap": "no", "precision": "double", "sweeps": 8, **params},
    }
    updates = 8.0 * ranks * 400**3
    seconds = updates / (1e6 * mlups)
    shares = {"sweep": 1 - ghosts, **({"exchange": ghosts} if ghosts else {})}
    return record(
        "jacobi3d",
        settings,
        [seconds] * 3,
        ranks=ranks,
        result={"mlups": mlups, "size": "x".join(str(400 * axis) for axis in grid),
                "grid": topology, "depth": 1},
        phases=[
            {"name": name, "calls": 8, "model_s": None,
             "time_s": dict.fromkeys(("min", "mean", "max"), share * seconds),
             "bytes": 24.0 * updates * (name == "sweep"), "flops": 6.0 * updates}
            for name, share in shares.items()
        ],
    )  # fmt: skip


def modelled(raws: list[Raw]) -> Finding:
    """Return the finding on the largest error; the one on their mean comes first."""
    mean, largest = found(topic.model, raws, machine=raws[0]["machine"])
    assert len(mean.parts) == 1 and mean.caveats == largest.caveats
    return largest


def shares(one: Finding) -> dict[str, float]:
    return {
        str(part.subject.get("part") or part.subject.get("grid")): part.share or 0.0
        for part in one.parts
    }


def test_the_model_error_names_its_largest_component() -> None:
    alone = sweeps((1, 1, 1), 540.0)

    slow = shares(modelled([*quick(), alone, sweeps((2, 1, 1), 500.0, ghosts=0.5)]))
    crowded = shares(modelled([*quick(), alone, sweeps((2, 1, 1), 500.0)]))

    assert slow["2x1x1"] > 0.5
    assert "from ghosts" in slow and "from updates of points" not in slow
    assert "from updates of points" in crowded and "from ghosts" not in crowded


def test_waiting_outside_phases_is_a_cause_if_the_parts_are_faster() -> None:
    """A sweep of a rank fills half of the time that the slowest takes."""
    two = sweeps((2, 1, 1), 500.0)
    (phase,) = two["phases"]
    half = {key: 0.55 * time for key, time in phase["time_s"].items()}
    raws = [*quick(), sweeps((1, 1, 1), 540.0), {**two, "phases": [{**phase, "time_s": half}]}]

    own = shares(modelled(raws))

    assert own["from outside phases"] == pytest.approx(0.45, abs=0.01)
    assert "from updates of points" not in own and "from ghosts" not in own


def test_all_scalings_share_one_finding_on_the_worst() -> None:
    raws = [*quick()]
    for variant, rate in (("plain", 1000.0), ("streaming", 900.0), ("temporal", 500.0)):
        raws += [sweeps((1, 1, 1), 540.0, variant=variant)]
        raws += [sweeps((2, 1, 1), rate, variant=variant)]

    one = modelled(raws)

    assert one.of == 3 and Caveat.IN_SAMPLE not in one.caveats
    name, largest = next(iter(shares(one).items()))
    assert name == "2x1x1" and largest > 0.5
    assert one.parts[0].subject == {"ranks": 2, "grid": "2x1x1"}


def test_a_model_of_simulated_sweeps_makes_no_claim_about_the_machine() -> None:
    simulation = {"cluster": "orfeo-thin", "verified": False}
    raws = [*quick(), sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 1000.0)]
    simulated = [{**raw, "clock": "simulated", "simulation": simulation} for raw in raws]

    assert Caveat.IN_SAMPLE in modelled(simulated).caveats


def test_sweeps_state_their_share_of_the_memory_bound() -> None:
    raws = [*quick(), sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 500.0, ghosts=0.5)]

    bound, spent = found(topic.memory_bound, raws)

    assert {part.subject["cores"]: part.share for part in bound.parts} == pytest.approx(
        {1: 0.75, 2: 0.36}, abs=0.01
    )
    assert shares(spent)["updates of points"] == pytest.approx(0.5)
    assert Caveat.PARTLY_CACHED not in bound.caveats
    fast, *_ = found(topic.memory_bound, [*quick(), sweeps((1, 1, 1), 900.0)])
    assert Caveat.PARTLY_CACHED in fast.caveats


def test_without_a_model_or_a_triad_there_is_no_finding() -> None:
    raws = [sweeps((1, 1, 1), 540.0), sweeps((2, 1, 1), 1000.0)]

    assert found(topic.model, raws) == [] and found(topic.memory_bound, raws) == []
