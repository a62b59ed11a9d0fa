# SPDX-License-Identifier: BSD-3-Clause
"""Wall time from an empty clone to the first report, in parts, on a machine without an MPI.

usage: .venv/bin/python bench/first_report.py [--rounds 1]     (as root; debootstrap, the network)

It runs in a chroot of Debian with python3, python3-venv, g++, and git alone, kept in the cache
folder. Every round begins with an empty clone of HEAD, an empty HOME, and an empty cache. A part
ends when its last file is written: `.set-up`, the library's stamp, halobench's programs, the last
record; the report ends with the command.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from turns import HEADER, ROOT, Target, taken, write_page

from haloscope.paths import cache_path

SUITE = "bookworm"
PACKAGES = "python3,python3-venv,g++,git,ca-certificates"
PASSED_ON = re.compile(
    r"(SSL_CERT_FILE|PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL)|(https?|no)_proxy)", re.I
)
"""PASSED_ON are variables without which packages may not be reached from here."""
CLONE, HOME = "root/haloscope", "root/home"
IN_TURN = "Each figure is the median over rounds, with its range."


@dataclass(frozen=True)
class Done:
    """A command that ran in the chroot. used_s is processor time, of its children too."""

    begin_s: float
    end_s: float
    used_s: float
    code: int
    output: str

    @property
    def wall_s(self) -> float:
        """Wall time of the command."""
        return self.end_s - self.begin_s


@dataclass(frozen=True)
class Bare:
    """The chroot."""

    root: Path

    @property
    def clone(self) -> Path:
        """The clone that is measured."""
        return self.root / CLONE

    @property
    def cache(self) -> Path:
        """Its cache folder."""
        return self.root / HOME / ".cache/haloscope"

    def empty(self) -> None:
        """Make an empty clone and an empty HOME."""
        for folder in (self.clone, self.root / HOME):
            shutil.rmtree(folder, ignore_errors=True)
        (self.root / HOME).mkdir()
        checked(["git", "clone", "--quiet", str(ROOT), str(self.clone)])

    def attempt(self, command: str) -> Done:
        """Run a command in the clone, in namespaces of its own: nothing of it is left."""
        passed = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": f"/{HOME}",
            "LANG": "C.UTF-8",
            **passed,
        }
        inside = f"cd /{CLONE} && {command}"
        words = [
            "env",
            "-i",
            *(f"{name}={value}" for name, value in env.items()),
            "sh",
            "-c",
            inside,
        ]
        root = shlex.quote(str(self.root))
        mounts = [f"mount -t proc proc {root}/proc"]
        mounts += [f"mount --rbind /{name} {root}/{name}" for name in ("dev", "sys")]
        script = " && ".join([*mounts, f"exec chroot {root} {shlex.join(words)}"])
        log = self.root / "root/output"
        begin_s = time.time()
        with log.open("w") as file:
            process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
            _, status, usage = os.wait4(process.pid, 0)
        end_s = time.time()
        process.returncode = os.waitstatus_to_exitcode(status)
        used_s = usage.ru_utime + usage.ru_stime
        print(f"{end_s - begin_s:7.1f} s  ({used_s:.1f} s of a processor)  {command}", flush=True)
        return Done(begin_s, end_s, used_s, process.returncode, log.read_text(errors="replace"))

    def run(self, command: str) -> Done:
        """Run a command that must succeed."""
        done = self.attempt(command)
        if done.code:
            sys.exit(f"{command} failed ({done.code}):\n{done.output[-3000:]}")
        return done


def checked(command: Sequence[str]) -> None:
    """Run a command here; the end of this script, with its last words, where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:]
        sys.exit(f"{shlex.join(command)} failed; is the network there?\n{said}")


def bare_machine() -> Bare:
    """The chroot, made where the cache has none."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.exit("root and debootstrap are needed (apt install debootstrap)")
    root = cache_path() / "bench" / f"bare-{SUITE}"
    if not root.exists():
        print(f"making a bare {SUITE} in {root}", flush=True)
        part = root.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        checked(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(part)])
        part.rename(root)
    for name in ("/etc/resolv.conf", "/etc/hosts", *certificates()):
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    return Bare(root)


def certificates() -> Iterable[str]:
    """Files of certificates that are named by what is passed on."""
    named = (os.environ.get(name) for name in ("SSL_CERT_FILE", "PIP_CERT"))
    return {name for name in named if name and Path(name).is_file()}


def last_written(paths: Iterable[Path]) -> float:
    """When the last of some files was written. The end of this script where there is none."""
    times = [path.stat().st_mtime for path in paths if path.is_file()]
    if not times:
        sys.exit(
            "a part has left no file: bench/first_report.py looks for another one than there is"
        )
    return max(times)


def programs(cache: Path) -> list[Path]:
    """What was built: the executable files of the cache's builds."""
    return [
        path
        for path in (cache / "builds").rglob("*")
        if path.is_file() and os.access(path, os.X_OK)
    ]


