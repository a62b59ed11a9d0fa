"""Reports of whatever cases a study may have: no exception, no empty table, nothing but numbers.

Every number comes from the records: where all their times are four times as long, so is every time
that a report has, and every rate is a fourth; nothing else changes. HALOSCOPE_EXAMPLES=500 tries as
many studies by chance; without it a few are tried, always the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isnan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded import (
    Raw,
    bad,
    cases,
    collectives,
    fft,
    overheads,
    pingpong,
    poisson,
    ring,
    spmv,
    star_forest,
    stream,
    write_folder,
)

from haloscope.quantities import SECONDS
from haloscope.records.record import read
from haloscope.report import figures, tables
from haloscope.report.document import Document
from haloscope.report.figures.model import Figure, Lines
from haloscope.report.tables import Column, Context, Table
from haloscope.report.writing import composed
from haloscope.study import kinds

SQUARE_AND_CUBES = [
    *(poisson(64, ranks=ranks, variant="textbook") for ranks in (1, 2)),
    *(star_forest("sf_grid", ranks=ranks, n="4:64") for ranks in (1, 2)),
    *(spmv(ranks=ranks, n=64) for ranks in (1, 2)),
]
"""A number n that is a square mesh's edge, several cubes' and one cube's."""


@pytest.mark.parametrize("kind", ["walltime_grid", "hybrid_grid"])
def test_grids_of_a_square_mesh_are_of_its_solver_alone(kind: str) -> None:
    threaded = [*SQUARE_AND_CUBES, poisson(64, threads=2, variant="textbook"), spmv(threads=2)]
    measured = cases(threaded)

    made = tables.build(kind, measured, Context(all_cases=measured))

    assert made
    assert all("64 × 64" in table.title and "spmv" not in table.title for table in made)


def test_what_sweeps_over_several_meshes_in_a_step_has_no_speedup() -> None:
    measured = cases(SQUARE_AND_CUBES)

    for build in (tables.build, figures.build):
        titles = [made.title for made in build("scaling", measured, Context(all_cases=measured))]
        assert titles
        assert not any("sf_grid" in title for title in titles)


