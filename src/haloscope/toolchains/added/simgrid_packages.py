# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid from Debian's or Ubuntu's packages, unpacked into a folder without root.

apt-get determines and downloads the missing packages and verifies them with signed lists; dpkg
unpacks them. The paths in the compiler wrappers and the launcher are then adapted.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains.added.pypi import step

_NAMES = (("libsimgrid-dev", "simgrid"), ("libsimgrid-dev",))
"""Requested packages: without a package of the programs, these are in the other one."""

_SCRIPTS = ("smpicc", "smpicxx", "smpirun")

_BASE = "libc6_"
"""Prefix of the package that must be the system's own, because programs use its loader."""

LIMIT_S = 1800.0
"""Time limit per step in seconds: 35 MB over a slow line take less."""


def missing() -> str | None:
    """Return what this method needs and the system lacks; None if it can be tried."""
    return next((each for each in ("apt-get", "dpkg") if shutil.which(each) is None), None)


def fill(part: Path, final: Path, say: Callable[[str], None]) -> Path:
    """Unpack SimGrid in `part`, for the folder `final`; return its place in `part`.

    Raise UserError, with the last words of apt or dpkg, if it cannot be downloaded or is
    incomplete.
    """
    say("downloading SimGrid from the system's packages")
    root = part / "root"
    root.mkdir()
    for package in _fetch(part):
        _run(["dpkg", "-x", str(package), str(root)])
    (root / "bin").symlink_to("usr/bin")
    libraries = {each.parent for each in root.glob("usr/lib*/**/libsimgrid.so*")}
    if len(libraries) != 1 or not all((root / "bin" / each).exists() for each in _SCRIPTS):
        remedy = "use a newer release of Debian or Ubuntu"
        what = f"the packages do not contain {', '.join(_SCRIPTS)}, and libsimgrid.so"
        raise UserError(Problem("SimGrid's packages", what, remedy))
    below = final / libraries.pop().relative_to(root)
    for name in _SCRIPTS:
        script = root / "usr" / "bin" / name
        script.write_text(_moved(script.read_text(encoding="utf-8"), final, below))
    return root


def _fetch(part: Path) -> list[Path]:
    """Download with apt-get: with the system's lists, or with new ones if those are old
    or missing.
    """
    lists, archives = part / "lists", part / "cache" / "archives"
    for folder in (lists, archives):
        (folder / "partial").mkdir(parents=True)
    own = ["-o", "Debug::NoLocking=1", "-o", f"Dir::Cache={part / 'cache'}"]
    renewed = ["-o", f"Dir::State::Lists={lists}"]
    install = ["apt-get", "install", "--download-only", "--yes", "--no-install-recommends"]
    install += ["--reinstall"]  # download them even if the system has them
    refused = None
    for further, names in product(([], renewed), _NAMES):
        try:
            if further and not [*lists.glob("*Packages*")]:
                _run(["apt-get", "update", *own, *further])
            _run([*install, *own, *further, *names])
        except UserError as error:
            refused = error
            continue
        return _checked(sorted(archives.glob("*.deb")))
    assert refused is not None
    raise refused


def _checked(packages: list[Path]) -> list[Path]:
    """Return the packages. Raise UserError without any, or if one conflicts with the
    system's own.
    """
    remedy = "upgrade your system's packages, and complete interrupted installations"
    if not packages:
        raise UserError(Problem("SimGrid's packages", "apt-get downloaded no packages", remedy))
    if base := [each.name for each in packages if each.name.startswith(_BASE)]:
        what = f"require other versions of base packages: {', '.join(base)}"
        raise UserError(Problem("SimGrid's packages", what, remedy))
    return packages


def _moved(script: str, final: Path, libraries: Path) -> str:
    """Return a script of SimGrid that searches below `final` instead of /usr.

    Programs linked by it find its libraries there, and those libraries' dependencies (DT_RPATH,
    unlike DT_RUNPATH, applies to these, too). The compiler and Python remain the system's.
    """
    script = re.sub(r"(?<![\w./-])/usr/(?=(include|lib)\b)", lambda _: f"{final}/usr/", script)
    script = re.sub(r"(?<=-[IL])/usr/(?=(include|lib)\b)", lambda _: f"{final}/usr/", script)
    python = os.path.realpath(sys.executable)
    if not Path("/usr/bin/python3").exists():
        script = script.replace("/usr/bin/python3", python)
    rpath = f'"-Wl,--disable-new-dtags,-rpath,{libraries}"'
    return re.sub(r"(?m)^list_set CMAKE_LINKARGS .*", lambda line: f"{line[0]} {rpath}", script)


def _run(command: Sequence[str]) -> None:
    remedy = "check the network and the disk space (0.5 GB), then try again"
    step(command, {**os.environ, "LC_ALL": "C"}, LIMIT_S, " ".join(command[:2]), remedy)
