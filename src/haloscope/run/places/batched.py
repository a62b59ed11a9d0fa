# SPDX-License-Identifier: BSD-3-Clause
"""A place: a cluster with a batch system; cases run inside its jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import Cluster, state
from haloscope.errors import Problem, UserError
from haloscope.host import gpus, machine
from haloscope.quantities import count
from haloscope.run.jobs.job_notes import holds
from haloscope.run.places import Place, Runner
from haloscope.run.places.here import transports_of
from haloscope.run.prepare import probing, starting, workbench
from haloscope.run.prepare.workbench import Requested, Seen, Workbench
from haloscope.run.runners.local import LocalRunner, Nodes
from haloscope.sites import file as site_file
from haloscope.sites.jobs import Batch
from haloscope.sites.schedulers import schedulers
from haloscope.sites.schedulers.allocation import Allocation
from haloscope.sites.schedulers.scheduler import Scheduler
from haloscope.sites.schema import BatchSite
from haloscope.study.case import Case
from haloscope.study.checks.capacity import PlaceFacts, Site
from haloscope.toolchains.build import Build
from haloscope.toolchains.launching import Job
from haloscope.toolchains.launching.launch import cannot


@dataclass(frozen=True)
class BatchPlace(Place):
    """A site from the site files. folder: visible on all nodes, for files of ranks."""

    name: str
    described: BatchSite
    folder: Path
    _launchers: dict[str, Build] = field(default_factory=dict, repr=False, compare=False)
    facts: ClassVar = PlaceFacts(clock="wall", remote=True, deterministic=False)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the available site files."""
        return [*site_file.ready()]

    @classmethod
    def named(cls, name: str, keep: Path | None = None) -> Self:
        """Return the site of that name. Raise UserError if a cluster file has the same name."""
        if name in cluster_file.ready():
            what = "a site file and a cluster file both have this name"
            remedy = "rename one of them: a site is measured, a cluster is simulated"
            raise UserError(Problem(f"--on {name}", what, remedy))
        return cls(name, site_file.find(name), Path.cwd())

    @property
    def jobs_at(self) -> Self:
        """Return this site."""
        return self

    def with_folder(self, folder: Path) -> Self:
        """Return this site with a folder that its nodes see."""
        return replace(self, folder=folder)

    def requested(self, asked: Requested) -> Requested:
        """Return requests with the toolchain of the site file where none is named."""
        usual = [self.described.toolchain] if self.described.toolchain else None
        return {where: names or usual for where, names in asked.items()}

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """Return the nodes of the partition for jobs. Possible placements are known
        only on a node.
        """
        partition = self.described.used
        cores = partition.cores
        names = (self.described.toolchain,) if self.described.toolchain else bench.names
        return Site(
            nodes=partition.nodes_of_a_job,
            nodes_limited=partition.nodes_of_a_job < partition.nodes,
            cores=cores,
            hardware_threads=cores * partition.threads_per_core,
            memory_bytes=partition.memory_mb * 2**20,
            oversubscribe=oversubscribe,
            toolchains=names,
            transports=transports_of(bench),
            missing=bench.missing,
            placements=machine.PLACEMENTS[: None if partition.nodes_of_a_job > 1 else -1],
            facts=self.facts,
            name=self.name,
            shared_cores=self.described.shared_cores,
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the site's name and resources."""
        partition = self.described.used
        here = {"host": self.name, "cores": partition.cores, "partition": partition.name}
        if (model := self._model) is None:
            return here
        return {**here, "cluster": model.name, "platform": state(model)}

    @cached_property
    def _model(self) -> Cluster | None:
        """Return the cluster file that the site names for its nodes, or None.

        Raise UserError if it describes other nodes, or has no computation rate.
        """
        if self.described.cluster is None:
            return None
        cluster = cluster_file.find(self.described.cluster)
        where, cores = f"site {self.name}: cluster", self.described.used.cores
        if cluster.node.cores != cores:
            what = f"nodes of {cluster.name} have {count(cluster.node.cores, 'core')}"
            what += f", but those of partition {self.described.partition} have {cores}"
            remedy = f"choose a cluster file with {cores} cores per node, or remove the key"
            raise UserError(Problem(where, what, remedy))
        if not cluster.node.core_flops_per_s:
            what = f"the cluster file {cluster.name} has no node.core_flops_per_s"
            raise UserError(Problem(where, what, "choose another cluster file, or remove the key"))
        return cluster

    @cached_property
    def scheduler(self) -> Scheduler:
        """Return its batch system."""
        return schedulers.of(self.described)

    @cached_property
    def allocation(self) -> Allocation:
        """Return the nodes of the job that runs this process. Raise UserError outside a job."""
        found = self.scheduler.allocation(self.described, os.environ)
        if found is None:
            what = "this process is not part of a batch job on this site"
            remedy = "use haloscope run, which submits the jobs"
            raise UserError(Problem(f"--on {self.name}", what, remedy))
        return found

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Launch each probe on the job's first node, or between its first two; mark unsupported
        cases.
        """
        there = machine.placements()
        reasons = [case.absent or self._cant(case, bench, there) for case in cases]
        able = [
            case if why is None else replace(case, absent=why, launches=1)
            for case, why in zip(cases, reasons, strict=True)
        ]
        return probing.probed(
            able, replace(bench, built=self._launched_with(bench)), self._nodes_asked
        )

    @property
    def _nodes_asked(self) -> probing.NodesAsked:
        """Return the nodes of this job, for probes."""
        return probing.NodesAsked(self.allocation.nodes, self.scheduler.hydra_bootstrap)

    def _cant(
        self, case: Case, bench: Workbench, there: Mapping[str, tuple[int, int] | None]
    ) -> str | None:
        placement = case.layout.placement
        if placement and placement != "other-node" and not there[placement]:
            return f"placement '{placement}' does not exist on {self.allocation.nodes[0]}"
        job = Job(case.layout, hosts=self.allocation.nodes[: case.layout.nodes])
        why = cannot(self._started(case.toolchain, bench).toolchain, job)
        return why and f"{case.toolchain}: {why}"

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Return a runner for launches on the nodes of this job, one after the other."""
        busy = machine.busy_processors()
        here = {**machine.describe(), "gpus": gpus.described()}
        described = {**here, "host": self.name, "busy_processors": busy}
        share = self.described.shared_cores is not None
        nodes = Nodes(self.allocation, self.folder, share=share, held=self._held)
        facts = workbench.facts(study, seed, described)
        return LocalRunner(
            facts,
            self._launched_with(bench),
            seen,
            self._model,
            nodes=nodes,
            name=self.described.scheduler,
            programs=bench.programs,
        )

    def _held(self, well: bool) -> bool:
        """Return whether this job still has its folder and, after a bad end, its nodes."""
        if not holds(self.folder, self.allocation):
            return False
        job = self.allocation
        return well or Batch(self.scheduler).has_its_nodes(job.job, job.restarts)

    @property
    def cores_given(self) -> int:
        """Return the total number of cores of this job's nodes."""
        return len(self.allocation.nodes) * self.described.used.cores

    @property
    def one_core(self) -> tuple[str, ...]:
        """Return the command prefix that runs a command on a free core of this job, or waits for
        one.

        --mem=0: steps do not divide the job's memory, all of which the first would get.
        """
        threads = self.described.used.threads_per_core
        where = ("--nodes=1", "--ntasks=1", f"--cpus-per-task={threads}", "--exact", "--mem=0")
        return ("srun", *where, "--input=none", "--mpi=none")

    def _launched_with(self, bench: Workbench) -> dict[str, Build]:
        return {name: self._started(name, bench) for name in bench.built}

    def _started(self, name: str, bench: Workbench) -> Build:
        """Return the build with the launcher that works in this job, determined once."""
        if self.described.launcher == "mpirun":
            built = bench.built[name]
            if built.toolchain.launcher == "jsrun":
                what = f"{built.toolchain.version} is started by jsrun on this system"
                remedy = 'set launcher = "jsrun" in the site file'
                raise UserError(Problem(f"site {self.name}: launcher", what, remedy))
            return built
        if name not in self._launchers:
            built = bench.built[name]
            self._launchers[name] = starting.started(built, self.described, self._nodes_asked)
        return self._launchers[name]
