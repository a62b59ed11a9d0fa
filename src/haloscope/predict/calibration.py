# SPDX-License-Identifier: BSD-3-Clause
"""A machine's parameters from the records of the study `calibrate`, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges, message_models, rendezvous_bytes
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.clusters.network import Algorithm, Messages, Mpi, Overheads
from haloscope.clusters.node import Node, Protocol, Socket, SocketLink, SocketMemory
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import SAME_NODE, Cluster, within_node
from haloscope.clusters.simgrid.defaults import SELECTOR
from haloscope.findings.sentences import sentence
from haloscope.host.machine import OTHER_SOCKET
from haloscope.models import loggp
from haloscope.models.loggp import LogGP
from haloscope.models.piecewise_hockney import Piece, PiecewiseHockney
from haloscope.predict.node_calibration import memory_bandwidth, node, quantity, streams
from haloscope.quantities import PARAMETERS, PER_BYTE, SECONDS, count, listed, rate, seconds, size
from haloscope.quantities import quantity as quantity_of
from haloscope.stats.estimates import Estimate
from haloscope.topics.quality import disturbed

SOURCE = "haloscope calibrate"
"""SOURCE begins the source of every calibrated file; such a file may be overwritten."""

SELECTORS = {"Open MPI": "ompi", "MPICH": "mpich", "Intel": "impi"}
"""SimGrid's selectors of collective algorithms, by the first words of an MPI library's name."""


def calibrate(
    name: str, cases: Sequence[MeasuredCase], machine: Mapping[str, Any], when: str
) -> Cluster:
    """Return the cluster file of one node. Raise UserError if its memory was not measured."""
    messages = tuple(found for case in cases if (found := _messages(case)) is not None)
    measured_node = node(cases, machine)
    if any(one.placement == OTHER_SOCKET for one in messages):
        measured_node = measured_node.model_copy(update={"socket": socket(cases, measured_node)})
    measured = Cluster(
        name=name,
        nodes=1,
        source=f"{SOURCE}, {when}",
        disturbed=tuple(map(sentence, disturbed(cases, Context(machine=machine)))),
        node=measured_node,
        messages=messages,
        overheads=_overheads(cases),
    )
    return measured.model_copy(update={"mpi": _mpi(measured, cases)})


def summary(found: Cluster) -> Iterator[str]:
    """Yield the results of a calibration, one line each: disturbances, memory, sockets,
    overheads.
    """
    yield from (f"marked as disturbed: {why}" for why in found.disturbed)
    memory = (
        f"{rate(one.bandwidth_bytes_per_s.value)} on {count(one.cores, 'core')}"
        for one in found.node.memory
    )
    yield f"memory: {', '.join(memory)} (including write-allocate traffic)"
    yield f"sockets: {_sockets(found.node)}"
    for one in found.messages:
        pieces = [size(piece.first_bytes) for piece in one.protocols]
        yield (
            f"messages, {one.placement}: {seconds(one.latency_s.value)} + bytes / "
            f"({rate(one.bandwidth_bytes_per_s.value)}); pieces from {listed(pieces)} on"
        )
    if found.mpi is not None:
        yield f"rendezvous from {size(found.mpi.rendezvous_bytes.value)} on"
    ends = [
        f"{PARAMETERS[name]} {quantity_of(end.value, PER_BYTE if 'per_byte' in name else SECONDS)}"
        for name in loggp.NAMES
        if (end := getattr(found.overheads, name, None)) is not None
    ]
    if ends:
        yield f"small messages: {', '.join(ends)}"


def _sockets(of: Node) -> str:
    """Describe the sockets' separate memories, or why there is no value."""
    if of.sockets == 1:
        return "one, so nothing between sockets can be measured"
    if of.socket is None:
        return f"{of.sockets}, none of which was measured separately: they share one memory here"
    whole = max(of.socket.memory, key=lambda one: one.cores)
    own, link = whole.bandwidth_bytes_per_s, of.socket.link.bandwidth_bytes_per_s
    to = f"{rate(own.value)} on {count(whole.cores, 'core')} of one socket"
    return f"{to}, {rate(link.value)} for messages between sockets"


