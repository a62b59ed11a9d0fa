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
BUILT_IN = {
    "ranks": "all processes",
    "nodes": "nodes",
    "ppn": "processes per node",
    "threads": "threads of each process",
    "box_x": "ranks = box_x x box_y x box_z, as alike as can be, box_x the largest",
    "box_y": "see box_x",
    "box_z": "see box_x",
    "rectangle_x": "ranks = rectangle_x x rectangle_y, as alike as can be, rectangle_x the larger",
    "rectangle_y": "see rectangle_x",
    "folder": "the folder that program.toml lies in",
    "run": "the folder that a launch runs in: its own, and empty but for its inputs",
}
"""BUILT_IN are the names that stand in braces for what every launch has."""
NAME = r"[a-z][a-z0-9_]{0,63}"
"""NAME is what a program, a parameter, a result or a need may be called: they stand in records."""
_WORDS = "a text, in which {name} stands for a parameter, a need or what every launch has"


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise PydanticCustomError("pattern", "{why}", {"why": str(error)}) from error
    return text


def _captures(text: str) -> str:
    if re.compile(text).groups < 1:
        raise PydanticCustomError("pattern", "{why}", {"why": "it has no group ( ) for the value"})
    return text


def _number(value: object) -> object:
    """A number, whole or not; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    return float(value)


def _finite(value: float) -> bool:
    """Whether a number, whole or not, is one that times can be divided by."""
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
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ProgramParameter(_Table):
    """`[parameters.NAME]`: one key = value that a study may give, and list as an axis."""

    type: Literal["integer", "real", "choice", "text"] = Field(
        description="'integer', 'real', 'choice' (of choices) or 'text' (that matches a pattern)"
    )
    default: Any = Field(description="what it is where a study does not give it")
    minimum: Real | None = Field(None, description="the smallest number: of integer and real")
    maximum: Real | None = Field(None, description="the largest number: of integer and real")
    choices: list[str] = Field(default_factory=list, description="of choice: its texts")
    matches: Pattern | None = Field(
        None, description="of text: a regular expression that all of the text must match"
    )
    unit: str | None = Field(None, description="a text, for people: 's', 'B'")
    help: str = Field("", description="a text: what it means")

    def problem(self, value: object) -> str | None:
        """What such a value must be instead; None where it will do."""
        if self.type in ("integer", "real"):
            whole = self.type == "integer"
            kinds: tuple[type, ...] = (int,) if whole else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds):
                return "a whole number" if whole else "a number"
            if not _finite(value):  # type: ignore[arg-type]
                return "a finite number"
            if self.minimum is not None and value < self.minimum:  # type: ignore[operator]
                return f"{self.minimum:.15g} or more"
            if self.maximum is not None and value > self.maximum:  # type: ignore[operator]
                return f"{self.maximum:.15g} or less"
            return None
        if self.type == "choice":
            return None if value in self.choices else f"one of {', '.join(self.choices)}"
        if isinstance(value, str) and re.fullmatch(self.matches or "", value):
            return None
        return f"a text that matches {self.matches}"

    @model_validator(mode="after")
    def _whole(self) -> ProgramParameter:
        """What its type needs is there, and its default would do."""
        why = None
        if (self.type == "choice") != bool(self.choices):
            why = "choices belong to type = 'choice', which needs them"
        elif (self.type == "text") != (self.matches is not None):
            why = "matches belongs to type = 'text', which needs it: a study may give any text"
        elif self.type not in ("integer", "real") and (self.minimum, self.maximum) != (None, None):
            why = "minimum and maximum belong to numbers"
        elif wanted := self.problem(self.default):
            why = f"its default {self.default!r} won't do: {wanted}"
        if why:
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self


class Said(_Table):
    """One thing that an executable must say of itself, or it can't be used."""

    pattern: Pattern = Field(description="a regular expression that must be found in what it says")
    lacking: str = Field(description="a text: what is wrong where it is not, and what to do")


