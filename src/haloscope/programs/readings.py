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
    """`[output]`: the output that is read after a launch, and how to tell that it is complete."""

    file: str | None = Field(
        None, description="a file that the program writes in its folder; standard output if omitted"
    )
    complete: Pattern | None = Field(
        None, description="a regular expression that matches at the end of complete output"
    )
    ranks: Capture | None = Field(
        None, description="a regular expression whose group is the printed number of ranks"
    )
    threads: Capture | None = Field(
        None,
        description="a regular expression whose group is the printed number of threads per rank",
    )


class TimeRead(ProgramTable):
    """`[time]`: the time of a step on the slowest rank; further matches are repetitions."""

    pattern: Capture = Field(description="a regular expression whose group is a time")
    unit: Unit = Field("s", description="'ns', 'us', 'ms', 's', 'min', or 'h'")
    per: StepsSaid = Field(
        1, description="an integer, or the name of a parameter: the steps in the printed time"
    )


class PointsRead(ProgramTable):
    """`[points]`: the sizes of a sweep, one line each; a size printed again is a repetition."""

    pattern: Pattern = Field(
        description="a regular expression for each line, with the named groups (?P<size>), and "
        "(?P<time>) or (?P<rate>); records also keep the numbers of other named groups"
    )
    size_unit: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_ ./-]{0,19}$")] = Field(
        "B",
        description=f"the unit of the group size: {', '.join(SIZES)}. Any other word, such as "
        "elements or points, is allowed; bandwidths and message models are then omitted",
    )
    unit: Unit = Field("s", description="the unit of the group time, as in [time]")
    rate_unit: RateUnit = Field(
        "MB/s", description=f"the unit of the group rate: {', '.join(RATES)}"
    )
    per: StepsSaid = Field(1, description="the steps in the group time, as in [time]")
    messages: Annotated[int, Field(ge=1)] = Field(
        1, description="the messages of that size in a printed time: 2 if both ranks send one"
    )
    operation: Capture | None = Field(
        None,
        description="a regular expression for headings: its group names the operation of the lines "
        "below, such as allreduce",
    )

    @model_validator(mode="after")
    def _has_groups(self) -> PointsRead:
        groups = {*re.compile(self.pattern).groupindex}
        given = self.model_fields_set
        why = None
        if {"time", "rate"} <= groups:
            why = "pattern has both groups time and rate, but each follows from the other and the "
            why += "size; remove rate, or rename it, for example to (?P<printed_rate>...)"
        elif "size" not in groups or not groups & {"time", "rate"}:
            why = "pattern must have the group size, and one of the groups time and rate"
        elif wrong := sorted(one for one in groups if not re.fullmatch(NAME, one)):
            why = f"invalid group name {wrong[0]}: use lower-case letters, digits, and _"
        elif "rate" in groups and given & {"unit", "per"}:
            why = "unit and per require the group time, but pattern has the group rate"
        elif "rate" in groups and self.size_unit not in SIZES:
            why = f"size_unit must be one of {', '.join(SIZES)} with the group rate, whose time "
            why += "follows from the bytes"
        elif "time" in groups and "rate_unit" in given:
            why = "rate_unit requires the group rate, but pattern has the group time"
        refuse(why)
        return self


class PhasesRead(ProgramTable):
    """`[phases]`: the phases of a step and their times."""

    names: Annotated[list[str], Field(min_length=1)] = Field(
        description="the names of the phases; the output must contain each"
    )
    pattern: Pattern = Field(
        description="a regular expression for each phase, with the named groups (?P<name>) and "
        "(?P<mean>) (over ranks), and (?P<min>) and (?P<max>) if printed"
    )
    unit: Unit = Field("s", description="the unit, as in [time]")
    per: StepsSaid = Field(1, description="the steps, as in [time]")

    @model_validator(mode="after")
    def _has_groups(self) -> PhasesRead:
        groups = {*re.compile(self.pattern).groupindex}
        why = None
        if not {"name", "mean"} <= groups or ("min" in groups) != ("max" in groups):
            why = "pattern must have the groups name and mean, and may have both min and max"
        elif twice := [name for name in self.names if self.names.count(name) > 1]:
            why = f"names contains {twice[0]} twice"
        refuse(why)
        return self


class ResultRead(ProgramTable):
    """`[results.NAME]`: another printed value."""

    type: Literal["integer", "real", "text", "reals"] = Field(
        description="'integer', 'real', 'text', or 'reals' (all matches, in order)"
    )
    pattern: Capture = Field(description="a regular expression whose group is the value")
    which: Literal["first", "last"] = Field(
        "last", description="'first' or 'last': the match that counts"
    )
    per: Called | None = Field(
        None, description="a result or parameter to divide by, such as atoms or steps"
    )
    unit: str | None = Field(None, description="a text, for people: 's', 'B'")
    absent: str | None = Field(
        None, description="a text: when the program does not print it; required if omitted"
    )
    help: str = Field("", description="a text for describe: the meaning")


class Check(ProgramTable):
    """`[[verify]]`: a condition for a correct answer."""

    says: Pattern | None = Field(
        None, description="a regular expression that the output must contain"
    )
    result: Called | None = Field(None, description="a result to check with one of the keys below")
    least: Real | Called | None = Field(
        None, description="a number, or the name of a parameter: the smallest correct value"
    )
    most: Real | Called | None = Field(
        None, description="a number, or the name of a parameter: the largest correct value"
    )
    expected: Real | None = Field(None, description="the correct value, within relative + absolute")
    reference: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description=f"{WORDS}: the path of a correct output, * for any part of a name, from which "
        "the same result is read",
    )
    by: Called | None = Field(
        None,
        description="the result that pairs several values with those of reference, such as the "
        "number of a step",
    )
    relative: Annotated[Real, Field(ge=0)] = Field(
        0.0, description="the largest relative deviation"
    )
    absolute: Annotated[Real, Field(ge=0)] = Field(
        0.0, description="the largest absolute deviation"
    )

    @model_validator(mode="after")
    def _is_one_check(self) -> Check:
        bounded = self.least is not None or self.most is not None
        kinds = (self.says is not None, bounded, self.expected is not None, bool(self.reference))
        why = None
        if sum(kinds) != 1:
            why = "exactly one of says, least or most, expected, and reference is required"
        elif (self.says is None) != (self.result is not None):
            why = "result is required with least, most, expected, and reference, but not with says"
        elif (kinds[2] or kinds[3]) != (self.relative > 0 or self.absolute > 0):
            why = "relative or absolute is required with expected and reference, and only there"
        elif self.by is not None and not self.reference:
            why = "by is only allowed with reference"
        refuse(why)
        return self
