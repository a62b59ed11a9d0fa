# SPDX-License-Identifier: BSD-3-Clause
"""A result folder: the study, its plan, and its records, so that a run can be continued."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from haloscope.errors import Problem, UserError, dotted, reject
from haloscope.layout import Layout
from haloscope.paths import drafts, write_whole
from haloscope.records import checked, strict_json
from haloscope.records.attempts import attempts
from haloscope.study.case import Case, Launch
from haloscope.study.plan import SavedPlan
from haloscope.study.values import (
    ALLOCATIONS_LIMIT,
    COUNT_LIMIT,
    LAUNCHES_LIMIT,
    SEED_LIMIT,
    TIME_LIMIT_S,
)

JOBS = ("jobs/jobs.json", "jobs/check.json", "jobs/driver.json")
FILES = ("study.toml", "plan.json", "plan.json.new", "records.jsonl", ".lock", "heartbeat.json")
REPORTS = ("report.html", "report.md", "report.tex", "predictions.json")
FOLDERS = ("figures", "tables", "jobs")


def leads_outside(folder: Path, *, measuring: bool = False) -> list[Problem]:
    """Return the entries of a result folder that are not its own files or folders: links, pipes,
    devices.
    """
    return [
        Problem(str(folder / name), what, "remove it, or replace it with a copy")
        for name in (*FILES, *JOBS, *REPORTS, *FOLDERS)
        if (what := _foreign(folder / name) or (_shared(folder / name) if measuring else None))
    ]


def require_enclosed(folder: Path, *, measuring: bool = False) -> None:
    """Raise UserError with all such entries, before anything there is read or written."""
    reject(leads_outside(folder, measuring=measuring))


def enclosed(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are regular files and not links."""
    return (path for path in paths if _foreign(path) is None)


def _foreign(path: Path) -> str | None:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link, which is not allowed in a result folder"
    if path.name in FOLDERS:
        return None if stat.S_ISDIR(status.st_mode) else "is not a folder"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    return None


def _shared(path: Path) -> str | None:
    """Return the problem of a file with a second name (hard link), or None."""
    if path.name in FILES and path.exists() and path.stat().st_nlink > 1:
        return "has another hard link, so a change would affect another file"
    return None


@cache
def _saved_plan() -> TypeAdapter[SavedPlan]:
    return TypeAdapter(SavedPlan)


def _of_today(case: Case, saved: Mapping[str, Any]) -> Case:
    """Return a case of an earlier plan with today's defaults.

    Threads without a binding of their own followed `bind`. The default allocation was "contiguous"
    before there was "best_fit". No id contains the default, so the id shows which of both a plan
    means.
    """
    layout = case.layout
    if "thread_bind" not in saved["layout"]:
        layout = Layout.recorded({**vars(layout), "thread_bind": None})
    today = replace(case, layout=replace(layout, allocation=Layout.allocation))
    earlier = layout.allocation == "contiguous" and saved.get("case") == today.id
    return today if earlier else replace(case, layout=layout)


def plan_of(text: bytes) -> SavedPlan:
    """Read a plan from JSON, the inverse of `SavedPlan.as_dict`. Raise ValueError with
    a message.
    """
    saved = strict_json.json_object(text)
    try:
        plan = _saved_plan().validate_json(text, strict=True)
    except ValidationError as error:
        detail = _of_one_type(error.errors(include_url=False)[0])
        raise ValueError(checked.invalid(detail)) from error
    plan = replace(plan, cases=tuple(map(_of_today, plan.cases, saved["cases"])))
    for case, as_saved in zip(plan.cases, saved["cases"], strict=True):
        if as_saved.get("case") != case.id:
            what = f"the id of a case is {as_saved.get('case')}, but "
            what += f"its settings have the id {case.id}"
            raise ValueError(what)
        if not (1 <= case.launches <= LAUNCHES_LIMIT and 0 < case.timeout_s <= TIME_LIMIT_S):
            what = f"launches = {case.launches} or timeout_s = {case.timeout_s:g} is out of range"
            raise ValueError(f"case {case.id}: {what}")
    if not 0 <= plan.seed <= SEED_LIMIT:
        raise ValueError(f"seed: invalid value {plan.seed}")
    if plan.via and not 1 <= plan.via.nodes <= COUNT_LIMIT:
        raise ValueError(f"via.nodes: invalid value {plan.via.nodes}")
    if plan.allocations is not None and not 1 <= plan.allocations <= ALLOCATIONS_LIMIT:
        raise ValueError(f"allocations: invalid value {plan.allocations}")
    if plan.parting is not None and not 1 <= plan.parting <= LAUNCHES_LIMIT:
        raise ValueError(f"parting: invalid value {plan.parting}")
    if "host" not in plan.machine:
        raise ValueError("machine.host missing")
    return plan


