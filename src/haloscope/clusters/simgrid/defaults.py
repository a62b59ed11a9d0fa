# SPDX-License-Identifier: BSD-3-Clause
"""Default numbers of simulations for keys that a cluster file omits, with their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from haloscope.clusters.network import Mpi
from haloscope.clusters.node import Cache, Node
from haloscope.clusters.quantity import SetBy
from haloscope.clusters.schema import Cluster, between_nodes, within_node

Keys = tuple[int | str, ...]
"""The keys of a place in a cluster file, without list indices if all entries are meant."""

MEMORY_BYTES_PER_BYTE = 6.0
"""Memory traffic per byte that is sent through a buffer shared by both ranks."""
RENDEZVOUS_LATENCIES = 3.0
"""Latencies of a message whose send waits for its receive."""


TRAFFIC = 0.1
"""Average traffic of a node of another job, as a share of its cards' bandwidth."""


@dataclass(frozen=True)
class Default:
    """A default. scalable: whether it is a single number that can be varied.

    It is not if it is 0, if a larger value has no meaning, or if every entry of a list has it.
    set_by: the published cells that determined it.
    """

    place: Keys
    value: float
    source: str
    scalable: bool = True
    set_by: tuple[SetBy, ...] = ()


def usable(cache: Cache) -> float:
    """Return the bytes of a cache that a sweep can use."""
    return cache.usable_bytes.value if cache.usable_bytes else cache.size_bytes


def cached_bytes(node: Node) -> float:
    """Return the size of the largest messages in caches: one per core, both ends, in the last
    level.
    """
    if not node.caches:
        return 0.0
    last = max(node.caches, key=lambda cache: cache.level)
    return usable(last) / last.shared_by / 2


def defaults(cluster: Cluster) -> Iterator[Default]:
    """Yield the defaults that apply to a file, in the order of its tables."""
    yield from _of_node(cluster.node)
    levels = cluster.network.levels if cluster.network else ()
    if cluster.others is None and any(level.left is None for level in levels):
        place: Keys = ("network", "levels", "left")
        yield Default(place, 1.0, "assumed: no other traffic on these links", scalable=False)
    if cluster.others is not None and cluster.others.traffic is None:
        why = "assumed: jobs communicate for a tenth of their time; no source"
        yield Default(("others", "traffic"), TRAFFIC, why)
    if cluster.mpi is not None:
        yield from _of_mpi(cluster.mpi, cluster)
    within = within_node(cluster)
    if cluster.node.cores > 1 and within is not None and within.memory_bytes_per_byte is None:
        place = ("messages", cluster.messages.index(within), "memory_bytes_per_byte")
        why = (
            "assumed: both ranks copy through a buffer; each copy reads a line, fetches "
            "the line that it overwrites, and writes it"
        )
        yield Default(place, MEMORY_BYTES_PER_BYTE, why)


def _of_node(node: Node) -> Iterator[Default]:
    if node.caches and node.sharpness is None:
        why = "assumed: fitted to cells of one node of table 4.1 of HPCF-2018-10"
        cells = SetBy(paper="hpcf-2018-10", tables=("4.1",), where={"nodes": (1,)})
        yield Default(("node", "sharpness"), 1.0, why, set_by=(cells,))
    if node.threads_per_core > 1 and node.smt_gain is None:
        why = "assumed: the hardware threads of a core together have the throughput of one"
        yield Default(("node", "smt_gain"), 1.0, why)
    if all(one.store_cost is None for one in node.memory):
        why = "assumed: a stored byte costs as much as a loaded one"
        yield Default(("node", "memory", "store_cost"), 1.0, why, scalable=False)
    for index, cache in enumerate(node.caches):
        if cache.bandwidth_bytes_per_s and cache.crowded_bytes_per_s is None:
            place: Keys = ("node", "caches", index, "crowded_bytes_per_s")
            why = (
                "assumed: the bandwidth per core is the same if all cores of the socket are active"
            )
            yield Default(place, cache.bandwidth_bytes_per_s.value, why)
    if node.cores > 1 and not node.regions:
        why = "assumed: parallel regions have no overhead; no source"
        yield Default(("node", "regions", "cost_s"), 0.0, why, scalable=False)
    if node.spread is None:
        why = "assumed: all nodes are identical"
        yield Default(("node", "spread", "nodes"), 0.0, why, scalable=False)


