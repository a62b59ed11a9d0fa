# SPDX-License-Identifier: BSD-3-Clause
"""The launchers of MPI libraries: what each is told to start the ranks of a job, unbound.

A launcher is a small class that `named` knows. Ranks bind themselves (bind_rank.sh), which
knows the variables in which launchers number the ranks of a host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from haloscope.toolchains.job import Job
from haloscope.toolchains.transport import TransportSettings


class Launcher(Protocol):
    """Starts ranks. transport: the MPI library's own words for it (transport.py).

    keeps: how the variables begin which an outer job left and which it needs all the same.
    forks: whether it starts the ranks of one host by itself, and then needs none of them.
    says_where: the variables that say in which folder ranks share memory; where there are none,
    its library names what it shares itself (host/scratch.py).
    """

    keeps: tuple[str, ...] = ()
    forks: bool = False
    says_where: tuple[str, ...] = ()

    def cannot(self, job: Job) -> str | None:
        """Which layouts it supports, where that of a job is none of them; else None."""
        return None

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """What stands between its own name and that of what ranks run."""

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """The variables that it, and the library of its ranks, are given."""


_OF_JOBS = ("SLURM_", "PBS_", "LSB_")
"""_OF_JOBS is how the variables begin by which a batch system tells launchers of a job's hosts, and
by which those know how to start something there."""


class OpenMpi(Launcher):
    """Open MPI's mpirun, of version 4 and of later ones."""

    keeps = _OF_JOBS
    forks = True
    says_where = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Slots on every host, or the host of each rank, and MCA parameters."""
        if job.oversubscribed:
            transport = {**transport, "mpi_yield_when_idle": "1"}
        words = [word for key, value in transport.items() for word in ("--mca", key, value)]
        if job.mapping == "block":
            hosts = _counted(job.hosts or ("localhost",), job.ranks_of_hosts)
            mapped = "slot:OVERSUBSCRIBE"  # the plan has counted processors
        else:
            hosts, mapped = job.hosts_of_ranks, "seq:OVERSUBSCRIBE"
        slots = ["--host", ",".join(hosts), "--map-by", mapped]
        return ["-n", str(job.ranks), *slots, "--bind-to", "none", *words]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """It refuses to run as root, as in a container, unless told twice."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Hydra(Launcher):
    """Hydra, as MPICH has it. It starts its proxies by what the batch system has, as srun."""

    keeps = _OF_JOBS
    forks = True

    def cannot(self, job: Job) -> str | None:
        """Any other order it would take a list of hosts for, which srun refuses."""
        return "the mappings block and round_robin" if job.in_order else None

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Ranks of this host are forked; without that word it looks for a batch system."""
        where = _hosts(job) or ["-launcher", "fork"]
        return ["-n", str(job.ranks), *where, "-bind-to", "none"]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """The transport is asked for by variables."""
        return dict(transport)


class IntelHydra(Hydra):
    """Hydra, as Intel MPI has it."""

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """All else is said by variables."""
        return ["-n", str(job.ranks), *_hosts(job)]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Its own binding is switched off."""
        env = {**transport, "I_MPI_PIN": "0"}
        if len(job.hosts) < 2:
            env["I_MPI_HYDRA_BOOTSTRAP"] = "fork"
        else:
            env["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] = "0"  # -ppn, not what the job asked for
            if job.scheduler == "slurm":  # elsewhere it finds out by itself
                env["I_MPI_HYDRA_BOOTSTRAP"] = "slurm"
            if job.transport is None:  # the usual one is that of a single host
                env.pop("I_MPI_FABRICS", None)
        if job.oversubscribed:  # wait by sched_yield: half a round trip of 0.1 ms, not 2 ms
            env["I_MPI_THREAD_YIELD"] = "3"
        return env


def _hosts(job: Job) -> list[str]:
    """Hydra's words for the hosts of a job, so many ranks at a time; none for this one."""
    if len(job.hosts) < 2:
        return []
    if job.mapping == "block" and not job.even:
        return ["-hosts", ",".join(_counted(job.hosts, job.ranks_of_hosts))]
    at_a_time = 1 if job.mapping == "round_robin" else job.ranks_of_a_host
    return ["-hosts", ",".join(job.hosts), "-ppn", str(at_a_time)]


def _counted(hosts: Sequence[str], ranks: Sequence[int]) -> list[str]:
    return [f"{host}:{number}" for host, number in zip(hosts, ranks, strict=True)]


@dataclass(frozen=True)
class Srun(Launcher):
    """Slurm's own, inside a job of Slurm.

    mpi: how ranks find each other (srun --mpi=list); None is what the cluster's Slurm takes itself.
    """

    mpi: str | None = "pmix"
    keeps = ("SLURM_",)

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """All nodes of the job, or some; ranks as they are mapped; no binding of its own."""
        nodes = max(1, len(job.hosts))
        hosts, mapped = list(job.hosts), "cyclic" if job.mapping == "round_robin" else "block"
        if job.in_order or not (job.even or mapped == "cyclic"):
            # with a host named as often as it has ranks, in their order
            hosts, mapped = job.hosts_of_ranks, "arbitrary"
        where = ["--nodelist", ",".join(hosts)] if hosts else []
        share = [] if mapped == "arbitrary" else [f"--ntasks-per-node={job.ranks_of_a_host}"]
        return [
            *([f"--mpi={self.mpi}"] if self.mpi else []),
            *(f"--nodes={nodes}", f"--ntasks={job.ranks}", *share, *where),
            *(f"--distribution={mapped}", "--overlap", "--overcommit", "--cpu-bind=none"),
            *("--kill-on-bad-exit=1", "--export=ALL"),
        ]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """What the library's own launcher would be told on its command line, or by variables."""
        variables = {_variable(key): value for key, value in transport.items()}
        if len(job.hosts) > 1 and job.transport is None:
            variables.pop("I_MPI_FABRICS", None)
        if job.oversubscribed:
            variables |= {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3"}
        return {**variables, "I_MPI_PIN": "0"}


class Pals(Launcher):
    """HPE's mpiexec (PALS), inside a job of PBS: it fills hosts in their order."""

    keeps = ("PBS_",)

    def cannot(self, job: Job) -> str | None:
        """It has a number of ranks per host, of which the last host alone may run fewer."""
        *full, _ = job.ranks_of_hosts
        if job.mapping == "block" and all(ranks == job.ranks_of_a_host for ranks in full):
            return None
        return "the mapping block, with equal numbers of ranks on all nodes but the last"

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Without hosts, the first one of the job, which is this one."""
        hosts = ["--hosts", ",".join(job.hosts)] if job.hosts else []
        where = ["--ppn", str(job.ranks_of_a_host), *hosts]
        return ["-n", str(job.ranks), *where, "--cpu-bind", "none"]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """The transport is asked for by variables."""
        return dict(transport)


class Jsrun(Launcher):
    """IBM's jsrun, inside a job of LSF: a resource set for each host, with all that it has."""

    keeps = ("LSB_", "LSF_", "CSM_")

    def cannot(self, job: Job) -> str | None:
        """All resource sets have as many ranks. A set's host is its own choice."""
        if not job.hosts:
            return "nodes of a site, not one that it is called on (--on NAME)"
        if job.even and not job.in_order:
            return None
        return "the mappings block and round_robin, with equal numbers of ranks on all nodes"

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """The first hosts of the job; ranks as they are mapped; no binding of its own."""
        dealt = "cyclic" if job.mapping == "round_robin" else "packed"
        return [
            *(f"--nrs={len(job.hosts)}", "--rs_per_host=1"),
            *(f"--tasks_per_rs={job.ranks_of_a_host}", "--cpu_per_rs=ALL_CPUS"),
            *("--gpu_per_rs=ALL_GPUS", f"--launch_distribution={dealt}", "--bind=none"),
            "--exit_on_error=1",
        ]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Parameters of Spectrum MPI, which is made from Open MPI."""
        variables = {_variable(key): value for key, value in transport.items()}
        if job.oversubscribed:
            variables["OMPI_MCA_mpi_yield_when_idle"] = "1"
        return variables


def _variable(key: str) -> str:
    """The variable that says a setting: Open MPI's parameters have names in small letters."""
    return key if key.isupper() else f"OMPI_MCA_{key}"


LAUNCHERS: Mapping[str, Launcher] = {
    "openmpi": OpenMpi(),
    "mpich": Hydra(),
    "impi": IntelHydra(),
    "pals": Pals(),
    "jsrun": Jsrun(),
}


def named(name: str) -> Launcher:
    """The launcher that `Toolchain.launcher` names: of LAUNCHERS, srun, or srun-KIND (--mpi)."""
    srun, _, kind = name.partition("-")
    return Srun(kind or None) if srun == "srun" else LAUNCHERS[name]
