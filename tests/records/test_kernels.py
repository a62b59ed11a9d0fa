# SPDX-License-Identifier: BSD-3-Clause
"""What kernels' parameters and results may be in a record; that halobench says the same of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import kernel_programs
import pytest
from kernels_file import declared, text
from recorded import (
    Raw,
    case_id,
    fft,
    overheads,
    pingpong,
    poisson,
    record,
    ring,
    spmv,
    star_forest,
    stream,
)

from haloscope.records import checked, kernels
from haloscope.records.record import Record
from haloscope.run.prepare import halobench


def test_the_copy_matches_the_declarations_of_halobench() -> None:
    kernel_programs.halobench()  # or it is skipped
    now = text(declared(kernel_programs.RELEASE, halobench.names()))

    assert kernels.FILE.read_text(encoding="utf-8") == now, "run kernels_file.py"
    assert [*kernels.declared()] == halobench.names()


def surfaced() -> Raw:
    return poisson(64, surface=3)


def changed(raw: Raw, where: tuple[str | int, ...], value: object) -> Raw:
    """The record with another value at a place; its id follows."""
    raw = deepcopy(raw)
    holder: Any = raw
    for key in where[:-1]:
        holder = holder[key]
    holder[where[-1]] = value
    return {**raw, "case": case_id(raw)}


JACOBI: Mapping[str, Any] = {
    **{"mlups": 250.0, "sweeps": 10, "size": "40x40x40", "grid": "2x1x1", "depth": 1, "k": 2},
    **{"c_bytes": 25600, "fingerprint": "0f"},
}


def jacobi() -> Raw:
    return record("jacobi3d", {"L": 40}, [0.5], ranks=2, result={**JACOBI})


@pytest.mark.parametrize(
    "raw",
    [surfaced(), ring(1e-6, ranks=2), pingpong(), stream(), spmv(), fft(), overheads(0), jacobi()],
    ids=lambda raw: raw["kernel"],
)
def test_results_declared_by_their_kernel_are_valid(raw: Raw) -> None:
    assert checked.wrong(raw, Record) is None


@pytest.mark.parametrize(
    ("raw", "where", "value"),
    [
        (surfaced(), ("result", "iterations"), None),
        (surfaced(), ("result", "iterations"), -1),
        (surfaced(), ("result", "iterations"), "96"),
        (surfaced(), ("result", "iterations"), 96.5),
        (surfaced(), ("result", "error_max"), "small"),
        (surfaced(), ("result", "error_max"), -1e-3),
        (surfaced(), ("result", "error_max"), 1e300),
        (surfaced(), ("result", "points"), 2**63),
        (surfaced(), ("result", "surface"), []),
        (surfaced(), ("result", "surface", "points"), 4),
        (surfaced(), ("result", "surface", "error", 0), None),
        (surfaced(), ("params", "variant"), []),
        (surfaced(), ("params", "variant"), "quickest"),
        (surfaced(), ("params", "n"), 0),
        (surfaced(), ("params", "n"), "64"),
        (surfaced(), ("params", "tolerance"), 1),
        (pingpong(), ("points", 0, "size_bytes"), -1),
        (pingpong(), ("points", 0, "result", "latency_s"), "fast"),
        (pingpong(), ("points", 0, "result", "latency_s"), -1e-6),
        (pingpong(), ("params", "sizes"), [8]),
        (stream(), ("points", 0, "result", "traffic_bytes"), None),
        (ring(1e-6), ("result", "values", 1), "0"),
        (jacobi(), ("result", "grid"), "2x"),
        (surfaced(), ("result", "error_max_bound"), None),
        (surfaced(), ("result", "residual_relative_bound"), 1e30),
        (surfaced(), ("result", "bytes_per_point_iteration"), 1e30),
        (surfaced(), ("result", "points"), 1),
        (surfaced(), ("result", "iterations"), 2**62),
        (surfaced(), ("layout", "ranks"), 1000),
        (surfaced(), ("layout", "bind"), "zzz"),
        (surfaced(), ("phases", 0, "time_s", "min"), 9.0),
        (pingpong(), ("points",), []),
        (pingpong(), ("points", 1, "times_s"), []),
        (pingpong(), ("points", 1, "steps"), 0),
        (pingpong(), ("points", 1, "result", "bandwidth_bytes_per_s"), 1e30),
        (spmv(), ("result", "nonzeros"), 0),
        (jacobi(), ("result", "size"), "40x0x40"),
        (jacobi(), ("result", "mlups"), True),
    ],
)
def test_results_impossible_for_a_kernel_are_invalid(
    raw: Raw, where: tuple[str | int, ...], value: object
) -> None:
    problem = checked.wrong(changed(raw, where, value), Record)

    assert problem is not None and problem.startswith(str(where[0]))


def forest() -> Raw:
    return star_forest("sf_grid", ranks=2)


@pytest.mark.parametrize(
    ("raw", "where", "value", "problem"),
    [
        (forest(), ("parts", 0, "point"), 5, ("parts#1.point: invalid value 5", "5 points")),
        (forest(), ("timeline",), [], None),
        (
            forest(),
            ("timeline",),
            forest()["timeline"][:1],
            ("timeline: 1 steps", "5 points"),
        ),
        (surfaced(), ("params", ""), False, ('params: invalid key ""',)),
        (surfaced(), ("params", "more"), {}, ("params.more: invalid value {}",)),
    ],
)
def test_parts_steps_and_settings_match_the_measurement(
    raw: Raw, where: tuple[str | int, ...], value: object, problem: tuple[str, ...] | None
) -> None:
    found = checked.wrong(changed(raw, where, value), Record)
    assert (found and tuple(found.split(" with "))) == problem


@pytest.mark.parametrize("key", ["n", "shape"])
def test_points_have_the_keys_their_kernel_sweeps(key: str) -> None:
    raw = forest()
    del raw["points"][0][key]

    assert checked.wrong(raw, Record) == f"points#1.{key} missing"


@pytest.mark.parametrize("key", ["iterations", "points"])
def test_a_missing_mandatory_result_is_detected(key: str) -> None:
    raw = surfaced()
    del raw["result"][key]

    assert checked.wrong(raw, Record) == f"result.{key} missing"


def test_a_missing_parameter_is_detected_if_the_case_could_run() -> None:
    raw = surfaced()
    del raw["params"]["variant"]
    raw["case"] = case_id(raw)

    assert checked.wrong(raw, Record) == "params.variant missing"
    absent: Raw = {**raw, "outcome": "absent", "times_s": [], "result": {}, "points": []}
    assert checked.wrong(absent, Record) is None


def test_an_undeclared_kernel_may_have_any_result() -> None:
    raw = record("fake", {"n": "x"}, [1.0], result={"answer": None})

    assert checked.wrong(raw, Record) is None


def test_the_file_is_inside_the_package() -> None:
    assert Path(kernels.__file__).with_name("kernels.json") == kernels.FILE
    assert json.loads(kernels.FILE.read_text(encoding="utf-8")) == kernels.declared()


def test_settings_are_validated_again_unless_identical() -> None:
    right = surfaced()
    again = {**right, "launch": 1}
    other = {**again, "params": {**right["params"], "n": 0}}

    assert checked.wrong(again, Record, right) is None
    assert checked.wrong(other, Record, right) == "params.n: invalid value 0"
    assert checked.wrong({**again, "transport": "tcp"}, Record, right) is not None
    assert str(checked.wrong({**again, "wall_s": "long"}, Record, right)).startswith("wall_s: ")


@pytest.mark.parametrize(("made", "left_out"), [(poisson(64), True), (ring(1e-6), False)])
def test_simulated_steps_that_compute_take_time(made: Raw, left_out: bool) -> None:
    raw = {**made, "clock": "simulated", "times_s": [0.0]}

    assert (checked.wrong(raw, Record) == "times_s#1: invalid value 0.0") == left_out


def test_older_records_use_host_memory() -> None:
    older = spmv(ranks=2)
    for name in kernels.LATER:
        older["params"].pop(name, None)
    older["case"] = case_id(older)

    assert checked.wrong(older, Record) is None
    assert checked.wrong(changed(older, ("params", "memory"), "moon"), Record) is not None
