# SPDX-License-Identifier: BSD-3-Clause
"""What a program.toml may say: every key, what it may be, and what it means; read by `file`."""

from __future__ import annotations

import re
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from haloscope.programs.readings import (
    Check,
    OutputRead,
    PhasesRead,
    PointsRead,
    ResultRead,
    TimeRead,
)
from haloscope.programs.values import (
    WORDS,
    Called,
    Capture,
    Pattern,
    ProgramTable,
    Real,
    Variable,
    refuse,
)

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


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


class ProgramParameter(ProgramTable):
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
        refuse(why)
        return self


class Said(ProgramTable):
    """A line that the executable must print, or it is refused."""

    pattern: Pattern = Field(description="a regular expression that its output must contain")
    lacking: str = Field(description="a text: the error without it, and the remedy")


class Need(ProgramTable):
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
        refuse(why)
        return self


class Replacement(ProgramTable):
    """A part of an input file that depends on the case."""

    pattern: Pattern = Field(description="a regular expression that the file must contain")
    by: str = Field(description=f"{WORDS}: the replacement")


class InputFile(ProgramTable):
    """`[[inputs]]`: a file that is put in the folder of each launch."""

    file: str = Field(description=f"{WORDS}: its path, relative to {{folder}}")
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
            refuse(why)
        return self


class ProgramFile(ProgramTable):
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
            refuse(why)
        return self

    @property
    def units(self) -> dict[str, str]:
        """The units that are declared, by the names of parameters and results."""
        declared: dict[str, ProgramParameter | ResultRead] = {**self.parameters, **self.results}
        return {name: one.unit for name, one in declared.items() if one.unit}
