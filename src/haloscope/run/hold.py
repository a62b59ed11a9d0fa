# SPDX-License-Identifier: BSD-3-Clause
"""Which job a result folder belongs to: the one that took it last, whatever still runs of others.

A node that the batch system gives up for dead may live, and the job on it go on measuring, while
the batch system begins the same job anew on other nodes.
"""

from __future__ import annotations

import json
from pathlib import Path

from haloscope.batch.allocation import Allocation
from haloscope.errors import UserError
from haloscope.paths import write_whole
from haloscope.records import strict_json


def take(folder: Path, allocation: Allocation) -> None:
    """Let a result folder belong to the job with this allocation from now on."""
    holder = {**_holder(allocation), "node": allocation.nodes[0]}
    _file(folder).parent.mkdir(exist_ok=True)
    write_whole(_file(folder), json.dumps(holder))


def holds(folder: Path, allocation: Allocation) -> bool:
    """Whether no other job took the folder, nor this one when it was begun anew."""
    try:
        holder = strict_json.json_object(strict_json.content(_file(folder)))
    except (UserError, OSError, ValueError):
        return True  # nobody took it, or it can't be known who did
    mine = _holder(allocation)
    return {key: holder.get(key) for key in mine} == mine


def _holder(allocation: Allocation) -> dict[str, str | int]:
    return {"job": allocation.job, "restarts": allocation.restarts}


def _file(folder: Path) -> Path:
    return folder / "jobs" / "driver.json"
