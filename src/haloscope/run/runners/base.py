# SPDX-License-Identifier: BSD-3-Clause
"""What a runner is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from haloscope.study.case import Launch


class Runner(Protocol):
    """Runs launches one after the other, in the order given, and yields a record as each ends.

    A launch that fails is a record too; an exception means that nothing can be run at all. When the
    iteration is left early (Ctrl-C), the launch in flight is ended, and nothing is yielded for it.
    """

    @property
    def name(self) -> str:
        """What a record calls it."""

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """The records of the launches, as in records.jsonl."""
