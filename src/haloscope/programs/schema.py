# SPDX-License-Identifier: BSD-3-Clause
"""The keys of program.toml, with their allowed values and meanings; read by `file`."""

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
    "ppn": "the number of processes per node",
    "threads": "the number of threads per process",
    "box_x": "the largest of three factors, as equal as possible, whose product is {ranks}",
    "box_y": "the middle one of the three factors of {ranks}",
    "box_z": "the smallest of the three factors of {ranks}",
    "rectangle_x": "the larger of two factors, as equal as possible, whose product is {ranks}",
    "rectangle_y": "the smaller of the two factors of {ranks}",
    "folder": "the folder of program.toml",
    "run": "the folder of the launch, which contains only its inputs",
}


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


class ProgramParameter(ProgramTable):
    """`[parameters.NAME]`: a parameter that a study sets to a value or to a list of values."""

    type: Literal["integer", "real", "choice", "text"]
    """the type: 'integer', 'real', 'choice' (see choices), or 'text' (see matches)"""
    default: Any
    """the value of the parameter if a study does not set it"""
    minimum: Real | None = None
    """the smallest allowed number, for type = 'integer' or 'real'"""
    maximum: Real | None = None
    """the largest allowed number, for type = 'integer' or 'real'"""
    choices: list[str] = Field(default_factory=list)
    """the allowed values, as a list of strings, for type = 'choice'"""
    matches: Pattern | None = None
    """a regular expression that the whole value must match, for type = 'text'"""
    unit: str | None = None
    """the unit to display, as a string such as s or B"""
    help: str = ""
    """the meaning of the parameter, as a string; printed by haloscope describe"""

    def problem(self, value: object) -> str | None:
        """Return what the value must be instead; None if it is valid."""
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
            why = "'choices' is required with type = 'choice' and not allowed with any other type"
        elif (self.type == "text") != (self.matches is not None):
            why = "'matches' is required with type = 'text' and not allowed with any other type"
        elif self.type not in ("integer", "real") and (self.minimum, self.maximum) != (None, None):
            why = "'minimum' and 'maximum' are only allowed for type = 'integer' and 'real'"
        elif expected := self.problem(self.default):
            why = f"the default {self.default!r} is invalid; expected {expected}"
        refuse(why)
        return self


class Said(ProgramTable):
    """Text that the executable must print; otherwise the executable is refused."""

    pattern: Pattern
    """a regular expression that must match in the output of the executable"""
    lacking: str
    """the error message if the pattern does not match, with a remedy, as a string"""


class Need(ProgramTable):
    """`[needs.NAME]`: an executable, file, or folder that the program needs; {NAME} is its path."""

    kind: Literal["executable", "file", "folder"]
    """the kind of item: 'executable', 'file', or 'folder'"""
    get: str
    """a description of how to obtain the item; printed with the error if the item is missing"""
    variable: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = None
    """the name of an environment variable that contains the path, tried first"""
    added: Called | None = None
    """the name of software added with `haloscope toolchain add`, tried second"""
    below: str | None = None
    """the path inside the added software; * matches any part of a name"""
    names: list[str] = Field(default_factory=list)
    """names under which the executable is searched for in PATH, tried last"""
    holds: list[str] = Field(default_factory=list)
    """files that the folder must contain; * matches any part of a name"""
    ask: list[str] = Field(default_factory=list)
    """arguments that make the executable print its version or features"""
    says: list[Said] = Field(default_factory=list)
    """tables [[needs.NAME.says]]: what the output of `ask` must contain"""
    version: Capture | None = None
    """a regular expression for the output of `ask`, whose group is the version"""

    @model_validator(mode="after")
    def _can_be_found(self) -> Need:
        why = None
        if not (self.variable or self.added or self.names):
            why = "at least one of 'variable', 'added', and 'names' is required"
        elif (self.added is None) != (self.below is None):
            why = "'added' and 'below' must be given together"
        elif {one[:1] for one in (self.below, *self.holds) if one is not None} & {"", "/"}:
            why = "'below' and 'holds' must be relative paths, and not empty"
        elif self.kind != "executable" and (self.names or self.ask or self.says or self.version):
            why = "'names', 'ask', 'says', and 'version' are only allowed for kind = 'executable'"
        elif self.kind != "folder" and self.holds:
            why = "'holds' is only allowed for kind = 'folder'"
        elif (self.says or self.version) and not self.ask:
            why = "'says' and 'version' require 'ask', the command whose output they match"
        refuse(why)
        return self


