"""A machine as data: clusters/NAME.toml, written by haloscope calibrate or by hand.

Every number that was measured, or taken from somewhere, has its source beside it. Units are part of
the keys' names: bytes, seconds, bytes a second. What a simulation needs and a file does not say is
named by `missing_for_simulation`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError

from haloscope.contradictions import contradictions
from haloscope.errors import Problem, UserError, nearest
from haloscope.paths import share

SAME_NODE = "same-node"
OTHER_NODE = "other-node"


Count = Annotated[int, Field(gt=0, strict=True)]
"""A whole number from 1, as TOML has it: no text and no true."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quantity(_Part):
    """A number above 0 in the unit of its key, the ends of its interval, and where it is from."""

    value: PositiveFloat
    low: float | None = None
    high: float | None = None
    source: str = Field(min_length=1)


class Cache(_Part):
    """A cache level: size of one cache, cores that share it, what one core gets from it.

    crowded_bytes_per_s: the same when all cores of its socket work and their clock is lower; as
    for one alone if not given. usable_bytes: what a sweep finds room for, where that is less than
    the size: other machines on the same processor take their part.
    """

    level: Count
    size_bytes: Count
    shared_by: Count
    bandwidth_bytes_per_s: Quantity | None = None
    crowded_bytes_per_s: Quantity | None = None
    usable_bytes: Quantity | None = None


class Memory(_Part):
    """What the memory of a node gives to so many cores together.

    All that it moves counts: lines that are read only to be overwritten, too.
    """

    cores: Count
    bandwidth_bytes_per_s: Quantity


class KernelRate(_Part):
    """What a core reaches in one kernel, where that is known: as a program measured there had it.

    variant: the one of the kernel's that it is of, where it has several: others are not simulated.
    crowded_flops_per_s: the same when all cores of its socket work; as for one alone if not given.
    """

    kernel: str
    variant: str | None = None
    core_flops_per_s: Quantity
    crowded_flops_per_s: Quantity | None = None


class Node(_Part):
    """A node. cores: of all sockets, each with threads_per_core hardware threads.

    core_flops_per_s: of one core; kernels: those with a rate of their own. sharpness: how soon a
    working set is too large for a cache. smt_gain: what all hardware threads of a core do
    together, over what one does alone. (Both 1 if not given: halobench/machine/node_model.hpp.)
    """

    cpu: str
    sockets: Count
    cores: Count
    threads_per_core: Count
    memory_bytes: Count
    core_flops_per_s: Quantity | None = None
    kernels: tuple[KernelRate, ...] = ()
    sharpness: Quantity | None = None
    smt_gain: Quantity | None = None
    memory: tuple[Memory, ...] = Field(min_length=1)
    caches: tuple[Cache, ...] = ()

    @property
    def variants(self) -> dict[str, list[str]]:
        """Kernels that have rates for some of their variants alone, and these."""
        found: dict[str, list[str]] = {}
        for one in self.kernels:
            if one.variant is not None:
                found.setdefault(one.kernel, []).append(one.variant)
        return found


class Level(_Part):
    """One level of a fat tree, from the nodes up.

    children: nodes or switches below each switch of this level; parents: switches of this level
    that each of those is linked to; links: parallel links to each of them. A blocking factor of two
    is half as many parents times links as a switch has children.
    """

    children: Count
    parents: Count = 1
    links: Count = 1


class Network(_Part):
    """What joins the nodes. Each has one card, which its ranks share: a link like all others.

    fat_tree has levels, torus has dimensions (nodes along each), flat is one switch for all.
    link_latency_s: of each link on the way, with the switch behind it.
    """

    name: str = Field(min_length=1)
    topology: Literal["fat_tree", "torus", "flat"]
    link_bandwidth_bytes_per_s: Quantity
    link_latency_s: Quantity
    levels: tuple[Level, ...] = ()
    dimensions: tuple[Count, ...] = ()
    source: str = Field(min_length=1)

    @property
    def places(self) -> int | None:
        """Nodes that it has places for; None where it does not say."""
        if self.topology == "fat_tree":
            return prod(level.children for level in self.levels)
        return prod(self.dimensions) if self.topology == "torus" else None


