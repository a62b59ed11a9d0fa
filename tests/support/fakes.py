# SPDX-License-Identifier: BSD-3-Clause
"""A halobench, a toolchain and a machine that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fake_halobench

from haloscope.errors import Problem
from haloscope.records.maker import CampaignFacts
from haloscope.run.probing import Probe
from haloscope.run.runners.local import Built
from haloscope.study.case import Value, text
from haloscope.study.plan import Forecast
from haloscope.toolchains.job import Job
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
FAKE = Toolchain("fake", None, Path("mpicxx"), Path("mpirun"), "openmpi", "Fake MPI 1.0")
MACHINE = {"host": "here", "cpu": "a fake processor", "cores": 4, "threads_per_core": 1}


class FakeProgram:
    """What the fake halobench says, without starting it."""

    binary = FAKE_HALOBENCH

    def kernels(self) -> Sequence[str]:
        return ["fake"]

    def parameters(self, kernel: str) -> Sequence[str]:
        return list(fake_halobench.DEFAULTS)

    def numbers(self, kernel: str) -> Sequence[str]:
        return [key for key, one in fake_halobench.DEFAULTS.items() if isinstance(one, int)]

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        return params, None

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        said = fake_halobench.plan({key: text(value) for key, value in params.items()}, ranks)
        problems = [
            Problem(f"{kernel} {one['key']}={one['value']}", "refused", one["message"])
            for one in said["problems"]
        ]
        return Forecast(said["params"], said["memory_bytes"], tuple(problems))

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        return None


@dataclass
class Laboratory:
    """What a test may look at or change of the fakes."""

    launches: list[Job] = field(default_factory=list)
    source: str = "5eed"
    toolchain: Toolchain = FAKE
    compiler: str = "fake++ 1.0"
    probes: list[str | None] = field(default_factory=list)
    is_built: bool = True
    reports: list[Path] = field(default_factory=list)

    def composed(self, folder: Path) -> Path:
        """A report as data: the folder that it is of."""
        self.reports.append(folder)
        return folder

    def build(self, *_: object, **__: object) -> Path:
        """The fake halobench, which is there from now on."""
        self.is_built = True
        return FAKE_HALOBENCH

    def probe(self, built: Built, transport: str | None, hosts: Sequence[str] = ()) -> Probe:
        """Two ranks that reach each other by everything but ucx."""
        self.probes.append(transport)
        return Probe("vader", None) if transport != "ucx" else Probe(None, "no device")

    @property
    def built(self) -> dict[str, Built]:
        return {"fake": Built(FAKE, FAKE_HALOBENCH, self.source)}

    @property
    def facts(self) -> CampaignFacts:
        return CampaignFacts("a-study", 7, MACHINE, "0.1.0", None)
