# SPDX-License-Identifier: BSD-3-Clause
"""Records as rows of a table: settings as columns, one row per launch or repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, get_args

from haloscope.errors import Problem, UserError
from haloscope.layout import LAYOUT_KEYS
from haloscope.quantities import count
from haloscope.records import kernels
from haloscope.records.keys import ToolchainUsed, described
from haloscope.records.log import whole
from haloscope.records.points import point_key, size_unit
from haloscope.records.record import Record
from haloscope.study.settings import SETTINGS, Setting, settings_of

if TYPE_CHECKING:
    import polars

Per = Literal["launches", "repetitions"]
PER: tuple[Per, ...] = get_args(Per)
Type = Literal["string", "integer", "number", "boolean", "datetime"]
_Row = Mapping[str, Setting]


@dataclass(frozen=True)
class RowColumn:
    """A column: its name, type, unit ("" for none), and meaning."""

    name: str
    type: Type
    unit: str
    meaning: str

    @property
    def field(self) -> dict[str, str]:
        """Return the column as a field of a Table Schema."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"name": self.name, "type": self.type, **unit, "description": self.meaning}


@dataclass(frozen=True)
class Rows:
    """The rows of a file of records, which is read again for each pass over them."""

    path: Path
    per: Per
    columns: tuple[RowColumn, ...]
    left_out: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[list[Setting]]:
        """Yield rows, with a value or None for each column."""
        for raw in whole(self.path):
            for row in _rows(raw, self.per):
                yield [_as(column.type, row.get(column.name)) for column in self.columns]

    @property
    def schema(self) -> dict[str, list[dict[str, str]]]:
        """Return names, types, units, and meanings of the columns, as a Table Schema."""
        return {"fields": [column.field for column in self.columns]}


def rows(folder: Path, per: Per) -> Rows:
    """Return the rows of a result folder. Raise UserError without records.

    Each row has the id and the settings of its case. A launch that swept sizes has a row for each
    of its points, including those without a valid time. A launch without a time has one row, with
    its outcome.
    """
    path = folder / "records.jsonl"
    if not path.exists():
        remedy = "give a folder written by haloscope run"
        raise UserError(Problem(str(folder), "contains no records.jsonl", remedy))
    types: dict[str, Type | None] = {}
    descriptions: dict[str, tuple[str, str]] = {}
    several: dict[str, int] = {}
    for raw in whole(path, tell=False):
        for name in _lists(raw) if per == "launches" else ():
            several[name] = several.get(name, 0) + 1
        for row in _rows(raw, per):
            for name, value in row.items():
                types[name] = _common(types.get(name), _type(name, value))
        descriptions |= {name: _described(name, raw) for name in types if name not in descriptions}
    if not types:
        what, remedy = "contains no readable record", "continue with haloscope run --resume DIR"
        raise UserError(Problem(str(path), what, remedy))
    names = sorted(types, key=_place)
    columns = (RowColumn(name, types[name] or "string", *descriptions[name]) for name in names)
    left_out = (
        f"{name} of {count(number, 'launch', 'launches')}: a list has no column, see {path.name}"
        for name, number in several.items()
    )
    return Rows(path, per, tuple(columns), tuple(left_out))


def _place(name: str) -> int:
    return 3 if name.startswith("result_") else 2 if name in _OF_EACH else name in _OF_A_LAUNCH


def frame(table: Rows) -> polars.DataFrame:
    """Return the rows as a data frame. Raise UserError if polars is not installed."""
    try:
        import polars
    except ImportError as error:
        remedy = "install the 'data' extra: pip install 'haloscope[data]' (in a checkout: "
        remedy += "HALOSCOPE_EXTRAS=dev ./haloscope)"
        raise UserError(Problem("polars", "not installed", remedy)) from error
    types: dict[Type, Any] = {
        "string": polars.String,
        "integer": polars.Int64,
        "number": polars.Float64,
        "boolean": polars.Boolean,
        "datetime": polars.String,
    }
    schema = {column.name: types[column.type] for column in table.columns}
    found = polars.DataFrame([*table], schema=schema, orient="row")
    times = [column.name for column in table.columns if column.type == "datetime"]
    return found.with_columns(polars.col(*times).str.to_datetime(time_unit="ms", time_zone="UTC"))


def _rows(raw: Mapping[str, Any], per: Per) -> Iterator[_Row]:
    settings = {
        f"param_{name}" if name in _OURS else name: value
        for name, value in settings_of(raw).items()
    }
    machine, toolchain, git = (raw.get(key) or {} for key in ("machine", "toolchain", "git"))
    launch = {
        "case_id": raw["case"],
        **settings,
        **{name: raw.get(name) for name in ("launch", "outcome", "reason")},
        **{name: raw.get(name) for name in ("started", "ended", "wall_s")},
        "host": machine.get("host"),
        "mpi_library": toolchain.get("mpi"),
        "compiler": toolchain.get("compiler"),
        "commit": git.get("commit"),
    }
    for point in [*(raw.get("points") or [raw]), *_untimed(raw, per)]:
        times = point.get("times_s") or []
        swept = _swept(point, size_unit(raw.get("program"))) if point is not raw else {}
        own = {**launch, **{name: value for name, value in swept.items() if value is not None}}
        own["reason"] = point.get("why") or own["reason"]
        if per == "launches":
            yield {**own, **_summary(times), **_results(point.get("result") or {})}
        elif times:
            yield from ({**own, "repetition": k, "time_s": time} for k, time in enumerate(times))
        else:
            yield {**own, "repetition": None, "time_s": None}


