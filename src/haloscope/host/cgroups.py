# SPDX-License-Identifier: BSD-3-Clause
"""Limits that control groups set on memory and processors, and reading of kernel files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import whitespace


def folders(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders of our cgroup and its parents that limit `controller`, in cgroup v1 and v2.

    Inside a container the path in /proc/self/cgroup may be that of the host. Then only the mounted
    root exists, and it is ours.
    """
    for line in (read(root / "proc/self/cgroup") or "").splitlines():
        number, names, path = line.split(":", 2)
        if number == "0":
            mount = root / "sys/fs/cgroup"
        elif controller in names.split(","):
            mount = root / "sys/fs/cgroup" / controller
        else:
            continue
        group = mount / path.lstrip("/")
        folders = [group, *group.parents] if path != "/" else [mount]
        yield from (f for f in folders[: folders.index(mount) + 1] if f.is_dir())


def room_bytes(group: Path) -> int | None:
    """Return the free bytes of a cgroup, or None without a limit; droppable page cache counts as
    free.
    """
    for limit_name, usage_name in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, usage = read(group / limit_name), read(group / usage_name)
        if limit and usage and limit != "max":
            return int(limit) - int(usage) + _droppable_bytes(group)
    return None


def _droppable_bytes(group: Path) -> int:
    values = dict(line.split() for line in (read(group / "memory.stat") or "").splitlines())
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def quota(group: Path) -> float | None:
    """Return the number of processors whose time a cgroup grants; None without a limit."""
    text = read(group / "cpu.max")
    if text is None:
        quota, period = read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us")
        text = f"{quota} {period}" if quota and period else "max"
    words = text.split()
    if words[0] in ("max", "-1"):
        return None
    return int(words[0]) / int(words[1])


def read(path: Path) -> str | None:
    """Return the text of a kernel file, or None if the kernel does not have it.

    Newlines, and NULs that some kernels write after them, are stripped from both ends.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip(f"\0{whitespace}")
    except OSError:
        return None
