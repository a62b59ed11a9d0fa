# SPDX-License-Identifier: BSD-3-Clause
"""The interface of places: their MPI libraries, resources, and runners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from haloscope.run.prepare.workbench import Programs, Requested, Seen, Workbench
from haloscope.run.progress import Teller
from haloscope.study.case import Case, Launch
from haloscope.study.checks.capacity import PlaceFacts, Site

if TYPE_CHECKING:
    from haloscope.run.places.batched import BatchPlace


class Runner(Protocol):
    """Runs launches one after the other, in order, and yields a record as each ends.

    A failed launch is also a record; an exception means that nothing can be run at all. If the
    iteration is left early (Ctrl-C), the running launch is ended, and nothing is yielded for it.
    """

    @property
    def name(self) -> str:
        """Its name in records."""

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """Yield the records of the launches, as in records.jsonl."""


class Place(Protocol):
    """A place to run studies in. facts: properties that planning and campaigns depend on."""

    facts: ClassVar[PlaceFacts]

    @classmethod
    def names(cls) -> Sequence[str]:
        """Return the available places of this kind, by their names for --on."""

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether a place of this kind has that name, valid or not."""

    @classmethod
    def named(cls, name: str, keep: Path | None) -> Self:
        """Return the place of this kind with that name. Raise UserError if it is invalid."""

    @property
    def name(self) -> str:
        """Its name for --on."""

    @property
    def jobs_at(self) -> BatchPlace | None:
        """Return the site whose jobs run its cases; None: they run on this machine."""

    @property
    def at_once(self) -> int:
        """Return how many launches run side by side; more than one only in simulations."""

    def on_this_machine(self) -> Self:
        """Return a simulated cluster whose simulations run here, not in jobs; other places
        unchanged.
        """

    def with_folder(self, folder: Path) -> Self:
        """Return a place whose jobs may write to a folder that all of its nodes see."""

    def workbench(self, requested: Requested, tell: Teller) -> Workbench:
        """Return the MPI libraries as cases use them there; install missing ones."""

    def preview(self, requested: Requested) -> tuple[Workbench, tuple[str, ...]]:
        """Return the available part of the workbench, and a line for all that would be
        downloaded.
        """

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """Return the resources."""

    def identity(self) -> Mapping[str, Any]:
        """Return what must be identical for records of one place."""

    def probes(self, cases: Sequence[Case], bench: Workbench) -> Programs:
        """Return the programs of halobench that `probed` launches for these cases."""

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Probe each MPI library and transport; return the cases and what was used."""

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Return what runs cases there."""
