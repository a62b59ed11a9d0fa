# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi's method in three dimensions: seconds per sweep on a grid of ranks.

textbook: Celoria's ORFEO report, section 3, equations (14) to (16), after Hager and Wellein,
Introduction to High Performance Computing, 2010, section 9.3: P = L^3 N / (T_s + T_c) with T_c = c
/ B + k T_l. A rank's own time does not depend on the number of ranks, and all messages take one
latency each and the time of all bytes at one bandwidth.

detailed: in addition, the memory shared by the ranks of a node, shared cores with several ranks
(SMT), the messages of each axis by size, placement, and protocol, their copies, and overlap with
sweeping.

Nothing is fitted to the predicted sweeps. Inputs are the sweep of one rank, messages between two
ranks, and the memory bandwidth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class Exchanged:
    """What an inner rank exchanges per sweep (the report's k and c).

    faces: twice the number of divided axes. bytes: sent and received through them.
    """

    faces: int
    bytes: float


def exchanged(box: Extents, grid: Extents, value_bytes: int = 8) -> Exchanged:
    """Return equation (16) for a box of any shape: L^2 k x 2 x 8 bytes for a cube of
    L^3 doubles.
    """
    faces = [_face(box, axis) for axis in range(3) if grid[axis] > 1]
    return Exchanged(2 * len(faces), 2.0 * 2 * value_bytes * sum(faces))


def _face(box: Extents, axis: int) -> int:
    return prod(box) // box[axis]


@dataclass(frozen=True)
class JacobiSweep:
    """A sweep to predict.

    box: points of the largest rank. grid: ranks along x, y, and z, z fastest in rank order. depth:
    ghost layers, exchanged once per `depth` sweeps. nodes: nodes that ranks fill one after the
    other. overlap: whether points that need no ghosts are swept while messages travel.
    """

    box: Extents
    grid: Extents
    nodes: int = 1
    value_bytes: int = 8
    depth: int = 1
    overlap: bool = False

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return prod(self.grid)

    @property
    def ranks_on_node(self) -> int:
        """Ranks on the fullest node."""
        return -(-self.ranks // self.nodes)

    @property
    def points(self) -> int:
        """Points per rank."""
        return prod(self.box)

    def between_nodes(self, axis: int) -> bool:
        """Return whether any rank has its neighbour along this axis on another node."""
        step = prod(self.grid[axis + 1 :])
        along = self.grid[axis]
        return any(
            rank // self.ranks_on_node != (rank + step) // self.ranks_on_node
            for rank in range(self.ranks - step)
            if rank // step % along < along - 1
        )


@dataclass(frozen=True)
class SweepParts:
    """Seconds per sweep: updates of points, and ghosts (copies and messages)."""

    update_s: float
    ghosts_s: float


class JacobiModel(ABC):
    """A model of a sweep. name, source: what it is, and the paper and equation it is from."""

    name: str
    source: str

    def seconds(self, sweep: JacobiSweep) -> float:
        """Return the seconds of one sweep; an exchange of several layers is divided equally."""
        parts = self.parts(sweep)
        return parts.update_s + parts.ghosts_s

    @abstractmethod
    def parts(self, sweep: JacobiSweep) -> SweepParts:
        """Return the seconds of points and ghosts in one sweep."""


@dataclass(frozen=True)
class Textbook(JacobiModel):
    """Equations (14) and (15).

    update_s: T_s over the points of a single rank. latency_s, bandwidth_bytes_per_s: T_l and B of
    messages within a node, and between nodes; the latter are used with several nodes.
    """

    update_s: float
    latency_s: tuple[float, float]
    bandwidth_bytes_per_s: tuple[float, float]

    name = "textbook"
    source = "ORFEO report, section 3, equations (14) to (16)"

    def parts(self, sweep: JacobiSweep) -> SweepParts:
        """Return T_s and T_c."""
        which = 1 if sweep.nodes > 1 else 0
        traffic = exchanged(sweep.box, sweep.grid, sweep.value_bytes)
        own = self.update_s * sweep.points
        sent = traffic.bytes / self.bandwidth_bytes_per_s[which]
        return SweepParts(own, sent + traffic.faces * self.latency_s[which] / sweep.depth)


@dataclass(frozen=True)
class Detailed(JacobiModel):
    """The detailed model.

    update_s: as in Textbook. bytes_per_update: memory traffic of the algorithm. memory: combined
    bytes per second of a number of ranks on a node. message: seconds of a message by its bytes,
    within a node and between nodes. cores: per node. smt_gain: combined throughput of the ranks
    that share a core, relative to one; 1 if not measured.

    All ranks wait for the slowest, so a single shared core slows every sweep by its number of ranks
    over the gain. A rank's sweep takes as long as alone, or as long as its bytes take at its share
    of the memory bandwidth. The bandwidth of a triad is scaled up so that a single rank gets at
    least what its sweep was measured to use. Within a node a core copies what it sends and what it
    receives one after the other; between nodes the network does both at once.
    """

    update_s: float
    bytes_per_update: float
    memory: Callable[[int], float]
    message: tuple[Callable[[float], float], Callable[[float], float]]
    cores: int
    smt_gain: float = 1.0

    name = "detailed"
    source = (
        "ORFEO report, section 3, with memory and cores shared by ranks, messages by axis, overlap"
    )

    def parts(self, sweep: JacobiSweep) -> SweepParts:
        """Return the parts of one sweep: points, and the copies and messages not hidden behind
        them.
        """
        share = self._memory_of_sweeps(sweep.ranks_on_node) / sweep.ranks_on_node
        on_core = -(-sweep.ranks_on_node // self.cores)
        crowding = on_core / self.smt_gain if on_core > 1 else 1.0
        update_s = max(self.update_s * crowding, self.bytes_per_update / share)
        sizes = {
            axis: float(_face(sweep.box, axis) * sweep.depth * sweep.value_bytes)
            for axis in range(3)
            if sweep.grid[axis] > 1
        }
        copies_s = sum(2 * 2 * 2 * size for size in sizes.values()) / share
        messages_s = sum(self._axis_s(sweep, axis, size) for axis, size in sizes.items())
        inner = prod(
            max(0, side - (2 * sweep.depth if axis in sizes else 0))
            for axis, side in enumerate(sweep.box)
        )
        hidden_s = update_s * inner if sweep.overlap else 0.0
        shown_s = max(0.0, messages_s - hidden_s)
        return SweepParts(update_s * sweep.points, (copies_s + shown_s) / sweep.depth)

    def _memory_of_sweeps(self, ranks: int) -> float:
        """Return bytes per second of sweeping ranks; for one rank at least what it was measured to
        use.

        If the sweep uses less, the core was the limit, not the memory.
        """
        drawn = self.bytes_per_update / self.update_s
        return self.memory(ranks) * max(1.0, drawn / self.memory(1))

    def _axis_s(self, sweep: JacobiSweep, axis: int, size_bytes: float) -> float:
        """Return the seconds of the two messages sent along an axis, and of the two received."""
        if sweep.between_nodes(axis):
            return 2 * self.message[1](size_bytes)
        return 4 * self.message[0](size_bytes)
