"""Reports of whatever cases a study may have: no exception, no empty table, nothing but numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isclose, isnan
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from recorded import Raw, bad, cases, pingpong, poisson, spmv, star_forest, stream, write_folder

from haloscope.report import figures, tables
from haloscope.report.document import Document
from haloscope.report.figures.model import Figure, Lines
from haloscope.report.tables import Context, Table
from haloscope.report.writing import composed
from haloscope.study import kinds

SQUARE_AND_CUBES = [
    *(poisson(64, ranks=ranks, variant="textbook") for ranks in (1, 2)),
    *(star_forest("sf_grid", ranks=ranks, n=[4, 8, 16, 32, 64]) for ranks in (1, 2)),
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


def _of(make: Callable[..., Raw], launch: int, **settings: Any) -> Raw:
    return make(launch=launch, **settings)


def _solve(n: int, launch: int, **settings: Any) -> Raw:
    return poisson(n, launch=launch, **settings)


SIMULATION: Raw = {"cluster": "stampede2", "verified": False, "cached": False}

MAKERS: list[Callable[[int], Raw]] = [
    *(partial(_solve, 64, ranks=ranks) for ranks in (1, 2, 4)),
    *(partial(_solve, 128, variant=variant) for variant in ("fused", "textbook")),
    partial(_solve, 64, ranks=2, exchange="blocking"),
    partial(_solve, 64, ranks=4, nodes=2),
    partial(_solve, 64, threads=2),
    partial(_solve, 256, ranks=4, nodes=4, layout={"bind": "spread"}),
    partial(_solve, 256, ranks=2, threads=2),
    partial(_solve, 128, ranks=2, variant="textbook", exchange="sendrecv"),
    partial(_solve, 64, surface=5),
    partial(
        _solve,
        64,
        ranks=2,
        clock="simulated",
        simulation=SIMULATION,
        toolchain={"name": "simgrid"},
    ),
    *(partial(_of, stream, ranks=ranks) for ranks in (1, 2)),
    partial(_of, pingpong),
    *(partial(_of, spmv, ranks=ranks) for ranks in (1, 2)),
    partial(_of, star_forest, kernel="sf_grid", n=[4, 8, 16, 32, 64]),
    *(partial(_of, star_forest, kernel=kernel) for kernel in ("sf_scatter", "sf_pingpong")),
]
"""Cases of several kernels: the launch of a number."""


WAYS = ("measured", "lost", "unlike")
"""Launches as they are; some of them bad; or each as much slower as chance has it."""


def _launches(make: Callable[[int], Raw], chance: random.Random) -> list[Raw]:
    raws = [make(launch) for launch in range(chance.choice([1, 2, 3, 6, 8]))]
    way = chance.choice(WAYS)
    if way == "lost":
        outcome = chance.choice(["failed", "wrong", "timeout", "misplaced"])
        raws[-1] = bad(raws[-1], outcome, "as chance had it")
    if way == "unlike":
        for raw in raws:
            _slow(raw, chance.lognormvariate(0, 0.5))
    return raws


def _slow(raw: Raw, factor: float) -> None:
    """Every time of a launch, so many times as long."""
    for timed in (raw, *raw["points"]):
        timed["times_s"] = [factor * time for time in timed["times_s"]]
    for phase in raw["phases"]:
        phase["time_s"] = {key: factor * time for key, time in phase["time_s"].items()}


@pytest.mark.parametrize("seed", range(24))
def test_a_report_of_any_few_cases_has_no_empty_table_and_no_nan(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    chosen = chance.sample(MAKERS, chance.randint(1, 5))
    raws = [raw for make in chosen for raw in _launches(make, chance)]
    asked_tables = chance.sample(kinds.tables(), 6) if seed % 3 else []
    asked_figures = chance.sample(kinds.figures(), 4) if seed % 3 else []

    document = composed(write_folder(tmp_path, raws, _study(asked_tables, asked_figures)))

    assert all(table.rows for table in document.tables)
    assert not any(isnan(value) for value in _numbers(document))
    assert [value for value in _shares_of_bounds(document) if value > 1] == []
    assert _untraced(document, raws) == []
    assert not any("nan" in line.lower().split() for line in _sentences(document))


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
