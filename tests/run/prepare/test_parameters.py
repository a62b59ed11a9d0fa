# SPDX-License-Identifier: BSD-3-Clause
"""Parameters are checked by what kernels declare, as halobench itself checks them."""

from __future__ import annotations

from typing import Any

import kernel_programs
import pytest

from haloscope.run.prepare import halobench, parameters
from haloscope.run.prepare.halobench import KernelParameter

WORDS: dict[str, tuple[str, ...]] = {
    "integer": (
        *(
            "x",
            "",
            "0",
            "-1",
            "+1",
            "1.5",
            "1e3",
            "1K",
            "1k",
            "8G",
            "00012",
            " 1",
            "1 ",
            "K",
            "1_0",
        ),
        *(
            "9223372036854775807",
            "9000000000000000000",
            "8000000000G",
            "-2G",
            "\u0661",
            "99999999999",
        ),
    ),
    "real": (
        *(
            "x",
            "",
            "0",
            "-1",
            "+1",
            ".5",
            "1.",
            "1e5",
            "1e999",
            "1e-999",
            "nan",
            "inf",
            "1K",
            "0x10",
        ),
        *("1e", "--1", "1_0", " 1", "-0", "0e5", "0.5", "123456789"),
    ),
    "choice": ("x", "", "host", "device", "barrier"),
    "sizes": (
        *("", "8", "8:4M", "4M:8", "x", "8,x", "8:", "::", "-8", "-8:-4", "0", "0:4", "1K:1M,7"),
        *("8,64,1K", "1:2:4", "16,8:4", "9000000000000000000", "8:9000000000000000000"),
    ),
    "text": ("x\0y",),
    "file": ("x\0y",),
}
"""Values of each type, right and wrong."""


def one(**changes: Any) -> KernelParameter:
    said = {"name": "n", "type": "integer", "default": 8, "minimum": 1, "maximum": 64}
    said |= {"choices": (), "unit": None, "help": ""}
    return KernelParameter(**{**said, **changes})


@pytest.mark.parametrize("kernel", halobench.names())
def test_halobench_gives_the_same_errors(kernel: str) -> None:
    """And takes what is not refused to be the same value."""
    asked, kernel_said = kernel_programs.halobench(), halobench.describe(kernel)
    default = halobench.programs(kernel)[0].device
    program = kernel_programs.program(kernel, device=default)
    planner = halobench.Planner(program)
    compared = 0
    for parameter in kernel_said.parameters:
        for word in (word for word in WORDS[parameter.type] if "\0" not in word):
            given = {parameter.name: word}
            if parameter.name == "memory":
                planner = halobench.Planner(
                    kernel_programs.program(kernel, device=word == "device" or default)
                )
            params, wrong = parameters.resolved(kernel_said, given)
            said = planner.forecast(kernel, given, ranks=2)
            refused = [(f"{kernel} {key}={text}", remedy) for key, text, remedy in wrong]
            theirs = [(problem.where, problem.remedy) for problem in said.problems]
            compared += 1
            if refused:
                assert refused == theirs
            else:
                assert not any(
                    remedy.startswith("give a") for where, remedy in theirs if word in where
                )
                assert (
                    theirs
                    or params[parameter.name] == said.params[parameter.name]
                    or (parameter.name in OPEN)
                )
    assert compared and asked.forecast(kernel, {}, 2, 1).unchecked is None


OPEN = {"topology", "chunks", "overlap", "alike", "reorthogonalise"}
"""Parameters whose words leave something to their kernels, which only these resolve."""


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (one(), "64", "65"),
        (one(maximum=None), "1G", "0"),
        (one(minimum=None), "-5", "1K"),
        (one(type="real", minimum=0.5, maximum=2.0), "5e-1", "0.49"),
        (one(type="choice", choices=("left", "right")), "left", "lef"),
        (one(type="sizes", unit="B"), "1:32,64", "1:128"),
    ],
)
def test_a_value_must_be_within_the_declared_range(
    parameter: KernelParameter, good: str, bad: str
) -> None:
    assert parameters.refused(parameter, good) is None
    assert parameters.refused(parameter, bad)


def test_number_syntax_matches_halobench() -> None:
    found = [parameters.refused(one(maximum=most), "0") for most in (64, 1e6, 123456, 2e15)]
    assert [str(text).split()[-1] for text in found] == ["64", "1e+06", "123456", "2e+15"]


def test_unknown_keys_and_zero_bytes_are_refused() -> None:
    kernel = halobench.describe("spmv")
    params, wrong = parameters.resolved(kernel, {"matrx": "x", "matrix": "a\0b", "steps": "2K"})
    assert [(key, text) for key, text, _ in wrong] == [("matrx", "x"), ("matrix", r"a\x00b")]
    assert (params["steps"], params["matrix"]) == (2048, "3d27")
