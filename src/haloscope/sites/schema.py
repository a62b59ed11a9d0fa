# SPDX-License-Identifier: BSD-3-Clause
"""What a site file says: the batch system, its partitions, and how ranks are started there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    WithJsonSchema,
)

_Word = Annotated[str, StringConstraints(pattern=r"^[\w][\w+:@=,%-]*([./][\w+:@=,%-]+)*$")]
"""_Word is what may stand in a job script and be taken for itself: no option, no pattern, and of
modules no path, which would be a file of somebody else's choice."""
_Features = Annotated[str, StringConstraints(pattern=r"^[\w(\[][\w.&|,*()\[\]:-]*$")]
"""_Features is what sbatch takes for features of nodes, as [rack1|rack2]&gpu; no shell reads it."""

_Variable = Annotated[str, StringConstraints(pattern=r"^(SLURM|MUNGE)_[A-Z0-9_]+$")]
"""_Variable is one that names a file of the batch system: another one, as PATH, could make a site
file of somebody else run what it likes where jobs are submitted."""


ASKED: Mapping[str, Mapping[str, str]] = {
    "slurm": {
        "account": "--account",
        "qos": "--qos",
        "constraint": "--constraint",
        "reservation": "--reservation",
        "gpus": "--gpus-per-node",
        "memory": "--mem",
        "tasks_per_node": "--ntasks-per-node",
    },
    "pbs": {"account": "-A"},
    "lsf": {"account": "-P", "reservation": "-U"},
    "flux": {"account": "--bank", "constraint": "--requires"},
}
"""ASKED has for each batch system the keys of a site file that its jobs can be asked for with, and
the option that each is. The others are refused there."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


COUNT_LIMIT = 1_000_000
"""COUNT_LIMIT is the largest number of nodes or cores that is taken: no cluster has a million."""
_Memory = Annotated[
    str,
    StringConstraints(pattern=r"^\d{1,9}[KMGT]?$"),
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\d{1,9}[KMGT]?$"},
                {"type": "integer", "minimum": 0},
            ]
        }
    ),
]
"""_Memory is what sbatch takes for a node's memory: 0, 4096, 64G."""
_Count = Annotated[int, Field(strict=True, ge=1, le=COUNT_LIMIT)]


class Partition(_Table):
    """Nodes that are given out together, all alike as far as jobs may count on it."""

    name: _Word = Field(description="the partition's name")
    nodes: _Count = Field(description="a whole number of nodes, from 1 to 1,000,000")
    cores: _Count = Field(description="a whole number of cores a node, from 1 to 1,000,000")
    threads_per_core: PositiveInt = Field(1, description="hardware threads of a core, from 1")
    memory_mb: PositiveInt = Field(description="a node's memory that jobs may have, in MiB")
    max_minutes: PositiveInt | None = Field(
        None, description="the longest job in minutes; leave it out where there is no limit"
    )
    max_nodes: _Count | None = Field(
        None,
        description="the most nodes of a job, by the partition or by your QOS: a whole number from "
        "1 to 1,000,000; leave it out where there is no limit",
    )

    @property
    def nodes_of_a_job(self) -> int:
        """The most nodes that one job gets."""
        return min(self.nodes, self.max_nodes or self.nodes)


class BatchSite(_Table):
    """A cluster with a batch system. name: that of its file."""

    name: str
    source: str = Field(description="where this is from, and when: a text")
    scheduler: Literal["slurm", "pbs", "lsf", "flux"] = Field(
        description="slurm, pbs (PBS Pro, OpenPBS), lsf or flux"
    )
    partition: _Word = Field(
        description="the partition (elsewhere: queue) that jobs go to, one of [[partitions]]"
    )
    partitions: tuple[Partition, ...] = Field(
        min_length=1,
        description="[[partitions]] tables, each with name, nodes, cores, memory_mb, max_minutes, "
        "max_nodes",
    )
    launcher: Literal["srun", "mpirun"] = Field(
        description="srun (of Slurm), or mpirun for the MPI library's own"
    )
    mpi: Literal["pmix", "pmi2", "cray_shasta", "none"] | None = Field(
        None,
        description="how srun starts ranks (srun --mpi=list): pmix, pmi2, cray_shasta or none",
    )
    account: _Word | None = Field(
        None, description="whom jobs are charged to (sbatch --account; a project, a bank)"
    )
    qos: _Word | None = Field(None, description="the quality of service (sbatch --qos)")
    constraint: _Features | None = Field(
        None, description="features of nodes (sbatch --constraint)"
    )
    reservation: _Word | None = Field(None, description="a reservation (sbatch --reservation)")
    gpus: _Count | None = Field(
        None,
        description="how many GPUs of each node jobs ask for (sbatch --gpus-per-node), from 1; "
        "leave it out where jobs have a node's GPUs anyway, or need none",
    )
    memory: _Memory | None = Field(
        None,
        description="the memory of each node that jobs ask for (sbatch --mem): a number of MiB, or "
        "one with K, M, G or T; 0 is all of it",
    )
    tasks_per_node: _Count | None = Field(
        None,
        description="how many tasks of each node jobs ask for (sbatch --ntasks-per-node), from 1, "
        "where a site demands a number; ranks are started as a study says all the same",
    )
    modules: tuple[_Word, ...] = Field((), description="names for `module load`, in their order")
    toolchain: _Word | None = Field(
        None, description="the MPI library that studies take if they name none (toolchain list)"
    )
    cluster: _Word | None = Field(
        None, description="a cluster file's name (haloscope list), for the model of a node"
    )
    scratch: str | None = Field(None, description="a folder on every node's own disk, for TMPDIR")
    template: str | None = Field(None, description="a job script of your own, as a template")
    environment: dict[_Variable, str] = Field(
        default_factory=dict,
        description="variables of Slurm's own that its commands need: SLURM_CONF and the like",
    )
    shared_cores: PositiveInt | None = Field(
        None,
        description="of a cluster in a box: the cores of the machine that its nodes all share",
    )

    @property
    def used(self) -> Partition:
        """The partition that jobs go to."""
        return next(one for one in self.partitions if one.name == self.partition)
