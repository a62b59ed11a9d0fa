# SPDX-License-Identifier: BSD-3-Clause
"""Keys of where a launch ran or was simulated, inside a record."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from haloscope.keys import Key
from haloscope.layout import MOST_RANKS


class MachineCache(TypedDict):
    """One level of a core's data caches."""

    level: Annotated[int, Key("level of the cache; level 1 is nearest to the core", least=1)]
    size_bytes: Annotated[int, Key("size of one cache", unit="bytes", least=1)]
    shared_by: Annotated[int, Key("number of cores that share one cache", least=1)]


class Topology(TypedDict):
    """Groups of processors of a machine, each in the list format of Linux."""

    core: Annotated[list[str], Key("hardware threads of each core")]
    cache: Annotated[list[str], Key("processors of each last-level cache")]
    numa: Annotated[list[str], Key("processors of each NUMA node")]
    socket: Annotated[list[str], Key("processors of each socket")]
    kind: NotRequired[
        Annotated[
            list[str],
            Key(
                "processors of each kind of core, fastest first",
                absent="absent if all cores are of one kind",
            ),
        ]
    ]


class RecordedGpu(TypedDict):
    """A GPU, as described by its driver."""

    name: Annotated[str, Key("product name of the GPU")]
    device: Annotated[str, Key("programming model of the GPU: cuda or hip")]
    uuid: Annotated[str | None, Key("UUID of the GPU", absent="null if the driver hides it")]
    pci: Annotated[str | None, Key("PCI address of the GPU", absent="null if unknown")]
    numa: Annotated[int | None, Key("NUMA node nearest to the GPU", absent="null if unknown")]


class GpuOfRank(TypedDict):
    """GPU of a rank."""

    uuid: Annotated[str | None, Key("UUID of the GPU", absent="null if the runtime hides it")]
    pci: Annotated[str, Key("PCI address of the GPU")]
    numa: Annotated[int | None, Key("NUMA node nearest to the GPU", absent="null if unknown")]


class Machine(TypedDict, total=False):
    """Machine on which the case ran, or a node of the simulated cluster."""

    host: Annotated[str, Key("host name; if simulated, name of the cluster")]
    cpu: Annotated[str | None, Key("processor model", absent="null if unknown")]
    sockets: Annotated[int, Key("number of sockets per node", least=1, most=MOST_RANKS)]
    cores: Annotated[int, Key("number of cores per node", least=1, most=MOST_RANKS)]
    threads_per_core: Annotated[int, Key("number of hardware threads per core", least=1, most=1024)]
    caches: Annotated[
        list[MachineCache], Key("data caches of a core, from the first level outwards")
    ]
    memory_bytes: Annotated[
        int | None, Key("memory per node", unit="bytes", absent="null if unknown")
    ]
    governor: Annotated[
        str | None, Key("CPU frequency governor", absent="null if not visible, or if simulated")
    ]
    os: Annotated[str | None, Key("operating system", absent="null if simulated")]
    busy_processors: Annotated[
        float | None,
        Key(
            "number of processors kept busy by other programs at the start of the launch",
            absent="null if simulated",
        ),
    ]
    topology: NotRequired[
        Annotated[
            Topology,
            Key(
                "processors of each core, cache, NUMA node, and socket",
                absent="absent if simulated",
            ),
        ]
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
            Key("GPUs of this machine", absent="empty if there are none; absent if simulated"),
        ]
    ]
    source: NotRequired[
        Annotated[
            str, Key("sources of the numbers in the cluster file", absent="absent unless simulated")
        ]
    ]
    smt_gain: NotRequired[
        Annotated[
            float | None,
            Key(
                "throughput of a core with all hardware threads, relative to its "
                "throughput with one thread",
                absent="absent unless simulated; null if unknown",
            ),
        ]
    ]


class SpreadDrawn(TypedDict):
    """Node-to-node variability of a replicate."""

    nodes: Annotated[
        float, Key("standard deviation of the logarithm of the computation times of nodes")
    ]
    phases: Annotated[float, Key("additional standard deviation for each phase on a node")]
    seed: Annotated[int, Key("random seed, derived from the case and the launch")]


class OthersDrawn(TypedDict):
    """Other jobs on the simulated cluster during a launch."""

    occupancy: Annotated[
        float, Key("share of all nodes that are in use by jobs, including this job")
    ]
    traffic: Annotated[
        float,
        Key(
            "average traffic of the nodes of other jobs, as a share of the bandwidth "
            "of their network cards"
        ),
    ]
    launch: Annotated[
        int, Key("number that seeds the random draw of the other jobs, the same for all cases")
    ]


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
                "built-in cluster file of which the cluster file is a copy, with the "
                "sources of its numbers",
                absent="absent if the cluster file is not a copy, and in older records",
            ),
        ]
    ]
    verified: Annotated[bool, Key("whether the solution was computed and verified")]
    cached: Annotated[bool, Key("whether the times are from an earlier, identical simulation")]
    iterations: Annotated[
        int | None,
        Key(
            "number of iterations that were simulated one by one",
            absent="null if all iterations were simulated",
        ),
    ]
    of_iterations: Annotated[
        int | None,
        Key(
            "number of iterations of the whole solve",
            absent="null if all iterations were simulated",
        ),
    ]
    iterations_from: Annotated[
        str | None,
        Key(
            "source of the number of iterations of the whole solve",
            absent="null if all iterations were simulated",
        ),
    ]
    spread: NotRequired[
        Annotated[
            SpreadDrawn,
            Key(
                "parameters of the random node speeds",
                absent="absent if all nodes are alike, and in older records",
            ),
        ]
    ]
    others: NotRequired[
        Annotated[
            OthersDrawn,
            Key(
                "other jobs on the cluster, drawn at random",
                absent="absent if the cluster had no other jobs, and in older records",
            ),
        ]
    ]


class ModelUsed(TypedDict):
    """This machine's cluster file, from which model times are computed."""

    cluster: Annotated[str, Key("name of the cluster file")]
    source: Annotated[str, Key("sources of the numbers in the cluster file")]


class AllocationUsed(TypedDict):
    """Nodes of the batch job in which the launch ran."""

    site: Annotated[str, Key("name of the site file")]
    scheduler: Annotated[str, Key("batch system: slurm, pbs, lsf, or flux")]
    job: Annotated[str, Key("id of the job in the batch system")]
    partition: Annotated[str | None, Key("partition or queue of the job", absent="null if unknown")]
    nodes: Annotated[list[str], Key("names of all nodes of the job, including unused ones")]
    switches: Annotated[
        str | None,
        Key("network switches of the nodes, separated by commas", absent="null if unknown"),
    ]
    restarts: Annotated[
        int, Key("number of times that the job was restarted, possibly on other nodes")
    ]


class Checkout(TypedDict):
    """State of haloscope's sources."""

    commit: Annotated[str, Key("hash of the commit")]
    dirty: Annotated[bool, Key("whether the sources differ from the commit")]
