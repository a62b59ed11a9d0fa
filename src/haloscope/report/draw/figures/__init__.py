# SPDX-License-Identifier: BSD-3-Clause
"""Drawing of figures. `Drawing` is a drawn panel, which needs no matplotlib."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Drawing:
    """One drawn panel. name: of its files, without extension. svg: a complete document."""

    name: str
    svg: str
    pdf: bytes

    @property
    def height_over_width(self) -> float:
        """Height of the drawn panel over its width."""
        _, _, width, height = re.findall(r'viewBox="([^"]*)"', self.svg)[0].split()
        return float(height) / float(width)

    def inline(self, alt: str) -> str:
        """Return the SVG as an HTML element: with a description, sized by the page, with unique
        ids.
        """
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", body, flags=re.S)
        body = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", body, count=1)
        body = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", body, count=1)
        body = re.sub(r'\bid="', f'id="{self.name}-', body)
        body = re.sub(r"url\(#", f"url(#{self.name}-", body)
        body = re.sub(r'href="#', f'href="#{self.name}-', body)
        return body.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1).strip()
