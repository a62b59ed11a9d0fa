# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's input for a cluster file: platform, host file, node model, options.

The platform is created by halobench/platform/, which smpirun loads and which reads the files
written here. Sources: SimGrid's manual, "Platform reference" and "SMPI: simulate MPI applications".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from haloscope.clusters.network import Network
from haloscope.clusters.node import Node, expected_slowest, unbound
from haloscope.clusters.other_jobs.occupied import OtherJob, allocated, left
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import defaults, gpus, links
from haloscope.clusters.simgrid.defaults import SELECTOR
from haloscope.clusters.simgrid.gpus import sockets_of_ranks
from haloscope.layout import Layout
from haloscope.study.case import Case, ranks_sharing_a_gpu

_PLATFORM = "HALOBENCH_PLATFORM"
_MEMORY = (
    "MALLOC_TRIM_THRESHOLD_=4294967296",
    "MALLOC_TOP_PAD_=67108864",
    "MALLOC_MMAP_THRESHOLD_=33554432",
)
"""_MEMORY makes glibc request 64 MiB at a time and return none, because SimGrid allocates and frees
all the time (docs/bench/simulation.md).
"""


def files(cluster: Cluster, case: Case, seed: int | None = None, launch: int = 0) -> dict[str, str]:
    """Return the files that smpirun and halobench read. Raise ValueError if the cluster lacks
    values.

    seed: of a replicate's nodes, which then differ as the file says; None: all are alike. launch:
    its number, which determines the places of other jobs, if any.
    """
    given = allocated(cluster, case.layout, launch)
    nodes = [given.nodes[node] for node in case.layout.nodes_of_ranks]
    if gpus.on_gpus(case.params):
        return _files_on_gpus(cluster, case, nodes, given.others, seed)
    sockets = sockets_of_ranks(cluster.node, nodes, case.layout)
    return {
        "platform": platform(cluster, nodes, sockets, given.others),
        "hosts": hosts(nodes, sockets),
        "machine": machine_file(cluster, case) + _slowest(cluster.node, case.layout, seed),
    }


def _files_on_gpus(
    cluster: Cluster, case: Case, nodes: Sequence[int], others: Sequence[OtherJob], seed: int | None
) -> dict[str, str]:
    """Return the same for a case in GPU memory; if MPI gets device addresses, GPUs are
    the hosts.
    """
    gpu, shared = cluster.node.gpu, ranks_sharing_a_gpu(case.params)
    seats = gpus.gpus_of_ranks(cluster.node, nodes, case.layout, shared)
    assert gpu is not None  # ranks are on GPUs
    device = gpus.machine_line(gpu, seats, nodes)
    machine = machine_file(cluster, case) + _slowest(cluster.node, case.layout, seed) + device
    if gpus.sends_from_gpus(case.params):
        if not gpu.messages:
            raise ValueError("GPUs without messages of their own: node.gpu.messages")
        whole = platform(cluster, nodes, others=others)
        more = "".join(f"{line}\n" for line in gpus.platform_lines(cluster, nodes, seats))
        return {"platform": whole + more, "hosts": gpus.hosts(nodes, seats), "machine": machine}
    sockets = sockets_of_ranks(cluster.node, nodes, case.layout)
    return {
        "platform": platform(cluster, nodes, sockets, others),
        "hosts": hosts(nodes, sockets),
        "machine": machine,
    }


def command(
    cluster: Cluster,
    case: Case,
    program: Path,
    smpirun: Path,
    folder: Path,
    trace: Path | None = None,
) -> list[str]:
    """Return the command that simulates a case with the files in a folder, up to its parameters.

    program: halobench built for SMPI, with platform.so beside it. trace: file for every message,
    including those of collective operations.
    """
    return [
        *("env", *_MEMORY, f"{_PLATFORM}={folder / 'platform'}", str(smpirun)),
        *("-np", str(case.layout.ranks), "-platform", str(program.with_name("platform.so"))),
        *(() if trace is None else traced(trace)),
        *("-hostfile", str(folder / "hosts"), *settings(cluster, case), str(program)),
        *("--machine", str(folder / "machine"), "--threads", str(case.layout.threads)),
    ]


