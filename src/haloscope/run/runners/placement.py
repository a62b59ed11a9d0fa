# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of the requested places of ranks and threads with those that ranks reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haloscope.grouped import grouped
from haloscope.layout import Layout
from haloscope.quantities import count, cpu_list


def misplaced(
    layout: Layout,
    seen: Sequence[Mapping[str, Any]],
    asked: Sequence[Sequence[int]] | None = None,
    threads_per_core: int = 1,
    *,
    threads: bool = True,
) -> str | None:
    """Return why a case did not run with its layout, or None.

    seen: host, cpus, and thread_cpus of every rank, as in a record's layout.seen. asked: processors
    to which each rank was to be bound, if the runner chose them. threads: whether ranks report the
    places of their threads, which external programs do not.
    """
    bound = layout.bind != "none"
    return (
        wrong_hosts(layout, seen)
        or (_wrong_threads(layout, seen) if threads else None)
        or (_unbound(layout, seen, threads_per_core) if bound else None)
        or (_shared(layout, seen) if bound else None)
        or (_elsewhere(seen, asked) if asked is not None else None)
    )


_ALONE = (
    "each rank ran alone, because the launcher does not start ranks of this MPI library "
    "(srun --mpi=list lists what srun can start; another library: --toolchain NAME)"
)


def ran_alone(layout: Layout, output: str) -> str | None:
    """Return why ranks refused to run as separate processes of one, from the output, or None."""
    if layout.ranks > 1 and "halobench: ranks=1:" in output:
        return f"1 rank ran, but {layout.ranks} were requested; {_ALONE}"
    return None


def wrong_hosts(layout: Layout, seen: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why ranks were not distributed to nodes as requested, or None."""
    if len(seen) != layout.ranks:
        alone = f"; {_ALONE}" if len(seen) == 1 else ""
        return f"{count(len(seen), 'rank')} ran, but {layout.ranks} were requested{alone}"
    hosts = Counter(rank["host"] for rank in seen)
    if len(hosts) != layout.nodes:
        where = f"{count(len(hosts), 'node')} ({', '.join(hosts)})"
        return f"ran on {where}, but {layout.nodes} were requested"
    asked = layout.ranks_of_nodes
    for host, ranks in hosts.items():
        if ranks not in asked:
            each = " or ".join(map(str, dict.fromkeys(asked)))
            return f"{count(ranks, 'rank')} ran on {host}, but {each} per node were requested"
    return _wrong_mapping(layout, seen)


def _wrong_mapping(layout: Layout, seen: Sequence[Mapping[str, Any]]) -> str | None:
    """Return ranks that should share a node and did not; the launcher chooses which node it is."""
    host_of: dict[int, str] = {}
    for rank, node in zip(seen, layout.nodes_of_ranks, strict=True):
        if host_of.setdefault(node, rank["host"]) != rank["host"]:
            first = layout.nodes_of_ranks.index(node)
            what = f"rank {rank['rank']} ran on {rank['host']}, not on {host_of[node]} with rank "
            return f"{what}{first} as requested (mapping {layout.mapping})"
    return None


def _wrong_threads(layout: Layout, seen: Sequence[Mapping[str, Any]]) -> str | None:
    for rank in seen:
        threads = len(rank["thread_cpus"])
        if threads != layout.threads:
            what = f"rank {rank['rank']} ran {count(threads, 'thread')}"
            return f"{what}, but {layout.threads} were requested"
    return None


def _unbound(
    layout: Layout, seen: Sequence[Mapping[str, Any]], threads_per_core: int
) -> str | None:
    """Return a rank that may use a different number of cores than it has threads, or None."""
    for rank in seen:
        if len(rank["cpus"]) > layout.threads * threads_per_core:
            return (
                f"rank {rank['rank']} was not bound: it was allowed to run its "
                f"{count(layout.threads, 'thread')} on processors {cpu_list(rank['cpus'])}"
            )
    return None


def _shared(layout: Layout, seen: Sequence[Mapping[str, Any]]) -> str | None:
    """Return two ranks on one core, or two threads of a rank, unless places are whole sockets."""
    for host, ranks in _by_host(seen).items():
        clash = _clash((f"rank {rank['rank']}", rank["cpus"]) for rank in ranks)
        if clash:
            return f"{clash} on {host}"
    for rank in seen if layout.places != "sockets" else ():
        clash = _clash((f"thread {n}", cpus) for n, cpus in enumerate(rank["thread_cpus"]))
        if clash:
            return f"rank {rank['rank']}: {clash}"
    return None


def _elsewhere(seen: Sequence[Mapping[str, Any]], asked: Sequence[Sequence[int]]) -> str | None:
    """Return a rank on other processors than requested. asked: for a full host, in rank order."""
    pairs = [
        pair
        for ranks in _by_host(seen).values()
        for pair in zip(ranks, asked[: len(ranks)], strict=True)
    ]
    for rank, cpus in pairs:
        if set(rank["cpus"]) != set(cpus):
            where = f"{cpu_list(rank['cpus'])}, not on {cpu_list(sorted(cpus))} as requested"
            return f"rank {rank['rank']} ran on processors {where}"
    return None


def _by_host(seen: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    return grouped(seen, lambda rank: str(rank["host"]))


def _clash(claims: Iterable[tuple[str, Sequence[int]]]) -> str | None:
    """Return the first processor that was given to two claimants."""
    owners: dict[int, str] = {}
    for name, cpus in claims:
        for cpu in cpus:
            if cpu in owners:
                return f"{owners[cpu]} and {name} shared processor {cpu}"
            owners[cpu] = name
    return None
