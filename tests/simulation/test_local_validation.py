"""Real runs set against simulated ones: which belong together, and how far apart they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from recorded import cases, pingpong, poisson

from haloscope.local_validation import errors, predictions

SIMULATED: dict[str, Any] = {"clock": "simulated", "runner": "simgrid"}


def test_solves_are_compared_case_by_case_and_messages_size_by_size() -> None:
    real = cases([poisson(n, time_s=1.0, launch=k) for n in (512, 1024) for k in range(3)])
    real += cases([pingpong(launch=k) for k in range(3)])
    other_sizes = cases([pingpong(sizes=[1, 1024], **SIMULATED)])
    assert list(predictions(real, other_sizes)) == []

    twins = [poisson(512, time_s=1.1, **SIMULATED), pingpong(**SIMULATED)]
    found = list(predictions(real, cases(twins)))
    solves = [one for one in found if one.kernel == "poisson_cg"]
    messages = [one for one in found if one.kernel == "pingpong"]
    assert [one.error for one in solves] == pytest.approx([0.1])  # 1024 has no twin
    assert len(messages) == 24 and messages[0].what == "0 B"
    assert errors(solves) == pytest.approx((0.1, 0.1))
