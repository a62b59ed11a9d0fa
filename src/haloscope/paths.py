"""Where the data files of haloscope lie: in a checkout, or inside the installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def share(name: str) -> Path:
    """The folder `name` (halobench, studies, papers) that came with this haloscope."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.exists() else _CHECKOUT / name
