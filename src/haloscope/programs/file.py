# SPDX-License-Identifier: BSD-3-Clause
"""Read a program.toml with all its problems, and insert a case's values into its texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.errors import Problem, UserError, dotted, nearest, reject
from haloscope.layout import CORES, Layout
from haloscope.programs.readings import ResultRead
from haloscope.programs.schema import BUILT_IN, ProgramFile, ProgramParameter
from haloscope.programs.trust import Trusted

NamedValues = Mapping[str, object]
_BRACED = re.compile(r"\{\{|\}\}|\{(\w*)\}")


@dataclass(frozen=True)
class ExternalProgram:
    """An external program used as a kernel: its file and its contents."""

    trusted: Trusted
    said: ProgramFile
    source: str

    @property
    def name(self) -> str:
        """Its name as a kernel."""
        return self.trusted.name

    @property
    def folder(self) -> Path:
        """The folder of its file."""
        return self.trusted.file.parent

    @cached_property
    def hash(self) -> str:
        """12 hexadecimal digits: a hash of its file and of the inputs beside it."""
        digest = hashlib.sha256(self.source.encode())
        for one in self.said.inputs:
            if {*names_in(one.file)} <= {"folder"}:
                path = self.folder / filled(one.file, {"folder": self.folder})
                digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()[:12]

    def resolved(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """Return all parameters, with defaults; and for invalid ones, what is allowed.

        A number may be given as text, as on a command line.
        """
        params, wrong = {}, []
        for name, one in self.said.parameters.items():
            params[name] = _typed(one.type, given.get(name, one.default))
            if expected := one.problem(params[name]):
                wrong.append((name, expected))
        return params, wrong


def load(trusted: Trusted) -> ExternalProgram:
    """Read a program.toml. Raise UserError with all problems."""
    source, data = toml.read(trusted.file, "give a readable program.toml (docs/programs.md)")
    try:
        said = ProgramFile.model_validate(data)
    except ValidationError as error:
        details = toml.worth_reporting(error.errors())
        raise UserError([*dict.fromkeys(_problem(trusted.file, one) for one in details)]) from error
    reject(_contradictions(trusted.file, said))
    return ExternalProgram(trusted, said, source)


def filled(text: str, values: NamedValues, *, known_alone: bool = False) -> str:
    """Replace names in braces by values; {{ and }} are literal braces."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return found[0] if known_alone else found[0][0]
        if known_alone and name not in values:
            return found[0]
        return repr(one) if isinstance(one := values[name], float) else str(one)

    return _BRACED.sub(value, text)


def names_in(text: str) -> list[str]:
    """Return the names in braces in a text."""
    return [found[1] for found in _BRACED.finditer(text) if found[1] is not None]


