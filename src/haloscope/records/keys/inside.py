# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the objects inside a record, and the description of a key.

docs/records.md is generated from these and from `record.Record`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

WrittenBy = Literal["halobench", "runner", "campaign"]
"""Writer of a key: the measured program, its runner, or the campaign."""

SHORTEST_S = 1e-12
"""Light gets no further than a third of a millimetre in it."""
MOST_RANKS = 10**9
LONGEST_S = 1e10
"""LONGEST_S is the largest time that a record may have, because 300 years are no launch."""
STAR_FORESTS = ("sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter", "sf_grid")
TAKE_TIME = (
    *("stream", "pingpong", "loggp", "poisson_cg", "jacobi3d", "spmv", "fft_pencil", "fe_heat"),
)
"""TAKE_TIME has the kernels whose every step computes or sends: simulated ones take time, too."""
NOT_OURS = "absent for external programs"
NOT_TOLD = "absent if an external program prints only the mean"
OUTCOMES = ("ok", "wrong", "failed", "timeout", "misplaced", "absent")
CLOCKS = ("wall", "simulated")


@dataclass(frozen=True)
class Key:
    """One key of a record: its meaning, writer, unit, and when it has no value.

    by: None for the writer of the enclosing object.
    absent: when the key is absent or null; None if it always has a value.
    kernels: kernels whose records always have the key, and no others; empty if it is common to all.
    keys: type of the object, or of each object in the list, if the annotation does not name it.
    least, most: smallest and largest valid number; most is None without a bound of its own.
    values: all valid words.
    """

    meaning: str
    by: WrittenBy | None = None
    unit: str | None = None
    absent: str | None = None
    keys: type | None = None
    kernels: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    values: tuple[str, ...] = ()


class SeenRank(TypedDict):
    """Actual place of one rank."""

    rank: Annotated[int, Key("number of the rank")]
    host: Annotated[str, Key("name of the node")]
    cpus: Annotated[list[int], Key("processors it may run on")]
    thread_cpus: Annotated[
        list[list[int]], Key("processors of each thread", absent="empty for external programs")
    ]


class LayoutAsked(TypedDict):
    """Requested places of ranks and threads, which every record has."""

    nodes: Annotated[int, Key("number of nodes", least=1, most=MOST_RANKS)]
    ppn: Annotated[int, Key("processes per node", least=1, most=MOST_RANKS)]
    ranks: Annotated[
        int, Key("number of processes: tasks, or nodes x ppn", least=1, most=MOST_RANKS)
    ]
    threads: Annotated[int, Key("threads per process", least=1, most=MOST_RANKS)]
    places: Annotated[str, Key("what each thread is bound to: cores, threads, sockets")]
    bind: Annotated[
        str,
        Key(
            "binding of the processes of a node: close, spread, none",
            values=("close", "spread", "none"),
        ),
    ]


class RecordedLayout(LayoutAsked, total=False):
    """Requested and actual places of ranks and threads."""

    thread_bind: Annotated[
        str,
        Key(
            "binding of the threads of a process: close, spread",
            values=("close", "spread"),
            absent="absent with one thread, with bind none, and in older records, where bind "
            "applies to threads too",
        ),
    ]
    placement: Annotated[
        str | None, Key("relative position of two ranks", absent="null unless requested")
    ]
    mapping: Annotated[
        str,
        Key("ranks that share a node: block, round_robin, random, or the node of each: 0,1,1,0"),
    ]
    mapping_seed: Annotated[
        int | None, Key("seed of a random mapping", absent="null for other mappings")
    ]
    allocation: Annotated[
        str,
        Key(
            "nodes of a simulated cluster: contiguous, by_switch, by_pod, random",
            absent="absent for the nodes that a scheduler chooses",
        ),
    ]
    allocation_seed: Annotated[
        int | None, Key("seed of a random allocation", absent="absent for other allocations")
    ]
    tasks: Annotated[
        int,
        Key(
            "number of processes, if the study sets it: ppn is then that of the first nodes, and "
            "others may have one less",
            least=1,
            most=MOST_RANKS,
            absent="absent unless the study sets tasks",
        ),
    ]
    oversubscribed: Annotated[bool, Key("whether ranks x threads exceed the processors")]
    seen: Annotated[
        list[SeenRank],
        Key(
            "actual place of each rank",
            by="halobench",
            absent="empty if nothing ran, or if simulated",
        ),
    ]