class Replacement(ProgramTable):
    """A part of an input file that depends on the case."""

    pattern: Pattern
    """a regular expression for the part to replace, which the file must contain"""
    by: str = Field(description=f"the string that replaces the match; {WORDS}")


class InputFile(ProgramTable):
    """`[[inputs]]`: a file that is copied to the folder of each launch."""

    file: str = Field(description=f"the path of the file, relative to {{folder}}; {WORDS}")
    name: str | None = None
    """the name of the file in the folder of the launch; its original name if omitted"""
    fill: bool = False
    """true to also replace {name} in the contents of the file"""
    replace: list[Replacement] = Field(default_factory=list)
    """tables [[inputs.replace]]: parts of the file that depend on the case"""

    @model_validator(mode="after")
    def _lies_inside(self) -> InputFile:
        if self.name in (".", "..") or not re.fullmatch(r"[\w.+-]+", self.name or "any"):
            why = "'name' must be a file name without a path"
            refuse(why)
        return self


class ProgramFile(ProgramTable):
    """The keys at the top of program.toml. The name of its folder is the name of the kernel."""

    summary: str
    """a description of what the program does and of what counts as a step"""
    command: Annotated[list[str], Field(min_length=1)]
    """the command of each rank as a list of arguments, without launcher or shell; {name} is
    replaced by a parameter, a need, or a built-in name"""
    paper: str | None = None
    """the publication that describes the program, as a string"""
    memory_bytes_a_rank: Annotated[Real, Field(gt=0)] | None = None
    """the maximum memory per rank in bytes; cases that do not fit in memory are refused"""
    environment: dict[Variable, str] = Field(default_factory=dict)
    """environment variables, VARIABLE = text; {name} is replaced by a parameter, a need, or a
    built-in name"""
    time: TimeRead | None = None
    """the table [time]; a file has either [time] or [points]"""
    points: PointsRead | None = None
    """the table [points], for a program that sweeps sizes in one launch"""
    output: OutputRead = Field(default_factory=OutputRead)
    """the table [output]: the output to read after a launch"""
    parameters: dict[Called, ProgramParameter] = Field(default_factory=dict)
    """tables [parameters.NAME]: parameters of the program"""
    needs: dict[Called, Need] = Field(default_factory=dict)
    """tables [needs.NAME]: executables, files, and folders that the program needs"""
    inputs: list[InputFile] = Field(default_factory=list)
    """tables [[inputs]]: files to copy to the folder of each launch"""
    phases: PhasesRead | None = None
    """the table [phases]: phases of a step and their times"""
    results: dict[Called, ResultRead] = Field(default_factory=dict)
    """tables [results.NAME]: other values that the program prints"""
    verify: list[Check] = Field(default_factory=list)
    """tables [[verify]]: conditions for a correct answer"""

    @model_validator(mode="after")
    def _is_timed(self) -> ProgramFile:
        if (self.time is None) == (self.points is None):
            why = "exactly one of [time] and [points] is required"
            refuse(why)
        return self

    @property
    def units(self) -> dict[str, str]:
        """Return the declared units, by the names of parameters and results."""
        declared: dict[str, ProgramParameter | ResultRead] = {**self.parameters, **self.results}
        return {name: one.unit for name, one in declared.items() if one.unit}
