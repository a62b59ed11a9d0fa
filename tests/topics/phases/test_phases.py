# SPDX-License-Identifier: BSD-3-Clause
"""Phases of real runs beside the node model's time."""

from __future__ import annotations

import pytest
from recorded import Raw, cases, poisson

from haloscope.topics.phases import REST, modelled, shares


def phase(name: str, longest: float, model: float | None) -> Raw:
    time = {"min": 0.5 * longest, "mean": 0.8 * longest, "max": longest}
    return {"name": name, "calls": 1, "time_s": time, "bytes": 1, "flops": 1, "model_s": model}


def test_the_slowest_rank_is_compared_with_the_model() -> None:
    raws = [
        poisson(512, launch=k, phases=[phase("sweep", 1.0 + k, 1.5), phase("halo", 0.2, None)])
        for k in range(3)
    ]
    (case,) = cases(raws)
    (sweep,) = modelled(case)  # what communicates has no model
    assert sweep.name == "sweep"
    assert (sweep.measured.value, sweep.model.value) == (2.0, 1.5)


@pytest.mark.parametrize("changes", [{"clock": "simulated", "runner": "simgrid"}, {}])
def test_simulated_runs_and_runs_without_a_model_have_nothing_to_compare(changes: Raw) -> None:
    model = 1.5 if changes else None
    (case,) = cases([poisson(512, phases=[phase("sweep", 1.5, model)], **changes)])
    assert modelled(case) == []


@pytest.mark.parametrize(
    ("inside", "outside"), [(1.0 - 4e-16, 0.0), (1.0 + 1e-12, 0.0), (0.9, 0.1)]
)
def test_rounding_residue_of_a_step_is_ignored(inside: float, outside: float) -> None:
    (case,) = cases([poisson(512, time_s=1.0, phases=[phase("sweep", inside / 0.8, None)])])

    rest = next(share for share in shares(case) if share.name == REST)

    assert rest.share.value == pytest.approx(outside, rel=1e-9)
    assert rest.seconds == pytest.approx(outside, rel=1e-9)


def test_phase_times_use_medians_and_keep_the_rest_of_a_median_step() -> None:
    """One of three steps is slow, all of it in its halo: of the time it has the most, of a median
    step a tenth.
    """
    halo = {**phase("halo", 0.9 / 0.8, None), "median_s": {"min": 0.1, "mean": 0.1, "max": 0.1}}
    sweep = {**phase("sweep", 0.1 / 0.8, None), "median_s": {"min": 0.2, "mean": 0.3, "max": 0.5}}
    raw = poisson(512, phases=[halo, sweep])
    raw["times_s"] = [0.5, 0.5, 2.0]

    found = {one.name: one for one in shares(*cases([raw]))}

    assert found["halo"].share.value == pytest.approx(0.9)
    assert {name: one.seconds for name, one in found.items()} == pytest.approx(
        {"halo": 0.1, "sweep": 0.3, REST: 0.1}
    )
    assert all(one.median for one in found.values())
    del halo["median_s"]
    older = shares(*cases([raw]))
    assert [one.seconds for one in older][:2] == pytest.approx([0.45, 0.05])
    assert not any(one.median for one in older)
