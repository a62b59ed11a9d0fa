"""Where haloscope's data files lie (a checkout, or the installed wheel), and its cache."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def share(name: str) -> Path:
    """The folder `name` (halobench, studies, papers) that came with this haloscope."""
    installed = _PACKAGE / "_share" / name
    return installed if installed.exists() else _CHECKOUT / name


def cache_path() -> Path:
    """Where toolchains and builds are kept: HALOSCOPE_CACHE, or the user's cache folder."""
    given = os.environ.get("HALOSCOPE_CACHE")
    return Path(given).absolute() if given else platformdirs.user_cache_path("haloscope")
