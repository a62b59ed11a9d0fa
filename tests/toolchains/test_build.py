# SPDX-License-Identifier: BSD-3-Clause
"""The cache of builds, with a stand-in for halobench and a stand-in for an MPI library."""

from __future__ import annotations

import errno
import os
import re
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
from noted import shows

from haloscope.errors import UserError
from haloscope.host import machine, scratch
from haloscope.toolchains import build, gpu_compilers
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import Toolchain

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(halobench NONE)
set(CMAKE_CXX_COMPILER_WORKS ON)
enable_language(CXX)
add_library(shared OBJECT shared.cpp)
foreach(name one two one_device)
  add_executable(halobench_${name} main.cpp)
  target_link_libraries(halobench_${name} shared)
endforeach()
"""
MAIN = '#include <cstdio>\nint main() { std::puts("first"); }\n'
ONE, TWO, DEVICE = KernelProgram("one"), KernelProgram("two"), KernelProgram("one", device=True)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "main.cpp").write_text(MAIN)
    (folder / "shared.cpp").write_text("int shared() { return 1; }\n")
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
    """The program ONE, and what was said on the way: nothing where it was in the cache."""
    said: list[str] = []
    return build.build(build.of(toolchain, source), [ONE], say=said.append).path(ONE), said


def is_built(toolchain: Toolchain, source: Path) -> bool:
    return build.of(toolchain, source).lacking([ONE]) == []


def output(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def leftovers(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "cache").rglob("*.part")]


def test_a_gpu_build_is_separate_and_receives_the_gpu_compiler(
    toolchain: Toolchain, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "CMakeLists.txt").write_text(
        CMAKE
        + "file(WRITE ${CMAKE_BINARY_DIR}/../../given.txt"
        + ' "${HALOBENCH_DEVICE} ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_ARCHITECTURES}")\n'
    )
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("CUDACXX", str(nvcc))
    gpu = replace(toolchain, name="fake+cuda", device="cuda")

    program, _ = built(gpu, source)

    assert (program.parents[1] / "given.txt").read_text() == f"cuda {nvcc} all-major"
    assert is_built(gpu, source)
    assert not is_built(toolchain, source)
    nvcc.write_text("#!/bin/sh\necho another\n")
    assert not is_built(gpu, source), "a compiler of another version makes another program"
    nvcc.write_text("#!/bin/sh\n")
    monkeypatch.setenv("CUDAHOSTCXX", "/another/c++")
    assert not is_built(gpu, source), "nor does another host compiler make the same"
    monkeypatch.delenv("CUDAHOSTCXX")
    assert is_built(gpu, source)
    monkeypatch.setenv("NCCL_ROOT", str(tmp_path))
    assert not is_built(gpu, source), "one without NCCL is no build with it"


def test_a_gpu_build_without_a_gpu_compiler_is_refused(
    toolchain: Toolchain, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CUDACXX", "HIPCXX"):
        monkeypatch.setenv(name, "/nowhere/compiler")
    for device, remedy in (("cuda", "toolchain add cuda"), ("hip", "ROCm")):
        with pytest.raises(UserError, match="/nowhere/compiler ") as caught:
            built(replace(toolchain, device=device), source)
        assert remedy in caught.value.problems[0].remedy
    monkeypatch.delenv("CUDACXX")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="--device cuda: .*nvcc "):
        gpu_compilers.find("cuda")


def test_a_program_is_built_once_and_then_cached(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    steps: list[tuple[int, int]] = []
    said: list[str] = []
    found = build.build(
        build.of(toolchain, source), [ONE], say=said.append,
        progress=lambda done, total: steps.append((done, total)),
    )  # fmt: skip
    program = found.path(ONE)
    assert output(program) == "first\n"
    assert len(said) == 1
    assert shows(said[0], " fake: ", "Fake MPI 1.0")
    assert steps[-1] == (3, 3)
    assert leftovers(tmp_path) == []
    assert built(toolchain, source) == (program, [])


def test_the_planner_is_built_even_if_a_program_fails_to_build(
    toolchain: Toolchain, source: Path
) -> None:
    program, _ = built(toolchain, source)
    assert build.asked(program) == program
    lines = (
        "add_executable(halobench_one_asked main.cpp)\n"
        "add_dependencies(halobench_one halobench_one_asked)\n"
    )
    (source / "CMakeLists.txt").write_text(CMAKE + lines)
    program, _ = built(toolchain, source)
    assert build.asked(program) == program.with_name("halobench_one_asked")
    assert output(build.asked(program)) == "first\n"


def test_changed_sources_are_built_separately_and_the_old_build_is_kept(
    toolchain: Toolchain, source: Path
) -> None:
    first, _ = built(toolchain, source)
    (source / "main.cpp").write_text(MAIN.replace("first", "second"))
    second, said = built(toolchain, source)
    assert len(said) == 1
    assert (output(first), output(second)) == ("first\n", "second\n")


def test_unrelated_files_do_not_cause_a_rebuild(source: Path) -> None:
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
        return build._key(changed, compiler, build.source_hash(source))

    keys = [key(), key(compiler="c++ 2")]
    other = Toolchain("fake", None, toolchain.mpicxx, Path("mpirun"), "openmpi", "Fake MPI 2.0")
    keys.append(key(other))
    monkeypatch.setattr(machine, "cpu_model", lambda: "another processor")
    keys.append(key())
    monkeypatch.setattr(build, "OPTIONS", ("-DCMAKE_BUILD_TYPE=Debug",))
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_a_failed_build_prints_the_compiler_output_and_leaves_nothing(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    (source / "main.cpp").write_text("int main() { return nonsense; }\n")
    with pytest.raises(UserError) as caught:
        built(toolchain, source)
    problem = caught.value.problems[0]
    assert "nonsense" in problem.what
    assert problem.where == "one"
    log = next((tmp_path / "cache" / "builds").glob("*.log"))
    assert str(log) in problem.remedy
    assert "nonsense" in log.read_text()
    assert leftovers(tmp_path) == []
    (source / "main.cpp").write_text(MAIN)
    assert output(built(toolchain, source)[0]) == "first\n"


def test_a_failed_build_names_the_kernel_and_its_first_error(
    toolchain: Toolchain, source: Path
) -> None:
    """Where its sources are, not where they were copied to, without the lines of progress."""
    cmake = source / "CMakeLists.txt"
    cmake.write_text(f"{CMAKE}target_sources(halobench_two PRIVATE two.cpp)\n")
    (source / "two.cpp").write_text("int two() { return first + second; }\nint last = third;\n")

    with pytest.raises(UserError) as caught:
        build.build(build.of(toolchain, source), [ONE, TWO], say=lambda _: None)

    (problem,) = caught.value.problems
    _, error, *_ = problem.what.splitlines()
    assert problem.where == "two"
    assert error.strip().startswith(f"{source / 'two.cpp'}:1:") and "first" in error
    assert "[" not in error.split(":")[0]


def test_remains_of_a_killed_build_do_not_interfere(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    half = build.of(toolchain, source).folder / "tree"
    half.mkdir(parents=True)
    (half / "CMakeCache.txt").write_text("cut off")
    (half / "build.ninja").write_text("cut off")
    assert output(built(toolchain, source)[0]) == "first\n"
    assert leftovers(tmp_path) == []


def test_a_build_removes_builds_unused_for_long(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    """The sources have changed since, so that their keys come up no more."""
    builds = tmp_path / "cache" / "builds"
    for name, days in (("fake-0123", 31), ("fake-4567", 31), ("fake-89ab", 29)):
        (builds / name / "tree").mkdir(parents=True)
        then = time.time() - days * 86400
        os.utime(builds / name, (then, then))
    under_way = FileLock(builds / "fake-4567.lock")

    with under_way:
        program, _ = built(toolchain, source)

    there = {one for one in builds.iterdir() if one.is_dir()}
    assert there == {builds / "fake-4567", builds / "fake-89ab", program.parent}


def compiled(log: str) -> list[str]:
    """The objects that a build's log says were compiled."""
    return re.findall(r"Building CXX object (?:\S*/)?(\S+)\.o\b", log)


