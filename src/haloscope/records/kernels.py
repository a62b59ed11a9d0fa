# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of kernels: parameters, results, and their allowed values in records.

kernels.json is a copy of what the kernels' programs print with --describe, because studies are
validated and records are read where none is built. `.venv/bin/python tests/support/kernels_file.py`
writes it, and a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic_core import CoreSchema, SchemaValidator, core_schema

from haloscope.keys import Key
from haloscope.records.keys import LONGEST_S, Point, described
from haloscope.study.settings import OF_A_DEVICE

FILE = Path(__file__).with_name("kernels.json")
LARGEST_INTEGER = 2**63 - 1
"""LARGEST_INTEGER is the largest integer of a record: halobench's integers have 64 bits."""
LARGEST_REAL = 1e30
"""No machine exceeds it, and its square is still finite."""
FASTEST = 1e21
"""FASTEST is the largest rate: a thousand times that of the fastest machine."""

Declaration = Mapping[str, Any]
"""One parameter or result: name, type, minimum, maximum, choices (of a parameter), absent."""


def check_parameters(kernel: str, params: Mapping[str, Any]) -> None:
    """Raise ValidationError if a kernel's parameters are invalid or incomplete."""
    if (checks := _checks().get((kernel, "parameters"))) is not None:
        checks.validate_python({"params": params})


def check_results(kernel: str, found: Mapping[str, Any], points: Sequence[Any]) -> None:
    """Raise ValidationError if a good launch's `result`, or that of a point, is invalid."""
    if (checks := _checks().get((kernel, "results"))) is not None:
        checks.validate_python({"result": found, "points": points})


@cache
def declared() -> Mapping[str, Any]:
    """Return kernels.json by kernel; other kernels are unknown and not checked."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def defaults(kernel: str) -> dict[str, Any]:
    """Return the default parameters of a kernel."""
    return {one["name"]: one["default"] for one in declared()[kernel]["parameters"]}


@cache
def bounds(kernel: str) -> list[str]:
    """Return the results that bound another one, by name: `error_max_bound`."""
    found = declared().get(kernel, {"results": []})["results"]
    return [one["name"] for one in found if one["name"].endswith(BOUND)]


@cache
def integers(kernel: str) -> set[str]:
    """Return the names of a kernel's results that are integers, such as counts."""
    found = declared().get(kernel, {"results": []})["results"]
    return {one["name"] for one in found if one["type"] == "integer"}


def sweeps(kernel: str) -> bool:
    """Return whether every good launch of a kernel has points."""
    return bool(declared().get(kernel, {}).get("sweeps"))


LATER = ("memory", "columns", *OF_A_DEVICE)
"""LATER are parameters added to kernels since; older records lack them, and use host memory and one
stored column per nonzero.
"""
BOUND = "_bound"


@cache
def _checks() -> dict[tuple[str, str], SchemaValidator]:
    found = {}
    for kernel, said in declared().items():
        own = _object(said["results"], _result)
        of_points = _object(said["point_results"], _result)
        inside = {"result": of_points} | dict.fromkeys(_own_keys(kernel), core_schema.any_schema())
        point = _whole(inside)
        both = {"result": own, "points": core_schema.list_schema(point)}
        params = {"params": _object(said["parameters"], _parameter, LATER)}
        for name, fields in (("parameters", params), ("results", both)):
            found[kernel, name] = SchemaValidator(_whole(fields))
    return found


def _whole(inside: Mapping[str, CoreSchema]) -> CoreSchema:
    fields = {key: core_schema.typed_dict_field(one) for key, one in inside.items()}
    return core_schema.typed_dict_schema(fields)


def _own_keys(kernel: str) -> list[str]:
    """Return the keys that only this kernel's points have; their values are checked."""
    hints = described(Point)
    marks = {
        name: [one for one in _marks(hint) if kernel in one.kernels] for name, hint in hints.items()
    }
    return [name for name, found in marks.items() if found]


def _marks(hint: Any) -> list[Key]:
    """Return the descriptions in a type, at any depth."""
    found = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Key)]
    return found + [key for inner in get_args(hint) for key in _marks(inner)]


def _object(
    declarations: Sequence[Declaration],
    schema_of: Callable[[Declaration], CoreSchema],
    later: Sequence[str] = (),
) -> CoreSchema:
    """Return the schema of an object with these keys, optionally without later ones; others are
    allowed.
    """
    fields = {
        one["name"]: core_schema.typed_dict_field(
            schema_of(one), required=not one.get("absent") and one["name"] not in later
        )
        for one in declarations
    }
    return core_schema.typed_dict_schema(fields)


def _parameter(one: Declaration) -> CoreSchema:
    if one["type"] == "choice":
        return core_schema.literal_schema(list(one["choices"]))
    if one["type"] in ("integer", "real"):
        return _number(one)
    return core_schema.str_schema(strict=True)


def _result(one: Declaration) -> CoreSchema:
    limits = {"s": LONGEST_S, "1/s": FASTEST, "B/s": FASTEST}
    if one["type"] == "real" and one["maximum"] is None:
        one = {**one, "maximum": limits.get(one["unit"])}
    schema = _present(one)
    return core_schema.nullable_schema(schema) if one["absent"] else schema


def _present(one: Declaration) -> CoreSchema:
    match one["type"]:
        case "integer" | "real":
            return _number(one)
        case "integers":
            return core_schema.list_schema(_number({**one, "type": "integer"}))
        case "extents":
            return core_schema.str_schema(strict=True, pattern=EXTENTS)
        case "surface":
            number = _number({"type": "real", "minimum": None, "maximum": None})
            values = core_schema.typed_dict_field(core_schema.list_schema(number))
            samples = _number({"type": "integer", "minimum": 1, "maximum": 65})
            fields = {"points": core_schema.typed_dict_field(samples)}
            fields |= {"solution": values, "error": values}
            square = core_schema.typed_dict_schema(fields)
            return core_schema.no_info_after_validator_function(_filled, square)
        case _:
            return core_schema.str_schema(strict=True)


def _filled(surface: dict[str, Any]) -> dict[str, Any]:
    """Raise ValueError if a square does not have as many values as points."""
    if {len(surface["solution"]), len(surface["error"])} != {surface["points"] ** 2}:
        raise ValueError("the number of values differs from the number of points")
    return surface


EXTENTS = r"^[1-9][0-9]{0,14}(x[1-9][0-9]{0,14}){0,2}$"
"""EXTENTS matches lengths along one to three axes: 12x10x9."""


def _number(one: Declaration) -> CoreSchema:
    """Return the schema of a number within its declaration, and within a record's limits."""
    whole = one["type"] == "integer"
    largest = LARGEST_INTEGER if whole else LARGEST_REAL
    least = -largest if one["minimum"] is None else one["minimum"]
    most = largest if one["maximum"] is None else one["maximum"]
    return number(least, most, whole=whole)


def number(least: float, most: float, *, whole: bool) -> CoreSchema:
    """Return the schema of a number in a range; an integer has no decimal point, unlike 1.0."""
    if whole:
        return core_schema.int_schema(ge=int(least), le=int(most), strict=True)
    return core_schema.float_schema(ge=least, le=most, strict=True)
