# SPDX-License-Identifier: BSD-3-Clause
"""Count the bytes between ranks in SimGrid's trace while it is written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

Pairs = Sequence[Sequence[int]]
"""Sender, receiver, and bytes of each pair of ranks."""


@contextmanager
def counted(pipe: Path) -> Iterator[Callable[[], Pairs]]:
    """Create a pipe for a trace of any size; the yielded function returns its pairs afterwards.

    That function raises ValueError for an incomplete trace.
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
    """Return the pairs in SimGrid's Paje trace.

    Event 15 is a sent message: its key begins with the ids of both processes, which are their ranks
    from 1; its last word is the number of bytes. Raise ValueError for such a line without them.
    """
    found = Counter[tuple[str, str]]()
    for line in lines:
        if line.startswith("15 "):
            *_, key, sent = line.split()
            sender, receiver, *_ = key.split("_")
            found[sender, receiver] += int(sent)
    return [(int(one) - 1, int(other) - 1, sent) for (one, other), sent in found.items() if sent]
