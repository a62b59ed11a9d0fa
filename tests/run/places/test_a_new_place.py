# SPDX-License-Identifier: BSD-3-Clause
"""A place of a new kind, remote and by the wall's clock, is one entry in the list of places.

Nothing but that entry is given to the laboratory: what it runs is a fake of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from fakes import FAKE, FAKE_PROGRAMS, MACHINE, Laboratory
from noted import shows
from record_page import unknown

from haloscope.errors import UserError
from haloscope.records import maker
from haloscope.records.folder import ResultFolder
from haloscope.records.log import read
from haloscope.records.maker import CampaignFacts
from haloscope.run.campaign import campaign
from haloscope.run.doctor import CheckResult
from haloscope.run.places import Place, places
from haloscope.run.prepare import probing, workbench
from haloscope.run.prepare.workbench import Programs, Requested, Seen, Workbench
from haloscope.run.progress import Teller
from haloscope.study.case import Case, Launch
from haloscope.study.checks.capacity import PlaceFacts, Site
from haloscope.toolchains.build import Build

Run = Callable[..., int]
Write = Callable[[str], Path]

STUDY = """
title = "ours"
launches = 3
[[runs]]
kernel = "fake"
params = { n = 8 }
layout = { nodes = [1, 2, 16], ppn = 2 }
transports = ["default", "tcp"]
[[runs]]
kernel = "fake"
params = { n = 32768 }
layout = { nodes = [1, 8] }
[[runs]]
kernel = "fake"
only_simulated = true
"""


@dataclass(frozen=True)
class FarRunner:
    """Says that every launch went well."""

    facts: CampaignFacts
    name: str = "far"

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        for launch in launches:
            record = maker.asked(self.facts, self.name, launch)
            if launch.case.absent:
                yield maker.absent(record, launch.case.absent)
                continue
            measured = {"times_s": [0.5, 0.25 * (launch.number + 1)], "steps": 1}
            toolchain = {"mpi": "Far MPI", "source": "5eed"}
            ending = maker.Ending("ok", None, ["srun"], maker.now(), 2.0, toolchain)
            yield maker.ended(record, measured, ending)


@dataclass(frozen=True)
class FarAway(Place):
    """Eight nodes of four cores somewhere else."""

    name: str = "far"
    facts: ClassVar = PlaceFacts(clock="wall", remote=True, deterministic=False)

    @classmethod
    def names(cls) -> list[str]:
        return ["far"]

    @classmethod
    def named(cls, name: str, keep: Path | None) -> Self:
        return cls()

    def workbench(self, asked: Requested, tell: Teller) -> Workbench:
        return Workbench({"fake": Build(FAKE, FAKE_PROGRAMS, "5eed")}, ("fake",), ())

    def preview(self, asked: Requested) -> tuple[Workbench, tuple[str, ...]]:
        return Workbench({"fake": Build(FAKE, FAKE_PROGRAMS, "5eed")}, ("fake",), ()), ()

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        return Site(
            nodes=8,
            cores=4,
            hardware_threads=4,
            memory_bytes=2**30,
            oversubscribe=oversubscribe,
            toolchains=bench.names,
            transports={"fake": ["shm", "tcp"]},
            facts=self.facts,
            name=self.name,
        )

    def identity(self) -> Mapping[str, Any]:
        return {"host": "far", "cpu": "another", "cores": 4}

    def probes(self, cases: Sequence[Case], bench: Workbench) -> Programs:
        return {}

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        return tuple(cases), {}

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> FarRunner:
        return FarRunner(workbench.facts(study, seed, {**MACHINE, **self.identity()}))


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch, laboratory: Laboratory) -> None:
    """The one entry. Nothing is to be found out of this machine."""

    def never(*_: object, **__: object) -> CheckResult:
        raise AssertionError("this machine was looked at")

    monkeypatch.setattr(places, "KINDS", (*places.KINDS, f"{__name__}:FarAway"))
    monkeypatch.setattr(campaign, "check_load", never)
    monkeypatch.setattr(probing, "probe", never)


def test_a_study_runs_resumes_and_is_reported_there(
    haloscope: Run, study_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    assert (
        haloscope("run", study_file(STUDY), "--on", "far", "--toolchain", "fake", "--out", out) == 0
    )
    assert haloscope("run", "--resume", out, "--launches", 4) == 0

    plan = ResultFolder(out).load()
    assert (plan.on, plan.machine["host"], len(plan.cases)) == ("far", "far", 5)
    assert [("8 nodes" in one, "1 GiB" in one) for one in plan.notes] == [
        (True, False),
        (False, True),
    ]
    records = read(out / "records.jsonl")
    assert [unknown(record.raw) for record in records] == [[]] * 20
    assert {(one.runner, one.clock, one.outcome) for one in records} == {("far", "wall", "ok")}
    assert {one.launch for one in records} == {0, 1, 2, 3}
    assert shows(capsys.readouterr().err, "5 cases, 15 launches ", "random")


def test_an_unsupported_case_is_absent_and_its_precision_kept(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    precise = STUDY.replace("launches = 3", "precision = 0.01\nmost_launches = 7")
    lacking = '[[runs]]\nkernel = "fake"\nlayout = { placement = "same-core" }\n'

    study = study_file(precise + lacking)
    assert haloscope("run", study, "--on", "far", "--out", tmp_path / "out") == 0

    plan = ResultFolder(tmp_path / "out").load()
    assert plan.rule is not None
    absent = {case.absent for case in plan.cases if case.absent}
    assert len(absent) == 1 and "'same-core'" in str(absent)
    launches = [one.case for one in read(tmp_path / "out" / "records.jsonl") if one.times_s]
    assert {launches.count(case.id) for case in plan.cases if not case.absent} == {7}


def test_it_caches_nothing_and_verifies_every_result(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        haloscope("run", study_file(STUDY), "--on", "far", "--execute", "--keep", tmp_path / "kept")

    assert [one.where for one in caught.value.problems] == ["--keep", "--execute"]


def test_it_is_suggested_for_a_misspelt_name(haloscope: Run, study_file: Write) -> None:
    with pytest.raises(UserError, match="'far'"):
        haloscope("run", study_file(STUDY), "--on", "farr")
