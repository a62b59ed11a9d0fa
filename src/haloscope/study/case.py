# SPDX-License-Identifier: BSD-3-Clause
"""A case: the settings of one measurement."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from haloscope.layout import Layout
from haloscope.quantities import count

Value = bool | int | float | str


def ranks_sharing_a_gpu(params: Mapping[str, Any]) -> int:
    """Return how many consecutive ranks of a node (of a socket, if simulated) may share a GPU."""
    return int(params.get("gpus_shared", 1))


def gpus_lacking(gpus: int, layout: Layout, shared: int, where: str) -> str | None:
    """Return why the GPUs of a node are too few for a layout's ranks, or None.

    shared: maximum number of ranks per GPU. where: name of the simulated cluster.
    """
    ranks = layout.ranks_of_nodes[0]
    if gpus == 0:
        what = (
            f"memory=device requires GPUs, but {where} has none (no node.gpu in its cluster file)"
        )
        return f"{what}; choose a cluster with GPUs, or use memory=host"
    if ranks <= gpus * shared:
        return None
    what = f"memory=device with {count(ranks, 'rank')} per node, but a node of {where} has "
    what += count(gpus, "GPU")
    if shared > 1:
        what += f" for up to {shared} ranks each"
    return f"{what}; use fewer ranks per node, or set gpus_shared = {-(-ranks // gpus)}"


@dataclass(frozen=True)
class Case:
    """One case to measure; equal settings have the same id in any study.

    given: requested parameters. params: all parameters, resolved by halobench. memory_bytes:
    predicted, summed over ranks. oversubscribed: more threads than cores. transport: as a toolchain
    names it; None: the library's choice. files: folder of the files that its parameters name, if
    any. execute: whether to compute and verify the result in a simulation, too. It is not a
    setting, because the time is the same. absent: why it cannot run here, or None; it is then a
    record with that reason, without a launch. stopped: with a precision, why there are no more
    launches: "narrow" intervals, the maximum "count" or "time", or "parted" if no two cases'
    intervals overlap. device_bytes: memory on GPUs.
    """

    kernel: str
    given: Mapping[str, Value]
    params: Mapping[str, Any]
    layout: Layout
    toolchain: str
    run: int
    launches: int
    timeout_s: float
    memory_bytes: int
    oversubscribed: bool = False
    transport: str | None = None
    files: str | None = None
    execute: bool = False
    absent: str | None = None
    stopped: str | None = None
    device_bytes: int = 0

    @cached_property
    def id(self) -> str:
        """Hash of all settings: 12 hexadecimal digits."""
        return identity(self.kernel, self.params, self.layout, self.toolchain, self.transport)

    @property
    def setting(self) -> str:
        """Kernel and given parameters, for messages."""
        return " ".join([self.kernel, *self.arguments])

    @property
    def label(self) -> str:
        """Kernel, given parameters, and layout, for messages."""
        return f"{self.setting}, {self.layout}"

    @property
    def title(self) -> str:
        """The label with the MPI library and the transport."""
        return ", ".join([self.label, " ".join(filter(None, (self.toolchain, self.transport)))])

    @property
    def options(self) -> list[str]:
        """Return the options of halobench before the kernel's name."""
        return ["--files", self.files] if self.files else []

    @property
    def arguments(self) -> list[str]:
        """Return the given parameters as command-line arguments of halobench."""
        return [f"{key}={text(value)}" for key, value in self.given.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return the case for plan.json."""
        return {"case": self.id, **asdict(self)}


def identity(
    kernel: str, params: Mapping[str, Any], layout: Layout, toolchain: str, transport: str | None
) -> str:
    """Return the id of the case with these settings."""
    setting = {
        "kernel": kernel,
        "params": dict(params),
        "layout": layout.as_setting(),
        "toolchain": toolchain,
        "transport": transport,
    }
    canonical = json.dumps(setting, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Launch:
    """One launch of a case: the unit of replication. number: counted from 0 in each case."""

    case: Case
    number: int


def text(value: Value) -> str:
    """Format a parameter's value for halobench's command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
