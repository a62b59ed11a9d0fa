# SPDX-License-Identifier: BSD-3-Clause
"""Star forests by message size, with the values of the report on Summit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, Measure, contrasts, one_way
from haloscope.analysis.facets import facets, labelled
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.analysis.validation.published import Library, Reference, source
from haloscope.layout import PROCESSES
from haloscope.papers.validated import WAYS_OF_A_DEVICE
from haloscope.quantities import printed_seconds
from haloscope.stats.estimates import Estimate

PETSC_DEFAULT = "B"
"""PETSc's default synchronisation, as named in Table 2."""

OPTIONS = {"general": "A", "default_stream": "B", "stream_aware": "C", "typed": "D"}

_OF_GPUS = "Published times are for GPU memory: only their growth with the size is comparable."
_OF_OTHER_GPUS = "Published times are for V100 GPUs with GPU-aware MPI."
_OF_THE_SAME = (
    "Published times were measured on the cluster that is simulated here, with messages in GPU "
    "memory."
)


def about_published(cases: Sequence[MeasuredCase]) -> str:
    """Return the note that accompanies published times."""
    if all(case.on_gpus for case in cases):
        return _OF_THE_SAME
    return _OF_OTHER_GPUS if all(case.on_real_gpus for case in cases) else _OF_GPUS


PRINTED = {
    "same-cache": "intra_socket",
    "same-socket": "intra_socket",
    "other-socket": "inter_socket",
    "other-node": "inter_node",
}


def there_and_back(case: MeasuredCase) -> dict[int, Swept]:
    """Return the points of a case by size, with the time of a step, which is a round trip."""
    return {point.size_bytes: point for point in sweep(case)}


def by_n(case: MeasuredCase) -> dict[int, Swept]:
    """Return the points of sf_grid by n, the points per rank along each axis."""
    elements = {point["size_bytes"]: point["n"] for point in case.launches[0].points}
    return {elements[at]: point for at, point in there_and_back(case).items()}


APART = {
    "intra_gpu": "ranks on one GPU",
    "intra_socket": "ranks on one socket",
    "inter_socket": "ranks on two sockets",
    "inter_node": "ranks on two nodes",
}


def memory_of(case: MeasuredCase) -> tuple[object, ...]:
    """Return the memory of a case: host, or device with what MPI gets of it."""
    if case.settings.get("memory", "host") == "host":
        return ("host",)
    return tuple(case.settings.get(name) for name in ("memory", "mpi", "device_lag"))


_CLUSTER = "summit"
_ALIKE = (*PROCESSES, "placement", "bind", "toolchain", "transport", "clock")


BySize = tuple[MeasuredCase, Mapping[int, Contrast]]
"""A case compared with another one by size: one-way times, the other's first."""


def beside_messages(cases: Sequence[MeasuredCase], seed: int = 0) -> list[BySize]:
    """Compare every sf_pingpong in host memory with plain messages, by size."""
    plain = {_place(case, _ALIKE): case for case in cases if exchanges(case) and case.launches}
    shared = [
        (case, _shared(plain[_place(case, _ALIKE)], case, case))
        for case in cases
        if case.kernel == "sf_pingpong" and case.launches and memory_of(case) == ("host",)
        if _place(case, _ALIKE) in plain
    ]
    return [one for one in _by_size(shared, seed) if one[1]]