EXAMPLES = int(os.environ.get("HALOSCOPE_EXAMPLES", "0"))
FEW = 12
"""FEW is how many studies each test tries where no other number is given, because each takes about
half a second."""
TRIED = settings(
    max_examples=EXAMPLES or FEW,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SIMULATED: Raw = {
    "clock": "simulated",
    "simulation": {
        "cluster": "stampede2",
        "verified": False,
        "cached": False,
        "iterations": None,
        "of_iterations": None,
        "iterations_from": None,
    },
    "toolchain": {"name": "simgrid"},
}
LAYOUTS = [(1, 1, 1), (2, 1, 1), (4, 1, 1), (4, 2, 1), (8, 4, 1), (1, 1, 2), (2, 1, 2), (4, 4, 1)]
"""Ranks, nodes, threads."""
OPERATIONS = ("bcast", "reduce", "allreduce", "allgather", "gather", "scatter", "alltoall")


@st.composite
def solves(draw: st.DrawFn) -> Raw:
    """The settings of a solve of Poisson's equation."""
    ranks, nodes, threads = draw(st.sampled_from(LAYOUTS))
    where = {"ranks": ranks, "nodes": nodes, "threads": threads}
    how = {
        "variant": draw(st.sampled_from(["fused", "textbook"])),
        "exchange": draw(st.sampled_from(["blocking", "nonblocking", "sendrecv"])),
        "layout": {"bind": draw(st.sampled_from(["close", "spread"]))},
        "surface": draw(st.sampled_from([0, 0, 0, 5])),
    }
    clock = SIMULATED if draw(st.sampled_from([False, False, False, True])) else {}
    return {"n": draw(st.sampled_from([64, 128, 256])), **where, **how, **clock}


@dataclass(frozen=True)
class Made:
    """A case of a study: what makes a launch of it, and with which settings."""

    kernel: str
    given: Raw

    def launch(self, number: int) -> Raw:
        """The record of one launch."""
        given = {**self.given, "launch": number}
        if self.kernel == "poisson_cg":
            return poisson(given.pop("n"), **given)
        if self.kernel == "ring":
            return ring(0.8e-6 * given["ranks"] * (1 + 0.01 * number), **given)
        if self.kernel == "collectives":
            each = {(op, size): 1e-6 + 1e-9 * size for op in OPERATIONS for size in (8, 64, 4096)}
            return collectives(each, **given)
        if self.kernel.startswith("sf_"):
            return star_forest(self.kernel, **given)
        if self.kernel == "stream":
            return stream(**given)
        if self.kernel == "fft_pencil":
            return fft(**given)
        if self.kernel == "loggp":
            return overheads(number)
        return pingpong(**given) if self.kernel == "pingpong" else spmv(**given)


MAKERS = st.one_of(
    solves().map(lambda given: Made("poisson_cg", given)),
    solves().map(lambda given: Made("poisson_cg", given)),  # scaling takes several
    st.sampled_from([1, 2]).map(lambda ranks: Made("stream", {"ranks": ranks})),
    st.sampled_from(["imb", "osu", "stream"]).map(lambda mode: Made("pingpong", {"mode": mode})),
    st.sampled_from(["tcp", "shm"]).map(lambda name: Made("pingpong", {"transport": name})),
    st.just(Made("loggp", {})),
    st.sampled_from(["pipelined", "pairwise"]).map(
        lambda transpose: Made("fft_pencil", {"transpose": transpose})
    ),
    st.sampled_from([1, 2, 4]).map(lambda ranks: Made("spmv", {"ranks": ranks})),
    st.sampled_from([2, 3, 4]).map(lambda ranks: Made("ring", {"ranks": ranks})),
    st.sampled_from([2, 4]).map(lambda ranks: Made("collectives", {"ranks": ranks})),
    st.sampled_from(["sf_scatter", "sf_pingpong"]).map(lambda kernel: Made(kernel, {})),
    st.just(Made("sf_grid", {"n": "4:64"})),
)

WAYS = ("measured", "lost", "unlike")
"""Launches as they are; the last of them bad; or each as much slower as chance has it."""
OUTCOMES = ("failed", "wrong", "timeout", "misplaced")


@dataclass(frozen=True)
class AnyStudy:
    """Records of a few cases, and the kinds of tables and figures that are asked for."""

    raws: list[Raw]
    tables: list[str]
    figures: list[str]


@st.composite
def studies(draw: st.DrawFn) -> AnyStudy:
    """Any few cases, each with some launches, and any kinds, or no word of these."""
    chosen = draw(st.lists(MAKERS, min_size=1, max_size=5, unique_by=repr))
    raws = [raw for made in chosen for raw in _launches(draw, made)]
    if draw(st.booleans()):
        return AnyStudy(raws, [], [])
    asked = st.lists(st.sampled_from(kinds.tables()), min_size=1, max_size=6, unique=True)
    shown = st.lists(st.sampled_from(kinds.figures()), min_size=1, max_size=4, unique=True)
    return AnyStudy(raws, draw(asked), draw(shown))


def _launches(draw: st.DrawFn, made: Made) -> list[Raw]:
    raws = [made.launch(number) for number in range(draw(st.sampled_from([1, 2, 3, 6, 8])))]
    way = draw(st.sampled_from(WAYS))
    if way == "lost":
        raws[-1] = bad(raws[-1], draw(st.sampled_from(OUTCOMES)), "as chance had it")
    if way == "unlike":
        return [_slower(raw, draw(st.floats(0.4, 4))) for raw in raws]
    return raws


def _slower(raw: Raw, factor: float) -> Raw:
    """A launch whose every time is so many times as long, and every rate as much less."""

    def told(found: Raw) -> Raw:
        return {key: _longer(key, value, factor) for key, value in found.items()}

    def timed(one: Raw) -> Raw:
        slow = {**one, "times_s": [factor * time for time in one["times_s"]]}
        return {**slow, "result": told(one["result"])} if "result" in one else slow

    changed = timed(raw)
    changed["points"] = [timed(point) for point in raw["points"]]
    changed["parts"] = [timed(part) for part in raw.get("parts", [])]
    changed["phases"] = [
        {
            **phase,
            **{
                name: {key: factor * time for key, time in phase[name].items()}
                for name in ("time_s", "median_s")
                if phase.get(name)
            },
        }
        for phase in raw["phases"]
    ]
    return changed


def _longer(key: str, value: Any, factor: float) -> Any:
    if not isinstance(value, int | float):
        return value
    if key.endswith("_per_s") or key == "mlups":
        return value / factor
    return value * factor if key.endswith("_s") else value


@TRIED
@given(studies())
def test_a_report_of_any_few_cases_has_no_empty_table_and_no_nan(any_study: AnyStudy) -> None:
    document = _report(any_study, any_study.raws)

    assert all(table.rows for table in document.tables)
    assert not any(isnan(value) for value in _numbers(document))
    assert [value for value in _shares_of_bounds(document) if value > 1] == []
    assert _untraced(document, any_study.raws) == []
    assert _counts_untraced(document, any_study.raws) == []
    assert not any("nan" in line.lower().split() for line in _sentences(document))


LONGER = 4.0
"""LONGER is a power of two, so that times are exactly so many times as long."""


@TRIED
@given(studies())
def test_every_time_of_a_report_follows_those_of_its_records(any_study: AnyStudy) -> None:
    before = _report(any_study, any_study.raws)
    after = _report(any_study, [_slower(raw, LONGER) for raw in any_study.raws])

    assert [table.title for table in before.tables] == [table.title for table in after.tables]
    for first, then in zip(before.tables, after.tables, strict=True):
        assert list(_strange(first, then)) == []
    assert list(_strange_words(before, after)) == []


def test_a_number_of_no_record_is_found() -> None:
    made = Made("poisson_cg", {"n": 64})
    study = AnyStudy([made.launch(0)], [], [])
    document = _report(study, study.raws)
    (summary,) = (table for table in document.tables if table.kind == "summary")

    assert list(_strange(summary, summary))  # times that are as long though records are longer
    assert _untraced(document, [_slower(raw, 2) for raw in study.raws])
    assert _counts_untraced(document, study.raws) == []
    assert {key for _, key, _ in _counts_untraced(document, [])} >= {"iterations", "dof"}


def _report(any_study: AnyStudy, raws: list[Raw]) -> Document:
    with TemporaryDirectory() as folder:
        study = _study(any_study.tables, any_study.figures)
        path = write_folder(Path(folder), raws, study)
        assert len(read(path / "records.jsonl")) == len(raws)  # none is left out as no record
        return composed(path)


TIMES_ENOUGH = 1e-3
"""TIMES_ENOUGH is how far a factor may be from what it must be, because fits end where they are
near enough."""


def _strange(before: Table, after: Table) -> Iterator[str]:
    """Cells that change otherwise than times, rates, and what is neither, do."""
    for row, then in zip(before.rows, after.rows, strict=True):
        for column, one, other in zip(before.columns, row, then, strict=True):
            for old, new in (
                (one.value, other.value),
                (one.low, other.low),
                (one.high, other.high),
            ):
                if not isinstance(old, int | float) or not isinstance(new, int | float):
                    continue
                if not any(_near(new, factor * old) for factor in _factors(column.key)):
                    yield f"{before.id}: {column.key}: {old} became {new}"


def _factors(key: str) -> tuple[float, ...]:
    """What the values of a column may be multiplied with where all times are."""
    if key.endswith("_per_s"):
        return (1 / LONGER,)
    return (LONGER,) if key.endswith("_s") else (1.0, LONGER, 1 / LONGER)


def _near(new: float, wanted: float) -> bool:
    return isclose(new, wanted, rel_tol=TIMES_ENOUGH, abs_tol=1e-15)


QUANTITY = re.compile(r"(?<![\w.])(\d[\d,.]*\d|\d) (s|ms|µs|ns)\b")


def _strange_words(before: Document, after: Document) -> Iterator[str]:
    """Times in headlines that both reports have, and that do not follow; published ones do not."""
    said = {_without_numbers(finding.text): finding.text for finding in after.findings}
    for finding in before.findings:
        then = said.get(_without_numbers(finding.text))
        if then is None:
            continue  # which of two is said first may change, as it rests on caches and the like
        for old, new in zip(_times(_ours(finding.text)), _times(_ours(then)), strict=True):
            if not isclose(new, LONGER * old, rel_tol=0.02):
                yield f"{finding.text}\n became \n{then}"


def _without_numbers(text: str) -> str:
    return re.sub(r"[\d.,]+ (s|ms|µs|ns)\b|[\d.,]+", "#", text)


def _ours(text: str) -> str:
    return re.split("[Pp]ublished", text)[0]


def _times(text: str) -> list[float]:
    units = {unit: factor for factor, unit in SECONDS}
    return [float(n.replace(",", "")) * units[unit] for n, unit in QUANTITY.findall(text)]


def _shares_of_bounds(document: Document) -> Iterator[float]:
    """What tables say that something reached of what it could."""
    for table in document.tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if column.key in BOUNDED and isinstance(cell.value, int | float):
                    yield float(cell.value)


BOUNDED = ("share_of_triad",)


def _untraced(document: Document, raws: Sequence[Raw]) -> list[tuple[str, float]]:
    """Times in tables that are no median of good launches' medians, of a step or of a point."""
    good: dict[str, list[Raw]] = {}
    for raw in raws:
        if raw["outcome"] == "ok":
            good.setdefault(raw["case"], []).append(raw)
    known = [median([_steady(raw["times_s"]) for raw in own]) for own in good.values()]
    return [
        (table.id, cell.value)
        for table in document.tables
        if table.kind in ("summary", "walltime_grid", "exchange")
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if column.key.endswith("time_s") and isinstance(cell.value, float)
        if not any(isclose(cell.value, one, rel_tol=1e-9) for one in known)
    ]


FITTED = {
    *(("split_phase", f"{way}_off") for way in ("max", "sum", "model")),
    *(("fits", name) for name in ("misfit", "value")),
}
"""FITTED are the columns with what models were fitted to, which no one number of a record is; tests
of the models have them."""


def _counts_untraced(document: Document, raws: Sequence[Raw]) -> list[tuple[str, str, float]]:
    """Numbers in tables that are no times, rates or fits, and rest on nothing in good records."""
    good = [raw for raw in raws if raw["outcome"] == "ok"]
    known = {*_numbers_of(good), *_derived(good)}
    return [
        (table.kind, column.key, float(cell.value))
        for table in document.tables
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if _is_count(table, column) and isinstance(cell.value, int | float)
        if not any(isclose(cell.value, one, rel_tol=1e-9, abs_tol=1e-12) for one in known)
    ]


def _is_count(table: Table, column: Column) -> bool:
    """Whether a column is to be traced: neither a time, a rate, a fit, nor a setting for CSV."""
    timed = re.search(r"_s(_\d+)?$|time_s|per_s$|residual$", column.key)
    return not (timed or column.only_csv or (table.kind, column.key) in FITTED)


def _numbers_of(what: Any) -> Iterator[float]:
    """All numbers that stand anywhere in a record."""
    if isinstance(what, dict):
        for each in what.values():
            yield from _numbers_of(each)
    elif isinstance(what, list):
        for each in what:
            yield from _numbers_of(each)
    elif isinstance(what, int | float):
        yield float(what)


def _derived(good: Sequence[Raw]) -> Iterator[float]:
    """What tables say beside: launches, cores, working sets, shares, speedups, by other means."""
    by_case: dict[str, list[Raw]] = {}
    for raw in good:
        by_case.setdefault(raw["case"], []).append(raw)
    yield from (float(len(own)) for own in by_case.values())
    yield from (0.0, 1.0)
    times = [(own[0], median([_steady(raw["times_s"]) for raw in own])) for own in by_case.values()]
    for first, time in times:
        cores = first["layout"]["ranks"] * first["layout"]["threads"]
        yield from (float(cores), float(first["params"].get("n") or 0) ** 2 if _edge(first) else 0)
        for other, base in times:
            if other["kernel"] == first["kernel"]:
                more = cores / (other["layout"]["ranks"] * other["layout"]["threads"])
                yield from (base / time, base / time / more)
        yield from _of_sweeps(first)
        yield from _of_products(first)
    for own in by_case.values():
        yield from _shares(own)
    yield from _of_bounds(good, by_case)


def _edge(raw: Raw) -> bool:
    return isinstance(raw["params"].get("n"), int)


def _of_sweeps(raw: Raw) -> Iterator[float]:
    """Working sets of all ranks, and of a solve's sweep; how many sizes an operation has."""
    sizes = [point["size_bytes"] for point in raw["points"]]
    yield from (float(size * raw["layout"]["ranks"]) for size in sizes)
    yield from (float(sizes.count(size)) for size in sizes)
    yield from (float(number) for number in range(1, len(set(sizes)) + 1))
    if raw["kernel"] == "poisson_cg":
        yield from (8.0 * vectors * raw["params"]["n"] ** 2 for vectors in (3, 4, 7))


def _of_products(raw: Raw) -> Iterator[float]:
    """How unevenly nonzeros are shared out."""
    found = raw["result"]
    if raw["kernel"] == "spmv":
        yield found["nonzeros_of_a_rank"] * raw["layout"]["ranks"] / found["nonzeros"]


def _of_bounds(good: Sequence[Raw], by_case: Mapping[str, Sequence[Raw]]) -> Iterator[float]:
    """What each solve moves a second over what each triad does."""
    triads: dict[tuple[str, int], list[float]] = {}
    for raw in good:
        for point in raw["points"]:
            if point["operation"] == "triad":
                moved = point["result"].get("traffic_bytes", point["bytes"])
                speed = moved / _steady(point["times_s"])
                triads.setdefault((raw["case"], point["size_bytes"]), []).append(speed)
    for own in by_case.values():
        if own[0]["kernel"] != "poisson_cg":
            continue
        found = own[0]["result"]
        bytes_ = found["bytes_per_point_iteration"] * found["points"] * found["iterations"]
        time = median([_steady(raw["times_s"]) for raw in own])
        yield from (bytes_ / time / median(speeds) for speeds in triads.values())


def _shares(own: Sequence[Raw]) -> Iterator[float]:
    """Of each phase, and of what lies outside of all, in the time of all steps; of a bound."""
    names = {phase["name"] for raw in own for phase in raw["phases"]}
    told: dict[str, list[float]] = {name: [] for name in (*names, "")}
    for raw in own:
        if not raw["times_s"]:
            continue
        step = sum(raw["times_s"]) / len(raw["times_s"])
        for phase in raw["phases"]:
            told[phase["name"]].append(phase["time_s"]["mean"] / step)
        told[""].append(1 - sum(phase["time_s"]["mean"] for phase in raw["phases"]) / step)
    yield from (max(0.0, median(values)) for values in told.values() if values)
    passed = [values for name, values in told.items() if name.startswith("transpose") and values]
    yield from (median(map(sum, zip(*passed, strict=True))) for _ in passed[:1])


def _steady(times_s: list[float]) -> float:
    """A launch's time: the median of its repetitions, of which the first may have warmed up."""
    return median(times_s)


def _sentences(document: Document) -> list[str]:
    """All that it says in words."""
    items: list[Table | Figure] = [*document.tables, *document.figures]
    notes = [note for item in items for note in item.notes]
    alts = [figure.alt for figure in document.figures]
    found = [finding.text for finding in document.findings]
    return [*notes, *alts, *found, *(item.title for item in items), *document.left_out]


def _study(asked_tables: list[str], asked_figures: list[str]) -> str:
    lines = ['title = "Any"', "[[runs]]", 'kernel = "poisson_cg"']
    lines += [f'[[tables]]\nkind = "{kind}"' for kind in asked_tables]
    lines += [f'[[figures]]\nkind = "{kind}"' for kind in asked_figures]
    return "\n".join(lines) + "\n"


def _numbers(document: Document) -> list[float]:
    """All numbers of its tables, and of its figures with lines."""
    cells = [cell for table in document.tables for row in table.rows for cell in row]
    told = [value for cell in cells for value in (cell.value, cell.low, cell.high)]
    panels = [panel for figure in document.figures for panel in figure.panels]
    marks = [
        mark
        for panel in panels
        if isinstance(panel, Lines)
        for curve in panel.curves
        for mark in curve.marks
    ]
    drawn = [value for mark in marks for value in (mark.x, mark.y, mark.low, mark.high)]
    return [float(value) for value in (*told, *drawn) if isinstance(value, int | float)]
