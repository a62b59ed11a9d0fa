# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a build with their log, and the cause of a failure from the log."""

from __future__ import annotations

import io
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from haloscope.errors import Problem
from haloscope.host import process
from haloscope.host.scratch import scratch
from haloscope.paths import cache_path, share
from haloscope.quantities import listed

Progress = Callable[[int, int], None]


def runs(command: list[str], environment: dict[str, str], log: Path, progress: Progress) -> bool:
    """Run one step of a build with its output in the log; ninja's "[3/20]" go to `progress`."""
    with log.open("a", encoding="utf-8") as copy, scratch() as own:
        step = subprocess.Popen(
            process.supervised(command),
            env=environment | {"NINJA_STATUS": "[%f/%t] ", "TMPDIR": str(own.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # we handle Ctrl-C
        )
        with step:
            assert step.stdin and step.stdout and step.stderr
            try:
                for line in io.TextIOWrapper(step.stderr, encoding="utf-8", errors="replace"):
                    copy.write(line)
                    if match := re.match(r"\[(\d+)/(\d+)\] ", line):
                        progress(int(match[1]), int(match[2]))
            finally:
                step.stdin.close()
                code, _ = process.exit_and_peak(step.stdout.read())
    return code == 0


_PROGRESS = re.compile(r"\[\d+/\d+\] ")
_FAILED = re.compile(r"^FAILED: .*?\bhalobench_(\w+?)(?:_device|_asked)?(?:\.dir/|$)", re.MULTILINE)
_ERROR = re.compile(r"\b(fatal )?error:|^CMake Error|undefined reference to|^ninja: error")
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_ERROR_LINES = 4


def full_disk(output: str) -> Problem | None:
    """Return the problem of a full disk in the output of a failed build, or None."""
    said = next((line.strip() for line in output.splitlines() if _FULL.search(line)), None)
    if said is None:
        return None
    folders = f"this folder and {tempfile.gettempdir()} (TMPDIR)"
    remedy = (
        f"free up space in {folders}, or set HALOSCOPE_CACHE or TMPDIR to a folder on another disk"
    )
    return Problem(str(cache_path()), f"build failed because a disk is full: {said}", remedy)


def failure(names: Mapping[str, str], log: Path, copy: Path, sources: Path | None) -> Problem:
    """Return the problem of a failed build. names: programs by kernel. copy: of the sources."""
    output = log.read_text(encoding="utf-8", errors="replace")
    own = [one for one in _FAILED.findall(output) if one in names]
    name = own[0] if own else listed([*names.values()])
    lines = [line for line in output.splitlines() if line and not _PROGRESS.match(line)]
    begins = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    if full := full_disk(output):
        return full
    shown = lines[-_ERROR_LINES:] if begins is None else lines[begins:][:_ERROR_LINES]
    text = "\n    ".join(shown).replace(str(copy), str(sources or share("halobench")))
    remedy = f"check the compilers with haloscope doctor; for the whole output, see {log}"
    return Problem(name, f"build failed:\n    {text}", remedy)
