# SPDX-License-Identifier: BSD-3-Clause
"""Detect cluster files that are copies of built-in ones: changed numbers with the same sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from haloscope.clusters.file import load
from haloscope.clusters.schema import Cluster, state
from haloscope.paths import share
from haloscope.quantities import count, listed

MOST = 0.8
"""MOST is the share of numbers, with their sources, from which a file is a copy: clusters of one
paper with the same processors share 0.7.
"""
NAMED = 3
"""NAMED is how many numbers of a copy are named."""


@dataclass(frozen=True)
class Copy:
    """A file with the sources of a built-in one.

    changed: keys whose numbers changed although their sources are the same; () for the same file
    under another name. own: number of values with another source.
    """

    name: str
    changed: tuple[str, ...]
    own: int = 0

    def __str__(self) -> str:
        """Return a sentence with the remedy."""
        if not self.changed:
            but = f", but for {count(self.own, 'number')}" if self.own else ""
            return f"a copy of {self.name}{but}: change its numbers, and give a source for each"
        named = [*self.changed[:NAMED]]
        if len(self.changed) > NAMED:
            named.append(f"{len(self.changed) - NAMED} more")
        whose = f"{self.name}'s source" if len(self.changed) == 1 else f"{self.name}'s sources"
        return f"a copy of {self.name}, with different numbers under {whose}: {listed(named)}"


@cache
def _ready() -> Mapping[str, Cluster]:
    return {path.stem: load(path) for path in sorted(share("clusters").glob("*.toml"))}


def copy_of(cluster: Cluster) -> Copy | None:
    """Return the built-in file that one is a copy of; None for built-in files and own sources."""
    ready = _ready()
    if cluster.name in ready and state(ready[cluster.name]) == state(cluster):
        return None
    own = _numbers(cluster)
    found = []
    for name, other in ready.items():
        if state(other) == state(cluster):
            return Copy(name, ())
        theirs = _numbers(other)
        shared = [key for key in own if key in theirs and own[key][1] == theirs[key][1]]
        changed = tuple(key for key in shared if own[key][0] != theirs[key][0])
        alike = len(shared) - len(changed)
        # only texts and settings differ
        if 2 * len(shared) > len(own) and (changed or alike >= MOST * len(own)):
            found.append((len(shared), Copy(name, changed, len(own) - len(shared))))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _numbers(cluster: Cluster) -> dict[str, tuple[object, str]]:
    found: dict[str, tuple[object, str]] = {}
    _walk(cluster.model_dump(exclude_none=True), "", found)
    return found


def _walk(part: object, where: str, found: dict[str, tuple[object, str]]) -> None:
    if isinstance(part, dict):
        if "value" in part and "source" in part:
            found[where] = part["value"], str(part["source"])
            return
        for key, inner in part.items():
            _walk(inner, f"{where}.{key}".lstrip("."), found)
        if where == "node" or not where:
            for key, inner in part.items():
                if isinstance(inner, int | float) and not isinstance(inner, bool):
                    found[f"{where}.{key}".lstrip(".")] = inner, str(part.get("source"))
    elif isinstance(part, list | tuple):
        for index, inner in enumerate(part):
            _walk(inner, f"{where}[{index}]", found)
