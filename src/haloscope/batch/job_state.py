# SPDX-License-Identifier: BSD-3-Clause
"""The state of a batch job, in the same words for all batch systems."""

from __future__ import annotations

from dataclasses import dataclass

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
"""WAITING are the states of a job that has not begun, or is to begin again."""
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "STOPPED", "RESIZING", "SIGNALING")
"""AT_WORK are the states of a job that has nodes."""
LEAVING = ("COMPLETING", "STAGE_OUT")
"""LEAVING are those of a job that is being ended, whose nodes are taken from it."""
CANCELLED = "CANCELLED"
"""CANCELLED is the state of a job that somebody cancelled."""
GONE = "GONE"
"""GONE is the state of a job that nobody knows any more: it has ended."""


@dataclass(frozen=True)
class JobState:
    """How a job stands, by whoever knew it: Slurm's word for it, also where another says it.

    reason: why it waits, or ended, in words or in the batch system's. start: when it began or is
    expected to, as the batch system writes it; None where not known. name: None where not asked.
    """

    state: str
    reason: str = ""
    start: str | None = None
    nodes: str = ""
    restarts: int = 0
    name: str | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended and won't begin again."""
        return self.state not in (*WAITING, *AT_WORK)
