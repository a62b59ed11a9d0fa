# SPDX-License-Identifier: BSD-3-Clause
"""Terminal output of commands, safe for text from any source.

Titles, reasons, and names are from studies, records, and papers that somebody else may have made.
Nothing in them is treated as markup, and control characters are made visible.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from haloscope.errors import printable

_NO_WIDTH = ("COLUMNS", "0")
"""The value of some terminals of unknown width, with which nothing would be shown."""


class Screen(Console):
    """Standard output or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        """Create one of the two."""
        said = {name: value for name, value in os.environ.items() if (name, value) != _NO_WIDTH}
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False, _environ=said)

    def lines(self, *lines: object) -> None:
        """Print lines of text in full: the terminal wraps them."""
        for line in lines:
            self.print(line if isinstance(line, Text) else str(line), soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render text; all output passes here, so control codes are only rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
