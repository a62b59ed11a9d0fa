# SPDX-License-Identifier: BSD-3-Clause
"""The launchers of MPI libraries: options that start the ranks of a job, unbound.

A launcher is a small class that `named` returns. Ranks bind themselves (bind_rank.sh), which uses
the launchers' variables with the rank number on a host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from haloscope.toolchains.launching import Job
from haloscope.toolchains.transport import TransportSettings


class Launcher(Protocol):
    """A launcher of ranks. transport: the MPI library's own settings for it (transport.py).

    keeps: prefixes of an outer job's variables that it needs. forks: whether it starts the ranks of
    one host itself, and then needs none of them. says_where: variables for the folder of shared
    memory; if empty, the library determines the names itself (host/scratch.py).
    """

    keeps: tuple[str, ...] = ()
    forks: bool = False
    says_where: tuple[str, ...] = ()

    def cannot(self, job: Job) -> str | None:
        """Return which layouts it supports, if the job's is not one of them; otherwise None."""
        return None

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Return its options, between its name and the command of the ranks."""

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Return the variables for it and for the library of its ranks."""


_OF_JOBS = ("SLURM_", "PBS_", "LSB_")
"""_OF_JOBS are prefixes of variables that describe a job's hosts to launchers, which use them to
start processes there.
"""