class Need(_Table):
    """`[needs.NAME]`: an executable, file or folder that is not the program's own; {NAME} is it."""

    kind: Literal["executable", "file", "folder"] = Field(
        description="'executable', 'file' or 'folder'"
    )
    get: str = Field(description="a text: how to get it, told where it is not there")
    variable: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = Field(
        None, description="a variable of the environment that has its path: looked at first"
    )
    added: Called | None = Field(
        None, description="what `haloscope toolchain add` calls it: looked at next"
    )
    below: str | None = Field(
        None, description="where it is in what was added: a path, * for any part of a name"
    )
    names: list[str] = Field(
        default_factory=list, description="of an executable: its names in PATH, looked at last"
    )
    holds: list[str] = Field(
        default_factory=list, description="of a folder: files that it must hold, * as in below"
    )
    ask: list[str] = Field(
        default_factory=list, description="of an executable: words that make it tell of itself"
    )
    says: list[Said] = Field(
        default_factory=list, description="what must be found in what it then says"
    )
    version: Capture | None = Field(
        None, description="a regular expression whose group is its version, in what it says"
    )

    @model_validator(mode="after")
    def _can_be_found(self) -> Need:
        """It says where to look, and asks nothing of what is no program."""
        why = None
        if not (self.variable or self.added or self.names):
            why = "it says nowhere to look: give variable, added or names"
        elif (self.added is None) != (self.below is None):
            why = "added and below belong together"
        elif {one[:1] for one in (self.below, *self.holds) if one is not None} & {"", "/"}:
            why = "below and holds are paths from a folder on: not empty, and with no / first"
        elif self.kind != "executable" and (self.names or self.ask or self.says or self.version):
            why = "names, ask, says and version belong to kind = 'executable'"
        elif self.kind != "folder" and self.holds:
            why = "holds belongs to kind = 'folder'"
        elif (self.says or self.version) and not self.ask:
            why = "says and version need ask: the words that make it tell of itself"
        if why:
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self


class Replacement(_Table):
    """A part of an input file that is another one in every case."""

    pattern: Pattern = Field(description="a regular expression that must be found in the file")
    by: str = Field(description=f"{_WORDS}, in its place")


class InputFile(_Table):
    """`[[inputs]]`: a file that lies in a launch's folder before it begins."""

    file: str = Field(description=f"{_WORDS}: its path; {{folder}}/ is before a relative one")
    name: str | None = Field(
        None, description="what it is called in the launch's folder; its own name if not said"
    )
    fill: bool = Field(
        False, description="true: {name} of a parameter, a need or a launch is filled in in it, too"
    )
    replace: list[Replacement] = Field(
        default_factory=list, description="parts of it that differ from case to case"
    )

    @model_validator(mode="after")
    def _lies_inside(self) -> InputFile:
        if self.name in (".", "..") or not re.fullmatch(r"[\w.+-]+", self.name or "any"):
            raise PydanticCustomError("told", "{why}", {"why": "name is a file's name, no path"})
        return self


class OutputRead(_Table):
    """`[output]`: what is read when a launch has ended, and what says that it is whole."""

    file: str | None = Field(
        None, description="a file that it writes in its folder; if not said, what it prints"
    )
    complete: Pattern | None = Field(
        None, description="a regular expression: what is at its end if it was not cut off"
    )
    ranks: Capture | None = Field(
        None,
        description="a regular expression whose group is the number of ranks that it says it has",
    )
    threads: Capture | None = Field(None, description="the same of its threads, of each rank")


class TimeRead(_Table):
    """`[time]`: the time of a step, the slowest rank's; where it stands often, of repetitions."""

    pattern: Capture = Field(description="a regular expression whose group is a time")
    unit: Unit = Field("s", description="'ns', 'us', 'ms', 's', 'min' or 'h'")
    per: StepsSaid = Field(
        1, description="the steps that it is of: a whole number, or the parameter that says it"
    )


class PointsRead(_Table):
    """`[points]`: the sizes that one launch sweeps, a line each; a size that comes again is a
    repetition."""

    pattern: Pattern = Field(
        description="a regular expression that finds each line, with the named groups (?P<size>) "
        "in bytes, and (?P<time>) or (?P<rate>); other named groups are numbers that records keep "
        "with the point"
    )
    unit: Unit = Field("s", description="of the group time: as of [time]")
    rate_unit: RateUnit = Field("MB/s", description=f"of the group rate: {', '.join(RATES)}")
    per: StepsSaid = Field(1, description="of the group time: as of [time]")
    messages: Annotated[int, Field(ge=1)] = Field(
        1, description="messages of that size in a printed time: 2 where each rank sends one"
    )
    operation: Capture | None = Field(
        None,
        description="a regular expression whose group names what the lines below it time, until "
        "it is found again: allreduce",
    )

    @model_validator(mode="after")
    def _has_groups(self) -> PointsRead:
        groups = {*re.compile(self.pattern).groupindex}
        given = self.model_fields_set
        why = None
        if "size" not in groups or len(groups & {"time", "rate"}) != 1:
            why = "pattern needs the group size, and one of the groups time and rate"
        elif wrong := sorted(one for one in groups if not re.fullmatch(NAME, one)):
            why = f"a group can't be called {wrong[0]}: give small letters, digits and _"
        elif "rate" in groups and given & {"unit", "per"}:
            why = "unit and per belong to the group time, and pattern has rate"
        elif "time" in groups and "rate_unit" in given:
            why = "rate_unit belongs to the group rate, and pattern has time"
        if why:
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self


