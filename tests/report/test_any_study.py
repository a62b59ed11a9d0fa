# SPDX-License-Identifier: BSD-3-Clause
"""Reports of whatever cases a study may have: no exception, no empty table, nothing but numbers.

Every number comes from the records: where all their times are four times as long, so is every time
that a report has, and every rate is a fourth; nothing else changes. HALOSCOPE_EXAMPLES=500 tries as
many studies by chance; without it a few are tried, always the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, isclose, isnan, log, prod
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from any_study import AnyStudy, Made, slower, studies
from hypothesis import HealthCheck, given, settings
from recorded import Raw, cases, poisson, spmv, star_forest, write_folder

from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import FindingShape
from haloscope.quantities import SECONDS
from haloscope.records.log import read
from haloscope.report.composing import compose
from haloscope.report.document import Document
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Bars, Figure, Lines
from haloscope.topics.common.table import Column, Table

SQUARE_AND_CUBES = [
    *(poisson(64, ranks=ranks, variant="textbook") for ranks in (1, 2)),
    *(star_forest("sf_grid", ranks=ranks, n="4:64") for ranks in (1, 2)),
    *(spmv(ranks=ranks, n=64) for ranks in (1, 2)),
]
"""A number n that is a square mesh's edge, several cubes' and one cube's."""


@pytest.mark.parametrize("kind", ["walltime_grid", "hybrid_grid"])
def test_square_mesh_grids_contain_only_their_solver(kind: str) -> None:
    threaded = [*SQUARE_AND_CUBES, poisson(64, threads=2, variant="textbook"), spmv(threads=2)]
    measured = cases(threaded)

    made = tables.build(kind, measured, Context(all_cases=measured))

    assert made
    assert all("64 × 64" in table.title and "spmv" not in table.title for table in made)


def test_a_step_that_sweeps_several_meshes_has_no_speedup() -> None:
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


@TRIED
@given(studies())
def test_a_report_of_any_cases_has_no_empty_table_and_no_nan(any_study: AnyStudy) -> None:
    document = _report(any_study, any_study.raws)

    assert all(table.rows for table in document.tables)
    assert not any(isnan(value) for value in _numbers(document))
    assert [value for value in _shares_of_bounds(document) if not 0 <= value <= WHOLE] == []
    assert list(_above_what_memory_allows(document)) == []
    assert _bars_untraced(document, any_study.raws) == []
    assert _untraced(document, any_study.raws) == []
    assert _counts_untraced(document, any_study.raws) == []
    assert not any("nan" in line.lower().split() for line in _sentences(document))


LONGER = 4.0
"""LONGER is a power of two, so that times are exactly so many times as long."""


@TRIED
@given(studies())
def test_every_time_in_a_report_comes_from_its_records(any_study: AnyStudy) -> None:
    before = _report(any_study, any_study.raws)
    after = _report(any_study, [slower(raw, LONGER) for raw in any_study.raws])

    assert [table.title for table in before.tables] == [table.title for table in after.tables]
    for first, then in zip(before.tables, after.tables, strict=True):
        assert list(_strange(first, then)) == []
    assert list(_strange_words(before, after)) == []


def test_a_number_without_a_record_is_found() -> None:
    made = Made("poisson_cg", {"n": 64})
    study = AnyStudy([made.launch(0)], [], [])
    document = _report(study, study.raws)
    (summary,) = (table for table in document.tables if table.kind == "summary")

    assert list(_strange(summary, summary))  # times that are as long though records are longer
    assert _untraced(document, [slower(raw, 2) for raw in study.raws])
    assert _counts_untraced(document, study.raws) == []
    assert {key for _, key, _ in _counts_untraced(document, [])} >= {"iterations", "dof"}


def _report(any_study: AnyStudy, raws: list[Raw]) -> Document:
    with TemporaryDirectory() as folder:
        study = _study(any_study.tables, any_study.figures)
        path = write_folder(Path(folder), raws, study)
        assert len(read(path / "records.jsonl")) == len(raws)  # none is left out as no record
        return compose(path)


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


def _near(new: float, expected: float) -> bool:
    return isclose(new, expected, rel_tol=TIMES_ENOUGH, abs_tol=1e-15)


QUANTITY = re.compile(r"(?<![\w.])(\d[\d,.]*\d|\d) (s|ms|µs|ns)\b")


