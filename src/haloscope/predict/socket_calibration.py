# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of sockets from the records of the study `calibrate`: memory, and the link.

Ranks placed side by side fill the first socket, so the bandwidth of few ranks is that of one
socket. Message streams from one half of a full node's ranks to the other half cross the link.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.clusters.node import Node, Socket, SocketLink, SocketMemory
from haloscope.clusters.quantity import Quantity
from haloscope.predict.node_calibration import memory_bandwidth, quantity, streams
from haloscope.quantities import count

PAIRS = "halves"
"""PAIRS is the communication pattern of the case that measures the link: each rank with the one
half of the ranks away, which is on another socket.
"""


def socket(cases: Sequence[MeasuredCase], node: Node) -> Socket | None:
    """Return a socket of the measured node; None if it was not measured.

    The times of messages between sockets are in the cluster file's messages.
    """
    own = node.cores // node.sockets
    memory = tuple(
        SocketMemory(cores=case.cores, bandwidth_bytes_per_s=memory_bandwidth(case))
        for case in streams(cases, "close")
        if case.cores <= own
    )
    bandwidth = _link(cases, node)
    if node.sockets == 1 or not memory or bandwidth is None:
        return None
    return Socket(memory=memory, link=SocketLink(bandwidth_bytes_per_s=bandwidth))


def _link(cases: Sequence[MeasuredCase], node: Node) -> Quantity | None:
    """Return the combined bandwidth of streams between two sockets, the best over sizes.

    With more than two sockets, several pairs of sockets stream at once.
    """
    if node.sockets % 2:
        return None
    for case in cases:
        if (case.kernel, case.settings.get("pairs"), case.cores) == ("pingpong", PAIRS, node.cores):
            sample = [
                max(point["result"]["bandwidth_bytes_per_s"] for point in record.points)
                / (node.sockets // 2)
                for record in case.launches
            ]
            found = case.estimate(sample)
            source = (
                f"pingpong, streams of {count(node.cores // 2, 'pair')} of ranks on two sockets"
            )
            return quantity(found, source) if found else None
    return None
