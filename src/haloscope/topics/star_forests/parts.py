# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a split-phase operation, and the cost of a synchronisation on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType
from typing import Any

import numpy as np

from haloscope.analysis import remembered
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, contrasts, point_time
from haloscope.analysis.sweeps import sweep
from haloscope.analysis.validation.published import Library, Reference, source
from haloscope.models import split_phase
from haloscope.models.intervals import Intervals
from haloscope.models.split_phase import MESSAGES, MOVES, SplitPhase, both, done
from haloscope.models.sweep import ONE_WAY, Array
from haloscope.quantities import listed, printed_seconds, size
from haloscope.records.record import Record

_PAIRS = ("sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")
"""Kernels whose roots are all on rank 0, and their leaves on rank 1."""


@remembered(256)
def split_phase_model(case: MeasuredCase) -> split_phase.SplitPhase | None:
    """Return the model of a star forest's step; None with too few parts or sizes."""
    launches = [record for record in case.launches if record.parts]
    if not launches:
        return None
    of_points = [point["shape"] for point in launches[0].points]
    order = sorted(range(len(of_points)), key=lambda point: of_points[point]["remote_bytes"])
    shapes = [of_points[point] for point in order]
    times = ([point["times_s"] for point in record.points] for record in launches)
    whole = [[median(own[point]) for point in order] for own in times]
    try:
        data = split_phase.PartTimes(
            np.array([shape["remote_bytes"] for shape in shapes], dtype=np.float64),
            np.array([shape["local_bytes"] for shape in shapes], dtype=np.float64),
            np.array(whole),
            _parts(launches, order, shapes),
            one_sided=case.kernel in _PAIRS,
        )
        return split_phase.fit(data, Intervals("none") if case.simulated else None)
    except (KeyError, ValueError):  # a part was not timed at all sizes
        return None


def _parts(
    launches: Sequence[Record], order: Sequence[int], shapes: Sequence[Mapping[str, Any]]
) -> dict[str, Array]:
    def timed(name: str) -> Array:
        return np.array([_of_part(record, name, order) for record in launches])

    names = {part["name"] for part in launches[0].parts}
    if "wait" not in names:
        return {name: timed(name) * _happens(name, shapes) for name in split_phase.PARTS}
    wait = timed("wait")

    def until_done(name: str) -> Array:
        """Return a move on a device without the wait for it, at least as long as its launch."""
        return np.maximum(timed(name) - wait, timed(f"{name} launch"))

    by_stream = launches[0].params["mpi"] == "nccl"
    found = {MESSAGES: np.maximum(timed(MESSAGES) - by_stream * wait, 0)}
    for operation in split_phase.OPERATIONS:
        for move, copy in (("pack", "copy out"), ("scatter", ""), ("unpack", "copy in")):
            ends, starts = 0 * wait, 0 * wait
            for part in (f"{operation} {move}", f"{operation} {copy}"):
                if part in names and _happens(part, shapes):
                    ends, starts = ends + until_done(part), starts + timed(f"{part} launch")
            found[f"{operation} {move}"], found[f"{operation} {move} launch"] = ends, starts
    waits = np.array([sum(shape["waits"].values()) for shape in shapes])
    at_the_end = launches[0].params["sync"] == "general"
    last = np.minimum(waits, len(split_phase.OPERATIONS)) * at_the_end
    found[split_phase.BEGIN] = len(split_phase.OPERATIONS) * timed("begin")
    found[split_phase.SYNCHRONISE] = (waits - last) * wait
    found[split_phase.CONCLUDE] = last * wait
    return found


def _of_part(record: Record, name: str, order: Sequence[int]) -> list[float]:
    times = {
        part["point"]: median(part["times_s"]) for part in record.parts if part["name"] == name
    }
    return [times[point] for point in order]