class Algorithm(_Part):
    """How a collective operation goes, by SimGrid's name, and where that is from."""

    algorithm: str
    source: str = Field(min_length=1)


class Mpi(_Part):
    """An MPI library. Overheads are those of each message, in time of the processor.

    rendezvous_bytes: from that size on, a send waits for its receive. collectives: algorithms by
    operation, or "selector", by SimGrid's names (smpi_collectives.py).
    """

    library: str = Field(min_length=1)
    rendezvous_bytes: Quantity
    send_overhead_s: Quantity | None = None
    receive_overhead_s: Quantity | None = None
    collectives: dict[str, Algorithm] = Field(default_factory=dict)


class Protocol(_Part):
    """Messages of some sizes: latency + size / bandwidth; none where size does not matter."""

    first_bytes: int = Field(ge=0)
    last_bytes: int = Field(ge=0)
    latency_s: Quantity | None = None
    bandwidth_bytes_per_s: Quantity | None = None


class Messages(_Part):
    """Messages between two ranks that are placed in one way, by one MPI library.

    placement: as a study names it, or "same-node" for any two ranks of a node.
    latency_s, bandwidth_bytes_per_s: of the Hockney model for all sizes; protocols: of its pieces.
    """

    placement: str
    mpi: str
    latency_s: Quantity
    bandwidth_bytes_per_s: Quantity
    protocols: tuple[Protocol, ...] = ()


class Overheads(_Part):
    """LogGP's times of small messages, seconds; what was not above 0 is left out."""

    latency_s: Quantity | None = None
    send_overhead_s: Quantity | None = None
    receive_overhead_s: Quantity | None = None
    gap_s: Quantity | None = None
    gap_s_per_byte: Quantity | None = None


class Cluster(_Part):
    """A whole cluster file. nodes: as many as a simulated job may have."""

    name: str = Field(min_length=1)
    nodes: Count
    source: str = Field(min_length=1)
    node: Node
    network: Network | None = None
    mpi: Mpi | None = None
    messages: tuple[Messages, ...] = ()
    overheads: Overheads | None = None


def write(cluster: Cluster, path: Path) -> None:
    """Write a cluster file; what is not known is left out of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomli_w.dumps(cluster.model_dump(exclude_none=True)), encoding="utf-8")


def load(path: Path) -> Cluster:
    """Read a cluster file. UserError with all that is wrong in it."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(Problem(str(path), str(error.strerror), "give a cluster file")) from error
    except ValueError as error:
        raise UserError(Problem(str(path), f"not TOML: {error}", "mend the file there")) from error
    try:
        found = Cluster.model_validate(data)
    except ValidationError as error:
        raise UserError([_problem(path, detail) for detail in error.errors()]) from error
    if problems := [_impossible(path, *one) for one in _quantities(data) if not _possible(*one)]:
        raise UserError(problems)
    if problems := list(contradictions(path, found)):
        raise UserError(problems)
    return found


UNITS = {
    "flops_per_s": ("flops a second", 1e6, 1e15),
    "bytes_per_s": ("bytes a second", 1e5, 1e15),
    "s_per_byte": ("seconds a byte", 1e-15, 1e-5),
    "bytes": ("bytes", 1.0, 1e18),
    "s": ("seconds", 1e-11, 1e-2),
}
"""What the ends of keys say: the unit, and the smallest and largest number that there can be."""


def unit_of(key: str) -> tuple[str, float, float] | None:
    """The unit of a key and its ends; None for a key without one."""
    return next((unit for end, unit in UNITS.items() if key.endswith(f"_{end}")), None)


