# SPDX-License-Identifier: BSD-3-Clause
"""Source locations of places in a program, from its debug information with addr2line."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable

from haloscope.errors import Problem, UserError
from haloscope.profiling.process import CallPlace

_TOOLS = ("addr2line", "llvm-addr2line")


def tool() -> str:
    """Return the path of addr2line. Raise UserError if it is not installed."""
    if found := next((path for name in _TOOLS if (path := shutil.which(name))), None):
        return found
    raise UserError(
        Problem("--sites", "addr2line not found", "install binutils (apt install binutils)")
    )


def resolved(places: Iterable[CallPlace]) -> dict[CallPlace, str]:
    """Return places as "function (file:line)", with inlined calls.

    Without debug information, only the function.
    """
    by_file: dict[str, list[CallPlace]] = {}
    for place in dict.fromkeys(places):
        by_file.setdefault(place.file, []).append(place)
    found = {}
    for file, own in by_file.items():
        printed = _addr2line(file, own) if file else []
        for place, lines in zip(own, printed or [[]] * len(own), strict=True):
            found[place] = " < ".join(lines) or place.function
    return found


def _addr2line(file: str, places: list[CallPlace]) -> list[list[str]]:
    """Return the output of addr2line for each place: pairs of lines after its address."""
    command = [tool(), "-a", "-C", "-f", "-i", "-e", file, *(hex(one.offset) for one in places)]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    every: list[list[str]] = []
    for line in ended.stdout.splitlines():
        every.append([]) if line.startswith("0x") else every[-1].append(line)
    if ended.returncode != 0 or len(every) != len(places):
        return []
    return [
        [
            f"{function.partition('(')[0]} ({where.rpartition('/')[2].partition(' ')[0]})"
            for function, where in zip(one[::2], one[1::2], strict=False)
            if not where.startswith("?")
        ]
        for one in every
    ]
