# SPDX-License-Identifier: BSD-3-Clause
"""haloscope toolchain build: programs built ahead of the cases that need them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from fakes import Laboratory
from laboratory import Run

from haloscope.errors import UserError
from haloscope.run.prepare import halobench
from haloscope.toolchains import build
from haloscope.toolchains.build import Build, KernelProgram

NAMES, PROGRAMS, DESCRIBE = halobench.names(), halobench.programs, halobench.describe


@pytest.fixture
def made(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of programs that are built, with halobench's own kernels."""
    found: list[str] = []

    def make(one: Build, programs: Iterable[KernelProgram], **_: object) -> None:
        programs = list(programs)
        found.extend(program.file for program in programs)
        laboratory.build(one, programs)

    laboratory.forget_builds()
    monkeypatch.setattr(build, "build", make)
    monkeypatch.setattr(halobench, "names", lambda: NAMES)
    monkeypatch.setattr(halobench, "describe", DESCRIBE)
    return found


@pytest.mark.parametrize(
    ("options", "files"),
    [
        (["--kernels", "ring,spmv"], ["halobench_ring", "halobench_spmv"]),
        (["--kernels", "spmv", "--device"], ["halobench_spmv", "halobench_spmv_device"]),
        (["--kernels", "launches"], ["halobench_launches_device"]),
        ([], [one.file for kernel in NAMES for one in PROGRAMS(kernel)]),
    ],
)
def test_the_requested_programs_are_built(
    haloscope: Run, made: list[str], options: list[str], files: list[str]
) -> None:
    assert haloscope("toolchain", "build", "fake", *options) == 0
    assert made == files


def test_an_existing_program_is_reported_and_not_rebuilt(
    haloscope: Run, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    haloscope("toolchain", "build", "--kernels", "ring")
    haloscope("toolchain", "build", "--kernels", "ring,empty")

    assert made == ["halobench_ring", "halobench_empty"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("already built ")
    assert [line.rpartition(": ")[2] for line in lines] == ["ring", "ring", "empty"]


def test_an_unknown_kernel_is_refused_before_a_build(haloscope: Run, made: list[str]) -> None:
    with pytest.raises(UserError, match="'rng'\n.*'ring'"):
        haloscope("toolchain", "build", "--kernels", "ring,rng")
    assert made == []


def test_kernels_are_listed_and_described_without_a_build(
    haloscope: Run, made: list[str], laboratory: Laboratory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert haloscope("list") == 0
    listed = capsys.readouterr().out
    assert haloscope("describe", "poisson_cg") == 0
    described = capsys.readouterr().out

    assert "at most " in listed
    assert all(name in listed for name in NAMES)
    assert halobench.describe("poisson_cg").parameters[0].help.split()[0] in described
    assert (made, laboratory.is_built) == ([], False)
