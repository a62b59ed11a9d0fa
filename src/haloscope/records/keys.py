# SPDX-License-Identifier: BSD-3-Clause
"""The keys of the objects inside a record, and how every key of a record is described.

docs/records.md is made from these and from `record.Record`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

WrittenBy = Literal["halobench", "runner", "campaign"]
"""Who writes a key: the measured program, what runs it, or what keeps the records."""

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
_NOT_OURS = "not there of an external program"
_NOT_TOLD = "not there where an external program tells the mean alone"
OUTCOMES = ("ok", "wrong", "failed", "timeout", "misplaced", "absent")
CLOCKS = ("wall", "simulated")


@dataclass(frozen=True)
class Key:
    """One key of a record: what it says, who writes it, its unit, and when it says nothing.

    by: None where that is whoever writes the object that it is in.
    absent: when the key is not there, or null; None where it always says something.
    kernels: those whose records always have it, as no other's do; empty where it is not their own.
    keys: of the object, or of each object in the list, where the type does not name them.
    least, most: the smallest and largest number that it may be; most is None where no bound but
    those of all numbers stands. values: all words that it may be.
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
    """Where one rank found itself."""

    rank: Annotated[int, Key("the rank's number")]
    host: Annotated[str, Key("the node's name")]
    cpus: Annotated[list[int], Key("the processors it may run on")]
    thread_cpus: Annotated[
        list[list[int]],
        Key(
            "the processors of each of its threads",
            absent="empty where an external program ran, which does not say",
        ),
    ]


class LayoutAsked(TypedDict):
    """What a record has to say of where ranks and threads were to go."""

    nodes: Annotated[int, Key("nodes", least=1, most=MOST_RANKS)]
    ppn: Annotated[int, Key("processes a node", least=1, most=MOST_RANKS)]
    ranks: Annotated[int, Key("all processes: tasks, or nodes x ppn", least=1, most=MOST_RANKS)]
    threads: Annotated[int, Key("threads of each process", least=1, most=MOST_RANKS)]
    places: Annotated[str, Key("what one thread is bound to: cores, threads, sockets")]
    bind: Annotated[
        str,
        Key("side by side or over all processors: close, spread", values=("close", "spread")),
    ]


class RecordedLayout(LayoutAsked, total=False):
    """Where ranks and threads were to go, and where they went."""

    placement: Annotated[
        str | None, Key("how two ranks lie to each other", absent="null unless asked for")
    ]
    mapping: Annotated[
        str,
        Key("which ranks share a node: block, round_robin, random; or the node of each: 0,1,1,0"),
    ]
    mapping_seed: Annotated[
        int | None, Key("of a random mapping", absent="null for every other mapping")
    ]
    allocation: Annotated[
        str,
        Key(
            "which nodes of a simulated cluster: by_switch, by_pod, random",
            absent="not there where they are side by side, or nobody asked",
        ),
    ]
    allocation_seed: Annotated[
        int | None, Key("of a random allocation", absent="not there for every other allocation")
    ]
    tasks: Annotated[
        int,
        Key(
            "all processes, where a number of them is shared out over nodes: ppn is what the first "
            "nodes have, others may have one less",
            least=1,
            most=MOST_RANKS,
            absent="not there unless a study gives a number of tasks",
        ),
    ]
    oversubscribed: Annotated[bool, Key("more ranks x threads than processors")]
    seen: Annotated[
        list[SeenRank],
        Key(
            "what each rank saw of its processors",
            by="halobench",
            absent="empty where nothing ran, and where simulated",
        ),
    ]


class ToolchainUsed(TypedDict):
    """The MPI library, and how halobench was built with it."""

    name: Annotated[str, Key("as a study names it")]
    mpi: NotRequired[
        Annotated[
            str,
            Key(
                "what the library calls itself; simulated, SimGrid's version and the library "
                "that it stands for",
                by="halobench",
                absent="not there where halobench wrote no record",
            ),
        ]
    ]
    thread_level: NotRequired[
        Annotated[
            str,
            Key("MPI's thread support", by="halobench", absent="not there unless measured"),
        ]
    ]
    compiler: NotRequired[
        Annotated[str, Key("name and version", by="halobench", absent="not there unless measured")]
    ]
    flags: NotRequired[
        Annotated[
            str, Key("the compiler's flags", by="halobench", absent="not there unless measured")
        ]
    ]
    source: NotRequired[
        Annotated[
            str,
            Key(
                "hash of halobench's sources",
                absent="not there where the case can't run, and of an external program",
            ),
        ]
    ]
    launcher: NotRequired[
        Annotated[
            str,
            Key(
                "what started the ranks: srun with its kind, or the library's own launcher",
                absent="not there where simulated, where the case can't run, and in older records",
            ),
        ]
    ]


