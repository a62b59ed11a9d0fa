# SPDX-License-Identifier: BSD-3-Clause
"""Command line and environment that start the ranks of a job with an MPI library."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

from haloscope.errors import Problem, UserError, nearest, reject
from haloscope.host.scratch import Scratch
from haloscope.quantities import count
from haloscope.toolchains import fftw, libfabric
from haloscope.toolchains.launching import Job, launchers, tuning
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import TALKATIVE, USUAL
from haloscope.toolchains.transport import names as names_of
from haloscope.toolchains.transport import settings as asking_for

_WHY_REMOVED: Mapping[str, str] = {
    "sets the share, the number per node, or the placement of tasks": """
        SLURM_CORE_SPEC SLURM_CPU_BIND SLURM_CPUS_PER_GPU SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK
        SLURM_DIST_PLANESIZE SLURM_DISTRIBUTION SLURM_EXACT SLURM_EXCLUSIVE SLURM_GPU_BIND
        SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GRES_FLAGS SLURM_HINT SLURM_HOSTFILE
        SLURM_ARBITRARY_NODELIST SLURM_MEM_BIND SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU
        SLURM_MEM_PER_NODE SLURM_NCORES_PER_SOCKET SLURM_NSOCKETS_PER_NODE SLURM_NTASKS_PER_CORE
        SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_SOCKET SLURM_NTASKS_PER_TRES
        SLURM_OVERCOMMIT SLURM_OVERLAP SLURM_SPREAD_JOB SLURM_THREAD_SPEC SLURM_THREADS
        SLURM_THREADS_PER_CORE SLURM_TRES_BIND SLURM_TRES_PER_TASK SLURM_USE_MIN_NODES
        SLURM_SEGMENT_SIZE SLURM_STEPMGR
    """,
    "requests devices on all nodes of the job, but a launch may use fewer nodes": """
        SLURM_GPUS SLURM_GRES SLURM_STEP_GRES
    """,
    "requests a job, but a launch is already in one": """
        SLURM_ACCOUNT SLURM_BURST_BUFFER SLURM_CLUSTER_CONSTRAINT SLURM_CONSTRAINT SLURM_DEADLINE
        SLURM_DELAY_BOOT SLURM_NETWORK SLURM_PARTITION SLURM_POWER SLURM_PREFER SLURM_QOS
        SLURM_REQ_SWITCH SLURM_RESERVATION SLURM_WAIT4SWITCH SLURM_WCKEY
    """,
    "delays a launch or ends it early, so its time is wrong": """
        SLURM_DEPENDENCY SLURM_EXIT_IMMEDIATE SLURM_IMMEDIATE SLURM_KILL_BAD_EXIT SLURM_NO_KILL
        SLURM_OOM_KILL_STEP SLURM_SIGNAL SLURM_TIMELIMIT SLURM_WAIT
    """,
    "changes the program that is started, or its environment": """
        SLURM_BCAST SLURM_BCAST_EXCLUDE SLURM_COMPRESS SLURM_CONTAINER SRUN_CONTAINER SLURM_EPILOG
        SLURM_EXPORT_ENV SRUN_EXPORT_ENV SLURM_MULTI_PROG SLURM_SRUN_MULTI SLURM_PROLOG
        SLURM_REMOTE_CWD SLURM_SEND_LIBS SLURM_TASK_EPILOG SLURM_TASK_PROLOG SLURM_TEST_EXEC
        SLURM_WORKING_DIR
    """,
    "changes how ranks find each other": """
        SLURM_MPI_TYPE SLURM_PMI_KVS_NO_DUP_KEYS SLURM_RESV_PORTS PMI_FANOUT PMI_FANOUT_OFF_HOST
        PMI_TIME
    """,
    "slows down ranks or measures them": """
        SLURM_ACCTG_FREQ SLURM_CPU_FREQ_REQ SLURM_GPU_FREQ SLURM_PRIO_PROCESS SLURM_PROFILE
    """,
    "changes the output, its destination, or the meaning of exit codes": """
        SLURM_DEBUG SRUN_DEBUG SLURM_DEBUG_FLAGS SLURMD_DEBUG SLURM_DISABLE_STATUS SLURM_EXIT_ERROR
        SLURM_LABELIO SLURM_OPEN_MODE SLURM_SRUN_REDUCE_TASK_EXIT_MSG SLURM_STDERRMODE
        SLURM_STDINMODE SLURM_STDOUTMODE SLURM_STEP_KILLED_MSG_NODE_ID SLURM_UMASK
        SLURM_UNBUFFEREDIO SRUN_ERROR SRUN_INPUT SRUN_OUTPUT
    """,
}
REMOVED: Mapping[str, str] = {
    name: why for why, names in _WHY_REMOVED.items() for name in names.split()
}

_FAMILIES = re.compile(r"SLURM_\w*(CPU|MEM|GPU|TRES)_BIND\w*|SLURM_DIST\w*")
"""_FAMILIES match groups of variables with the placement of an outer step's tasks."""


