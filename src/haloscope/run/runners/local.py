"""The local runner: cases on this machine, or the nodes of a batch job, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from haloscope.batch.allocation import Allocation
from haloscope.batch.slurm import never_began
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid_files import machine_file
from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.host.scratch import PREFIX, Scratch, scratch
from haloscope.records import maker
from haloscope.records.maker import CampaignFacts
from haloscope.run.runners import answer
from haloscope.run.runners.placement import misplaced, wrong_hosts
from haloscope.study.case import Case, Launch
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import Toolchain


@dataclass(frozen=True)
class Built:
    """halobench as one toolchain built it.

    source: the hash of the sources it was built from. compiler, flags: what built it.
    """

    toolchain: Toolchain
    program: Path
    source: str
    compiler: str = ""
    flags: str = ""


_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""_PAUSES_S are how long a batch system is left alone that did not let a launch begin: a controller
that is restarted is back after some seconds."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of a batch job, as the runner needs them.

    folder: one that all of them see. share: whether they share one machine's processors. held:
    whether they are still the job's, asked after a launch and told whether that ended well.
    """

    allocation: Allocation
    folder: Path
    share: bool = False
    held: Callable[[bool], bool] = lambda _: True


@dataclass(frozen=True)
class LocalRunner:
    """Runs every launch by itself; `built` has a program for each toolchain.

    seen: what each MPI library says that it uses for a transport. model: this machine's cluster
    file, for what each phase should take by the node model. nodes: None means this machine.
    """

    facts: CampaignFacts
    built: Mapping[str, Built]
    seen: Mapping[tuple[str, str | None], str | None] = field(default_factory=dict)
    model: Cluster | None = None
    nodes: Nodes | None = None
    name: str = "local"

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """The records of the launches, in their order, each as soon as it has ended.

        UserError, and no record, where a job's nodes were taken from it during a launch.
        """
        for launch in launches:
            why = launch.case.absent
            record = maker.absent(self._asked(launch), why) if why else self._launch(launch)
            if self.nodes and not why and not self.nodes.held(record["outcome"] == "ok"):
                raise UserError(_taken_away(self.nodes.allocation, launch))
            yield record

    def _asked(self, launch: Launch) -> dict[str, Any]:
        used = self.seen.get((launch.case.toolchain, launch.case.transport))
        model = self.model and {"cluster": self.model.name, "source": self.model.source}
        given: dict[str, Any] = {}
        if self.nodes is not None:
            given["allocation"] = self.nodes.allocation.as_record()
        return maker.asked(self.facts, self.name, launch, transport_seen=used, model=model, **given)

    def _launch(self, launch: Launch) -> dict[str, Any]:
        built = self.built[launch.case.toolchain]
        job = self._job(launch.case)
        with self._folder() as (folder, own):
            out = folder / "record.json"
            program = self._program(built, launch.case, folder, out)
            command, environment = launch_command(built.toolchain, job, program, scratch=own)
            started = maker.now()
            ended = self._ended(command, environment, launch.case.timeout_s)
            measured = answer.measured(out)
        outcome, reason = self._judged(launch.case, job.cpus_of_ranks(), ended, measured)
        said = measured or {}
        ending = maker.Ending(
            outcome,
            reason,
            command,
            started,
            ended.wall_s,
            toolchain={**said.get("toolchain", {}), "source": built.source},
            printed=ended.output,
            seen=said.get("layout", {}).get("seen", []),
        )
        return maker.ended(self._asked(launch), measured, ending)

    def _ended(
        self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float
    ) -> process.Ended:
        """How a command ended; in a batch job, once the batch system let it begin."""
        for pause_s in _PAUSES_S if self.nodes else ():
            ended = process.run(command, environment, timeout_s)
            if ended.code == 0 or ended.timed_out or not never_began(ended.output):
                return ended
            if self.nodes and not self.nodes.held(False):
                return ended
            time.sleep(pause_s)
        return process.run(command, environment, timeout_s)

    @contextmanager
    def _folder(self) -> Iterator[tuple[Path, Scratch | None]]:
        """Where ranks find and leave files, and what they may write to besides.

        On other nodes that is their own: what this one has in TMPDIR is not there.
        """
        if self.nodes is None:
            with scratch() as own:
                yield own.folder, own
            return
        with TemporaryDirectory(prefix=PREFIX, dir=self.nodes.folder) as folder:
            yield Path(folder), None

    def _job(self, case: Case) -> Job:
        layout = case.layout
        job = Job(
            ranks=layout.ranks,
            threads=layout.threads,
            places=layout.places,
            bind=layout.bind,
            oversubscribe=case.oversubscribed,
            transport=case.transport,
            placement=layout.placement,
        )
        if self.nodes is None:
            return job
        return replace(
            job,
            hosts=self.nodes.allocation.nodes[: layout.nodes],
            mapping=layout.mapping,
            order=tuple(layout.nodes_of_ranks),
            scheduler=self.nodes.allocation.scheduler,
            shared=self.nodes.share and layout.nodes > 1,
        )

    def _program(self, built: Built, case: Case, folder: Path, out: Path) -> list[str]:
        """halobench's argument list for a case, with the node model's file where there is one."""
        options = ["--out", str(out), *case.options]
        if self.model is not None:
            machine = folder / "machine"
            machine.write_text(machine_file(self.model, case), encoding="utf-8")
            options += ["--machine", str(machine)]
        return [str(built.program), *options, case.kernel, *case.arguments]

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
        smt = self.facts.machine.get("threads_per_core") or 1
        seen = measured["layout"]["seen"]
        if case.oversubscribed:  # on which of a node's processors is left open then
            reason = wrong_hosts(case.layout, seen)
        else:
            reason = misplaced(case.layout, seen, asked, smt)
        return ("misplaced", reason) if reason else ("ok", None)


def _taken_away(allocation: Allocation, launch: Launch) -> Problem:
    what = (
        f"its nodes were taken from it, or another job goes on with its folder; {launch.case.title}"
    )
    what += f", launch {launch.number}, is not recorded"
    mend = "none is needed where it begins anew; else: haloscope run --resume DIR"
    return Problem(f"job {allocation.job}", what, mend)
