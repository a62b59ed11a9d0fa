# SPDX-License-Identifier: BSD-3-Clause
"""Checks of folders, limits, and the host name."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import sys
from pathlib import Path

from haloscope.errors import UserError
from haloscope.host.scratch import may_execute, program_folder, scratch
from haloscope.paths import cache_path
from haloscope.run.doctor import CheckResult, Patient
from haloscope.toolchains.added import pypi

_GIB = 1 << 30


def check_scratch(patient: Patient) -> CheckResult:
    """Check whether programs can run in TMPDIR, where small test programs are compiled."""
    asked = os.environ.get("TMPDIR")
    with scratch() as own:
        if asked and not Path(asked).is_dir():
            what = f"folder '{asked}' not found; {own.folder.parent} is used instead"
            return CheckResult("TMPDIR", "warn", what, "set TMPDIR to a folder, or unset it")
        if asked and Path(asked).resolve() != own.folder.parent.resolve():
            what = f"{asked} is not writable; {own.folder.parent} is used instead"
            return CheckResult(
                "TMPDIR", "warn", what, "set TMPDIR to a writable folder, or unset it"
            )
        if may_execute(own.folder):
            return CheckResult("TMPDIR", "ok", str(own.folder.parent))
        what = f"{own.folder.parent} is on a file system mounted noexec, so programs compiled "
        what += "there cannot run"
    return CheckResult(
        "TMPDIR", "warn", what, "set TMPDIR to a folder on a file system mounted without noexec"
    )


def check_python(patient: Patient) -> CheckResult:
    """Check whether this Python can add toolchains."""
    what = f"{sys.version.split()[0]} in {sys.prefix}"
    if pypi.can_install():
        return CheckResult("Python", "ok", what)
    remedy = f"run {sys.executable} -m ensurepip, or install uv"
    what += " has neither pip nor uv, so toolchains cannot be installed"
    return CheckResult("Python", "warn", what, remedy)


def check_stack(patient: Patient) -> CheckResult:
    """Check whether the stack is as large as usual."""
    limit, _ = resource.getrlimit(resource.RLIMIT_STACK)
    what = _limit(limit)
    if limit != resource.RLIM_INFINITY and limit < 8 << 20:
        what += "; large local arrays may exceed it"
        return CheckResult("stack limit", "warn", what, "raise the limit to 8 MiB: ulimit -s 8192")
    return CheckResult("stack limit", "ok", what)


def check_locked_memory(patient: Patient) -> CheckResult:
    """Check whether a fast network could pin its buffers, which only InfiniBand needs."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if limit == resource.RLIM_INFINITY:
        return CheckResult("locked memory", "ok", _limit(limit))
    remedy = "if you use InfiniBand, raise the limit: ulimit -l unlimited (or set it in "
    remedy += "/etc/security/limits.conf)"
    return CheckResult("locked memory", "note", _limit(limit), remedy)


def check_host_name(patient: Patient) -> CheckResult:
    """Check whether the host name resolves to an address, which some MPI libraries need."""
    name = socket.gethostname()
    if any(len(part) > _LONGEST_LABEL for part in name.split(".")):
        what = f"'{name}' has a label longer than {_LONGEST_LABEL} characters, so it cannot "
        remedy = f"set a shorter name: sudo hostnamectl hostname {name[:12]}"
        return CheckResult("host name", "warn", f"{what}be resolved", remedy)
    try:
        socket.getaddrinfo(name, None)
    except UnicodeError:
        remedy = "use letters, digits, and '-': sudo hostnamectl hostname NAME"
        return CheckResult("host name", "warn", f"'{name}' is not a valid host name", remedy)
    except OSError as error:
        remedy = f"add it to /etc/hosts: echo '127.0.1.1 {name}' | sudo tee -a /etc/hosts"
        return CheckResult(
            "host name", "warn", f"'{name}' cannot be resolved ({error.strerror})", remedy
        )
    return CheckResult("host name", "ok", f"{name} resolves")


_LONGEST_LABEL = 63
"""_LONGEST_LABEL is the maximum length of a label in a host name (RFC 1035); Linux accepts 64."""


def check_shared_memory(patient: Patient) -> CheckResult:
    """Check whether shared memory has room for messages between ranks."""
    folder = patient.root / "dev/shm"
    if not folder.is_dir():
        remedy = "mount a tmpfs there; ranks on the same host communicate through it"
        return CheckResult("/dev/shm", "fail", "does not exist", remedy)
    size = shutil.disk_usage(folder)
    what = f"{size.free / _GIB:.2f} GiB free"
    if size.free < _GIB // 4:
        return CheckResult(
            "/dev/shm",
            "warn",
            what,
            "enlarge it: docker run --shm-size=1g, or sudo mount -o remount,size=1G /dev/shm",
        )
    return CheckResult("/dev/shm", "ok", what)


def check_cache(patient: Patient) -> CheckResult:
    """Check whether toolchains and builds can be stored."""
    folder = cache_path()
    try:
        program_folder("")
    except UserError as error:
        (problem,) = error.problems
        return CheckResult("cache", "fail", f"{problem.where} {problem.what}", problem.remedy)
    free = shutil.disk_usage(folder).free
    what = f"{folder}, {free / _GIB:.0f} GiB free"
    if free < _GIB:
        return CheckResult(
            "cache",
            "warn",
            what,
            "free up space, or set HALOSCOPE_CACHE to a folder on another disk",
        )
    return CheckResult("cache", "ok", what)


def _limit(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else f"{limit / (1 << 20):g} MiB"
