"""A study: a TOML file, validated with every problem found at once.

A `Draft` is what could be read of a file together with all that is wrong in it, so that the
part that is right can still be checked against the machine, and one run shows every problem.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from haloscope.case import Value
from haloscope.errors import Problem, UserError, nearest
from haloscope.machine import PLACEMENTS
from haloscope.paths import share
from haloscope.sequential import Rule
from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.transport import known as known_transports

TABLE_KINDS = (
    "bandwidth",
    "clusters",
    "collectives",
    "sf_latency",
    "sf_grid",
    "split_phase",
    "convergence",
    "exchange",
    "hybrid_grid",
    "iterations",
    "jacobi",
    "libraries",
    "overlap",
    "phases",
    "pingpong",
    "fits",
    "ring",
    "scaling",
    "spmv",
    "stream",
    "sum3d",
    "summary",
    "walltime_grid",
)
FIGURE_KINDS = (
    "collectives",
    "iterations",
    "jacobi",
    "phases",
    "pingpong",
    "fits",
    "ring",
    "roofline",
    "scaling",
    "spmv",
    "stream",
    "split_phase",
    "timeline",
    "surfaces",
    "transports",
)
WORDS = ("cores", "powers", "every", "divisors")


def _axis(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _value(value: object) -> Value:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError("a parameter is a number, a text, true or false")


def _count(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    if isinstance(value, str) and value in WORDS:
        return value
    raise ValueError("neither a whole number from 1 nor a known word")


def _one_of(known: Callable[[], Sequence[str]]) -> BeforeValidator:
    def check(value: object) -> object:
        if value in known():
            return value
        raise PydanticCustomError("name", "{hint}", {"hint": nearest(str(value), known())})

    return BeforeValidator(check)


ALL = "all"
DEFAULT = "default"


def _placements() -> list[str]:
    return [ALL, *PLACEMENTS]


def _transports() -> list[str]:
    return [ALL, DEFAULT, *known_transports()]


def _papers() -> list[str]:
    return sorted(entry.parent.name for entry in share("papers").glob("*/paper.toml"))


Values = Annotated[
    list[Annotated[Any, BeforeValidator(_value)]], BeforeValidator(_axis), Field(min_length=1)
]
Count = Annotated[Any, BeforeValidator(_count)]
Counts = Annotated[list[Count], BeforeValidator(_axis), Field(min_length=1)]
Positive = Annotated[int, Field(ge=1)]
Positives = Annotated[list[Positive], BeforeValidator(_axis), Field(min_length=1)]
Place = Literal["cores", "threads", "sockets"]
Bind = Literal["close", "spread"]
Places = Annotated[list[Place], BeforeValidator(_axis), Field(min_length=1)]
Binds = Annotated[list[Bind], BeforeValidator(_axis), Field(min_length=1)]
Mapping = Literal["block", "round_robin", "random"]
Mappings = Annotated[list[Mapping], BeforeValidator(_axis), Field(min_length=1)]
Placements = Annotated[
    list[Annotated[str, _one_of(_placements)]], BeforeValidator(_axis), Field(min_length=1)
]
Transports = Annotated[
    list[Annotated[str, _one_of(_transports)]], BeforeValidator(_axis), Field(min_length=1)
]
Toolchains = Annotated[list[str], BeforeValidator(_axis), Field(min_length=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class LayoutAxes(_Model):
    """Where ranks and threads go, every key a value or a list of values (an axis)."""

    nodes: Positives = Field([1], description="nodes: whole numbers from 1")
    ppn: Counts | None = Field(
        None,
        description="processes per node: whole numbers from 1, 'cores', 'powers', 'every' (1 to "
        "cores), 'divisors'",
    )
    threads: Counts | None = Field(
        None,
        description="threads of each process: whole numbers from 1, 'cores', 'powers', 'every'",
    )
    cores: Counts | None = Field(
        None,
        description="cores of a node, shared out as ppn x threads (then leave threads out): "
        "whole numbers from 1, or 'cores' for all there are",
    )
    places: Places = Field(["cores"], description="'cores', 'threads' or 'sockets' (OMP_PLACES)")
    bind: Binds = Field(["close"], description="'close' or 'spread' (OMP_PROC_BIND)")
    placement: Placements | None = Field(
        None,
        description=f"how two ranks lie to each other: 'all', or {', '.join(PLACEMENTS)}; then "
        "leave all else of the layout out",
    )
    tasks: Positives | None = Field(
        None,
        description="processes over all nodes, in place of ppn: whole numbers that every number of "
        "nodes divides",
    )
    mapping: Mappings = Field(
        ["block"],
        description="which ranks share a node: 'block' fills nodes in turn, 'round_robin' deals "
        "them out, 'random' shuffles the places (see mapping_seed)",
    )
    mapping_seed: Positives = Field([1], description="of random mappings: whole numbers from 1")


class Run(_Model):
    """One [[runs]] table: a kernel over the product of its axes."""

    kernel: str = Field(description="a kernel's name: see haloscope list")
    name: str | None = Field(None, description="a label for tables and figures")
    params: dict[str, Values] = Field(
        default_factory=dict,
        description="key = value or [values], numbers or texts: see haloscope describe",
    )
    layout: LayoutAxes = Field(
        default_factory=LayoutAxes,
        description="nodes, ppn, tasks, threads, cores, places, bind, placement, mapping, "
        "mapping_seed",
    )
    toolchains: Toolchains | None = Field(
        None, description="'all', or names of MPI libraries: see haloscope toolchain list"
    )
    transports: Transports = Field(
        [DEFAULT],
        description="'default' (the library's choice), 'all' that each library has, or names: "
        "see haloscope toolchain list",
    )
    launches: Positive | None = Field(
        None, description="a whole number from 1, in place of the study's launches"
    )
    skip_too_large: bool = Field(
        False, description="true leaves out what is too large for this machine, false refuses it"
    )


class Element(_Model):
    """One [[tables]] or [[figures]] table: what the report is to show."""

    kind: str
    title: str | None = Field(None, description="a text, in place of the kind's own title")
    where: dict[str, Values] = Field(
        default_factory=dict,
        description="the settings to show, each a value or a list of values: { n = [1024] }",
    )
    published: str | None = Field(
        None, description="the id of the paper's table to set beside ours: see haloscope paper"
    )


class TableElement(Element):
    """One [[tables]] table of a study."""

    kind: Annotated[str, _one_of(lambda: TABLE_KINDS)] = Field(
        description=f"one of {', '.join(TABLE_KINDS)}"
    )


class FigureElement(Element):
    """One [[figures]] table of a study."""

    kind: Annotated[str, _one_of(lambda: FIGURE_KINDS)] = Field(
        description=f"one of {', '.join(FIGURE_KINDS)}"
    )


class Study(_Model):
    """A whole study, as its file gives it."""

    title: str = Field(description="a text: what the study asks")
    paper: Annotated[str, _one_of(_papers)] | None = Field(
        None, description="the id of a paper whose tables stand beside ours: see haloscope list"
    )
    launches: Positive = Field(1, description="a whole number from 1: whole jobs of each case")
    precision: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="a share such as 0.02: launch each case (at least 'launches' times, and 7) "
        "until the medians' intervals are as narrow, half width over median",
    )
    most_launches: Positive = Field(
        30, description="a whole number from 7: launches of each case at most, where precision asks"
    )
    timeout_s: float = Field(600.0, gt=0, description="seconds above 0: the time limit of a case")
    runs: list[Run] = Field(min_length=1, description="[[runs]] tables, at least one")
    tables: list[TableElement] = Field(default_factory=list, description="[[tables]] tables")
    figures: list[FigureElement] = Field(default_factory=list, description="[[figures]] tables")


def stopping_rule(study: Study) -> Rule | None:
    """When a study's cases have been launched often enough; None where it says how often."""
    if study.precision is None:
        return None
    fewest = max(FEWEST_FOR_INTERVAL + 1, study.launches)
    return Rule(study.precision, fewest, max(fewest, study.most_launches))


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
        return f"{self.path}: runs[{self.indices[run]}].{key}".rstrip(".")


