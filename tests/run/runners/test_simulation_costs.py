# SPDX-License-Identifier: BSD-3-Clause
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from haloscope.layout import Layout
from haloscope.records.kernels import defaults
from haloscope.run.runners import simulation_costs
from haloscope.run.runners.simulation_costs import (
    FILE,
    MODEL_RANGE,
    PER_RANK_BYTES,
    PER_RANK_S,
    SPREAD,
    START_BYTES,
    START_S,
    SURE,
    SimulationCosts,
    SimulationForecast,
)
from haloscope.study.case import Case


def case(ranks: int = 4, kernel: str = "poisson_cg", **changes: Any) -> Case:
    params = {**defaults(kernel), **changes.pop("params", {"iterations": 8})}
    one = Case(kernel, {}, params, Layout(ppn=ranks), "simgrid", 0, 1, 60.0, 0)
    return replace(one, **changes)


def costs(folder: Path, *took: tuple[Case, float, int]) -> SimulationCosts:
    one = SimulationCosts(folder)
    for each in took:
        one.add(*each)
    return SimulationCosts(folder)


def test_time_and_memory_grow_with_ranks(tmp_path: Path) -> None:
    took = costs(tmp_path, (case(64), START_S + 1.0, START_BYTES + 2**26))

    found = took.forecast(case(128))

    assert found is not None and found.earlier == 1
    assert found.time_s == pytest.approx(START_S + 2.0)
    assert found.memory_bytes == START_BYTES + 2**27
    assert found.least_s == pytest.approx(1.0) and found.least_bytes == 2**26


def test_a_forecast_uses_the_range_of_earlier_simulations_or_the_model(
    tmp_path: Path,
) -> None:
    walls = [START_S + wall for wall in (1.0, 2.0, 3.0)]
    found = costs(tmp_path, *((case(64), wall, 0) for wall in walls)).forecast(case(64))
    modelled = costs(tmp_path / "none").forecast(case(64))

    assert found is not None and modelled is not None
    assert found.range_s == pytest.approx(((START_S + 1.0) / SPREAD, (START_S + 3.0) * SPREAD))
    assert modelled.range_s == (modelled.time_s / MODEL_RANGE, modelled.time_s * MODEL_RANGE)


def test_the_nearest_rank_counts_are_used(tmp_path: Path) -> None:
    few = [(case(2), START_S + wall, START_BYTES) for wall in (5.0, 6.0)]
    many = [(case(ranks), START_S + ranks / 100, START_BYTES) for ranks in (256, 512)]
    took = costs(tmp_path, *few, *many)

    near, far = took.forecast(case(512)), took.forecast(case(2**20))

    assert near is not None and near.earlier == 2
    assert near.time_s == pytest.approx(START_S + 5.12)
    assert far is not None and far.earlier == 1  # what is nearest, however far it is


def test_simulations_with_the_same_parameters_take_precedence(tmp_path: Path) -> None:
    slow = case(8, params={"iterations": 8, "variant": "textbook"})
    took = costs(tmp_path, (slow, START_S + 9.0, 0), (case(8), START_S + 1.0, 0))
    of_another = case(8, params={"iterations": 8, "variant": "pipelined"})

    times = [found.time_s - START_S for one in (slow, case(8), of_another)
             if (found := took.forecast(one))]  # fmt: skip

    assert times == pytest.approx([9.0, 1.0, 5.0])


def test_with_arithmetic_time_grows_with_array_size(tmp_path: Path) -> None:
    solved = case(4, execute=True, memory_bytes=2**20)
    took = costs(tmp_path, (solved, START_S + 1.0, START_BYTES + 2**20))

    more = took.forecast(replace(solved, memory_bytes=2**24))

    assert more is not None and more.time_s == pytest.approx(START_S + 16.0)
    assert more.memory_bytes == START_BYTES + 2**24
    assert costs(tmp_path / "none").forecast(solved) is None  # the model has no arithmetic


def test_a_kernel_never_simulated_here_uses_the_model_or_nothing(tmp_path: Path) -> None:
    found = costs(tmp_path).forecast(case(100))

    assert found is not None and (found.earlier, found.least_s, found.least_bytes) == (0, 0, 0)
    assert found.time_s == pytest.approx(START_S + 100 * PER_RANK_S["poisson_cg"])
    assert found.memory_bytes == START_BYTES + 100 * PER_RANK_BYTES
    assert costs(tmp_path).forecast(case(2, "ring", params={})) is None


def test_cases_that_differ_only_in_size_share_one_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = [case(4, execute=True, memory_bytes=2**power) for power in (20, 22, 24)]
    took = costs(tmp_path, *((one, START_S + 1.0, 2**28) for one in solved))
    scan = Mock(wraps=simulation_costs._Alike.of)
    monkeypatch.setattr(simulation_costs._Alike, "of", scan)

    found = [took.forecast(one) for one in solved]

    assert scan.call_count == 1
    # a larger simulation says nothing about the least time of a smaller one
    assert [one.least_s for one in found if one] == pytest.approx([1 / SURE, 1 / SURE, 1 / SURE])
    assert [one.time_s for one in found if one] == pytest.approx(
        [START_S + 0.25, START_S + 1.0, START_S + 4.0]
    )


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    costs(tmp_path, (case(4), START_S + 1.0, 0))
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('{"kernel": "poisson_cg"\n[]\n' + json.dumps({"kernel": 3}) + "\n")

    assert len(SimulationCosts(tmp_path).known) == 1


@pytest.mark.parametrize(
    ("timeout_s", "memory_bytes", "word"),
    [(10.0, 2**40, None), (9.0, 2**40, "timeout_s"), (10.0, 2**20, "memory")],
)
def test_endless_cases_are_refused(timeout_s: float, memory_bytes: int, word: str | None) -> None:
    found = SimulationForecast(30.0, 2**24, least_s=10.0, least_bytes=2**23, earlier=3)

    why = found.refusal(timeout_s, memory_bytes)

    assert (why is None) if word is None else (why is not None and word in why)
