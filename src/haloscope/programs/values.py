# SPDX-License-Identifier: BSD-3-Clause
"""Allowed values in program.toml: patterns, units, names, and numbers."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from haloscope.toml import TomlTable

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
"""UNITS are the units of printed times, each in seconds."""
RATES = {
    **{"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
    **{"KiB/s": 2.0**10, "MiB/s": 2.0**20, "GiB/s": 2.0**30},
    **{"kbit/s": 1e3 / 8, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8},
}
"""RATES are the units of printed bandwidths, each in bytes per second."""
SIZES = {
    **{"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}
"""SIZES are the units of printed sizes, each in bytes."""
NAME = r"[a-z][a-z0-9_]{0,63}"
"""NAME matches names of programs, parameters, results, and needs; records contain them."""
WORDS = "{name} is replaced by a parameter, a need, or a built-in name"


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise PydanticCustomError("pattern", "{why}", {"why": str(error)}) from error
    return text


def _captures(text: str) -> str:
    if (groups := re.compile(text).groups) != 1:
        why = f"expected exactly one group ( ), which contains the value, got {groups}; write "
        why += "other groups as (?: )"
        raise PydanticCustomError("pattern", "{why}", {"why": why})
    return text


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return float(value)


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


def refuse(why: str | None) -> None:
    """Raise a validation error with `why`, unless it is None."""
    if why:
        raise PydanticCustomError("rule", "{why}", {"why": why})


class ProgramTable(TomlTable, strict=True):
    """A table of program.toml."""
