"""A laboratory without MPI: a fake halobench, a fake launcher, a machine with four cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fake_halobench
import pytest

from haloscope import build, machine, session, toolchain
from haloscope.case import Value, text
from haloscope.errors import Problem, UserError, nearest
from haloscope.halobench import Plan
from haloscope.plan import Forecast
from haloscope.runners import local
from haloscope.runners.base import Session
from haloscope.runners.local import Built
from haloscope.toolchain import Launch, Toolchain

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

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        said = fake_halobench.plan({key: text(value) for key, value in params.items()}, ranks)
        problems = [
            Problem(f"{kernel} {one['key']}={one['value']}", "refused", one["message"])
            for one in said["problems"]
        ]
        return Plan(said["params"], said["memory_bytes"], tuple(problems))


@dataclass
class Laboratory:
    """What a test may look at or change of the fakes."""

    launches: list[Launch] = field(default_factory=list)
    source: str = "5eed"

    @property
    def built(self) -> dict[str, Built]:
        return {"fake": Built(FAKE, FAKE_HALOBENCH, self.source)}

    @property
    def session(self) -> Session:
        return Session("a-study", 7, MACHINE, "0.1.0", None)


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Laboratory:
    lab = Laboratory()

    def launch_command(
        toolchain: Toolchain, layout: Launch, program: list[str]
    ) -> tuple[list[str], dict[str, str]]:
        lab.launches.append(layout)
        environment = {"FAKE_RANKS": str(layout.ranks), "FAKE_THREADS": str(layout.threads)}
        return program, {**os.environ, **environment, "FAKE_MARK": str(tmp_path / "mark")}

    def find(name: str) -> Toolchain:
        if name != "fake":
            raise UserError(Problem("toolchain", f"there is no '{name}'", nearest(name, ["fake"])))
        return FAKE

    def always(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    monkeypatch.setattr(local, "launch_command", launch_command)
    monkeypatch.setattr(toolchain, "find", find)
    monkeypatch.setattr(toolchain, "ensure", always(FAKE))
    monkeypatch.setattr(toolchain, "available", always([FAKE]))
    monkeypatch.setattr(session, "Halobench", lambda binary: FakeProgram())
    monkeypatch.setattr(build, "build", always(FAKE_HALOBENCH))
    monkeypatch.setattr(build, "source_hash", lambda: lab.source)
    monkeypatch.setattr(machine, "describe", lambda: dict(MACHINE))
    monkeypatch.setattr(machine, "processors", always([0, 1, 2, 3]))
    monkeypatch.setattr(machine, "memory_available_bytes", always(2**30))
    monkeypatch.chdir(tmp_path)
    return lab


@pytest.fixture
def study_file(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a study's file; `title` and the fake kernel's table are put in front."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
