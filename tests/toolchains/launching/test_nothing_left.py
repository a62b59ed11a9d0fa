# SPDX-License-Identifier: BSD-3-Clause
"""Of a campaign that is ended by others nothing stays in TMPDIR or in shared memory.

It is one launch of ranks that never end, with every toolchain; those from PyPI are marked
`toolchains` (test_launch_for_real.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from haloscope.errors import UserError
from haloscope.host import scratch
from haloscope.toolchains import library

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / "build" / "test-cache"
NAMES = [
    pytest.param(name, marks=[] if name == "system" else [pytest.mark.toolchains])
    for name in library.names()
]
CAMPAIGN = """
import sys
from pathlib import Path
from types import SimpleNamespace

from haloscope import cli
from haloscope.records.maker import CampaignFacts
from haloscope.run.runners.local import LocalRunner
from haloscope.toolchains.build import Build
from haloscope.study.case import Case, Launch
from haloscope.layout import Layout
from haloscope.toolchains import library

name, program = sys.argv[1:]
case = Case("spin", {}, {}, Layout(ppn=2), name, 0, 1, 600.0, 0, oversubscribed=True)


def measure(_):
    built = {name: Build(library.ensure(name), Path(program), "")}
    facts = CampaignFacts("mine", 1, {"host": "here"}, "0", None)
    return len([*LocalRunner(facts, built).run([Launch(case, 0)])])


cli.parse = lambda _: SimpleNamespace(execute=measure, verbosity="normal")
sys.exit(cli.main(["list"]))
"""


@pytest.fixture(scope="module", params=NAMES)
def spin(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A toolchain's name, and spin.c compiled with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HALOSCOPE_CACHE", str(CACHE))
        try:
            found = library.ensure(request.param)
        except UserError as error:
            if request.param != "system":
                raise
            pytest.skip(f"toolchain system is not there: {error}")
        program = tmp_path_factory.mktemp("spin") / "halobench_spin"
        compile_it = [str(found.mpicxx), "-x", "c++", str(HERE / "spin.c"), "-o", str(program)]
        subprocess.run(compile_it, env={**os.environ, **found.environment()}, check=True)
        yield request.param, program.parent


@pytest.fixture
def tmpdir_of_its_own() -> Iterator[Path]:
    """As short as a real one, because libraries have sockets there, whose names are limited."""
    folder = Path(tempfile.mkdtemp(prefix="hs-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


HANDLED = [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2]


class Campaign:
    """One that runs until it is ended by others."""

    def __init__(self, spin: tuple[str, Path], tmpdir: Path, mark: Path) -> None:
        self.tmpdir = tmpdir
        self.environment = {**os.environ, "TMPDIR": str(tmpdir), "SPIN_MARK": str(mark)}
        self.environment["HALOSCOPE_CACHE"] = str(CACHE)
        command = [sys.executable, "-c", CAMPAIGN, spin[0], str(spin[1])]
        self.process = psutil.Popen(
            command, env=self.environment, start_new_session=True, preexec_fn=_hear_signals
        )
        while not mark.exists():
            assert self.process.poll() is None, "it ended by itself"
            time.sleep(0.01)
        self.all = [self.process, *self.process.children(recursive=True)]
        self.shared = {name for one in self.all for name in mapped(one)}

    def ended(self) -> None:
        """Wait until nothing of it runs."""
        psutil.wait_procs(self.all, timeout=600)
        assert not any(one.is_running() for one in self.all)

    def left(self) -> list[str]:
        """What of it is still in TMPDIR and in shared memory."""
        memory = (scratch.MEMORY / name for name in self.shared)
        return [str(path) for path in (*self.tmpdir.iterdir(), *memory) if path.exists()]


def _hear_signals() -> None:
    """Also those that whoever runs the tests ignores, as nohup does and `sh` in the background."""
    for each in HANDLED:
        signal.signal(each, signal.SIG_DFL)


@pytest.fixture
def campaign(spin: tuple[str, Path], tmpdir_of_its_own: Path, tmp_path: Path) -> Iterator[Campaign]:
    """One that runs; whatever of it still does at the end is killed."""
    started = Campaign(spin, tmpdir_of_its_own, tmp_path / "mark")
    yield started
    for one in started.all:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


def mapped(process: psutil.Process) -> list[str]:
    """What a process has in shared memory, by the name of the file or of the folder it is in."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a helper that has ended
        text = Path(f"/proc/{process.pid}/maps").read_text()
        return re.findall(rf"{scratch.MEMORY}/([^/\s]+)", text)
    return []


@pytest.mark.parametrize("by", HANDLED)
def test_a_terminated_campaign_leaves_nothing(campaign: Campaign, by: signal.Signals) -> None:
    assert campaign.left()

    campaign.process.send_signal(by)
    campaign.ended()

    assert campaign.process.returncode == 130
    assert campaign.left() == []


@pytest.mark.parametrize("everything", [False, True])
def test_remains_of_a_killed_campaign_are_removed_by_the_next_command(
    campaign: Campaign, everything: bool
) -> None:
    for one in campaign.all if everything else [campaign.process]:
        with contextlib.suppress(
            psutil.NoSuchProcess
        ):  # it ended as one that was killed before it did
            one.kill()
    campaign.ended()
    assert campaign.left()
    subprocess.run(
        [sys.executable, "-m", "haloscope", "paper", "list"],
        env=campaign.environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )

    assert campaign.left() == []


def test_files_of_a_running_campaign_are_kept_by_other_commands(campaign: Campaign) -> None:
    before = campaign.left()

    subprocess.run(
        [sys.executable, "-m", "haloscope", "paper", "list"],
        env=campaign.environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert campaign.left() == before
    assert campaign.process.poll() is None

    campaign.process.terminate()
    campaign.ended()
