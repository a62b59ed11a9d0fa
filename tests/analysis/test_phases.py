"""Phases of real runs beside the node model's time."""

from __future__ import annotations

import pytest
from recorded import Raw, cases, poisson

from haloscope.analysis.phases import modelled


def phase(name: str, longest: float, model: float | None) -> Raw:
    time = {"min": 0.5 * longest, "mean": 0.8 * longest, "max": longest}
    return {"name": name, "calls": 1, "time_s": time, "bytes": 1, "flops": 1, "model_s": model}


def test_the_slowest_rank_is_set_against_the_model() -> None:
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
