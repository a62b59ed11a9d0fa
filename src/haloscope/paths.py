"""Where haloscope's data files lie, where its cache, and how a file is written in one step."""

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


def write_anew(path: Path, content: str | bytes) -> None:
    """Write a whole file, or none, in place of what has that name.

    A link of that name is replaced, and what it leads to stays as it is.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    try:
        with draft.open("xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
