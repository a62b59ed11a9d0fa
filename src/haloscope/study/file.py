# SPDX-License-Identifier: BSD-3-Clause
"""A study's TOML file, read with every problem found at once.

A `Draft` is what could be read of a file together with all that is wrong in it, so that the
part that is right can still be checked against the machine, and one run shows every problem.
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
from haloscope.study.schema import (
    CASES_LIMIT,
    FigureElement,
    LayoutAxes,
    Run,
    Study,
    TableElement,
)


@dataclass(frozen=True)
class Draft:
    """What was read of a study's file, and all that is wrong in it.

    study:   what is left when everything wrong is left out; None when nothing is.
    indices: the place in the file of each of the study's runs.
    source:  the file's text, to be copied into the result folder.
    """

    name: str
    path: Path
    source: str
    study: Study | None
    indices: tuple[int, ...]
    problems: tuple[Problem, ...]

    def where(self, run: int, key: str) -> str:
        """Where in the file one of the study's runs (key ""), or a key of it, stands."""
        return f"{self.path}: {dotted(('runs', self.indices[run]))}.{key}".rstrip(".")


def ready() -> list[Path]:
    """The study files that came with haloscope."""
    return sorted(share("studies").glob("*.toml"), key=lambda path: path.stem)


def load(study: str | Path) -> Study:
    """A study by name or path. UserError with everything that is wrong in its file."""
    draft = read(study)
    if draft.problems or draft.study is None:
        raise UserError(draft.problems)
    return draft.study


def read(study: str | Path) -> Draft:
    """As `load`, but problems inside the file are returned beside what is left without them."""
    path = _find(str(study))
    source, data = toml.read(path, "give a study's file")
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


def _find(study: str) -> Path:
    path = Path(study)
    if path.exists() and not path.is_dir():  # a folder may have the name of a ready study
        return path
    ours = {entry.stem: entry for entry in ready()}
    if study in ours:
        return ours[study]
    if path.suffix or path.name != study:
        raise UserError(Problem(study, "there is no such file", "give a study's name or file"))
    raise UserError(Problem(f"study '{study}'", "there is no such study", nearest(study, [*ours])))


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    location = detail["loc"]
    where = f"{path}: {dotted(location)}"
    model, description = _described(location)
    key = next((part for part in reversed(location) if isinstance(part, str)), "")
    if detail["type"] == "extra_forbidden":
        return Problem(where, f"unknown key '{key}'", nearest(key, [*model.model_fields]))
    if detail["type"] == "missing":
        return Problem(where, f"'{key}' is missing", f"give {description}")
    if detail["type"] == "cap":
        mend = "give precision too, such as 0.02, or leave them out"
        return Problem(str(path), f"{detail['msg']} without a precision", mend)
    if detail["type"] == "fewer":
        what = f"most_launches = {detail['msg']} is below launches = {detail['input']['launches']}"
        return Problem(str(path), what, "raise most_launches, or lower launches")
    if detail["type"] == "name":
        return Problem(where, f"there is no {key} {detail['input']!r}", detail["msg"])
    if detail["type"] == "cases":
        what = f"it stands for {detail['msg']} cases"
        return Problem(where, what, f"give fewer values: at most {CASES_LIMIT:,} cases a run")
    shown = repr(detail["input"])
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    hint = toml.guess_of(detail, description)
    return Problem(where, f"{shown} won't do", f"{hint}give {description}")


SHOWN = 200
"""SHOWN is the largest number of characters of a wrong value that a message has."""


def _described(location: Sequence[int | str]) -> tuple[type[BaseModel], str]:
    """The model that a location's last known key belongs to, and what that key may be."""
    inside: dict[str, type[BaseModel]] = {
        "runs": Run,
        "layout": LayoutAxes,
        "tables": TableElement,
        "figures": FigureElement,
    }
    owner: type[BaseModel] = Study
    model: type[BaseModel] = Study
    description = "title and [[runs]]"
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            owner, description = model, model.model_fields[part].description or ""
            model = inside.get(part, model)
        elif isinstance(part, str):
            return model, description
    return owner, description


def _salvage(
    data: dict[str, Any], details: Sequence[ErrorDetails]
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The runs without what is wrong in them, as a study to be checked, and their places."""
    runs = deepcopy(data["runs"]) if isinstance(data.get("runs"), list) else []
    broken = set()
    for detail in sorted(details, key=lambda one: _order(one["loc"]), reverse=True):
        match detail["loc"]:
            case ("runs", int() as index) | ("runs", int() as index, "kernel"):
                broken.add(index)
            case ("runs", int() as index, *inside):
                _remove(runs[index], inside)
    indices = tuple(index for index in range(len(runs)) if index not in broken)
    return {"title": "untitled", "runs": [runs[index] for index in indices]}, indices


def _order(location: Sequence[int | str]) -> list[tuple[str, int]]:
    return [("", part) if isinstance(part, int) else (part, 0) for part in location]


def _remove(data: dict[str, Any], location: Sequence[int | str]) -> None:
    """Take out what lies at `location`; a single value given for an axis goes as a whole."""
    parent: Any = data
    for part, following in zip(location, (*location[1:], None), strict=True):
        inside = dict if isinstance(following, str) else list
        if following is None or not isinstance(parent[part], inside):
            parent.pop(part)
            return
        parent = parent[part]
