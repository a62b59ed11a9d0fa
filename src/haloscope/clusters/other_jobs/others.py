# SPDX-License-Identifier: BSD-3-Clause
"""Simulated queue of other jobs: the nodes they use, and their traffic.

A queue of jobs with random sizes runs until it has filled the cluster several times. Each job waits
until running ones, which end in random order, leave room within the occupancy. It then gets free
nodes as from Slurm's topology plugin: below the lowest switch that has enough, by best fit. Jobs
queued after the simulated one start if they have room. The share of a link left by other jobs
follows from the number of their nodes below it, and from their traffic to nodes and file servers
anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import copy, deepcopy
from functools import lru_cache
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from haloscope.clusters.other_jobs.occupied import LARGEST, Occupied, OtherJob, of_parts
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.defaults import TRAFFIC

TURNOVERS = 20
"""Number of times that jobs before the simulated one have used all nodes."""
BEHIND = 100
"""BEHIND is the number of jobs after the simulated one that are examined for backfilling."""

_Nodes = NDArray[np.intp]


def beside_others(cluster: Cluster, asked: int | Sequence[int], launch: int) -> Occupied:
    """Return the state of an occupied cluster at one launch, the same for every job."""
    others = cluster.others
    assert others is not None
    traffic = others.traffic.value if others.traffic else TRAFFIC
    held = () if isinstance(asked, int) else tuple(asked)
    setting = (cluster.nodes, others.occupancy.value, traffic, of_parts(cluster.network))
    queue = _filled(*setting, held, launch).copied()
    nodes = queue.next_job(asked).tolist() if isinstance(asked, int) else held
    ahead = len(queue.running)
    queue.backfill()
    return Occupied(nodes, tuple(queue.running), ahead)


class _Queue:
    """Jobs that wait for nodes, in order.

    of_parts: number of nodes below a switch of each level. held: nodes that no job of the queue
    gets.
    """

    def __init__(
        self,
        nodes: int,
        occupancy: float,
        traffic: float,
        of_parts: Sequence[int],
        held: Sequence[int],
        seed: int,
    ) -> None:
        self._draw = random.Random(seed)
        self._traffic, self._of_parts = traffic, of_parts
        self._room = int(min(1.0, occupancy) * nodes) - len(held)
        self._largest = min(max(0, self._room), max(1, round(LARGEST * nodes)))
        self._free = np.ones(nodes, dtype=bool)
        self._free[list(held)] = False
        self.running: list[OtherJob] = []

    def copied(self) -> _Queue:
        """Return a copy that can be continued independently."""
        other = copy(self)
        other._draw, other._free = deepcopy(self._draw), self._free.copy()
        other.running = [*self.running]
        return other

    def fill(self) -> None:
        """Start other jobs as long as there is room."""
        nodes, given = len(self._free), 0
        while self._largest > 0 and given < TURNOVERS * nodes:
            size, sends = self._drawn()
            self.running.append(OtherJob(self.next_job(size), sends))
            given += size

    def backfill(self) -> None:
        """Start those of the next jobs that fit without waiting for an end."""
        for _ in range(BEHIND if self._largest > 0 else 0):
            size, sends = self._drawn()
            if size <= self._room:
                self.running.append(OtherJob(self.next_job(size), sends))

    def _drawn(self) -> tuple[int, float]:
        size = int(exp(self._draw.uniform(0.0, log(self._largest + 1))))
        return size, min(1.0, self._draw.expovariate(1 / self._traffic))

    def next_job(self, size: int) -> _Nodes:
        """Return the nodes of the next job, after enough others have ended."""
        while self.running and size > self._room:
            ended = self.running.pop(self._draw.randrange(len(self.running)))
            self._free[ended.nodes] = True
            self._room += len(ended.nodes)
        every, parts = range(len(self._free)), [*reversed(self._of_parts)]
        nodes = np.sort(np.concatenate(self._best_fit(size, every, parts)))
        self._free[nodes] = False
        self._room -= size
        return nodes

    def _best_fit(self, size: int, inside: range, parts: Sequence[int]) -> list[_Nodes]:
        """Return free nodes below the lowest switch that has enough; of several, the one with the
        fewest.

        If none has enough, return all nodes of the one with the most, and the rest by the same
        rule. parts: number of nodes below a switch of each level, from the top.
        """
        if not parts:
            return [inside.start + np.flatnonzero(self._free[inside.start : inside.stop])[:size]]
        part, *lower = parts
        below = [inside[start : start + part] for start in range(0, len(inside), part)]
        has = np.array([self._free[one.start : one.stop].sum() for one in below])
        found = []
        while not (enough := np.flatnonzero(has >= size)).size:
            most = int(has.argmax())
            found += self._best_fit(int(has[most]), below[most], ())
            size, has[most] = size - int(has[most]), 0
        fewest = int(enough[has[enough].argmin()])
        return [*found, *self._best_fit(size, below[fewest], lower)]


@lru_cache(maxsize=64)
def _filled(
    nodes: int,
    occupancy: float,
    traffic: float,
    of_parts: tuple[int, ...],
    held: tuple[int, ...],
    seed: int,
) -> _Queue:
    """Return a queue that has filled the cluster; cached, because it is the same for all jobs."""
    queue = _Queue(nodes, occupancy, traffic, of_parts, held, seed)
    queue.fill()
    return queue
