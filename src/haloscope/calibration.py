"""A machine's numbers from the records of the study `calibrate`, each with its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from haloscope.cluster import (
    Cache,
    Cluster,
    Memory,
    Messages,
    Node,
    Overheads,
    Protocol,
    Quantity,
)
from haloscope.errors import Problem, UserError
from haloscope.evidence import MeasuredCase
from haloscope.fits import exchanges, message_models
from haloscope.models.loggp import LogGP
from haloscope.models.piecewise_hockney import PiecewiseHockney
from haloscope.points import Swept, level_of, sweep
from haloscope.stats import Estimate


def calibrate(
    name: str, cases: Sequence[MeasuredCase], machine: Mapping[str, Any], when: str
) -> Cluster:
    """The cluster file of one node. UserError where its memory was not measured."""
    return Cluster(
        name=name,
        nodes=1,
        source=f"haloscope calibrate, {when}",
        node=_node(cases, machine),
        messages=tuple(messages for case in cases if (messages := _messages(case)) is not None),
        overheads=_overheads(cases),
    )


def _node(cases: Sequence[MeasuredCase], machine: Mapping[str, Any]) -> Node:
    streams = sorted(
        (case for case in cases if case.kernel == "stream" and sweep(case)), key=lambda c: c.cores
    )
    if not streams or streams[0].cores != 1:
        mend = "run haloscope calibrate to its end: stream on one core was not measured well"
        raise UserError(Problem("calibrate", "nothing tells the memory's bandwidth", mend))
    alone = streams[0]
    return Node(
        cpu=str(machine["cpu"]),
        sockets=machine["sockets"],
        cores=machine["cores"],
        threads_per_core=machine["threads_per_core"],
        memory_bytes=machine["memory_bytes"],
        memory=tuple(
            Memory(cores=case.cores, bandwidth_bytes_per_s=_bandwidth(_largest(case), case.cores))
            for case in streams
        ),
        caches=tuple(_cache(cache, alone, machine) for cache in machine["caches"]),
    )


def _triads(case: MeasuredCase) -> list[Swept]:
    return [point for point in sweep(case) if point.operation == "triad"]


def _largest(case: MeasuredCase) -> Swept:
    return _triads(case)[-1]


def _cache(cache: Mapping[str, int], alone: MeasuredCase, machine: Mapping[str, Any]) -> Cache:
    """A level with the best triad of the working sets that it holds and no smaller one does."""
    name = f"L{cache['level']}"
    held = [point for point in _triads(alone) if level_of(point.size_bytes, 1, machine) == name]
    best = max(held, key=lambda point: point.rate.value, default=None)
    return Cache(**cache, bandwidth_bytes_per_s=_bandwidth(best, 1) if best else None)


def _bandwidth(point: Swept, cores: int) -> Quantity:
    source = f"stream triad, {point.size_bytes} bytes a core, {cores} cores"
    return _known(point.rate, source)


def _messages(case: MeasuredCase) -> Messages | None:
    """One placement's fits; None for a case that is no ping-pong, or has too few sizes."""
    models = dict(message_models(case)) if exchanges(case) else {}
    relative, pieces = models.get("Hockney, relative"), models.get("piecewise Hockney")
    if relative is None or not isinstance(pieces, PiecewiseHockney):
        return None
    source = f"pingpong, Hockney model by relative least squares, {relative.valid[1]:.0f} bytes"
    alpha, bandwidth = (parameter.estimate for parameter in relative.parameters)
    return Messages(
        placement=str(case.settings.get("placement") or "any"),
        mpi=str(case.launches[0].toolchain.get("mpi") or case.settings["toolchain"]),
        latency_s=_known(alpha, source),
        bandwidth_bytes_per_s=_known(bandwidth, source),
        protocols=tuple(
            Protocol(
                first_bytes=int(piece.first_bytes),
                last_bytes=int(piece.last_bytes),
                latency_s=_if_physical(piece.alpha_s, "pingpong, piecewise Hockney model"),
                bandwidth_bytes_per_s=_if_physical(
                    piece.bandwidth_bytes_per_s, "pingpong, piecewise Hockney model"
                ),
            )
            for piece in pieces.pieces
        ),
    )


def _overheads(cases: Sequence[MeasuredCase]) -> Overheads | None:
    models = [model for case in cases for _, model in message_models(case)]
    found = next((model for model in models if isinstance(model, LogGP)), None)
    if found is None:
        return None
    source = f"loggp, messages of {found.valid[0]:.0f} to {found.valid[1]:.0f} bytes"
    return Overheads(**{p.name: _if_physical(p.estimate, source) for p in found.parameters})


def _if_physical(estimate: Estimate, source: str) -> Quantity | None:
    """None for what no machine has: a time or a bandwidth that is not above 0, or endless."""
    positive = isfinite(estimate.value) and estimate.value > 0
    return _known(estimate, source) if positive else None


def _known(estimate: Estimate, source: str) -> Quantity:
    ends = (estimate.low, estimate.high)
    bounded = [end for end in ends if end is not None and isfinite(end)]
    low, high = bounded if len(bounded) == 2 else (None, None)
    how = f"{source}; {estimate.method} over {estimate.n} launches"
    return Quantity(value=estimate.value, low=low, high=high, source=how)
