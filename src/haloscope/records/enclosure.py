# SPDX-License-Identifier: BSD-3-Clause
"""Access checks of a result folder: a received one may contain links to its reader's files."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from haloscope.errors import Problem, UserError

JOBS = ("jobs/jobs.json", "jobs/check.json", "jobs/driver.json")
FILES = ("study.toml", "plan.json", "plan.json.new", "records.jsonl", ".lock", "heartbeat.json")
REPORTS = ("report.html", "report.md", "report.tex")
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
    if problems := leads_outside(folder, measuring=measuring):
        raise UserError(problems)


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
        return "has another hard link, through which another file would change"
    return None