def traced(trace: Path) -> list[str]:
    """Return options that write every message to a file, including those of collective
    operations.
    """
    sizes = ("--cfg=tracing/smpi/internals:yes", "--cfg=tracing/smpi/display-sizes:yes")
    return ["-trace", "-trace-file", str(trace), *sizes]


def hosts(nodes: Sequence[int], sockets: Sequence[int] | None) -> str:
    """Return the host file of smpirun: each rank on its node, or on its socket."""
    if sockets is None:
        return "".join(f"node-{node}\n" for node in nodes)
    seats = zip(nodes, sockets, strict=True)
    return "".join(f"node-{node}-socket-{socket}\n" for node, socket in seats)


def platform(
    cluster: Cluster,
    nodes: Sequence[int],
    sockets: Sequence[int] | None = None,
    others: Sequence[OtherJob] = (),
) -> str:
    """Return the input of halobench/platform/description.hpp, given the node of each rank."""
    node, network, places = cluster.node, cluster.network, _places(cluster)
    within = links.within(cluster, sockets is not None)
    lines = [
        f"nodes {places} {node.cores * node.threads_per_core}",
        *(_shape(network, places) if network else ["fat_tree 1 1 1"]),
        *(_left(network, nodes, others) if network else []),
        *(f"within {above} {latency!r} {fast!r}" for above, latency, fast in within),
        *(
            f"between {above} {latency!r} {fast!r}"
            for above, latency, fast in links.between(cluster)
        ),
        "overheads {!r} {!r}".format(*links.overheads(cluster)),
        f"cached {links.cached_bytes(cluster)!r}",
        f"copied {links.copied(cluster)!r}",
        *_memory(node),
        *(f"ranks {place} {ranks}" for place, ranks in sorted(Counter(nodes).items())),
        *(_divided(cluster, nodes, sockets) if sockets is not None else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def _divided(cluster: Cluster, nodes: Sequence[int], sockets: Sequence[int]) -> Iterator[str]:
    """Yield sockets with their memories, the link between them, and the places of ranks."""
    socket = cluster.node.socket
    if socket is None:
        raise ValueError("a node of one memory")
    yield f"sockets {cluster.node.sockets}"
    for one in socket.memory:
        yield f"socket_memory {one.cores} {one.bandwidth_bytes_per_s.value!r}"
    yield f"socket_link {socket.link.bandwidth_bytes_per_s.value!r} {links.link_latency(socket)!r}"
    for above, latency, fast in links.across(cluster, socket):
        yield f"across {above} {latency!r} {fast!r}"
    for (node, number), ranks in sorted(Counter(zip(nodes, sockets, strict=True)).items()):
        yield f"seats {node} {number} {ranks}"


def _places(cluster: Cluster) -> int:
    return (cluster.network and cluster.network.places) or cluster.nodes


def _shape(network: Network, places: int) -> Iterator[str]:
    match network.topology:
        case "torus":
            yield from (f"torus {length}" for length in network.dimensions)
        case "fat_tree":
            for level in network.levels:
                yield f"fat_tree {level.children} {level.parents} {level.links}"
        case "flat":
            yield f"fat_tree {places} 1 1"
    yield f"link {network.link_bandwidth_bytes_per_s.value!r} {network.link_latency_s.value!r}"


def _left(network: Network, nodes: Sequence[int], others: Sequence[OtherJob]) -> Iterator[str]:
    for level, part, share in left(network, sorted(set(nodes)), others):
        yield f"left {level} {part} {share!r}"


def _memory(node: Node) -> list[str]:
    return [f"memory {one.cores} {one.bandwidth_bytes_per_s.value!r}" for one in node.memory]


def machine_file(cluster: Cluster, case: Case) -> str:
    """Return the node for a case, as read by halobench's --machine
    (halobench/machine/node_model.hpp).
    """
    node = cluster.node
    lines = [
        "core_flops_per_s {!r} {!r}".format(*_core_rates(node, case)),
        f"cores {node.cores} {node.sockets}",
        *_memory(node),
        *(
            f"socket {one.cores} {one.bandwidth_bytes_per_s.value!r}"
            for one in (node.socket.memory if node.socket else ())
        ),
        *(f"stores {one.cores} {one.store_cost.value!r}" for one in node.memory if one.store_cost),
        *(f"region {one.threads} {one.cost_s.value!r}" for one in node.regions),
        *(
            f"cache {defaults.usable(cache)!r} {cache.shared_by} {alone.value!r} {crowded.value!r}"
            for cache in node.caches
            if (alone := cache.bandwidth_bytes_per_s)
            and (crowded := cache.crowded_bytes_per_s or alone)
        ),
    ]
    if node.caches and not max(node.caches, key=lambda cache: cache.level).inclusive:
        lines.append("beside")
    for key in ("sharpness", "knee", "smt_gain"):
        quantity: Quantity | None = getattr(node, key)
        if quantity is not None:
            lines.append(f"{key} {quantity.value!r}")
    if case.layout.cores_bound == "close":  # they fill one socket before the next
        of_a_core = node.threads_per_core if case.layout.places == "threads" else 1
        lines.append(f"packed {of_a_core}" if of_a_core > 1 else "packed")
    return "".join(f"{line}\n" for line in lines)


def _slowest(node: Node, layout: Layout, seed: int | None) -> str:
    """Return the variability of a replicate's nodes, and the time of the slowest node of a job."""
    lines, slowest = "", 1.0
    if node.spread is not None and seed is not None:
        lines = "spread {!r} {!r} {}\n".format(*node.spread.deviations, seed)
    elif node.spread is not None and node.spread.slowest:
        slowest = expected_slowest(node.spread.deviations[0], layout.nodes)
    if layout.bind == "none":
        slower, resume_s = unbound(node, max(layout.ranks_of_nodes), layout.nodes)
        slowest *= slower
        lines += f"resume {resume_s!r}\n" if resume_s > 0 else ""
    return lines + (f"slowest {slowest!r}\n" if slowest != 1 else "")


def _core_rates(node: Node, case: Case) -> tuple[float, float]:
    """Return a core's flop rate alone and on a full socket; the kernel's own rates if it has some.

    Raise ValueError if those are for other variants: a program's measured rate cannot be compared
    with the node model's peak for another variant.
    """
    rates = [one for one in node.kernels if one.kernel == case.kernel]
    variants = (None, case.params.get("variant"))
    own = next((one for one in rates if one.variant in variants), None)
    if rates and own is None:
        raise ValueError(f"no rate of {case.kernel} {variants[1]}")
    if own is not None:
        crowded = own.crowded_flops_per_s or own.core_flops_per_s
        return own.core_flops_per_s.value, crowded.value
    if node.core_flops_per_s is None:
        raise ValueError("a node without core_flops_per_s")
    return node.core_flops_per_s.value, node.core_flops_per_s.value


def settings(cluster: Cluster, case: Case | None = None) -> list[str]:
    """Return options of smpirun: nothing is timed on the host, and messages are as in the file.

    case: None: messages in host memory. For messages between GPUs the file contains the complete
    time including handshakes, so SMPI treats them all as eager.
    """
    mpi = cluster.mpi
    if mpi is None:
        raise ValueError("a cluster without an MPI library")
    eager = case is not None and gpus.sends_from_gpus(case.params)
    limit = links.ALL_EAGER if eager else links.switch_bytes(cluster)
    found = {
        "smpi/simulate-computation": "no",
        "smpi/privatization": "no",  # halobench has no variables that ranks would share
        "smpi/wtime": "0",
        "smpi/shared-malloc": "local",  # one piece of unused memory for all ranks
        "network/crosstraffic": "no",  # no TCP acknowledgements in the other direction
        # SimGrid's default, 1e-5, is the rounding error of 2e10 bytes per second: it would give up.
        "maxmin/precision": "1e-3",
        "smpi/async-small-thresh": str(limit),
        "smpi/send-is-detached-thresh": str(limit),
        "smpi/barrier": "ompi_bruck",  # in SMPI's own, rank 0 waits for all others at once
        **{
            ("smpi/coll-selector" if name == SELECTOR else f"smpi/{name}"): one.algorithm
            for name, one in mpi.collectives.items()
        },
    }
    return [f"--cfg={key}:{value}" for key, value in found.items()]
