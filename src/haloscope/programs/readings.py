# SPDX-License-Identifier: BSD-3-Clause
"""What program.toml says of a program's output: times, points, phases, results, and checks."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from haloscope.programs.values import (
    NAME,
    RATES,
    SIZES,
    WORDS,
    Called,
    Capture,
    Pattern,
    ProgramTable,
    RateUnit,
    Real,
    StepsSaid,
    Unit,
    refuse,
)


class OutputRead(ProgramTable):
    """`[output]`: the output that is read after a launch, and how to detect that it is complete."""

    file: str | None = None
    """the name of a file that the program writes in its folder; standard output if omitted"""
    complete: Pattern | None = None
    """a regular expression that matches at the end of a complete output"""
    ranks: Capture | None = None
    """a regular expression whose group is the printed number of ranks"""
    threads: Capture | None = None
    """a regular expression whose group is the printed number of threads per rank"""


class TimeRead(ProgramTable):
    """`[time]`: the time of a step on the slowest rank; each match is one repetition."""

    pattern: Capture
    """a regular expression whose group is a time"""
    unit: Unit = "s"
    """the unit of the printed time: 'ns', 'us', 'ms', 's', 'min', or 'h'"""
    per: StepsSaid = 1
    """the number of steps in the printed time, as an integer or the name of a parameter"""


class PointsRead(ProgramTable):
    """`[points]`: the sizes of a sweep, one line per size; a size printed again is a repetition."""

    pattern: Pattern
    """a regular expression for each line, with the named groups (?P<size>), and (?P<time>) or
    (?P<rate>); records also keep the numbers of other named groups"""
    size_unit: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ ./-]{0,19}$")] = Field(
        "B",
        description=f"the unit of the group size: {', '.join(SIZES)}. Other words, such as "
        "elements or points, are also allowed; bandwidths and message models are then omitted",
    )
    unit: Unit = "s"
    """the unit of the group time: 'ns', 'us', 'ms', 's', 'min', or 'h'"""
    rate_unit: RateUnit = Field(
        "MB/s", description=f"the unit of the group rate: {', '.join(RATES)}"
    )
    per: StepsSaid = 1
    """the number of steps in the group time, as an integer or the name of a parameter"""
    messages: Annotated[int, Field(ge=1)] = 1
    """the number of messages of this size that a printed time covers, as an integer from 1; for
    example, 2 if both ranks send a message"""
    operation: Capture | None = None
    """a regular expression for headings; its group is the operation, such as allreduce, to which
    the lines below the heading belong"""

    @model_validator(mode="after")
    def _has_groups(self) -> PointsRead:
        groups = {*re.compile(self.pattern).groupindex}
        given = self.model_fields_set
        why = None
        if {"time", "rate"} <= groups:
            why = "'pattern' has both groups 'time' and 'rate', but each determines the other; "
            why += "remove 'rate', or rename it, for example to (?P<printed_rate>...)"
        elif "size" not in groups or not groups & {"time", "rate"}:
            why = "'pattern' must have the group 'size', and either 'time' or 'rate'"
        elif wrong := sorted(one for one in groups if not re.fullmatch(NAME, one)):
            why = f"invalid group name '{wrong[0]}': use lower-case letters, digits, and _"
        elif "rate" in groups and given & {"unit", "per"}:
            why = "'unit' and 'per' require the group 'time', but 'pattern' has the group 'rate'"
        elif "rate" in groups and self.size_unit not in SIZES:
            why = f"'size_unit' must be one of {', '.join(SIZES)} with the group 'rate', because "
            why += "times are computed from bytes"
        elif "time" in groups and "rate_unit" in given:
            why = "'rate_unit' requires the group 'rate', but 'pattern' has the group 'time'"
        refuse(why)
        return self


class PhasesRead(ProgramTable):
    """`[phases]`: the phases of a step and their times."""

    names: Annotated[list[str], Field(min_length=1)]
    """the names of the phases; the output must contain each of them"""
    pattern: Pattern
    """a regular expression for the line of each phase, with the named groups (?P<name>) and
    (?P<mean>) (the mean over ranks), and with (?P<min>) and (?P<max>) if the program prints them"""
    unit: Unit = "s"
    """the unit of the printed times: 'ns', 'us', 'ms', 's', 'min', or 'h'"""
    per: StepsSaid = 1
    """the number of steps in the printed times, as an integer or the name of a parameter"""

    @model_validator(mode="after")
    def _has_groups(self) -> PhasesRead:
        groups = {*re.compile(self.pattern).groupindex}
        why = None
        if not {"name", "mean"} <= groups or ("min" in groups) != ("max" in groups):
            why = "'pattern' must have the groups 'name' and 'mean', and 'min' only with 'max'"
        elif twice := [name for name in self.names if self.names.count(name) > 1]:
            why = f"'names' contains '{twice[0]}' twice"
        refuse(why)
        return self


class ResultRead(ProgramTable):
    """`[results.NAME]`: another value that the program prints."""

    type: Literal["integer", "real", "text", "reals"]
    """the type: 'integer', 'real', 'text', or 'reals' (all matches, in order)"""
    pattern: Capture
    """a regular expression whose group is the value"""
    which: Literal["first", "last"] = "last"
    """the match to use: 'first' or 'last'"""
    per: Called | None = None
    """the name of a result or parameter to divide the value by, such as atoms or steps"""
    unit: str | None = None
    """the unit to display, as a string such as s or B"""
    absent: str | None = None
    """a string that describes the cases in which the program does not print the result; if omitted,
    the program must always print it"""
    help: str = ""
    """the meaning of the result, as a string; printed by haloscope describe"""


class Check(ProgramTable):
    """`[[verify]]`: a condition for a correct answer."""

    says: Pattern | None = None
    """a regular expression that must match in the output"""
    result: Called | None = None
    """the name of the result to check against `least`, `most`, `expected`, or `reference`"""
    least: Real | Called | None = None
    """the smallest correct value, as a number or the name of a parameter"""
    most: Real | Called | None = None
    """the largest correct value, as a number or the name of a parameter"""
    expected: Real | None = None
    """the correct value, within the tolerance given by relative and absolute"""
    reference: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="the path of a correct output, from which the same result is read; * matches "
        f"any part of a name; {WORDS}",
    )
    by: Called | None = None
    """the name of the result by which each of several values is matched with its reference value,
    such as the step number"""
    relative: Annotated[Real, Field(ge=0)] = 0.0
    """the largest allowed relative deviation"""
    absolute: Annotated[Real, Field(ge=0)] = 0.0
    """the largest allowed absolute deviation"""

    @model_validator(mode="after")
    def _is_one_check(self) -> Check:
        bounded = self.least is not None or self.most is not None
        kinds = (self.says is not None, bounded, self.expected is not None, bool(self.reference))
        why = None
        if sum(kinds) != 1:
            why = (
                "exactly one of 'says', 'least' or 'most', 'expected', and 'reference' is required"
            )
        elif (self.says is None) != (self.result is not None):
            why = "'result' is required, except with 'says', where it is not allowed"
        elif (kinds[2] or kinds[3]) != (self.relative > 0 or self.absolute > 0):
            why = (
                "'relative' or 'absolute' is required with 'expected' or 'reference', and only then"
            )
        elif self.by is not None and not self.reference:
            why = "'by' is only allowed with 'reference'"
        refuse(why)
        return self
