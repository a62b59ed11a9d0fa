# SPDX-License-Identifier: BSD-3-Clause
"""The description of a lab: number of nodes and cores, network, and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haloscope.errors import Problem, outside
from haloscope.sites.file import OF_THE_LAB

FOLDER = OF_THE_LAB.parent
"""FOLDER contains all files of a lab. Like the namespaces, it does not outlive a restart of the
machine. There is only one, because addresses and this machine's link exist once.
"""
LINK = "haloscope-lab"
"""LINK is this machine's network interface to the lab."""
HEAD = "lab0"
"""HEAD is the host of the Slurm controller; nothing is measured there."""
FABRIC = "fabric"
"""FABRIC is the network namespace of the switches, which is not a host."""
NETWORK = "198.18.0"
"""NETWORK begins all addresses. RFC 2544 reserves them for tests of networks."""
NODES_LIMIT = 64
CORES_LIMIT = 256
"""Larger numbers are mistakes: a node uses 20 MB of memory, and four start in some seconds."""
_RATES = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_RATES_KEPT = (1e3, 1e11)
"""_RATES_KEPT are the minimum and maximum rates; tc supports slightly more."""
_DELAYS = {"us": 1e-6, "ms": 1e-3}


@dataclass(frozen=True)
class Lab:
    """A cluster of equal nodes, distributed evenly over switches.

    cores: per node, as Slurm sees them. rate_bits_per_s: per link and direction; None: as fast as
    this machine. latency_s: added by each link; None: none. accounting: whether its Slurm keeps
    ended jobs (sacct).
    """

    nodes: int
    cores: int
    switches: int = 1
    rate_bits_per_s: float | None = None
    latency_s: float | None = None
    accounting: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the compute hosts."""
        return tuple(f"lab{number}" for number in range(1, self.nodes + 1))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The head and the compute hosts."""
        return (HEAD, *self.names)

    @property
    def switch_names(self) -> tuple[str, ...]:
        """Switches with nodes; if there are several, `trunk` joins them."""
        return tuple(f"switch{number}" for number in range(1, self.switches + 1))

    def of_switch(self) -> dict[str, list[str]]:
        """Nodes of each switch, in order."""
        shared: dict[str, list[str]] = {name: [] for name in self.switch_names}
        for index, node in enumerate(self.names):
            shared[self.switch_names[index * self.switches // self.nodes]].append(node)
        return shared

    def has_cores_of_its_own(self, there: int) -> bool:
        """Return whether no two nodes share a core of a machine with `there` cores."""
        return self.nodes * self.cores <= there

    def cpus_of(self, node: str, cpus: Sequence[int]) -> Sequence[int]:
        """Return a node's processors of `cpus`, one per core of this machine; all, if they are
        shared.
        """
        if not self.has_cores_of_its_own(len(cpus)):
            return cpus
        first = self.names.index(node) * self.cores
        return cpus[first : first + self.cores]

    def problems(self) -> Iterator[Problem]:
        """Yield values that are out of range."""
        yield from outside("--nodes", self.nodes, NODES_LIMIT)
        yield from outside("--cores", self.cores, CORES_LIMIT)
        yield from outside("--switches", self.switches, max(1, self.nodes))
        rate = self.rate_bits_per_s
        if rate is not None and not _RATES_KEPT[0] <= rate <= _RATES_KEPT[1]:
            remedy = "give a rate from 1kbit to 100gbit"
            yield Problem(f"--rate {rate:g}bit", "out of range", remedy)


def address(host: str) -> str:
    """Return a host's address: lab3 has the third; the head and this machine have the last ones."""
    number = int(host.removeprefix("lab"))
    return f"{NETWORK}.{number or 254}"


GATE = f"{NETWORK}.253"


def rate_of(text: str) -> float:
    """Return bits per second. Raise ValueError for an invalid rate."""
    return _with_unit(text, _RATES)


def latency_of(text: str) -> float:
    """Return seconds. Raise ValueError for an invalid time."""
    return _with_unit(text, _DELAYS)


def _with_unit(text: str, units: dict[str, float]) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]+)", text)
    if not match or match[2] not in units or float(match[1]) == 0:
        raise ValueError(
            f"give a number with a unit, such as {', '.join(f'10{unit}' for unit in units)}"
        )
    return float(match[1]) * units[match[2]]
