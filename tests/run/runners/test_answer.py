# SPDX-License-Identifier: BSD-3-Clause
"""Why a launch ended, with what may be the cause on this host."""

from __future__ import annotations

import shutil
from argparse import Namespace

import pytest

from haloscope.host import scratch
from haloscope.run.runners import answer


@pytest.mark.parametrize(
    ("total", "free", "expected"),
    [
        (1 << 20, 1 << 20, True),
        (1 << 30, 1 << 20, True),
        (64 << 20, 64 << 20, False),
        (4 << 30, 3 << 30, False),
    ],
)
def test_little_shared_memory_is_reported_if_a_launch_hangs(
    monkeypatch: pytest.MonkeyPatch, total: int, free: int, expected: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Namespace(total=total, free=free))

    assert ("/dev/shm has" in answer.with_cause("no answer within 60 s")) is expected


def test_missing_shared_memory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "MEMORY", scratch.MEMORY / "no-such-folder")

    assert answer.with_cause("no answer") != "no answer"
