# SPDX-License-Identifier: BSD-3-Clause
"""Ownership of a result folder by a job: the last one that took it.

A node that the batch system considers dead may be alive, and its job may continue to measure while
the batch system restarts the same job on other nodes.
"""

from __future__ import annotations

import json
from pathlib import Path

from haloscope.errors import UserError
from haloscope.paths import write_whole
from haloscope.records import strict_json
from haloscope.sites.schedulers.allocation import Allocation


def take(folder: Path, allocation: Allocation) -> None:
    """Make the job with this allocation the owner of a result folder."""
    holder = {**_holder(allocation), "node": allocation.nodes[0]}
    _file(folder).parent.mkdir(exist_ok=True)
    write_whole(_file(folder), json.dumps(holder))


def holds(folder: Path, allocation: Allocation) -> bool:
    """Return whether no other job took the folder, and no restart of this one."""
    try:
        holder = strict_json.json_object(strict_json.content(_file(folder)))
    except (UserError, OSError, ValueError):
        return True  # without an owner, or if the owner cannot be read
    mine = _holder(allocation)
    return {key: holder.get(key) for key in mine} == mine


def _holder(allocation: Allocation) -> dict[str, str | int]:
    return {"job": allocation.job, "restarts": allocation.restarts}


def _file(folder: Path) -> Path:
    return folder / "jobs" / "driver.json"
