# SPDX-License-Identifier: BSD-3-Clause
"""Whether a text has certain values, whatever its words are."""

from __future__ import annotations

from collections.abc import Iterable

from haloscope.topics.common.figure import Figure
from haloscope.topics.common.table import Table


def shows(texts: str | Iterable[str], *values: str) -> bool:
    """Whether one text has all of these values: names, signs, or numbers with their units."""
    every = (texts,) if isinstance(texts, str) else texts
    return any(all(value in text for value in values) for text in every)


def noted(item: Table | Figure, *values: str) -> bool:
    """Whether one note of a table or a figure has all of these values."""
    return shows(item.notes, *values)
