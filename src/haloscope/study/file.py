# SPDX-License-Identifier: BSD-3-Clause
"""Read a study's TOML file and find all problems at once.

A `Draft` holds the valid part of a file and all problems in the rest. The valid part is still
checked against the machine, so that one run shows every problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.errors import Problem, UserError, dotted, nearest
from haloscope.paths import share
from haloscope.study.layouts import layouts
from haloscope.study.schema import LayoutAxes, Study
from haloscope.study.values import CASES_LIMIT, NODE_LIMIT


@dataclass(frozen=True)
class Draft:
    """The valid part of a study's file, and all problems in it.

    study:   the file without its invalid parts, or None if nothing is left.
    indices: the position in the file of each of the study's runs.
    source:  the file's text, for the copy in the result folder.
    """

    name: str
    path: Path
    source: str
    study: Study | None
    indices: tuple[int, ...]
    problems: tuple[Problem, ...]

    def where(self, run: int, key: str) -> str:
        """Return the location of a run (key "") or of one of its keys."""
        return f"{self.path}: {dotted(('runs', self.indices[run]))}.{key}".rstrip(".")


def ready() -> list[Path]:
    """List the study files of this installation."""
    return sorted(share("studies").glob("*.toml"), key=lambda path: path.stem)


def load(study: str | Path) -> Study:
    """Load a study by name or path. Raise UserError with all problems of its file."""
    draft = read(study)
    if draft.problems or draft.study is None:
        raise UserError(draft.problems)
    return draft.study


def read(study: str | Path) -> Draft:
    """Read a study as `load` does, but return the problems and the valid part of the file."""
    path = _find(str(study))
    source, data = toml.read(path, "give the path of a study file")
    try:
        whole = Study.model_validate(data)
        return Draft(path.stem, path, source, whole, tuple(range(len(whole.runs))), ())
    except ValidationError as error:
        details = error.errors()
    problems = tuple(_problem(path, detail) for detail in details)
    rest, indices = _salvage(data, details)
    try:
        return Draft(path.stem, path, source, Study.model_validate(rest), indices, problems)
    except ValidationError:
        return Draft(path.stem, path, source, None, (), problems)


def layout(path: Path) -> LayoutAxes:
    """Load a file with the keys of a layout, as advise writes one. UserError with all problems."""
    _, data = toml.read(path, "give a layout.toml written by haloscope advise")
    try:
        found = LayoutAxes.model_validate(data)
        layouts(found, found.nodes, NODE_LIMIT)
    except ValidationError as error:  # a subclass of ValueError
        raise UserError([_problem(path, one, LayoutAxes) for one in error.errors()]) from error
    except ValueError as error:
        remedy = "correct the layout, or give a layout.toml written by haloscope advise"
        raise UserError([Problem(str(path), what, remedy) for what in error.args]) from error
    return found


def _find(study: str) -> Path:
    path = Path(study)
    if path.exists() and not path.is_dir():  # a folder may have the name of a built-in study
        return path
    ours = {entry.stem: entry for entry in ready()}
    if study in ours:
        return ours[study]
    if path.is_dir():
        found = sorted(one.name for one in path.glob("*.toml"))
        remedy = "give the path of a study file, or the name of a study (haloscope list)"
        if found:
            remedy = f"give a file in it, such as {path / found[0]}"
        elif (path / "plan.json").is_file():
            remedy = f"it has results; to continue: haloscope run --resume {study}"
        raise UserError(Problem(study, "is a folder, not a study file", remedy))
    if path.suffix or path.name != study:
        remedy = "give the name of a study (haloscope list) or the path of a study file"
        raise UserError(Problem(study, "file not found", remedy))
    raise UserError(Problem(f"study '{study}'", "not found", nearest(study, [*ours])))


def _problem(path: Path, detail: ErrorDetails, table: type[BaseModel] = Study) -> Problem:
    """Convert a validation error of a file with the keys of `table`."""
    location = detail["loc"]
    where = f"{path}: {dotted(location)}"
    model, description, _ = toml.look_up(table, location)
    key = next((part for part in reversed(location) if isinstance(part, str)), "")
    if detail["type"] == "cap":
        remedy = "also set 'precision' (such as 0.02), or remove them"
        return Problem(str(path), f"{detail['msg']} requires 'precision'", remedy)
    if detail["type"] == "fewer":
        what = f"most_launches = {detail['msg']} is less than launches = "
        what += str(detail["input"]["launches"])
        return Problem(str(path), what, "increase 'most_launches', or reduce 'launches'")
    if detail["type"] == "name":
        return Problem(where, f"unknown {key} {detail['input']!r}", detail["msg"])
    if detail["type"] == "cases":
        what = f"the run expands to {detail['msg']} cases, more than the limit of {CASES_LIMIT:,}"
        return Problem(where, what, "give fewer values, or split the run into several studies")
    if detail["type"] == "extra_forbidden" and len(location) == 3 and location[0] == "runs":
        inside = "layout" if key in LayoutAxes.model_fields else "params"
        remedy = f"{nearest(key, [*toml.keys_of(model)])}\n    "
        what = "a key of the layout" if inside == "layout" else "a parameter of the kernel"
        remedy += f"if it is {what}, move it into {inside} = {{ ... }}"
        return Problem(where, f"unknown key '{key}'", remedy)
    remedy = f"give {description or 'a title and [[runs]] tables'}"
    return toml.translated(where, detail, toml.keys_of(model), remedy, description)


def _salvage(
    data: dict[str, Any], details: Sequence[ErrorDetails]
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Return a study of the runs without their invalid parts, and the positions of these runs."""
    runs = deepcopy(data["runs"]) if isinstance(data.get("runs"), list) else []
    broken = set()
    for detail in sorted(details, key=lambda one: _order(one["loc"]), reverse=True):
        match detail["loc"]:
            case ("runs", int() as index) | ("runs", int() as index, "kernel"):
                broken.add(index)
            case ("runs", int() as index, *inside):
                _remove(runs[index], inside)
    indices = tuple(index for index in range(len(runs)) if index not in broken)
    elements: dict[str, Any] = {
        kind: data[kind]
        for kind in ("tables", "figures")
        if kind in data and not broken and all(one["loc"][:1] != (kind,) for one in details)
    }
    return {"title": "untitled", "runs": [runs[index] for index in indices], **elements}, indices


def _order(location: Sequence[int | str]) -> list[tuple[str, int]]:
    return [("", part) if isinstance(part, int) else (part, 0) for part in location]


def _remove(data: dict[str, Any], location: Sequence[int | str]) -> None:
    """Remove what is at `location`; the single value of an axis is removed with its key."""
    parent: Any = data
    for part, following in zip(location, (*location[1:], None), strict=True):
        inside = dict if isinstance(following, str) else list
        if following is None or not isinstance(parent[part], inside):
            parent.pop(part)
            return
        parent = parent[part]