class PhasesRead(_Table):
    """`[phases]`: what parts of the time went to what."""

    names: Annotated[list[str], Field(min_length=1)] = Field(
        description="the phases, each of which must be printed"
    )
    pattern: Pattern = Field(
        description="a regular expression that finds each one, with the named groups (?P<name>), "
        "(?P<mean>) over ranks and, where they are printed, (?P<min>) and (?P<max>)"
    )
    unit: Unit = Field("s", description="as of the time")
    per: StepsSaid = Field(1, description="as of the time")

    @model_validator(mode="after")
    def _has_groups(self) -> PhasesRead:
        groups = {*re.compile(self.pattern).groupindex}
        why = None
        if not {"name", "mean"} <= groups or ("min" in groups) != ("max" in groups):
            why = "pattern needs the groups name and mean, and may have min and max"
        elif twice := [name for name in self.names if self.names.count(name) > 1]:
            why = f"names has {twice[0]} twice"
        if why:
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self


class ResultRead(_Table):
    """`[results.NAME]`: something else that it prints."""

    type: Literal["integer", "real", "text", "reals"] = Field(
        description="'integer', 'real', 'text'; 'reals' are all that are found, in their order"
    )
    pattern: Capture = Field(description="a regular expression whose group is the value")
    which: Literal["first", "last"] = Field(
        "last", description="'first' or 'last', where it is found several times"
    )
    per: Called | None = Field(
        None, description="a result or a parameter that it is divided by, as atoms or steps"
    )
    unit: str | None = Field(None, description="a text, for people: 's', 'B'")
    absent: str | None = Field(
        None, description="a text: when it is not printed; if not said, it always must be"
    )
    help: str = Field("", description="a text: what it means")


class Check(_Table):
    """`[[verify]]`: what must be true of a launch's answer, or it is wrong."""

    says: Pattern | None = Field(
        None, description="a regular expression that must be found in the output"
    )
    result: Called | None = Field(None, description="a result: then some of the keys that follow")
    least: Real | Called | None = Field(
        None, description="the smallest that it may be: a number, or the parameter that says it"
    )
    most: Real | Called | None = Field(
        None, description="the largest that it may be: a number, or the parameter that says it"
    )
    expected: Real | None = Field(None, description="what it should be, within relative + absolute")
    reference: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description=f"{_WORDS}: the path of an output that was good, * for any part of a name; the "
        "same result is read there",
    )
    by: Called | None = Field(
        None,
        description="of several values beside a reference: the result that says which belong "
        "together, as the number of a step",
    )
    relative: Annotated[Real, Field(ge=0)] = Field(
        0.0, description="how far off it may be, over what is expected"
    )
    absolute: Annotated[Real, Field(ge=0)] = Field(0.0, description="the same, by itself")

    @model_validator(mode="after")
    def _is_one_check(self) -> Check:
        bounded = self.least is not None or self.most is not None
        kinds = (self.says is not None, bounded, self.expected is not None, bool(self.reference))
        why = None
        if sum(kinds) != 1:
            why = "give one of: says; least or most; expected; reference"
        elif (self.says is None) != (self.result is not None):
            why = "least, most, expected and reference are of a result, and says is of none"
        elif (kinds[2] or kinds[3]) != (self.relative > 0 or self.absolute > 0):
            why = "expected and reference need relative or absolute, and nothing else has them"
        elif self.by is not None and not self.reference:
            why = "by belongs to reference"
        if why:
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self


class ProgramFile(_Table):
    """A whole program.toml. The program is called as the folder that the file lies in."""

    summary: str = Field(description="a text: what it does, and what a step is")
    command: Annotated[list[str], Field(min_length=1)] = Field(
        description="the words that each rank runs, without a launcher and without a shell: in "
        "each, {name} stands for a parameter, a need or what every launch has"
    )
    paper: str | None = Field(None, description="a text: where it was published")
    memory_bytes_a_rank: Annotated[Real, Field(gt=0)] | None = Field(
        None, description="what a rank takes at most: cases for which there is less are refused"
    )
    environment: dict[Variable, str] = Field(
        default_factory=dict, description="variables of its own: VARIABLE = text, as in command"
    )
    time: TimeRead | None = Field(
        None, description="the table [time]; a file has this one or [points]"
    )
    points: PointsRead | None = Field(
        None, description="the table [points], of a program that sweeps sizes in one launch"
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
            why = "give one of [time] and [points]: its time is of a step, or of each size"
            raise PydanticCustomError("told", "{why}", {"why": why})
        return self

    @property
    def units(self) -> dict[str, str]:
        """The units that are declared, by the names of parameters and results."""
        declared: dict[str, ProgramParameter | ResultRead] = {**self.parameters, **self.results}
        return {name: one.unit for name, one in declared.items() if one.unit}
