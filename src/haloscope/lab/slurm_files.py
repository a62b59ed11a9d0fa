# SPDX-License-Identifier: BSD-3-Clause
"""The files of a lab's Slurm: slurm.conf and topology.conf."""

from __future__ import annotations

import time
from pathlib import Path

from haloscope.lab import HEAD, Lab, address
from haloscope.lab.wiring import TRUNK

PARTITION = "lab"
CLUSTER = "lab"
URGENT = "urgent"
"""URGENT is a partition of the same nodes with higher priority: it requeues jobs of PARTITION that
are in the way.
"""
MAX_MINUTES = 240
"""MAX_MINUTES is the time limit of both partitions: a lab is for short tests."""
REQUEUED_S = 20
"""REQUEUED_S is the minimum wait of a requeued job. It equals the lifetime of Slurm's credentials,
because a launch that a busy machine starts later would fail. Slurm's default of 120 s is for slow
file systems.
"""

BEGUN_S = 60
"""BEGUN_S is the time limit for the start of a job script. Slurm's default of 10 s can be too short
if all cores of the machine are busy. The time limit for answers of daemons (MessageTimeout) stays
10 s: with 60 s and a dead node, a job was killed two minutes after its time limit.
"""


def slurm_conf(lab: Lab, folder: Path, memory_mb: int) -> str:
    """Return slurm.conf. memory_mb: per node."""
    nodes = [
        f"NodeName={name} NodeAddr={address(name)} Sockets=1 CoresPerSocket={lab.cores}"
        f" ThreadsPerCore=1 RealMemory={memory_mb} State=UNKNOWN"
        for name in lab.names
    ]
    lines = [
        f"ClusterName={CLUSTER}",
        f"SlurmctldHost={HEAD}({address(HEAD)})",
        "SlurmUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket,cred_expire={REQUEUED_S}",
        "CredType=cred/munge",
        f"StateSaveLocation={folder}/state",
        f"SlurmctldPidFile={folder}/{HEAD}.pid",
        f"SlurmctldLogFile={folder}/{HEAD}.log",
        f"SlurmdSpoolDir={folder}/%n.spool",
        f"SlurmdPidFile={folder}/%n.pid",
        f"SlurmdLogFile={folder}/%n.log",
        "SlurmdParameters=config_overrides",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "TopologyPlugin=topology/tree",
        "MpiDefault=none",
        "SchedulerParameters=batch_sched_delay=0,bf_interval=2,sched_min_interval=100000",
        "ReturnToService=2",
        "JobRequeue=1",
        f"FirstJobId={_first_job()}",
        "PreemptType=preempt/partition_prio",
        "PreemptMode=REQUEUE",
        "KillWait=5",
        "SlurmdTimeout=180",
        f"BatchStartTimeout={BEGUN_S}",
        *(_accounted(folder) if lab.accounting else ()),
        *nodes,
        _partition(lab, PARTITION, "Default=YES PriorityTier=1"),
        _partition(lab, URGENT, "Default=NO PriorityTier=2"),
    ]
    return "\n".join(lines) + "\n"


def _accounted(folder: Path) -> list[str]:
    """Return the lines of slurm.conf for the accounting daemon; Pass is munge's socket here."""
    return [
        "AccountingStorageType=accounting_storage/slurmdbd",
        f"AccountingStorageHost={address(HEAD)}",
        f"AccountingStoragePass={folder}/munge.socket",
    ]


def _first_job() -> int:
    """Return the number of a lab's first job, derived from the current time within about 100 days.

    Job numbers of a later lab thus differ from those of an earlier one, which result folders
    contain.
    """
    return 1 + int(time.time()) % 10_000_000


def _partition(lab: Lab, name: str, own: str) -> str:
    nodes = ",".join(lab.names)
    return f"PartitionName={name} Nodes={nodes} {own} MaxTime={MAX_MINUTES} DefaultTime=10 State=UP"


CGROUP_CONF = "CgroupPlugin=cgroup/v1\n"
"""CGROUP_CONF selects the plugin that slurmd does not open before using it: it does not
exist here.
"""
MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\n"
"""MPI_CONF lets PMIx write to a folder that each host has separately; the hosts share /tmp."""


def topology_conf(lab: Lab) -> str:
    """Return topology.conf: the switches and their connections."""
    lines = [
        f"SwitchName={name} Nodes={','.join(nodes)}" for name, nodes in lab.of_switch().items()
    ]
    if lab.switches > 1:
        lines.append(f"SwitchName={TRUNK} Switches={','.join(lab.switch_names)}")
    return "\n".join(lines) + "\n"
