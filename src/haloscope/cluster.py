"""A machine as data: clusters/NAME.toml, written by haloscope calibrate or by hand.

Every number that was measured, or taken from somewhere, has its source beside it. Units are part of
the keys' names: bytes, seconds, bytes a second.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from haloscope.errors import Problem, UserError, nearest


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quantity(_Part):
    """A number above 0 in the unit of its key, the ends of its interval, and where it is from."""

    value: PositiveFloat
    low: float | None = None
    high: float | None = None
    source: str = Field(min_length=1)


class Cache(_Part):
    """A cache level: size of one cache, cores that share it, the triad of one core in it."""

    level: PositiveInt
    size_bytes: PositiveInt
    shared_by: PositiveInt
    bandwidth_bytes_per_s: Quantity | None = None


class Node(_Part):
    """A node. cores: of all sockets. Memory bandwidths are those of the triad."""

    cpu: str
    sockets: PositiveInt
    cores: PositiveInt
    threads_per_core: PositiveInt
    memory_bytes: PositiveInt
    core_bandwidth_bytes_per_s: Quantity
    node_bandwidth_bytes_per_s: Quantity
    caches: tuple[Cache, ...] = ()


class Protocol(_Part):
    """Messages of some sizes: latency + size / bandwidth; none where size does not matter."""

    first_bytes: int = Field(ge=0)
    last_bytes: int = Field(ge=0)
    latency_s: Quantity | None = None
    bandwidth_bytes_per_s: Quantity | None = None


class Messages(_Part):
    """Messages between two ranks that are placed in one way, by one MPI library.

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
    """A whole cluster file."""

    name: str = Field(min_length=1)
    nodes: PositiveInt
    source: str = Field(min_length=1)
    node: Node
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
        return Cluster.model_validate(data)
    except ValidationError as error:
        raise UserError([_problem(path, detail) for detail in error.errors()]) from error


def _problem(path: Path, detail: Any) -> Problem:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        known = [name for part in _parts() for name in part.model_fields]
        return Problem(f"{path}: {key}", "unknown key", nearest(key.split(".")[-1], known))
    if detail["type"] == "missing":
        return Problem(f"{path}: {key}", "is missing", "give it; its unit is in its name")
    return Problem(f"{path}: {key}", f"{detail['input']!r} won't do", detail["msg"])


def _parts() -> list[type[BaseModel]]:
    return [Cluster, Node, Cache, Messages, Protocol, Overheads, Quantity]
