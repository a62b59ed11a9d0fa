# SPDX-License-Identifier: BSD-3-Clause
"""The state of a batch job, in the same words for all batch systems."""

from __future__ import annotations

from dataclasses import dataclass

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
AT_WORK = ("RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "STOPPED", "RESIZING", "SIGNALING")
LEAVING = ("COMPLETING", "STAGE_OUT")
CANCELLED = "CANCELLED"
GONE = "GONE"


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
