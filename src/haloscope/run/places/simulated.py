# SPDX-License-Identifier: BSD-3-Clause
"""A place: a cluster described by a file, simulated with SimGrid on this machine."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from haloscope.clusters import file as cluster_file
from haloscope.clusters import schema
from haloscope.clusters.checks import copies, doubts
from haloscope.clusters.other_jobs.occupied import allocations
from haloscope.clusters.schema import state
from haloscope.errors import Problem, reject
from haloscope.host import machine
from haloscope.paths import cache_folder
from haloscope.run.places import Place, Runner
from haloscope.run.places.batched import BatchPlace
from haloscope.run.prepare import workbench
from haloscope.run.prepare.workbench import Programs, Requested, Seen, Workbench
from haloscope.run.progress import Teller
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.run.runners.simulation import Steps
from haloscope.study.case import Case
from haloscope.study.checks.capacity import PlaceFacts, Site
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.simgrid import SIMGRID, absent, programs, smpi

_CACHE = {"level", "size_bytes", "shared_by"}


def _split_paths() -> list[Problem]:
    """Return a problem if TMPDIR contains blanks, at which smpirun, a shell script, splits it."""
    folder = tempfile.gettempdir()
    if not re.search(r"\s", folder):
        return []
    what = "the path contains a space, which smpirun does not support"
    return [Problem(f"TMPDIR={folder}", what, "set TMPDIR to a path without spaces")]


@dataclass(frozen=True)
class SimulatedCluster(Place):
    """A cluster file, simulated with SimGrid. via: site whose jobs simulate; None: this machine."""

    name: str
    cluster: schema.Cluster
    keep: Path | None = None
    via: BatchPlace | None = None
    facts: ClassVar = PlaceFacts(clock="simulated", remote=True, deterministic=True)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the available cluster files."""
        return [*cluster_file.ready()]

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether this is the name or path of a cluster file."""
        return name.endswith(".toml") or super().has(name)

    @classmethod
    def named(cls, name: str, keep: Path | None = None) -> Self:
        """Return the cluster of that name, or of the file at that path."""
        path = Path(name) if name.endswith(".toml") else cluster_file.ready()[name]
        described = cluster_file.load(path)
        reject(schema.missing_for_simulation(described), _split_paths())
        return cls(name, described, keep)

    @property
    def jobs_at(self) -> BatchPlace | None:
        """Return the site whose jobs simulate."""
        return self.via

    def on_this_machine(self) -> Self:
        """Return the same cluster, simulated on this machine."""
        return replace(self, via=None)

    def with_folder(self, folder: Path) -> Self:
        """Return the same cluster; the jobs that simulate it may write to the folder."""
        return self if self.via is None else replace(self, via=self.via.with_folder(folder))

    def workbench(self, asked: Requested, tell: Teller) -> Workbench:
        """Return smpicxx and smpirun. Raise UserError if SimGrid is not installed."""
        return workbench.of_one(self._smpi)

    def preview(self, asked: Requested) -> tuple[Workbench, tuple[str, ...]]:
        """Return the same; without SimGrid a dry run continues, with a note."""
        if programs() is not None:
            return workbench.of_one(self._smpi), ()
        missing = absent()
        first = f"before the run: {missing.what}; {missing.remedy}"
        return Workbench({}, (SIMGRID,), (), pending=(SIMGRID,)), (first,)

    @cached_property
    def _smpi(self) -> Toolchain:
        return smpi()

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """Return the cluster's nodes. Memory is that of its nodes or, for arithmetic, of this
        machine.
        """
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
            facts=self.facts,
            name=self.cluster.name,
            arithmetic_bytes=machine.memory_available_bytes(),
            variants=node.variants,
            allocations=allocations(self.cluster.network),
            nodes_differ=node.spread is not None or self.cluster.others is not None,
            gpus=node.gpu.number if node.gpu else 0,
            gpu_bytes=node.gpu.memory_bytes if node.gpu else 0,
            sockets=node.sockets,
            sockets_differ=node.socket is not None,
            sends_are_free=self.cluster.mpi is None or self.cluster.mpi.send_overhead_s is None,
            doubts=[f"cluster file {self.name}: {one}" for one in self.doubts],
        )

    @cached_property
    def doubts(self) -> list[str]:
        """Return implausible values of the cluster file, and the built-in file that it copies."""
        found = [str(one) for one in doubts.doubts(self.cluster)]
        copy = copies.copy_of(self.cluster)
        return [*([str(copy)] if copy else []), *found]

    def identity(self) -> Mapping[str, Any]:
        """Return the cluster's name, processor, and cores, and the state of its file."""
        return {**self._machine, "platform": state(self.cluster)}

    @property
    def _machine(self) -> dict[str, Any]:
        node = self.cluster.node
        return {"host": self.cluster.name, "cpu": node.processor, "cores": node.cores}

    def probes(self, cases: Sequence[Case], bench: Workbench) -> Programs:
        """Return no probes."""
        return {}

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Return the cases unchanged: the cluster file determines everything."""
        return tuple(cases), {}

    @property
    def at_once(self) -> int:
        """Return how many simulations run side by side."""
        return len(machine.physical_cores()) if self.via is None else self.via.cores_given

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Return a simulator that uses this machine's cores, or those of a job's nodes."""
        node = self.cluster.node
        described = {
            **self._machine,
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
        return SimgridRunner(
            workbench.facts(study, seed, described),
            bench.built[SIMGRID],
            self.cluster,
            cache_folder("simulated"),
            at_once=self.at_once,
            memory_bytes=machine.memory_available_bytes(),
            keep=self.keep,
            steps=None if self.via is None else Steps(self.via.one_core, self.via.folder),
        )
