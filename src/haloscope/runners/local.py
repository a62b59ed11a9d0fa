"""The local runner: cases on this machine, one after the other, under a toolchain's mpirun."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from haloscope.case import Case, Job
from haloscope.records import SCHEMA
from haloscope.runners import process
from haloscope.runners.base import Session
from haloscope.runners.placement import misplaced
from haloscope.toolchain import Launch, Toolchain, launch_command


@dataclass(frozen=True)
class Built:
    """halobench as one toolchain built it. source: the hash of the sources it was built from."""

    toolchain: Toolchain
    program: Path
    source: str


@dataclass(frozen=True)
class LocalRunner:
    """Runs every job as a whole launch of its own; `built` has a program for each toolchain.

    seen: what each MPI library says that it uses for a transport.
    """

    session: Session
    built: Mapping[str, Built]
    seen: Mapping[tuple[str, str | None], str | None] = field(default_factory=dict)
    name: str = "local"

    def run(self, jobs: Iterable[Job]) -> Iterator[dict[str, Any]]:
        """The records of the jobs, in their order, each as soon as its job has ended."""
        for job in jobs:
            yield self._absent(job) if job.case.absent else self._launch(job)

    def _absent(self, job: Job) -> dict[str, Any]:
        """The record of what can't run here."""
        return {
            **self._asked(job),
            "transport_seen": None,
            "outcome": "absent",
            "reason": job.case.absent,
            "command": None,
            "wall_s": 0.0,
            "started": _now(),
            "ended": _now(),
        }

    def _asked(self, job: Job) -> dict[str, Any]:
        """What a record says of a job before anything is launched."""
        case = job.case
        return {
            **_unmeasured(case),
            "case": case.id,
            "launch": job.launch,
            "layout": {
                **asdict(case.layout),
                "ranks": case.layout.ranks,
                "oversubscribed": case.oversubscribed,
                "seen": [],
            },
            "toolchain": {"name": case.toolchain},
            "transport": case.transport,
            "transport_seen": self.seen.get((case.toolchain, case.transport)),
            "runner": self.name,
            "run": case.run,
            **asdict(self.session),
        }

    def _launch(self, job: Job) -> dict[str, Any]:
        built = self.built[job.case.toolchain]
        with tempfile.TemporaryDirectory(prefix="haloscope-") as scratch:
            out = Path(scratch) / "record.json"
            launch = _launch_of(job.case)
            program = [str(built.program), "--out", str(out), job.case.kernel, *job.case.arguments]
            command, environment = launch_command(built.toolchain, launch, program)
            started = _now()
            ended = process.run(command, environment, job.case.timeout_s)
            measured = _measured(out)
        outcome, reason = self._judged(job.case, launch.cpus_of_ranks(), ended, measured)
        asked = self._asked(job)
        found = measured or {}
        record = {
            **asked,
            **found,
            "layout": {**asked["layout"], "seen": found.get("layout", {}).get("seen", [])},
            "toolchain": {
                **asked["toolchain"],
                **found.get("toolchain", {}),
                "source": built.source,
            },
            "outcome": outcome,
            "reason": reason,
            "command": command,
            "started": started,
            "ended": _now(),
            "wall_s": round(ended.wall_s, 6),
        }
        return record if outcome == "ok" else {**record, "stderr": ended.output}

    def _judged(
        self,
        case: Case,
        asked: Sequence[Sequence[int]],
        ended: process.Ended,
        measured: Mapping[str, Any] | None,
    ) -> tuple[str, str | None]:
        if ended.timed_out:
            return "timeout", f"no answer within {case.timeout_s:g} s, the study's timeout_s"
        if measured is not None and measured["outcome"] == "wrong":
            return "wrong", measured["reason"]
        if ended.code != 0:
            return "failed", _how_it_ended(ended.code)
        if measured is None:
            return "failed", "it ended without an error, and without a record"
        if case.oversubscribed:
            return "ok", None
        smt = self.session.machine.get("threads_per_core") or 1
        reason = misplaced(case.layout, measured["layout"]["seen"], asked, smt)
        return ("misplaced", reason) if reason else ("ok", None)


def _launch_of(case: Case) -> Launch:
    return Launch(
        ranks=case.layout.ranks,
        threads=case.layout.threads,
        places=case.layout.places,
        bind=case.layout.bind,
        oversubscribe=case.oversubscribed,
        transport=case.transport,
        placement=case.layout.placement,
    )


def _measured(path: Path) -> dict[str, Any] | None:
    """The record that halobench wrote; None if it wrote none, or not to its end."""
    if not path.exists():
        return None
    try:
        measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return measured


def _unmeasured(case: Case) -> dict[str, Any]:
    """What a record says of a case that measured nothing."""
    return {
        "schema": SCHEMA,
        "kernel": case.kernel,
        "params": dict(case.params),
        "clock": "wall",
        "times_s": [],
        "steps": None,
        "warmup": None,
        "synchronisation": None,
        "points": [],
        "phases": [],
        "result": {},
        "work": None,
        "memory": None,
        "timer": None,
    }


def _how_it_ended(code: int) -> str:
    if code <= 128 or code - 128 not in set(signal.Signals):
        return f"exit code {code}"
    return f"exit code {code}: killed by {signal.Signals(code - 128).name}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
