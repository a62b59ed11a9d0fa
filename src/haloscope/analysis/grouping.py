# SPDX-License-Identifier: BSD-3-Clause
"""Grouping of launch records into measured cases."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase
from haloscope.grouped import grouped
from haloscope.records.record import Record
from haloscope.study.settings import Bytes, Setting, Settings, order, settings_of


@dataclass(frozen=True)
class Planned:
    """A planned case: its id, settings, and number of launches."""

    id: str
    kernel: str
    settings: Settings
    launches: int


def group(records: Iterable[Record], planned: Iterable[Planned] = ()) -> list[MeasuredCase]:
    """Return all cases in the records or the plan, ordered by kernel and settings."""
    by_case = grouped(records, lambda record: record.case)
    asked = {one.id: one for one in planned}
    measured = [_measured(own, asked.get(case_id)) for case_id, own in by_case.items()]
    runner = {key: measured[0].settings[key] for key in ("runner", "clock")} if measured else {}
    in_bytes = {
        (case.kernel, name)
        for case in measured
        for name, value in case.settings.items()
        if isinstance(value, Bytes)
    }
    missing = [
        MeasuredCase(
            one.id, one.kernel, {**_shown_alike(one, in_bytes), **runner}, (), (), one.launches
        )
        for one in asked.values()
        if one.id not in by_case
    ]
    return sorted([*measured, *missing], key=lambda case: order(case.settings))


def _shown_alike(one: Planned, in_bytes: Container[tuple[str, str]]) -> dict[str, Setting]:
    """Return the settings of a case without a record, in bytes if recorded cases of its
    kernel are.
    """
    return {
        name: Bytes(value) if isinstance(value, int) and (one.kernel, name) in in_bytes else value
        for name, value in one.settings.items()
    }


def _measured(records: list[Record], planned: Planned | None) -> MeasuredCase:
    records.sort(key=lambda record: record.launch)
    good = tuple(record for record in records if record.outcome == "ok")
    bad = tuple(record for record in records if record.outcome != "ok")
    described = (good or bad)[0]
    return MeasuredCase(
        described.case,
        described.kernel,
        settings_of(described.raw),
        good,
        bad,
        planned.launches if planned else None,
    )
