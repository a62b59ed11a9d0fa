# SPDX-License-Identifier: BSD-3-Clause
"""What a place is: its MPI libraries, what it has room for, what runs cases there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from haloscope.run.progress import Teller
from haloscope.run.runners.base import Runner
from haloscope.run.workbench import Programs, Requested, Workbench
from haloscope.study.case import Case
from haloscope.study.checks.capacity import PlaceFacts, Site

Seen = Mapping[tuple[str, str | None, bool], str | None]
"""For MPI library, transport, and whether ranks are on several nodes: what it said that it uses."""


class Place(Protocol):
    """A place to run studies in. facts: what planning and campaigns decide by."""

    facts: ClassVar[PlaceFacts]

    @classmethod
    def names(cls) -> Sequence[str]:
        """The places of this kind that there are, as --on calls them."""

    @classmethod
    def has(cls, name: str) -> bool:
        """Whether a place of this kind is called so, whatever is wrong with it."""

    @classmethod
    def named(cls, name: str, keep: Path | None) -> Self:
        """The place of this kind with that name. UserError where something is wrong with it."""

    @property
    def name(self) -> str:
        """What --on calls it."""

    def workbench(self, requested: Requested, tell: Teller) -> Workbench:
        """The MPI libraries as cases run there, installed where they are not yet."""

    def preview(self, requested: Requested) -> tuple[Workbench, tuple[str, ...]]:
        """What is there of the workbench, and a line for all that `workbench` would fetch."""

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """What there is room for."""

    def identity(self) -> Mapping[str, Any]:
        """What must be the same for records to be of one place."""

    def probes(self, cases: Sequence[Case], bench: Workbench) -> Programs:
        """The programs of halobench that `probed` launches for these cases."""

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Cases with what two ranks found out of each MPI library and transport, and that."""

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """What runs cases there."""
