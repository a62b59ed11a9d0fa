# SPDX-License-Identifier: BSD-3-Clause
"""State of a git checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

OWN = Path(__file__).parents[3]
"""OWN is the root of haloscope's checkout, if it was not installed from a package."""

_started: dict[Path, _Asked] = {}


class _Asked:
    """Both questions about a checkout, while git answers them. Raise FileNotFoundError
    without git.
    """

    def __init__(self, root: Path, *without: str) -> None:
        which = ("--", ".", *(f":!{one}" for one in without)) if without else ()
        self._commit = _git(root, "rev-parse", "HEAD")
        self._changes = _git(root, "status", "--porcelain", *which)

    def answer(self) -> dict[str, Any] | None:
        """Return the state; None without a commit."""
        commit, changes = (one.communicate()[0] for one in (self._commit, self._changes))
        if self._commit.returncode or self._changes.returncode:
            return None
        return {"commit": commit.strip(), "dirty": bool(changes.strip())}


def ask() -> None:
    """Let git answer while this process does something else, if `state` will be called for OWN."""
    if (OWN / ".git").exists():
        try:
            _started[OWN] = _Asked(OWN)
        except FileNotFoundError:
            return


def state(root: Path, *without: str) -> dict[str, Any] | None:
    """Return the commit of a git checkout and whether it was changed since, or None.

    without: patterns of files whose changes do not count.
    """
    if not (root / ".git").exists():
        return None
    try:
        ahead = root in _started and not without
        asked = _started.pop(root) if ahead else _Asked(root, *without)
    except FileNotFoundError:
        return None  # no git
    return asked.answer()


def _git(root: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["git", "-C", str(root), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    )