def _happens(name: str, shapes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a part moves anything at any size; otherwise its time is that of the clock."""
    return any(shape.get("moved_bytes", {}).get(name, 1) > 0 for shape in shapes)


def switch_text(model: SplitPhase) -> str:
    """Describe at which sizes scatter or messages take longer."""
    if not model.scatters:
        return "No data stays within a rank, so no scatter overlaps with messages."
    places = model.crossings_bytes
    ends = [
        done(model.parts_s, "scatter")[at] >= both(model.parts_s, MESSAGES)[at] for at in (0, -1)
    ]
    longer = "The scatter takes longer than messages", "Messages take longer than the scatter"
    first, last = (longer[0] if end else longer[1] for end in ends)
    if not places:
        return f"{last} at every size."
    if len(places) == 1:
        return f"{first} up to {size(places[0])} sent, and is shorter for larger sizes."
    between = listed([size(at) for at in places])
    return f"{first} at first; the order changes at {between} sent."


STARTING, BYTES, MOVING = "starting messages", "the bytes of messages", "packing and unpacking"
LAUNCHING = "kernel launches and waits for them"
"""Names of parts: messages are divided into the time of the shortest, and the rest."""


def dominant(model: SplitPhase) -> list[str | None]:
    """Return at each point the part that is longest in every launch; None if launches differ.

    It is the start of messages, their transfer, a move in memory, or launches on a device.
    """
    launches = range(model.data.whole_s.shape[0])
    each = [
        _longest({part: times[launch] for part, times in model.data.parts_s.items()})
        for launch in launches
    ]
    at_points = [set(parts) for parts in zip(*each, strict=True)]
    return [parts.pop() if len(parts) == 1 else None for parts in at_points]


def _longest(parts_s: Mapping[str, Array]) -> list[str]:
    """Return the longest part at each point of one launch.

    The start takes as long as messages of the smallest size, which slightly overestimates it.
    """
    messages = both(parts_s, MESSAGES)
    found = []
    for point in range(len(messages)):
        start = min(messages[0], messages[point])
        times = {STARTING: start, BYTES: messages[point] - start}
        times |= {move: done(parts_s, move)[point] for move in MOVES}
        times[LAUNCHING] = split_phase.starting(parts_s)[point]
        found.append(max(times, key=lambda part: times[part]))
    return [_MOVES_IN_WORDS.get(part, part) for part in found]


_MOVES_IN_WORDS = {"pack": "packing", "unpack": "unpacking", "scatter": "the scatter within ranks"}


def moving(model: SplitPhase) -> list[float]:
    """Return at each point the share of packing and unpacking in the sum of all parts."""
    packing = sum((done(model.parts_s, move) for move in ("pack", "unpack")), np.zeros(1))
    return [float(share) for share in packing / _all_parts(model)]


def starting_device_kernels(model: SplitPhase) -> list[float]:
    """Return at each point the share of launches and waits for the stream in the sum of
    all parts.
    """
    launches = split_phase.starting(model.parts_s)
    return [float(share) for share in launches / _all_parts(model)]


def _all_parts(model: SplitPhase) -> Array:
    parts = sum((both(model.parts_s, name) for name in (MESSAGES, *MOVES)), np.zeros(1))
    return parts + split_phase.waiting(model.parts_s) + model.parts_s.get(split_phase.BEGIN, 0)


def neighbours_model(cases: Sequence[MeasuredCase]) -> split_phase.Neighbours | None:
    """Return messages to several neighbours, from all cases' parts; None if their number is
    constant.
    """
    models = [(case, model) for case in cases if (model := split_phase_model(case)) is not None]
    if not models:
        return None
    launches = min(model.data.whole_s.shape[0] for _, model in models)
    neighbours, sizes, times = [], [], []
    for case, model in models:
        count = case.launches[0].points[0]["shape"]["messages"]
        neighbours += [count] * model.data.remote_bytes.size
        sizes += list(model.data.remote_bytes)
        times.append(ONE_WAY * model.data.parts_s[split_phase.MESSAGES][:launches])
    try:
        return split_phase.fit_neighbours(
            np.array(neighbours, dtype=np.float64), np.array(sizes), np.concatenate(times, axis=1)
        )
    except ValueError:  # the number of neighbours is constant
        return None


WAYS = ("pipelined", "synchronised")
"""Without and with a synchronisation after the first device kernel."""
FIGURE_15: Mapping[str, int] = MappingProxyType({"kernels": 5, "size": 3_670_016, "first": 8})
"""Kernels of figure 15 on a V100 with 729 GB/s: 40 us the first, 5 us each other."""
_CLUSTER = "summit"


def published_chain(case: MeasuredCase, way: str, library: Library) -> Reference | None:
    """Return the figure's value for a case with its device kernels on its cluster, simulated.

    It is an example, whose launches and synchronisations take other times than the cluster's.
    """
    chain = {name: case.settings.get(name) for name in FIGURE_15}
    if case.cluster != _CLUSTER or chain != FIGURE_15:
        return None
    for table in library.tables(("launches",)):
        cell = table.cell("time_s", operation=way)
        if cell is not None and isinstance(cell.value, float):
            text = printed_seconds(cell.value, table.resolution_s)
            return Reference(cell.value, text, cell.value, cell.value, source(table))
    return None


def waits(cases: Sequence[MeasuredCase], seed: int = 0) -> list[tuple[MeasuredCase, Contrast]]:
    """Compare cases that have both; waiting first, so that the ratio is its relative cost."""
    own = [case for case in cases if case.kernel == "launches" and case.launches]
    points = [(case, {point.operation: point for point in sweep(case)}) for case in own]
    both = [
        (case, [found[way] for way in WAYS]) for case, found in points if set(WAYS) <= set(found)
    ]
    pairs = [
        (point_time(case, waiting), point_time(case, going_on))
        for case, (going_on, waiting) in both
    ]
    tested = contrasts(pairs, seed)
    return [(case, contrast) for (case, _), contrast in zip(both, tested, strict=True)]
