# SPDX-License-Identifier: BSD-3-Clause
"""The types of the objects inside a record, and the descriptions of all keys.

keys.json describes each key, by the name of its type. docs/records.md is generated from both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints

from haloscope.keys import Key
from haloscope.layout import CORES, LAYOUT_KEYS, MOST_RANKS, PROCESSES, key_of

SHORTEST_S = 1e-12
"""Light gets no further than a third of a millimetre in it."""
LONGEST_S = 1e10
"""LONGEST_S is the largest time that a record may have: about 300 years."""
TAKE_TIME = (
    *("stream", "pingpong", "loggp", "poisson_cg", "jacobi3d", "spmv", "fft_pencil", "fe_heat"),
)
"""TAKE_TIME has the kernels whose every step computes or sends: simulated ones take time, too."""


class SeenRank(TypedDict):
    """Actual placement of one rank."""

    rank: int
    host: str
    cpus: list[int]
    thread_cpus: list[list[int]]


_NEEDED = (*CORES, "places", "bind")
_LAYOUT: dict[str, Any] = {
    **{name: LAYOUT_KEYS[name] for name in PROCESSES},
    "ranks": int,
    **{
        name: hint if name in _NEEDED else NotRequired[hint]
        for name, hint in LAYOUT_KEYS.items()
        if name != "tasks"
    },
    "tasks": NotRequired[Annotated[int, key_of("tasks")]],  # never null
    "oversubscribed": NotRequired[bool],
    "seen": NotRequired[list[SeenRank]],
}
RecordedLayout = TypedDict("RecordedLayout", _LAYOUT)  # type: ignore[misc]
RecordedLayout.__doc__ = "Requested and actual placement of ranks and threads."


class ToolchainUsed(TypedDict):
    """MPI library and build of halobench."""

    name: str
    mpi: NotRequired[str]
    library: NotRequired[str]
    thread_level: NotRequired[str]
    compiler: NotRequired[str]
    flags: NotRequired[str]
    source: NotRequired[str]
    launcher: NotRequired[str]


class TuningUsed(TypedDict):
    """The user's settings of the MPI library."""

    given: dict[str, str]
    overridden: dict[str, str | None]


class Untimed(TypedDict):
    """A printed line of a sweep that has no valid time."""

    size_bytes: int
    operation: str | None
    line: str
    why: str


class ProgramUsed(TypedDict):
    """External program that ran as the kernel."""

    file: str
    hash: str
    executable: str | None
    version: str | None
    launcher: str
    verified: bool
    checked: list[str]
    units: NotRequired[dict[str, str]]
    size_unit: NotRequired[str]
    untimed: NotRequired[list[Untimed]]


class ImportedFrom(TypedDict):
    """Output of another benchmark, from which a record was made without a launch by haloscope."""

    tool: str
    benchmark: str
    version: str | None
    files: list[str]
    lines: list[int]
    hash: str
    statistic: str
    verified: bool


class MachineCache(TypedDict):
    """One level of a core's data caches."""

    level: int
    size_bytes: int
    shared_by: int


class Topology(TypedDict):
    """Groups of processors of a machine, each in the list format of Linux."""

    core: list[str]
    cache: list[str]
    numa: list[str]
    socket: list[str]
    kind: NotRequired[list[str]]


class RecordedGpu(TypedDict):
    """A GPU, as reported by its driver."""

    name: str
    device: str
    uuid: str | None
    pci: str | None
    numa: int | None


class GpuOfRank(TypedDict):
    """GPU of a rank."""

    uuid: str | None
    pci: str
    numa: int | None


class Machine(TypedDict, total=False):
    """Machine on which the case ran, or a node of the simulated cluster."""

    host: str
    cpu: str | None
    sockets: int
    cores: int
    threads_per_core: int
    caches: list[MachineCache]
    memory_bytes: int | None
    governor: str | None
    os: str | None
    busy_processors: float | None
    topology: NotRequired[Topology]
    allowed: NotRequired[str]
    gpus: NotRequired[list[RecordedGpu]]
    source: NotRequired[str]
    smt_gain: NotRequired[float | None]


class SpreadDrawn(TypedDict):
    """Node-to-node variability of a replicate."""

    nodes: float
    phases: float
    seed: int


