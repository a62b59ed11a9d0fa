"""Batch systems that are not there: their commands in PATH, as fake_batch.py answers for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

COMMANDS = {
    "pbs": ("qsub", "qstat", "qselect", "qdel"),
    "lsf": ("bsub", "bjobs", "bkill", "bqueues"),
    "flux": ("flux",),
}


def commands(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a batch system whose commands come first in PATH; its jobs end with it."""
    for below in ("bin", "state"):
        (folder / below).mkdir()
    for command in COMMANDS[name]:
        (folder / "bin" / command).symlink_to(Path(__file__).with_name("fake_batch.py"))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_BATCH", str(folder / "state"))
    yield folder / "state"
    for path in folder.glob("state/*.pid"):
        with suppress(ProcessLookupError):
            os.killpg(int(path.read_text()), signal.SIGKILL)
