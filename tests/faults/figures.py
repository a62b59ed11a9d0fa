# SPDX-License-Identifier: BSD-3-Clause
"""What was tried and found, slice by slice, kept as lines of JSON that add up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Slice:
    """One run of one part of the fault campaigns.

    part: kills, disks and so on. tries: how many there were. wrong: what failed, in words.
    figures: figures of the part's own.
    """

    part: str
    seed: int
    tries: int
    wrong: tuple[str, ...]
    took_s: float
    figures: Mapping[str, Any]


def keep(path: Path | None, found: Slice) -> None:
    """Print a slice, and add it to a file where one is given."""
    print(json.dumps(asdict(found), indent=1), flush=True)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(found)) + "\n")


def kept(path: Path) -> list[Slice]:
    """All slices of a file; [] where there is none."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    raws = [json.loads(line) for line in lines]
    return [Slice(**{**raw, "wrong": tuple(raw["wrong"])}) for raw in raws]
