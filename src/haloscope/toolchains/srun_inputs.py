# SPDX-License-Identifier: BSD-3-Clause
"""Variables that srun reads as its options, and which of them an inner launch keeps.

All of srun(1), INPUT ENVIRONMENT VARIABLES, of Slurm 22.05 and of later ones, and some that only
its program knows. A launch is a step of the job that this process runs in, on nodes and with ranks
that its command line names: what a user or an outer step said of another launch is removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_OF_JOB = "describes the job and its nodes"
_NAMED = "is given on the command line of each launch"
KEPT: Mapping[str, str] = {
    "SLURM_CONF": "names the configuration, which srun needs to find its controller",
    "SLURM_CLUSTERS": "names the controller of the job, for all Slurm commands",
    "SLURM_JOB_ID": _OF_JOB,
    "SLURM_JOB_NUM_NODES": f"{_OF_JOB}; {_NAMED}",
    "SLURM_NNODES": f"{_OF_JOB}; {_NAMED}",
    "SLURM_NPROCS": f"read by Hydra and Open MPI in a job; {_NAMED}",
    "SLURM_NTASKS": f"read by Hydra and Open MPI in a job; {_NAMED}",
    "SLURM_GPUS_PER_NODE": f"{_OF_JOB}: ranks get all GPUs of their node",
    "SLURM_JOB_NAME": "is ignored inside a job",
}

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
"""_FAMILIES are what an outer step says of the place of its tasks, in parts."""


def is_removed(name: str) -> bool:
    """Whether an inner launch must not get a variable, as srun would follow it."""
    return name in REMOVED or _FAMILIES.fullmatch(name) is not None