def _strange_words(before: Document, after: Document) -> Iterator[str]:
    """Times in headlines that both reports have, and that do not follow; published ones do not."""
    said = {_without_numbers(text): text for text in map(after.said, after.findings)}
    for text in map(before.said, before.findings):
        then = said.get(_without_numbers(text))
        if then is None:
            continue  # which of two is said first may change, as it rests on caches and the like
        for old, new in zip(_times(_ours(text)), _times(_ours(then)), strict=True):
            if not isclose(new, LONGER * old, rel_tol=0.02):
                yield f"{text}\n became \n{then}"


def _without_numbers(text: str) -> str:
    return re.sub(r"[\d.,]+ (s|ms|µs|ns)\b|[\d.,]+", "#", text)


def _ours(text: str) -> str:
    return re.split("[Pp]ublished", text)[0]


def _times(text: str) -> list[float]:
    units = {unit: factor for factor, unit in SECONDS}
    return [float(n.replace(",", "")) * units[unit] for n, unit in QUANTITY.findall(text)]


def _shares_of_bounds(document: Document) -> Iterator[float]:
    """What tables, bars and headlines say that something is of what it could be, or of a whole."""
    for table in document.tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if BOUNDED.search(column.key) and isinstance(cell.value, int | float):
                    yield float(cell.value)
    for finding in document.findings:
        if finding.shape is FindingShape.BOUND and Caveat.PARTLY_CACHED not in finding.caveats:
            yield from (part.share for part in finding.parts if part.share is not None)
    for panel in _panels(document, Bars):
        yield from (value for _, values in panel.parts for value in values)


BOUNDED = re.compile("share")
"""BOUNDED are the columns whose values are parts of a whole, or of a bound."""
WHOLE = 1 + 1e-9


def _above_what_memory_allows(document: Document) -> Iterator[str]:
    """Points of rooflines above the line of as many cores, where no note says so."""
    for figure in document.figures:
        for panel in figure.panels if figure.kind == "roofline" else ():
            assert isinstance(panel, Lines)
            lines = {c.style: c.marks[0] for c in panel.curves if c.label.startswith("memory")}
            for curve in panel.curves:
                at = lines[curve.style] if curve.label.startswith("achieved") else None
                high = [m for m in curve.marks if at and m.y > at.y / at.x * m.x * WHOLE]
                if high and not any("above its line" in note for note in figure.notes):
                    yield curve.label


_Panel = TypeVar("_Panel", Lines, Bars)


def _panels(document: Document, kind: type[_Panel]) -> list[_Panel]:
    """All panels of a kind, of all figures."""
    every = [panel for figure in document.figures for panel in figure.panels]
    return [panel for panel in every if isinstance(panel, kind)]


def _bars_untraced(document: Document, raws: Sequence[Raw]) -> list[float]:
    """Parts of bars that are not shares of phases in good records; 0 stands for none."""
    good = [raw for raw in raws if raw["outcome"] == "ok"]
    known = [0.0, *(share for own in _by_case(good).values() for share in _shares(own))]
    drawn = [v for panel in _panels(document, Bars) for _, values in panel.parts for v in values]
    return [
        v for v in drawn if not any(isclose(v, one, rel_tol=1e-9, abs_tol=1e-12) for one in known)
    ]


def _by_case(good: Sequence[Raw]) -> dict[str, list[Raw]]:
    by_case: dict[str, list[Raw]] = {}
    for raw in good:
        by_case.setdefault(raw["case"], []).append(raw)
    return by_case


def _time(own: Sequence[Raw]) -> float:
    """The time of a case by all of its launches."""
    return _typical(own, [_steady(raw["times_s"]) for raw in own])


def _typical(own: Sequence[Raw], values: Sequence[float]) -> float:
    """The median over launches; over several jobs, the geometric mean of their medians."""
    by_job = _jobs(own, values)
    if len(by_job) < 2 or min(values) <= 0:
        return median(values)
    return exp(fmean(log(median(there)) for there in by_job.values()))


def _jobs(own: Sequence[Raw], values: Sequence[float]) -> dict[str, list[float]]:
    """One number a launch, job by job; {} where no launch ran in one."""
    by_job: dict[str, list[float]] = {}
    for raw, value in zip(own, values, strict=True):
        by_job.setdefault((raw.get("allocation") or {}).get("job", ""), []).append(value)
    return by_job if [*by_job] != [""] else {}