class TuningUsed(TypedDict):
    """How the MPI library was tuned by its user."""

    given: Annotated[
        dict[str, str],
        Key(
            "variables of MPI libraries (OMPI_MCA_*, I_MPI_*, UCX_*, FI_* and their like) and "
            "parameters in ~/.openmpi/mca-params.conf, by name, as they were set",
        ),
    ]
    overridden: Annotated[
        dict[str, str | None],
        Key(
            "of these, what the launch set in their place, as for a transport",
            absent="null where it left the library's own choice",
        ),
    ]


class ProgramUsed(TypedDict):
    """The external program that ran."""

    file: Annotated[str, Key("its program.toml")]
    hash: Annotated[str, Key("of that file and of the inputs beside it")]
    executable: Annotated[
        str | None, Key("what its command begins with", absent="null where it depends on the case")
    ]
    version: Annotated[str | None, Key("as it tells it", absent="null where it does not")]
    launcher: Annotated[str, Key("the MPI library whose launcher started it")]
    verified: Annotated[
        bool, Key("its file says how an answer is verified, and this one was found right")
    ]
    checked: Annotated[
        list[str],
        Key("what was found true of its output", absent="empty where nothing was looked at"),
    ]
    units: NotRequired[
        Annotated[
            dict[str, str],
            Key(
                "what its file says that parameters and results are in, by their names",
                absent="not there in older records",
            ),
        ]
    ]


class Shape(TypedDict):
    """What a star forest's communication moves."""

    messages: Annotated[int, Key("that the rank sends that writes the record")]
    remote_bytes: Annotated[int, Key("that it sends to other ranks", unit="bytes")]
    local_bytes: Annotated[int, Key("that stay on it", unit="bytes")]
    moved_bytes: Annotated[
        dict[str, float],
        Key("by part, what the rank with the most moves in its memory", unit="bytes"),
    ]
    waits: NotRequired[
        Annotated[
            dict[str, int],
            Key(
                "for a device's stream, in a broadcast and in a reduction after it has begun",
                absent="not there in older records",
            ),
        ]
    ]


class Point(TypedDict):
    """One size of a kernel that sweeps several inside a launch."""

    size_bytes: Annotated[int, Key("the message, or the arrays", unit="bytes")]
    operation: Annotated[
        str | None, Key("which collective or loop", absent="null where the kernel has one only")
    ]
    n: NotRequired[Annotated[int, Key("edge of the cube", kernels=("sf_grid",))]]
    passes: NotRequired[Annotated[int, Key("over the arrays in one step", kernels=("stream",))]]
    messages: NotRequired[Annotated[int, Key("in one step", kernels=("pingpong",))]]
    checked_messages: NotRequired[
        Annotated[int, Key("whose content was compared", kernels=("pingpong",))]
    ]
    shape: NotRequired[Annotated[Shape, Key("what it moves", kernels=STAR_FORESTS)]]
    result: Annotated[
        dict[str, Any], Key("medians over the repetitions, by the kernel's own names")
    ]
    steps: Annotated[int, Key("steps in one repetition", least=1)]
    times_s: Annotated[
        list[float],
        Key(
            "of one step, one a repetition: the slowest rank's",
            unit="s",
            most=LONGEST_S,
        ),
    ]
    bytes: Annotated[float, Key("of memory traffic in one step, over all ranks", unit="bytes")]


class TimeOverRanks(TypedDict):
    """One time, over all ranks."""

    min: NotRequired[
        Annotated[float, Key("the fastest rank's", unit="s", most=LONGEST_S, absent=_NOT_TOLD)]
    ]
    mean: Annotated[float, Key("mean over ranks", unit="s", most=LONGEST_S)]
    max: NotRequired[
        Annotated[float, Key("the slowest rank's", unit="s", most=LONGEST_S, absent=_NOT_TOLD)]
    ]


