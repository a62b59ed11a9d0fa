# SPDX-License-Identifier: BSD-3-Clause
"""The record of one launch of one case, as written by runs and read by reports.

A file has one JSON object per line. Every record is synced to disk before the next case starts, so
a crash costs at most the running case. An incomplete line is dropped on reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from haloscope.records.packed import Packed

SCHEMA = 1
"""SCHEMA is the version of the format of records."""


@dataclass(frozen=True, slots=True)
class Record:
    """One launch of one case, with the keys of docs/records.md.

    A missing key is None, or empty. names: all keys of the JSON object, in their order; many
    records share one tuple. more: the values of undeclared keys.
    """

    schema: int
    case: str
    launch: int
    kernel: str
    params: dict[str, Any]
    layout: dict[str, Any]
    toolchain: dict[str, Any]
    clock: str
    outcome: str
    times_s: list[float]
    names: tuple[str, ...] = field(repr=False)
    more: dict[str, Any] = field(repr=False)
    reason: str | None = None
    transport: str | None = None
    transport_seen: str | None = None
    runner: str | None = None
    steps: int | None = None
    warmup: int | None = None
    synchronisation: str | None = None
    rounds: dict[str, Any] | None = None
    points: Sequence[dict[str, Any]] = field(default_factory=list)
    phases: Sequence[dict[str, Any]] = field(default_factory=list)
    parts: Sequence[dict[str, Any]] = field(default_factory=list)
    timeline: Sequence[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    work: dict[str, Any] | None = None
    memory: dict[str, Any] | None = None
    timer: dict[str, Any] | None = None
    device: str | None = None
    gpus: list[dict[str, Any]] | None = None
    simulation: dict[str, Any] | None = None
    model: dict[str, Any] | None = None
    allocation: dict[str, Any] | None = None
    tuning: dict[str, Any] | None = None
    program: dict[str, Any] | None = None
    imported: dict[str, Any] | None = None
    machine: dict[str, Any] | None = None
    command: list[str] | None = None
    started: str | None = None
    ended: str | None = None
    wall_s: float | None = None
    seed: int | None = None
    study: str | None = None
    run: int | None = None
    haloscope: str | None = None
    git: dict[str, Any] | None = None
    stderr: str | None = None
    stopped: str | None = None
    changed: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Record:
        """Return the record of a valid JSON object."""
        names, own, more = _named(tuple(raw))
        return cls(
            names=names,
            more={name: raw[name] for name in more} if more else _NO_MORE,
            **{name: raw[name] for name in own},
        )

    @property
    def raw(self) -> dict[str, Any]:
        """The JSON object, created on demand: keeping tens of thousands would take much memory."""
        values = {
            name: self.more[name] if name in self.more else getattr(self, name)
            for name in self.names
        }
        return {
            name: value.objects if isinstance(value, Packed) else value
            for name, value in values.items()
        }

    @property
    def key(self) -> tuple[str, int]:
        """Case and launch."""
        return self.case, self.launch


_NO_MORE: dict[str, Any] = {}


@cache
def _named(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the keys of a JSON object: all, declared ones, and others; equal tuples are shared."""
    known = {*key_names()[0]}
    own = tuple(name for name in names if name in known)
    return names, own, tuple(name for name in names if name not in known)


@cache
def key_names() -> tuple[list[str], list[str]]:
    """Return all keys of a record, and the required ones."""
    keys = [key for key in fields(Record) if key.name not in ("names", "more")]
    needed = [key.name for key in keys if key.default is MISSING and key.default_factory is MISSING]
    return [key.name for key in keys], needed
