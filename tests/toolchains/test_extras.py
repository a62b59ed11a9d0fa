# SPDX-License-Identifier: BSD-3-Clause
"""What is added beside MPI libraries: SimGrid by its two ways, whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType

import pytest
from noted import shows

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.host import process
from haloscope.toolchains import build, simgrid
from haloscope.toolchains.added import extras, pypi, simgrid_packages, simgrid_source
from haloscope.toolchains.library import prefix_of

ROOT = Path(__file__).parents[2]

REAL = os.environ.get("PATH", os.defpath)
"""The PATH of this machine."""

APT = """#!/bin/sh
echo "$*" >> "$LOG"
for word; do case $word in Dir::Cache=*) cache=${word#Dir::Cache=};; esac; done
case "$*" in update*) exit 0;; *" simgrid") echo "E: no simgrid"; exit 100;; esac
[ -z "$FETCHED" ] && echo "E: can't resolve the mirror's name" && exit 100
for each in $FETCHED; do : > "$cache/archives/$each"; done
"""
"""An apt-get that has no package `simgrid`, and fetches the files that FETCHED names."""

DPKG = """#!/bin/sh
mkdir -p "$3/usr/bin" "$3/usr/lib/x86_64-linux-gnu"
: > "$3/usr/lib/x86_64-linux-gnu/libsimgrid.so"
for each in smpicc smpicxx smpirun; do printf '%s\\n' '#!/usr/bin/env sh' \\
  'export LD_LIBRARY_PATH="/usr/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu${L:+:$L}"' \\
  'list_set INCLUDEARGS "-I/usr/include" "-I/usr/include/smpi"' \\
  'list_set CMAKE_LINKARGS "-L/usr/lib/x86_64-linux-gnu"' \\
  'CXX=/usr/bin/c++' > "$3/usr/bin/$each"; chmod +x "$3/usr/bin/$each"; done
"""
"""A dpkg whose every package holds a SimGrid, with lines of its scripts."""


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with apt-get, dpkg and a compiler, and without a SimGrid; an empty cache."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (("apt-get", APT), ("dpkg", DPKG), ("c++", "#!/bin/sh\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in ("sh", "mkdir", "chmod"):
        (folder / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("FETCHED", "libsimgrid-dev_3.32_amd64.deb libsimgrid3.32_3.32_amd64.deb")
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    for name in ("SIMGRID_ROOT", "CXX"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where a SimGrid was to be built; each is there at once."""
    built = []

    def fill(part: Path, final: Path, say: object) -> Path:
        built.append(final)
        folder = part / "staged" / "bin"
        folder.mkdir(parents=True)
        for name in ("smpicxx", "smpirun"):
            (folder / name).touch(0o755)
        return folder.parent

    monkeypatch.setattr(simgrid_source, "fill", fill)
    return built


def add() -> tuple[Path, list[str]]:
    said: list[str] = []
    return extras.install("simgrid", say=said.append), said


def test_packages_are_unpacked_and_their_scripts_relocated(tmp_path: Path) -> None:
    final = prefix_of("simgrid")
    launcher, said = add()

    assert launcher == final / "bin" / "smpirun"
    assert simgrid.programs() == (final / "bin" / "smpicxx", launcher)
    library = f"{final}/usr/lib/x86_64-linux-gnu"
    assert (final / "bin" / "smpicxx").read_text().splitlines() == [
        "#!/usr/bin/env sh",
        f'export LD_LIBRARY_PATH="{library}:{library}${{L:+:$L}}"',
        f'list_set INCLUDEARGS "-I{final}/usr/include" "-I{final}/usr/include/smpi"',
        f'list_set CMAKE_LINKARGS "-L{library}" "-Wl,--disable-new-dtags,-rpath,{library}"',
        "CXX=/usr/bin/c++",
    ]
    assert not final.with_suffix(".part").exists()
    asked = (tmp_path / "log").read_text().splitlines()
    assert [line.split()[-2:] for line in asked] == [
        ["libsimgrid-dev", "simgrid"],
        [asked[1].split()[-2], "libsimgrid-dev"],
    ]
    assert all("--no-install-recommends" in line for line in asked)
    assert add() == (launcher, [])  # it is there
    assert len(said) == 2


def test_outdated_package_lists_are_updated_in_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    monkeypatch.setenv("FETCHED", "")
    _, said = add()

    update = next(x for x in (tmp_path / "log").read_text().splitlines() if x.startswith("update"))
    assert f"Dir::State::Lists={prefix_of('simgrid').with_suffix('.part')}" in update
    assert sources == [prefix_of("simgrid")]
    assert shows(said, "can't resolve ", "mirror's name")


@pytest.mark.parametrize("missing", ["apt-get", "dpkg"])
def test_without_apt_or_dpkg_it_compiles(programs: Path, sources: list[Path], missing: str) -> None:
    (programs / missing).unlink()
    launcher, said = add()
    assert (sources, launcher.exists()) == ([prefix_of("simgrid")], True)
    assert any(missing in line for line in said)


