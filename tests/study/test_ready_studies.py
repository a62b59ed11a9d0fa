"""The studies that come with haloscope, as the real halobench plans them in a large place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.host.machine import PLACEMENTS
from haloscope.run.workbench import Halobench
from haloscope.study import file as study_file
from haloscope.study.capacity import Site
from haloscope.study.plan import expand
from haloscope.study.schema import FigureElement, TableElement
from haloscope.study.settings import settings_of
from haloscope.study.suited import empty, unsuited

BINARY = Path(__file__).resolve().parents[2] / "build" / "release" / "halobench"
LARGE = Site(
    nodes=2, cores=24, hardware_threads=48, memory_bytes=2**40, placements=tuple(PLACEMENTS)
)


def elements(path: Path) -> list[TableElement | FigureElement]:
    """A study's tables and figures that choose among its cases."""
    study = study_file.load(path)
    return [one for one in (*(study.tables or ()), *(study.figures or ())) if one.where]


@cache
def planned(path: Path) -> Sequence[MeasuredCase]:
    """A study's cases as a report of it would find them, before any was launched."""
    if not BINARY.exists():
        pytest.skip(f"{BINARY} is not there: ./check builds it")
    plan = expand(study_file.load(path), LARGE, Halobench(BINARY))
    assert not plan.problems
    return [
        MeasuredCase(case.id, case.kernel, settings_of(case.as_dict()), (), ())
        for case in plan.cases
    ]


@pytest.mark.parametrize(
    "path", [path for path in study_file.ready() if elements(path)], ids=lambda path: path.stem
)
def test_tables_and_figures_choose_cases_that_there_are(path: Path) -> None:
    cases = planned(path)
    assert [one.where for one in elements(path) if not select(cases, one.where)] == []


@pytest.mark.parametrize("path", study_file.ready(), ids=lambda path: path.stem)
def test_every_table_and_figure_has_cases_that_suit_it(path: Path) -> None:
    study = study_file.load(path)
    planned(path)
    plan = expand(study, LARGE, Halobench(BINARY))

    assert [*unsuited(study, path.name), *empty(study, plan.cases)] == []


def test_the_roofline_of_jacobi_has_each_variant_on_one_core_and_on_two() -> None:
    (path,) = (path for path in study_file.ready() if path.stem == "jacobi")
    (figure,) = (one for one in elements(path) if one.kind == "roofline")
    found = [
        (case.settings["variant"], case.settings["L"], case.cores)
        for case in select(planned(path), figure.where)
        if case.kernel == "jacobi3d"
    ]
    variants = ("plain", "streaming", "temporal")
    assert sorted(found) == sorted(
        [*((name, 400, cores) for name in variants for cores in (1, 2)), ("plain", 60, 1)]
    )


@pytest.mark.parametrize("path", study_file.ready(), ids=lambda path: path.stem)
def test_ranks_that_leave_cores_free_are_spread_over_the_sockets_of_a_node(path: Path) -> None:
    """Or bound in both ways: side by side they would fill one socket's memory before the next."""
    layouts = [run.layout for run in study_file.load(path).runs]
    full = (None, [1], ["cores"])
    shared = [
        layout
        for layout in layouts
        if layout.tasks or (layout.nodes != [1] and layout.ppn not in full and not layout.cores)
    ]

    assert [layout for layout in shared if "spread" not in layout.bind] == []
