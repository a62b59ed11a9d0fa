"""The launchers of MPI libraries: what each is told to start the ranks of a job, unbound.

A launcher is a small class with a line in LAUNCHERS. Ranks bind themselves (bind_rank.sh), which
knows the variables in which launchers number the ranks of a host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from haloscope.toolchains.job import Job
from haloscope.toolchains.transport import TransportSettings


class Launcher(Protocol):
    """Starts ranks. transport: the MPI library's own words for it (transport.py).

    keeps: how the variables begin which an outer job left and which it needs all the same.
    says_where: the variables that say in which folder ranks share memory; where there are none,
    its library names what it shares itself (host/scratch.py).
    """

    keeps: tuple[str, ...] = ()
    says_where: tuple[str, ...] = ()

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """What stands between its own name and that of what ranks run."""

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """The variables that it, and the library of its ranks, are given."""


class OpenMpi(Launcher):
    """Open MPI's mpirun, of version 4 and of later ones."""

    says_where = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Slots on every host, and MCA parameters."""
        if job.oversubscribed:
            transport = {**transport, "mpi_yield_when_idle": "1"}
        hosts = ",".join(f"{host}:{job.ranks_of_a_host}" for host in job.hosts or ("localhost",))
        words = [word for key, value in transport.items() for word in ("--mca", key, value)]
        slots = [
            "--host",
            hosts,
            "--map-by",
            "slot:OVERSUBSCRIBE",
        ]  # the plan has counted processors
        return ["-n", str(job.ranks), *slots, "--bind-to", "none", *words]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """It refuses to run as root, as in a container, unless told twice."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Hydra(Launcher):
    """Hydra, as MPICH has it."""

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """Ranks of this host are forked; without that word it looks for a batch system."""
        where = _hosts(job) or ["-launcher", "fork"]
        return ["-n", str(job.ranks), *where, "-bind-to", "none"]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """The transport is asked for by variables."""
        return dict(transport)


class IntelHydra(Launcher):
    """Hydra, as Intel MPI has it."""

    def arguments(self, job: Job, transport: TransportSettings) -> list[str]:
        """All else is said by variables."""
        return ["-n", str(job.ranks), *_hosts(job)]

    def environment(self, job: Job, transport: TransportSettings) -> dict[str, str]:
        """Its own binding is switched off."""
        env = {**transport, "I_MPI_PIN": "0"}
        if not job.hosts:
            env["I_MPI_HYDRA_BOOTSTRAP"] = "fork"
        elif job.transport is None:  # the usual one is that of a single host
            env.pop("I_MPI_FABRICS", None)
        if job.oversubscribed:  # wait by sched_yield: half a round trip of 0.1 ms, not 2 ms
            env["I_MPI_THREAD_YIELD"] = "3"
        return env


def _hosts(job: Job) -> list[str]:
    """Hydra's words for the hosts of a job; none for this one."""
    if not job.hosts:
        return []
    return ["-hosts", ",".join(job.hosts), "-ppn", str(job.ranks_of_a_host)]


LAUNCHERS: Mapping[str, Launcher] = {
    "openmpi": OpenMpi(),
    "mpich": Hydra(),
    "impi": IntelHydra(),
}
"""All of them, by the name in `Toolchain.launcher`: that of the library's family, if none is."""