def _place(case: MeasuredCase, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(case.settings.get(name) for name in names)


def device_ways(cases: Sequence[MeasuredCase], seed: int = 0) -> list[tuple[str, BySize]]:
    """Compare every way to send from device memory with PETSc's, in sf_pingpong and sf_grid.

    Each with the setting in which they differ, all else equal.
    """
    forests = [
        [case for case in cases if case.kernel == kernel and case.launches]
        for kernel in ("sf_pingpong", "sf_grid")
    ]
    pairs = [
        (setting, first, case)
        for own in forests
        for setting, reference in WAYS_OF_A_DEVICE.items()
        for part in facets(own, (setting,))
        for first in part.cases
        for case in part.cases
        if first.settings.get(setting) == reference and case is not first
    ]
    found = _by_size([(case, _shared(first, case, first)) for _, first, case in pairs], seed)
    return [(setting, one) for (setting, *_), one in zip(pairs, found, strict=True) if one[1]]


BEYOND = {"sf_unpack": "sf_newpingpong", "sf_scatter": "sf_unpack"}
"""Kernels that do one thing more than another: add to values instead of overwriting them; also
serve leaves on rank 0. Section 5.2 of the paper compares them.
"""


def more_done(cases: Sequence[MeasuredCase], seed: int = 0) -> list[BySize]:
    """Compare each kernel of BEYOND with the one that does less, all settings equal."""
    kernels = {*BEYOND, *BEYOND.values()}
    own = [case for case in cases if case.kernel in kernels and case.launches]
    parts = [{one.kernel: one for one in part.cases} for part in facets(own, ("kernel",))]
    shared = [
        (by_kernel[kernel], _shared(by_kernel[less], by_kernel[kernel], by_kernel[less]))
        for kernel, less in BEYOND.items()
        for by_kernel in parts
        if {kernel, less} <= {*by_kernel}
    ]
    return [one for one in _by_size(shared, seed) if one[1]]


def _by_size(
    shared: Sequence[tuple[MeasuredCase, Mapping[int, tuple[Measure, Measure]]]], seed: int
) -> list[BySize]:
    """Test the pairs of each case by size, all as one family."""
    tests = iter(contrasts([both for _, by_size in shared for both in by_size.values()], seed))
    return [(case, {at: next(tests) for at in by_size}) for case, by_size in shared]


@dataclass(frozen=True)
class Start:
    """Sizes of messages from device memory that are dominated by the start-up time.

    least: one-way time of the smallest size, which is the start-up time. starting, moving,
    undecided: sizes at which the start-up time is at least half in every launch, at which it is
    less in every launch, and at which launches differ.
    """

    case: MeasuredCase
    least: Estimate
    starting: tuple[int, ...]
    moving: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        """Return all sizes, ascending."""
        return sorted((*self.starting, *self.moving, *self.undecided))


def device_starts(cases: Sequence[MeasuredCase]) -> list[Start]:
    """Return the start of every sf_pingpong from device memory with PETSc's settings and several
    sizes.
    """
    found = []
    for case in labelled(_as_petsc(cases)):
        points = there_and_back(case)
        if len(points) < 2:
            continue
        least = points[min(points)]
        by_kind: dict[str, list[int]] = {"starting": [], "moving": [], "undecided": []}
        for at, point in points.items():
            starts = {
                2 * first >= time for first, time in zip(least.sample, point.sample, strict=False)
            }
            kind = (
                "starting" if starts == {True} else "moving" if starts == {False} else "undecided"
            )
            by_kind[kind].append(at)
        kinds = {name: tuple(sorted(sizes)) for name, sizes in by_kind.items()}
        found.append(Start(case, least.one_way, **kinds))
    return found


def _as_petsc(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return every measured sf_pingpong from device memory with PETSc's settings."""
    return [
        case
        for case in cases
        if case.kernel == "sf_pingpong"
        and case.launches
        and all(case.settings.get(name) == way for name, way in WAYS_OF_A_DEVICE.items())
    ]


@dataclass(frozen=True)
class BetweenGpus:
    """Plain messages from device memory between two ranks, and the overhead of a star forest.

    bandwidth: bytes per second from two points, the smallest and the largest size (section 3 of the
    report), with the error of a simulated time. forest: the case of a star forest with PETSc's
    settings in the same place, or None. added_s: its one-way overhead by size.
    """

    case: MeasuredCase
    sizes: tuple[int, int]
    bandwidth: Estimate
    added_s: Mapping[int, float]
    forest: MeasuredCase | None = None


_PLACE = (*_ALIKE, "gpus_shared", "memory", "mpi")


def gpu_messages(cases: Sequence[MeasuredCase]) -> list[BetweenGpus]:
    """Return each ping-pong in device memory with at least two sizes, except on
    emulated devices.
    """
    forests = {_place(case, _PLACE): case for case in _as_petsc(cases)}
    own = [case for case in cases if exchanges(case) and (case.on_gpus or case.on_real_gpus)]
    found = []
    for case in labelled(own):
        known = {at: point.one_way for at, point in there_and_back(case).items() if at}
        points = {at: one.value for at, one in known.items()}
        least, most = min(points, default=0), max(points, default=0)
        if least == most or points[most] <= points[least]:
            continue
        forest = forests.get(_place(case, _PLACE))
        beside = there_and_back(forest) if forest else {}
        added = {at: beside[at].one_way.value - points[at] for at in points if at in beside}
        per_s = most / (points[most] - points[least])
        n, band = len(case.launches), known[most].band
        speed = Estimate(per_s, None, None, n, "none", band=band)
        found.append(BetweenGpus(case, (least, most), speed, added, forest))
    return found


def _shared(
    first: MeasuredCase, other: MeasuredCase, of: MeasuredCase
) -> dict[int, tuple[Measure, Measure]]:
    """Return the one-way times of two cases at common sizes. of: whose error the first's have."""
    points = there_and_back(first)
    return {
        at: (one_way(of, points[at]), one_way(other, point))
        for at, point in there_and_back(other).items()
        if at in points
    }


def placement_of(case: MeasuredCase) -> str | None:
    """Return the relative position of two ranks, as named in the paper."""
    asked, nodes = case.settings.get("placement"), case.settings.get("nodes")
    if asked:
        return PRINTED.get(str(asked))
    if isinstance(nodes, int) and nodes > 1:
        return "inter_node"
    if not (case.on_gpus or case.on_real_gpus):
        return "intra_socket"
    if found := _of_real_gpus(case):
        return found
    if case.on_gpus and case.settings.get("bind") == "spread":  # real GPUs are assigned by number
        return "inter_socket"
    return "intra_gpu" if case.settings.get("gpus_shared") else "intra_socket"


def _of_real_gpus(case: MeasuredCase) -> str | None:
    """Return the position of two ranks of a node by their GPUs; None if records do not contain
    them.
    """
    said: list[Sequence[Mapping[str, Any] | None] | None] = [one.gpus for one in case.launches]
    first, second = (said[0] or [None, None])[:2] if said and case.ranks == 2 else (None, None)
    if first is None or second is None:
        return None
    if (first["pci"], first["uuid"]) == (second["pci"], second["uuid"]):
        return "intra_gpu"
    if first["numa"] is None or second["numa"] is None:
        return None
    return "intra_socket" if first["numa"] == second["numa"] else "inter_socket"


def published_latency(case: MeasuredCase, at: int, library: Library) -> Reference | None:
    """Return the published latency for a size or for n, for comparison but not for a race.

    None beside an emulated device's time, which would look like that of a GPU; for a simulated GPU
    of another cluster; for GPUs with several ranks each; and for messages that MPI did not take
    from GPU memory.
    """
    others = case.settings.get("mpi") in ("staged", "nccl")
    others |= bool(case.settings.get("gpus_shared")) and placement_of(case) != "intra_gpu"
    others |= case.on_gpus and case.cluster != _CLUSTER
    if case.emulated or ((case.on_gpus or case.on_real_gpus) and others):
        return None
    if case.settings.get("topology", "3x3") not in ("2d", "3x3"):
        return None
    nodes = case.settings.get("nodes")
    where = {
        "size_bytes": at,
        "n": at,
        "placement": placement_of(case),
        "option": OPTIONS.get(str(case.settings.get("sync")), PETSC_DEFAULT),
        "kernel": case.kernel,
        "nodes": nodes,
    }
    for table in library.tables(("pingpong", "neighbours")):
        facts = str(table.facts.get("kernel", case.kernel)).replace("sf_dmda", "sf_grid")
        keys = {key: where[key] for key in table.keys if key in where}
        if facts != case.kernel or len(keys) < len(table.keys):
            continue
        cell = table.cell("latency_s", **keys)  # type: ignore[arg-type]
        if cell is not None and isinstance(cell.value, float):
            text = printed_seconds(cell.value, table.resolution_s)
            unlike = "" if case.on_gpus or case.on_real_gpus else "GPU memory"
            return Reference(cell.value, text, cell.value, cell.value, source(table), unlike)
    return None


KERNELS = ("pingpong", "sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")


def by_layout(cases: Sequence[MeasuredCase]) -> list[list[MeasuredCase]]:
    """Return the cases with one-way latencies of each layout and memory that has star forests."""
    own = [case for case in cases if case.kernel in KERNELS and case.launches]
    own = [case for case in own if case.settings.get("mode", "imb") == "imb"]
    layouts = (*PROCESSES, "placement", "gpus_shared", "toolchain", "transport", "clock")
    parts: dict[tuple[object, ...], list[MeasuredCase]] = {}
    for case in own:
        at = tuple(case.settings.get(key) for key in (*layouts, *(["bind"] * case.on_gpus)))
        parts.setdefault((*memory_of(case), *at), []).append(case)
    return [own for own in parts.values() if any(case.kernel != "pingpong" for case in own)]


def named(cases: Sequence[MeasuredCase]) -> dict[str, MeasuredCase]:
    """Return cases by kernel, with the synchronisation where a kernel has several."""
    order = [*OPTIONS]
    syncs = {case: str(case.settings.get("sync")) for case in cases}
    several = {
        kernel
        for kernel in KERNELS
        if len({sync for case, sync in syncs.items() if case.kernel == kernel}) > 1
    }

    def place(case: MeasuredCase) -> tuple[int, int]:
        known = syncs[case] in order
        return KERNELS.index(case.kernel), order.index(syncs[case]) if known else -1

    return {
        f"{case.kernel}{f', {syncs[case]}' if case.kernel in several else ''}": case
        for case in sorted(cases, key=place)
    }


_WAYS = {"gpu_aware": "GPU-aware MPI", "staged": "staged through the host", "nccl": "NCCL"}


def where(case: MeasuredCase) -> list[str]:
    """Return where the processes and their memory are, for titles."""
    memory, *given = (str(one) for one in memory_of(case))
    ways = [_WAYS.get(one, one) for one in given[:1]]
    if case.on_gpus:  # GPUs are on their ranks' sockets
        return [APART.get(str(placement_of(case)), ""), "GPU memory", *ways]
    of_device = [f"{memory} memory", *ways] if given else []
    shared = case.on_real_gpus and placement_of(case) == "intra_gpu"
    asked = str(case.settings.get("placement") or "")
    return ["ranks on one GPU" if shared else asked, *of_device]
