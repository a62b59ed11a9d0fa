# SPDX-License-Identifier: BSD-3-Clause
"""Which of several compilers for a GPU is taken: one whose programs the driver runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.host import gpus
from haloscope.toolchains import gpu_compilers
from haloscope.toolchains.added import wheels

SAYS = """\
nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2024 NVIDIA Corporation
Cuda compilation tools, release {release}, V{release}.131"""


def nvcc(folder: Path, release: str) -> Path:
    """A compiler of that version of CUDA in a folder's bin."""
    path = folder / "bin" / "nvcc"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{SAYS.format(release=release)}\nEND\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with CUDA 13.0 in PATH, and 12.4 and 11.8 installed beside it."""
    for release in ("13.0", "12.4", "11.8"):
        nvcc(tmp_path / f"cuda-{release}", release)
    monkeypatch.setattr(gpu_compilers, "INSTALLED", tmp_path)
    monkeypatch.setattr(wheels.Wheel, "added", lambda _: None)
    for name in ("CUDACXX", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "cuda-13.0" / "bin"))
    return tmp_path


@pytest.mark.parametrize(
    ("driver", "release"),
    [("580.65.06", "13.0"), ("550.54.15", "12.4"), ("470.82.01", "11.8"), (None, "13.0")],
)
def test_a_compiler_supported_by_the_driver_is_chosen(
    machine: Path, monkeypatch: pytest.MonkeyPatch, driver: str | None, release: str
) -> None:
    monkeypatch.setattr(gpus, "nvidia_driver", lambda: driver)

    assert gpu_compilers.find("cuda") == machine / f"cuda-{release}" / "bin" / "nvcc"


def test_a_too_new_compiler_is_refused_unless_the_user_insists(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "nvidia_driver", lambda: "550.54.15")
    monkeypatch.setattr(gpu_compilers, "INSTALLED", machine / "empty")

    with pytest.raises(UserError) as caught:
        gpu_compilers.find("cuda")

    (problem,) = caught.value.problems
    for version in ("CUDA 13.0", "driver 550.54.15", "CUDA 12"):
        assert version in problem.what
    monkeypatch.setenv("CUDACXX", "nvcc")
    assert gpu_compilers.find("cuda") == machine / "cuda-13.0" / "bin" / "nvcc"


@pytest.mark.parametrize("text", ["#!/no/such/python3\n", "\x7fno first line\n"])
def test_a_compiler_that_cannot_run_is_skipped(
    machine: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It ended in a traceback."""
    monkeypatch.setattr(gpus, "nvidia_driver", lambda: "550.54")
    (machine / "cuda-13.0" / "bin" / "nvcc").write_text(text)

    assert gpu_compilers.find("cuda") == machine / "cuda-12.4" / "bin" / "nvcc"
