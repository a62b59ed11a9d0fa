# SPDX-License-Identifier: BSD-3-Clause
"""The names of cluster files, found without the models of their contents."""

from __future__ import annotations

from pathlib import Path

from haloscope.paths import share


def ready() -> dict[str, Path]:
    """Return the cluster files by name: built-in ones, and those in ./clusters, which take
    precedence.
    """
    folders = (share("clusters"), Path("clusters"))
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}
