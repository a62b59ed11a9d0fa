# SPDX-License-Identifier: BSD-3-Clause
"""Fake batch systems: their commands in PATH are fake_batch.py."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from haloscope.sites.schedulers.scheduler import JobAsked
from haloscope.sites.schema import BatchSite

COMMANDS = {
    "pbs": ("qsub", "qstat", "qselect", "qdel"),
    "lsf": ("bsub", "bjobs", "bkill", "bqueues"),
    "flux": ("flux",),
}
JOB = JobAsked(
    name="haloscope-0123456789ab",
    comment="haloscope:ba9876543210",
    nodes=2,
    minutes=90,
    log=Path("/R/jobs/ba9876543210.log"),
    command=["drive", "/R", "--nodes", "2"],
)
"""JOB is a job that is submitted to its site."""


def site(scheduler: str, launcher: str, **more: Any) -> BatchSite:
    """A site with one queue of eight nodes of four cores; more: further keys of its file."""
    return BatchSite.model_validate(
        {
            "name": "far",
            "source": "a test",
            "scheduler": scheduler,
            "partition": "short",
            "partitions": [{"name": "short", "nodes": 8, "cores": 4, "memory_mb": 1000}],
            "launcher": launcher,
            "account": "m17",
            **more,
        }
    )


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
