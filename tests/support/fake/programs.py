# SPDX-License-Identifier: BSD-3-Clause
"""External programs for tests: shell scripts that print what a program would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recorded import Raw, record

TOML = """
summary = "prints a time"
command = ["{folder}/prints", "{fault}", "{n}", "{ranks}"]
[parameters.n]
type = "integer"
default = 8
minimum = 1
maximum = 100
[parameters.fault]
type = "choice"
choices = ["none", "crash", "mute", "cut", "alone", "wrong", "hang", "phase", "where"]
default = "none"
[output]
complete = '^end$'
ranks = '^ranks (\\d+)'
[time]
pattern = '^time (\\S+) ms'
unit = "ms"
per = "n"
[phases]
names = ["one", "two"]
pattern = '^phase (?P<name>\\w+) (?P<mean>\\S+)$'
unit = "ms"
per = "n"
[results.error]
type = "real"
pattern = '^error (\\S+)'
[[verify]]
result = "error"
most = 0.1
"""
SCRIPT = """\
#!/bin/sh
echo "${OMPI_COMM_WORLD_RANK:-}" >> "$0.started"
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
case $1 in
crash) echo boom; exit 3 ;;
hang) sleep 600 ;;
where) pwd > "$0.where"; ls >> "$0.where" ;;
esac
[ "$1" = alone ] && echo "ranks 1" || echo "ranks $3"
[ "$1" = mute ] || echo "time $((2 * $2)) ms"
echo "phase one $2"
[ "$1" = phase ] || echo "phase two 0.5"
[ "$1" = wrong ] && echo "error 0.5" || echo "error 1D-03"
[ "$1" = cut ] || echo end
"""
STUDY = """
title = "theirs"
launches = 2
[[runs]]
kernel = "theirs"
params = { n = [4, 8] }
[[runs]]
kernel = "fake"
"""


def put(folder: Path, name: str = "theirs", toml: str = TOML, script: str = SCRIPT) -> Path:
    """A program's folder with its file, and the script that is the program."""
    mine = folder / name
    mine.mkdir(parents=True)
    (mine / "program.toml").write_text(toml, encoding="utf-8")
    (mine / "prints").write_text(script, encoding="utf-8")
    (mine / "prints").chmod(0o755)
    return mine


def started(folder: Path) -> list[str]:
    """The numbers of the ranks that a program was started as."""
    note = folder / "prints.started"
    return note.read_text(encoding="utf-8").split("\n")[:-1] if note.exists() else []


USED: Raw = {
    "file": "f",
    "hash": "h",
    "executable": "e",
    "version": None,
    "launcher": "m",
    "verified": False,
    "checked": [],
    "units": {"size": "B", "speed": "FLOP/s"},
}
"""USED is what a record says of its program."""


def swept(launch: int = 0, **params: Any) -> Raw:
    """A record of a program that sweeps sizes from 1 B to 2 KiB."""
    points = [
        {
            "size_bytes": 2**k,
            "operation": None,
            "result": {},
            "steps": 1,
            "times_s": [1e-6 * (1 + 2**k / 1000 + 0.01 * launch)],
            "bytes": float(2**k),
        }
        for k in range(12)
    ]
    more: Raw = {"points": points, "program": USED, "ranks": 2, "launch": launch}
    return record("osu", params, [sum(one["times_s"][0] for one in points)], **more)
