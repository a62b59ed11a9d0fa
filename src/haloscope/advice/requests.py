# SPDX-License-Identifier: BSD-3-Clause
"""What to paste for a layout: batch options, launcher lines, and files of ranks and nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haloscope.advice import candidates
from haloscope.advice.candidates import Candidate

ORDER_FILE = "MPICH_RANK_ORDER"
NODES_FILE = "nodes-of-ranks"
_PPN_HOLDS = "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0"
"""Without this, Intel MPI distributes ranks as the job requested, whatever -ppn says."""

LAYOUT_FILE = "layout.toml"


def as_data(one: Candidate, sockets: int | None) -> dict[str, Any]:
    """Return what to paste for a layout, as JSON. sockets: sockets per node; None if unknown."""
    return {
        "sbatch": sbatch(one),
        "environment": environment(one),
        "launchers": launchers(one, sockets),
        "script": script(one),
    }


def environment(one: Candidate) -> str:
    """Return the shell command for threads. Without it, a rank may start one per visible core."""
    return f"export OMP_NUM_THREADS={one.threads}"


def by_files(one: Candidate) -> bool:
    """Return whether files place the ranks, because no launcher option produces the mapping.

    If nodes do not divide the tasks, the numbers of tasks per node differ by at most one.
    """
    return one.mapping not in ("block", "round_robin") or (not one.even and one.mapping == "block")


def sbatch(one: Candidate) -> list[str]:
    """Return Slurm's options of the job."""
    lines = [f"--nodes={one.nodes}", f"--ntasks={one.ranks}"]
    if one.nodes > 1 or one.ppn == one.ranks:
        lines.append(f"--ntasks-per-node={one.ppn}")
    return [f"#SBATCH {line}" for line in [*lines, f"--cpus-per-task={one.threads}"]]


def sbatch_line(one: Candidate) -> str:
    """Return all Slurm options on one line of a job script."""
    return f"#SBATCH {' '.join(line.removeprefix('#SBATCH ') for line in sbatch(one))}"


def launchers(one: Candidate, sockets: int | None = None) -> Mapping[str, str]:
    """Return the command line of each launcher, up to the program. sockets: sockets per node.

    Hydra fills nodes in order for every mapping, and the program reorders its ranks. With a machine
    file that names a node twice, not in a row, Hydra starts two groups of ranks on it that share no
    memory (MPI_COMM_TYPE_SHARED; MPICH 4.0.2 and 5.0).
    """
    cores = f" --cpus-per-task={one.threads}"
    if not by_files(one):
        within = "cyclic" if one.bind == "spread" else "block"
        across = {"block": "block", "round_robin": "cyclic"}[one.mapping]
        dealt = f"-ppn {one.ppn if across == 'block' else 1}"
        return {
            "Slurm": f"srun --distribution={across}:{within}{cores} --cpu-bind=cores",
            "Open MPI": f"mpirun -n {one.ranks} {_of_open_mpi(one, sockets)}",
            "MPICH": f"mpiexec -n {one.ranks} {dealt}",
            "Intel MPI": f"{_PPN_HOLDS} mpiexec -n {one.ranks} {dealt}",
            "Cray MPICH": f"MPICH_RANK_REORDER_METHOD={1 if across == 'block' else 0} "
            f"srun{cores} --cpu-bind=cores",
        }
    by_node = (f"-ppn {one.ppn}",) * 2 if one.even else ("-f machines", "-machinefile machines")
    return {
        "Slurm": f"SLURM_HOSTFILE=hosts srun --distribution=arbitrary{cores} --cpu-bind=cores",
        "Open MPI 5": f"mpirun -n {one.ranks} --map-by rankfile:FILE=rankfile",
        "Open MPI 4": f"mpirun -n {one.ranks} --rankfile rankfile",
        "MPICH": f"mpiexec -n {one.ranks} {by_node[0]}",
        "Intel MPI": f"{_PPN_HOLDS} mpiexec -n {one.ranks} {by_node[1]}",
        "Cray MPICH": f"MPICH_RANK_REORDER_METHOD=3 srun{cores} --cpu-bind=cores",
    }


def _of_open_mpi(one: Candidate, sockets: int | None) -> str:
    """Return Open MPI's placement options.

    It packs the ranks of a node unless it counts them by socket. If that is not possible, they are
    not bound, and the operating system distributes them.
    """
    packed = one.bind != "spread" or one.ppn == 1 or sockets == 1
    if packed and one.mapping == "round_robin":
        return f"--map-by node:PE={one.threads} --bind-to core"
    if packed:
        return f"--map-by ppr:{one.ppn}:node:PE={one.threads} --bind-to core"
    if sockets and one.ppn % sockets == 0 and one.mapping == "block":
        each = one.ppn // sockets
        return f"--map-by ppr:{each}:socket:PE={one.threads} --bind-to core"
    by = "node" if one.mapping == "round_robin" else f"ppr:{one.ppn}:node"
    return f"--map-by {by} --bind-to none"


def script(one: Candidate) -> str:
    """Return shell commands for a job script that write the files its launcher lines read."""
    if not by_files(one):
        return ""
    return (
        f"# {NODES_FILE} has the node of every rank, counted from 0.\n"
        f"scontrol show hostnames > nodes\n"
        f"awk 'NR == FNR {{ host[FNR - 1] = $1; next }} {{ print host[$1] }}' "
        f"nodes {NODES_FILE} > hosts\n"
        f'awk \'{{ print "rank " FNR - 1 "=" $1 " slot=" slot[$1]++ * {one.threads} "-" '
        f"slot[$1] * {one.threads} - 1 }}' hosts > rankfile\n"
        "awk 'NR == FNR { ranks[$1]++; next } $1 in ranks { print $1 \":\" ranks[$1] }' "
        "hosts nodes > machines\n"
    )


def files(one: Candidate) -> Mapping[str, str]:
    """Return files by name: the layout and, if files place the ranks, the node of every rank.

    Cray MPICH's rank order is added, with which it fills nodes in order.
    """
    own = {LAYOUT_FILE: candidates.layout(one)}
    if not by_files(one):
        return own
    nodes = one.nodes_of_ranks
    by_node = sorted(range(len(nodes)), key=lambda rank: (nodes[rank], rank))
    return own | {
        NODES_FILE: "".join(f"{node}\n" for node in nodes),
        ORDER_FILE: ",".join(map(str, by_node)) + "\n",
    }
