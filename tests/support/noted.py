# SPDX-License-Identifier: BSD-3-Clause
"""Whether a table or a figure has a note of a kind, whatever its words are."""

from __future__ import annotations

from haloscope.topics.common.figure import Figure
from haloscope.topics.common.table import Table


def noted(item: Table | Figure, fragment: str) -> bool:
    """Whether one of its notes has a fragment: a sign, or a number with its unit."""
    return any(fragment in note for note in item.notes)
