# SPDX-License-Identifier: BSD-3-Clause
"""Validation of JSON objects as records: types, ranges, words, and ids, as in docs/records.md.

The checks are generated from the same declarations as that page: the fields of a record, and keys.
"""

from __future__ import annotations

import json
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, NotRequired, TypeGuard, Union, get_args, get_origin, is_typeddict

from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator, ValidationError, core_schema

from haloscope.errors import dotted
from haloscope.keys import Key
from haloscope.layout import Layout
from haloscope.records import kernels
from haloscope.records.keys import SHORTEST_S, TAKE_TIME, described
from haloscope.study.case import identity

ROUNDED = 1 + 1e-9
"""ROUNDED allows for the rounding error of a mean of equal numbers."""
SHOWN = 60


def wrong(
    raw: Mapping[str, Any], declared: type, right: Mapping[str, Any] | None = None
) -> str | None:
    """Return what is wrong with a record, or None. declared: `Record`."""
    try:
        if right is None or right.keys() - raw.keys():
            _checks(declared).validate_python(raw)
        else:
            other = {key: value for key, value in raw.items() if right.get(key, right) is not value}
            _checks(declared, whole=False).validate_python(other)
        settled = right is not None and _has_settings_of(raw, right)
        if raw["outcome"] != "absent" and not settled:  # absent: as requested
            kernels.check_parameters(raw["kernel"], raw["params"])
        if raw["outcome"] == "ok":
            kernels.check_results(raw["kernel"], raw.get("result") or {}, raw.get("points") or ())
    except ValidationError as error:
        return invalid(error.errors(include_url=False, include_context=False)[0])
    if raw["outcome"] == "ok" and (lacking := _untimed(raw)):
        return f"{lacking} is empty, but outcome is ok"
    beyond = _beyond(raw) if raw["outcome"] == "ok" else None
    if problem := _too_short(raw) or beyond or _no_phase(raw) or _no_call(raw) or _no_point(raw):
        return problem
    return None if settled else _no_settings(raw)


def _untimed(raw: Mapping[str, Any]) -> str | None:
    if kernels.sweeps(raw["kernel"]) and not raw.get("points"):
        return "points"
    for kind in ("points", "parts"):
        for index, one in enumerate(raw.get(kind) or ()):
            if not one["times_s"]:
                return dotted((kind, index, "times_s"))
    return None if raw["times_s"] else "times_s"