class Phase(TypedDict):
    """A named part of a step, timed where it happens; mean over all timed steps, and medians."""

    name: Annotated[str, Key("the phase")]
    calls: NotRequired[Annotated[int, Key("in one step", absent=_NOT_OURS)]]
    time_s: Annotated[TimeOverRanks, Key("in one step")]
    median_s: NotRequired[
        Annotated[
            TimeOverRanks,
            Key(
                "in one step too, each number the median over repetitions, as a step's time is",
                absent="not there in older records",
            ),
        ]
    ]
    bytes: NotRequired[
        Annotated[
            float,
            Key("of memory traffic in one step, over all ranks", unit="bytes", absent=_NOT_OURS),
        ]
    ]
    flops: NotRequired[
        Annotated[
            float,
            Key("floating-point operations in one step, over all ranks", absent=_NOT_OURS),
        ]
    ]
    model_s: Annotated[
        float | None,
        Key(
            "what one step takes by the node model, on the slowest rank",
            unit="s",
            absent="null without a node model, and where nothing is computed",
            most=LONGEST_S,
        ),
    ]
    by_rank_s: NotRequired[
        Annotated[
            list[float],
            Key(
                "of each rank, in one step: what the slowest rank takes longer, others wait for",
                unit="s",
                absent="not there where nothing is computed, on one rank, and where simulated",
                most=LONGEST_S,
            ),
        ]
    ]


class Part(TypedDict):
    """A part of a step that was run by itself."""

    point: Annotated[int, Key("which of `points`, from 0")]
    name: Annotated[str, Key("the part")]
    steps: Annotated[int, Key("steps in one repetition")]
    times_s: Annotated[
        list[float],
        Key("of one step, one a repetition", unit="s", most=LONGEST_S),
    ]


class Trace(TypedDict):
    """One step of one point, as each rank saw it."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    ranks: Annotated[
        list[list[list[Any]]],
        Key(
            "of each rank, its calls: [phase, depth, begin, end], after the start; of its device, "
            "works by the phase that launched them: [phase, 0, begin, end, stream]",
            unit="s",
        ),
    ]


class Rounds(TypedDict):
    """How well ranks began together, where they begin at a time of a shared clock."""

    clock_error_s: Annotated[float, Key("largest error of the shared clock", unit="s")]
    repeated: Annotated[int, Key("rounds run again because a rank began late")]
    late_s: Annotated[
        list[list[float]],
        Key(
            "of each point, how late each round began",
            unit="s",
            absent="empty where none was",
            least=-LONGEST_S,
        ),
    ]


class Work(TypedDict):
    """What one step of every point does, over all ranks."""

    bytes: Annotated[float, Key("of memory traffic", unit="bytes")]
    flops: Annotated[float, Key("floating-point operations")]
    messages: Annotated[float, Key("sent, without those inside collectives")]


class RecordedMemory(TypedDict):
    """Memory of all ranks together."""

    predicted_bytes: Annotated[int, Key("as the plan had it", unit="bytes")]
    allocated_bytes: Annotated[int, Key("of the kernel's arrays", unit="bytes")]
    rss_bytes: Annotated[
        int | None, Key("resident at the end", unit="bytes", absent="null where simulated")
    ]
    peak_bytes: Annotated[
        int | None, Key("most that was resident", unit="bytes", absent="null where simulated")
    ]


class Timer(TypedDict):
    """The clock that took the times."""

    function: Annotated[str, Key("its name")]
    resolution_s: Annotated[float, Key("the smallest step", unit="s")]
    cost_s: Annotated[float, Key("of one reading", unit="s")]


class MachineCache(TypedDict):
    """One level of a core's data caches."""

    level: Annotated[int, Key("1 is nearest to the core", least=1)]
    size_bytes: Annotated[int, Key("of one such cache", unit="bytes", least=1)]
    shared_by: Annotated[int, Key("cores that share one", least=1)]


class Topology(TypedDict):
    """Processors in groups, each in the kernel's list format."""

    core: Annotated[list[str], Key("hardware threads of each core")]
    cache: Annotated[list[str], Key("processors of each last cache")]
    numa: Annotated[list[str], Key("processors of each memory")]
    socket: Annotated[list[str], Key("processors of each socket")]
    kind: NotRequired[
        Annotated[
            list[str],
            Key("processors of each kind of core, the fastest first", absent="one kind"),
        ]
    ]


class RecordedGpu(TypedDict):
    """A GPU, as its driver describes it."""

    name: Annotated[str, Key("its maker's name of it")]
    device: Annotated[str, Key("what it is programmed by: cuda, hip")]
    uuid: Annotated[str | None, Key("its own number", absent="null where the driver hides it")]
    pci: Annotated[str | None, Key("its PCI address", absent="null where it is not told")]
    numa: Annotated[
        int | None, Key("the memory (NUMA node) that it is next to", absent="null where not told")
    ]