def _swept(point: Mapping[str, Any], unit: str) -> _Row:
    """Return the identity of a point. A size that is not in bytes has its own column,
    and its unit.
    """
    if unit == "B":
        return {name: point[name] for name in ("operation", "size_bytes")}
    return {"operation": point["operation"], "point_size": point["size_bytes"], "size_unit": unit}


def _untimed(raw: Mapping[str, Any], per: Per) -> Iterator[Mapping[str, Any]]:
    """Yield lines without a valid time as points; for launches, sizes that have no other time.

    In an external program's output, these are the lines of a sweep that its record lists
    separately.
    """
    timed = {point_key(one) for one in raw.get("points") or () if per == "launches"}
    for one in (raw.get("program") or {}).get("untimed", ()):
        if point_key(one) not in timed:
            timed |= {point_key(one)} if per == "launches" else set()
            yield one


def _lists(raw: Mapping[str, Any]) -> Iterator[str]:
    for one in (raw, *(raw.get("points") or ())):
        found = one.get("result") or {}
        yield from (
            f"result_{name}" for name, each in found.items() if isinstance(each, list | dict)
        )


def _summary(times: Sequence[float]) -> _Row:
    names = ("repetitions_timed", "time_s", "time_min_s", "time_max_s")
    found = (len(times), median(times), min(times), max(times)) if times else (0, *[None] * 3)
    return dict(zip(names, found, strict=True))


def _results(result: Mapping[str, Any]) -> _Row:
    """Return results with a single value; lists and surfaces are only in records.jsonl."""
    single = str | int | float | bool | None
    return {f"result_{name}": one for name, one in result.items() if isinstance(one, single)}


_OF_EACH: Mapping[str, tuple[str, str]] = {
    "size_bytes": ("B", "size of the message or of the arrays, for each size of a sweep"),
    "point_size": ("", "size, for each size of a sweep that is not in bytes"),
    "size_unit": ("", "unit of point_size"),
    "repetition": ("", "number of the repetition, from 0"),
    "repetitions_timed": ("", "number of timed repetitions"),
    "time_s": ("s", "time of one step on the slowest rank; the median over repetitions"),
    "time_min_s": ("s", "time of one step in the fastest repetition"),
    "time_max_s": ("s", "time of one step in the slowest repetition"),
}
_OF_A_LAUNCH: Mapping[str, tuple[str, str]] = {
    "launch": ("", "number of the launch, from 0"),
    "outcome": ("", "ok, wrong, failed, timeout, misplaced, or absent"),
    "reason": ("", "reason of an outcome other than ok"),
    "started": ("", "begin of the launch, UTC"),
    "ended": ("", "end of the launch, UTC"),
    "wall_s": ("s", "time of the whole launch"),
    "host": ("", "name of the machine"),
    "mpi_library": ("", "MPI library, as it names itself"),
    "compiler": ("", "compiler of halobench"),
    "commit": ("", "commit of haloscope's sources"),
}
_OURS = {"case_id": ("", "hash of the settings of the case"), **_OF_A_LAUNCH, **_OF_EACH}
_DATES = ("started", "ended")


def _described(name: str, raw: Mapping[str, Any]) -> tuple[str, str]:
    """Return the unit and meaning of a column; units of external programs are from their file."""
    if name in _OURS:
        return _OURS[name]
    plain = name.removeprefix("result_").removeprefix("param_")
    said = kernels.declared().get(raw["kernel"], {})
    kinds = ("results", "point_results") if name.startswith("result_") else ("parameters",)
    for one in (each for kind in kinds for each in said.get(kind, ())):
        if one["name"] == plain:
            return one["unit"] or "", one["help"]
    units = (raw.get("program") or {}).get("units") or {}
    return units.get(plain, ""), _settings().get(plain, f"{plain}, as {raw['kernel']} names it")


@cache
def _settings() -> dict[str, str]:
    record, toolchain = (described(one) for one in (Record, ToolchainUsed))
    hints = {name: record[name] for name in SETTINGS if name in record}
    hints |= LAYOUT_KEYS
    hints["toolchain"] = toolchain["name"]
    return {name: hint.__metadata__[0].meaning for name, hint in hints.items()}


def _type(name: str, value: Setting) -> Type | None:
    if name in _DATES:
        return "datetime"
    if value is None:
        return None
    kinds: dict[type, Type] = {bool: "boolean", int: "integer", float: "number"}
    return next((kind for own, kind in kinds.items() if isinstance(value, own)), "string")


def _common(one: Type | None, other: Type | None) -> Type | None:
    if one == other or other is None:
        return one
    return "number" if {one, other} == {"integer", "number"} else other if one is None else "string"


def _as(kind: Type, value: Setting) -> Setting:
    if value is None:
        return None
    if kind == "string" and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return float(value) if kind == "number" else value
