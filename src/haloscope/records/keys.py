# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the objects inside a record, and the description of a key.

docs/records.md is generated from these and from `record.Record`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

WrittenBy = Literal["halobench", "runner", "campaign"]
"""Writer of a key: the measured program, its runner, or the campaign."""

SHORTEST_S = 1e-12
"""SHORTEST_S is the smallest time of a step that a record may have, because light itself gets no
further than a third of a millimetre in it."""
MOST_RANKS = 10**9
"""MOST_RANKS is the largest count of processes, nodes or threads that a record may have."""
LONGEST_S = 1e10
"""LONGEST_S is the largest time that a record may have, because 300 years are no launch."""
STAR_FORESTS = ("sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter", "sf_grid")
TAKE_TIME = (
    *("stream", "pingpong", "loggp", "poisson_cg", "jacobi3d", "spmv", "fft_pencil", "fe_heat"),
)
"""TAKE_TIME has the kernels whose every step computes or sends: simulated ones take time, too."""
_NOT_OURS = "absent for external programs"
_NOT_TOLD = "absent if an external program prints only the mean"
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
        list[list[int]],
        Key(
            "processors of each thread",
            absent="empty for external programs",
        ),
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
    thread_level: NotRequired[
        Annotated[
            str,
            Key("thread support level of MPI", by="halobench", absent="absent unless measured"),
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
            "(mca-params.conf, ucx.conf, and similar)",
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
        list[str],
        Key("checks that its output passed", absent="empty without checks"),
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
                "lines of a sweep that are left out, because their time is none, such as 0",
                absent="absent if there are none",
            ),
        ]
    ]


class ImportedFrom(TypedDict):
    """The output of another benchmark that a record was made of. Haloscope ran nothing."""

    tool: Annotated[
        str,
        Key("which output it is", values=("osu", "imb", "hpcg", "reframe")),
    ]
    benchmark: Annotated[str, Key("name of the benchmark, as printed")]
    version: Annotated[str | None, Key("version of the benchmark", absent="null where not printed")]
    files: Annotated[list[str], Key("names of the files")]
    lines: Annotated[list[int], Key("line at which each of its tables begins", least=1)]
    hash: Annotated[str, Key("hash of the files' content")]
    statistic: Annotated[str, Key("what the times are, over repetitions and ranks")]
    verified: Annotated[bool, Key("whether the benchmark verified its own answer")]


class Shape(TypedDict):
    """Data that a star forest moves."""

    messages: Annotated[int, Key("messages sent by the rank that writes the record")]
    remote_bytes: Annotated[int, Key("bytes that it sends to other ranks", unit="bytes")]
    local_bytes: Annotated[int, Key("bytes that stay on it", unit="bytes")]
    moved_bytes: Annotated[
        dict[str, float],
        Key("bytes moved in memory by part, on the rank with the most", unit="bytes"),
    ]
    waits: NotRequired[
        Annotated[
            dict[str, int],
            Key(
                "waits for a device's stream in a broadcast and a reduction after their start",
                absent="absent in older records",
            ),
        ]
    ]


class Point(TypedDict):
    """One size of a sweep."""

    size_bytes: Annotated[int, Key("size of the message or the arrays", unit="bytes")]
    operation: Annotated[
        str | None, Key("collective or loop", absent="null if the kernel has only one")
    ]
    n: NotRequired[Annotated[int, Key("edge length of the cube", kernels=("sf_grid",))]]
    passes: NotRequired[Annotated[int, Key("passes over the arrays per step", kernels=("stream",))]]
    messages: NotRequired[Annotated[int, Key("messages per step", kernels=("pingpong",))]]
    checked_messages: NotRequired[
        Annotated[int, Key("messages whose content was verified", kernels=("pingpong",))]
    ]
    shape: NotRequired[Annotated[Shape, Key("data that it moves", kernels=STAR_FORESTS)]]
    result: Annotated[
        dict[str, Any], Key("results that the kernel declares, medians over repetitions")
    ]
    steps: Annotated[int, Key("steps per repetition", least=1)]
    times_s: Annotated[
        list[float],
        Key(
            "time per step on the slowest rank, one value per repetition",
            unit="s",
            most=LONGEST_S,
        ),
    ]
    bytes: Annotated[float, Key("memory traffic per step of all ranks", unit="bytes")]


class TimeOverRanks(TypedDict):
    """A time on all ranks."""

    min: NotRequired[
        Annotated[float, Key("fastest rank", unit="s", most=LONGEST_S, absent=_NOT_TOLD)]
    ]
    mean: Annotated[float, Key("mean over ranks", unit="s", most=LONGEST_S)]
    max: NotRequired[
        Annotated[float, Key("slowest rank", unit="s", most=LONGEST_S, absent=_NOT_TOLD)]
    ]


