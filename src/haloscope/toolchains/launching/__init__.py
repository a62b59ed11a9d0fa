# SPDX-License-Identifier: BSD-3-Clause
"""A job as passed to a launcher: the layout of its ranks and threads, processors, and hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from haloscope.errors import Problem, nearest
from haloscope.host import machine
from haloscope.layout import BINDS, PLACES, THREAD_BINDS, Layout
from haloscope.quantities import count


@dataclass(frozen=True)
class Job:
    """The ranks and threads to start, and their processors.

    oversubscribe: allow more ranks x threads than processors, which then are all shared. transport:
    one of `launch.transports(toolchain)`; None: the library's choice. cpus: processors to use on
    each host, in order; by default those of the layout's placement on this machine, or one per core
    (per hardware thread if places is `threads`). hosts: the nodes of the layout; by default this
    machine. bootstrap: the option with which Hydra starts its proxies in the surrounding job; None
    if it detects the job. shared: whether other hosts use the same processors, as in a lab.
    """

    layout: Layout
    oversubscribe: bool = False
    transport: str | None = None
    cpus: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    bootstrap: str | None = None
    shared: bool = False

    @property
    def hosts_of_ranks(self) -> list[str]:
        """The host of each rank."""
        return [self.hosts[node] for node in self.layout.nodes_of_ranks]

    @property
    def in_order(self) -> bool:
        """Whether only the list of hosts of all ranks determines which of them share a host."""
        return self.layout.mapping not in ("block", "round_robin")

    @property
    def ranks_of_a_host(self) -> int:
        """Maximum number of ranks per host."""
        return self.layout.ranks_of_nodes[0]

    @cached_property  # this machine is queried once per job
    def processors(self) -> tuple[int, ...]:
        """The processors of the whole job on each host, in order."""
        placement = self.layout.placement
        pair = machine.placements()[placement] if placement else None
        return self.cpus or pair or tuple(machine.processors(self.layout.places))

    @property
    def oversubscribed(self) -> bool:
        """Whether processors are shared."""
        return self.shared or self.ranks_of_a_host * self.layout.threads > len(self.processors)

    def cpus_of_ranks(self) -> list[tuple[int, ...]]:
        """Return the processors of each rank of a host: `threads` of its own, or all if shared."""
        if self.shared:
            return [self.processors] * self.ranks_of_a_host
        return self.layout.seats(self.processors, self.ranks_of_a_host)

    def problems(self) -> list[Problem]:
        """Return the problems that are independent of the launcher."""
        problems: list[Problem] = []
        for key in ("ranks", "threads"):
            if (number := getattr(self.layout, key)) < 1:
                problems.append(Problem(key, f"{number} is out of range", "give at least 1"))
        for key, known in (("places", PLACES), ("bind", BINDS), ("thread_bind", THREAD_BINDS)):
            if (word := getattr(self.layout, key)) not in known:
                problems.append(Problem(key, f"unknown value '{word}'", nearest(word, known)))
        if 0 < self.layout.ranks < len(self.hosts):
            what = f"{count(self.layout.ranks, 'rank')} cannot occupy {len(self.hosts)} hosts"
            problems.append(Problem("ranks", what, f"give at least {len(self.hosts)}"))
        return problems

    def openmp(self) -> dict[str, str]:
        """Return OpenMP's variables for its threads."""
        layout = self.layout
        env = {"OMP_NUM_THREADS": str(layout.threads), "OMP_DYNAMIC": "false"}
        if self.oversubscribed or layout.bind == "none":  # bound threads would share one processor
            return env | {"OMP_PROC_BIND": "false"}
        return env | {"OMP_PLACES": layout.places, "OMP_PROC_BIND": layout.thread_bind}
