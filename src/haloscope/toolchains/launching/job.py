# SPDX-License-Identifier: BSD-3-Clause
"""A job as passed to a launcher: numbers of ranks and threads, processors, and hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from haloscope.errors import Problem, nearest
from haloscope.host import machine
from haloscope.layout import BINDS, PLACES, THREAD_BINDS, shares


@dataclass(frozen=True)
class Job:
    """The ranks and threads to start, and their processors.

    places: what one thread is bound to, in OpenMP's terms. bind: close puts ranks side by side on
    the first processors, spread distributes them over all, none gives all processors to each rank.
    thread_bind: the same for a rank's threads: close, or spread over its share of processors, which
    is one of `ranks` equal shares if ranks are spread, or for a single rank. oversubscribe: allow
    more ranks x threads than processors, which then are all shared. transport: one of
    `launch.transports(toolchain)`; None: the library's choice. placement: relative position of two
    ranks, one of machine.PLACEMENTS available here. cpus: processors to use on each host, in order;
    by default one per core of this machine (per hardware thread if places is `threads`). hosts:
    hosts that share the ranks evenly; by default this one. mapping: which ranks share a host: block
    fills hosts one after the other, round_robin distributes ranks in turn, other words refer to
    `order`. order: host of each rank, from 0; by default as in block mapping. bootstrap: what Hydra
    has to be told to start its proxies in the surrounding job; None if it detects that. shared:
    whether other hosts use the same processors, as in a lab.
    """

    ranks: int
    threads: int = 1
    places: str = "cores"
    bind: str = "close"
    thread_bind: str = "close"
    oversubscribe: bool = False
    transport: str | None = None
    placement: str | None = None
    cpus: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    mapping: str = "block"
    order: tuple[int, ...] = ()
    bootstrap: str | None = None
    shared: bool = False

    @property
    def hosts_of_ranks(self) -> list[str]:
        """The host of each rank."""
        filled = (host for host, ranks in enumerate(self.ranks_of_hosts) for _ in range(ranks))
        return [self.hosts[host] for host in self.order or filled]

    @property
    def in_order(self) -> bool:
        """Whether only `order` determines which ranks share a host."""
        return self.mapping not in ("block", "round_robin")

    @property
    def ranks_of_hosts(self) -> list[int]:
        """Ranks per host; the first hosts have one more if they cannot be divided evenly."""
        return shares(self.ranks, max(1, len(self.hosts)))

    @property
    def even(self) -> bool:
        """Whether every host runs the same number of ranks."""
        return not self.ranks % max(1, len(self.hosts))

    @property
    def ranks_of_a_host(self) -> int:
        """Maximum number of ranks per host."""
        return self.ranks_of_hosts[0]

    @cached_property  # this machine is queried once per job
    def processors(self) -> tuple[int, ...]:
        """The processors of the whole job on each host, in order."""
        pair = machine.placements()[self.placement] if self.placement else None
        return self.cpus or pair or tuple(machine.processors(self.places))

    @property
    def oversubscribed(self) -> bool:
        """Whether processors are shared."""
        return self.shared or self.ranks_of_a_host * self.threads > len(self.processors)

    def cpus_of_ranks(self) -> list[tuple[int, ...]]:
        """Return the processors of each rank of a host: `threads` of its own, or all if shared."""
        cpus, ranks = self.processors, self.ranks_of_a_host
        if self.oversubscribed or self.bind == "none":
            return [cpus] * ranks
        free = len(cpus) if self.bind == "spread" or ranks == 1 else ranks * self.threads
        own = range(self.threads)
        if self.thread_bind == "spread":
            used = ranks * self.threads
            return [
                tuple(cpus[(rank * self.threads + thread) * free // used] for thread in own)
                for rank in range(ranks)
            ]
        return [
            tuple(cpus[rank * free // ranks + thread] for thread in own) for rank in range(ranks)
        ]

    def problems(self) -> list[Problem]:
        """Return the problems that are independent of the launcher."""
        problems: list[Problem] = []
        for key in ("ranks", "threads"):
            if (number := getattr(self, key)) < 1:
                problems.append(Problem(key, f"{number} is too small", "give at least 1"))
        known_words = (("places", PLACES), ("bind", BINDS), ("thread_bind", THREAD_BINDS))
        for key, known in known_words:
            if (word := getattr(self, key)) not in known:
                problems.append(Problem(key, f"unknown value '{word}'", nearest(word, known)))
        if 0 < self.ranks < len(self.hosts):
            what = f"{self.ranks} ranks cannot occupy {len(self.hosts)} hosts"
            problems.append(Problem("ranks", what, f"give at least {len(self.hosts)}"))
        return problems

    def openmp(self) -> dict[str, str]:
        """Return OpenMP's variables for its threads."""
        env = {"OMP_NUM_THREADS": str(self.threads), "OMP_DYNAMIC": "false"}
        if self.oversubscribed or self.bind == "none":  # bound threads would share one processor
            return env | {"OMP_PROC_BIND": "false"}
        return env | {"OMP_PLACES": self.places, "OMP_PROC_BIND": self.thread_bind}