def records(clone: Path) -> list[Path]:
    """The records of studies that ran in the clone."""
    return [path for path in clone.rglob("records.jsonl") if ".venv" not in path.parts]


def first(bare: Bare) -> dict[str, float]:
    """The first `run quick` of an empty clone, in parts."""
    bare.empty()
    done = bare.run("./haloscope run quick")
    marks = {
        "set-up": last_written([bare.clone / ".venv/.set-up"]),
        "MPI": last_written((bare.cache / "toolchains").glob("*/toolchain.json")),
        "build": last_written(programs(bare.cache)),
        "study": last_written(records(bare.clone)),
        "report": done.end_s,
    }
    begins = [done.begin_s, *marks.values()]
    parts = {name: end - begin for begin, (name, end) in zip(begins, marks.items(), strict=False)}
    return {**parts, "run quick, first": done.wall_s}


def second(bare: Bare) -> dict[str, float]:
    """Another `run quick` there."""
    done = bare.run("./haloscope run quick")
    ended = last_written(records(bare.clone))
    return {
        "run quick, second": done.wall_s,
        "report of the second `run quick`": done.end_s - ended,
    }


def further_library(bare: Bare) -> dict[str, float]:
    """Another MPI library, and a first number with it."""
    return {
        "toolchain add mpich": bare.run("./haloscope toolchain add mpich").wall_s,
        "once pingpong --toolchain mpich": bare.run(
            "./haloscope once pingpong --ranks 2 --toolchain mpich --json"
        ).wall_s,
    }


def kernels(bare: Bare) -> list[str]:
    """The kernels that there are."""
    text = (bare.clone / "halobench/kernels.def").read_text()
    return re.findall(r"^KERNEL\((\w+)", text, re.M)


def each_kernel(bare: Bare) -> dict[str, float]:
    """`once NAME` of each kernel, with the builds that `run quick` left."""
    bare.run("./haloscope toolchain add fftw")  # fft_pencil's library
    builds, left = bare.cache / "builds", bare.cache / "builds.left"
    shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(builds, left)
    took = {}
    for name in kernels(bare):
        shutil.rmtree(builds)
        shutil.copytree(left, builds)
        took[name] = bare.run(f"./haloscope once {name} --ranks 2 --json").wall_s
    return took


def whole_build(bare: Bare) -> float:
    """Processor seconds of building all kernels, with nothing built before."""
    shutil.rmtree(bare.cache / "builds")
    done = bare.attempt("./haloscope toolchain build")
    if "invalid choice: 'build'" in done.output:  # an older haloscope: one kernel brings them all
        done = bare.run("./haloscope once empty --json")
    if done.code:
        sys.exit(f"the whole build failed:\n{done.output[-3000:]}")
    return done.used_s


def rows(figures: Mapping[str, Sequence[float]], limits: Mapping[str, float]) -> list[str]:
    """A table's lines: figures with a target, and those without."""
    lines = []
    for what, values in figures.items():
        line = Target(what, values, limits.get(what, 0.0), at_most=True, unit="s").row()
        lines.append(line if what in limits else f"{line.rsplit('|', 3)[0]}| | |")
    return lines


LIMITS = {
    "run quick, first": 75.0,
    "run quick, second": 30.0,
    "report of the second `run quick`": 2.0,
    "once pingpong --toolchain mpich": 20.0,
    "once NAME, the slowest kernel": 25.0,
    "build of all kernels, processor time": 120.0,
}


def main() -> None:
    """Measure, write docs/bench/first_report.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    rounds = parser.parse_args().rounds
    bare = bare_machine()
    figures: dict[str, list[float]] = {}
    for number in range(rounds):
        print(f"round {number + 1}/{rounds}", flush=True)
        took = {**first(bare), **second(bare)}
        by_kernel = each_kernel(bare)
        took["once NAME, the slowest kernel"] = max(by_kernel.values())
        took |= further_library(bare)
        took["build of all kernels, processor time"] = whole_build(bare)
        took |= {f"once {name}": wall_s for name, wall_s in by_kernel.items()}
        for what, wall_s in took.items():
            figures.setdefault(what, []).append(wall_s)
    body = [taken(), "", *HEADER]
    body += [*rows(figures, LIMITS), ""]
    print(write_page("first_report", "From an empty clone to the first report", body, IN_TURN))


if __name__ == "__main__":
    main()
