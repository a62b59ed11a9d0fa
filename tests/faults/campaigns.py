# SPDX-License-Identifier: BSD-3-Clause
"""Small campaigns to be disturbed, and what must hold of their folders whatever became of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

HALOSCOPE = [sys.executable, "-P", "-m", "haloscope"]
MARK = "HALOSCOPE_FAULT_MARK"
"""The variable that identifies the processes of one disturbed campaign."""
LIMIT_S = 600
"""How long a command may take, on a machine that others use, before it counts as one that hangs."""
GONE_S = 300
"""How long processes of a campaign that was killed may take to end."""

REAL = """
title = "Killed while it measures"
launches = 3
timeout_s = 600
[[runs]]
kernel = "ring"
params = { repetitions = [1, 2], steps = 1, warmup = 0 }
layout = { ppn = 2 }
"""
PRECISE = """
title = "Killed while it looks whether it has launched enough"
precision = 0.9
launches = 7
most_launches = 9
timeout_s = 600
[[runs]]
kernel = "empty"
params = { repetitions = 2, steps = 1, warmup = 0 }
layout = { ppn = 1 }
"""
SIMULATED = """
title = "Killed while it simulates"
timeout_s = 600
[[runs]]
kernel = "poisson_cg"
params = { n = [64, 128], exchange = ["blocking", "nonblocking"] }
layout = { nodes = [1, 2], ppn = 2 }
"""


def must(holds: bool, otherwise: object) -> None:
    """AssertionError, with what is wrong, unless something holds; under plain Python as well."""
    if not holds:
        raise AssertionError(str(otherwise))


@dataclass(frozen=True)
class Kind:
    """A kind of campaign: its study, and the options of `run` that go with it."""

    name: str
    study: str
    options: tuple[str, ...] = ()


KINDS = {
    kind.name: kind
    for kind in (
        Kind("real", REAL, ("--oversubscribe",)),
        Kind("precise", PRECISE),
        Kind("simulated", SIMULATED, ("--on", "stampede2")),
    )
}


@dataclass
class Ended:
    """How a command ended: its exit code, and what it printed."""

    code: int
    output: str


@dataclass
class Ground:
    """A folder in which campaigns are disturbed: scratch, cache and results are all inside it.

    builds: the folder of built programs, which stays as it is; all else of the cache is new.
    extra: variables of the environment beside those that are inherited; None takes one away.
    """

    path: Path
    builds: Path
    extra: Mapping[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.cache.mkdir(exist_ok=True)
        self.builds.mkdir(parents=True, exist_ok=True)
        if not (self.cache / "builds").exists():
            (self.cache / "builds").symlink_to(self.builds)

    @property
    def scratch(self) -> Path:
        """What TMPDIR is set to: nothing of a campaign may stay there."""
        return self.path / "scratch"

    @property
    def cache(self) -> Path:
        return self.path / "cache"

    def environment(self) -> dict[str, str]:
        ours = {"TMPDIR": str(self.scratch), "HALOSCOPE_CACHE": str(self.cache)}
        ours |= {MARK: str(self.path), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        bytecode = {"PYTHONDONTWRITEBYTECODE": None}  # kept, as users have it: a start is quicker
        all_of_it: dict[str, str | None] = {**os.environ, **ours, **bytecode, **self.extra}
        return {key: value for key, value in all_of_it.items() if value is not None}

    def start(self, *words: str | Path, **more: Any) -> subprocess.Popen[bytes]:
        """A command of haloscope, begun in this folder; what it prints goes to a file."""
        with (self.path / "printed").open("wb") as printed:
            return subprocess.Popen(
                [*HALOSCOPE, *map(str, words)],
                cwd=self.path,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **more,
            )

    def ended(self, process: subprocess.Popen[bytes]) -> Ended:
        """The end of a command. AssertionError where it hangs, or prints a traceback."""
        try:
            code = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            raise AssertionError(f"no end within {LIMIT_S} s: {self._printed()}") from None
        printed = self._printed()
        must("Traceback (most recent call last)" not in printed, printed)
        return Ended(code, printed)

    def run(self, *words: str | Path, **more: Any) -> Ended:
        """A command from its beginning to its end."""
        return self.ended(self.start(*words, **more))

    def _printed(self) -> str:
        return (self.path / "printed").read_text(encoding="utf-8", errors="replace")

    def wait_until_gone(self) -> None:
        """AssertionError where processes of a campaign outlive it."""
        end = time.monotonic() + GONE_S
        while left := self.processes():
            must(time.monotonic() < end, f"still there after {GONE_S} s: {left}")
            time.sleep(0.02)

    def processes(self) -> list[tuple[int, str]]:
        """The processes that were started here and run: number and name."""
        mine = []
        for process in psutil.process_iter():
            try:
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if process.environ().get(MARK) == str(self.path):
                    mine.append((process.pid, process.name()))
            except (psutil.Error, OSError):
                continue
        return mine

    def left_behind(self) -> list[str]:
        """The contents of the scratch folder, including MPI's session folders."""
        return sorted(str(path.relative_to(self.scratch)) for path in self.scratch.rglob("*"))


