# SPDX-License-Identifier: BSD-3-Clause
"""A cache that can't be written to is told by each command that needs it, with what to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from haloscope import paths
from haloscope.errors import UserError
from haloscope.host.scratch import may_execute
from haloscope.profiling import counter
from haloscope.run import matrices
from haloscope.toolchains import build, extras, library
from haloscope.toolchains.library import Toolchain

MATRIX = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n"
SYSTEM = Toolchain("system", None, Path("mpicxx"), Path("mpirun"), "openmpi", "Open MPI 4.1.4")


def matrix(folder: Path) -> object:
    (folder / "a.mtx").write_text(MATRIX)
    return matrices.prepared({"matrix": str(folder / "a.mtx")}, "matrix", 1)


@pytest.mark.parametrize("where", ["/sys/kernel", "file"])
@pytest.mark.parametrize("what", ["add", "extra", "profile", "matrix"])
def test_a_cache_that_cant_be_written_to_is_told(
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


def test_a_folder_that_is_mounted_noexec_is_seen(tmp_path: Path) -> None:
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
