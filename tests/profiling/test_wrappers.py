# SPDX-License-Identifier: BSD-3-Clause
"""Every function of an MPI library's header that moves data is counted, or named."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from haloscope.errors import UserError
from haloscope.profiling import counter, wrappers
from haloscope.profiling.wrappers import UNCOUNTED, Function
from haloscope.toolchains import library

CACHE = Path(__file__).parents[2] / "build" / "test-cache"
SHARED = {"MPI_Win_allocate_shared", "MPI_Win_shared_query"}
RECEIVE = {"Recv", "Irecv", "Mrecv", "Imrecv", "Recv_init", "Precv_init"}
PACK = {"Pack", "Unpack", "Pack_external", "Unpack_external", "Reduce_local"}
ATTRIBUTES = {"Type_get_attr", "Type_set_attr"}
HEADER = """
typedef int MPI_Datatype;
__attribute__((x)) int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
                                int tag, MPI_Comm comm);
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Finalize(void);
int MPI_Iallgatherv_c(const void *, MPI_Count n, MPI_Datatype t, void *r, const MPI_Count m[],
                      const MPI_Aint d[], MPI_Datatype u, MPI_Comm c, MPI_Request *request);
int MPI_Bcast_init(void *b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Info i, MPI_Request *q);
int MPIX_Teleport(const void *buf, int count, MPI_Datatype datatype, int dest, MPI_Comm comm);
int MPIX_Stream_recv(void *buf, int count, MPI_Datatype datatype, int from, MPI_Comm comm);
"""


def found() -> dict[str, Function]:
    return {one.name: one for one in wrappers.functions(HEADER)}


def test_prototypes_are_parsed() -> None:
    functions = found()

    assert functions["MPI_Finalize"].parameters == ()
    assert functions["MPI_Send"].parameters == (
        *("const void *", "int", "MPI_Datatype", "int", "int", "MPI_Comm"),
    )
    assert functions["MPI_Iallgatherv_c"].parameters[4:6] == (
        "const MPI_Count[]",
        "const MPI_Aint[]",
    )
    assert not any(name.startswith("PMPI") for name in functions)


def test_a_nonblocking_function_moves_the_data_of_its_blocking_form() -> None:
    functions = found()

    assert functions["MPI_Iallgatherv_c"].moves == wrappers.MOVES["Allgatherv"]
    assert functions["MPI_Bcast_init"].moves == wrappers.MOVES["Bcast"]
    assert functions["MPI_Finalize"].moves is None


def test_an_unknown_function_is_named() -> None:
    functions = found()

    assert functions["MPIX_Teleport"].moves == UNCOUNTED
    assert functions["MPIX_Stream_recv"].moves is None


@pytest.mark.parametrize(
    "name",
    [
        "system",
        pytest.param("mpich", marks=pytest.mark.toolchains),
        pytest.param("openmpi", marks=pytest.mark.toolchains),
        "mpirun.mpich",
    ],
)
def test_every_communication_function_of_a_library_is_counted_or_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(CACHE))
    try:
        if name in library.PYPI:
            toolchain = library.ensure(name)
        elif name == "system":
            toolchain = library.find(name)
        else:
            there = shutil.which(name) or pytest.skip(f"no {name}: apt install mpich libmpich-dev")
            toolchain = library.beside(Path(there)) or pytest.fail(f"{name} is not known")
    except UserError as error:
        pytest.skip(str(error))
    functions = wrappers.functions(counter.header(toolchain))

    with_data = {
        one.name
        for one in functions
        if "MPI_Datatype" in " ".join(one.parameters) and "void" in " ".join(one.parameters)
    }
    still = {one.name for one in functions if one.moves is None}
    named = {one.name for one in functions if one.moves == UNCOUNTED}
    assert {one for one in named if one.startswith("MPI_")} == {
        one for one in (one.name for one in functions) if one.removesuffix("_c") in SHARED
    }
    silent = {
        re.sub("^MPI_|_c$", "", one) for one in with_data & still if not one.startswith("MPIX_")
    }
    assert silent <= RECEIVE | PACK | ATTRIBUTES
    assert len(with_data - still - named) > 80