class Phase(TypedDict):
    """A named part of a step, timed inside the step."""

    name: Annotated[str, Key("name of the phase")]
    calls: NotRequired[Annotated[int, Key("calls per step", absent=_NOT_OURS)]]
    time_s: Annotated[TimeOverRanks, Key("time per step, mean over all timed steps")]
    median_s: NotRequired[
        Annotated[
            TimeOverRanks,
            Key(
                "time per step, median over repetitions",
                absent="absent in older records",
            ),
        ]
    ]
    bytes: NotRequired[
        Annotated[
            float,
            Key("memory traffic per step of all ranks", unit="bytes", absent=_NOT_OURS),
        ]
    ]
    flops: NotRequired[
        Annotated[
            float,
            Key("floating-point operations per step of all ranks", absent=_NOT_OURS),
        ]
    ]
    model_s: Annotated[
        float | None,
        Key(
            "time per step by the node model, on the slowest rank",
            unit="s",
            absent="null without a node model or computation",
            most=LONGEST_S,
        ),
    ]
    by_rank_s: NotRequired[
        Annotated[
            list[float],
            Key(
                "time per step of each rank: the others wait for the slowest",
                unit="s",
                absent="absent without computation, on one rank, and if simulated",
                most=LONGEST_S,
            ),
        ]
    ]


class Part(TypedDict):
    """A part of a step, timed separately."""

    point: Annotated[int, Key("index in `points`, from 0")]
    name: Annotated[str, Key("name of the part")]
    steps: Annotated[int, Key("steps per repetition")]
    times_s: Annotated[
        list[float],
        Key("time per step, one value per repetition", unit="s", most=LONGEST_S),
    ]


class Trace(TypedDict):
    """Timeline of one step of one point."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    ranks: Annotated[
        list[list[list[Any]]],
        Key(
            "calls of each rank, in time after the start: [phase, depth, begin, end]; device "
            "operations, by the phase that launched them: [phase, 0, begin, end, stream]",
            unit="s",
        ),
    ]


class Rounds(TypedDict):
    """Quality of starts at a common time of a shared clock."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    repeated: Annotated[int, Key("rounds repeated because a rank started late")]
    late_s: Annotated[
        list[list[float]],
        Key(
            "delay of each round, by point",
            unit="s",
            absent="empty if none was late",
            least=-LONGEST_S,
        ),
    ]


class Work(TypedDict):
    """Work of one step of all points on all ranks."""

    bytes: Annotated[float, Key("memory traffic", unit="bytes")]
    flops: Annotated[float, Key("floating-point operations")]
    messages: Annotated[float, Key("messages sent, without those inside collectives")]


class RecordedMemory(TypedDict):
    """Memory of all ranks together."""

    predicted_bytes: Annotated[int, Key("predicted by the plan", unit="bytes")]
    allocated_bytes: Annotated[int, Key("allocated for the kernel's arrays", unit="bytes")]
    rss_bytes: Annotated[
        int | None, Key("resident memory at the end", unit="bytes", absent="null if simulated")
    ]
    peak_bytes: Annotated[
        int | None, Key("largest resident memory", unit="bytes", absent="null if simulated")
    ]


class Timer(TypedDict):
    """Clock used for the times."""

    function: Annotated[str, Key("name of its function")]
    resolution_s: Annotated[float, Key("resolution", unit="s")]
    cost_s: Annotated[float, Key("cost of a reading", unit="s")]


class MachineCache(TypedDict):
    """One level of a core's data caches."""

    level: Annotated[int, Key("1 is nearest to the core", least=1)]
    size_bytes: Annotated[int, Key("size of one cache", unit="bytes", least=1)]
    shared_by: Annotated[int, Key("cores per cache", least=1)]


class Topology(TypedDict):
    """Groups of processors, each in the list format of Linux."""

    core: Annotated[list[str], Key("hardware threads of each core")]
    cache: Annotated[list[str], Key("processors of each last-level cache")]
    numa: Annotated[list[str], Key("processors of each NUMA node")]
    socket: Annotated[list[str], Key("processors of each socket")]
    kind: NotRequired[
        Annotated[
            list[str],
            Key("processors of each kind of core, fastest first", absent="absent with one kind"),
        ]
    ]


class RecordedGpu(TypedDict):
    """A GPU, as described by its driver."""

    name: Annotated[str, Key("product name")]
    device: Annotated[str, Key("programming model: cuda, hip")]
    uuid: Annotated[str | None, Key("UUID", absent="null if the driver hides it")]
    pci: Annotated[str | None, Key("PCI address", absent="null if unknown")]
    numa: Annotated[int | None, Key("nearest NUMA node", absent="null if unknown")]


class GpuOfRank(TypedDict):
    """GPU of a rank."""

    uuid: Annotated[str | None, Key("UUID", absent="null if the runtime hides it")]
    pci: Annotated[str, Key("PCI address")]
    numa: Annotated[int | None, Key("nearest NUMA node", absent="null if unknown")]