class OthersDrawn(TypedDict):
    """Other jobs on the simulated cluster during a launch."""

    occupancy: float
    traffic: float
    launch: int


class Simulation(TypedDict):
    """Simulation that computed the times."""

    cluster: str
    platform: NotRequired[str]
    copied_from: NotRequired[str]
    verified: bool
    cached: bool
    iterations: int | None
    of_iterations: int | None
    iterations_from: str | None
    spread: NotRequired[SpreadDrawn]
    others: NotRequired[OthersDrawn]


class ModelUsed(TypedDict):
    """This machine's cluster file, from which model times are computed."""

    cluster: str
    source: str


class AllocationUsed(TypedDict):
    """Nodes of the batch job in which the launch ran."""

    site: str
    scheduler: str
    job: str
    partition: str | None
    nodes: list[str]
    switches: str | None
    restarts: int


class Checkout(TypedDict):
    """State of haloscope's sources."""

    commit: str
    dirty: bool


class Shape(TypedDict):
    """Data that a star forest moves."""

    messages: int
    remote_bytes: int
    local_bytes: int
    moved_bytes: dict[str, float]
    waits: NotRequired[dict[str, int]]


class Point(TypedDict):
    """Measurements for one size of a sweep."""

    size_bytes: int
    operation: str | None
    n: NotRequired[int]
    passes: NotRequired[int]
    messages: NotRequired[int]
    checked_messages: NotRequired[int]
    shape: NotRequired[Shape]
    result: dict[str, Any]
    steps: int
    times_s: list[float]
    bytes: float


class TimeOverRanks(TypedDict):
    """Distribution over all ranks of the time in a phase."""

    min: NotRequired[float]
    mean: float
    max: NotRequired[float]


class Phase(TypedDict):
    """A named part of a step, timed inside the step."""

    name: str
    calls: NotRequired[int]
    time_s: TimeOverRanks
    median_s: NotRequired[TimeOverRanks]
    bytes: NotRequired[float]
    flops: NotRequired[float]
    model_s: float | None
    by_rank_s: NotRequired[list[float]]


class Part(TypedDict):
    """A part of a step, timed separately."""

    point: int
    name: str
    steps: int
    times_s: list[float]


class Trace(TypedDict):
    """Timeline of one step of one point."""

    clock_error_s: float
    ranks: list[list[list[Any]]]


class Rounds(TypedDict):
    """Accuracy of repetitions that start at a common time on a shared clock."""

    clock_error_s: float
    repeated: int
    late_s: list[list[float]]


class Work(TypedDict):
    """Work of one step, summed over all points and ranks."""

    bytes: float
    flops: float
    messages: float


class RecordedMemory(TypedDict):
    """Memory of all ranks together."""

    predicted_bytes: int
    allocated_bytes: int
    rss_bytes: int | None
    peak_bytes: int | None


class Timer(TypedDict):
    """Timer that measured the times."""

    function: str
    resolution_s: float
    cost_s: float


@cache
def described(owner: type) -> Mapping[str, Any]:
    """Return the type of each key of an object, annotated with its `Key`."""
    keys = _descriptions().get(owner.__name__, {})
    hints = get_type_hints(owner, include_extras=True)
    return {name: _described(hint, keys.get(name)) for name, hint in hints.items()}


def _described(hint: Any, said: Mapping[str, Any] | None) -> Any:
    if said is None:  # described with the layout, or no key
        return hint
    if get_origin(hint) is NotRequired:
        return NotRequired[_described(get_args(hint)[0], said)]
    given: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in said.items()
    }
    if "keys" in given:
        given["keys"] = globals()[given["keys"]]
    if "most" in given:
        given["most"] = {"LONGEST_S": LONGEST_S, "MOST_RANKS": MOST_RANKS}.get(
            given["most"], given["most"]
        )
    return Annotated[hint, Key(**given)]


@cache
def _descriptions() -> dict[str, dict[str, dict[str, Any]]]:
    file = Path(__file__).with_name("keys.json")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(file.read_text(encoding="utf-8"))
    return found


OUTCOMES: tuple[str, ...] = tuple(_descriptions()["Record"]["outcome"]["values"])
