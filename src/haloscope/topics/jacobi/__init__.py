# SPDX-License-Identifier: BSD-3-Clause
"""Measured sweeps of jacobi3d, and model predictions from the other cases of a study.

Models use one rank's sweep, messages between two ranks (pingpong), and the memory bandwidth
(stream), each measured or simulated in the same place as the sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod, sqrt
from statistics import fmean
from typing import Any, Literal

import numpy as np

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.fits import exchanges, message_models
from haloscope.analysis.sweeps import capacities
from haloscope.analysis.validation.published import Library
from haloscope.layout import PROCESSES
from haloscope.models import jacobi
from haloscope.models.jacobi import Detailed, Extents, JacobiModel, JacobiSweep, Textbook
from haloscope.models.model import Model
from haloscope.papers.tables import PaperTable, PublishedValue
from haloscope.stats.estimates import Estimate
from haloscope.topics.memory import memory_triads
from haloscope.topics.phases import shares

AXES = (*PROCESSES, "topology")


@dataclass(frozen=True, eq=False)
class JacobiCase:
    """A measured case. rate: updates per second of all ranks."""

    case: MeasuredCase
    sweep: JacobiSweep
    seconds: float
    rate: Estimate


@dataclass(frozen=True, eq=False)
class JacobiScaling:
    """Cases that differ only in their ranks, by ranks and grid, with model predictions.

    alone: the case of one rank, from which models are made. lacking: data that a missing model
    would need.
    """

    part: Facet
    swept: tuple[JacobiCase, ...]
    alone: JacobiCase | None
    models: Mapping[str, JacobiModel]
    lacking: tuple[str, ...]

    def predicted(self, model: str, one: JacobiCase) -> float | None:
        """Return a model's updates per second for the swept mesh; None without the model.

        The largest rank's points times the ranks may exceed the points of the mesh.
        """
        if model not in self.models:
            return None
        return points_of(one.case) / self.models[model].seconds(one.sweep)

    def errors(self, model: str) -> dict[JacobiCase, float]:
        """Return the relative errors of a model's updates per second, on several ranks.

        One rank is excluded: the model is made from that case.
        """
        return {
            one: predicted / one.rate.value - 1
            for one in self.swept
            if one is not self.alone and (predicted := self.predicted(model, one))
        }


def scalings(cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase]) -> list[JacobiScaling]:
    """Return every scaling of cases of jacobi3d; the models may use all cases in `among`."""
    own = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    found = (_scaling(part, among) for part in facets(own, AXES))
    return [one for one in found if len(one.swept) > 1]


def swept_of(case: MeasuredCase) -> JacobiCase:
    """Return the sweep of a good launch of jacobi3d."""
    grid = _extents(case.result("grid"))
    size = _extents(case.result("size"))
    sweep = JacobiSweep(
        (-(-size[0] // grid[0]), -(-size[1] // grid[1]), -(-size[2] // grid[2])),
        grid,
        case.layout.nodes,
        value_bytes(case),
        int(case.result("depth")),
        case.settings["overlap"] == "yes",
    )
    rate = case.estimate(case.sample(lambda record: record.result["mlups"]))
    assert case.time is not None and rate is not None
    return JacobiCase(case, sweep, case.time.value / case.number("sweeps"), rate.times(1e6))


def measured_parts(one: JacobiCase) -> jacobi.SweepParts | None:
    """Return the shares of points and ghosts in a sweep's time, mean over ranks.

    None if its phases were not recorded, or cover less than half of it.
    """
    found = {share.name: share.share.value for share in shares(one.case)}
    if "sweep" not in found:
        return None
    ghosts = sum(found.get(name, 0.0) for name in ("pack", "exchange", "unpack"))
    if found["sweep"] + ghosts < 0.5:
        return None
    return jacobi.SweepParts(found["sweep"] * one.seconds, ghosts * one.seconds)


@dataclass(frozen=True, eq=False)
class MemoryBound:
    """A case's updates per second, and those that the memory bandwidth allows on its cores.

    updating: share of a sweep in which points are updated; None if phases do not show it.
    """

    case: MeasuredCase
    variant: str
    share: float
    updating: float | None


def memory_bounds(
    cases: Sequence[MeasuredCase], among: Sequence[MeasuredCase], machine: Mapping[str, Any] | None
) -> list[MemoryBound]:
    """Return the fastest case of each variant and number of cores whose meshes fit no cache."""
    best: dict[tuple[str, int], MemoryBound] = {}
    for case in cases:
        if case.kernel != "jacobi3d" or not case.launches:
            continue
        triad = memory_triads(among, machine, case.settings.get("bind")).get(case.cores)
        if triad is None:
            continue
        one = swept_of(case)
        if in_cache(case, machine) or case.layout.nodes > 1:
            continue
        allowed = triad.moved.value / _of_point(case, "bytes")
        parts = measured_parts(one)
        updating = parts.update_s / one.seconds if parts else None
        share = one.rate.value / allowed
        found = MemoryBound(case, str(case.settings["variant"]), share, updating)
        known = best.get((found.variant, case.cores))
        if known is None or known.share < found.share:
            best[found.variant, case.cores] = found
    return [best[key] for key in sorted(best)]


def in_cache(case: MeasuredCase, machine: Mapping[str, Any] | None) -> bool:
    """Return whether both meshes of all ranks fit their share of the last cache."""
    held = capacities(case, machine)
    return bool(held) and 2 * value_bytes(case) * points_of(case) <= held[-1][1]


def points_of(case: MeasuredCase) -> int:
    """Return the points of the whole mesh, as reported by the kernel."""
    return prod(_extents(case.result("size")))


def value_bytes(case: MeasuredCase) -> int:
    """Return the bytes of a mesh value, in the precision of a case."""
    return {"float": 4, "double": 8}[str(case.settings["precision"])]


def operations_of_update(cases: Sequence[MeasuredCase]) -> int:
    """Return the floating-point operations per update, from good cases' declarations.

    The minimum is used, because with several ghost layers some points are updated on more than one
    rank.
    """
    return round(min(_of_point(case, "flops") for case in cases))


def swept_phase(case: MeasuredCase) -> Mapping[str, Any]:
    """Return the phase of the first good launch in which points are updated."""
    (phase,) = (each for each in case.launches[0].phases if each["name"] == "sweep")
    return phase


def _of_point(case: MeasuredCase, what: Literal["flops", "bytes"]) -> float:
    return float(swept_phase(case)[what]) / (points_of(case) * case.number("sweeps"))


def _extents(text: str) -> Extents:
    x, y, z = (int(extent) for extent in text.split("x"))
    return x, y, z


def _scaling(part: Facet, among: Sequence[MeasuredCase]) -> JacobiScaling:
    swept = [swept_of(case) for case in part.cases]
    swept.sort(key=lambda one: (one.sweep.ranks, one.sweep.nodes, one.sweep.grid[0] * -1))
    alone = next((one for one in swept if one.sweep.ranks == 1), None)
    # grids of one rank are identical
    swept = [one for one in swept if one is alone or one.sweep.ranks > 1]
    models, lacking = _models(alone, among)
    named = {model.name: model for model in models}
    return JacobiScaling(part, tuple(swept), alone, named, tuple(lacking))


def root_mean_square(errors: Iterable[float]) -> float:
    """Return the root mean square of errors. Raise ValueError without any."""
    return sqrt(fmean(error**2 for error in errors))


def _models(
    alone: JacobiCase | None, among: Sequence[MeasuredCase]
) -> tuple[list[jacobi.JacobiModel], list[str]]:
    if alone is None:
        return [], ["no model: one rank was not measured"]
    bind = alone.case.settings.get("bind")
    within, between = (_pingpong(among, nodes, bind) for nodes in (1, 2))
    if within is None and between is None:
        return [], ["no model: messages between two ranks were not measured (pingpong)"]
    pairs = [(within or between), (between or within)]
    links = [message_models(case) for case in pairs if case is not None]
    update_s = alone.seconds / alone.sweep.points
    found: list[jacobi.JacobiModel] = [_textbook(update_s, [dict(link) for link in links])]
    machine = alone.case.launches[0].machine
    memory = _memory(among, machine, bind) if machine else None
    if memory is None or machine is None:
        return found, [f"no detailed model: {_no_memory(among)}"]
    first, second = (_seconds_of(dict(link)) for link in links)
    found.append(
        Detailed(
            update_s,
            _bytes_per_update(alone),
            memory,
            (first, second),
            machine["cores"],
            machine.get("smt_gain") or 1.0,
        )
    )
    return found, []


def _pingpong(among: Sequence[MeasuredCase], nodes: int, bind: object) -> MeasuredCase | None:
    """Return messages between two ranks of one node, or of two, placed like the sweeps
    if possible.
    """
    able = [
        case
        for case in among
        if exchanges(case) and case.layout.nodes == nodes and message_models(case)
    ]
    alike = [case for case in able if case.settings.get("bind") == bind]
    return next(iter(alike or able), None)


def _textbook(update_s: float, links: Sequence[Mapping[str, Model]]) -> Textbook:
    """Return the textbook model with the report's latencies and bandwidths, of short and long
    messages.
    """
    found = []
    for link in links:
        model = link.get("Hockney, extrapolated") or link["Hockney, relative"]
        found.append({one.name: one.estimate.value for one in model.parameters})
    return Textbook(
        update_s,
        (found[0]["alpha_s"], found[1]["alpha_s"]),
        (found[0]["bandwidth_bytes_per_s"], found[1]["bandwidth_bytes_per_s"]),
    )


def _seconds_of(link: Mapping[str, Model]) -> Callable[[float], float]:
    model = link.get("piecewise Hockney") or link["Hockney, relative"]
    return lambda size: float(model.predict(np.array([size]))[0])


def _no_memory(among: Sequence[MeasuredCase]) -> str:
    if any(case.kernel == "stream" and case.launches for case in among):
        return "STREAM triad was measured only with arrays that fit in caches"
    return "memory bandwidth was not measured (stream)"


def _memory(
    among: Sequence[MeasuredCase], machine: Mapping[str, Any], bind: object
) -> Callable[[int], float] | None:
    """Return the bytes per second of several cores of a node with this binding, together.

    They include write-allocate traffic, as the traffic of an update does.
    """
    triads = memory_triads(among, machine, bind)
    cores = sorted(triads)
    if not cores:
        return None
    rates = [triads[number].moved.value for number in cores]
    return lambda ranks: float(np.interp(ranks, cores, rates))


def _bytes_per_update(one: JacobiCase) -> float:
    """Return the memory traffic per update that the kernel declares for its variant."""
    bytes_ = swept_phase(one.case)["bytes"]
    return float(bytes_ / (one.sweep.points * one.case.number("sweeps")))


def published(one: JacobiCase, library: Library) -> Mapping[str, PublishedValue] | None:
    """Return the row of a published table with these ranks, grid, nodes, and sockets.

    For simulated cases that of the simulated cluster; for measured ones that of the first published
    cluster.
    """
    every = replace(library, only=None).tables(("jacobi",))
    first = every[0].facts.get("cluster_file") if every else None
    cluster = one.case.cluster or first
    for table in library.tables(("jacobi",)):
        if _is_of(table, one, cluster):
            for row in table.rows:
                if (row["px"], row["py"], row["pz"]) == one.sweep.grid:
                    return row
    return None


def _is_of(table: PaperTable, one: JacobiCase, cluster: object) -> bool:
    facts = table.facts
    if (facts.get("cluster_file"), facts.get("nodes")) != (cluster, one.sweep.nodes):
        return False
    return one.sweep.ranks == 1 or facts.get("bind") == one.case.settings.get("bind")