class ToolchainUsed(TypedDict):
    """MPI library and build of halobench."""

    name: Annotated[str, Key("name in studies")]
    mpi: NotRequired[
        Annotated[
            str,
            Key(
                "version string of the library; if simulated, of SimGrid and the simulated library",
                by="halobench",
                absent="absent if halobench wrote no record",
            ),
        ]
    ]
    library: NotRequired[
        Annotated[
            str,
            Key(
                "name and version of the library, with its Spack package or conda environment",
                absent="absent if simulated or not supported, and in older records",
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
                absent="absent if not supported, and for external programs",
            ),
        ]
    ]
    launcher: NotRequired[
        Annotated[
            str,
            Key(
                "what started the ranks: srun with its MPI type, or the library's launcher",
                absent="absent if simulated or not supported, and in older records",
            ),
        ]
    ]


class TuningUsed(TypedDict):
    """The user's settings of the MPI library."""

    given: Annotated[
        dict[str, str],
        Key(
            "values by name, from environment variables (OMPI_MCA_*, I_MPI_*, UCX_*, FI_*, and "
            "similar, LD_PRELOAD) and, after the file's name, from files of parameters "
            "(mca-params.conf, ucx.conf, and similar)"
        ),
    ]
    overridden: Annotated[
        dict[str, str | None],
        Key(
            "values that the launch replaced, for a transport for example",
            absent="null: the library's default",
        ),
    ]


class Untimed(TypedDict):
    """A line of a sweep that has no valid time."""

    size_bytes: Annotated[int, Key("size of the message", unit="bytes")]
    operation: Annotated[str | None, Key("operation of the line", absent="null without headings")]
    line: Annotated[str, Key("the line, as printed")]
    why: Annotated[str, Key("what is wrong with its time")]


class ProgramUsed(TypedDict):
    """External program that ran."""

    file: Annotated[str, Key("path of its program.toml")]
    hash: Annotated[str, Key("hash of that file and its inputs")]
    executable: Annotated[
        str | None, Key("executable of its command", absent="null if it depends on the case")
    ]
    version: Annotated[str | None, Key("version that it prints", absent="null if it prints none")]
    launcher: Annotated[str, Key("MPI library whose launcher started it")]
    verified: Annotated[bool, Key("whether a check of its file verified the answer")]
    checked: Annotated[
        list[str], Key("checks that its output passed", absent="empty without checks")
    ]
    units: NotRequired[
        Annotated[
            dict[str, str],
            Key(
                "units of parameters and results by name, from its file",
                absent="absent in older records",
            ),
        ]
    ]
    size_unit: NotRequired[
        Annotated[
            str,
            Key(
                "unit of the sizes of a sweep, such as elements: size_bytes is their number, and "
                "bytes is 0",
                absent="absent if they are in bytes",
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
        str, Key("the tool that wrote the output", values=("osu", "imb", "hpcg", "reframe"))
    ]
    benchmark: Annotated[str, Key("name of the benchmark, as printed")]
    version: Annotated[str | None, Key("version of the benchmark", absent="null if not printed")]
    files: Annotated[list[str], Key("names of the files")]
    lines: Annotated[list[int], Key("line at which each of its tables begins", least=1)]
    hash: Annotated[str, Key("hash of the files' content")]
    statistic: Annotated[str, Key("statistic of the times over repetitions and ranks")]
    verified: Annotated[bool, Key("whether the benchmark verified its own answer")]
