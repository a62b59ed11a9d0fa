# SPDX-License-Identifier: BSD-3-Clause
"""What `haloscope profile` counts of a program whose every byte is known."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from haloscope.cli import parse
from haloscope.errors import UserError
from haloscope.profiling import counter, traffic
from haloscope.profiling.traffic import Sent
from haloscope.programs import needs
from haloscope.toolchains import build, library
from haloscope.toolchains.library import Toolchain

SOURCE = Path(__file__).with_name("sends.cpp")
RANKS = 3


CACHE = Path(__file__).parents[2] / "build" / "test-cache"
NAMES = [
    pytest.param(name, marks=[] if name == "system" else [pytest.mark.toolchains])
    for name in ("system", "mpich", "openmpi")
]


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    try:
        return library.find("system")
    except UserError as error:
        pytest.skip(f"toolchain system is not there: {error}")


@pytest.fixture(params=NAMES)
def compiled(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Toolchain, Path]:
    """A toolchain, and sends.cpp compiled with it."""
    if request.param == "system":
        found: Toolchain = request.getfixturevalue("toolchain")
    else:
        found = library.ensure(request.param)
    binary = tmp_path / "sends"
    command = [str(found.mpicxx), "-std=c++17", "-o", str(binary), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True, env=build.environment(found))
    return found, binary


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


def test_every_message_is_counted_once_with_its_bytes(
    compiled: tuple[Toolchain, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    toolchain, program = compiled
    large_counts = toolchain.name == "mpich"  # these are MPI 4's
    persistent_collectives = toolchain.name != "system"

    assert profiled("--out", out, "--", toolchain.mpirun, "-n", RANKS, program) == 0

    ring = [[str(rank), str((rank + 1) % RANKS)] for rank in range(RANKS)]
    assert rows(out / "traffic.csv") == [
        *(["again", *pair, "3", "240"] for pair in ring),
        *(["by large counts", *pair, "2", "160"] for pair in ring if large_counts),
        *(["in parts", *pair, "2", "160"] for pair in ring if persistent_collectives),
        *(["ring", *pair, "2", "96"] for pair in ring),
        ["turned round", "0", "2", "1", "3"],
        *(["without waiting", *pair, "2", "24"] for pair in ring if persistent_collectives),
    ]
    assert rows(out / "collectives.csv") == [
        *([["by large counts", "Allreduce", "3", "240"]] if large_counts else []),
        ["of two sides", "Bcast", "3", "32"],
        ["of two sides", "Gather", "3", "48"],
        ["together", "Allreduce", "3", "24"],
        ["together", "Alltoallv", "3", str(3 * RANKS * 16)],
        ["together", "Alltoallw", "3", str(3 * RANKS * 16)],
        ["together", "Barrier", "3", "0"],
        ["together", "Bcast", "3", "40"],
        *([["together again", "Bcast_init", "9", "120"]] if persistent_collectives else []),
    ]
    assert (out / "traffic.png").stat().st_size > 1000
    told = capsys.readouterr().out
    if toolchain.name == "system":
        assert "3 ranks on 1 node: 16 messages of 1,011 bytes between 4 pairs of ranks" in told
    assert [*out.glob("ranks-*")] == []


def test_a_programs_own_exit_code_is_told(toolchain: Toolchain, tmp_path: Path) -> None:
    assert profiled("--out", tmp_path / "out", "--", toolchain.mpirun, "-n", 1, "false") == 1


def test_what_failed_leaves_no_empty_folder(toolchain: Toolchain, tmp_path: Path) -> None:
    made, before = tmp_path / "made", tmp_path / "before"
    before.mkdir()

    profiled("--out", made, "--", toolchain.mpirun, "-n", 1, "false")
    profiled("--out", before, "--", toolchain.mpirun, "-n", 1, "false")
    with pytest.raises(UserError):
        profiled("--out", made, "--", toolchain.mpirun, "-n", 1, "true")

    assert [*tmp_path.iterdir()] == [before]


def test_a_command_needs_no_dashes_before_it(toolchain: Toolchain, tmp_path: Path) -> None:
    assert profiled("--out", tmp_path / "out", toolchain.mpirun, "-n", 1, "false") == 1


def test_a_program_without_mpi_says_nothing(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="what the ranks sent: no rank said what it sent"):
        profiled("--out", tmp_path / "out", "--", toolchain.mpirun, "-n", 1, "true")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--",), "no command to run"),
        (("--", "no-such-launcher", "-n", "2"), "there is no such program"),
        (("--", "env", "x"), "it is no launcher of an MPI library that is known here"),
    ],
)
def test_what_can_be_no_command_is_refused(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(UserError, match=why):
        profiled(*words)


def write(folder: Path, rank: int, ranks: int, sent: list[list[object]]) -> None:
    said = {"rank": rank, "ranks": ranks, "host": "a", "sent": sent, "collectives": []}
    (folder / f"rank.{rank}.json").write_text(json.dumps(said))


def test_counts_of_all_ranks_are_put_together(tmp_path: Path) -> None:
    write(tmp_path, 0, 2, [["halo", 1, 2, 16], ["rest", 1, 1, 100]])
    write(tmp_path, 1, 2, [["halo", 0, 1, 8]])

    found = traffic.read(tmp_path)

    assert found.phases == ["rest", "halo"]
    assert found.matrix() == {(0, 1): Sent(3, 116), (1, 0): Sent(1, 8)}
    assert found.total("halo") == Sent(3, 24)


def test_a_rank_that_says_nothing_is_named(tmp_path: Path) -> None:
    write(tmp_path, 0, 3, [])
    write(tmp_path, 2, 3, [])

    with pytest.raises(UserError, match="rank 1 of 3 did not say what it sent"):
        traffic.read(tmp_path)


def test_programs_that_run_alone_are_told_from_ranks(toolchain: Toolchain, tmp_path: Path) -> None:
    source, program = tmp_path / "alone.cpp", tmp_path / "alone"
    source.write_text("#include <mpi.h>\nint main() { MPI_Init(0, 0); MPI_Finalize(); }\n")
    command = [str(toolchain.mpicxx), "-o", str(program), str(source)]
    subprocess.run(command, check=True, env=build.environment(toolchain))
    folder = tmp_path / "ranks"
    folder.mkdir()
    variables = counter.environment(toolchain, counter.built(toolchain), folder)

    for _ in range(2):
        subprocess.run([str(program)], env=variables, check=True)

    with pytest.raises(UserError, match="2 programs ran, each alone, as rank 0 of 1"):
        traffic.read(folder)


def linked_with(monkeypatch: pytest.MonkeyPatch, number: str) -> None:
    """From now on each program asks the loader for this libmpi."""
    monkeypatch.setattr(needs, "mpi_of", lambda _: number)


def made_up(prefix: Path | None = None) -> Toolchain:
    """MPICH, in a folder of haloscope's or the system's."""
    return Toolchain("mpich", prefix, Path("mpicxx"), Path("mpirun"), "mpich", "MPICH 5.0.2")


def test_a_program_of_another_mpi_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    linked_with(monkeypatch, "40")
    why = r"sh was linked with Open MPI's libmpi.so.40, and mpich is MPICH 5.0.2\n.*family openmpi"

    with pytest.raises(UserError, match=why):
        counter.check(["mpirun", "-n", "2", "sh"], made_up())


def test_a_program_of_the_launchers_library_is_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linked_with(monkeypatch, "12")

    counter.check(["mpirun", "-n", "2", "sh"], made_up())


def test_a_library_that_was_added_is_found_by_its_launcher_and_its_program(
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
