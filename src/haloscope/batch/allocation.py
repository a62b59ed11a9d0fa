"""An allocation: the nodes that a batch system gave to the job that this process runs in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetParseError

from haloscope.batch import slurm
from haloscope.batch.slurm import NoAnswerError, RefusedError, Slurm
from haloscope.errors import Problem, UserError

NODES_LIMIT = 200_000
"""NODES_LIMIT is the most nodes of a job that are taken: the largest cluster has 160,000."""


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
    """The nodes of a list as batch systems write it: n[1-3],m7.

    UserError where it is none, or has more than NODES_LIMIT.
    """
    if _at_most(text) > NODES_LIMIT:
        raise UserError(Problem("SLURM_JOB_NODELIST", f"more than {NODES_LIMIT:,} nodes", _INSIDE))
    try:
        return tuple(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except (NodeSetParseError, ValueError) as error:
        raise UserError(Problem("SLURM_JOB_NODELIST", str(error), _INSIDE)) from error


def _at_most(text: str) -> float:
    """How many nodes a list has at most, without unfolding it: a line may name billions."""
    number = 0.0
    for name in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        of_name = 1.0
        for ranges in re.findall(r"\[([^\]]*)\]", name):
            of_name *= sum(_width(one) for one in ranges.split(","))
        number += of_name
    return number


def _width(one: str) -> float:
    """How many numbers a range has at most: 1-3, 7, 1-9/2."""
    ends = re.match(r"\s*(\d+)-(\d+)", one)
    return max(1.0, float(ends[2]) - float(ends[1]) + 1.0) if ends else 1.0


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