def ready() -> list[Path]:
    """The study files that came with haloscope."""
    return sorted(share("studies").glob("*.toml"))


def load(study: str | Path) -> Study:
    """A study by name or path. UserError with everything that is wrong in its file."""
    draft = read(study)
    if draft.problems or draft.study is None:
        raise UserError(draft.problems)
    return draft.study


def read(study: str | Path) -> Draft:
    """As `load`, but problems inside the file are returned beside what is left without them."""
    path = _find(str(study))
    try:
        source = path.read_text(encoding="utf-8")
        data = tomllib.loads(source)
    except OSError as error:
        raise UserError(Problem(str(path), f"{error.strerror}", "give a file to read")) from error
    except UnicodeDecodeError as error:
        raise UserError(Problem(str(path), f"not UTF-8: {error}", "save it as UTF-8")) from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(Problem(str(path), f"not TOML: {error}", "mend the file there")) from error
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
    if path.is_file():
        return path
    ours = {entry.stem: entry for entry in ready()}
    if study in ours:
        return ours[study]
    if path.suffix or path.name != study:
        raise UserError(Problem(study, "there is no such file", "give a study's name or file"))
    raise UserError(Problem(f"study '{study}'", "there is no such study", nearest(study, [*ours])))


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    location = detail["loc"]
    where = f"{path}: {_dotted(location)}"
    model, description = _described(location)
    key = str(location[-1]) if location else ""
    if detail["type"] == "extra_forbidden":
        return Problem(where, f"unknown key '{key}'", nearest(key, [*model.model_fields]))
    if detail["type"] == "missing":
        return Problem(where, f"'{key}' is missing", f"give {description}")
    if detail["type"] == "name":
        return Problem(where, f"there is no {key} {detail['input']!r}", detail["msg"])
    return Problem(where, f"{detail['input']!r} won't do", f"give {description}")


def _dotted(location: Sequence[int | str]) -> str:
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return parts.removeprefix(".")


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