def _quantities(data: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Every measured number in a file: its key, dotted, and its value."""
    parts = enumerate(data) if isinstance(data, list) else data.items()
    for key, part in parts:
        name = f"{where}.{key}".lstrip(".")
        if isinstance(part, dict) and "value" in part:
            yield name, part["value"]
        elif isinstance(part, dict | list):
            yield from _quantities(part, name)


def _possible(key: str, value: float) -> bool:
    unit = unit_of(key)
    return unit is None or unit[1] <= value <= unit[2]


def _impossible(path: Path, key: str, value: float) -> Problem:
    unit, low, high = UNITS["s"] if (found := unit_of(key)) is None else found
    mend = f"give {unit}: a number from {low:g} to {high:g}"
    return Problem(f"{path}: {key}", f"{value:g} {unit} can't be", mend)


def ready() -> dict[str, Path]:
    """The cluster files by name: those in ./clusters, and those that came with haloscope."""
    folders = (share("clusters"), Path("clusters"))
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def find(name: str) -> Cluster:
    """The cluster of that name, or of a file. UserError, with the nearest, where there is none."""
    known = ready()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        raise UserError(
            Problem(f"cluster {name}", "there is no such file", nearest(name, [*known]))
        )
    return load(path)


def missing_for_simulation(cluster: Cluster) -> list[Problem]:
    """What a simulation needs that this file does not say, or says in a way that can't be."""
    found = {}
    if cluster.node.core_flops_per_s is None:
        found["node.core_flops_per_s"] = "flops a second of one core"
    if any(cache.bandwidth_bytes_per_s is None for cache in cluster.node.caches):
        found["node.caches.bandwidth_bytes_per_s"] = "each level's, of one core"
    if cluster.mpi is None:
        found["mpi"] = "library and rendezvous_bytes"
    if cluster.node.cores > 1 and within_node(cluster) is None:
        found["messages"] = 'an entry with placement = "same-node": latency and bandwidth'
    if cluster.nodes > 1 and cluster.network is None:
        found["network"] = "topology, link_bandwidth_bytes_per_s and link_latency_s"
    where = f"cluster {cluster.name}"
    problems = [Problem(f"{where}: {key}", "is missing", f"give {v}") for key, v in found.items()]
    places = cluster.network.places if cluster.network else None
    if places is not None and places < cluster.nodes:
        what = f"has places for {places} nodes, there are {cluster.nodes}"
        problems.append(Problem(f"{where}: network", what, "give more children, or fewer nodes"))
    return problems


def within_node(cluster: Cluster) -> Messages | None:
    """Messages between ranks of one node: the entry "same-node", else the first of a placement."""
    own = [one for one in cluster.messages if one.placement != OTHER_NODE]
    return next((one for one in own if one.placement == SAME_NODE), own[0] if own else None)


def between_nodes(cluster: Cluster) -> Messages | None:
    """Messages between ranks of two nodes, where they are described beyond the network's links."""
    return next((one for one in cluster.messages if one.placement == OTHER_NODE), None)


def _problem(path: Path, detail: Any) -> Problem:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        known = sorted({name for part in _parts() for name in part.model_fields})
        return Problem(f"{path}: {key}", "unknown key", nearest(key.split(".")[-1], known))
    if detail["type"] == "missing":
        return Problem(f"{path}: {key}", "is missing", "give it; its unit is in its name")
    named = next((part for part in reversed(key.split(".")) if unit_of(part)), "")
    unit = f", in {found[0]}" if (found := unit_of(named)) else ""
    return Problem(f"{path}: {key}", f"{detail['input']!r} won't do", f"{detail['msg']}{unit}")


def _parts() -> list[type[BaseModel]]:
    return [
        *(Cluster, Node, KernelRate, Memory, Cache, Network, Level, Mpi, Messages, Protocol),
        *(Algorithm, Overheads, Quantity),
    ]
