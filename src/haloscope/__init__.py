# SPDX-License-Identifier: BSD-3-Clause
"""haloscope: a laboratory for the communication performance of parallel (MPI) programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    import polars

    from haloscope.records.rows import Per

__version__ = "0.1.0"
"""The version is stored here alone; asking the installed package's metadata takes as long as all
else that --help does."""


def load(directory: str | PathLike[str], rows: Per = "launches") -> polars.DataFrame:
    """Load a result folder as a polars data frame, with the columns of `haloscope export`.

    rows: "launches" for a row per launch (per size of a launch that swept several), "repetitions"
    for a row per timed repetition. UserError where the folder has no records, and where polars is
    not installed: pip install 'haloscope[data]'. ValueError for other rows.
    """
    from pathlib import Path

    from haloscope.records import rows as table

    if rows not in table.PER:
        raise ValueError(f"rows = {rows!r}: expected one of {', '.join(table.PER)}")
    return table.frame(table.rows(Path(directory), rows))
