# SPDX-License-Identifier: BSD-3-Clause
"""Types of the values in a study file: numbers and names, one or a list of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from haloscope.errors import guess, nearest
from haloscope.host.machine import PLACEMENTS
from haloscope.layout import ALLOCATIONS, LIST, MAPPINGS, Bind, ThreadBind, ThreadPlaces, is_list
from haloscope.paths import share
from haloscope.study.case import Value

LAUNCHES_LIMIT = 10_000
"""Per case: all are planned before the first begins; medians need some hundred at most."""
ALLOCATIONS_LIMIT = 100
"""Each is a separate job, and batch systems limit the number of jobs per user."""
TIME_LIMIT_S = 30 * 24 * 3600.0
"""A job that runs for a month was forgotten; longer limits overflow system clocks."""
COUNT_LIMIT = 1_000_000
"""Nodes or processes: they are handled one by one, and the largest machines have fewer nodes."""
NODE_LIMIT = 4096
"""Processes, threads, or cores per node: no node has as many hardware threads."""
CASES_LIMIT = 100_000
"""Per run: each case is checked before the first launch, which takes minutes for so many."""
PLAN_LIMIT = 1_000_000
"""Launches of a plan: they are ordered before the first one begins."""
SEED_LIMIT = 2**63 - 1
"""Generators and files use signed 64-bit integers."""
WORDS = ("cores", "powers", "every", "divisors")


@dataclass(frozen=True)
class OneOrMore:
    """An axis: a list, or a single value, which is treated as a list of one."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Turn a single value into a list of one."""
        return no_info_before_validator_function(
            lambda value: value if isinstance(value, list | tuple) else [value], handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Allow a single value and a list."""
        several = handler(schema)
        return {"anyOf": [several["items"], several]}


def _value(value: object) -> Value:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ValueError("must be a finite number, a string, true, or false")


def _count(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= NODE_LIMIT:
        return value
    if isinstance(value, str) and value in WORDS:
        return value
    raise ValueError(f"must be an integer from 1 to {NODE_LIMIT}, or an allowed word")


@dataclass(frozen=True)
class OneOf:
    """One of several names, which are looked up when needed."""

    known: Callable[[], Sequence[str]]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Report an unknown name with the nearest known one."""
        return no_info_before_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """List the current names."""
        return {"enum": [*self.known()]}

    def _checked(self, value: object) -> object:
        if value in self.known():
            return value
        raise PydanticCustomError("name", "{hint}", {"hint": nearest(str(value), self.known())})


ALL = "all"
DEFAULT = "default"


def _placements() -> list[str]:
    return [ALL, *PLACEMENTS]


def papers() -> list[str]:
    """Return the ids of all papers."""
    return sorted(entry.parent.name for entry in share("papers").glob("*/paper.toml"))


T = TypeVar("T")
AxisOf = Annotated[list[T], OneOrMore(), Field(min_length=1)]
Values = AxisOf[
    Annotated[
        Any, BeforeValidator(_value), WithJsonSchema({"type": ["number", "string", "boolean"]})
    ]
]
Count = Annotated[
    Any,
    BeforeValidator(_count),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": NODE_LIMIT}, {"enum": [*WORDS]}]}
    ),
]
Counts = AxisOf[Count]
Positive = Annotated[int, Field(ge=1, le=COUNT_LIMIT)]
Positives = AxisOf[Positive]
Launches = Annotated[int, Field(ge=1, le=LAUNCHES_LIMIT)]
Seconds = Annotated[float, Field(gt=0, le=TIME_LIMIT_S, allow_inf_nan=False)]
Places = AxisOf[ThreadPlaces]
Binds = AxisOf[Bind]
ThreadBinds = AxisOf[ThreadBind]


def _mapping(value: object) -> object:
    if isinstance(value, str) and (value in MAPPINGS or is_list(value)):
        return value
    hint = f"{guess(str(value), MAPPINGS)}give one of {', '.join(MAPPINGS)}"
    hint += ", or the node of each rank as a string: '0,1,1,0'"
    raise PydanticCustomError("name", "{hint}", {"hint": hint})


Mappings = AxisOf[
    Annotated[
        str,
        BeforeValidator(_mapping),
        WithJsonSchema(
            {"anyOf": [{"enum": [*MAPPINGS]}, {"type": "string", "pattern": f"^{LIST}$"}]}
        ),
    ]
]
Allocations = AxisOf[Annotated[str, OneOf(lambda: ALLOCATIONS)]]
Placements = AxisOf[Annotated[str, OneOf(_placements)]]
Transports = AxisOf[str]
Toolchains = AxisOf[str]