def _has_settings_of(raw: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    objects = ("params", "layout", "toolchain")
    words = ("case", "kernel", "outcome", "clock", "transport")
    return all(raw[key] is right[key] for key in objects) and all(
        raw.get(key) == right.get(key) for key in words
    )


def _no_settings(raw: Mapping[str, Any]) -> str | None:
    if problem := _no_setting(raw):
        return problem
    layout = raw["layout"]
    asked = Layout.recorded(layout)
    if asked.problem:
        return f"layout.{asked.problem}"
    if layout["ranks"] != asked.ranks:
        shape = f"{layout['nodes']} x {layout['ppn']}"
        return f"layout.ranks: invalid value {layout['ranks']} with nodes x ppn = {shape}"
    if raw["clock"] == "simulated" and raw["outcome"] != "ok":
        return None  # its parameters may be those that were simulated, not the requested ones
    if raw["case"] != (named := _id(raw)):
        return f"case is {raw['case']}, but the id of these settings is {named}"
    return None


def _too_short(raw: Mapping[str, Any]) -> str | None:
    """Return impossibly short times; a simulated step without messages may take none at all."""
    timeless = raw["clock"] == "simulated" and raw["kernel"] not in TAKE_TIME
    for kind in ("points", "parts"):
        for index, one in enumerate(raw.get(kind) or ()):
            if problem := _shortest((kind, index, "times_s"), one["times_s"], timeless=timeless):
                return problem
    return _shortest(("times_s",), raw["times_s"], timeless=timeless)


def _beyond(raw: Mapping[str, Any]) -> str | None:
    """Return which part of a supposedly good answer exceeds the kernel's own bound."""
    found = raw.get("result") or {}
    named = [name for name in found if name.endswith(kernels.BOUND)]
    for name in dict.fromkeys([*named, *kernels.bounds(raw["kernel"])]):
        key, most = name.removesuffix(kernels.BOUND), found.get(name)
        value = found.get(key)
        if most is None and (value is None or raw["params"].get("iterations")):
            continue
        if not (_is_number(value) and _is_number(most) and 0 <= value <= most):
            return f"result.{key}: invalid value {_shown(value)}, must be at most {_shown(most)}"
    return _too_many(raw["params"], found) if raw["kernel"] == "poisson_cg" else None


def _too_many(params: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    n = params["n"]
    if found["points"] != n * n:
        return f"result.points: invalid value {found['points']} with n = {n}"
    most = params["iterations"] or params["max_iterations"] or 10 * n + 100
    if found["iterations"] > most + params["s"]:  # which are executed together, at most
        return f"result.iterations: invalid value {found['iterations']}, must be at most {most}"
    return None


def _no_setting(raw: Mapping[str, Any]) -> str | None:
    """Return a parameter with an impossible name or value: parameters identify a case."""
    for name, value in raw["params"].items():
        if not name.isidentifier():
            return f"params: invalid key {_shown(name)}"
        if not isinstance(value, str | int | float | bool):
            return f"params.{name}: invalid value {_shown(value)}"
    return None


def _no_point(raw: Mapping[str, Any]) -> str | None:
    points = max(1, len(raw.get("points") or ()))
    for index, part in enumerate(raw.get("parts") or ()):
        if part["point"] >= points:
            return f"parts#{index + 1}.point: invalid value {part['point']} with {points} points"
    if len(traces := raw.get("timeline") or ()) not in (0, points):
        return f"timeline: {len(traces)} steps with {points} points"
    return None


def _no_phase(raw: Mapping[str, Any]) -> str | None:
    for index, phase in enumerate(raw.get("phases") or ()):
        for key in ("time_s", "median_s"):
            time = phase.get(key) or {}
            times = [time[one] for one in ("min", "mean", "max") if one in time]
            # sorted() is faster, and nearly always sufficient
            if times != sorted(times) and not all(
                least <= most * ROUNDED for least, most in pairwise(times)
            ):
                return f"{dotted(('phases', index, key))}: invalid value {_shown(time)}"
    return None


def _no_call(raw: Mapping[str, Any]) -> str | None:
    """Return the invalid part of a timeline; a call is phase, depth, begin, end, and a
    device's stream.
    """
    for index, trace in enumerate(raw.get("timeline") or ()):
        for rank, calls in enumerate(trace["ranks"]):
            for number, call in enumerate(calls):
                if not (
                    len(call) in (4, 5)
                    and isinstance(call[0], str)
                    and all(map(_is_number, call[1:]))
                ):
                    where = dotted(("timeline", index, "ranks", rank, number))
                    return f"{where}: invalid value {_shown(call)}"
    return None


def _is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number, excluding true and false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shortest(
    where: tuple[str | int, ...], times_s: Sequence[float], *, timeless: bool
) -> str | None:
    """Return a time that is impossibly short, or None. timeless: whether 0 is possible."""
    if not times_s or (shortest := min(times_s)) >= SHORTEST_S:
        return None
    if timeless:
        shortest = min((time for time in times_s if time), default=SHORTEST_S)
    if shortest >= SHORTEST_S:
        return None
    return f"{dotted((*where, times_s.index(shortest)))}: invalid value {json.dumps(shortest)}"


def _id(raw: Mapping[str, Any]) -> str:
    asked, name = Layout.recorded(raw["layout"]), raw["toolchain"]["name"]
    return identity(raw["kernel"], raw["params"], asked, name, raw.get("transport"))


def invalid(detail: ErrorDetails) -> str:
    """Return what is wrong with one value of a JSON object."""
    where = dotted(detail["loc"])
    if detail["type"] == "missing":
        return f"{where} missing"
    about = f"{where}: " if where else ""
    return f"{about}invalid value {_shown(detail['input'])}"


def _shown(value: object) -> str:
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


@cache
def _checks(declared: type, *, whole: bool = True) -> SchemaValidator:
    """Return the checks of a record, or of some of its keys; created when the first one is read."""
    return SchemaValidator(schema(declared) if whole else _object(declared, ()))


def schema(declared: type) -> CoreSchema:
    """Return the schema of a complete record. declared: `Record`."""
    needed = {
        one.name
        for one in fields(declared)
        if one.default is MISSING and one.default_factory is MISSING
    }
    return _object(declared, needed)


def _object(declared: type, needed: Collection[str] | None = None) -> CoreSchema:
    """Return the schema of an object with declared keys; others are allowed."""
    keys = {}
    if needed is None:
        needed = declared.__required_keys__  # type: ignore[attr-defined]
    for name, hint in described(declared).items():
        optional = get_origin(hint) is NotRequired
        hint = get_args(hint)[0] if optional else hint
        if get_origin(hint) is Annotated:
            values, key = _values(*get_args(hint)), get_args(hint)[1]
            required = not optional and name in needed
            metadata = {"pydantic_js_updates": {"description": key.meaning}}
            keys[name] = core_schema.typed_dict_field(values, required=required, metadata=metadata)
    return core_schema.typed_dict_schema(keys)


def _values(hint: Any, key: Key) -> CoreSchema:
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (one,) = (each for each in inside if each is not types.NoneType)
        return core_schema.nullable_schema(_values(one, key))
    if origin in (list, Sequence):
        return core_schema.list_schema(_values(inside[0], key))
    if key.keys is not None or is_typeddict(hint):
        return _object(key.keys or hint)
    if origin is dict and inside[1] is not Any:
        return core_schema.dict_schema(core_schema.str_schema(strict=True), _values(inside[1], key))
    if hint in (int, float):
        return _number(hint, key)
    if hint is str:
        words = list(key.values)
        return core_schema.literal_schema(words) if words else core_schema.str_schema(strict=True)
    if hint is bool:
        return core_schema.bool_schema(strict=True)
    return core_schema.dict_schema() if origin is dict else core_schema.any_schema()


def _number(hint: type, key: Key) -> CoreSchema:
    largest = kernels.LARGEST_INTEGER if hint is int else kernels.LARGEST_REAL
    most = largest if key.most is None else key.most
    return kernels.number(key.least, most, whole=hint is int)