def _of_mpi(mpi: Mpi, cluster: Cluster) -> Iterator[Default]:
    for key, given, who in (
        ("send_overhead_s", mpi.send_overhead_s, "sends"),
        ("receive_overhead_s", mpi.receive_overhead_s, "receives"),
    ):
        if given is None:
            why = f"assumed: the core that {who} a message spends no time on it besides its "
            why += "latency; no source has the rate of small messages (calibrate measures it)"
            yield Default(("mpi", key), 0.0, why, scalable=False)
    described = (within_node(cluster), between_nodes(cluster))
    if mpi.rendezvous_latencies is None and not all(one and one.protocols for one in described):
        why = "assumed: request, answer, and data"
        yield Default(("mpi", "rendezvous_latencies"), RENDEZVOUS_LATENCIES, why)
    if mpi.cached_bytes is None and (found := cached_bytes(cluster.node)):
        why = (
            "assumed: half of a core's share of the last cache, because both ends hold the message"
        )
        yield Default(("mpi", "cached_bytes"), found, why)


SELECTOR = "selector"
"""Instead of an operation: the library whose choice by size and ranks all operations follow."""

SELECTORS = ("default", "ompi", "mpich", "mvapich2", "impi", "automatic")

_BY_OPERATION = {
    "allgather": "2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring SMP_NTS "
    "smp_simple spreading_simple ompi_neighborexchange mvapich2_smp",
    "allgatherv": "GB pair ring ompi_neighborexchange ompi_bruck mpich_rdb mpich_ring",
    "allreduce": "lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag "
    "smp_rsag_lr smp_rsag_rab redbcast ompi_ring_segmented mvapich2_rs mvapich2_two_level rab",
    "alltoall": "2dmesh 3dmesh basic_linear bruck pair pair_rma pair_light_barrier "
    "pair_mpi_barrier pair_one_barrier rdb ring ring_light_barrier ring_mpi_barrier "
    "ring_one_barrier mvapich2_scatter_dest",
    "alltoallv": "bruck pair pair_light_barrier pair_mpi_barrier pair_one_barrier ring "
    "ring_light_barrier ring_mpi_barrier ring_one_barrier ompi_basic_linear",
    "barrier": "ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck ompi_recursivedoubling "
    "ompi_doublering mpich_smp mvapich2_pair",
    "bcast": "arrival_pattern_aware arrival_pattern_aware_wait arrival_scatter binomial_tree "
    "flattree flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather scatter_rdb_allgather "
    "SMP_binary SMP_binomial SMP_linear ompi_split_bintree ompi_pipeline mvapich2_inter_node "
    "mvapich2_intra_node mvapich2_knomial_intra_node",
    "gather": "ompi_basic_linear ompi_binomial ompi_linear_sync mvapich2_two_level",
    "reduce": "arrival_pattern_aware binomial flat_tree NTSL scatter_gather ompi_chain "
    "ompi_pipeline ompi_basic_linear ompi_in_order_binary ompi_binary ompi_binomial "
    "mvapich2_knomial mvapich2_two_level rab",
    "reduce_scatter": "ompi_basic_recursivehalving ompi_ring ompi_butterfly mpich_pair mpich_rdb "
    "mpich_noncomm",
    "scatter": "ompi_basic_linear ompi_linear_nb ompi_binomial mvapich2_two_level_binomial "
    "mvapich2_two_level_direct",
}

ALGORITHMS: Mapping[str, Sequence[str]] = {
    SELECTOR: SELECTORS,
    **{name: (*SELECTORS, *own.split()) for name, own in _BY_OPERATION.items()},
}
"""Allowed values per operation: a library's own choice, or one algorithm."""
