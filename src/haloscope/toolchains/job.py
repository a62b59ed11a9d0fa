# SPDX-License-Identifier: BSD-3-Clause
"""A job: what a launcher is given, as numbers of ranks and threads, processors and hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from haloscope.errors import Problem, nearest
from haloscope.host import machine

PLACES = ("cores", "threads", "sockets")
BINDS = ("close", "spread", "none")
THREAD_BINDS = ("close", "spread")


def shares(ranks: int, hosts: int) -> list[int]:
    """How many ranks each host has: as many, or the first ones one more than the others."""
    each, left = divmod(ranks, hosts)
    return [each + (host < left) for host in range(hosts)]


@dataclass(frozen=True)
class Job:
    """How many ranks and threads to start, and on which processors.

    places:        what one thread is bound to, in OpenMP's words.
    bind:          close puts ranks side by side on the first processors, spread distributes them
                   over all, none leaves all of them to each rank.
    thread_bind:   the same of a rank's threads: close, or spread over its share of processors,
                   which is that of one of so many ranks where these are spread, or a lone rank.
    oversubscribe: more ranks x threads than processors were asked for: they then share them all.
    transport:     one of `launch.transports(toolchain)`; None leaves the choice to the library.
    placement:     how two ranks lie to each other, one of machine.PLACEMENTS that are here.
    cpus:          the processors of each host to use, in order; none given means one of each core
                   of this machine (each hardware thread where places is `threads`).
    hosts:         those that share the ranks as evenly as they go; none given means this one.
    mapping:       which ranks share a host: block fills hosts one after the other, round_robin
                   deals ranks out in turn, anything else is what `order` says.
    order:         the host of each rank, counted from 0; none given means as `block` has it.
    scheduler:     the batch system whose job it runs in; None outside of one.
    shared:        the processors are those of other hosts, too, as in a cluster in a box.
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
    scheduler: str | None = None
    shared: bool = False

    @property
    def hosts_of_ranks(self) -> list[str]:
        """The host of each rank."""
        filled = (host for host, ranks in enumerate(self.ranks_of_hosts) for _ in range(ranks))
        return [self.hosts[host] for host in self.order or filled]

    @property
    def in_order(self) -> bool:
        """Whether `order` alone says which ranks share a host."""
        return self.mapping not in ("block", "round_robin")

    @property
    def ranks_of_hosts(self) -> list[int]:
        """How many ranks each host runs: the first ones one more, where they do not go evenly."""
        return shares(self.ranks, max(1, len(self.hosts)))

    @property
    def even(self) -> bool:
        """Whether each host runs as many ranks."""
        return not self.ranks % max(1, len(self.hosts))

    @property
    def ranks_of_a_host(self) -> int:
        """The most ranks that a host runs."""
        return self.ranks_of_hosts[0]

    @cached_property  # this machine is asked once a job, by files of the system
    def processors(self) -> tuple[int, ...]:
        """The processors of the whole job on each host, in order."""
        pair = machine.placements()[self.placement] if self.placement else None
        return self.cpus or pair or tuple(machine.processors(self.places))

    @property
    def oversubscribed(self) -> bool:
        """Whether processors have to be shared."""
        return self.shared or self.ranks_of_a_host * self.threads > len(self.processors)

    def cpus_of_ranks(self) -> list[tuple[int, ...]]:
        """The processors of each rank of a host: `threads` of its own, or all where shared."""
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
        """What is wrong with it, whatever launches it; empty where nothing is."""
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
        """OpenMP's variables for its threads."""
        env = {"OMP_NUM_THREADS": str(self.threads), "OMP_DYNAMIC": "false"}
        if self.oversubscribed or self.bind == "none":  # bound ones would share one processor
            return env | {"OMP_PROC_BIND": "false"}
        return env | {"OMP_PLACES": self.places, "OMP_PROC_BIND": self.thread_bind}
