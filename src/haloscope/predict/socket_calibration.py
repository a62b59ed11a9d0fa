# SPDX-License-Identifier: BSD-3-Clause
"""What sockets have of their own, from the records of the study `calibrate`: memory, and the link.

Real ranks that sit side by side fill the first socket, so what few of them get of the memory is
what one socket has. Streams of messages from half of a full node's ranks to the other half go from
socket to socket.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.clusters.node import Node, Socket, SocketLink, SocketMemory
from haloscope.clusters.quantity import Quantity
from haloscope.predict.node_calibration import memory_bandwidth, quantity, streams
from haloscope.quantities import count

PAIRS = "halves"
"""PAIRS is how ranks talk in the case that measures the link: each with one half of all further
on, which sits on another socket."""


def socket(cases: Sequence[MeasuredCase], node: Node) -> Socket | None:
    """One socket of the node that the cases were measured on; None where it was not measured.

    What messages between sockets take is in the cluster file's messages.
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
    """What streams from one socket to another get together, the best of their sizes.

    With more than two sockets as many pairs of them stream at once as there are.
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
