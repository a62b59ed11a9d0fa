# SPDX-License-Identifier: BSD-3-Clause
"""Convert the output of an external program to a record, or return why it is invalid."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

from haloscope.programs.readings import Check, PhasesRead, PointsRead, ResultRead, TimeRead
from haloscope.programs.schema import ProgramFile
from haloscope.programs.values import RATES, SIZES, UNITS
from haloscope.quantities import count

LARGEST_BYTES = 2**62
"""LARGEST_BYTES is the largest accepted size of a point: records have 64-bit integers."""
SHOWN = 80


@dataclass(frozen=True)
class Asked:
    """What a launch requested. references: text of each check's reference, by its number."""

    params: Mapping[str, Any]
    ranks: int
    threads: int
    references: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The result of a launch. measured: keys of its record; None without an answer.

    outcome, reason: as in the record. checked: verified properties, in words. untimed: lines
    without a valid time, as in a record.
    """

    outcome: str
    reason: str | None
    measured: Mapping[str, Any] | None = None
    checked: Sequence[str] = ()
    untimed: Sequence[Mapping[str, Any]] = ()


class UnreadableError(Exception):
    """The results cannot be read from an output."""


def answer(said: ProgramFile, text: str, asked: Asked) -> Answer:
    """Interpret an output: complete, with the requested ranks, timed, and verified."""
    checked: list[str] = []
    untimed: list[Mapping[str, Any]] = []
    try:
        if (complete := said.output.complete) is not None:
            if _found(complete, text) is None:
                raise UnreadableError(f"the output is incomplete: {_nothing(complete, text)}")
            checked.append("the output is complete")
        if misplaced := _miscounted(said, text, asked, checked):
            return Answer("misplaced", misplaced)
        measured = _measured(said, text, asked.params, untimed)
    except UnreadableError as error:
        return Answer("failed", str(error))
    try:
        if (
            wrong := next(_wrong(said, text, asked, measured["result"], checked), None)
        ) is not None:
            return Answer("wrong", wrong, measured, checked, untimed)
    except UnreadableError as error:
        return Answer("failed", f"cannot verify the results: the reference is invalid: {error}")
    return Answer("ok", None, measured, checked, untimed)


def _miscounted(said: ProgramFile, text: str, asked: Asked, checked: list[str]) -> str | None:
    for what, pattern, requested in (
        ("rank", said.output.ranks, asked.ranks),
        ("thread", said.output.threads, asked.threads),
    ):
        if pattern is None:
            continue
        if (found := _found(pattern, text)) is None:
            raise UnreadableError(f"no number of {what}s in the output: {_nothing(pattern, text)}")
        if (printed := _number(found[1], whole=True)) != requested:
            alone = ""
            if what == "rank" and printed == 1 and requested > 1:
                alone = "; was the program built with another MPI library, or without MPI?"
            ran = f"the program printed that it ran on {count(printed, what)}"
            verb = "was" if requested == 1 else "were"
            return f"{ran}, but {count(requested, what)} {verb} requested{alone}"
        checked.append(f"the program printed that it ran on {count(requested, what)}")
    return None


def _measured(
    said: ProgramFile, text: str, params: Mapping[str, Any], untimed: list[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the keys of a record in an output; lines without a time are appended to `untimed`."""
    timed = _swept(said.points, text, params, untimed) if said.points else {}
    timed |= _timed(said.time, text, params) if said.time else {}
    return {
        **timed,
        "phases": list(_phases(said.phases, text, params)) if said.phases else [],
        "result": results(said, text, params),
    }