class GpuOfRank(TypedDict):
    """Which of its node's GPUs a rank had."""

    uuid: Annotated[str | None, Key("its own number", absent="null where the runtime hides it")]
    pci: Annotated[str, Key("its PCI address")]
    numa: Annotated[
        int | None, Key("the memory (NUMA node) that it is next to", absent="null where not told")
    ]


class Machine(TypedDict, total=False):
    """The machine that ran, or the node of the cluster that was simulated."""

    host: Annotated[str, Key("its name; simulated, the cluster's")]
    cpu: Annotated[str | None, Key("the processor", absent="null where it can't be read")]
    sockets: Annotated[int, Key("of a node", least=1, most=MOST_RANKS)]
    cores: Annotated[int, Key("of a node", least=1, most=MOST_RANKS)]
    threads_per_core: Annotated[int, Key("hardware threads", least=1, most=1024)]
    caches: Annotated[list[MachineCache], Key("from the core outwards")]
    memory_bytes: Annotated[
        int | None, Key("of a node", unit="bytes", absent="null where it can't be read")
    ]
    governor: Annotated[
        str | None, Key("of the frequency", absent="null where not visible or simulated")
    ]
    os: Annotated[str | None, Key("operating system", absent="null where simulated")]
    busy_processors: Annotated[
        float | None,
        Key("that others kept busy at the start", absent="null where simulated"),
    ]
    topology: NotRequired[
        Annotated[Topology, Key("what processors share", absent="not there where simulated")]
    ]
    allowed: NotRequired[
        Annotated[
            str,
            Key(
                "processors that haloscope may use, in the kernel's list format: others are online",
                absent="not there where simulated, and in older records",
            ),
        ]
    ]
    gpus: NotRequired[
        Annotated[
            list[RecordedGpu],
            Key(
                "GPUs of this machine",
                absent="empty where there are none; not there where simulated",
            ),
        ]
    ]
    source: NotRequired[
        Annotated[
            str, Key("where a cluster's numbers are from", absent="not there unless simulated")
        ]
    ]
    smt_gain: NotRequired[
        Annotated[
            float | None,
            Key(
                "work of a core with all its hardware threads over that with one",
                absent="not there unless simulated; null where not known",
            ),
        ]
    ]


class SpreadDrawn(TypedDict):
    """How far simulated nodes lie apart, and which of them a replicate has."""

    nodes: Annotated[float, Key("standard deviation of the logarithm of nodes' times")]
    phases: Annotated[float, Key("the same of one phase on one node, beside that")]
    seed: Annotated[int, Key("of the draw: follows from the case and the launch's number")]


class Simulation(TypedDict):
    """How a simulated time came about."""

    cluster: Annotated[str, Key("the cluster file's name")]
    platform: NotRequired[
        Annotated[str, Key("hash of all that the file says", absent="not there in older records")]
    ]
    verified: Annotated[bool, Key("the arithmetic was done, and the answer checked")]
    cached: Annotated[bool, Key("taken from an earlier simulation of the same")]
    iterations: Annotated[
        int | None, Key("simulated one by one", absent="null where none were passed over")
    ]
    of_iterations: Annotated[
        int | None, Key("that the whole solve has", absent="null where none were passed over")
    ]
    iterations_from: Annotated[
        str | None,
        Key("where their number is known from", absent="null where none were passed over"),
    ]
    spread: NotRequired[
        Annotated[
            SpreadDrawn,
            Key(
                "how its nodes were drawn",
                absent="not there where they are all alike, and in older records",
            ),
        ]
    ]


class ModelUsed(TypedDict):
    """The cluster file of this machine, for what phases should take."""

    cluster: Annotated[str, Key("its name")]
    source: Annotated[str, Key("where its numbers are from")]


class AllocationUsed(TypedDict):
    """The nodes that a batch system gave to the job in which a launch ran."""

    site: Annotated[str, Key("the site file's name")]
    scheduler: Annotated[str, Key("the batch system: slurm, pbs, lsf or flux")]
    job: Annotated[str, Key("the job's id, as the batch system gave it")]
    partition: Annotated[str | None, Key("it was given by", absent="null where not told")]
    nodes: Annotated[list[str], Key("their names, those that no rank ran on among them")]
    switches: Annotated[
        str | None,
        Key("that they hang on, joined by commas", absent="null where the network is not known"),
    ]
    restarts: Annotated[int, Key("how often the job was begun anew before, perhaps on other nodes")]


class Checkout(TypedDict):
    """The state of haloscope's own sources."""

    commit: Annotated[str, Key("hash")]
    dirty: Annotated[bool, Key("changed since")]
