# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the objects inside a record.

docs/records.md is generated from these and from `record.Record`.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from haloscope.keys import Key
from haloscope.layout import CORES, LAYOUT_KEYS, MOST_RANKS, PROCESSES, key_of

SHORTEST_S = 1e-12
"""Light gets no further than a third of a millimetre in it."""
LONGEST_S = 1e10
"""LONGEST_S is the largest time that a record may have: about 300 years."""
STAR_FORESTS = ("sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter", "sf_grid")
TAKE_TIME = (
    *("stream", "pingpong", "loggp", "poisson_cg", "jacobi3d", "spmv", "fft_pencil", "fe_heat"),
)
"""TAKE_TIME has the kernels whose every step computes or sends: simulated ones take time, too."""
NOT_OURS = "absent for external programs"
NOT_PRINTED = "absent for external programs that print only the mean"
OUTCOMES = ("ok", "wrong", "failed", "timeout", "misplaced", "absent")
CLOCKS = ("wall", "simulated")


class SeenRank(TypedDict):
    """Actual placement of one rank."""

    rank: Annotated[int, Key("number of the rank")]
    host: Annotated[str, Key("name of the node")]
    cpus: Annotated[list[int], Key("processors on which the rank may run")]
    thread_cpus: Annotated[
        list[list[int]],
        Key(
            "processors on which each thread of the rank may run",
            absent="empty for external programs",
        ),
    ]


_NEEDED = (*CORES, "places", "bind")
_LAYOUT: dict[str, Any] = {
    **{name: LAYOUT_KEYS[name] for name in PROCESSES},
    "ranks": Annotated[
        int,
        Key(
            "total number of processes: tasks if it is set, otherwise nodes x ppn",
            least=1,
            most=MOST_RANKS,
        ),
    ],
    **{
        name: hint if name in _NEEDED else NotRequired[hint]
        for name, hint in LAYOUT_KEYS.items()
        if name != "tasks"
    },
    "tasks": NotRequired[Annotated[int, key_of("tasks")]],  # never null
    "oversubscribed": NotRequired[
        Annotated[bool, Key("whether ranks x threads exceeds the number of processors")]
    ],
    "seen": NotRequired[
        Annotated[
            list[SeenRank],
            Key(
                "actual placement of each rank",
                by="halobench",
                absent="empty if nothing ran, or if simulated",
            ),
        ]
    ],
}
RecordedLayout = TypedDict("RecordedLayout", _LAYOUT)  # type: ignore[misc]
RecordedLayout.__doc__ = "Requested and actual placement of ranks and threads."


class ToolchainUsed(TypedDict):
    """MPI library, and build of halobench."""

    name: Annotated[str, Key("name of the toolchain in studies")]
    mpi: NotRequired[
        Annotated[
            str,
            Key(
                "version string of the MPI library; if simulated, of SimGrid and of the "
                "simulated library",
                by="halobench",
                absent="absent if halobench wrote no record",
            ),
        ]
    ]
    library: NotRequired[
        Annotated[
            str,
            Key(
                "name and version of the MPI library, with its Spack package or conda environment",
                absent="absent if simulated, for unsupported cases, and in older records",
            ),
        ]
    ]
    thread_level: NotRequired[
        Annotated[
            str, Key("thread support level of MPI", by="halobench", absent="absent unless measured")
        ]
    ]
    compiler: NotRequired[
        Annotated[
            str,
            Key(
                "name and version of the compiler", by="halobench", absent="absent unless measured"
            ),
        ]
    ]
    flags: NotRequired[
        Annotated[str, Key("compiler flags", by="halobench", absent="absent unless measured")]
    ]
    source: NotRequired[
        Annotated[
            str,
            Key(
                "hash of halobench's sources",
                absent="absent for unsupported cases and for external programs",
            ),
        ]
    ]
    launcher: NotRequired[
        Annotated[
            str,
            Key(
                "launcher of the ranks: srun with its MPI plugin, or the launcher of the "
                "MPI library",
                absent="absent if simulated, for unsupported cases, and in older records",
            ),
        ]
    ]


class TuningUsed(TypedDict):
    """The user's settings of the MPI library."""

    given: Annotated[
        dict[str, str],
        Key(
            "settings by name: environment variables (OMPI_MCA_*, I_MPI_*, UCX_*, "
            "FI_*, LD_PRELOAD, and similar), and settings in parameter files "
            "(mca-params.conf, ucx.conf, and similar), whose names begin with the name "
            "of the file"
        ),
    ]
    overridden: Annotated[
        dict[str, str | None],
        Key(
            "settings that the launch replaced, for example to select a transport, "
            "with the values that were used",
            absent="null for the library's default",
        ),
    ]


class Untimed(TypedDict):
    """A printed line of a sweep that has no valid time."""

    size_bytes: Annotated[int, Key("size for which the line was printed", unit="bytes")]
    operation: Annotated[
        str | None,
        Key(
            "name of the operation to which the line belongs",
            absent="null if the output has no headings",
        ),
    ]
    line: Annotated[str, Key("complete line, as printed by the program")]
    why: Annotated[str, Key("reason why the time in the line is invalid")]


class ProgramUsed(TypedDict):
    """External program that ran as the kernel."""

    file: Annotated[str, Key("path of the program's file program.toml")]
    hash: Annotated[str, Key("hash of program.toml and of the input files")]
    executable: Annotated[
        str | None,
        Key("executable in the command of the program", absent="null if it depends on the case"),
    ]
    version: Annotated[
        str | None, Key("version that the program prints", absent="null if the program prints none")
    ]
    launcher: Annotated[str, Key("MPI library whose launcher started the program")]
    verified: Annotated[bool, Key("whether a check in program.toml verified the answer")]
    checked: Annotated[
        list[str],
        Key(
            "checks that the output of the program passed",
            absent="empty if program.toml has no checks",
        ),
    ]
    units: NotRequired[
        Annotated[
            dict[str, str],
            Key(
                "units of parameters and results by name, from program.toml",
                absent="absent in older records",
            ),
        ]
    ]
    size_unit: NotRequired[
        Annotated[
            str,
            Key(
                "unit of the sizes of a sweep, such as elements; size_bytes is then a "
                "number of these units, and bytes is 0",
                absent="absent if the sizes are in bytes",
            ),
        ]
    ]
    untimed: NotRequired[
        Annotated[
            list[Untimed],
            Key(
                "lines of a sweep that were omitted because their time is not positive",
                absent="absent if there are none",
            ),
        ]
    ]


class ImportedFrom(TypedDict):
    """Output of another benchmark from which a record was made; haloscope ran nothing."""

    tool: Annotated[
        str,
        Key(
            "tool that wrote the output: osu, imb, hpcg, or reframe",
            values=("osu", "imb", "hpcg", "reframe"),
        ),
    ]
    benchmark: Annotated[str, Key("name of the benchmark, as printed")]
    version: Annotated[str | None, Key("version of the benchmark", absent="null if not printed")]
    files: Annotated[list[str], Key("names of the imported files")]
    lines: Annotated[
        list[int], Key("numbers of the lines at which the tables of the benchmark begin", least=1)
    ]
    hash: Annotated[str, Key("hash of the contents of the imported files")]
    statistic: Annotated[str, Key("statistic of the times over repetitions and ranks")]
    verified: Annotated[bool, Key("whether the benchmark itself verified its answer")]
