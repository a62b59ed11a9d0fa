# SPDX-License-Identifier: BSD-3-Clause
"""Generate the C++ wrappers of an MPI library's functions that move data.

The table `MOVES` describes what a call moves, by the positions of its arguments. The prototypes are
those of the library's own mpi.h: each function is counted, or listed as not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_FILES = {
    f"File_{verb}{at}{how}": "file(NAME, $3, $4)" if at else "file(NAME, $2, $3)"
    for verb in ("read", "write")
    for at in ("", "_at")
    for how in ("", "_all", "_shared", "_ordered", "_all_begin", "_ordered_begin")
}
MOVES: Mapping[str, str] = {
    **dict.fromkeys(("Send", "Ssend", "Rsend", "Bsend"), "message($1, $2, $3, $4, $5)"),
    "Recv": "received($3, $4)",
    "Sendrecv": "both(message($1, $2, $3, $4, $10), received($8, $9))",
    "Sendrecv_replace": "both(message($1, $2, $3, $4, $7), received($5, $6))",
    "Psend": "parts(wide($1) * wide($2), $3, $4, $6)",  # all its partitions are one message
    "Put": "put($1, $2, $3, $7)",
    "Accumulate": "put($1, $2, $3, $8)",
    "Get": "get($1, $2, $3, $7)",
    "Get_accumulate": "put_and_get(bytes($1, $2), bytes($4, $5), $10, $6, $11)",
    "Fetch_and_op": "put_and_get(bytes(1, $2), bytes(1, $2), $5, $3, $6)",
    "Compare_and_swap": "put_and_get(bytes(2, $3), bytes(1, $3), MPI_REPLACE, $4, $6)",
    **dict.fromkeys(("Neighbor_allgather", "Neighbor_alltoall"), "to_neighbours(wide($1), $2, $6)"),
    "Neighbor_allgatherv": "to_neighbours(wide($1), $2, $7)",
    **dict.fromkeys(("Neighbor_alltoallv", "Neighbor_alltoallw"), "to_neighbours($1, $3, $8)"),
    "Barrier": "collective(NAME, 0, ALL)",
    "Bcast": "collective(NAME, is_root($3, $4) ? bytes($1, $2) : 0, $3)",
    "Reduce": "collective(NAME, gives_to($5) ? bytes($2, $3) : 0, $5)",
    "Allreduce": "collective(NAME, bytes($2, $3), ALL)",
    **dict.fromkeys(("Scan", "Exscan"), "collective(NAME, bytes($2, $3))"),
    "Reduce_scatter": "collective(NAME, bytes($2, local_size($5), $3), ALL)",
    "Reduce_scatter_block": "collective(NAME, bytes(wide($2) * local_size($5), $3), ALL)",
    "Gather": "collective(NAME, !gives_to($6) ? 0 "
    ": $0 == MPI_IN_PLACE ? bytes($4, $5) : bytes($1, $2), $6)",
    "Gatherv": "collective(NAME, !gives_to($7) ? 0 "
    ": $0 == MPI_IN_PLACE ? own_part($4, $6, $8) : bytes($1, $2), $7)",
    "Scatter": "collective(NAME, is_root($6, $7) ? bytes(wide($1) * size_of($7), $2) : 0, $6)",
    "Scatterv": "collective(NAME, is_root($7, $8) ? bytes($1, size_of($8), $3) : 0, $7)",
    "Allgather": "collective(NAME, $0 == MPI_IN_PLACE ? bytes($4, $5) : bytes($1, $2), ALL)",
    "Allgatherv": "collective(NAME, "
    "$0 == MPI_IN_PLACE ? own_part($4, $6, $7) : bytes($1, $2), ALL)",
    "Alltoall": "collective(NAME, $0 == MPI_IN_PLACE ? bytes(wide($4) * size_of($6), $5) "
    ": bytes(wide($1) * size_of($6), $2), ALL)",
    **dict.fromkeys(
        ("Alltoallv", "Alltoallw"),
        "collective(NAME, $0 == MPI_IN_PLACE ? bytes($5, size_of($8), $7) "
        ": bytes($1, size_of($8), $3), ALL)",
    ),
    **_FILES,
}
"""MOVES describes what a call moves, by the name of the function's blocking form. $N is an
argument, NAME the function's name; the words are those of moves.hpp.
"""

UNCOUNTED = "uncounted(NAME)"
_ONE_SIDED = {"Put", "Get", "Accumulate", "Get_accumulate"}
_SHARED = {"Win_allocate_shared", "Win_shared_query"}
"""_SHARED give a rank access to other ranks' memory without MPI calls."""
_LOCAL = re.compile(r"Pack|Unpack|Reduce_local|Type_|(?!.*send).*recv", re.IGNORECASE)
"""_LOCAL are functions with a buffer and a datatype that send nothing."""
_STILL = re.compile(
    r"(Type|Group|Info|Op|Errhandler|Error|Add|Remove|Attr|Keyval|Status|T|Grequest|Session|Get|Aint|"
    r"Dims|Is|Query|Open|Close|Publish|Unpublish|Lookup|Alloc|Free|Register)_|"
    r"(Comm|Win)_(rank|size|compare|group|remote_\w+|test\w*_inter|get_\w+|set_attr|set_name)$|"
    r"(Cart|Graph|Dist_graph)(dim|dims)?_(coords|rank|get|shift|map|neighbors\w*)$|"
    r"\w*_(keyval|errhandler|delete_attr|c2f|f2c\w*)$|"
    r"(Address|Buffer_attach|Initialized|Finalized|Topo_test|Pcontrol|Abort)$|Pack|Unpack|Reduce_local"
)
"""_STILL are functions that send no messages, including internal ones, and wait for none."""
_BY_HAND = {"Start", "Startall", "Request_free", "Init", "Init_thread", "Finalize"}
_BY_HAND |= {"Session_init", "Session_finalize", "Comm_spawn", "Comm_spawn_multiple"}
_BY_HAND |= {"Comm_accept", "Comm_connect", "Comm_set_name"}
_BY_HAND |= {f"{verb}{which}" for verb in ("Wait", "Test") for which in ("", "all", "any", "some")}
"""_BY_HAND have wrappers in count_messages.cpp."""
_NOT_CREATED = {"Comm_free", "Comm_disconnect", "Comm_idup", "Comm_idup_with_info"}
"""_NOT_CREATED end a communicator, or create one that cannot be used yet."""
_PROTOTYPE = re.compile(r"\bint\s+(MPIX?_\w+)\s*\(([^()]*)\)")


