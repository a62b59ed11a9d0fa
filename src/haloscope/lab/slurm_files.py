# SPDX-License-Identifier: BSD-3-Clause
"""The files of a lab's Slurm: slurm.conf and topology.conf."""

from __future__ import annotations

import time
from pathlib import Path

from haloscope.lab.model import HEAD, Lab, address
from haloscope.lab.wiring import TRUNK

PARTITION = "lab"
CLUSTER = "lab"
URGENT = "urgent"
"""URGENT is the partition of the same nodes whose jobs come first: those of PARTITION that are in
their way are put back into the queue."""
MAX_MINUTES = 240
"""MAX_MINUTES is the time limit of both partitions: a lab is for tests, which are shorter."""
REQUEUED_S = 20
"""REQUEUED_S is how long a job that was put back into the queue waits at least, which is how long
the batch system's credentials hold: a launch that a busy machine begins later fails. Slurm's own
120 s are for slow file systems."""

BEGUN_S = 60
"""BEGUN_S is how long a job's script may take to begin: Slurm's own 10 s can be too short where all
cores of the machine are busy. How long daemons may take to answer (MessageTimeout) stays its 10 s:
with 60 s, beside a dead node, a job was killed two minutes after its time was over."""


def slurm_conf(lab: Lab, folder: Path, memory_mb: int) -> str:
    """slurm.conf. memory_mb: of a node."""
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
    """How slurm.conf names the daemon that keeps a record of jobs; Pass is munge's socket here."""
    return [
        "AccountingStorageType=accounting_storage/slurmdbd",
        f"AccountingStorageHost={address(HEAD)}",
        f"AccountingStoragePass={folder}/munge.socket",
    ]


def _first_job() -> int:
    """The number of a lab's first job: its second of the last hundred days and more.

    So no job of a later lab has the number of one of an earlier lab, which result folders note.
    """
    return 1 + int(time.time()) % 10_000_000


def _partition(lab: Lab, name: str, own: str) -> str:
    nodes = ",".join(lab.names)
    return f"PartitionName={name} Nodes={nodes} {own} MaxTime={MAX_MINUTES} DefaultTime=10 State=UP"


CGROUP_CONF = "CgroupPlugin=cgroup/v1\n"
"""CGROUP_CONF names the one that slurmd does not open before it is used, as it is not here."""
MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\n"
"""MPI_CONF lets PMIx write where each host has its own folder: /tmp is one for all of a lab."""


def topology_conf(lab: Lab) -> str:
    """topology.conf: the switches as they are joined."""
    lines = [
        f"SwitchName={name} Nodes={','.join(nodes)}" for name, nodes in lab.of_switch().items()
    ]
    if lab.switches > 1:
        lines.append(f"SwitchName={TRUNK} Switches={','.join(lab.switch_names)}")
    return "\n".join(lines) + "\n"
