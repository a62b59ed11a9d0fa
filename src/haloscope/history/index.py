# SPDX-License-Identifier: BSD-3-Clause
"""An index of the launches in result folders, in SQLite, derived from records.jsonl.

It is in the cache folder, and can be deleted at any time. A folder whose records have changed is
read again. A damaged index, or one of another version, is rebuilt.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from haloscope.errors import Problem, UserError
from haloscope.paths import cache_folder
from haloscope.records.folder import leads_outside
from haloscope.records.log import whole
from haloscope.study.settings import Settings, settings_of
from haloscope.toolchains.launching.tuning import in_words

_VERSION = 1
_TABLES = """
create table folder (path text primary key, state text not null);
create table launch (
  folder text not null references folder (path) on delete cascade,
  place text not null, case_id text not null, started text not null, time_s real not null,
  settings text not null, facts text not null
);
create index by_case on launch (place, case_id, started);
"""
_DEPTHS = ("records.jsonl", "*/records.jsonl", "*/*/records.jsonl")


@dataclass(frozen=True)
class IndexedLaunch:
    """A good launch.

    place: the machine, site, or simulated cluster. started: UTC. time_s: per step, median over
    repetitions; for a sweep, the sum over its sizes. facts: what may have changed since the
    previous launch: library, compiler, operating system, hosts.
    """

    folder: Path
    place: str
    case: str
    started: datetime
    time_s: float
    settings: Settings
    facts: Mapping[str, str]


def last_before(folder: Path) -> Path:
    """Return the most recent earlier result folder beside `folder` with some of the same cases.

    Raise UserError if there is none.
    """
    root = folder.resolve().parent
    every = launches(root)
    own = [one for one in every if one.folder == root / folder.resolve().name]
    series = {(one.place, one.case) for one in own}
    begin = min((one.started for one in own), default=None)
    earlier = [
        one
        for one in every
        if begin and one.started < begin and (one.place, one.case) in series and one not in own
    ]
    if not earlier:
        what = f"no other folder in {folder.parent} has an earlier successful launch of these cases"
        remedy = "give both folders: haloscope compare BASELINE DIR"
        raise UserError(Problem(f"--with-last {folder}", what, remedy))
    return earlier[-1].folder


def launches(root: Path, *, rebuild: bool = False) -> list[IndexedLaunch]:
    """Return all good launches of the result folders in `root`, by start time.

    rebuild: discard the index first. Raise UserError if the cache is not writable.
    """
    path = (
        cache_folder("history") / f"{hashlib.sha256(bytes(root.resolve())).hexdigest()[:16]}.sqlite"
    )
    if rebuild:
        path.unlink(missing_ok=True)
    try:
        return _launches(path, root)
    except sqlite3.DatabaseError:  # damaged, or of another version
        path.unlink(missing_ok=True)
        return _launches(path, root)


def _launches(path: Path, root: Path) -> list[IndexedLaunch]:
    with closing(sqlite3.connect(path)) as index, index:
        _prepare(index)
        _update(index, root)
        rows = index.execute(
            "select folder, place, case_id, started, time_s, settings, facts from launch"
            " order by started, folder"
        )
        return [
            IndexedLaunch(
                root / folder,
                place,
                case,
                datetime.fromisoformat(started),
                time_s,
                json.loads(settings),
                json.loads(facts),
            )
            for folder, place, case, started, time_s, settings, facts in rows
        ]


def _prepare(index: sqlite3.Connection) -> None:
    index.execute("pragma foreign_keys = on")
    (version,) = index.execute("pragma user_version").fetchone()
    if version not in (0, _VERSION):
        raise sqlite3.DatabaseError(f"version {version}")
    if version == 0:
        index.executescript(f"{_TABLES} pragma user_version = {_VERSION};")


def _update(index: sqlite3.Connection, root: Path) -> None:
    known = dict(index.execute("select path, state from folder"))
    there = {
        str(file.parent.relative_to(root)): file
        for pattern in _DEPTHS
        for file in root.glob(pattern)
    }
    for gone in known.keys() - there.keys():
        index.execute("delete from folder where path = ?", (gone,))
    for name, file in there.items():
        status = file.stat()
        state = f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"
        if known.get(name) == state or leads_outside(file.parent):
            continue
        index.execute("delete from folder where path = ?", (name,))
        index.execute("insert into folder values (?, ?)", (name, state))
        skipped: list[tuple[int, str]] = []
        rows = _rows(name, file, skipped)
        index.executemany("insert into launch values (?, ?, ?, ?, ?, ?, ?)", rows)
        if skipped:  # these folders are read again, with a warning, each time
            index.execute("update folder set state = '' where path = ?", (name,))


def _rows(name: str, file: Path, skipped: list[tuple[int, str]]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each good launch with a known start; the last record of each is used."""
    last = {(raw["case"], raw["launch"]): raw for raw in whole(file, skipped)}
    for raw in last.values():
        if raw["outcome"] == "ok" and raw.get("started"):
            settings = {key: value for key, value in settings_of(raw).items() if value is not None}
            yield (
                name,
                _place(raw),
                raw["case"],
                raw["started"],
                median(raw["times_s"]),
                json.dumps(settings),
                json.dumps(_facts(raw)),
            )


def _place(raw: Mapping[str, Any]) -> str:
    """Return where a launch ran: the site, the simulated cluster, or the machine."""
    allocation, simulation, machine = (
        raw.get(key) or {} for key in ("allocation", "simulation", "machine")
    )
    found = allocation.get("site") or simulation.get("cluster") or machine.get("host")
    return str(found or "unknown")


def _facts(raw: Mapping[str, Any]) -> dict[str, str]:
    machine, toolchain, git, simulation = (
        raw.get(key) or {} for key in ("machine", "toolchain", "git", "simulation")
    )
    nodes = (raw.get("allocation") or {}).get("nodes")
    hosts = nodes or {rank["host"] for rank in raw["layout"].get("seen") or ()}
    found = {
        "MPI library": (toolchain.get("mpi") or "").partition("\n")[0],
        "transport in use": raw.get("transport_seen"),
        "launcher": toolchain.get("launcher"),
        "compiler": toolchain.get("compiler"),
        "compiler flags": toolchain.get("flags"),
        "MPI variables": in_words(raw["tuning"]) if raw.get("tuning") else None,
        "halobench sources": toolchain.get("source"),
        "haloscope": raw.get("haloscope"),
        "haloscope commit": (git.get("commit") or "")[:12],
        "operating system": machine.get("os"),
        "frequency governor": machine.get("governor"),
        "processor": machine.get("cpu"),
        "hosts": ", ".join(sorted(hosts)),
        "cluster file": simulation.get("platform"),
    }
    return {name: str(value) for name, value in found.items() if value}