def test_a_package_for_another_c_library_is_not_unpacked(
    monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    monkeypatch.setenv("FETCHED", "libc6_2.41_amd64.deb libsimgrid-dev_3.36_amd64.deb")
    _, said = add()
    assert sources and any("libc6_2.41_amd64.deb" in line for line in said)


def test_without_a_compiler_nothing_is_downloaded(programs: Path, tmp_path: Path) -> None:
    (programs / "c++").unlink()
    with pytest.raises(UserError, match=r"installing simgrid: .*\n.*apt install g\+\+"):
        add()
    assert not (tmp_path / "log").exists()
    assert not prefix_of("simgrid").with_suffix(".part").exists()


def test_if_both_methods_fail_the_output_is_printed_and_nothing_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FETCHED", "")

    def install(package: str, prefix: Path) -> None:
        prefix.mkdir()
        simgrid_source._run(["sh", "-c", "echo no network >&2; exit 3"])

    monkeypatch.setattr(pypi, "install", install)
    with pytest.raises(UserError, match="building SimGrid: no network"):
        add()
    assert [each.suffix for each in prefix_of("simgrid").parent.iterdir()] == [".lock"]
    assert simgrid.programs() is None


def test_an_interrupted_installation_starts_again_and_is_never_used(sources: list[Path]) -> None:
    part = prefix_of("simgrid").with_suffix(".part")
    (part / "root").mkdir(parents=True)
    half = prefix_of("simgrid") / "bin"
    half.mkdir(parents=True)
    (half / "smpicxx").touch(0o755)
    assert simgrid.programs() is None

    launcher, _ = add()
    assert launcher.exists() and not part.exists()


def test_the_users_version_precedes_the_systems_and_the_added_one(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add()
    for name in ("smpicxx", "smpirun"):
        (programs / name).touch(0o755)
    assert simgrid.programs() == (programs / "smpicxx", programs / "smpirun")
    monkeypatch.setenv("SIMGRID_ROOT", str(tmp_path / "mine"))
    assert simgrid.programs() is None


def test_it_is_removed_completely() -> None:
    add()
    extras.remove("simgrid")
    assert simgrid.added() is None and not prefix_of("simgrid").exists()
    with pytest.raises(UserError, match="haloscope toolchain add simgrid"):
        extras.remove("simgrid")


def test_the_missing_extra_is_offered_by_name_with_its_duration() -> None:
    with pytest.raises(UserError, match=r"SimGrid(?s:.*)toolchain add simgrid"):
        simgrid.smpi()


def test_an_unusable_user_prefix_must_be_unset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes before whatever is added."""
    monkeypatch.setenv("SIMGRID_ROOT", str(tmp_path))
    with pytest.raises(UserError, match="unset SIMGRID_ROOT; "):
        simgrid.smpi()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("simgrd", "'simgrid'? choose one of: cuda, fftw,"),
        ("simgrid==4.1", "toolchain add simgrid==4.1: "),
    ],
)
def test_an_unknown_extra_error_lists_the_available_ones(
    name: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["toolchain", "add", name]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())


GOLDEN = "pingpong sizes=0,8,64K,4M repetitions=2"
"""A golden case that takes no time."""


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(simgrid_packages, marks=pytest.mark.toolchains, id="packages"),
        pytest.param(
            simgrid_source, marks=[pytest.mark.minutes, pytest.mark.timeout(3600)], id="sources"
        ),
    ],
)
def test_each_method_gives_a_simgrid_with_the_golden_times(
    way: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is added once, into build/test-cache; a build from sources takes minutes."""
    monkeypatch.setenv("PATH", REAL)
    if (lacking := simgrid_packages.missing()) and way is simgrid_packages:
        pytest.skip(f"{lacking} is not there: this system has no such packages")
    name = way.__name__.rpartition(".")[2]
    monkeypatch.setenv("HALOSCOPE_CACHE", str(ROOT / "build" / "test-cache" / name))
    only = extras.Extra("for this test", simgrid.added, way.fill)
    monkeypatch.setattr(extras, "EXTRAS", {"simgrid": only})
    launcher = extras.install("simgrid", say=lambda line: None)
    monkeypatch.setenv("SIMGRID_ROOT", str(launcher.parents[1]))

    toolchain = simgrid.smpi()
    assert toolchain.mpirun == launcher
    kernel = build.KernelProgram(GOLDEN.split()[0])
    program = build.build(build.of(toolchain), [kernel], say=lambda line: None).path(kernel)
    out, golden = tmp_path / "record.json", ROOT / "tests" / "golden"
    command = [
        *(str(launcher), "-np", "4", "-platform", str(program.with_name("platform.so"))),
        *("-hostfile", str(golden / "hosts"), "--cfg=smpi/simulate-computation:no"),
        *(str(program), "--out", str(out), "--machine", str(golden / "machine.txt")),
        *("--execute", "no", *GOLDEN.split()),
    ]
    environment = {**os.environ, "HALOBENCH_PLATFORM": str(golden / "platform")}
    ended = process.run(command, environment, timeout_s=600)
    assert ended.code == 0, ended.output
    found = json.loads(out.read_text())["points"]
    expected = json.loads((golden / "times.json").read_text())[GOLDEN]["points_s"]
    assert [point["times_s"] for point in found] == [pytest.approx(x, rel=1e-9) for x in expected]


def test_the_list_includes_simgrid_and_cuda_of_the_system(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("smpicxx", "smpirun", "nvcc"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)

    assert main(["toolchain", "list"]) == 0

    said = "".join(capsys.readouterr().out.split())
    assert f"{programs / 'smpirun'}" in said and f"{programs / 'nvcc'}" in said
    assert "addsimgrid" not in said and "addlammps" in said
