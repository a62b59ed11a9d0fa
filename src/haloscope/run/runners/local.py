# SPDX-License-Identifier: BSD-3-Clause
"""The local runner: cases on this machine, or on a batch job's nodes, one after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.host.scratch import PREFIX, Scratch, scratch
from haloscope.records import maker
from haloscope.records.maker import CampaignFacts
from haloscope.run.runners import answer
from haloscope.run.runners.placement import misplaced, ran_alone, wrong_hosts
from haloscope.study.case import Case, Launch
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.launching import Job, tuning
from haloscope.toolchains.launching.launch import launch_command, starter
from haloscope.toolchains.launching.tuning import Tuning
from haloscope.toolchains.library import Toolchain
from haloscope.verbosity import warn_once

if TYPE_CHECKING:
    from haloscope.clusters.schema import Cluster
    from haloscope.programs.file import ExternalProgram
    from haloscope.programs.output import Answer
    from haloscope.sites.schedulers.allocation import Allocation


_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""_PAUSES_S are the waits after the batch system did not start a launch: a restarted controller
answers after some seconds.
"""


@dataclass(frozen=True)
class Nodes:
    """The nodes of a batch job.

    folder: visible on all of them. share: whether they share one machine's processors. held:
    returns whether they still belong to the job; called after a launch with whether it ended well.
    """

    allocation: Allocation
    folder: Path
    share: bool = False
    held: Callable[[bool], bool] = lambda _: True


