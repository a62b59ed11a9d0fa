# SPDX-License-Identifier: BSD-3-Clause
"""What is fetched and built before cases run, and what is planned with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from fakes import FAKE, Laboratory
from laboratory import QUIET
from noted import shows

from haloscope.errors import Problem, UserError
from haloscope.layout import Layout
from haloscope.run.campaign import preparing
from haloscope.run.places.here import Here
from haloscope.run.prepare import workbench
from haloscope.run.prepare.workbench import Workbench
from haloscope.study.case import Case
from haloscope.study.plan import Plan
from haloscope.toolchains import build, in_path, library
from haloscope.toolchains.build import Build, KernelProgram

FAKE_PROGRAM, PINGPONG = KernelProgram("fake"), KernelProgram("pingpong")


@dataclass
class Planned:
    """Plans a case of so many ranks; unchecked as long as its program is missing."""

    ranks: int = 1
    absent: str | None = None
    problem: Problem | None = None
    benches: list[Workbench] = field(default_factory=list)

    def __call__(self, bench: Workbench) -> Plan:
        self.benches.append(bench)
        if self.problem:
            raise UserError(self.problem)
        layout = Layout(ppn=self.ranks)
        case = Case("fake", {}, {}, layout, "fake", 0, 1, 60.0, 0, absent=self.absent)
        there = all(not one.lacking([FAKE_PROGRAM]) for one in bench.built.values())
        return Plan((case,), (), (), () if there else (FAKE_PROGRAM,))


@pytest.fixture
def made(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> list[list[KernelProgram]]:
    """The programs that are built, in a laboratory where none is there."""
    laboratory.forget_builds()
    found: list[list[KernelProgram]] = []

    def make(one: Build, programs: list[KernelProgram], **_: object) -> None:
        found.append(programs)
        laboratory.build(one, programs)

    monkeypatch.setattr(build, "build", make)
    return found


def test_a_case_and_its_probe_are_built_together_and_replanned(
    made: list[list[KernelProgram]],
) -> None:
    planned = Planned(ranks=2)

    ready = preparing.prepared(Here(), {"": None}, {}, planned, QUIET)

    assert made == [[FAKE_PROGRAM, PINGPONG]]
    assert (ready.plan.unchecked, ready.first, len(planned.benches)) == ((), (), 2)


def test_nothing_is_built_or_planned_twice_if_complete(laboratory: Laboratory) -> None:
    planned = Planned(ranks=2)
    preparing.prepared(Here(), {"": None}, {}, planned, QUIET)
    assert len(planned.benches) == 1


def test_problems_are_reported_before_a_build(made: list[list[KernelProgram]]) -> None:
    with pytest.raises(UserError, match="too small"):
        planned = Planned(problem=Problem("n", "too small", "give more"))
        preparing.prepared(Here(), {"": None}, {}, planned, QUIET)
    assert made == []


def test_an_absent_case_is_built_and_not_probed(
    made: list[list[KernelProgram]],
) -> None:
    """Its parameters are in the record anyway."""
    preparing.prepared(Here(), {"": None}, {}, Planned(ranks=2, absent="no network"), QUIET)
    assert made == [[FAKE_PROGRAM]]


def test_without_any_library_no_program_is_queried(
    made: list[list[KernelProgram]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "workbench", lambda *_: Workbench({}, (), ()))
    planned = Planned(absent="can't be had")
    ready = preparing.prepared(Here(), {"": ["gone"]}, {}, planned, QUIET)
    assert (made, [one.absent for one in ready.plan.cases]) == ([], ["can't be had"])


def test_a_dry_run_builds_nothing_and_lists_unchecked_items(
    made: list[list[KernelProgram]],
) -> None:
    ready = preparing.prepared(Here(), {"": None}, {}, Planned(ranks=2), None)

    built, unchecked = ready.first
    assert made == []
    assert shows(built, "fake and pingpong ", " fake")
    assert shows(unchecked, " fake ", "not checked")
    assert shows(unchecked, "build fake ", " --kernels fake,pingpong")


def test_a_library_is_fetched_only_if_the_plan_is_valid(
    made: list[list[KernelProgram]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before: a study that can't run fetches nothing."""
    fetched: list[str | None] = []

    def ensure(name: str | None, **_: object) -> library.Toolchain:
        fetched.append(name)
        return replace(FAKE, name="mpich")

    monkeypatch.setattr(library, "names", lambda: ["fake", "mpich"])
    monkeypatch.setattr(library, "ensure", ensure)
    problem = Planned(problem=Problem("n", "too small", "give more"))
    with pytest.raises(UserError):
        preparing.prepared(Here(), {"": ["mpich"]}, {}, problem, QUIET)
    assert fetched == []
    preparing.prepared(Here(), {"": ["mpich"]}, {}, Planned(), QUIET)
    assert fetched == ["mpich"]


def test_a_pypi_library_is_used_if_none_is_in_path(
    made: list[list[KernelProgram]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is in the cache, so that nothing is fetched, and in a dry run."""
    added = replace(FAKE, name="openmpi")
    part = in_path.Unusable("no srun in PATH", "load an MPI module")
    monkeypatch.setattr(library, "available", lambda: [added])
    monkeypatch.setattr(in_path, "unusable", lambda: part)

    for tell in (QUIET, None):
        with pytest.raises(UserError) as caught:
            preparing.prepared(Here(), {"": None}, {}, Planned(), tell)
        assert [one.what for one in caught.value.problems] == [part.what]

    assert made == []
    preparing.prepared(Here(), {"": ["openmpi"]}, {}, Planned(), None)  # named, it is taken
