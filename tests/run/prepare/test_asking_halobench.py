# SPDX-License-Identifier: BSD-3-Clause
"""Python's side of halobench --list, --describe and --plan; a script gives halobench's answers."""

import json
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from noted import shows

from haloscope.errors import UserError
from haloscope.run.prepare import halobench, kernels
from haloscope.study.program import Forecast
from haloscope.toolchains.build import KernelProgram

DECLARED: dict[str, Any] = {
    "summary": "round it goes",
    "paper": None,
    "least_ranks": 1,
    "parameters": [
        {
            **{"name": "n", "type": "integer", "default": 8, "minimum": 1, "maximum": 64},
            **{"choices": [], "unit": "points", "help": "how many"},
        },
        {
            **{"name": "way", "type": "choice", "default": "left", "minimum": None},
            **{"maximum": None, "choices": ["left", "right"], "unit": None, "help": "where to"},
        },
    ],
    "results": [
        {
            **{"name": "cycle_s", "type": "real", "unit": "s", "minimum": 0, "maximum": None},
            **{"absent": None, "help": "until it is back"},
        }
    ],
    "point_results": [],
}
ANSWERS: dict[str, dict[str, Any]] = {
    "plan ring n=4 ranks=2 threads=3": {
        "params": {"n": 4, "way": "left"},
        "memory_bytes": 4096,
        "device_bytes": 1024,
        "problems": [],
        "absent": None,
    },
    "plan ring n=8 ranks=1 threads=1": {
        "params": {"n": 8},
        "memory_bytes": 1.152e09,
        "device_bytes": 0,
        "problems": [],
        "absent": None,
    },
    "plan ring n=0 way=rihgt ranks=1 threads=1": {
        "params": {"n": 8, "way": "left"},
        "memory_bytes": 0,
        "device_bytes": 0,
        "problems": [
            {"key": "n", "value": "0", "message": "give an integer from 1 to 64"},
            {
                "key": "way",
                "value": "rihgt",
                "message": "give one of left, right",
            },
        ],
        "absent": None,
    },
    "plan ring n=9 ranks=1 threads=1": {
        "params": {"n": 9},
        "memory_bytes": 0,
        "device_bytes": 0,
        "problems": [],
        "absent": "no such library",
    },
}


PROGRAM = f"""#!{sys.executable}
import json, sys
answers = json.loads({json.dumps(json.dumps(ANSWERS))})
assert sys.argv[1:] == ["--plan"]
print("started", file=open("starts", "a"))
said = b""
while byte := sys.stdin.buffer.read(1):
    said += byte
    if said.endswith(b"\\0\\0"):
        asked = " ".join(["plan", *said[:-2].decode().split("\\0")])
        if "crash" in asked:
            sys.exit("boom")
        print(json.dumps(answers.get(asked, {{"error": "no kernel " + asked}})), flush=True)
        said = b""
"""


@pytest.fixture
def binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "halobench"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program


@pytest.fixture
def planner(binary: Path) -> halobench.Planner:
    return halobench.Planner(binary)


def test_describe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halobench, "declared", lambda: {"ring": DECLARED})
    halobench.describe.cache_clear()
    kernel = halobench.describe("ring")
    halobench.describe.cache_clear()
    n, way = kernel.parameters
    assert (n.default, n.minimum, n.maximum, n.choices, n.unit) == (8, 1, 64, (), "points")
    assert (way.type, way.choices, way.minimum, way.unit) == (
        *("choice", ("left", "right"), None, None),
    )
    (cycle,) = kernel.results
    assert (cycle.name, cycle.type, cycle.unit, cycle.absent) == ("cycle_s", "real", "s", None)
    assert kernel.point_results == ()


