# SPDX-License-Identifier: BSD-3-Clause
"""On which sockets of their nodes the ranks of a simulated job sit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from haloscope.clusters.schema import Node
from haloscope.study.case import Layout
from haloscope.toolchains.job import Job


def sockets_of_ranks(node: Node, nodes_of_ranks: Sequence[int], layout: Layout) -> list[int] | None:
    """The socket of each rank, given its node; threads, places, and bindings are the layout's.

    Ranks sit as real ones bind themselves. None where they all have one memory: where the file
    tells of no socket's, where no node has several ranks, or where threads of a rank lie on
    several sockets.
    """
    ranks = Counter(nodes_of_ranks)
    if node.socket is None or max(ranks.values()) == 1:
        return None
    numbers = set(ranks.values())
    seats = {number: list(sockets_of_a_node(node, number, layout)) for number in numbers}
    if any(len(sockets) > 1 for each in seats.values() for sockets in each):
        return None
    left = {place: iter(seats[number]) for place, number in ranks.items()}
    return [min(next(left[place])) for place in nodes_of_ranks]


def sockets_of_a_node(node: Node, ranks: int, layout: Layout) -> Iterator[set[int]]:
    """Those of each of so many ranks on one node, in their order."""
    threads = layout.places == "threads"
    processors = node.cores * (node.threads_per_core if threads else 1)
    job = Job(
        *(ranks, layout.threads, layout.places, layout.bind, layout.thread_bind),
        cpus=tuple(range(processors)),
    )
    of_a_socket = processors // node.sockets
    for cpus in job.cpus_of_ranks():
        yield {cpu // of_a_socket for cpu in cpus}