def _timed(time: TimeRead, text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    steps = _steps(time.per, params)
    found = [one[1] for one in re.finditer(time.pattern, text, re.MULTILINE)]
    if not found:
        raise UnreadableError(f"no time in the output: {_nothing(time.pattern, text)}")
    factor = UNITS[time.unit] / steps
    return {"times_s": [_time(_number(one) * factor, one) for one in found], "steps": steps}


def _time(time_s: float, printed: str) -> float:
    if not 0 < time_s < inf:
        raise UnreadableError(f"invalid time in the output: {printed}")
    return time_s


def _swept(
    asked: PointsRead, text: str, params: Mapping[str, Any], untimed: list[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the points of a sweep, and their sums: one per repetition that all points have."""
    steps = _steps(asked.per, params)
    points: dict[tuple[str | None, int], dict[str, Any]] = {}
    point: dict[str, Any]
    for line, operation in _lines(asked, text):
        size = _size(line["size"], asked.size_unit)
        moved = float(asked.messages * size) if asked.size_unit in SIZES else 0.0
        key = (operation, size)
        try:
            time_s = _time_of(line, asked, moved, steps)
        except UnreadableError as error:
            printed = line[0].strip()[:SHOWN]
            point = {"size_bytes": size, "operation": operation}
            untimed.append({**point, "line": printed, "why": str(error)})
            continue
        if key not in points:
            more = {
                name: None if value is None else _number(value)
                for name, value in line.groupdict().items()
                if name not in ("size", "time", "rate")
            }
            point = {"size_bytes": size, "operation": operation, "result": more, "steps": steps}
            points[key] = {**point, "times_s": [], "bytes": moved}
        points[key]["times_s"].append(time_s)
    if not points and untimed:
        raise UnreadableError(untimed[0]["why"])
    if not points:
        raise UnreadableError(f"no point in the output: {_nothing(asked.pattern, text)}")
    every = [point["times_s"] for point in points.values()]
    sums = [sum(times) for times in zip(*every, strict=False)]  # a size may have fewer than others
    return {"times_s": sums, "steps": steps, "points": [*points.values()]}


def _size(printed: str, unit: str) -> int:
    factor = SIZES.get(unit, 1)
    size = _number(printed, whole=factor == 1) * factor
    if not 0 <= size <= LARGEST_BYTES or size != int(size):
        raise UnreadableError(f"invalid size in the output: {printed}")
    return int(size)


def _lines(asked: PointsRead, text: str) -> Iterator[tuple[re.Match[str], str | None]]:
    """Yield the lines of a sweep, each with the last operation named above it."""
    headings = (
        [(one.start(), one[1]) for one in re.finditer(asked.operation, text, re.MULTILINE)]
        if asked.operation
        else []
    )
    for line in re.finditer(asked.pattern, text, re.MULTILINE):
        above = [name for start, name in headings if start < line.start("size")]
        if asked.operation and not (above and above[-1]):
            raise UnreadableError(f"no operation precedes the line {line[0].strip()[:SHOWN]!r}")
        yield line, above[-1] if asked.operation else None


def _time_of(line: re.Match[str], asked: PointsRead, moved: float, steps: int) -> float:
    if "time" in line.groupdict():
        return _time(_number(line["time"]) * UNITS[asked.unit] / steps, line["time"])
    if not moved:
        what = (
            "the output has a bandwidth for messages of 0 bytes; exclude that line from 'pattern'"
        )
        raise UnreadableError(what)
    rate = _number(line["rate"]) * RATES[asked.rate_unit]
    if not 0 < rate < inf:
        raise UnreadableError(f"invalid bandwidth in the output: {line['rate']}")
    return _time(moved / rate, line["rate"])


def _steps(per: int | str, params: Mapping[str, Any]) -> int:
    steps = int(params[per]) if isinstance(per, str) else per
    if steps < 1:
        raise UnreadableError(f"{per} is {steps}, but a time needs at least 1 step")
    return steps


def _phases(asked: PhasesRead, text: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the phases of an output; the last one if a phase occurs several times."""
    every = re.finditer(asked.pattern, text, re.MULTILINE)
    found = {one["name"]: one for one in every if one["mean"] is not None}
    factor = UNITS[asked.unit] / _steps(asked.per, params)
    for name in asked.names:
        if name not in found:
            raise UnreadableError(f"no time of phase {name} in the output")
        groups = found[name].groupdict()
        times = {
            key: _number(value) * factor
            for key in ("min", "mean", "max")  # ascending, however they are printed
            if (value := groups.get(key)) is not None
        }
        ordered = [*times.values()]
        if not 0 <= ordered[0] <= ordered[-1] < inf or ordered != sorted(ordered):
            raise UnreadableError(f"invalid times of phase {name} in the output: {found[name][0]}")
        yield {"name": name, "time_s": times, "model_s": None}


def results(
    said: ProgramFile, text: str, params: Mapping[str, Any], names: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the results in an output, by name; missing optional ones are null."""
    requested = {*said.results} if names is None else {*names}
    requested |= {per for name in requested if (per := said.results[name].per) in said.results}
    found = {
        name: _result(name, said.results[name], text) for name in said.results if name in requested
    }
    return {name: _divided(name, said.results[name], found, params) for name in found}


def _divided(
    name: str, one: ResultRead, found: Mapping[str, Any], params: Mapping[str, Any]
) -> Any:
    if one.per is None or found[name] is None:
        return found[name]
    if not (by := params[one.per] if one.per in params else found[one.per]):
        raise UnreadableError(f"cannot divide {name} by {one.per} = {by}")
    return [each / by for each in found[name]] if one.type == "reals" else found[name] / by


def _result(name: str, one: ResultRead, text: str) -> Any:
    found = [each[1] for each in re.finditer(one.pattern, text, re.MULTILINE)]
    if not found:
        if one.absent is not None:
            return None
        raise UnreadableError(f"no {name} in the output: {_nothing(one.pattern, text)}")
    if one.type == "reals":
        return [_number(each) for each in found]
    value = found[0 if one.which == "first" else -1]
    return value or "" if one.type == "text" else _number(value, whole=one.type == "integer")


def _wrong(
    said: ProgramFile, text: str, asked: Asked, found: Mapping[str, Any], checked: list[str]
) -> Iterator[str]:
    """Yield what is wrong with an answer; verified properties are appended to `checked`."""
    for index, check in enumerate(said.verify):
        if check.says is not None:
            if _found(check.says, text) is None:
                yield f"the output does not confirm success: {_nothing(check.says, text)}"
            checked.append(f"the output matches {check.says}")
            continue
        name = str(check.result)
        if check.reference is not None:
            if why := _unordered(check, found):
                yield f"cannot verify {name}: {why}"
                continue
            mine, right, among = _together(check, found, _of_reference(said, index, asked))
            source = "the reference"
        else:
            mine = found[name] if isinstance(found[name], list) else [found[name]]
            right = [check.expected] * len(mine) if check.expected is not None else []
            source, among = "the expected value", f" ({len(mine)} values)" if len(mine) > 1 else ""
        if None in mine or not mine:
            yield f"cannot verify {name}: it is not in the output"
            continue
        if bounds := _beyond(check, mine, asked.params):
            yield f"{name} is {bounds}"
        for value, other in zip(mine, right, strict=False):
            if abs(value - other) > (most := check.relative * abs(other) + check.absolute):
                yield f"{name} is {value:.10g}, expected {other:.10g} with tolerance {most:.2g}"
        checked.append(f"{name} agrees with {source}{among}" if right else f"{name} is in range")


def _of_reference(said: ProgramFile, index: int, asked: Asked) -> dict[str, Any]:
    check = said.verify[index]
    needed = [one for one in (check.result, check.by) if one is not None]
    theirs = results(said, asked.references[index], asked.params, needed)
    lacking = next((f"no {one} in the output" for one in needed if theirs[one] is None), None)
    if why := lacking or _unordered(check, theirs):
        raise UnreadableError(why)
    return theirs


def _unordered(check: Check, found: Mapping[str, Any]) -> str | None:
    """Return why values cannot be assigned to steps, or None if they can or need not be."""
    if check.by is not None:
        values, numbers = found[str(check.result)] or (), found[check.by] or ()
        if len(values) != len(numbers):
            other = f"{len(numbers)} of {check.by}"
            return f"the number of values differs: {len(values)} of {check.result}, but {other}"
    return None


def _together(
    check: Check, found: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[list[Any], list[Any], str]:
    mine, reference = found[str(check.result)], theirs[str(check.result)]
    if not isinstance(mine, list) or not isinstance(reference, list):
        return [mine], [reference], ""
    own, other = list(range(len(mine))), list(range(len(reference)))
    if check.by is not None:
        own, other = found[check.by], theirs[check.by]
    both = [step for step in own if step in other]
    of = f" of {len(own)}" if len(both) < len(own) else ""
    values = "value" if len(own) == 1 else "values"
    return (
        [mine[own.index(step)] for step in both],
        [reference[other.index(step)] for step in both],
        f" ({len(both)}{of} {values})",
    )


def _beyond(check: Check, values: Sequence[float], known: Mapping[str, Any]) -> str | None:
    least = known[check.least] if isinstance(check.least, str) else check.least
    most = known[check.most] if isinstance(check.most, str) else check.most
    for value in values:
        if least is not None and value < least:
            return f"{value:.10g}, but must be at least {least:.10g}"
        if most is not None and value > most:
            return f"{value:.10g}, but must be at most {most:.10g}"
    return None


def _found(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.MULTILINE)


def _nothing(pattern: str, text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ends = f"its last line is {lines[-1][:SHOWN]!r}" if lines else "it is empty"
    return f"nothing matches '{pattern}'; {ends}"


def _number(text: str | None, *, whole: bool = False) -> Any:
    """Parse a printed number, including Fortran's 1.5D+03. None: text of an empty group."""
    printed = text or ""
    try:
        if "_" in printed:  # Python's own notation, which no program prints
            raise ValueError
        value = int(printed) if whole else float(printed.translate(_OF_FORTRAN))
        finite = isfinite(value)
    except (ValueError, OverflowError):  # not a number, or an integer beyond the range of reals
        finite = False
    if not finite:
        kind = "an integer" if whole else "a number"
        raise UnreadableError(f"the output has {printed[:SHOWN]!r} instead of {kind}")
    return value


_OF_FORTRAN = str.maketrans("dD", "ee")
