# SPDX-License-Identifier: BSD-3-Clause
"""An allocation: the nodes of the batch job that this process runs in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetParseError

from haloscope.errors import Problem, UserError

NODES_LIMIT = 200_000
"""NODES_LIMIT is the largest accepted number of nodes of a job: the largest cluster has 160,000."""


@dataclass(frozen=True)
class Allocation:
    """The nodes of one job.

    job: its id. nodes: their names. switches: the switches that the nodes are connected to, joined
    by commas; None if the batch system has no topology. restarts: how often the job was restarted,
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
        """Return the allocation as stored in records."""
        return {**asdict(self), "nodes": [*self.nodes]}


def names_of(text: str, where: str) -> tuple[str, ...]:
    """Return the nodes of a list as batch systems write it: n[1-3],m7. where: its source.

    Raise UserError for an invalid list, or one with more than NODES_LIMIT nodes.
    """
    if _at_most(text) > NODES_LIMIT:
        what = f"lists more than {NODES_LIMIT:,} nodes"
        raise UserError(Problem(where, what, INSIDE))
    try:
        return tuple(NodeSet(text, resolver=RESOLVER_NOGROUP))
    except (NodeSetParseError, ValueError) as error:
        raise UserError(Problem(where, f"invalid list of nodes: {error}", INSIDE)) from error


def lines_of(file: str, where: str) -> list[str]:
    """Return the lines of a list of nodes. where: its source. Raise UserError if it is
    unreadable.
    """
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        what = f"cannot read this file: {getattr(error, 'strerror', error)}"
        raise UserError(Problem(where, what, INSIDE)) from error


def of_lines(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Return the nodes of a list that contains each once per slot, in their order.

    where: its source. Raise UserError for an empty list, too many nodes, or invalid host names.
    """
    nodes = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not nodes:
        raise UserError(Problem(where, "lists no nodes", INSIDE))
    if len(nodes) > NODES_LIMIT:
        what = f"lists more than {NODES_LIMIT:,} nodes"
        raise UserError(Problem(where, what, INSIDE))
    for node in nodes:
        if not _HOST.fullmatch(node):
            raise UserError(Problem(where, f"{node!r} is not a valid host name", INSIDE))
    return nodes


_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
"""_HOST matches host names. They are used on command lines, where none may look like an option."""


def _at_most(text: str) -> float:
    """Return the maximum number of nodes of a list without expanding it: a line may
    name billions.
    """
    number = 0.0
    for name in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        of_name = 1.0
        for ranges in re.findall(r"\[([^\]]*)\]", name):
            of_name *= sum(_width(one) for one in ranges.split(","))
        number += of_name
    return number


def _width(one: str) -> float:
    """Return the maximum number of values of a range: 1-3, 7, 1-9/2."""
    ends = re.match(r"\s*(\d+)-(\d+)", one)
    return max(1.0, float(ends[2]) - float(ends[1]) + 1.0) if ends else 1.0


INSIDE = "run this command inside a batch job"
