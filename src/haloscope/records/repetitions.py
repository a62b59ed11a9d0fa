# SPDX-License-Identifier: BSD-3-Clause
"""Exports the raw data of a records.jsonl: a row for each repetition of each launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from haloscope.records.record import whole
from haloscope.study.settings import Setting, settings_of

OF_A_LAUNCH = ("launch", "outcome", "started")
OF_A_REPETITION = ("operation", "size_bytes", "repetition", "time_s")
"""OF_A_REPETITION are its columns; the first two are of a point of a sweep."""


def rows(path: Path) -> Iterator[list[Setting]]:
    """A header, then a row a repetition, in the order of the records, in little memory.

    Every row has the id and the settings of its case. A launch without a time has one row, with its
    outcome. Nothing is rounded: times are the numbers of the record.
    """
    names: dict[str, None] = {}
    seen = set()
    for raw in whole(path, tell=False):
        if raw["case"] not in seen:
            seen.add(raw["case"])
            names |= dict.fromkeys(settings_of(raw))
    yield ["case_id", *names, *OF_A_LAUNCH, *OF_A_REPETITION]
    for raw in whole(path):
        settings = settings_of(raw)
        own = [raw["case"], *(settings.get(name) for name in names)]
        own += [raw.get(name) for name in OF_A_LAUNCH]
        for repetition in _repetitions(raw):
            yield [*own, *repetition]


def _repetitions(raw: Mapping[str, Any]) -> Iterator[list[Setting]]:
    """What is of each repetition, for all points of a launch."""
    points = raw.get("points") or [raw]
    for point in points:
        of_the_point = [point.get("operation"), point.get("size_bytes")]
        times = point.get("times_s") or []
        for number, time_s in enumerate(times):
            yield [*of_the_point, number, time_s]
        if not times:
            yield [*of_the_point, None, None]
