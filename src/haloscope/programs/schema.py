# SPDX-License-Identifier: BSD-3-Clause
"""What a program.toml may say: every key, what it may be, and what it means; read by `file`."""

from __future__ import annotations

import re
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
"""UNITS are those that a program may print its times in, each in seconds."""
RATES = {
    **{"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
    **{"KiB/s": 2.0**10, "MiB/s": 2.0**20, "GiB/s": 2.0**30},
    **{"kbit/s": 1e3 / 8, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8},
}
"""RATES are those that a program may print its bandwidths in, each in bytes per second."""
SIZES = {
    **{"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}
"""SIZES are the units that a program may print sizes of memory in, each in bytes."""
BUILT_IN = {
    "ranks": "the number of processes",
    "nodes": "the number of nodes",
    "ppn": "processes per node",
    "threads": "threads per process",
    "box_x": "ranks = box_x x box_y x box_z, as equal as possible, box_x the largest",
    "box_y": "see box_x",
    "box_z": "see box_x",
    "rectangle_x": "ranks = rectangle_x x rectangle_y, as equal as possible, rectangle_x larger",
    "rectangle_y": "see rectangle_x",
    "folder": "the folder of program.toml",
    "run": "the folder of the launch, which contains only its inputs",
}
NAME = r"[a-z][a-z0-9_]{0,63}"
"""NAME is what a program, a parameter, a result or a need may be called: they stand in records."""
_WORDS = "a text with {name} for a parameter, a need, or a built-in name"


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise PydanticCustomError("pattern", "{why}", {"why": str(error)}) from error
    return text


def _captures(text: str) -> str:
    if (groups := re.compile(text).groups) != 1:
        why = f"the pattern has {groups or 'no'} groups ( ); it needs one, for the value: "
        why += "write others as (?: )"
        raise PydanticCustomError("pattern", "{why}", {"why": why})
    return text


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return float(value)


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


Pattern = Annotated[str, AfterValidator(_pattern)]
Capture = Annotated[str, AfterValidator(_pattern), AfterValidator(_captures)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Called = Annotated[str, Field(pattern=f"^{NAME}$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Unit = Literal["ns", "us", "ms", "s", "min", "h"]
RateUnit = Literal[
    "B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s", "kbit/s", "Mbit/s", "Gbit/s"
]
StepsSaid = Annotated[int, Field(ge=1)] | Called


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class ProgramParameter(_Table):
    """`[parameters.NAME]`: a parameter that studies set with key = value, or list as an axis."""

    type: Literal["integer", "real", "choice", "text"] = Field(
        description="'integer', 'real', 'choice' (see choices), or 'text' (see matches)"
    )
    default: Any = Field(description="the value if a study does not set it")
    minimum: Real | None = Field(None, description="the smallest value (integer, real)")
    maximum: Real | None = Field(None, description="the largest value (integer, real)")
    choices: list[str] = Field(default_factory=list, description="the allowed texts (choice)")
    matches: Pattern | None = Field(
        None, description="a regular expression that the whole text must match (text)"
    )
    unit: str | None = Field(None, description="a text, for people: 's', 'B'")
    help: str = Field("", description="a text for describe: the meaning")

    def problem(self, value: object) -> str | None:
        """What such a value must be instead; None where it will do."""
        if self.type in ("integer", "real"):
            whole = self.type == "integer"
            kinds: tuple[type, ...] = (int,) if whole else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds):
                return "an integer" if whole else "a number"
            if not _finite(value):  # type: ignore[arg-type]
                return "a finite number"
            if self.minimum is not None and value < self.minimum:  # type: ignore[operator]
                return f"at least {self.minimum:.15g}"
            if self.maximum is not None and value > self.maximum:  # type: ignore[operator]
                return f"at most {self.maximum:.15g}"
            return None
        if self.type == "choice":
            return None if value in self.choices else f"one of {', '.join(self.choices)}"
        if isinstance(value, str) and re.fullmatch(self.matches or "", value):
            return None
        return f"a string that matches {self.matches}"

    @model_validator(mode="after")
    def _whole(self) -> ProgramParameter:
        """Check that the keys fit the type, and that the default is valid."""
        why = None
        if (self.type == "choice") != bool(self.choices):
            why = "choices is required for type = 'choice', and only allowed there"
        elif (self.type == "text") != (self.matches is not None):
            why = "matches is required for type = 'text', and only allowed there"
        elif self.type not in ("integer", "real") and (self.minimum, self.maximum) != (None, None):
            why = "minimum and maximum are only allowed for type = 'integer' and 'real'"
        elif expected := self.problem(self.default):
            why = f"the default {self.default!r} is invalid: expected {expected}"
        if why:
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class Said(_Table):
    """A line that the executable must print, or it is refused."""

    pattern: Pattern = Field(description="a regular expression that its output must contain")
    lacking: str = Field(description="a text: the error without it, and the remedy")


class Need(_Table):
    """`[needs.NAME]`: an executable, file, or folder that the program needs; {NAME} is its path."""

    kind: Literal["executable", "file", "folder"] = Field(
        description="'executable', 'file', or 'folder'"
    )
    get: str = Field(description="a text for the error if it is missing: how to get it")
    variable: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = Field(
        None, description="an environment variable with its path, tried first"
    )
    added: Called | None = Field(
        None, description="its name in `haloscope toolchain add`, tried next"
    )
    below: str | None = Field(
        None, description="the path in the added software, * for any part of a name"
    )
    names: list[str] = Field(
        default_factory=list, description="names of the executable in PATH, tried last"
    )
    holds: list[str] = Field(
        default_factory=list, description="files that the folder must contain, * as in below"
    )
    ask: list[str] = Field(
        default_factory=list,
        description="arguments that make the executable print its version or features",
    )
    says: list[Said] = Field(
        default_factory=list, description="what the output of ask must contain"
    )
    version: Capture | None = Field(
        None, description="a regular expression whose group is the version, in the output of ask"
    )

    @model_validator(mode="after")
    def _can_be_found(self) -> Need:
        why = None
        if not (self.variable or self.added or self.names):
            why = "at least one of variable, added, and names is required"
        elif (self.added is None) != (self.below is None):
            why = "added and below must be given together"
        elif {one[:1] for one in (self.below, *self.holds) if one is not None} & {"", "/"}:
            why = "below and holds must be relative paths, and not empty"
        elif self.kind != "executable" and (self.names or self.ask or self.says or self.version):
            why = "names, ask, says, and version are only allowed for kind = 'executable'"
        elif self.kind != "folder" and self.holds:
            why = "holds is only allowed for kind = 'folder'"
        elif (self.says or self.version) and not self.ask:
            why = "says and version require ask, the command whose output they match"
        if why:
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class Replacement(_Table):
    """A part of an input file that depends on the case."""

    pattern: Pattern = Field(description="a regular expression that the file must contain")
    by: str = Field(description=f"{_WORDS}: the replacement")


class InputFile(_Table):
    """`[[inputs]]`: a file that is put in the folder of each launch."""

    file: str = Field(description=f"{_WORDS}: its path, relative to {{folder}}")
    name: str | None = Field(
        None, description="its name in the folder of the launch; its own name if omitted"
    )
    fill: bool = Field(False, description="true to replace {name} inside the file, too")
    replace: list[Replacement] = Field(
        default_factory=list, description="parts of the file that depend on the case"
    )

    @model_validator(mode="after")
    def _lies_inside(self) -> InputFile:
        if self.name in (".", "..") or not re.fullmatch(r"[\w.+-]+", self.name or "any"):
            why = "name must be a file name without a path"
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class OutputRead(_Table):
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


class TimeRead(_Table):
    """`[time]`: the time of a step on the slowest rank; further matches are repetitions."""

    pattern: Capture = Field(description="a regular expression whose group is a time")
    unit: Unit = Field("s", description="'ns', 'us', 'ms', 's', 'min', or 'h'")
    per: StepsSaid = Field(
        1, description="an integer, or the name of a parameter: the steps in the printed time"
    )


class PointsRead(_Table):
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
            why = "pattern has the groups time and rate, of which one is allowed: the other follows"
            why += " from the size; remove rate, or rename it, such as (?P<printed_rate>...)"
        elif "size" not in groups or not groups & {"time", "rate"}:
            why = "pattern must have the group size, and one of the groups time and rate"
        elif wrong := sorted(one for one in groups if not re.fullmatch(NAME, one)):
            why = f"invalid group name {wrong[0]}: use lower-case letters, digits, and _"
        elif "rate" in groups and given & {"unit", "per"}:
            why = "unit and per are only allowed with the group time, and pattern has rate"
        elif "rate" in groups and self.size_unit not in SIZES:
            why = f"size_unit must be one of {', '.join(SIZES)} with the group rate, whose time "
            why += "follows from the bytes"
        elif "time" in groups and "rate_unit" in given:
            why = "rate_unit is only allowed with the group rate, and pattern has time"
        if why:
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class PhasesRead(_Table):
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
        if why:
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class ResultRead(_Table):
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


class Check(_Table):
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
        description=f"{_WORDS}: the path of a correct output, * for any part of a name, from which "
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
        if why:
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self


class ProgramFile(_Table):
    """The keys at the top of the file. The folder's name is the name of the kernel."""

    summary: str = Field(description="a text: what the program does, and what a step is")
    command: Annotated[list[str], Field(min_length=1)] = Field(
        description="the command of each rank as a list of arguments, without launcher or shell, "
        "with {name} for a parameter, a need, or a built-in name"
    )
    paper: str | None = Field(None, description="a text: the publication")
    memory_bytes_a_rank: Annotated[Real, Field(gt=0)] | None = Field(
        None, description="maximum memory per rank; cases that do not fit are refused"
    )
    environment: dict[Variable, str] = Field(
        default_factory=dict, description="environment variables: VARIABLE = text, as in command"
    )
    time: TimeRead | None = Field(
        None, description="the table [time]; a file has either [time] or [points]"
    )
    points: PointsRead | None = Field(
        None, description="the table [points], for a program that sweeps sizes in one launch"
    )
    output: OutputRead = Field(default_factory=OutputRead, description="the table [output]")
    parameters: dict[Called, ProgramParameter] = Field(
        default_factory=dict, description="tables [parameters.NAME]"
    )
    needs: dict[Called, Need] = Field(default_factory=dict, description="tables [needs.NAME]")
    inputs: list[InputFile] = Field(default_factory=list, description="tables [[inputs]]")
    phases: PhasesRead | None = Field(None, description="the table [phases]")
    results: dict[Called, ResultRead] = Field(
        default_factory=dict, description="tables [results.NAME]"
    )
    verify: list[Check] = Field(default_factory=list, description="tables [[verify]]")

    @model_validator(mode="after")
    def _is_timed(self) -> ProgramFile:
        if (self.time is None) == (self.points is None):
            why = "exactly one of [time] and [points] is required"
            raise PydanticCustomError("rule", "{why}", {"why": why})
        return self

    @property
    def units(self) -> dict[str, str]:
        """The units that are declared, by the names of parameters and results."""
        declared: dict[str, ProgramParameter | ResultRead] = {**self.parameters, **self.results}
        return {name: one.unit for name, one in declared.items() if one.unit}
