# SPDX-License-Identifier: BSD-3-Clause
"""The terminal as commands write to it: text is shown as it is, whoever it comes from.

Titles, reasons and names come from studies, records and papers that somebody else may have made:
in them nothing is markup, and what a terminal would obey is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from haloscope.errors import printable

_NO_WIDTH = ("COLUMNS", "0")
"""As some terminals say where they don't know: in no columns, nothing would be shown."""


class Screen(Console):
    """Standard output, or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        """One of the two."""
        said = {name: value for name, value in os.environ.items() if (name, value) != _NO_WIDTH}
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False, _environ=said)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Every piece of text that is written goes through here; control codes are rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
