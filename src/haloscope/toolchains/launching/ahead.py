# SPDX-License-Identifier: BSD-3-Clause
"""Queries of the MPI library in PATH that each launch needs, started at the same time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

from haloscope.host import process
from haloscope.toolchains import in_path
from haloscope.toolchains.launching import parameter_files


def asked() -> AbstractContextManager[None]:
    """Return a context in which the first programs in PATH answer in advance."""
    return process.ahead([(one, os.environ) for one in _questions()], in_path.ANSWER_S)


def _questions() -> Iterator[list[str]]:
    if wrapper := _first(in_path.COMPILERS):
        yield from (in_path.dump(wrapper), in_path.version(wrapper))
        yield from islice(parameter_files.asking(Path(wrapper).parent), 1)
    if launcher := _first(in_path.LAUNCHERS):
        yield in_path.version(launcher)


def _first(names: tuple[str, ...]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)
