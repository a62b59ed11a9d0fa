"""Starting ranks of an MPI library on this host: the command line, the environment, the binding."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from haloscope.errors import Problem, UserError, nearest
from haloscope.host import machine
from haloscope.toolchains import libfabric
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import TALKATIVE, USUAL
from haloscope.toolchains.transport import names as names_of
from haloscope.toolchains.transport import settings as asking_for

PLACES = ("cores", "threads", "sockets")
BINDS = ("close", "spread")

_OUTER_JOB = re.compile(
    # what an outer mpirun or batch system tells its own ranks
    r"OMPI_(COMM_WORLD|UNIVERSE|APP|FIRST_RANKS|FILE_LOCATION|NUM_APP)|OMPI_MCA_(orte|ess|pmix|"
    r"initial_wdir)|PMI|PMIX|PRTE_|HYDRA_|HYDI_|MPI_LOCAL|MPIEXEC_|I_MPI_(HYDRA|PIN|MPIRUN)|"
    r"SLURM_|PBS_|LSB_|LOADL_|PE_HOSTFILE|"
    # and what would move our threads
    r"OMP_|GOMP_|KMP_"
)


@dataclass(frozen=True)
class Job:
    """A job on this host: how many ranks and threads, and on which processors.

    places, bind:  OpenMP's words: what one thread is bound to, and whether ranks and threads sit
                   side by side on the first processors or spread over all of them.
    oversubscribe: more ranks x threads than processors were asked for: they then share them all.
    transport:     one of `transports(toolchain)`; None leaves the choice to the library.
    placement:     how two ranks lie to each other, one of machine.PLACEMENTS that are here.
    cpus:          the processors to use, in order; none given means one of each core of this
                   machine (each hardware thread where places is `threads`).
    """

    ranks: int
    threads: int = 1
    places: str = "cores"
    bind: str = "close"
    oversubscribe: bool = False
    transport: str | None = None
    placement: str | None = None
    cpus: tuple[int, ...] = ()

    @property
    def processors(self) -> tuple[int, ...]:
        """The processors of the whole job, in order."""
        pair = machine.placements()[self.placement] if self.placement else None
        return self.cpus or pair or tuple(machine.processors(self.places))

    @property
    def oversubscribed(self) -> bool:
        """Whether processors have to be shared."""
        return self.ranks * self.threads > len(self.processors)

    def cpus_of_ranks(self) -> list[tuple[int, ...]]:
        """The processors of each rank: `threads` of its own, or all of them where shared."""
        cpus = self.processors
        if self.oversubscribed:
            return [cpus] * self.ranks
        used = self.ranks * self.threads
        if self.bind == "spread":
            cpus = tuple(cpus[i * len(cpus) // used] for i in range(used))
        return [cpus[r * self.threads : (r + 1) * self.threads] for r in range(self.ranks)]


def transports(toolchain: Toolchain) -> list[str]:
    """The names of the transports that a launch with this library can ask for."""
    return names_of(toolchain.family, libfabric.providers(toolchain.prefix))


def problems(toolchain: Toolchain, job: Job) -> list[Problem]:
    """All that keeps this launch from being started; empty when it can be."""
    found: list[Problem] = []
    for key in ("ranks", "threads"):
        if (count := getattr(job, key)) < 1:
            found.append(Problem(key, f"{count} is not a number of {key}", "1 or more"))
    for key, known in (("places", PLACES), ("bind", BINDS)):
        if (word := getattr(job, key)) not in known:
            found.append(Problem(key, f"'{word}' is unknown", nearest(word, known)))
    if job.transport is not None and job.transport not in (there := transports(toolchain)):
        what = f"{toolchain.version} has no '{job.transport}'"
        found.append(Problem("transport", what, nearest(job.transport, there)))
    if not found and job.oversubscribed and not job.oversubscribe:
        what = f"{job.ranks} ranks x {job.threads} threads on {len(job.processors)} processors"
        found.append(Problem("layout", what, "ask for fewer, or for --oversubscribe"))
    return found


def launch_command(
    toolchain: Toolchain,
    job: Job,
    program: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    talkative: bool = False,
) -> tuple[list[str], dict[str, str]]:
    """The argument list and the whole environment that start `program` on this host.

    The launcher starts the ranks and binds nothing; each rank binds itself (bind_rank.sh) before
    it becomes `program`. environment is what to start from: this process's own, if None. What an
    outer job left there is taken out. talkative: the library says which transport it uses.
    UserError where the launch has `problems`.
    """
    if found := problems(toolchain, job):
        raise UserError(found)
    inherited = os.environ if environment is None else environment
    env = {key: value for key, value in inherited.items() if not _OUTER_JOB.match(key)}
    env |= toolchain.environment() | _openmp(job)
    transport = USUAL[toolchain.family]
    if job.transport is not None:
        transport = asking_for(toolchain.family, job.transport)
    if talkative:
        transport = {**transport, **TALKATIVE[toolchain.family]}
    ranks = str(job.ranks)
    argv = [str(toolchain.mpirun), "-n", ranks]
    if toolchain.family == "openmpi":
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        argv += ["--host", f"localhost:{ranks}", "--bind-to", "none"]
        if job.oversubscribed:
            transport = {**transport, "mpi_yield_when_idle": "1"}
        argv += [word for key, value in transport.items() for word in ("--mca", key, value)]
    elif toolchain.family == "mpich":
        env |= transport
        argv += ["-launcher", "fork", "-bind-to", "none"]
    else:
        env |= {**transport, "I_MPI_PIN": "0", "I_MPI_HYDRA_BOOTSTRAP": "fork"}
        if job.oversubscribed:  # wait by sched_yield: half a round trip of 0.1 ms, not 2 ms
            env["I_MPI_THREAD_YIELD"] = "3"
    lists = ":".join(",".join(map(str, cpus)) for cpus in job.cpus_of_ranks())
    return [*argv, "sh", str(files("haloscope.toolchains") / "bind_rank.sh"), lists, *program], env


def _openmp(job: Job) -> dict[str, str]:
    env = {"OMP_NUM_THREADS": str(job.threads), "OMP_DYNAMIC": "false"}
    if job.oversubscribed:  # bound threads would all sit on the first processor
        return env | {"OMP_PROC_BIND": "false"}
    return env | {"OMP_PLACES": job.places, "OMP_PROC_BIND": job.bind}