OWN = {"study.toml", "plan.json", "records.jsonl", ".lock"}
REPORT = {"report.html", "report.md", "report.tex", "figures", "tables", "latex"}


@dataclass
class Disturbed:
    """One campaign in one result folder, through all that happens to it.

    inside: the folder that has the result folder, where that is not the ground's own.
    """

    ground: Ground
    kind: Kind
    number: int = 0
    inside: Path | None = None
    kept: bytes = b""
    seen: list[tuple[int, int]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return (self.inside or self.ground.path) / f"{self.kind.name}-{self.number}"

    @property
    def words(self) -> list[str | Path]:
        """The command that begins or continues the campaign."""
        if (self.folder / "plan.json").exists():
            return ["run", "--resume", self.folder]
        study = self.ground.path / f"{self.kind.name}.toml"
        study.write_text(self.kind.study, encoding="utf-8")
        return ["run", study, "--out", self.folder, "--seed", "1", *self.kind.options]

    def look(self) -> None:
        """Whether all that was recorded before is there; AssertionError where it is not."""
        records = self.folder / "records.jsonl"
        content = records.read_bytes() if records.is_file() else b""
        must(content.startswith(self.kept), "a record that was there is lost or was changed")
        self.kept = content[: content.rfind(b"\n") + 1]
        for line in self.kept.splitlines():
            must(isinstance(json.loads(line), dict), "a line that is no record has its end")

    def records(self) -> int:
        """How many whole lines the file of records has."""
        path = self.folder / "records.jsonl"
        return path.read_bytes().count(b"\n") if path.is_file() else 0

    def measured(self) -> bool:
        """Whether nothing is left to launch: what follows is the report. Quick to ask again."""
        with suppress(AssertionError, OSError, ValueError):
            files = (self.folder / "records.jsonl", self.folder / "plan.json")
            state = [(file.stat().st_mtime_ns, file.stat().st_size) for file in files]
            if state != self.seen:
                self.seen = state
                self._complete()
                self.seen = []
                return True
        return False

    def finish(self) -> None:
        """Go on until all is done, and look whether it is. AssertionError where it is not.

        Its report is the one that the last command writes.
        """
        for _ in range(3):  # a rank that was killed by itself left a failed launch: tried again
            ended = self.ground.run(*self.words)
            if ended.code == 0:
                break
        must(ended.code == 0, ended.output)
        self.look()
        self._complete()
        self.ground.wait_until_gone()
        files = {path.name for path in self.folder.iterdir()}
        must(files == OWN | REPORT, f"in the result folder: {sorted(files)}")
        must(not (left := self.ground.left_behind()), f"left in the scratch folder: {left}")

    def _complete(self) -> None:
        """Each case has its planned launches, and each of them one good record."""
        plan = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        lines = (self.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        good = Counter((one["case"], one["launch"]) for one in records if one["outcome"] == "ok")
        planned = {(one["case"], k) for one in plan["cases"] for k in range(one["launches"])}
        must(set(good) == planned, f"planned {len(planned)} launches, recorded {len(good)}")
        must(max(good.values()) == 1, "a launch was recorded twice")
        if plan["rule"]:
            must(all(one["stopped"] for one in plan["cases"]), "a case has not stopped")

    def remove(self) -> None:
        """Take the folder away, and what the cache has of its simulations."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.ground.cache / "simulated", ignore_errors=True)


OURS = "HALOSCOPE_FAULTS_SHM"
"""Set where /dev/shm is of this program alone."""
SHARED = Path("/dev/shm")


def enclose() -> None:
    """Begin again among mounts and with a /dev/shm of our own, where that can be had (as root)."""
    if OURS in os.environ or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    mount = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c", mount, "sh"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[OURS] = "1"
        os.execvp("unshare", [*words, sys.executable, *sys.argv])


def shared_memory() -> list[str]:
    """The contents of our own shared memory; [] if other processes use it too."""
    return sorted(path.name for path in SHARED.iterdir()) if OURS in os.environ else []


def ground(builds: Path, extra: Mapping[str, str | None] | None = None) -> Ground:
    """A new one, on the disk where temporary files are."""
    return Ground(Path(tempfile.mkdtemp(prefix="faults-")), builds, extra or {})