def shares(ranks: int, parts: int) -> list[int]:
    """Return `parts` integers whose product is `ranks`, as equal as possible, the largest first."""
    if parts == 1:
        return [ranks]
    small = [one for one in range(1, isqrt(ranks) + 1) if ranks % one == 0]
    splits = (
        sorted([first, *shares(ranks // first, parts - 1)], reverse=True)
        for first in {*small, *(ranks // one for one in small)}
    )
    return min(splits, key=lambda split: (sum(split), split))


def of_a_launch(layout: Layout) -> dict[str, object]:
    """Return the values of BUILT_IN names, except folders."""
    box, rectangle = shares(layout.ranks, 3), shares(layout.ranks, 2)
    values: dict[str, object] = {name: getattr(layout, name) for name in ("ranks", *CORES)}
    values |= dict(zip(("box_x", "box_y", "box_z"), box, strict=True))
    return values | dict(zip(("rectangle_x", "rectangle_y"), rectangle, strict=True))


def _typed(kind: str, value: object) -> object:
    as_text = isinstance(value, str) and kind in ("integer", "real")
    as_whole = isinstance(value, int) and not isinstance(value, bool) and kind == "real"
    if not as_text and not as_whole:
        return value
    try:
        return int(value) if kind == "integer" else float(value)  # type: ignore[call-overload, arg-type]
    except (ValueError, OverflowError):
        return value


def _contradictions(file: Path, said: ProgramFile) -> Iterator[Problem]:
    known = {*BUILT_IN, *said.parameters, *said.needs}
    for kind, names in (("parameters", said.parameters), ("needs", said.needs)):
        for name in sorted({*names} & {*BUILT_IN}):
            what = f"'{name}' is a built-in name ({BUILT_IN[name]})"
            yield Problem(f"{file}: {kind}.{name}", what, "choose another name")
    for name in sorted({*said.parameters} & {*said.needs}):
        what = "a parameter has the same name"
        yield Problem(f"{file}: needs.{name}", what, "rename one of them")
    for where, text in _filled_texts(said):
        early = where.startswith("needs.")  # queried before there is a case
        there = {"folder", *said.needs} if early else known
        for name in names_in(text):
            if name not in there:
                what = f"unknown name {{{name}}}" + (" before a launch" if early else "")
                remedy = f"{nearest(name, sorted(there))}; for literal braces, write {{{{ and }}}}"
                yield Problem(f"{file}: {where}", what, remedy)
    counts = {name for name, one in said.parameters.items() if one.type == "integer"}
    timed = {"time": said.time, "points": said.points, "phases": said.phases}
    for table, per in ((name, one.per) for name, one in timed.items() if one is not None):
        if isinstance(per, str) and per not in counts:
            what = f"no integer parameter is named '{per}'"
            yield Problem(f"{file}: {table}.per", what, nearest(per, sorted(counts)))
    yield from _of_results(file, said)
    yield from _of_checks(file, said)


def _filled_texts(said: ProgramFile) -> Iterator[tuple[str, str]]:
    yield from ((dotted(("command", i)), word) for i, word in enumerate(said.command))
    yield from ((f"environment.{key}", text) for key, text in said.environment.items())
    for name, need in said.needs.items():
        yield from ((f"needs.{name}.ask", word) for word in need.ask)
    for index, one in enumerate(said.inputs):
        yield dotted(("inputs", index, "file")), one.file
        yield from ((dotted(("inputs", index, "replace")), each.by) for each in one.replace)
    for index, check in enumerate(said.verify):
        yield dotted(("verify", index, "reference")), check.reference or ""


def _of_results(file: Path, said: ProgramFile) -> Iterator[Problem]:
    scalars = {*_numbers(said.parameters), *_numbers(said.results)}
    for name, one in said.results.items():
        if one.per is not None and (one.per not in scalars or one.per == name):
            what = f"no numeric result or parameter is named '{one.per}'"
            yield Problem(f"{file}: results.{name}.per", what, nearest(one.per, sorted(scalars)))
        elif one.per is not None and one.type not in ("real", "reals"):
            what = f"a result of type '{one.type}' cannot be divided"
            yield Problem(f"{file}: results.{name}.per", what, "use type = 'real' or 'reals'")


def _numbers(declared: Mapping[str, ProgramParameter] | Mapping[str, ResultRead]) -> list[str]:
    return [name for name, one in declared.items() if one.type in ("integer", "real")]


def _of_checks(file: Path, said: ProgramFile) -> Iterator[Problem]:
    results, given = said.results, _numbers(said.parameters)
    for index, check in enumerate(said.verify):
        where = f"{file}: {dotted(('verify', index))}"
        for key, named in (("result", check.result), ("by", check.by)):
            if named is not None and named not in results:
                what = f"unknown result '{named}'"
                yield Problem(f"{where}.{key}", what, nearest(named, sorted(results)))
        if check.result in results and results[check.result].type == "text":
            what = f"the result '{check.result}' is a string, not a number"
            yield Problem(f"{where}.result", what, "use 'says' to verify it")
        for key in ("least", "most"):
            bound = getattr(check, key)
            if isinstance(bound, str) and bound not in given:
                what = f"no numeric parameter is named '{bound}'"
                yield Problem(f"{where}.{key}", what, nearest(bound, sorted(given)))
        for key, named in (("result", check.result), ("by", check.by)) if check.by else ():
            if named in results and results[named].type != "reals":
                what = f"'by' requires results of type 'reals', but '{named}' is a single value"
                yield Problem(f"{where}.{key}", what, "use type = 'reals', or remove 'by'")


def _problem(file: Path, detail: ErrorDetails) -> Problem:
    table, description, depth = toml.look_up(ProgramFile, detail["loc"])
    place = detail["loc"][:depth]
    where = f"{file}: {dotted(place)}".rstrip(": ")
    if detail["type"] == "rule":
        return Problem(where, detail["msg"], "correct this table (see docs/programs.md)")
    if detail["type"] == "pattern":
        what = f"invalid regular expression: {detail['msg']}"
        return Problem(where, what, "give a regular expression in Python's syntax")
    if place and place[-1] == "[key]":
        remedy = "use lower-case letters, digits, and _; begin with a letter"
        return Problem(f"{file}: {dotted(place[:-1])}", "invalid name", remedy)
    remedy = f"give {description or 'the keys of docs/programs.md'}"
    return toml.translated(where, detail, toml.keys_of(table), remedy, description)