@dataclass(frozen=True)
class LocalRunner:
    """Runs every launch separately; `built` has the programs of each toolchain.

    seen: what each MPI library reports to use for a transport. model: this machine's cluster file,
    for the expected time of each phase. nodes: None: this machine. programs: external programs, by
    name.
    """

    facts: CampaignFacts
    built: Mapping[str, Build]
    seen: Mapping[tuple[str, str | None, bool], str | None] = field(default_factory=dict)
    model: Cluster | None = None
    nodes: Nodes | None = None
    name: str = "local"
    programs: Mapping[str, ExternalProgram] = field(default_factory=dict)

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """Yield the records of the launches, in order, each as soon as it has ended.

        Raise UserError without a record if a job's nodes were taken from it during a launch.
        """
        for launch in launches:
            why = launch.case.absent
            record = maker.absent(self._asked(launch), why) if why else self._launched(launch)
            if self.nodes and not why and not self.nodes.held(record["outcome"] == "ok"):
                raise UserError(_taken_away(self.nodes.allocation, launch))
            yield record

    def _asked(self, launch: Launch) -> dict[str, Any]:
        case = launch.case
        used = self.seen.get((case.toolchain, case.transport, case.layout.nodes > 1))
        model = self.model and {"cluster": self.model.name, "source": self.model.source}
        given: dict[str, Any] = {}
        if self.nodes is not None:
            given["allocation"] = self.nodes.allocation.as_record()
        return maker.asked(self.facts, self.name, launch, transport_seen=used, model=model, **given)

    def _launched(self, launch: Launch) -> dict[str, Any]:
        program = self.programs.get(launch.case.kernel)
        return self._launch(launch) if program is None else self._launch_program(program, launch)

    def _launch_program(self, program: ExternalProgram, launch: Launch) -> dict[str, Any]:
        """Run a launch of an external program; its ranks are started and placed like any others."""
        from haloscope.programs.output import UnreadableError
        from haloscope.run.runners.external import OUTPUT_LIMIT, ExternalLaunch

        toolchain, job = self.built[launch.case.toolchain].toolchain, self._job(launch.case)
        command, tuned = list[str](), Tuning({}, {})
        ended, said, seen, started = None, None, list[dict[str, Any]](), maker.now()
        with self._folder() as (folder, own):
            one = ExternalLaunch(program, toolchain, launch.case, folder)
            try:
                command, environment = launch_command(toolchain, job, one.words(), scratch=own)
                tuned = _tuned(toolchain, command, environment)
                ended = self._ended(command, environment, launch.case.timeout_s, OUTPUT_LIMIT)
                seen = one.seen()
                said = one.answer(ended) if ended.code == 0 and not ended.timed_out else None
                asked = job.cpus_of_ranks()
                outcome, reason = self._judged_program(launch.case, asked, ended, said, seen)
            except UnreadableError as error:
                outcome, reason = "failed", str(error)
        ending = maker.Ending(
            outcome,
            reason,
            command,
            started,
            ended.wall_s if ended else 0.0,
            toolchain={"library": toolchain.version, "launcher": starter(toolchain)},
            printed=ended.output[-process.TAIL :] if ended else "",
            seen=seen,
            more={"program": one.as_record(said), "tuning": tuned.as_record()},
        )
        return maker.ended(self._asked(launch), said.measured if said else None, ending)

    def _judged_program(
        self,
        case: Case,
        asked: Sequence[Sequence[int]],
        ended: process.Ended,
        said: Answer | None,
        seen: Sequence[Mapping[str, Any]],
    ) -> tuple[str, str | None]:
        """Return outcome and reason as `_judged`, from the places of ranks and the program's
        output.
        """
        if (how := _ill_ended(case, ended)) is not None:
            return how
        assert said is not None
        if said.outcome in ("failed", "wrong"):
            return said.outcome, said.reason
        if said.outcome == "misplaced":
            return "misplaced", said.reason
        return self._placed(case, asked, seen)

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
            toolchain={
                **said.get("toolchain", {}),
                "source": built.source,
                "library": built.toolchain.version,
                "launcher": starter(built.toolchain),
            },
            printed=ended.output,
            seen=said.get("layout", {}).get("seen", []),
            more={"tuning": _tuned(built.toolchain, command, environment).as_record()},
        )
        return maker.ended(self._asked(launch), measured, ending)

    def _ended(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        timeout_s: float,
        tail: int = process.TAIL,
    ) -> process.Ended:
        """Run a command; in a batch job, retry until the batch system lets it start."""
        if self.nodes is None:
            return process.run(command, environment, timeout_s, tail)
        from haloscope.sites.schedulers.slurm import never_began

        for pause_s in _PAUSES_S:
            ended = process.run(command, environment, timeout_s, tail)
            if ended.code == 0 or ended.timed_out or not never_began(ended.output):
                return ended
            if not self.nodes.held(False):
                return ended
            time.sleep(pause_s)
        return process.run(command, environment, timeout_s, tail)

    @contextmanager
    def _folder(self) -> Iterator[tuple[Path, Scratch | None]]:
        """Create the folder of ranks' files, and temporary folders.

        On other nodes ranks use their own: the TMPDIR of this node is not available there.
        """
        if self.nodes is None:
            with scratch() as own:
                yield own.folder, own
            return
        with TemporaryDirectory(prefix=PREFIX, dir=self.nodes.folder) as folder:
            yield Path(folder), None

    def _job(self, case: Case) -> Job:
        job = Job(case.layout, oversubscribe=case.oversubscribed, transport=case.transport)
        if self.nodes is None:
            return job
        from haloscope.sites.schedulers.schedulers import SCHEDULERS

        return replace(
            job,
            hosts=self.nodes.allocation.nodes[: case.layout.nodes],
            bootstrap=SCHEDULERS[self.nodes.allocation.scheduler].hydra_bootstrap,
            shared=self.nodes.share and case.layout.nodes > 1,
        )

    def _program(self, built: Build, case: Case, folder: Path, out: Path) -> list[str]:
        """Return halobench's command line for a case, with the node model's file if
        there is one.
        """
        options = ["--out", str(out), *case.options]
        if self.model is not None:
            from haloscope.clusters.simgrid.files import machine_file

            machine = folder / "machine"
            machine.write_text(machine_file(self.model, case), encoding="utf-8")
            options += ["--machine", str(machine)]
        program = built.path(KernelProgram.of(case.kernel, case.params))
        return [str(program), *options, case.kernel, *case.arguments]

    def _judged(
        self,
        case: Case,
        asked: Sequence[Sequence[int]],
        ended: process.Ended,
        measured: Mapping[str, Any] | None,
    ) -> tuple[str, str | None]:
        if not ended.timed_out and measured is not None and measured["outcome"] == "wrong":
            return "wrong", measured["reason"]
        if (how := _ill_ended(case, ended)) is not None:
            return how
        if measured is None:
            silent = "the program ended without an error but wrote no record"
            return "failed", ran_alone(case.layout, ended.output) or silent
        return self._placed(case, asked, measured["layout"]["seen"])

    def _placed(
        self, case: Case, asked: Sequence[Sequence[int]], seen: Sequence[Mapping[str, Any]]
    ) -> tuple[str, str | None]:
        """Return outcome and reason of an otherwise good launch, from where its ranks ran."""
        smt = self.facts.machine.get("threads_per_core") or 1
        threads = case.kernel not in self.programs
        if case.oversubscribed:  # processors within a node are then unspecified
            reason = wrong_hosts(case.layout, seen)
        else:
            reason = misplaced(case.layout, seen, asked, smt, threads=threads)
        return ("misplaced", reason) if reason else ("ok", None)


def _tuned(toolchain: Toolchain, command: Sequence[str], environment: Mapping[str, str]) -> Tuning:
    """Return the tuning of a launch's library by its user; warn once about overridden settings."""
    found = tuning.of_launch(os.environ, toolchain, command, environment)
    for name, used in found.overridden.items():
        instead = used or "the MPI library's default"
        warn_once(f"warning: {name}={found.given[name]} is overridden by {instead}")
    return found


def _ill_ended(case: Case, ended: process.Ended) -> tuple[str, str] | None:
    """Return outcome and reason of a launch that was ended or failed; None otherwise."""
    if ended.timed_out:
        late = f"still running after {case.timeout_s:g} s ('timeout_s' of the study)"
        return "timeout", answer.with_cause(late)
    if ended.code == 0:
        return None
    why = answer.refused(ended.code, ended.output)
    return "failed", why or answer.with_cause(answer.how_it_ended(ended.code))


def _taken_away(allocation: Allocation, launch: Launch) -> Problem:
    what = "the job lost its nodes, or another job took over its folder; "
    what += f"launch {launch.number} of {launch.case.title} was not recorded"
    remedy = "if the batch system restarts the job, do nothing; otherwise, continue with "
    remedy += "haloscope run --resume DIR"
    return Problem(f"job {allocation.job}", what, remedy)
