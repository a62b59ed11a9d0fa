# SPDX-License-Identifier: BSD-3-Clause
"""Output of a program as times, phases, results, and verdicts; and outputs that are refused."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from haloscope.programs.output import Answer, Asked, answer
from haloscope.programs.schema import ProgramFile
from programs import TOML

GOOD = "ranks 2\ntime 16 ms\ntime 24 ms\nphase one 8\nphase two 0.5\nerror 1e-3\nend\n"


def said(text: str, toml: str = TOML, **asked: Any) -> Answer:
    program = ProgramFile.model_validate(tomllib.loads(toml))
    given = {"params": {"n": 8, "fault": "none"}, "ranks": 2, "threads": 1, **asked}
    return answer(program, text, Asked(**given))


def test_a_valid_output_becomes_the_content_of_a_record() -> None:
    found = said(GOOD)

    assert (found.outcome, found.reason) == ("ok", None)
    assert found.measured == {
        "times_s": [0.002, 0.003],
        "steps": 8,
        "phases": [
            {"name": "one", "time_s": {"mean": 0.001}, "model_s": None},
            {"name": "two", "time_s": {"mean": 0.0000625}, "model_s": None},
        ],
        "result": {"error": 0.001},
    }
    whole, ranks, error = found.checked
    assert whole and ranks.endswith(" 2 ranks") and error.startswith("error ")


@pytest.mark.parametrize(
    ("before", "after", "outcome", "reason"),
    [
        (
            "end\n",
            "",
            "failed",
            "'^end$'",
        ),
        ("ranks 2", "ranks 1", "misplaced", "1 rank, but 2 ranks"),
        ("ranks 2", "ranks 4", "misplaced", "4 ranks, but 2 ranks"),
        ("ranks 2\n", "", "failed", "no number of ranks"),
        ("time", "clock", "failed", r"'^time (\S+) ms'"),
        ("time 16", "time nan", "failed", "'nan'"),
        ("time 16", "time 0", "failed", "time in the output: 0"),
        ("time 16", "time 1_6", "failed", "'1_6'"),
        ("time 16", "time -3", "failed", ": -3"),
        ("phase two", "phase 2", "failed", "phase two"),
        ("phase two 0.5", "phase two -1", "failed", "phase two -1"),
        ("ranks 2", "ranks " + "9" * 400, "failed", f"'{'9' * 80}'"),
        ("error 1e-3", "", "failed", "no error "),
        ("error 1e-3", "error 0.2", "wrong", "error is 0.2"),
    ],
)
def test_invalid_results_are_reported(before: str, after: str, outcome: str, reason: str) -> None:
    assert before in GOOD
    found = said(GOOD.replace(before, after))

    assert found.outcome == outcome and reason in str(found.reason)


def test_a_non_finite_time_is_rejected() -> None:
    found = said(
        GOOD.replace("time 16", "time 1e308"), TOML.replace('unit = "ms"', 'unit = "h"', 1)
    )

    assert found.outcome == "failed" and "1e308" in str(found.reason)


def test_an_empty_output_is_reported() -> None:
    assert str(said("").reason).endswith("empty")


@pytest.mark.parametrize(
    ("before", "after", "text", "reason"),
    [
        (
            "^time (\\S+) ms",
            "^time(?: (\\S+) ms)?",
            ("time 16 ms", "time"),
            "''",
        ),
        (
            " (?P<mean>\\S+)$",
            "(?: (?P<mean>\\S+))?$",
            ("two 0.5", "two"),
            "phase two",
        ),
    ],
)
def test_an_unmatched_group_is_not_a_number(
    before: str, after: str, text: tuple[str, str], reason: str
) -> None:
    assert before in TOML
    found = said(GOOD.replace(*text), TOML.replace(before, after))

    assert found.outcome == "failed" and reason in str(found.reason)


@pytest.mark.parametrize("order", ["mean min max", "max min mean", "min mean max"])
def test_phase_times_may_be_in_any_order(order: str) -> None:
    values = {"min": "8", "mean": "16", "max": "24"}
    pattern = " ".join(f"(?P<{key}>\\S+)" for key in order.split())
    numbers = " ".join(values[key] for key in order.split())
    toml = TOML.replace("(?P<mean>\\S+)", pattern)
    text = GOOD.replace("one 8", f"one {numbers}").replace("two 0.5", "two 1 1 1")

    found = said(text, toml)

    assert found.measured is not None
    assert found.measured["phases"][0]["time_s"] == {"min": 0.001, "mean": 0.002, "max": 0.003}
    assert said(text.replace(" 16", " 7"), toml).outcome == "failed"


def test_fortran_number_formats_are_parsed() -> None:
    found = said(GOOD.replace("1e-3", "1.5D-03"))

    assert found.measured is not None and found.measured["result"] == {"error": 0.0015}


LOG = """\
atoms 10
step 0 energy -50 temp 300
step 50 energy -51 temp 301
step 100 energy -52 temp 302
time 3 s
"""
LIKE_A_LOG = """
summary = "molecules"
command = ["md"]
[time]
pattern = '^time (\\S+) s'
[results.atoms]
type = "integer"
pattern = '^atoms (\\d+)'
[results.step]
type = "reals"
pattern = '^step (\\d+)'
[results.energy]
type = "reals"
pattern = 'energy (\\S+)'
per = "atoms"
[[verify]]
result = "energy"
reference = "log"
by = "step"
relative = 1e-3
"""


def of_a_log(text: str, reference: str = LOG) -> Answer:
    return said(text, LIKE_A_LOG, references={0: reference})


def test_a_reference_is_parsed_like_the_output_and_compared_per_step() -> None:
    assert of_a_log(LOG).outcome == "ok"
    (checked,) = of_a_log(LOG).checked
    assert checked.startswith("energy ") and checked.endswith("(3 values)")
    larger = LOG.replace("10\n", "20\n").replace("-50", "-100").replace("-51", "-102")
    assert of_a_log(larger.replace("-52", "-104")).outcome == "ok"
    shorter = LOG.replace("step 50 energy -51 temp 301\n", "").replace("step 100", "step 20")
    (checked,) = of_a_log(shorter).checked
    assert checked.endswith("(1 of 2 values)")


def test_a_different_reference_is_a_wrong_answer() -> None:
    found = of_a_log(LOG.replace("-51", "-51.1"))

    assert found.outcome == "wrong"
    assert all(number in str(found.reason) for number in ("-5.11,", "-5.1 ", "0.0051"))


def test_the_lack_of_a_common_step_is_a_wrong_answer() -> None:
    found = of_a_log(LOG.replace("step ", "step 7"))

    assert found.outcome == "wrong"
    assert "energy" in str(found.reason)


def test_non_numeric_values_cannot_be_verified() -> None:
    found = of_a_log(LOG.replace(" energy -52", ""))

    assert found.outcome == "wrong"
    assert re.search(r"2 of energy.*3 of step", str(found.reason))
    found = of_a_log(LOG, LOG.replace(" energy -52", ""))
    assert found.outcome == "failed"
    assert re.search(r"reference .*2 of energy.*3", str(found.reason))


def test_a_reference_without_optional_values_is_reported() -> None:
    toml = LIKE_A_LOG.replace('per = "atoms"', 'per = "atoms"\nabsent = "if it is not asked for"')
    found = said(LOG, toml, references={0: LOG.replace("energy", "heat")})

    assert found.outcome == "failed"
    assert re.search("reference .*no energy", str(found.reason))


def test_a_truncated_reference_is_reported() -> None:
    found = of_a_log(LOG, "atoms 10\n")

    assert found.outcome == "failed"
    assert "reference" in str(found.reason)
