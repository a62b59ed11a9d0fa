"""Where a study runs: on this machine, or on a simulated cluster.

A place says how halobench is built for it, what it has room for, and what runs cases there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from haloscope import __version__
from haloscope.clusters import file as cluster_file
from haloscope.clusters import schema
from haloscope.errors import Problem, UserError, nearest
from haloscope.host import machine
from haloscope.paths import cache_path
from haloscope.records.maker import CampaignFacts
from haloscope.run import workbench
from haloscope.run.progress import Teller
from haloscope.run.runners.base import Runner
from haloscope.run.runners.local import Built, LocalRunner
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.workbench import Workbench
from haloscope.study.capacity import Site
from haloscope.study.case import Case
from haloscope.toolchains import build
from haloscope.toolchains.library import Toolchain

LOCAL = "local"
SIMGRID = "simgrid"
Wanted = Mapping[str, Sequence[str] | None]
Seen = Mapping[tuple[str, str | None], str | None]


class Place(Protocol):
    """A place to run studies in. simulated: whether one launch of a case tells all."""

    simulated: bool

    @property
    def name(self) -> str:
        """What --on calls it."""

    def complete(self, wanted: Wanted) -> bool:
        """Is all there that `workbench` would otherwise install or build?"""

    def workbench(self, wanted: Wanted, tell: Teller) -> Workbench:
        """halobench as it is to run there, built where it is not yet."""

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """What there is room for."""

    def identity(self) -> Mapping[str, Any]:
        """What must be the same for records to be of one place."""

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Cases with what two ranks found out of each MPI library and transport, and that."""

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """What runs cases there."""


def place(name: str, keep: Path | None = None) -> Place:
    """The place that --on names: local, or a cluster file's name or path. UserError else."""
    if name == LOCAL:
        return Here()
    known = cluster_file.ready()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        what = "there is no such place"
        raise UserError(Problem(f"--on {name}", what, nearest(name, [LOCAL, *known])))
    described = cluster_file.load(path)
    problems = schema.missing_for_simulation(described)
    if problems:
        raise UserError(problems)
    return Simulated(name, described, keep)


@dataclass(frozen=True)
class Here:
    """This machine."""

    name: str = LOCAL
    simulated = False

    def complete(self, wanted: Wanted) -> bool:
        """Every toolchain, and halobench built with each."""
        return workbench.complete(wanted)

    def workbench(self, wanted: Wanted, tell: Teller) -> Workbench:
        """halobench built with every toolchain that is wanted."""
        return workbench.workbench(wanted, tell)

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """This machine's processors and memory."""
        return workbench.site(bench, oversubscribe=oversubscribe)

    def identity(self) -> Mapping[str, Any]:
        """Host, processor and cores."""
        return workbench.identity()

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """One launch of each; cases whose transport does not work become absent."""
        return workbench.probed(cases, bench.built)

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Launches, one after the other."""
        return LocalRunner(workbench.facts(study, seed), bench.built, seen, calibrated())


def calibrated() -> schema.Cluster | None:
    """This machine's own cluster file: of its host's name, with its processor and cores."""
    here = workbench.identity()
    path = cluster_file.ready().get(here["host"])
    if path is None:
        return None
    found = cluster_file.load(path)
    same = (found.node.cpu, found.node.cores) == (here["cpu"], here["cores"])
    return found if same and found.node.core_flops_per_s else None


@dataclass(frozen=True)
class Simulated:
    """A cluster file, under SimGrid."""

    name: str
    cluster: schema.Cluster
    keep: Path | None = None
    simulated = True

    def complete(self, wanted: Wanted) -> bool:
        """The one build. UserError where SimGrid is not installed."""
        return build.built(self._smpi) is not None

    def workbench(self, wanted: Wanted, tell: Teller) -> Workbench:
        """halobench built with smpicxx."""
        with tell.steps() as steps:
            program = build.build(self._smpi, say=tell.say, progress=steps)
        built = Built(self._smpi, program, build.source_hash())
        return Workbench({SIMGRID: built}, (SIMGRID,), ())

    @cached_property
    def _smpi(self) -> Toolchain:
        return smpi()

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """The cluster's nodes. Folded memory takes what they have; arithmetic, of this machine."""
        node = self.cluster.node
        return Site(
            nodes=self.cluster.nodes,
            cores=node.cores,
            hardware_threads=node.cores * node.threads_per_core,
            memory_bytes=node.memory_bytes,
            oversubscribe=False,
            toolchains=(SIMGRID,),
            transports={},
            missing={},
            placements=[schema.OTHER_NODE] if self.cluster.nodes > 1 else [],
            cluster=self.cluster.name,
            arithmetic_bytes=machine.memory_available_bytes(),
            variants=node.variants,
        )

    def identity(self) -> Mapping[str, Any]:
        """The cluster's name, processor and cores, as a machine's."""
        node = self.cluster.node
        return {"host": self.cluster.name, "cpu": node.processor, "cores": node.cores}

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """The cluster file says it all."""
        return tuple(cases), {}

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Simulations, side by side on this machine's cores."""
        node = self.cluster.node
        described = {
            **self.identity(),
            "source": self.cluster.source,
            "sockets": node.sockets,
            "threads_per_core": node.threads_per_core,
            "smt_gain": node.smt_gain.value if node.smt_gain else None,
            "caches": [one.model_dump(include=_CACHE) for one in node.caches],
            "memory_bytes": node.memory_bytes,
            "governor": None,
            "os": None,
            "busy_processors": None,
        }
        checkout = workbench.checkout(Path(__file__).parents[3])
        return SimgridRunner(
            CampaignFacts(study, seed, described, __version__, checkout),
            bench.built[SIMGRID],
            self.cluster,
            cache_path() / "simulated",
            at_once=len(machine.physical_cores()),
            memory_bytes=machine.memory_available_bytes(),
            keep=self.keep,
        )


_CACHE = {"level", "size_bytes", "shared_by"}


def smpi() -> Toolchain:
    """SimGrid's compiler wrapper and launcher, of the prefix SIMGRID_ROOT or in PATH.

    UserError where they are not.
    """
    prefix = os.environ.get("SIMGRID_ROOT")
    where = str(Path(prefix) / "bin") if prefix else None
    found = [shutil.which(program, path=where) for program in ("smpicxx", "smpirun")]
    if None in found:
        what = f"SimGrid is not installed: no smpicxx and smpirun in {where or 'PATH'}"
        mend = (
            "Debian, Ubuntu: apt install simgrid libsimgrid-dev; "
            "one of your own: set SIMGRID_ROOT to its prefix"
        )
        raise UserError(Problem("simulation", what, mend))
    mpicxx, mpirun = (Path(str(path)) for path in found)
    done = subprocess.run([mpirun, "-version"], capture_output=True, text=True, check=False)
    version = next(iter(done.stdout.splitlines()), "SimGrid").replace("version ", "").strip()
    return Toolchain(SIMGRID, None, mpicxx, mpirun, "simgrid", version)