def _of_one_type(detail: ErrorDetails) -> ErrorDetails:
    """Return an error without the name of one of a parameter's possible types, which is
    not a key.
    """
    if not detail["loc"]:  # an error in the whole text, such as half a character
        return detail
    *where, last = detail["loc"]
    parameter = {"given", "params"} & {*where[2:3]} and last in ("bool", "int", "float", "str")
    return {**detail, "loc": tuple(where)} if parameter else detail


@dataclass(frozen=True)
class ResultFolder:
    """A result folder. Its records are only appended to."""

    path: Path

    @property
    def study(self) -> Path:
        """The copy of the study's file."""
        return self.path / "study.toml"

    @property
    def plan(self) -> Path:
        """The plan, as JSON."""
        return self.path / "plan.json"

    @property
    def records(self) -> Path:
        """The records, one JSON object per line."""
        return self.path / "records.jsonl"

    @contextmanager
    def alone(self, patience_s: float = 0.0) -> Iterator[None]:
        """Lock the records. Raise UserError if another process holds the lock for `patience_s`
        seconds.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        require_enclosed(self.path, measuring=True)
        lock = FileLock(self.path / ".lock")
        try:
            lock.acquire(timeout=patience_s)
        except Timeout as error:
            what = "another haloscope process is writing to this folder"
            raise UserError(
                Problem(str(self.path), what, "wait until that process ends")
            ) from error
        try:
            for draft in drafts(self.path):  # left by killed writers: nobody else writes here
                draft.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def problems(self) -> list[Problem]:
        """Return why a new folder cannot be created here."""
        where = f"--out {self.path}"
        if problems := leads_outside(self.path):
            return problems
        if self.records.exists() or self.plan.exists():
            remedy = f"continue with --resume {self.path}, or give another folder"
            return [Problem(where, "this folder already contains results", remedy)]
        there = next(
            folder for folder in (self.path, *self.path.absolute().parents) if folder.exists()
        )
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            return [Problem(where, f"cannot write to '{there}'", "give another folder")]
        return []

    def create(self, source: str, plan: SavedPlan) -> None:
        """Create a new folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.study, source)
        self.save(plan)

    def save(self, plan: SavedPlan) -> None:
        """Write plan.json atomically."""
        write_whole(self.plan, json.dumps(plan.as_dict(), indent=1))

    def load(self) -> SavedPlan:
        """Return the plan of an existing folder. Raise UserError if it is not a result folder."""
        require_enclosed(self.path)
        text = strict_json.content(self.plan)
        if not text and not self.plan.exists():
            remedy = "give a folder written by haloscope run"
            raise UserError(Problem(str(self.path), "contains no plan.json", remedy))
        try:
            return plan_of(text)
        except ValueError as error:
            remedy = "start a new run in another folder; to write a report without the plan, "
            remedy += "remove plan.json"
            raise UserError(Problem(str(self.plan), f"damaged ({error})", remedy)) from error

    def left(self, launches: Sequence[Launch]) -> tuple[list[Launch], int]:
        """Return the launches without a good record, and how many of them were tried before."""
        outcomes = {one.key: one.outcome for one in attempts(self.records)}  # the last outcomes
        done = ("ok", "absent")
        left = [
            launch
            for launch in launches
            if outcomes.get((launch.case.id, launch.number)) not in done
        ]
        return left, sum((launch.case.id, launch.number) in outcomes for launch in left)


def changes(saved: str, now: str) -> list[str]:
    """Return the differences between two study files, by key, without launches."""
    before, after = tomllib.loads(saved), tomllib.loads(now)
    before.pop("launches", None)
    after.pop("launches", None)
    return list(_differences((), before, after))


def _differences(where: tuple[int | str, ...], before: object, after: object) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _differences((*where, key), before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences((*where, index), one, other)
    elif before != after:
        yield f"{dotted(where)}: {_shown(before)} -> {_shown(after)}"


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False, default=str)
