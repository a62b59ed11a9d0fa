# SPDX-License-Identifier: BSD-3-Clause
"""A fake halobench, a fake toolchain, and a fake machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fake_halobench

from haloscope.errors import Problem
from haloscope.records.maker import CampaignFacts
from haloscope.run.prepare.halobench import Kernel, KernelParameter, KernelResult
from haloscope.run.prepare.probing import Probe
from haloscope.study.case import Value, text
from haloscope.study.program import Forecast
from haloscope.toolchains import build
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job
from haloscope.toolchains.library import Toolchain

STUDY = """
title = "ours"
launches = 2
timeout_s = 300
[[runs]]
kernel = "fake"
params = { n = [8, 16] }
layout = { ppn = [1, 2], nodes = [1, 2] }
"""
FAKE_HALOBENCH = Path(fake_halobench.__file__)
FAKE_PROGRAMS = FAKE_HALOBENCH.with_name("fake_programs")
FAKE = Toolchain("fake", None, Path("mpicxx"), Path("mpirun"), "openmpi", "Fake MPI 1.0")
MACHINE = {"host": "here", "cpu": "a fake processor", "cores": 4, "threads_per_core": 1}


class FakePlanner:
    """What the fake halobench says of cases, without starting it."""

    def __init__(self, binary: Path) -> None:
        assert binary.exists()

    def forecast(
        self, kernel: str, params: Mapping[str, Any], *, ranks: int = 1, **_: object
    ) -> Forecast:
        said = fake_halobench.plan(dict(params), ranks)
        problems = [
            Problem(f"{kernel} {one['key']}={one['value']}", "refused", one["message"])
            for one in said["problems"]
        ]
        return Forecast(said["params"], said["memory_bytes"], tuple(problems))


class FakeProgram:
    """What the fake halobench says, to plan with, without starting it."""

    def kernels(self) -> Sequence[str]:
        return ["fake"]

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        return fake_halobench.DEFAULTS

    def numbers(self, kernel: str) -> Sequence[str]:
        return [key for key, one in fake_halobench.DEFAULTS.items() if isinstance(one, int)]

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        return params, None

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        given = {key: text(value) for key, value in params.items()}
        return FakePlanner(FAKE_HALOBENCH).forecast(kernel, given, ranks=ranks)

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        return None


def describe(kernel: str) -> Kernel:
    """What the fake halobench declares."""
    parameters = (
        KernelParameter(
            name=name,
            type="integer" if isinstance(default, int) else "text",
            default=default,
            minimum=1 if name == "n" else None,
            maximum=None,
            choices=(),
            unit=None,
            help="a help",
        )
        for name, default in fake_halobench.DEFAULTS.items()
    )
    result = KernelResult("answer", "integer", "s", "null", "it")
    return Kernel(kernel, "not a measurement", None, tuple(parameters), (result,), ())


@dataclass
class Laboratory:
    """What a test may look at or change of the fakes."""

    launches: list[Job] = field(default_factory=list)
    source: str = "5eed"
    toolchain: Toolchain = FAKE
    compiler: str = "fake++ 1.0"
    probes: list[str | None] = field(default_factory=list)
    programs: Path = FAKE_PROGRAMS
    reports: list[Path] = field(default_factory=list)

    def composed(self, folder: Path) -> Path:
        """A report as data: the folder that it is of."""
        self.reports.append(folder)
        return folder

    def of(self, toolchain: Toolchain) -> Build:
        """Builds of the fake halobench: of none until one is built."""
        return Build(toolchain, self.programs, self.source, self.compiler, build.flags())

    def build(self, found: Build, programs: Iterable[KernelProgram], **_: object) -> None:
        """Provide the programs, which are all one fake, from now on."""
        self.programs.mkdir(exist_ok=True)
        for one in found.lacking(programs):
            found.path(one).symlink_to(FAKE_HALOBENCH)

    @property
    def is_built(self) -> bool:
        """Whether some program is there."""
        return any(self.programs.glob("*"))

    def forget_builds(self) -> None:
        """As on a machine where nothing was built yet."""
        self.programs = self.programs.with_name("not built")

    def probe(self, built: Build, transport: str | None, hosts: Sequence[str] = ()) -> Probe:
        """Two ranks that reach each other by everything but ucx."""
        self.probes.append(transport)
        return Probe("vader", None) if transport != "ucx" else Probe(None, "no device")

    @property
    def built(self) -> dict[str, Build]:
        return {"fake": Build(FAKE, self.programs, self.source)}

    @property
    def facts(self) -> CampaignFacts:
        return CampaignFacts("a-study", 7, MACHINE, "0.1.0", None)
