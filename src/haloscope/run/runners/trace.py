# SPDX-License-Identifier: BSD-3-Clause
"""The bytes between ranks in a simulation, counted in SimGrid's trace while that is written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

Pairs = Sequence[Sequence[int]]
"""The sender, the receiver, and the bytes of each pair of ranks."""


@contextmanager
def counted(pipe: Path) -> Iterator[Callable[[], Pairs]]:
    """Make a pipe for a trace, whose size has no limit; what is called afterwards gives its pairs.

    ValueError from that for what is no whole trace.
    """
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    held = os.open(pipe, os.O_WRONLY)  # until it is closed, the reader sees no end
    os.set_blocking(reading, True)
    with ThreadPoolExecutor(1) as reader:
        found = reader.submit(_read, reading)
        try:
            yield found.result
        finally:
            os.close(held)


def _read(descriptor: int) -> Pairs:
    with open(descriptor, encoding="ascii", errors="replace") as lines:
        return pairs_in(lines)


def pairs_in(lines: Iterable[str]) -> Pairs:
    """The pairs of a Paje trace of SimGrid.

    Event 15 is a message that is sent: its key begins with the ids of both processes, which are
    their ranks from 1; its last word is the bytes. ValueError for a line of that kind without them.
    """
    found = Counter[tuple[str, str]]()
    for line in lines:
        if line.startswith("15 "):
            *_, key, sent = line.split()
            sender, receiver, *_ = key.split("_")
            found[sender, receiver] += int(sent)
    return [(int(one) - 1, int(other) - 1, sent) for (one, other), sent in found.items() if sent]
