# SPDX-License-Identifier: BSD-3-Clause
"""How far predictions of published tables were off: papers/validated.csv, from `validate`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from haloscope.paths import share


@dataclass(frozen=True)
class Validated:
    """One published table that was predicted from a cluster file.

    kernel, variant: whose times were predicted; of a kernel without variants, in which
    memory. cells: how many of them set no number of the file.
    median, worst: of their relative errors. over: where times relative to others of the
    table were predicted, and not the times: which these are.
    """

    cluster: str
    kernel: str
    variant: str
    paper: str
    table: str
    cells: int
    median: float
    worst: float
    over: str


@cache
def validated() -> tuple[Validated, ...]:
    """Every table that was predicted."""
    with (share("papers") / "validated.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Validated(
                cluster=row["cluster"],
                kernel=row["kernel"],
                variant=row["variant"],
                paper=row["paper"],
                table=row["table"],
                cells=int(row["cells"]),
                median=float(row["median_percent"]) / 100,
                worst=float(row["worst_percent"]) / 100,
                over=row["over"],
            )
            for row in csv.DictReader(file)
        )
