# SPDX-License-Identifier: BSD-3-Clause
"""The providers of the libfabric that an MPI library uses, working here or not.

libfabric itself is queried (fi_getinfo(3), FI_PROV_ATTR_ONLY: every registered provider) in a
separate process: this file run as a program, which imports nothing from the current folder. A
provider in a file of its own, whose network library is missing on this machine, is not registered;
the file shows its name.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_LIBRARY = "libfabric.so.1"
_VERSION = 1 << 16 | 5  # 1.5, which all versions in use support
_PROV_ATTR_ONLY = 1 << 54
_LAYERS = re.compile(r"ofi_|off_coll")
"""Names of layers over other providers, which are not transports themselves."""
_NAMES = {"psmx": "psm", "psmx2": "psm2"}
"""Files whose names differ from those of their providers."""


@lru_cache
def providers(prefix: Path | None) -> tuple[str, ...]:
    """Return the providers of the libfabric below `prefix`, or of the system's; () without one."""
    own = None if prefix is None else library_below(prefix)
    if prefix is not None and own is None:
        return ()
    files = provider_files(own) if own else []
    environment = dict(os.environ)
    if files:
        environment["FI_PROVIDER_PATH"] = str(files[0].parent)
    asked = subprocess.run(
        [sys.executable, "-I", __file__, str(own or _LIBRARY)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=60,
        check=False,
    )
    named = [*asked.stdout.split(), *sorted(_provider(file) for file in files)]
    return tuple(dict.fromkeys(name for name in named if not _LAYERS.match(name)))


def library_below(prefix: Path) -> Path | None:
    """Return the libfabric that an MPI library below `prefix` contains, or None."""
    return next(prefix.glob(f"lib*/**/{_LIBRARY}"), None)


def provider_files(library: Path) -> list[Path]:
    """Return the providers in files beside a libfabric."""
    return [*library.parent.glob("**/lib*-fi.so")]


def _provider(file: Path) -> str:
    name = re.sub(r"^lib|-[\d.]+$", "", file.name.removesuffix("-fi.so"))
    return _NAMES.get(name, name).replace("rxm", "ofi_rxm")


class _Fabric(ctypes.Structure):
    _fields_ = (
        ("fabric", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("provider", ctypes.c_char_p),
    )


class _Info(ctypes.Structure):
    """struct fi_info: a linked list."""


_Info._fields_ = (
    ("next", ctypes.POINTER(_Info)),
    ("caps", ctypes.c_uint64),
    ("mode", ctypes.c_uint64),
    ("addr_format", ctypes.c_uint32),
    ("addrlen", ctypes.c_size_t * 2),
    ("addr", ctypes.c_void_p * 2),
    ("handle", ctypes.c_void_p),
    ("attr", ctypes.c_void_p * 4),
    ("fabric", ctypes.POINTER(_Fabric)),
)


def _registered(library: str) -> Iterator[str]:
    ask = ctypes.CDLL(library).fi_getinfo
    ask.argtypes = (
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_uint64,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.POINTER(_Info)),
    )
    info = ctypes.POINTER(_Info)()
    if ask(_VERSION, None, None, _PROV_ATTR_ONLY, None, ctypes.byref(info)) != 0:
        return
    while info:
        yield info.contents.fabric.contents.provider.decode()
        info = info.contents.next


if __name__ == "__main__":
    try:
        print(*_registered(sys.argv[1]), sep="\n")
    except OSError as error:
        sys.exit(str(error))
