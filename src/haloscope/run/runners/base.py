# SPDX-License-Identifier: BSD-3-Clause
"""The interface of runners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from haloscope.study.case import Launch


class Runner(Protocol):
    """Runs launches one after the other, in order, and yields a record as each ends.

    A failed launch is also a record; an exception means that nothing can be run at all. If the
    iteration is left early (Ctrl-C), the running launch is ended, and nothing is yielded for it.
    """

    @property
    def name(self) -> str:
        """Its name in records."""

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """Yield the records of the launches, as in records.jsonl."""