def test_an_additional_program_compiles_only_new_files(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    found = build.of(toolchain, source)
    build.build(found, [ONE], say=lambda _: None)
    said: list[str] = []

    build.build(found, [ONE, TWO, DEVICE], say=said.append)

    assert shows(said[0], "two and one (device) ")
    log = next((tmp_path / "cache" / "builds").glob("*.log")).read_text()
    assert compiled(log) == ["main.cpp"] * 2
    assert found.lacking([ONE, TWO, DEVICE]) == []
    assert [one.name for one in found.folder.glob("halobench_*")] != []
    assert output(found.path(DEVICE)) == "first\n"


def test_a_failed_build_resumes(toolchain: Toolchain, source: Path, tmp_path: Path) -> None:
    lines = "target_sources(halobench_two PRIVATE late.cpp)\n"
    (source / "CMakeLists.txt").write_text(CMAKE + lines)
    (source / "late.cpp").write_text("")
    whole = toolchain.mpicxx.read_text()
    toolchain.mpicxx.write_text(
        whole.replace("exec", 'case "$*" in *late.cpp*) exit 1;; esac; exec')
    )
    found = build.of(toolchain, source)
    with pytest.raises(UserError):
        build.build(found, [ONE, TWO], say=lambda _: None)
    log = tmp_path / "cache" / "builds" / f"{found.folder.name}.log"
    before = [one for one in compiled(log.read_text()) if one != "late.cpp"]
    toolchain.mpicxx.write_text(whole)

    build.build(found, [ONE, TWO], say=lambda _: None)

    after = compiled(log.read_text())
    assert sorted([*before, *after]) == ["late.cpp", "main.cpp", "main.cpp", "shared.cpp"]
    assert output(found.path(TWO)) == "first\n"


def test_an_additional_program_uses_the_sources_of_the_first(
    toolchain: Toolchain, source: Path
) -> None:
    """They have changed since, or are gone, as those of another checkout."""
    found = build.of(toolchain, source)
    build.build(found, [ONE], say=lambda _: None)
    shutil.rmtree(source)

    build.build(found, [TWO], say=lambda _: None)

    assert output(found.path(TWO)) == "first\n"


def test_sources_that_change_while_being_read_are_not_built(
    toolchain: Toolchain, source: Path
) -> None:
    found = build.of(toolchain, source)
    (source / "main.cpp").write_text(MAIN.replace("first", "second"))
    with pytest.raises(UserError, match="sources changed"):
        build.build(found, [ONE], say=lambda _: None)
    assert found.lacking([ONE]) == [ONE]


def test_a_new_cmake_reconfigures_the_tree_and_keeps_objects(
    toolchain: Toolchain, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the virtual environment that had the first one was removed."""
    cmake, ninja = build.cmake_and_ninja()
    first, other = tmp_path / "ninja", tmp_path / "another-ninja"
    for link in (first, other):
        link.symlink_to(ninja)
    monkeypatch.setattr(build, "cmake_and_ninja", lambda: (cmake, str(first)))
    found = build.of(toolchain, source)
    build.build(found, [ONE], say=lambda _: None)
    first.unlink()
    monkeypatch.setattr(build, "cmake_and_ninja", lambda: (cmake, str(other)))

    build.build(found, [TWO], say=lambda _: None)

    log = next((tmp_path / "cache" / "builds").glob("*.log")).read_text()
    assert compiled(log) == ["main.cpp"]


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
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import Toolchain

wrapper, source = map(Path, sys.argv[1:])
fake = Toolchain("fake", None, wrapper, Path("mpirun"), "openmpi", "Fake MPI 1.0")
cli._end_in_order()
build.build(build.of(fake, source), [build.KernelProgram("one")])
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_terminated_build_leaves_no_compiler_or_temporary_file(
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


def test_concurrent_builds_build_once(toolchain: Toolchain, source: Path) -> None:
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: built(toolchain, source), range(3)))
    assert len({program for program, _ in answers}) == 1
    said = [line.split(" for ")[0] for _, lines in answers for line in lines]
    assert said.count("building one") == 1


def test_waiting_for_another_build_is_reported_once(
    toolchain: Toolchain, source: Path, tmp_path: Path
) -> None:
    found = build.of(toolchain, source)
    found.folder.parent.mkdir(parents=True)
    other = FileLock(f"{found.folder}.lock", thread_local=False)
    other.acquire()
    said: list[str] = []

    def say(line: str) -> None:
        """The other one ends when somebody waits, and leaves nothing."""
        said.append(line.split(":")[0])
        if other.is_locked:
            other.release()

    assert output(build.build(found, [ONE], say=say).path(ONE)) == "first\n"
    assert [line.split()[0] for line in said] == ["waiting", "building"]


def test_an_unbuilt_program_is_not_found(toolchain: Toolchain, source: Path) -> None:
    assert not is_built(toolchain, source)
    built(toolchain, source)
    assert is_built(toolchain, source)


def test_a_wrapper_without_a_compiler_suggests_a_package(
    toolchain: Toolchain, source: Path
) -> None:
    toolchain.mpicxx.write_text('#!/bin/sh\necho "c++: not found" >&2; exit 127\n')
    with pytest.raises(UserError, match=r"c\+\+: not found\n.*apt install g\+\+"):
        built(toolchain, source)


def test_a_pypi_wrapper_uses_the_compiler_of_the_user(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain.mpicxx.write_text('#!/bin/sh\necho "${OMPI_CXX:-its own}"\n')
    monkeypatch.setenv("CXX", "/bin/true")
    assert build.wrapped_compiler(toolchain) == "its own"
    wheel = Toolchain("x", tmp_path, toolchain.mpicxx, Path("mpirun"), "openmpi", "Fake MPI 1.0")
    assert build.wrapped_compiler(wheel) == "/bin/true"


@pytest.mark.parametrize(
    "name", ["a b", "\u00fc", "a$b", "a#b", "a'b", "a&b", "a:b", "a=b", "a,b", "a(b"]
)
def test_a_cache_path_with_unusual_characters_works(
    toolchain: Toolchain, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / name))

    # ccache takes a dollar sign for a variable
    own = f'case "$CCACHE_BASEDIR" in *\\$*) exit 9;; esac\nexec {shutil.which("c++")} "$@"'
    toolchain.mpicxx.write_text(f"#!/bin/sh\n{own}\n")

    assert output(built(toolchain, source)[0]) == "first\n"


@pytest.mark.parametrize("name", ['a"b', "a;b", "a\\b", "a\nb"])
def test_a_cache_path_cmake_cannot_use_is_refused_before_a_build(
    toolchain: Toolchain, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / name))
    said: list[str] = []

    with pytest.raises(UserError) as caught:
        build.build(build.of(toolchain, source), [ONE], say=said.append)

    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / name / "builds")
    assert "HALOSCOPE_CACHE" in problem.remedy
    assert said == []


def test_a_full_disk_is_reported_instead_of_a_source_error(
    toolchain: Toolchain, source: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's words name the file of ours that it compiled."""
    monkeypatch.setenv("HALOSCOPE_CACHE", str(small_disk / "cache"))

    with pytest.raises(UserError) as caught:
        built(toolchain, source)

    (problem,) = caught.value.problems
    assert problem.where == str(small_disk / "cache")
    assert "No space left" in problem.what and "HALOSCOPE_CACHE" in problem.remedy


NO_SPACE = os.strerror(errno.ENOSPC)
FULL = f"fatal error: error writing to shared.cpp.o: {NO_SPACE}"


@pytest.mark.parametrize(
    "said", [FULL, "shared.cpp: Disk quota exceeded", f"final close failed: {NO_SPACE}"]
)
def test_a_disk_that_fills_during_compilation_is_reported(
    toolchain: Toolchain, source: Path, tmp_path: Path, said: str
) -> None:
    found = build.of(toolchain, source)
    built(toolchain, source)
    toolchain.mpicxx.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')

    with pytest.raises(UserError) as caught:
        build.build(found, [TWO], say=lambda _: None)

    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "cache")
    assert said in problem.what and "free up space" in problem.remedy
