# SPDX-License-Identifier: BSD-3-Clause
"""Where messages begin to wait for their receive: an MPI library's eager limit, as measured."""

from __future__ import annotations

from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, sweep


def rendezvous_bytes(case: MeasuredCase) -> int | None:
    """The smallest message of a loggp case whose send took as long as its receive came late.

    None where no size waited: all are eager. ValueError where that was not measured.
    """
    sizes = sweep(case)
    if not sizes or not all({"send_s", "wait_s"} <= point.result.keys() for point in sizes):
        raise ValueError("no send was timed whose receive came late")
    return min((point.size_bytes for point in sizes if _waits(case, point)), default=None)


def _waits(case: MeasuredCase, point: Swept) -> bool:
    """Whether the send took most of the wait, over the launches."""
    own = [
        one["result"]
        for record in case.launches
        for one in record.points
        if one["size_bytes"] == point.size_bytes
    ]
    return bool(median(one["send_s"] / one["wait_s"] for one in own) > 0.5)
