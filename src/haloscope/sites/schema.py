# SPDX-License-Identifier: BSD-3-Clause
"""The keys of a site file: the batch system, its partitions, and how ranks are started."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PositiveInt, StringConstraints, WithJsonSchema

from haloscope.toml import TomlTable

_Word = Annotated[str, StringConstraints(pattern=r"^[\w][\w+:@=,%-]*([./][\w+:@=,%-]+)*$")]
"""_Word matches text that is safe in a job script: no option and no pattern. Names of modules are
not paths, which could select somebody else's file.
"""
_Features = Annotated[str, StringConstraints(pattern=r"^[\w(\[][\w.&|,*()\[\]:-]*$")]
"""_Features matches sbatch's node features, such as [rack1|rack2]&gpu. No shell reads them."""

_Variable = Annotated[str, StringConstraints(pattern=r"^(SLURM|MUNGE)_[A-Z0-9_]+$")]
"""_Variable matches variables that name files of the batch system. Others, such as PATH, would let
somebody else's site file run any program where jobs are submitted.
"""

_Plugin = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
"""_Plugin matches srun plugins. Sites can have their own, and older Slurm versions had others."""


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


class Partition(TomlTable):
    """A partition. Each value is the minimum over the nodes of the partition."""

    name: _Word
    """the name of the partition"""
    nodes: _Count
    """the number of nodes: an integer from 1 to 1,000,000"""
    cores: _Count
    """the cores per node: an integer from 1 to 1,000,000"""
    threads_per_core: PositiveInt = 1
    """the hardware threads per core: an integer from 1"""
    memory_mb: PositiveInt
    """the memory per node that jobs may use, in MiB: an integer from 1"""
    max_minutes: PositiveInt | None = None
    """the time limit of a job in minutes: an integer from 1; unlimited if omitted"""
    max_nodes: _Count | None = None
    """the maximum number of nodes per job, as set by the partition or your QOS: an integer from 1
    to 1,000,000; unlimited if omitted"""

    @property
    def nodes_of_a_job(self) -> int:
        """The maximum number of nodes per job."""
        return min(self.nodes, self.max_nodes or self.nodes)


class BatchSite(TomlTable):
    """A cluster with a batch system."""

    name: str  # the name of the file, which is not a key of it
    source: str
    """the source of these values, with a date"""
    scheduler: Literal["slurm", "pbs", "lsf", "flux"]
    """the batch system: slurm, pbs (PBS Pro, OpenPBS), lsf, or flux"""
    partition: _Word
    """the partition (queue) to which jobs are submitted, described in [[partitions]]"""
    partitions: tuple[Partition, ...] = Field(min_length=1)
    """[[partitions]] tables, each with name, nodes, cores, memory_mb, max_minutes, and max_nodes"""
    launcher: Literal["srun", "jsrun", "mpirun"]
    """the command that starts ranks: srun (Slurm), jsrun (LSF on IBM systems), or mpirun (the
    launcher of the MPI library, or mpiexec of PALS)"""
    mpi: _Plugin | None = None
    """the MPI plugin of srun (srun --mpi=list), such as pmix, pmix_v4, pmi2, cray_shasta, or
    none"""
    account: _Word | None = None
    """the account, project, or bank to which jobs are charged (sbatch --account)"""
    qos: _Word | None = None
    """the quality of service of jobs (sbatch --qos)"""
    constraint: _Features | None = None
    """the features that nodes must have (sbatch --constraint)"""
    reservation: _Word | None = None
    """the reservation in which jobs run (sbatch --reservation)"""
    gpus: _Count | None = None
    """the number of GPUs per node that jobs request (sbatch --gpus-per-node): an integer from 1;
    not needed if jobs get all GPUs of their nodes"""
    memory: _Memory | None = None
    """the memory per node that jobs request (sbatch --mem): a number in MiB, or a number with the
    suffix K, M, G, or T; 0 requests all memory"""
    tasks_per_node: _Count | None = None
    """the number of tasks per node that jobs request (sbatch --ntasks-per-node), if the site
    requires it: an integer from 1; the layout of ranks does not depend on it"""
    modules: tuple[_Word, ...] = ()
    """modules that jobs load, in this order (module load)"""
    toolchain: _Word | None = None
    """the MPI library for studies that do not name one (haloscope toolchain list)"""
    cluster: _Word | None = None
    """the name of the cluster file that contains the node model (haloscope cluster list)"""
    scratch: str | None = None
    """a folder on the local disk of each node, used as TMPDIR"""
    template: str | None = None
    """the path of a job script template that replaces the default"""
    environment: dict[_Variable, str] = Field(default_factory=dict)
    """environment variables that Slurm commands need, such as SLURM_CONF; their names must begin
    with SLURM_ or MUNGE_"""
    shared_cores: PositiveInt | None = None
    """the number of cores of the machine, shared by all nodes; only for the test cluster"""

    @property
    def used(self) -> Partition:
        """The partition that jobs go to."""
        return next(one for one in self.partitions if one.name == self.partition)
