# SPDX-License-Identifier: BSD-3-Clause
"""Find cluster files by name, read them with all their problems, and write them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import tomli_w
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.clusters.checks.contradictions import contradictions
from haloscope.clusters.names import ready as ready
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.errors import Problem, UserError, dotted, nearest, reject
from haloscope.paths import share, write_whole
from haloscope.quantities import listed

Location = tuple[int | str, ...]


ELSEWHERE = (
    "to use your own cluster file, give its path, or NAME if the file is ./clusters/NAME.toml"
)


def of_the_user(name: str) -> str:
    """Describe a user's file and the built-in file that it hides; "" for a built-in one."""
    path, ours = ready().get(name, Path(name)).absolute(), share("clusters").absolute()
    if path.parent == ours:
        return ""
    hides = (ours / f"{name}.toml").exists()
    return f"{path}, which replaces haloscope's own" if hides else str(path)


def find(name: str) -> Cluster:
    """Return the cluster of that name or file. Raise UserError with the nearest name otherwise."""
    known = ready()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        remedy = f"{nearest(name, [*known])}\n    {ELSEWHERE}"
        raise UserError(Problem(f"cluster {name}", "not found", remedy))
    return load(path)


def write(cluster: Cluster, path: Path) -> None:
    """Write a cluster file without unknown values.

    Raise UserError, and write nothing, if `load` would reject it.
    """
    unsaid = None if cluster.disturbed else {"disturbed"}
    data = tomllib.loads(tomli_w.dumps(cluster.model_dump(exclude_none=True, exclude=unsaid)))
    _checked(path, data)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, tomli_w.dumps(data))


def load(path: Path) -> Cluster:
    """Read a cluster file, whose name is the cluster's name. Raise UserError with all problems."""
    return _checked(path, toml.read(path, "give the path of a readable cluster file")[1])


def _checked(path: Path, data: dict[str, Any]) -> Cluster:
    problems = []
    if "name" in data:
        remedy = "remove this key; the file name is used"
        what = f"'{data['name']}' differs from the file name, '{path.stem}'"
        problems.append(Problem(f"{path}: name", what, remedy))
    try:
        found = Cluster.model_validate({**data, "name": path.stem})
    except ValidationError as error:
        wrong = [_problem(path, one) for one in toml.worth_reporting(error.errors())]
        raise UserError([*problems, *wrong]) from error
    problems += [one for quantity in _quantities(data) for one in _impossible(path, *quantity)]
    reject(problems or list(contradictions(path, found)))
    return found


UNITS = {
    "flops_per_s": ("flops per second", 1e6, 1e15),
    "bytes_per_s": ("bytes per second", 1e5, 1e15),
    "s_per_byte": ("seconds per byte", 1e-15, 1e-5),
    "bytes": ("bytes", 1.0, 1e18),
    "ghz": ("GHz", 0.1, 10.0),
    "s": ("seconds", 1e-11, 1e-2),
}
"""Units by the ends of keys, with the smallest and largest possible number."""


def unit_of(key: str) -> tuple[str, float, float] | None:
    """Return the unit of a key and its bounds; None for a key without one."""
    return next((unit for end, unit in UNITS.items() if key.endswith(f"_{end}")), None)


def _quantities(data: Any, where: Location = ()) -> Iterator[tuple[Location, dict[str, Any]]]:
    for key, part in enumerate(data) if isinstance(data, list) else data.items():
        if isinstance(part, dict) and "value" in part:
            yield (*where, key), part
        elif isinstance(part, dict | list):
            yield from _quantities(part, (*where, key))


def _impossible(path: Path, place: Location, said: dict[str, Any]) -> Iterator[Problem]:
    where, value = f"{path}: {dotted(place)}", said["value"]
    if (found := unit_of(str(place[-1]))) and not found[1] <= value <= found[2]:
        unit, least, most = found
        remedy = f"give a value from {least:g} to {most:g} {unit}"
        yield Problem(where, f"{value:g} {unit} is out of range", remedy)
    low, high = said.get("low", value), said.get("high", value)
    if not low <= value <= high:
        ends = ", ".join(f"{key} = {said[key]:g}" for key in ("low", "high") if key in said)
        remedy = "give an interval, low to high, that contains value"
        yield Problem(where, f"value = {value:g} is outside its interval, {ends}", remedy)


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    table, *_ = toml.look_up(Cluster, detail["loc"])
    known = [name for name in toml.keys_of(table) if (table, name) != (Cluster, "name")]
    where, expected = f"{path}: {dotted(detail['loc'])}", _expected(table, detail["loc"])
    return toml.translated(where, detail, known, expected)


def _model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model(part))), None)


def _expected(table: type[BaseModel], location: Location) -> str:
    keys = [str(part) for part in location if isinstance(part, str)]
    key = next((part for part in reversed(keys) if part in table.model_fields), None)
    if key is None:
        return "give a table"
    annotation = table.model_fields[key].annotation
    of = keys[-2] if table is Quantity else key
    unit = f" of {found[0]}" if (found := unit_of(of)) else ""
    if (inner := _model(annotation)) is Quantity:
        return f'give a number{unit} and its source: {{ value = ..., source = "..." }}'
    if inner is not None:
        needed = [
            f'{key} = {{ value = ..., source = "..." }}' if field.annotation is Quantity else key
            for key, field in inner.model_fields.items()
            if field.is_required()
        ]
        several = get_origin(annotation) is tuple and not isinstance(location[-1], int)
        many = f"[[{dotted(location)}]] tables, each" if several else "a table"
        return f"give {many} with at least {listed(needed)}"
    if key == "source":
        return (
            "give the source of these numbers: a data sheet, a paper, or assumed, with the reason"
        )
    if get_origin(annotation) is Literal:
        return f"give one of {', '.join(get_args(annotation))}"
    if annotation is str:
        return "give a string"
    if annotation is int:
        least = 0 if table.__name__ == "Protocol" else 1
        return f"give an integer{unit}, at least {least}"
    if table is Quantity:
        return f"give a number{unit} above 0"
    return f"give {table.model_fields[key].description}"
