# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a result folder, from its files, which can be read without the batch system."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from haloscope.errors import Problem, UserError, printable
from haloscope.paths import write_whole
from haloscope.records import strict_json
from haloscope.records.attempts import attempts
from haloscope.records.checked import invalid
from haloscope.records.folder import ResultFolder, require_enclosed
from haloscope.sites.schedulers.allocation import Allocation
from haloscope.study.case import Launch
from haloscope.study.plan import SavedPlan

HEARTBEAT = "heartbeat.json"
_HOLDER = Path("jobs") / "driver.json"
"""_HOLDER names the job that last took a folder. A node that the batch system considers dead may be
alive, and its job may continue to measure while the batch system restarts the same job on other
nodes.
"""
_END_OF_LOG = 4096
_LINES_OF_LOG = 3


@dataclass(frozen=True)
class Submitted:
    """A job of a result folder. comment: to find it again. job: its id; None: not known yet.

    at: when its script was written, in seconds since 1970; missing in folders of older versions.
    cancelled: whether haloscope cancelled it, which a batch system eventually forgets.
    """

    comment: Annotated[str, Field(pattern=r"^haloscope:[0-9a-f]{12}$")]
    nodes: int
    minutes: int
    script: str
    job: Annotated[str, Field(pattern=r"^[0-9]+(\.[A-Za-z0-9][A-Za-z0-9.-]*)?$")] | None = None
    check: bool = False
    at: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    cancelled: bool = False


_NOTED: TypeAdapter[list[Submitted]] = TypeAdapter(list[Submitted])


@dataclass(frozen=True)
class FolderJobs:
    """A result folder whose launches run in jobs, from its files."""

    folder: ResultFolder
    plan: SavedPlan

    @property
    def directory(self) -> Path:
        """The result folder."""
        return self.folder.path.absolute()

    def noted(self) -> list[Submitted]:
        """Return all jobs of the folder from jobs.json. Raise UserError if it is damaged."""
        require_enclosed(self.directory)
        if not (text := strict_json.content(self._file)):
            return []
        try:
            return _NOTED.validate_json(text)
        except ValidationError as error:
            what = invalid(error.errors(include_url=False)[0])
            remedy = (
                "cancel the jobs of this folder in the batch system, remove this file, and resume"
            )
            raise UserError(Problem(str(self._file), f"damaged ({what})", remedy)) from error

    @property
    def _file(self) -> Path:
        return self.directory / "jobs" / "jobs.json"

    def save(self, jobs: Sequence[Submitted]) -> None:
        """Write all jobs of the folder."""
        write_whole(self._file, json.dumps([asdict(one) for one in jobs], indent=1))

    def plan_now(self) -> SavedPlan:
        """Return the plan on disk."""
        return self.folder.load() if self.folder.plan.exists() else self.plan

    def left(self) -> list[Launch]:
        """Return the launches without a good record, of cases that can run, from the
        plan on disk.
        """
        launches = self.plan_now().launches()
        return [one for one in self.folder.left(launches)[0] if not one.case.absent]

    def to_do(self) -> tuple[int, int]:
        """Return how many launches are left, and how many of them have no record at all."""
        left, tried = self.left(), {one.key for one in attempts(self.folder.records)}
        return len(left), sum((one.case.id, one.number) not in tried for one in left)

    def last_words(self, job: str) -> str:
        """Return the end of a job's output on one line; "" without output."""
        scripts = [Path(one.script).name for one in self.noted() if one.job == job]
        for script in scripts:
            log = (self._file.parent / script).with_suffix(".log")
            if log.is_file() and not log.is_symlink():
                lines = _end(log).split("\n")
                words = [line.strip() for line in lines if line.strip()]
                return printable("; ".join(words[-_LINES_OF_LOG:]))
        return ""


def _end(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _END_OF_LOG))
        return file.read().decode("utf-8", "replace")


def of(directory: Path) -> FolderJobs:
    """Return the jobs of a result folder from its files. Raise UserError if it has no plan."""
    folder = ResultFolder(directory)
    return FolderJobs(folder, folder.load())


def checked(directory: Path) -> Path:
    """Return the path of the preflight check's result."""
    return directory / "jobs" / "check.json"


def lacking(directory: Path) -> list[Problem]:
    """Return what the nodes lack according to the preflight check; [] if it has not ended.

    Raise UserError if its file is damaged.
    """
    path = checked(directory)
    if not (text := strict_json.content(path)):
        return []
    try:
        return _CHECKED.validate_json(text)["problems"]
    except ValidationError as error:
        what = f"damaged ({invalid(error.errors(include_url=False)[0])})"
        remedy = "remove this file; the preflight check then runs again"
        raise UserError(Problem(str(path), what, remedy)) from error


_CHECKED: TypeAdapter[dict[Literal["problems"], list[Problem]]] = TypeAdapter(
    Annotated[dict[Literal["problems"], list[Problem]], Field(min_length=1)]
)


def take(folder: Path, allocation: Allocation) -> None:
    """Make the job with this allocation the owner of a result folder."""
    holder = {**_holder(allocation), "node": allocation.nodes[0]}
    (folder / _HOLDER).parent.mkdir(exist_ok=True)
    write_whole(folder / _HOLDER, json.dumps(holder))


def holds(folder: Path, allocation: Allocation) -> bool:
    """Return whether no other job took the folder, and no restart of this one."""
    try:
        holder = strict_json.json_object(strict_json.content(folder / _HOLDER))
    except (UserError, OSError, ValueError):
        return True  # without an owner, or if the owner cannot be read
    mine = _holder(allocation)
    return {key: holder.get(key) for key in mine} == mine


def _holder(allocation: Allocation) -> dict[str, str | int]:
    return {"job": allocation.job, "restarts": allocation.restarts}
