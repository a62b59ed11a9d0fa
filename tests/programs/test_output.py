# SPDX-License-Identifier: BSD-3-Clause
"""What a program's words become: times, phases, results, verdicts; and what is no answer."""

from __future__ import annotations

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


def test_a_good_output_is_a_records_content() -> None:
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
    assert [*found.checked] == [
        "its output is whole",
        "it says that it ran on 2 ranks",
        "error is within bounds",
    ]


@pytest.mark.parametrize(
    ("before", "after", "outcome", "reason"),
    [
        (
            "end\n",
            "",
            "failed",
            "its output was cut off: nothing matches '^end$'; the last line is",
        ),
        ("ranks 2", "ranks 1", "misplaced", "it says that it ran on 1 rank, 2 were asked for: it"),
        ("ranks 2", "ranks 4", "misplaced", "it says that it ran on 4 ranks, 2 were asked for"),
        ("ranks 2\n", "", "failed", "it printed no number of ranks: nothing matches"),
        ("time", "clock", "failed", r"it printed no time: nothing matches '^time (\S+) ms'"),
        ("time 16", "time nan", "failed", "it printed 'nan' where a number was to stand"),
        ("time 16", "time 0", "failed", "it printed a time that is none: 0"),
        ("time 16", "time 1_6", "failed", "it printed '1_6' where a number was to stand"),
        ("time 16", "time -3", "failed", "it printed a time that is none: -3"),
        ("phase two", "phase 2", "failed", "it printed no time of its phase two"),
        ("phase two 0.5", "phase two -1", "failed", "its phase two has times that are none"),
        ("ranks 2", "ranks " + "9" * 400, "failed", f"it printed '{'9' * 80}' where a whole num"),
        ("error 1e-3", "", "failed", "it printed no error: nothing matches"),
        ("error 1e-3", "error 0.2", "wrong", "error is 0.2, and must be 0.1 or less"),
    ],
)
def test_what_is_no_answer_is_told(before: str, after: str, outcome: str, reason: str) -> None:
    assert before in GOOD
    found = said(GOOD.replace(before, after))

    assert (found.outcome, (found.reason or "")[: len(reason)]) == (outcome, reason)


def test_a_time_beyond_all_numbers_is_none() -> None:
    found = said(
        GOOD.replace("time 16", "time 1e308"), TOML.replace('unit = "ms"', 'unit = "h"', 1)
    )

    assert (found.outcome, found.reason) == ("failed", "it printed a time that is none: 1e308")


def test_an_empty_output_says_so() -> None:
    assert said("").reason == "its output was cut off: nothing matches '^end$'; it is empty"


@pytest.mark.parametrize(
    ("before", "after", "text", "reason"),
    [
        (
            "^time (\\S+) ms",
            "^time(?: (\\S+) ms)?",
            ("time 16 ms", "time"),
            "it printed '' where a n",
        ),
        (
            " (?P<mean>\\S+)$",
            "(?: (?P<mean>\\S+))?$",
            ("two 0.5", "two"),
            "it printed no time of its",
        ),
    ],
)
def test_a_group_that_took_part_in_no_match_is_no_number(
    before: str, after: str, text: tuple[str, str], reason: str
) -> None:
    assert before in TOML
    found = said(GOOD.replace(*text), TOML.replace(before, after))

    assert (found.outcome, (found.reason or "")[: len(reason)]) == ("failed", reason)


@pytest.mark.parametrize("order", ["mean min max", "max min mean", "min mean max"])
def test_times_of_a_phase_may_stand_in_any_order(order: str) -> None:
    values = {"min": "8", "mean": "16", "max": "24"}
    pattern = " ".join(f"(?P<{key}>\\S+)" for key in order.split())
    numbers = " ".join(values[key] for key in order.split())
    toml = TOML.replace("(?P<mean>\\S+)", pattern)
    text = GOOD.replace("one 8", f"one {numbers}").replace("two 0.5", "two 1 1 1")

    found = said(text, toml)

    assert found.measured is not None
    assert found.measured["phases"][0]["time_s"] == {"min": 0.001, "mean": 0.002, "max": 0.003}
    assert said(text.replace(" 16", " 7"), toml).outcome == "failed"


def test_numbers_of_fortran_are_numbers() -> None:
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


def test_a_reference_is_read_as_the_output_is_and_compared_step_by_step() -> None:
    assert of_a_log(LOG).outcome == "ok"
    assert [*of_a_log(LOG).checked] == ["energy is as in its reference (3 values)"]
    larger = LOG.replace("10\n", "20\n").replace("-50", "-100").replace("-51", "-102")
    assert of_a_log(larger.replace("-52", "-104")).outcome == "ok"
    shorter = LOG.replace("step 50 energy -51 temp 301\n", "").replace("step 100", "step 20")
    assert [*of_a_log(shorter).checked] == ["energy is as in its reference (1 of 2 values)"]


def test_a_reference_that_differs_is_a_wrong_answer() -> None:
    found = of_a_log(LOG.replace("-51", "-51.1"))

    assert found.outcome == "wrong"
    assert found.reason == "energy is -5.11, and -5.1 in its reference, within 0.0051"


def test_no_common_step_is_a_wrong_answer() -> None:
    found = of_a_log(LOG.replace("step ", "step 7"))

    assert found.outcome == "wrong"
    assert found.reason == "energy can't be verified: nothing of it was printed"


def test_values_without_a_number_each_can_not_be_verified() -> None:
    found = of_a_log(LOG.replace(" energy -52", ""))

    assert found.outcome == "wrong"
    assert found.reason == "energy can't be verified: it printed 2 of energy and 3 of step"
    found = of_a_log(LOG, LOG.replace(" energy -52", ""))
    assert found.outcome == "failed"
    assert str(found.reason).endswith("in the reference, it printed 2 of energy and 3 of step")


def test_a_reference_without_what_may_be_absent_is_told() -> None:
    toml = LIKE_A_LOG.replace('per = "atoms"', 'per = "atoms"\nabsent = "if it is not asked for"')
    found = said(LOG, toml, references={0: LOG.replace("energy", "heat")})

    assert found.outcome == "failed"
    assert str(found.reason).endswith("in the reference, it printed no energy")


def test_a_reference_that_is_cut_off_is_told() -> None:
    found = of_a_log(LOG, "atoms 10\n")

    assert found.outcome == "failed"
    assert str(found.reason).startswith("there is nothing to verify it by: in the reference, it p")