def _untraced(document: Document, raws: Sequence[Raw]) -> list[tuple[str, float]]:
    """Times in tables that are not medians over good launches, of a step or of a point."""
    good = _by_case([raw for raw in raws if raw["outcome"] == "ok"])
    known = [_time(own) for own in good.values()]
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
    *(
        ("jacobi", f"{model}_{what}")
        for model in ("textbook", "detailed")
        for what in ("mlups", "ratio", "error")
    ),
}
"""FITTED are the columns with what models were fitted to, which no one number of a record is; tests
of the models have them."""


def _counts_untraced(document: Document, raws: Sequence[Raw]) -> list[tuple[str, str, float]]:
    """Numbers in tables, other than times, rates, and fits, without a source in good records."""
    good = [raw for raw in raws if raw["outcome"] == "ok"]
    known = {*_numbers_of(good), *_derived(good)}
    asked = [(raw["params"], raw["layout"]["ranks"]) for raw in raws]
    known |= {*_numbers_of(asked)}  # of a case without a good launch, too
    known |= {float(n) ** 2 for n in _numbers_of([raw["params"] for raw in raws])}
    return [
        (table.kind, column.key, float(cell.value))
        for table in document.tables
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if _is_count(table, column) and isinstance(cell.value, int | float)
        if not any(isclose(cell.value, one, rel_tol=1e-9, abs_tol=1e-12) for one in known)
    ]


def _is_count(table: Table, column: Column) -> bool:
    """Whether a column is to be traced: neither a time, a rate, a fit or test, nor for CSV."""
    timed = re.search(r"_s(_\d+)?$|time_s|per_s$|residual$|^p_adjusted$", column.key)
    return not (timed or column.only_csv or (table.kind, column.key) in FITTED)


def _numbers_of(what: Any) -> Iterator[float]:
    """All numbers that stand anywhere in a record."""
    if isinstance(what, dict):
        for each in what.values():
            yield from _numbers_of(each)
    elif isinstance(what, list | tuple):
        for each in what:
            yield from _numbers_of(each)
    elif isinstance(what, int | float):
        yield float(what)


