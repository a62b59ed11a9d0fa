# SPDX-License-Identifier: BSD-3-Clause
"""A laboratory without MPI: a fake halobench, a fake launcher, a machine with four cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import FAKE, FAKE_HALOBENCH, MACHINE, FakePlanner, Laboratory, describe
from rich.console import Console

from haloscope.cli import parse, perform
from haloscope.errors import Problem, UserError
from haloscope.host import machine
from haloscope.host.scratch import Scratch
from haloscope.records.log import read
from haloscope.report import writing
from haloscope.report.draw import terminal
from haloscope.run.places import simulated
from haloscope.run.prepare import halobench, probing
from haloscope.run.progress import Teller
from haloscope.run.runners import local
from haloscope.toolchains import build, library
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.launching import Job
from haloscope.toolchains.library import Toolchain


@pytest.fixture
def laboratory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Laboratory:
    lab = Laboratory(programs=tmp_path_factory.mktemp("builds") / "built")
    lab.build(lab.of(FAKE), [KernelProgram("fake"), KernelProgram("pingpong")])

    def launch_command(
        toolchain: Toolchain, job: Job, program: list[str], scratch: Scratch
    ) -> tuple[list[str], dict[str, str]]:
        lab.launches.append(job)
        environment = {"FAKE_RANKS": str(job.layout.ranks), "FAKE_THREADS": str(job.layout.threads)}
        return program, {**os.environ, **environment, "FAKE_MARK": str(tmp_path / "mark")}

    def ensure(name: str | None, *, say: Callable[[str], None]) -> Toolchain:
        if name == "gone":
            raise UserError(
                Problem(
                    "toolchain",
                    "'gone' cannot be downloaded",
                    "connect this machine to the internet",
                )
            )
        return lab.toolchain

    def always(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    monkeypatch.setattr(local, "launch_command", launch_command)
    monkeypatch.setattr(library, "names", always(["fake", "gone"]))
    monkeypatch.setattr(library, "ensure", ensure)
    monkeypatch.setattr(library, "available", lambda: [lab.toolchain])
    monkeypatch.setattr(probing, "probe", lab.probe)
    monkeypatch.setattr("haloscope.toolchains.libfabric.providers", always(("tcp", "verbs")))
    monkeypatch.setattr(halobench, "Planner", FakePlanner)
    monkeypatch.setattr(build, "build", lab.build)
    monkeypatch.setattr(build, "of", lab.of)
    monkeypatch.setattr(halobench, "names", always(["fake"]))
    monkeypatch.setattr(halobench, "describe", describe)
    for name in ("CXXFLAGS", "LDFLAGS", "CUDAFLAGS", "CUDAHOSTCXX", "HIPFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(machine, "describe", lambda: dict(MACHINE))
    monkeypatch.setattr(machine, "busy_processors", always(0.0))
    monkeypatch.setattr(machine, "processors", always([0, 1, 2, 3]))
    placements = {"same-core": None, "same-cache": (0, 1), "other-socket": (0, 2)}
    monkeypatch.setattr(machine, "placements", always(placements))
    monkeypatch.setattr(machine, "memory_available_bytes", always(2**30))
    monkeypatch.chdir(tmp_path)
    return lab


@pytest.fixture
def haloscope(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The commands of the command line, without a process of their own."""
    monkeypatch.setattr(writing, "compose", laboratory.composed)
    monkeypatch.setattr(terminal, "summary", lambda folder: f"summary of {folder.name}")
    monkeypatch.setattr(writing, "write", lambda _, folder, *__: folder / "report.html")

    def run(*words: object) -> int:
        return perform(parse([str(word) for word in words]))

    return run


@pytest.fixture
def simulator(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A smpirun that starts the fake halobench, on every simulated cluster; a cache of its own.

    In its trace each rank sends 100 bytes to the next but one.
    """
    smpirun = tmp_path / "smpirun"
    smpirun.write_text(
        "#!/bin/sh\n"
        "export FAKE_RANKS=$2\n"
        "until [ ${1##*/} = halobench_fake ]; do\n"
        "  if [ $1 = -trace-file ]; then seq 0 $((FAKE_RANKS - 1)) | awk -v n=$FAKE_RANKS \\\n"
        """    '{ print "15 0 3 0 PTP 1 " $1 + 1 "_" ($1 + 2) % n + 1 "_0_1 100" }' > $2; fi\n"""
        "  shift\n"
        "done\n"
        "out=$7; export FAKE_THREADS=$5; shift 9\n"  # after --execute yes or no
        f'exec {FAKE_HALOBENCH} --out "$out" "$@"\n'
    )
    smpirun.chmod(0o755)
    monkeypatch.setattr(simulated, "smpi", lambda: replace(FAKE, name="simgrid", mpirun=smpirun))
    monkeypatch.setattr(simulated, "programs", lambda: (smpirun, smpirun))  # for dry runs
    monkeypatch.setattr(simulated, "cache_folder", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(machine, "physical_cores", lambda root=None: [0, 1])


@pytest.fixture
def study_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a study's file."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


QUIET = Teller(Console(quiet=True))
Write = Callable[[str], Path]
Run = Callable[..., int]


def records(folder: Path) -> list[tuple[int, int, int, str]]:
    """n, ppn, launch, and outcome of each record of a folder."""
    return [
        (one.params["n"], one.layout["ppn"], one.launch, one.outcome)
        for one in read(folder / "records.jsonl")
    ]


ALL = sorted((n, ppn, launch, "ok") for n in (8, 16) for ppn in (1, 2) for launch in (0, 1))
"""What `records` finds where STUDY was run whole."""
