# SPDX-License-Identifier: BSD-3-Clause
"""One simulated launch: its files, its command, and its record."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from haloscope.clusters.checks.copies import copy_of
from haloscope.clusters.schema import Cluster, state
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.clusters.simgrid.defaults import TRAFFIC
from haloscope.errors import Problem, UserError, printable
from haloscope.host import process
from haloscope.host.scratch import PREFIX, scratch
from haloscope.paths import write_whole
from haloscope.quantities import count, size
from haloscope.records import checked, maker, strict_json
from haloscope.records.maker import CampaignFacts
from haloscope.records.record import Record
from haloscope.run.runners import answer
from haloscope.run.runners.simulation_costs import SimulationCosts, arrays_bytes
from haloscope.study.case import Case, Launch, text
from haloscope.study.known_iterations import Solve, executes, solve_of, verifies
from haloscope.toolchains import fftw
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.simgrid import Pairs, counted

_log = logging.getLogger(__name__)


RECORD = "record.json"
"""RECORD is the name of the file to which halobench writes its record."""


@dataclass(frozen=True)
class Steps:
    """How simulations use the nodes of a job.

    before: command prefix that runs a command on a core of one of them. folder: visible on all of
    them.
    """

    before: tuple[str, ...]
    folder: Path


@dataclass(frozen=True)
class Simulator:
    """Settings of a simulator with `at_once` simultaneous launches, each in a separate process.

    memory_bytes: limit for the arrays of simultaneous launches; a single one may exceed it. keep:
    folder with one folder per case: its platform, host file, node model, and run.sh, which
    describes and simulates the case; None: keep none. steps: how they are started on a job's nodes;
    None: on this machine.
    """

    facts: CampaignFacts
    built: Build
    cluster: Cluster
    cache: Path
    at_once: int
    memory_bytes: int
    keep: Path | None = None
    steps: Steps | None = None
    name: str = "simgrid"

    @cached_property
    def costs(self) -> SimulationCosts:
        """Return the costs of earlier simulations on this machine."""
        return SimulationCosts(self.cache)


class SimulatedLaunch:
    """One launch: its files, its command, and its record."""

    def __init__(self, runner: Simulator, launch: Launch) -> None:
        """Prepare it without writing or starting anything."""
        self.runner, self.case = runner, launch.case
        self.seed, self.number = replicate_seed(launch), launch.number
        self._launch = launch
        self.solve = solve_of(self.case)
        self.executes = executes(self.case)
        alike = self.seed is None or runner.cluster.node.spread is None
        self.arguments = _asked(self.case, self.solve, alike=alike)
        self._own = ExitStack()
        self.started = maker.now()

    @cached_property
    def record(self) -> dict[str, Any]:
        """Return its record without measurements."""
        return maker.asked(self.runner.facts, self.runner.name, self._launch, clock="simulated")

    @cached_property
    def files(self) -> dict[str, str]:
        """Return the input of smpirun and halobench. Raise ValueError if the cluster file lacks
        values.
        """
        return simgrid_files.files(self.runner.cluster, self.case, self.seed, self.number)

    @property
    def cached(self) -> bool:
        """Whether the same case was simulated before."""
        return self._cached.exists()

    @property
    def _cached(self) -> Path:
        """Path of the cached result, from everything it depends on."""
        built = self.runner.built
        parts = [built.source, built.toolchain.version, *self.files.values()]
        parts += [
            *simgrid_files.settings(self.runner.cluster, self.case),
            str(self.case.layout.threads),
        ]
        parts += [str(self.executes), self.case.kernel, *self.arguments]
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
        return self.runner.cache / f"{key}.json"

    def without_running(self) -> dict[str, Any] | None:
        """Return the record if the case cannot run or was simulated before; otherwise None."""
        if self.case.absent:
            return maker.absent(self.record, self.case.absent)
        if self.runner.keep is not None:
            self._keep_files(self.runner.keep.absolute() / self._folder_name)
        if self.cached and (kept := self._kept()) is not None:
            return kept
        if self.runner.steps is not None:  # other machines, about which nothing is known
            return None
        forecast = self.runner.costs.forecast(self.case)
        memory = self.runner.memory_bytes
        why = forecast.refusal(self.case.timeout_s, memory) if forecast else None
        return maker.absent(self.record, why) if why else None

    def _kept(self) -> dict[str, Any] | None:
        """Return the record of an equal earlier simulation; None if it is damaged."""
        try:
            kept = strict_json.json_object(strict_json.content(self._cached))
            record = self._good(kept["measured"], kept["wall_s"], cached=True)
            problem = checked.wrong(record, Record)
        except (UserError, ValueError, KeyError, TypeError, AttributeError) as error:
            problem = repr(error)
        if problem:
            _log.warning("%s: damaged, so simulated again: %s", self._cached, problem)
            return None
        return record

    @property
    def _folder_name(self) -> str:
        """Return the case's folder name for --keep: kernel, ranks, nodes, id."""
        layout = self.case.layout
        ranks, nodes = count(layout.ranks, "rank"), count(layout.nodes, "node")
        replicate = "" if self.seed is None else f" {self.record['launch']}"
        words = f"{self.case.kernel} {ranks} {nodes} {self.case.id}{replicate}"
        return words.replace(",", "").replace(" ", "-")

    def start(self) -> process.Running:
        """Write its files and start it."""
        folder = self._own.enter_context(self._folder())
        self._write(folder)
        self._out = folder / RECORD
        environment = {**os.environ, **fftw.environment(), "TMPDIR": str(folder)}
        before = self.runner.steps.before if self.runner.steps else ()
        command = [*before, *self._command(folder)]
        return process.Running(command, environment, self.case.timeout_s)

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Yield the simulation's folder, in a place that it can access."""
        if self.runner.steps is None:
            with scratch() as own:
                yield own.folder
        else:
            with TemporaryDirectory(prefix=PREFIX, dir=self.runner.steps.folder) as shared:
                yield Path(shared)

    def sent(self) -> Pairs | None:
        """Return the bytes between ranks, cached beside the result."""
        kept = self._cached.with_suffix(".sent")
        with suppress(OSError, ValueError):
            earlier: Pairs = json.loads(kept.read_bytes())
            return earlier
        with self._folder() as folder:
            self._write(folder)
            environment = {**os.environ, **fftw.environment(), "TMPDIR": str(folder)}
            with counted(folder / "trace") as pairs:
                command = self._command(folder, folder / "trace")
                ended = process.run(command, environment, self.case.timeout_s)
            if ended.code or ended.timed_out:
                return None
            found = pairs()
        self.runner.cache.mkdir(parents=True, exist_ok=True)
        write_whole(kept, json.dumps(found))
        return found

    def close(self) -> None:
        """Remove the files of the simulation."""
        self._own.close()

    def _command(self, folder: Path, trace: Path | None = None) -> list[str]:
        """Return the command that simulates the case with the files in a folder. trace: file of
        messages.
        """
        built = self.runner.built
        smpirun = built.toolchain.mpirun
        program = built.path(KernelProgram.of(self.case.kernel, self.case.params))
        simulate = (self.runner.cluster, self.case, program, smpirun, folder, trace)
        return [
            *simgrid_files.command(*simulate),
            *("--out", str(folder / RECORD)),
            *("--execute", "yes" if self.executes else "no", *self.case.options),
            *(self.case.kernel, *self.arguments),
        ]

    def _write(self, folder: Path) -> None:
        for name, content in self.files.items():
            (folder / name).write_text(content, encoding="utf-8")

    def _keep_files(self, folder: Path) -> None:
        """Write the files and run.sh, which contains users' words only quoted or in comments.

        Raise UserError if the folder is a link: files are kept only where requested.
        """
        if folder.is_symlink():
            what = "is a symbolic link; --keep does not write through links"
            remedy = "remove it, or give another folder with --keep"
            raise UserError(Problem(str(folder), what, remedy))
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            write_whole(folder / name, content)
        case = " ".join(f"{self.case.label}, on {self.runner.cluster.name}".splitlines())
        lines = [
            "#!/bin/sh",
            f"# {printable(case)}",
            'cd "$(dirname "$0")" || exit',
            shlex.join(self._command(Path())),
        ]
        script = folder / "run.sh"
        write_whole(script, "".join(f"{line}\n" for line in lines))
        script.chmod(0o755)

    def ended(self, ended: process.Ended) -> dict[str, Any]:
        """Return the record; a good one is cached."""
        measured = answer.measured(self._out)
        if measured is not None and ended.code == 0 and not ended.timed_out:
            self._keep(measured, ended)
            return self._good(measured, ended.wall_s, cached=False)
        if ended.timed_out:
            outcome = "timeout"
            reason = f"still simulating after {self.case.timeout_s:g} s ('timeout_s' of the study)"
        elif measured is not None and measured["outcome"] == "wrong":
            outcome, reason = "wrong", measured["reason"]
        else:
            outcome, reason = "failed", _why_it_failed(self.case, ended)
        ending = self._ending(outcome, reason, ended.wall_s, self._simulation(cached=False))
        return maker.ended(self.record, measured, replace(ending, printed=ended.output))

    def _keep(self, measured: Mapping[str, Any], ended: process.Ended) -> None:
        self.runner.cache.mkdir(parents=True, exist_ok=True)
        write_whole(self._cached, json.dumps({"measured": measured, "wall_s": ended.wall_s}))
        if self.runner.steps is None:
            self.runner.costs.add(self.case, ended.wall_s, ended.peak_bytes)

    def _good(self, measured: Mapping[str, Any], wall_s: float, *, cached: bool) -> dict[str, Any]:
        """Return a good record. Its parameters are the requested ones, though fewer iterations were
        run.
        """
        simulation = self._simulation(cached=cached, result=measured["result"])
        ending = self._ending("ok", None, wall_s, simulation)
        return maker.ended(self.record, {**measured, "params": self.record["params"]}, ending)

    def _ending(
        self, outcome: str, reason: str | None, wall_s: float, simulation: Mapping[str, Any]
    ) -> maker.Ending:
        toolchain = self.runner.built.toolchain
        mpi = self.runner.cluster.mpi
        version = f"{toolchain.version} for {mpi.library}" if mpi else toolchain.version
        return maker.Ending(
            outcome,
            reason,
            self._command(Path()),  # relative to the folder of --keep
            self.started,
            wall_s,
            toolchain={"mpi": version, "source": self.runner.built.source},
            more={"simulation": simulation},
        )

    def _simulation(
        self, *, cached: bool, result: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the simulation's facts for a record. result: halobench's, if it succeeded."""
        passed_over = (result or {}).get("iterations_passed_over")
        whole = result["iterations"] if result and passed_over else None
        spread = self.runner.cluster.node.spread
        drawn: dict[str, Any] = {}
        if spread is not None and self.seed is not None:
            nodes, phases = spread.deviations
            drawn["spread"] = {"nodes": nodes, "phases": phases, "seed": self.seed}
        if others := self.runner.cluster.others:
            drawn["others"] = {
                "occupancy": others.occupancy.value,
                "traffic": others.traffic.value if others.traffic else TRAFFIC,
                "launch": self.number,
            }
        if copy := copy_of(self.runner.cluster):
            drawn["copied_from"] = copy.name
        return {
            "cluster": self.runner.cluster.name,
            "platform": state(self.runner.cluster),
            "verified": verifies(self.case),
            "cached": cached,
            "iterations": whole - passed_over if whole else None,
            "of_iterations": whole,
            "iterations_from": self.solve.source if self.solve and whole else None,
            **drawn,
        }


def replicate_seed(launch: Launch) -> int | None:
    """Return the seed of a replicate's nodes: the same for equal case and number, on any machine.

    None for the only launch of a case, whose nodes are all alike.
    """
    if launch.case.launches == 1:
        return None
    digest = hashlib.sha256(f"{launch.case.id} {launch.number}".encode()).digest()
    return int.from_bytes(digest[:6], "big")  # exact in every JSON reader


def _asked(case: Case, solve: Solve | None, *, alike: bool) -> list[str]:
    """Return halobench's parameters: the case's own, and some for simulated time.

    The number of iterations is given if it is known from published solves. One repetition suffices,
    because on the simulated clock all take the same time. alike: whether nodes are not drawn at
    random; then no warm-up is needed unless requested. A device needs one: its first operations
    find empty streams.
    """
    asked = dict(case.given)
    if solve is not None:
        asked["iterations"] = solve.iterations
    if "repetitions" in case.params:
        asked["repetitions"] = 1
    on_host = case.params.get("memory", "host") == "host"
    if "warmup" in case.params and alike and on_host and not executes(case):
        asked.setdefault("warmup", 0)
    return [f"{key}={text(value)}" for key, value in asked.items()]


_NO_MEMORY = (
    *("bad_alloc", "Cannot allocate memory", "Memory allocation of", "Failed to allocate stack"),
)
"""The messages of C++, the system, and SimGrid when memory is exhausted."""


def _why_it_failed(case: Case, ended: process.Ended) -> str:
    """Return why a simulation failed; callers print the case."""
    if "amount of mappings" in ended.output:
        limit = Path("/proc/sys/vm/max_map_count").read_text(encoding="ascii").strip()
        what = f"too many memory mappings: vm.max_map_count = {limit} is the limit per process"
        remedy = f"simulate fewer ranks, or run sysctl vm.max_map_count={4 * int(limit)}"
        return f"{what}; {remedy}"
    killed = ended.code == 128 + signal.SIGKILL  # the system does this when memory is exhausted
    if killed or any(sign in ended.output for sign in _NO_MEMORY):
        ranks, taken = count(case.layout.ranks, "rank"), size(ended.peak_bytes)
        why = f"out of memory: simulating {ranks} used {taken} on this machine and needed more"
        if arrays := arrays_bytes(case):
            why += f" (arrays: {size(arrays)})"
        return f"{why}; simulate fewer ranks, or use a machine with more memory"
    if re.search("[Dd]eadlock (detected|or)", ended.output):
        return "deadlock: the simulated ranks wait for each other"
    if found := re.search(r"/CRITICAL\] (.+)", ended.output):  # for example an unknown collective
        return f"SimGrid: {found[1]}"
    if refused := answer.refused(ended.code, ended.output):
        return refused
    return f"smpirun ended: {answer.how_it_ended(ended.code)}"
