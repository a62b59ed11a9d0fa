"""The local runner: cases on this machine, one after the other, under a toolchain's mpirun."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid_files import machine_file
from haloscope.run.runners import answer, process
from haloscope.run.runners.base import CampaignFacts
from haloscope.run.runners.placement import misplaced
from haloscope.study.case import Case, Launch
from haloscope.toolchains.launch import Job, launch_command
from haloscope.toolchains.library import Toolchain


@dataclass(frozen=True)
class Built:
    """halobench as one toolchain built it. source: the hash of the sources it was built from."""

    toolchain: Toolchain
    program: Path
    source: str


@dataclass(frozen=True)
class LocalRunner:
    """Runs every launch by itself; `built` has a program for each toolchain.

    seen: what each MPI library says that it uses for a transport. model: this machine's cluster
    file, for what each phase should take by the node model.
    """

    facts: CampaignFacts
    built: Mapping[str, Built]
    seen: Mapping[tuple[str, str | None], str | None] = field(default_factory=dict)
    model: Cluster | None = None
    name: str = "local"

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """The records of the launches, in their order, each as soon as it has ended."""
        for launch in launches:
            why = launch.case.absent
            yield answer.absent(self._asked(launch), why) if why else self._launch(launch)

    def _asked(self, launch: Launch) -> dict[str, Any]:
        used = self.seen.get((launch.case.toolchain, launch.case.transport))
        model = self.model and {"cluster": self.model.name, "source": self.model.source}
        return {
            **answer.asked(self.facts, self.name, launch),
            "transport_seen": used,
            "model": model,
        }

    def _launch(self, launch: Launch) -> dict[str, Any]:
        built = self.built[launch.case.toolchain]
        with tempfile.TemporaryDirectory(prefix="haloscope-") as scratch:
            out = Path(scratch) / "record.json"
            job = _job_of(launch.case)
            options = ["--out", str(out), *launch.case.options]
            if self.model is not None:
                machine = Path(scratch) / "machine"
                machine.write_text(machine_file(self.model, launch.case), encoding="utf-8")
                options += ["--machine", str(machine)]
            program = [str(built.program), *options, launch.case.kernel, *launch.case.arguments]
            command, environment = launch_command(built.toolchain, job, program)
            started = answer.now()
            ended = process.run(command, environment, launch.case.timeout_s)
            measured = answer.measured(out)
        outcome, reason = self._judged(launch.case, job.cpus_of_ranks(), ended, measured)
        asked = self._asked(launch)
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
            "ended": answer.now(),
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
            return "failed", answer.how_it_ended(ended.code)
        if measured is None:
            return "failed", "it ended without an error, and without a record"
        if case.oversubscribed:
            return "ok", None
        smt = self.facts.machine.get("threads_per_core") or 1
        reason = misplaced(case.layout, measured["layout"]["seen"], asked, smt)
        return ("misplaced", reason) if reason else ("ok", None)


def _job_of(case: Case) -> Job:
    return Job(
        ranks=case.layout.ranks,
        threads=case.layout.threads,
        places=case.layout.places,
        bind=case.layout.bind,
        oversubscribe=case.oversubscribed,
        transport=case.transport,
        placement=case.layout.placement,
    )