class OpenMpi(Launcher):
    """Open MPI's mpirun, from version 4 on."""

    keeps = _OF_JOBS
    forks = True
    says_where = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Return slots for every host, or the host of each rank, and MCA parameters."""
        if job.oversubscribed:
            transport = {**transport, "mpi_yield_when_idle": "1"}
        words = [word for key, value in transport.items() for word in ("--mca", key, value)]
        if job.layout.mapping == "block" or not job.hosts:
            hosts = _counted(job.hosts or ("localhost",), job.layout.ranks_of_nodes)
            mapped = "slot:OVERSUBSCRIBE"  # the plan has counted processors
        else:
            hosts, mapped = job.hosts_of_ranks, "seq:OVERSUBSCRIBE"
        slots = ["--host", ",".join(hosts), "--map-by", mapped]
        return ["-n", str(job.layout.ranks), *slots, "--bind-to", "none", *words]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Return the variables without which it refuses to run as root, as in a container."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Hydra(Launcher):
    """MPICH's Hydra. It starts its proxies with the batch system's launcher, such as srun."""

    keeps = _OF_JOBS
    forks = True

    def cannot(self, job: Job) -> str | None:
        """Return an error for other orders: they need a host list, which srun refuses."""
        return "the mappings block and round_robin" if job.in_order else None

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Fork the ranks of this host; without that option it searches for a batch system."""
        where = _hosts(job) or ["-launcher", "fork"]
        return ["-n", str(job.layout.ranks), *where, "-bind-to", "none"]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Select the transport with variables."""
        return dict(transport)


class IntelHydra(Hydra):
    """Intel MPI's Hydra."""

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Return only hosts and ranks; everything else is set by variables."""
        return ["-n", str(job.layout.ranks), *_hosts(job)]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Switch off its own binding."""
        env = {**transport, "I_MPI_PIN": "0"}
        if len(job.hosts) < 2:
            env["I_MPI_HYDRA_BOOTSTRAP"] = "fork"
        else:
            env["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] = "0"  # -ppn, not the job's own placement
            if job.bootstrap is not None:  # otherwise it detects the batch system
                env["I_MPI_HYDRA_BOOTSTRAP"] = job.bootstrap
            if job.transport is None:  # the default is the one for a single host
                env.pop("I_MPI_FABRICS", None)
        if job.oversubscribed:  # wait with sched_yield: half a round trip of 0.1 ms instead of 2 ms
            env["I_MPI_THREAD_YIELD"] = "3"
        return env


def _hosts(job: Job) -> list[str]:
    """Return Hydra's options for the hosts of a job, with their ranks; none for this host alone."""
    if len(job.hosts) < 2:
        return []
    if job.layout.mapping == "block" and not job.layout.even:
        return ["-hosts", ",".join(_counted(job.hosts, job.layout.ranks_of_nodes))]
    at_a_time = 1 if job.layout.mapping == "round_robin" else job.ranks_of_a_host
    return ["-hosts", ",".join(job.hosts), "-ppn", str(at_a_time)]


def _counted(hosts: Sequence[str], ranks: Sequence[int]) -> list[str]:
    return [f"{host}:{number}" for host, number in zip(hosts, ranks, strict=True)]


@dataclass(frozen=True)
class Srun(Launcher):
    """Slurm's srun, inside a Slurm job.

    mpi: its MPI plugin (srun --mpi=list); None: the cluster's default.
    """

    mpi: str | None = "pmix"
    keeps = ("SLURM_",)

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Use all or some nodes of the job, map ranks as requested, and bind nothing."""
        nodes = max(1, len(job.hosts))
        hosts = list(job.hosts)
        mapped = "cyclic" if job.layout.mapping == "round_robin" else "block"
        if job.in_order or not (job.layout.even or mapped == "cyclic"):
            # a host appears once per rank, in rank order
            hosts, mapped = job.hosts_of_ranks, "arbitrary"
        where = ["--nodelist", ",".join(hosts)] if hosts else []
        share = [] if mapped == "arbitrary" else [f"--ntasks-per-node={job.ranks_of_a_host}"]
        return [
            *([f"--mpi={self.mpi}"] if self.mpi else []),
            *(f"--nodes={nodes}", f"--ntasks={job.layout.ranks}", *share, *where),
            *(f"--distribution={mapped}", "--overlap", "--overcommit", "--cpu-bind=none"),
            *("--kill-on-bad-exit=1", "--export=ALL"),
        ]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Return the settings that the library's own launcher would get as options or variables."""
        variables = {_variable(key): value for key, value in transport.items()}
        if len(job.hosts) > 1 and job.transport is None:
            variables.pop("I_MPI_FABRICS", None)
        if job.oversubscribed:
            variables |= {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3"}
        return {**variables, "I_MPI_PIN": "0"}


class Pals(Launcher):
    """HPE's mpiexec (PALS), inside a PBS job: it fills hosts in order."""

    keeps = ("PBS_",)

    def cannot(self, job: Job) -> str | None:
        """Return an error for uneven ranks: only the last host may have fewer."""
        *full, _ = job.layout.ranks_of_nodes
        if job.layout.mapping == "block" and all(ranks == job.ranks_of_a_host for ranks in full):
            return None
        return "block mapping, with the same number of ranks on every node but the last"

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Without hosts, use the first one of the job, which is this one."""
        hosts = ["--hosts", ",".join(job.hosts)] if job.hosts else []
        where = ["--ppn", str(job.ranks_of_a_host), *hosts]
        return ["-n", str(job.layout.ranks), *where, "--cpu-bind", "none"]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Select the transport with variables."""
        return dict(transport)


class Jsrun(Launcher):
    """IBM's jsrun, inside an LSF job: one resource set per host, with all its resources."""

    keeps = ("LSB_", "LSF_", "CSM_")

    def cannot(self, job: Job) -> str | None:
        """Return an error for uneven ranks or a list of hosts: jsrun chooses the host of a set."""
        if not job.hosts:
            return "the nodes of a site (--on NAME), not the node on which it is called"
        if job.layout.even and not job.in_order:
            return None
        return "the mappings block and round_robin, with equal numbers of ranks on all nodes"

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Use the first hosts of the job, map ranks as requested, and bind nothing."""
        dealt = "cyclic" if job.layout.mapping == "round_robin" else "packed"
        return [
            *(f"--nrs={len(job.hosts)}", "--rs_per_host=1"),
            *(f"--tasks_per_rs={job.ranks_of_a_host}", "--cpu_per_rs=ALL_CPUS"),
            *("--gpu_per_rs=ALL_GPUS", f"--launch_distribution={dealt}", "--bind=none"),
            "--exit_on_error=1",
        ]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Return parameters of Spectrum MPI, which is derived from Open MPI."""
        variables = {_variable(key): value for key, value in transport.items()}
        if job.oversubscribed:
            variables["OMPI_MCA_mpi_yield_when_idle"] = "1"
        return variables


def _variable(key: str) -> str:
    """Return the variable of a setting: Open MPI's parameters have lower-case names."""
    return key if key.isupper() else f"OMPI_MCA_{key}"


LAUNCHERS: Mapping[str, Launcher] = {
    "openmpi": OpenMpi(),
    "mpich": Hydra(),
    "impi": IntelHydra(),
    "pals": Pals(),
    "jsrun": Jsrun(),
}


def named(name: str) -> Launcher:
    """Return the launcher that `Toolchain.launcher` names: of LAUNCHERS, srun, or srun-KIND
    (--mpi).
    """
    srun, _, kind = name.partition("-")
    return Srun(kind or None) if srun == "srun" else LAUNCHERS[name]