class Machine(TypedDict, total=False):
    """Machine that ran, or node of the simulated cluster."""

    host: Annotated[str, Key("host name; if simulated, name of the cluster")]
    cpu: Annotated[str | None, Key("processor model", absent="null if unknown")]
    sockets: Annotated[int, Key("sockets per node", least=1, most=MOST_RANKS)]
    cores: Annotated[int, Key("cores per node", least=1, most=MOST_RANKS)]
    threads_per_core: Annotated[int, Key("hardware threads per core", least=1, most=1024)]
    caches: Annotated[list[MachineCache], Key("data caches, from the core outwards")]
    memory_bytes: Annotated[
        int | None, Key("memory per node", unit="bytes", absent="null if unknown")
    ]
    governor: Annotated[
        str | None, Key("frequency governor", absent="null if not visible or simulated")
    ]
    os: Annotated[str | None, Key("operating system", absent="null if simulated")]
    busy_processors: Annotated[
        float | None,
        Key("processors kept busy by other programs at the start", absent="null if simulated"),
    ]
    topology: NotRequired[
        Annotated[Topology, Key("groups of processors", absent="absent if simulated")]
    ]
    allowed: NotRequired[
        Annotated[
            str,
            Key(
                "processors that haloscope may use, in the list format of Linux",
                absent="absent if simulated, and in older records",
            ),
        ]
    ]
    gpus: NotRequired[
        Annotated[
            list[RecordedGpu],
            Key(
                "GPUs of this machine",
                absent="empty if there are none; absent if simulated",
            ),
        ]
    ]
    source: NotRequired[
        Annotated[
            str, Key("sources of the cluster file's numbers", absent="absent unless simulated")
        ]
    ]
    smt_gain: NotRequired[
        Annotated[
            float | None,
            Key(
                "throughput of a core with all hardware threads relative to one thread",
                absent="absent unless simulated; null if unknown",
            ),
        ]
    ]


class SpreadDrawn(TypedDict):
    """Node-to-node variability of a replicate."""

    nodes: Annotated[float, Key("standard deviation of the logarithm of node times")]
    phases: Annotated[float, Key("additional standard deviation of each phase on a node")]
    seed: Annotated[int, Key("seed of the draw, from the case and the launch")]


class OthersDrawn(TypedDict):
    """How much of a simulated cluster other jobs used, and which of them a launch had beside it."""

    occupancy: Annotated[float, Key("share of all nodes that jobs held, this one among them")]
    traffic: Annotated[
        float, Key("what their nodes sent on average, as a share of the bandwidth of their cards")
    ]
    launch: Annotated[int, Key("the number that others were drawn by: all cases had the same")]


class Simulation(TypedDict):
    """Details of the simulation."""

    cluster: Annotated[str, Key("name of the cluster file")]
    platform: NotRequired[
        Annotated[
            str, Key("hash of the contents of the cluster file", absent="absent in older records")
        ]
    ]
    copied_from: NotRequired[
        Annotated[
            str,
            Key(
                "ready cluster file that this one is a copy of, with its sources",
                absent="absent if it is none, and in older records",
            ),
        ]
    ]
    verified: Annotated[bool, Key("whether the solution was computed and verified")]
    cached: Annotated[bool, Key("whether the times are from an earlier, identical simulation")]
    iterations: Annotated[
        int | None, Key("iterations simulated one by one", absent="null if all were")
    ]
    of_iterations: Annotated[
        int | None, Key("iterations of the whole solve", absent="null if all were simulated")
    ]
    iterations_from: Annotated[
        str | None,
        Key("source of that number", absent="null if all were simulated"),
    ]
    spread: NotRequired[
        Annotated[
            SpreadDrawn,
            Key(
                "how node speeds were drawn",
                absent="absent if all nodes are alike, and in older records",
            ),
        ]
    ]
    others: NotRequired[
        Annotated[
            OthersDrawn,
            Key(
                "other jobs beside it, drawn at random",
                absent="missing where the cluster was empty, and in older records",
            ),
        ]
    ]


class ModelUsed(TypedDict):
    """This machine's cluster file, from which model times are computed."""

    cluster: Annotated[str, Key("name of the cluster file")]
    source: Annotated[str, Key("sources of its numbers")]


class AllocationUsed(TypedDict):
    """Nodes of the batch job in which the launch ran."""

    site: Annotated[str, Key("name of the site file")]
    scheduler: Annotated[str, Key("batch system: slurm, pbs, lsf, or flux")]
    job: Annotated[str, Key("id of the job in the batch system")]
    partition: Annotated[str | None, Key("partition or queue", absent="null if unknown")]
    nodes: Annotated[list[str], Key("names of all nodes of the job, including unused ones")]
    switches: Annotated[
        str | None,
        Key("switches of the nodes, separated by commas", absent="null if unknown"),
    ]
    restarts: Annotated[int, Key("number of restarts of the job, possibly on other nodes")]


class Checkout(TypedDict):
    """State of haloscope's sources."""

    commit: Annotated[str, Key("hash of the commit")]
    dirty: Annotated[bool, Key("whether the sources differ from the commit")]