def _messages(case: MeasuredCase) -> Messages | None:
    """Return the fits of one placement; None for a case that is not a ping-pong or has too
    few sizes.
    """
    models = dict(message_models(case)) if exchanges(case) else {}
    relative, pieces = models.get("Hockney, relative"), models.get("piecewise Hockney")
    if relative is None or not isinstance(pieces, PiecewiseHockney):
        return None
    source = (
        f"pingpong, Hockney model by relative least squares, up to {relative.valid[1]:.0f} bytes"
    )
    alpha, bandwidth = (parameter.estimate for parameter in relative.parameters)
    return Messages(
        placement=str(case.settings.get("placement") or SAME_NODE),
        mpi=str(case.launches[0].toolchain.get("mpi") or case.settings["toolchain"]),
        latency_s=quantity(alpha, source),
        bandwidth_bytes_per_s=quantity(bandwidth, source),
        protocols=tuple(
            protocol for piece in pieces.pieces for protocol in _protocols(piece, sweep(case))
        ),
    )


def _protocols(piece: Piece, sizes: Sequence[Swept]) -> Iterator[Protocol]:
    """Yield a piece of the model; if its line is negative at size 0, the bandwidth of each size."""
    first, last = int(piece.first_bytes), int(piece.last_bytes)
    source = "pingpong, piecewise Hockney model"
    if piece.alpha_s.value > 0:
        yield Protocol(
            first_bytes=first,
            last_bytes=last,
            latency_s=_if_physical(piece.alpha_s, source),
            bandwidth_bytes_per_s=_if_physical(piece.bandwidth_bytes_per_s, source),
        )
        return
    for point in (point for point in sizes if first <= point.size_bytes <= last):
        own = quantity(point.one_way.rate(point.size_bytes), "pingpong, only this size")
        yield Protocol(
            first_bytes=point.size_bytes, last_bytes=point.size_bytes, bandwidth_bytes_per_s=own
        )


def _overheads(cases: Sequence[MeasuredCase]) -> Overheads | None:
    models = [model for case in cases for _, model in message_models(case)]
    found = next((model for model in models if isinstance(model, LogGP)), None)
    if found is None:
        return None
    source = f"loggp, messages of {found.valid[0]:.0f} to {found.valid[1]:.0f} bytes"
    return Overheads(**{p.name: _if_physical(p.estimate, source) for p in found.parameters})


def _if_physical(estimate: Estimate, source: str) -> Quantity | None:
    """Return None for impossible values: a time or bandwidth that is infinite or not positive."""
    positive = isfinite(estimate.value) and estimate.value > 0
    return quantity(estimate, source) if positive else None


def _mpi(measured: Cluster, cases: Sequence[MeasuredCase]) -> Mpi | None:
    """Return the simulated MPI library; None if messages within the node were not measured."""
    messages = within_node(measured)
    rendezvous = next((_rendezvous(case) for case in cases if case.kernel == "loggp"), None)
    if messages is None or rendezvous is None:
        return None
    known = [name for start, name in SELECTORS.items() if messages.mpi.startswith(start)]
    chosen = f"SimGrid's choice by size and ranks for {messages.mpi}"
    send, receive = _ends_of_a_message(measured.overheads, messages)
    return Mpi(
        library=messages.mpi,
        rendezvous_bytes=rendezvous,
        send_overhead_s=send,
        receive_overhead_s=receive,
        collectives={SELECTOR: Algorithm(algorithm=known[0], source=chosen)} if known else {},
    )


def _rendezvous(case: MeasuredCase) -> Quantity | None:
    """Return the smallest message whose send waited for its receive."""
    try:
        waited = rendezvous_bytes(case)
    except ValueError:
        return None
    if waited is not None:
        source = "loggp: the smallest message whose send waited for a late receive"
        return Quantity(value=waited, source=source)
    largest = max(point.size_bytes for point in sweep(case))
    source = f"loggp: no message of up to {largest} bytes waited for its receive"
    return Quantity(value=2 * largest, source=source)


def _ends_of_a_message(
    overheads: Overheads | None, messages: Messages
) -> tuple[Quantity | None, Quantity | None]:
    """Return LogGP's overheads, or shares of a small message's time if both exceed it.

    Measured separately they are larger than in a ping-pong, where part of each overlaps with the
    message.
    """
    send = overheads.send_overhead_s if overheads else None
    receive = overheads.receive_overhead_s if overheads else None
    if send is None or receive is None:
        return None, None
    pieces = [piece.latency_s for piece in messages.protocols if piece.latency_s is not None]
    whole = min([messages.latency_s.value, *(piece.value for piece in pieces)])
    factor = min(1.0, whole / (send.value + receive.value))

    def share(of: Quantity) -> Quantity:
        note = (
            ""
            if factor == 1
            else f", multiplied by {factor:.2f}: a ping-pong takes less than both ends"
        )
        return Quantity(value=of.value * factor, source=of.source + note)

    return share(send), share(receive)


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
