# SPDX-License-Identifier: BSD-3-Clause
"""Progress of the jobs of a result folder: launches done, running, and left; time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from haloscope.errors import UserError
from haloscope.quantities import count
from haloscope.records import strict_json
from haloscope.records.attempts import attempts
from haloscope.run.jobs.job_notes import HEARTBEAT, FolderJobs
from haloscope.run.progress import duration
from haloscope.run.time_left import TimeLeft
from haloscope.sites.schedulers.scheduler import AT_WORK, LEAVING, JobState


@dataclass(frozen=True)
class RunningLaunch:
    """The launch that a job started last. for_s: seconds since its start, by this
    machine's clock.
    """

    job: str
    node: str
    case: str
    launch: int
    for_s: float

    def __str__(self) -> str:
        """Describe it."""
        return f"{self.case}, launch {self.launch} on {self.node} for {duration(self.for_s)}"


@dataclass(frozen=True)
class Standing:
    """The progress of a folder.

    elapsed_s: since its first job was submitted; None if unknown, or if nothing is left.
    expected_s: duration of the remaining launches; None if unknown. unsent: number of job scripts
    without a known job.
    """

    done: int
    left: int
    running: RunningLaunch | None
    elapsed_s: float | None
    expected_s: float | None
    unsent: int = 0

    def __str__(self) -> str:
        """Describe it on a line."""
        whole = self.done + self.left
        words = [f"{self.done} of {count(whole, 'launch', 'launches')} done, {self._left}"]
        if self.elapsed_s is not None:
            words.append(f"first job submitted {duration(self.elapsed_s)} ago")
        if self.left and self.unsent:
            words.append(f"{count(self.unsent, 'job script')} written, not submitted")
        if self.running is not None:
            words.append(f"running: {self.running}")
        return "; ".join(words)

    @property
    def _left(self) -> str:
        left = f"{count(self.left, 'launch', 'launches')} left"
        if not self.left:
            return left
        time_left = "time unknown until the first launches end"
        if self.expected_s is not None:
            time_left = f"about {duration(self.expected_s)}"
        return f"{left} ({time_left})"


def standing(
    jobs: FolderJobs,
    states: Mapping[str, JobState],
    earlier: Mapping[str, Sequence[float]] | None = None,
    cores: int = 1,
    now: float | None = None,
) -> Standing:
    """Return the progress of a folder.

    states: of its jobs, from the batch system. earlier: durations of earlier launches in seconds,
    by case. cores: number of simultaneous launches.
    """
    now = time.time() if now is None else now
    left = jobs.left()
    planned = [one for one in jobs.plan_now().launches() if not one.case.absent]
    walls = {case: [*known] for case, known in (earlier or {}).items()}
    for one in attempts(jobs.folder.records):
        if one.outcome == "ok" and one.wall_s is not None:
            walls.setdefault(one.case, []).append(one.wall_s)
    seconds = TimeLeft(left, walls).seconds()
    noted = jobs.noted()
    begun = [one.at for one in noted if one.at is not None and one.job]
    return Standing(
        done=len(planned) - len(left),
        left=len(left),
        running=_running(jobs, states, now),
        elapsed_s=max(0.0, now - min(begun)) if begun and left else None,
        expected_s=None if seconds is None else seconds / cores,
        unsent=sum(not one.job for one in noted),
    )


def _running(jobs: FolderJobs, states: Mapping[str, JobState], now: float) -> RunningLaunch | None:
    """Return the last launch started by a running job; None without one."""
    with suppress(UserError, OSError, ValueError, KeyError, TypeError):
        beat = strict_json.json_object(strict_json.content(jobs.directory / HEARTBEAT))
        state = states[str(beat["job"])].state
        if state not in AT_WORK or state in LEAVING:
            return None
        since = max(0.0, now - datetime.fromisoformat(beat["at"]).timestamp())
        return RunningLaunch(
            str(beat["job"]), str(beat["node"]), str(beat["case"]), int(beat["launch"]), since
        )
    return None
