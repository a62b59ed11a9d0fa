# SPDX-License-Identifier: BSD-3-Clause
"""The interface of places: their MPI libraries, resources, and runners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from haloscope.run.prepare import probing, workbench
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


class Place(ABC):
    """A place to run studies in; by default, one launch after the other on this machine.

    name: for --on. facts: properties that planning and campaigns depend on.
    """

    name: str
    facts: ClassVar[PlaceFacts]

    @classmethod
    @abstractmethod
    def names(cls) -> Sequence[str]:
        """Return the available places of this kind, by their names for --on."""

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether a place of this kind has that name, valid or not."""
        return name in cls.names()

    @classmethod
    @abstractmethod
    def named(cls, name: str, keep: Path | None) -> Self:
        """Return the place of this kind with that name. Raise UserError if it is invalid."""

    @property
    def jobs_at(self) -> BatchPlace | None:
        """Return the site whose jobs run its cases; None: they run on this machine."""
        return None

    @property
    def at_once(self) -> int:
        """Return how many launches run side by side; more than one only in simulations."""
        return 1

    def on_this_machine(self) -> Self:
        """Return a simulated cluster whose simulations run here, not in jobs; other places
        unchanged.
        """
        return self

    def with_folder(self, folder: Path) -> Self:
        """Return a place whose jobs may write to a folder that all of its nodes see."""
        return self

    def requested(self, asked: Requested) -> Requested:
        """Return requests with the place's own library where none is named."""
        return asked

    def workbench(self, asked: Requested, tell: Teller) -> Workbench:
        """Return the MPI libraries as cases use them there; install missing ones."""
        return workbench.workbench(self.requested(asked), tell)

    def preview(self, asked: Requested) -> tuple[Workbench, tuple[str, ...]]:
        """Return the available part of the workbench, and a line for all that would be
        downloaded.
        """
        return workbench.preview(self.requested(asked))

    @abstractmethod
    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """Return the resources."""

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """Return what must be identical for records of one place."""

    def probes(self, cases: Sequence[Case], bench: Workbench) -> Programs:
        """Return the programs of halobench that `probed` launches for these cases."""
        return probing.programs(cases, bench)

    @abstractmethod
    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Probe each MPI library and transport; return the cases and what was used."""

    @abstractmethod
    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Return what runs cases there."""
