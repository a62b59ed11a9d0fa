# SPDX-License-Identifier: BSD-3-Clause
"""Each command that needs the cache reports that it is not writable, with a remedy."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from haloscope import paths
from haloscope.errors import UserError
from haloscope.host import scratch
from haloscope.host.scratch import may_execute
from haloscope.profiling import counter
from haloscope.run.prepare import matrices
from haloscope.toolchains import build, library
from haloscope.toolchains.added import extras
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import Toolchain

MATRIX = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n"
SYSTEM = Toolchain("system", None, Path("mpicxx"), Path("mpirun"), "openmpi", "Open MPI 4.1.4")


def matrix(folder: Path) -> object:
    (folder / "a.mtx").write_text(MATRIX)
    return matrices.prepared({"matrix": str(folder / "a.mtx")}, "matrix", 1)


@pytest.mark.parametrize("where", ["/sys/kernel", "file"])
@pytest.mark.parametrize("what", ["add", "extra", "profile", "matrix"])
def test_an_unwritable_cache_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, what: str
) -> None:
    """/sys takes no folder, whoever asks."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / where if where == "file" else where))
    monkeypatch.setattr(build, "wrapped_compiler", lambda _: "g++")
    monkeypatch.setattr(counter, "header", lambda _: "")
    ways: dict[str, Callable[[], object]] = {
        "add": lambda: library.install("openmpi", say=lambda _: None),
        "extra": lambda: extras.install("fftw", say=lambda _: None),
        "profile": lambda: counter.built(SYSTEM),
        "matrix": lambda: matrix(tmp_path),
    }

    with pytest.raises(UserError) as caught:
        ways[what]()

    (problem,) = caught.value.problems
    assert "HALOSCOPE_CACHE" in problem.remedy
    assert problem.where.startswith(str(paths.cache_path()))


@pytest.mark.parametrize("what", ["add", "kernel", "built", "profile"])
def test_a_noexec_cache_is_reported_before_building(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Nor is a program tried that was built before the folder was mounted so."""
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(scratch, "may_execute", lambda _: False)
    monkeypatch.setattr(build, "wrapped_compiler", lambda _: "g++")
    monkeypatch.setattr(counter, "header", lambda _: "")
    monkeypatch.setattr(counter, "_compiled", lambda *_, **__: pytest.fail("compiled"))
    monkeypatch.setattr(build, "_build", lambda *_: pytest.fail("built"))
    ring = KernelProgram("ring")
    found = build.of(SYSTEM)
    ways: dict[str, Callable[[], object]] = {
        "add": lambda: library.install("openmpi", say=lambda _: None),
        "kernel": lambda: build.build(found, [ring], say=lambda _: None),
        "profile": lambda: counter.built(SYSTEM),
    }
    if what == "built":
        found.path(ring).parent.mkdir(parents=True)
        found.path(ring).touch(mode=0o600)

    with pytest.raises(UserError) as caught:
        ways.get(what, ways["kernel"])()

    (problem,) = caught.value.problems
    assert "noexec" in problem.what and "HALOSCOPE_CACHE" in problem.remedy


def test_a_cache_that_is_a_file_has_no_damaged_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "file"))

    library.available()
    with pytest.raises(UserError) as caught:
        paths.cache_folder("builds")

    assert "damaged" not in capsys.readouterr().err
    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "file") and problem.what.startswith("is a file")


def test_a_noexec_mount_is_detected(tmp_path: Path) -> None:
    """By a file system of its own, which root can mount."""
    assert may_execute(tmp_path)
    asked = "import sys; from pathlib import Path; from haloscope.host.scratch import may_execute"
    asked += "; sys.exit(may_execute(Path(sys.argv[1])))"
    mount = 'mount -t tmpfs -o noexec none "$1" || exit 7; exec "$2" -c "$3" "$1"'
    words = ["unshare", "--mount", "sh", "-c", mount, "sh", str(tmp_path), sys.executable, asked]

    done = subprocess.run(words, capture_output=True, check=False)

    if done.returncode not in (0, 1) or done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode()}")
    assert done.returncode == 0


def test_a_full_disk_is_reported_when_building_the_profile_counter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's words name the file of ours that it compiled."""
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "wrapped_compiler", lambda _: "g++")
    monkeypatch.setattr(counter, "header", lambda _: "")
    wrapper = tmp_path / "mpicxx"
    said = f"fatal error: counter.o: {os.strerror(errno.ENOSPC)}"
    wrapper.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    wrapper.chmod(0o755)

    with pytest.raises(UserError) as caught:
        counter.built(replace(SYSTEM, mpicxx=wrapper))

    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "cache")
    assert said in problem.what and "HALOSCOPE_CACHE" in problem.remedy