def is_removed(name: str) -> bool:
    """Return whether to remove a variable for an inner launch, because srun would follow it."""
    return name in REMOVED or _FAMILIES.fullmatch(name) is not None


_OUTER_JOB = re.compile(
    # set by an outer mpirun or batch system for its own ranks
    r"OMPI_(COMM_WORLD|UNIVERSE|APP|FIRST_RANKS|FILE_LOCATION|NUM_APP)|OMPI_MCA_(orte|ess|pmix|"
    r"initial_wdir)|PMI|PMIX|PRTE_|HYDRA_|HYDI_|MPI_LOCAL|MPIEXEC_|I_MPI_(HYDRA|PIN|MPIRUN)|"
    r"SLURM_|SRUN_|PBS_|LSB_|LOADL_|PE_HOSTFILE|JSM_|"
    r"PALS_(RANKID|LOCAL_|NODEID|DEPTH|APID|APINFO|SPOOL)|"
    # would move our threads
    r"OMP_|GOMP_|KMP_"
)

_OF_LSF = re.compile(r"LSB_(AFFINITY_HOSTFILE|BIND_CPU_LIST|TASK_GEOMETRY|PJL_TASK_GEOMETRY)")


_MCA = ("PRTE_MCA_", "PMIX_MCA_")
"""_MCA are prefixes of parameters of Open MPI's launcher, which a user may set. An outer mpirun
also sets some for its ranks.
"""
_OF_RANKS = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK"}
"""_OF_RANKS are variables in the ranks of an outer mpirun."""


def starter(toolchain: Toolchain) -> str:
    """Return what starts ranks, in words: srun with its plugin, or the library's own launcher."""
    launcher = launchers.named(toolchain.launcher or toolchain.family)
    kind = launcher.mpi if isinstance(launcher, launchers.Srun) else None
    if toolchain.launcher == "pals":
        return f"{toolchain.mpirun.name} (PALS)"
    return toolchain.mpirun.name + (f" --mpi={kind}" if kind else "")


def cannot(toolchain: Toolchain, job: Job) -> str | None:
    """Return why a library's launcher cannot start a job, or None."""
    supported = launchers.named(toolchain.launcher or toolchain.family).cannot(job)
    return supported and f"{starter(toolchain)} supports only {supported}"


def _node_of_this_job(toolchain: Toolchain, inherited: Mapping[str, str]) -> str:
    """Return Slurm's name for this node of its job. Raise UserError outside a job."""
    if node := inherited.get("SLURMD_NODENAME"):
        return node
    where = f"{toolchain.name} ({toolchain.version})"
    own = "use an MPI library with its own launcher: --toolchain openmpi"
    if job := inherited.get("SLURM_JOB_ID"):
        what = f"{toolchain.mpirun} starts ranks on the nodes of Slurm job {job}, but haloscope "
        what += "is not running on any of these nodes (SLURMD_NODENAME is not set)"
        remedy = f"open a shell on a node (srun --pty bash), use a site (--on NAME), or {own}"
        raise UserError(Problem(where, what, remedy))
    raise UserError(_outside(toolchain, "Slurm", "srun --pty bash"))


