# SPDX-License-Identifier: BSD-3-Clause
"""A place: this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from haloscope.clusters import names
from haloscope.host import gpus, machine
from haloscope.run.places import Place, Runner
from haloscope.run.prepare import probing, workbench
from haloscope.run.prepare.workbench import Seen, Workbench
from haloscope.run.runners.local import LocalRunner
from haloscope.study.case import Case
from haloscope.study.checks.capacity import HERE, Site
from haloscope.study.values import DEFAULT
from haloscope.toolchains.build import Build
from haloscope.toolchains.launching import launch

if TYPE_CHECKING:
    from haloscope.clusters.schema import Cluster

LOCAL = "local"


@dataclass(frozen=True)
class Here(Place):
    """This machine. since: processor time used when the command began."""

    name: str = LOCAL
    since: machine.Used | None = field(default_factory=machine.used, compare=False)
    facts: ClassVar = HERE

    @classmethod
    def names(cls) -> list[str]:
        """Return its name."""
        return [LOCAL]

    @classmethod
    def named(cls, name: str, keep: Path | None = None) -> Self:
        """Return this machine; nothing is simulated, so `keep` has no effect."""
        return cls()

    def site(self, bench: Workbench, *, oversubscribe: bool) -> Site:
        """Return this machine's processors and memory."""
        return Site(
            nodes=1,
            cores=len(machine.processors("cores")),
            hardware_threads=len(machine.processors("threads")),
            memory_bytes=machine.memory_available_bytes(),
            oversubscribe=oversubscribe,
            toolchains=bench.names,
            transports=transports_of(bench),
            missing=bench.missing,
            placements=[name for name, pair in machine.placements().items() if pair],
        )

    def identity(self) -> dict[str, Any]:
        """Return host, processor, cores, and the state of its own cluster file for the
        node model.
        """
        here = _machine()
        if (model := _calibrated(here)) is None:
            return {**here, "cluster": None, "platform": None}
        from haloscope.clusters.schema import state

        return {**here, "cluster": model.name, "platform": state(model)}

    def probed(self, cases: Sequence[Case], bench: Workbench) -> tuple[tuple[Case, ...], Seen]:
        """Launch each probe; cases whose transport is unavailable become absent, with
        the reason.
        """
        return probing.probed(cases, bench)

    def runner(self, study: str, seed: int, bench: Workbench, seen: Seen) -> Runner:
        """Return a runner for launches, one after the other."""
        facts = workbench.facts(study, seed, {**machine.describe(), "gpus": gpus.described()})
        busy = machine.busy_processors(since=self.since)  # after git has ended
        facts = replace(facts, machine={**facts.machine, "busy_processors": busy})
        model = _calibrated(_machine())
        return LocalRunner(facts, bench.built, seen, model, programs=bench.programs)


def transports_of(bench: Workbench) -> Mapping[str, Sequence[str]]:
    """Return the transports of each MPI library of a workbench."""
    return _Transports(bench.built, bench.pending)


class _Transports(Mapping[str, Sequence[str]]):
    """The transports of each MPI library, determined when needed, because that takes long."""

    def __init__(self, built: Mapping[str, Build], pending: Sequence[str] = ()) -> None:
        self._built = built
        self._names = (*built, *(name for name in pending if name not in built))

    def __getitem__(self, name: str) -> Sequence[str]:
        if name in self._built:
            return launch.transports(self._built[name].toolchain)
        if name in self._names:
            return _NotKnownYet()
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _NotKnownYet(tuple[str, ...]):
    """The transports of a library that is still to be downloaded: it may have any, and
    counts once.
    """

    __slots__ = ()

    def __new__(cls) -> Self:
        """Create it with the default transport."""
        return super().__new__(cls, (DEFAULT,))

    def __contains__(self, name: object) -> bool:
        """Return True, because its transports are unknown."""
        return True


def _machine() -> dict[str, Any]:
    described = machine.describe()
    return {key: described[key] for key in ("host", "cpu", "cores")}


def _calibrated(here: Mapping[str, Any]) -> Cluster | None:
    path = names.ready().get(here["host"])
    if path is None:
        return None
    from haloscope.clusters import file  # with pydantic's models of its keys

    cluster = file.load(path)
    same = (cluster.node.cpu, cluster.node.cores) == (here["cpu"], here["cores"])
    return cluster if same and cluster.node.core_flops_per_s else None
