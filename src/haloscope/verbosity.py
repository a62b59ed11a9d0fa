# SPDX-License-Identifier: BSD-3-Clause
"""The amount of output besides results, warnings, and errors, which are always printed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache

from haloscope.errors import printable


class Verbosity(StrEnum):
    """Quiet: no progress and no notes. Verbose: also the commands that are run."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


_current = Verbosity.NORMAL


@contextmanager
def verbosity(level: Verbosity) -> Iterator[None]:
    """Apply a level to this process until the block ends."""
    global _current
    before, _current = _current, level
    try:
        yield
    finally:
        _current = before


def shows_notes() -> bool:
    """Whether progress and notes are printed."""
    return _current is not Verbosity.QUIET


def shows_commands() -> bool:
    """Whether the commands that are run are printed."""
    return _current is Verbosity.VERBOSE


def note(line: str) -> None:
    """Print a note on standard error, unless the command is quiet."""
    if shows_notes():
        print(printable(line), file=sys.stderr)


@cache
def warn_once(line: str) -> None:
    """Print a warning once: a command may find its cause several times."""
    logging.getLogger(__name__).warning(line)