def test_a_kernel_without_a_description_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has a line in kernels.def, as a new one, and nothing in kernels.json."""
    monkeypatch.setattr(halobench, "declared", dict)
    halobench.describe.cache_clear()
    with pytest.raises(UserError, match="kernel ring: .*\n.*tests/support/kernels_file.py"):
        halobench.describe("ring")


def test_the_program_for_default_memory_is_the_first() -> None:
    device = KernelProgram("launches", device=True)
    both = [KernelProgram("pingpong"), KernelProgram("pingpong", device=True)]
    assert halobench.programs("launches") == [device]
    assert halobench.programs("pingpong") == both
    assert halobench.programs("ring") == [KernelProgram("ring")]


def test_a_forecast_completes_the_parameters(planner: halobench.Planner) -> None:
    forecast = planner.forecast("ring", {"n": 4}, ranks=2, threads=3)
    assert forecast == Forecast({"n": 4, "way": "left"}, 4096, (), device_bytes=1024)


def test_memory_is_an_integer_in_any_notation(planner: halobench.Planner) -> None:
    memory_bytes = planner.forecast("ring", {"n": 8}).memory_bytes
    assert (memory_bytes, type(memory_bytes)) == (1_152_000_000, int)


def test_a_forecast_lists_every_problem(planner: halobench.Planner) -> None:
    problems = planner.forecast("ring", {"n": 0, "way": "rihgt"}).problems
    assert [each.where for each in problems] == ["ring n=0", "ring way=rihgt"]
    allowed = ("integer from 1 to 64", "one of left, right")
    assert [each.remedy.removeprefix("give an ").removeprefix("give ") for each in problems] == [
        *allowed
    ]


def test_a_forecast_names_what_the_machine_lacks(
    planner: halobench.Planner,
) -> None:
    assert planner.forecast("ring", {"n": 9}).absent == "no such library"


def test_one_process_answers_all_queries_and_ends_with_its_client(binary: Path) -> None:
    before = psutil.Process().children()
    planner = halobench.Planner(binary)

    for _ in range(3):
        assert planner.forecast("ring", {"n": 4}, ranks=2, threads=3).memory_bytes == 4096
        assert planner.forecast("ring", {"n": 9}).memory_bytes == 0

    assert Path("starts").read_text() == "started\n"
    (process,) = (one for one in psutil.Process().children() if one not in before)
    del planner
    assert not process.is_running()


def test_a_crashed_planner_is_restarted(planner: halobench.Planner) -> None:
    with pytest.raises(UserError) as died:
        planner.forecast("ring", {"n": "crash"})
    assert shows(str(died.value), " ring n=crash ", " 1: boom")

    assert planner.forecast("ring", {"n": 9}).absent == "no such library"


def test_an_unknown_kernel_gets_a_suggestion_without_a_program() -> None:
    assert {"ring", "poisson_cg"} <= {*halobench.names()}
    with pytest.raises(UserError, match="'rng'\n.*'ring'"):
        kernels.require("once", "rng")
    kernels.require("once", "ring")


def test_a_program_that_does_not_respond_is_named(binary: Path) -> None:
    with pytest.raises(UserError) as caught:
        halobench.Planner(binary).forecast("ring", {"n": 5})
    asked = "--plan ring n=5 ranks=1 threads=1: "
    assert shows(str(caught.value), asked, ": no kernel plan ring")
    binary.write_text("#!/bin/sh\necho 'libmpi.so.40: not found' >&2\nexit 127\n")
    with pytest.raises(UserError, match=r"libmpi.so.40: not found\n.*built again"):
        halobench.Planner(binary).forecast("ring", {"n": 4})


@pytest.mark.parametrize(
    ("line", "named", "remedy"),
    [
        ("KERNEL(halo-sum)", "halo-sum", "lower-case"),
        ("KERNEL(halo_sum)", "halo_sum", "halo_sum.cpp"),
    ],
)
def test_a_command_line_without_a_kernel_is_refused_before_a_build(
    line: str, named: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernels" / "ring").mkdir(parents=True)
    (tmp_path / "kernels" / "ring" / "ring.cpp").touch()
    (tmp_path / "kernels.def").write_text(f"KERNEL(ring)\n{line}\n")
    monkeypatch.setattr(halobench, "share", lambda _: tmp_path)

    with pytest.raises(UserError) as caught:
        halobench.names()

    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "kernels.def")
    assert named in problem.what and remedy in problem.remedy
    (tmp_path / "kernels.def").write_text("KERNEL(ring)\n")
    assert halobench.names() == ["ring"]