@dataclass(frozen=True)
class Function:
    """A function of mpi.h: its name, and the types of its parameters, with [] for arrays."""

    name: str
    parameters: tuple[str, ...]

    @property
    def plain(self) -> str:
        """Its name without MPI_ and without the _c of large counts."""
        return self.name.partition("_")[2].removesuffix("_c")

    @property
    def is_prepared(self) -> bool:
        """Whether it moves data only when its request is started."""
        return self.plain.endswith("_init")

    @property
    def is_guarded(self) -> bool:
        """Whether the library may call its own functions in it that move data."""
        is_own = self.plain in _BY_HAND or "..." in self.parameters
        return not is_own and (self.moves is not None or not _STILL.match(self.plain))

    @property
    def moves(self) -> str | None:
        """What a call moves, as in MOVES; UNCOUNTED; or None if it moves nothing."""
        if self.plain in _SHARED:
            return UNCOUNTED
        for name in _blocking(self.plain.removesuffix("_init")):
            if name in MOVES:
                return MOVES[name]
        words = " ".join(self.parameters)
        has_data = re.search(r"\bvoid\b", words) and "MPI_Datatype" in words
        return UNCOUNTED if has_data and not _LOCAL.match(self.plain) else None


def _blocking(name: str) -> Iterator[str]:
    """Yield a function's name, and those of which it may be the nonblocking form."""
    yield name
    if name.startswith("File_i"):
        yield f"File_{name[6:]}"
    elif name[0] == "I" or (name[0] == "R" and name[1:].capitalize() in _ONE_SIDED):
        yield name[1:].capitalize()


def functions(preprocessed: str) -> list[Function]:
    """Return the functions declared in a preprocessed mpi.h, each once."""
    found = {}
    for name, words in _PROTOTYPE.findall(preprocessed):
        parameters = tuple(_type(one) for one in words.split(",") if one.strip() != "void")
        found[name] = Function(name, parameters)
    return [*found.values()]


def _type(parameter: str) -> str:
    """Return the type of a parameter, without its name."""
    match = re.fullmatch(r"(.*[\s*])?(\w+)\s*((?:\[\w*\])*)", " ".join(parameter.split()))
    if match is None or not match[1]:
        return parameter.strip()
    return f"{match[1].strip()}{match[3]}"


def code(preprocessed: str) -> str:
    """Return the wrappers of all functions of a preprocessed mpi.h that move data or may wait."""
    return "".join(_wrapper(one) for one in functions(preprocessed) if one.is_guarded)


def _wrapper(function: Function) -> str:
    kinds = function.parameters
    parameters = ", ".join(
        f"{kind.partition('[')[0]} a{number}{''.join(kind.partition('[')[1:])}"
        for number, kind in enumerate(kinds)
    )
    arguments = ", ".join(f"a{number}" for number in range(len(kinds)))
    name = function.plain if function.name.startswith("MPI_") else function.name
    comm = f"a{kinds.index('MPI_Comm')}" if "MPI_Comm" in kinds else "MPI_COMM_NULL"
    common = f'{function.name}, "{name}", ({parameters}), ({arguments}), {comm}'
    moves = function.moves
    if moves is None:
        created = [number for number, kind in enumerate(kinds) if kind == "MPI_Comm *"]
        if created and function.plain not in _NOT_CREATED:
            return f"CREATES({common}, a{created[0]})\n"
        return f"COUNTED({common}, Moves{{}})\n"
    counted = function.name if moves == UNCOUNTED else function.plain
    said = re.sub(r"\$(\d+)", r"a\1", moves).replace("NAME", f'"{counted}"')
    if moves != UNCOUNTED and (request := _number(kinds, "MPI_Request *")) is not None:
        macro = "PREPARED" if function.is_prepared else "BEGUN"
        return f"{macro}({common}, ({said}), a{request})\n"
    if "received(" in said and (status := _number(kinds, "MPI_Status *")) is not None:
        return f"RECEIVED({common}, ({said}), a{status})\n"
    return f"COUNTED({common}, ({said}))\n"


def _number(kinds: Sequence[str], kind: str) -> int | None:
    return kinds.index(kind) if kind in kinds else None