def _outside(toolchain: Toolchain, system: str, inside: str) -> Problem:
    """Return a problem: the launcher works only inside a job. inside: command for a
    shell in one.
    """
    what = f"with this library, {toolchain.mpirun} starts ranks only inside a {system} job"
    remedy = "use a site (haloscope site detect, then --on NAME), run this command inside a job "
    remedy += f"({inside}), or use an MPI library with its own launcher: --toolchain openmpi"
    return Problem(f"{toolchain.name} ({toolchain.version})", what, remedy)


def transports(toolchain: Toolchain) -> list[str]:
    """Return the names of the transports that a job with this library can request."""
    return names_of(toolchain.family, libfabric.providers(toolchain.prefix))


def problems(toolchain: Toolchain, job: Job) -> list[Problem]:
    """Return all reasons why this job cannot be started."""
    wrong = job.problems()
    if job.transport is not None and job.transport not in (there := transports(toolchain)):
        what = f"{toolchain.version} has no transport '{job.transport}'"
        wrong.append(Problem("transport", what, nearest(job.transport, there)))
    if not wrong and (why := cannot(toolchain, job)):
        wrong.append(Problem("layout", why, "change the layout, or use another MPI library"))
    if not wrong and job.oversubscribed and not job.oversubscribe:
        what = (
            f"{job.ranks_of_a_host} ranks x {job.layout.threads} threads require more than the "
            f"{count(len(job.processors), 'available processor')}"
        )
        wrong.append(Problem("layout", what, "use fewer ranks or threads, or --oversubscribe"))
    return wrong


def launch_command(
    toolchain: Toolchain,
    job: Job,
    program: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    talkative: bool = False,
    scratch: Scratch | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Return the argument list and the complete environment that start `program` as this job.

    The launcher starts the ranks without binding; each rank binds itself (bind_rank.sh) before it
    becomes `program`. environment: base environment; None: that of this process. Variables of an
    outer job are removed. talkative: let the library print which transport it uses. scratch:
    folders for temporary files of launcher and library. Raise UserError if the job has `problems`.
    """
    reject(problems(toolchain, job))
    launcher = launchers.named(toolchain.launcher or toolchain.family)
    inherited = os.environ if environment is None else environment
    transport = tuning.giving_way(USUAL[toolchain.family], toolchain, inherited)
    if job.transport is not None:
        transport = asking_for(toolchain.family, job.transport)
    if talkative:
        transport = {**transport, **TALKATIVE[toolchain.family]}
    if isinstance(launcher, launchers.Srun) and not job.hosts:
        job = replace(job, hosts=(_node_of_this_job(toolchain, inherited),))
    if isinstance(launcher, launchers.Pals) and "PBS_JOBID" not in inherited:
        raise UserError(_outside(toolchain, "PBS", "qsub -I"))
    needed = len(job.hosts) > 1 or not launcher.forks
    env = {
        key: value
        for key, value in inherited.items()
        if not is_removed(key)
        and (
            not _OUTER_JOB.match(key)
            or (key.startswith(_MCA) and not _OF_RANKS & inherited.keys())
            or (needed and key.startswith(launcher.keeps) and not _OF_LSF.fullmatch(key))
        )
    }
    env |= toolchain.environment() | fftw.environment()
    env |= job.openmp() | launcher.environment(job, transport)
    if scratch is not None:
        env["TMPDIR"] = str(scratch.folder)
        if scratch.memory is not None:
            env |= {key: str(scratch.memory) for key in launcher.says_where if key not in env}
    lists = ":".join(",".join(map(str, cpus)) for cpus in job.cpus_of_ranks())
    bound = ["sh", str(files("haloscope.toolchains.launching") / "bind_rank.sh"), lists, *program]
    return [str(toolchain.mpirun), *launcher.arguments(job, transport), *bound], env
