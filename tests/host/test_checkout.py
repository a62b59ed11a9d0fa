# SPDX-License-Identifier: BSD-3-Clause
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest

from haloscope.host import checkout


def test_a_checkout_reports_its_commit_and_local_changes(tmp_path: Path) -> None:
    assert checkout.state(tmp_path) is None

    def git(*arguments: str) -> str:
        command = [
            "git",
            "-C",
            str(tmp_path),
            "-c",
            "user.name=a",
            "-c",
            "user.email=b",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    assert checkout.state(tmp_path) is None
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-m", "one")
    commit = git("rev-parse", "HEAD")
    assert checkout.state(tmp_path) == {"commit": commit, "dirty": False}
    (tmp_path / "file").write_text("two")
    assert checkout.state(tmp_path) == {"commit": commit, "dirty": True}


def test_a_prefetched_state_is_not_queried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    git = Mock(wraps=checkout._git)
    monkeypatch.setattr(checkout, "_git", git)

    checkout.ask()
    questions = git.call_count

    assert checkout.state(checkout.OWN) == checkout._Asked(checkout.OWN).answer()
    assert git.call_count == 2 * questions  # those of the comparison alone
