"""An allocation: the nodes that a batch system gave to the job that this process runs in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ClusterShell.NodeSet import NodeSet, NodeSetParseError

from haloscope.batch import slurm
from haloscope.batch.slurm import NoAnswerError, RefusedError, Slurm
from haloscope.errors import Problem, UserError


@dataclass(frozen=True)
class Allocation:
    """Nodes that are given to one job, until it ends.

    job: its id. nodes: their names. switches: those that they hang on, joined by commas; None where
    the batch system does not know its network. restarts: how often the job was begun anew before,
    perhaps on other nodes.
    """

    site: str
    scheduler: str
    job: str
    partition: str | None
    nodes: tuple[str, ...]
    switches: str | None
    restarts: int

    def as_record(self) -> dict[str, Any]:
        """As it stands in records."""
        return {**asdict(self), "nodes": [*self.nodes]}


def of_slurm(site: str, environment: Mapping[str, str], commands: Slurm) -> Allocation | None:
    """The allocation that Slurm's variables name; None outside of a job."""
    if (job := environment.get("SLURM_JOB_ID")) is None:
        return None
    if not (nodes := names_of(environment.get("SLURM_JOB_NODELIST", ""))):
        raise UserError(Problem("SLURM_JOB_NODELIST", "names no node", _INSIDE))
    if not (restarts := environment.get("SLURM_RESTART_COUNT", "0")).isdecimal():
        raise UserError(Problem(f"SLURM_RESTART_COUNT={restarts}", "is no number", _INSIDE))
    return Allocation(
        site=site,
        scheduler="slurm",
        job=job,
        partition=environment.get("SLURM_JOB_PARTITION"),
        nodes=nodes,
        switches=_switches(nodes, commands),
        restarts=int(restarts),
    )


def names_of(text: str) -> tuple[str, ...]:
    """The nodes of a list as batch systems write it: n[1-3],m7. UserError where it is none."""
    try:
        return tuple(NodeSet(text))
    except NodeSetParseError as error:
        raise UserError(Problem("SLURM_JOB_NODELIST", str(error), _INSIDE)) from error


_INSIDE = "run it inside a job of the batch system"


def folded(nodes: tuple[str, ...]) -> str:
    """Names in short: n[1-3]."""
    return str(NodeSet.fromlist(nodes))


def _switches(nodes: tuple[str, ...], commands: Slurm) -> str | None:
    """The lowest switches that lead to these nodes, by `scontrol show topology`; None: unknown."""
    try:
        said = commands.told("scontrol", "show", "topology")
    except (NoAnswerError, RefusedError, UserError):
        return None
    leading = [
        one["SwitchName"]
        for one in slurm.settings(said)
        if one.get("Level") == "0" and {*nodes} & {*names_of(one.get("Nodes", ""))}
    ]
    return ",".join(sorted(leading)) or None