def _derived(good: Sequence[Raw]) -> Iterator[float]:
    """What tables say beside: launches, cores, working sets, shares, speedups, by other means."""
    by_case = _by_case(good)
    yield from (float(len(own)) for own in by_case.values())
    yield from (0.0, 1.0)
    for own in by_case.values():
        first = own[0]
        cores = first["layout"]["ranks"] * first["layout"]["threads"]
        yield from (float(cores), float(first["params"].get("n") or 0) ** 2 if _edge(first) else 0)
        for other in by_case.values():
            if other[0]["kernel"] == first["kernel"]:
                more = cores / (other[0]["layout"]["ranks"] * other[0]["layout"]["threads"])
                yield from (ratio := _ratio(other, own), ratio / more)
                shared = [at for at in _points(first) if at in _points(other[0])]
                yield from (_ratio(other, own, at) for at in shared)
        memory = first["memory"] or {}
        if "rss_bytes" in memory:  # beyond the vectors, per process
            used = max(raw["memory"]["rss_bytes"] or 0 for raw in own)
            yield (used - memory["predicted_bytes"]) / first["layout"]["ranks"]
        yield from _of_sweeps(first)
        yield from _of_products(first)
        yield from _of_grids(own, by_case.values())
        yield from _shares(own)
    yield from _of_bounds(good, by_case)
    errors = {_edge(raw) and raw["params"]["n"]: raw["result"].get("error_max") for raw in good}
    yield from (errors[n // 2] / errors[n] for n in errors if errors.get(n // 2) and errors[n])


def _ratio(slow: Sequence[Raw], fast: Sequence[Raw], at: _Point | None = None) -> float:
    """How many times as fast, in a step or at a point that both have.

    Of launches in jobs within those that ran both, or over all jobs.
    """
    times = [[_at(raw, at) for raw in own] for own in (slow, fast)]
    one, other = (_jobs(own, own_times) for own, own_times in zip((slow, fast), times, strict=True))
    both = [job for job in one if job in other]
    if len(both) > 1:
        return exp(fmean(log(median(one[job]) / median(other[job])) for job in both))
    return _typical(slow, times[0]) / _typical(fast, times[1])


_Point = tuple[str | None, int]
"""The operation and the size of a point of a sweep."""


def _points(raw: Raw) -> dict[_Point, list[float]]:
    return {(point["operation"], point["size_bytes"]): point["times_s"] for point in raw["points"]}


def _at(raw: Raw, at: _Point | None) -> float:
    return _steady(raw["times_s"] if at is None else _points(raw)[at])


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


def _of_grids(own: Sequence[Raw], every: Iterable[Sequence[Raw]]) -> Iterator[float]:
    """Of Jacobi's sweeps: faces, bytes exchanged, updates a second, and these over one rank's."""
    if own[0]["kernel"] != "jacobi3d":
        return
    grid = [int(along) for along in own[0]["result"]["grid"].split("x")]
    box = [
        -(-int(n) // along)
        for n, along in zip(own[0]["result"]["size"].split("x"), grid, strict=True)
    ]
    faces = [prod(box) // side for side, along in zip(box, grid, strict=True) if along > 1]
    yield from (2.0 * len(faces), 2 * 2 * 8 * sum(faces) / 1e6)
    rate = _typical(own, [raw["result"]["mlups"] for raw in own])
    yield rate
    for alone in every:
        if alone[0]["kernel"] == "jacobi3d" and alone[0]["layout"]["ranks"] == 1:
            single = _typical(alone, [raw["result"]["mlups"] for raw in alone])
            yield own[0]["layout"]["ranks"] * single / rate


def _of_bounds(good: Sequence[Raw], by_case: Mapping[str, Sequence[Raw]]) -> Iterator[float]:
    """What each solve moves a second over what each triad does."""
    triads: dict[tuple[str, int], list[tuple[Raw, float]]] = {}
    for raw in good:
        for point in raw["points"]:
            if point["operation"] == "triad":
                moved = point["result"].get("traffic_bytes", point["bytes"])
                a_byte = _steady(point["times_s"]) / moved
                triads.setdefault((raw["case"], point["size_bytes"]), []).append((raw, a_byte))
    speeds = [1 / _typical(*map(list, zip(*times, strict=True))) for times in triads.values()]
    for own in by_case.values():
        if own[0]["kernel"] != "poisson_cg":
            continue
        found = own[0]["result"]
        bytes_ = found["bytes_per_point_iteration"] * found["points"] * found["iterations"]
        yield from (bytes_ / _time(own) / speed for speed in speeds)


def _shares(own: Sequence[Raw]) -> Iterator[float]:
    """Of each phase, and of what lies outside of all, in the time of all steps; of a bound."""
    names = {phase["name"] for raw in own for phase in raw["phases"]}
    shares: dict[str, list[float]] = {name: [] for name in (*names, "")}
    for raw in own:
        if not raw["times_s"]:
            continue
        step = sum(raw["times_s"]) / len(raw["times_s"])
        for phase in raw["phases"]:
            shares[phase["name"]].append(phase["time_s"]["mean"] / step)
        shares[""].append(1 - sum(phase["time_s"]["mean"] for phase in raw["phases"]) / step)
    timed = [raw for raw in own if raw["times_s"]]
    every = {
        name: [max(0.0, value) for value in values] for name, values in shares.items() if values
    }
    typical = {name: _typical(timed, values) for name, values in every.items()}
    yield from typical.values()
    yield sum(share for name, share in typical.items() if name.startswith("transpose"))


def _steady(times_s: list[float]) -> float:
    """A launch's time: the median of its repetitions, of which the first may have warmed up."""
    return median(times_s)


def _sentences(document: Document) -> list[str]:
    """All that it says in words."""
    items: list[Table | Figure] = [*document.tables, *document.figures]
    notes = [note for item in items for note in item.notes]
    alts = [figure.alt for figure in document.figures]
    found = [document.said(finding) for finding in document.findings]
    return [*notes, *alts, *found, *(item.title for item in items), *document.left_out]


def _study(asked_tables: list[str], asked_figures: list[str]) -> str:
    lines = ['title = "Any"', "[[runs]]", 'kernel = "poisson_cg"']
    lines += [f'[[tables]]\nkind = "{kind}"' for kind in asked_tables]
    lines += [f'[[figures]]\nkind = "{kind}"' for kind in asked_figures]
    return "\n".join(lines) + "\n"


def _numbers(document: Document) -> list[float]:
    """All numbers of its tables, and of its figures with lines."""
    cells = [cell for table in document.tables for row in table.rows for cell in row]
    numbers = [value for cell in cells for value in (cell.value, cell.low, cell.high)]
    panels = [panel for figure in document.figures for panel in figure.panels]
    marks = [
        mark
        for panel in panels
        if isinstance(panel, Lines)
        for curve in panel.curves
        for mark in curve.marks
    ]
    drawn = [value for mark in marks for value in (mark.x, mark.y, mark.low, mark.high)]
    return [float(value) for value in (*numbers, *drawn) if isinstance(value, int | float)]
