# SPDX-License-Identifier: BSD-3-Clause
"""Cases from records: all good launches with the same settings, and what was excluded and why.

Only launches with the outcome "ok" enter a sample. All others are kept beside them, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from statistics import median
from typing import Any

from haloscope.analysis import remembered
from haloscope.analysis.validation import bands
from haloscope.analysis.validation.bands import ErrorBand, Subject
from haloscope.layout import Layout
from haloscope.quantities import count
from haloscope.records.kernels import declared
from haloscope.records.points import PointKey, point_key, size_unit
from haloscope.records.record import Record
from haloscope.stats.allocations import typical_over
from haloscope.stats.estimates import Estimate, median_range, typical
from haloscope.stats.sequential import steady_medians
from haloscope.study.settings import MODE, Setting, Settings, apart, describe, with_nodes

_NO_GPUS = ("emulated", "simulated")


@dataclass(frozen=True, eq=False)
class MeasuredCase:
    """One combination of settings and its launches.

    launches: the good ones, in the order of their numbers. excluded: all others. planned: number of
    requested launches, if the plan contains it. reported: error of simulated times by published
    values in the same report, if these contradict the known error.
    """

    id: str
    kernel: str
    settings: Settings
    launches: tuple[Record, ...]
    excluded: tuple[Record, ...]
    planned: int | None = None
    reported: ErrorBand | None = None

    @cached_property
    def layout(self) -> Layout:
        """The requested layout."""
        return Layout.recorded(self.settings)

    @property
    def ranks(self) -> int:
        """Total number of MPI processes."""
        return self.layout.ranks

    @property
    def cores(self) -> int:
        """Processes times threads: the cores in use if each thread has its own."""
        return self.ranks * self.layout.threads

    @property
    def counted(self) -> str:
        """What `cores` counts: "hardware threads" if several of them share a core."""
        return "hardware threads" if self.shares_cores else "cores"

    @property
    def shares_cores(self) -> bool:
        """Whether threads are placed such that several hardware threads of a core are used."""
        if self.settings.get("places") != "threads" or not self.launches:
            return False
        machine = self.launches[0].machine or {}
        a_node = self.layout.cores_of_a_node
        packed = self.layout.cores_bound == "close" and (machine.get("threads_per_core") or 1) > 1
        return a_node > (machine.get("cores") or inf) or (packed and a_node > 1)

    @property
    def processes(self) -> str:
        """Describe the processes: "2 processes", "1 process of 4 threads"."""
        threads = self.layout.threads
        each = f" of {count(threads, 'thread')}" if threads > 1 else ""
        return f"{count(self.ranks, 'process', 'processes')}{each}"

    @property
    def verified(self) -> bool:
        """Whether all results were verified; simulations may omit the arithmetic."""
        origins = [one.simulation or one.program or one.imported or {} for one in self.launches]
        return all(one.get("verified", not self.simulated) for one in origins)

    @property
    def external(self) -> bool:
        """Whether the kernel is an external program."""
        return any(record.program for record in (*self.launches, *self.excluded))

    def unit(self, name: str) -> str:
        """Return the declared unit of a result, or of a parameter of an external program; "" if
        none.
        """
        if self.kernel in declared() and not self.external:
            results = declared()[self.kernel]["results"]
            return next((one["unit"] or "" for one in results if one["name"] == name), "")
        programs = [record.program or {} for record in (*self.launches, *self.excluded)]
        return next(
            (str(one["units"][name]) for one in programs if name in one.get("units", {})), ""
        )

    @cached_property
    def size_unit(self) -> str:
        """Unit of the sizes of the sweep: "B", or the word in an external program's file."""
        return next((size_unit(record.program) for record in self.launches), "B")

    @property
    def simulated(self) -> bool:
        """Whether times are from a simulated clock."""
        return self.settings.get("clock") == "simulated"

    @cached_property
    def emulated(self) -> bool:
        """Whether the device was emulated."""
        return any(record.device == "emulated" for record in self.launches)

    @cached_property
    def on_gpus(self) -> bool:
        """Whether the device was a simulated GPU."""
        return any(record.device == "simulated" for record in self.launches)

    @property
    def on_real_gpus(self) -> bool:
        """Whether the device was a real GPU."""
        return any(record.device not in (None, *_NO_GPUS) for record in self.launches)

    @cached_property
    def replicated(self) -> bool:
        """Whether launches are simulated replicates, with nodes drawn anew for each."""
        simulations = [record.simulation or {} for record in self.launches]
        return any(one.get("spread") for one in simulations) or (
            len(simulations) > 1 and any(one.get("others") for one in simulations)
        )

    @property
    def alike(self) -> bool:
        """Whether every launch takes the same time: simulated, but not replicates."""
        return self.simulated and not self.replicated

    @property
    def cluster(self) -> str | None:
        """The simulated cluster; None if measured."""
        return next(((one.simulation or {}).get("cluster") for one in self.launches), None)

    @cached_property
    def subject(self) -> Subject | None:
        """Settings that the error of the simulation depends on; None if measured."""
        if not self.simulated or not self.launches:
            return None
        simulation = self.launches[0].simulation or {}
        where = str(simulation.get("cluster", "")), str(simulation.get("platform", ""))
        return Subject(*where, self.kernel, self.settings)

    @cached_property
    def band(self) -> ErrorBand | None:
        """Error band of simulated times; None if measured."""
        if self.subject is None:
            return None
        return self.reported or bands.known().time(self.subject)

    @cached_property
    def oversubscribed(self) -> bool:
        """Whether ranks or threads shared cores."""
        return any(record.layout.get("oversubscribed") for record in self.launches)

    def number(self, name: str) -> int:
        """Return a setting that is an integer."""
        value = self.settings[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} is {value!r}, not an integer")
        return value

    def sample(self, of: Callable[[Record], float | None]) -> list[float]:
        """Return one number per good launch; launches without it are omitted."""
        return [value for record in self.launches if (value := of(record)) is not None]

    @cached_property
    def times_s(self) -> list[float]:
        """Seconds per step, one number per launch: the median over its steady repetitions."""
        return steady_medians([times_s for times_s in self._steps_s if times_s])

    @property
    def times_by_round(self) -> dict[int, float]:
        """The same by launch number, which is the round if the cases of a study run in turn."""
        steps = zip(self.launches, self._steps_s, strict=True)
        numbers = [record.launch for record, times_s in steps if times_s]
        return dict(zip(numbers, self.times_s, strict=True))

    @cached_property
    def _steps_s(self) -> list[Sequence[float]]:
        """Repetitions of each launch. A step of a sweep covers the sizes that all launches have.

        An external program may print no time for a size in some launches. Their sums would cover
        less than those of the others.
        """
        if self.external and self.lacking:
            common = [
                [one["times_s"] for one in record.points if point_key(one) not in self.lacking]
                for record in self.launches
            ]
            if all(common):
                return [[sum(each) for each in zip(*own, strict=False)] for own in common]
        return [record.times_s for record in self.launches]

    @cached_property
    def lacking(self) -> Mapping[PointKey, int]:
        """Points of a sweep that some launches lack, each with the number of these launches."""
        launches = [{point_key(one) for one in record.points} for record in self.launches]
        every = dict.fromkeys(point_key(one) for record in self.launches for one in record.points)
        without = {key: sum(key not in own for own in launches) for key in every}
        return {key: number for key, number in without.items() if number}

    @cached_property
    def time(self) -> Estimate | None:
        """Median time per step over launches, in seconds; None without a good launch."""
        return self.estimate(self.times_s, [t for times_s in self._steps_s for t in times_s])

    @property
    def node_time(self) -> Estimate | None:
        """Nodes times the time per step, in node-seconds; None if unknown."""
        return self.time and self.time.times(self.layout.nodes)

    @property
    def on_nodes(self) -> bool:
        """Whether the case uses several nodes."""
        return self.layout.nodes > 1

    @property
    def time_s(self) -> float:
        """Median time per step; infinite without a good launch, so that it is never the fastest."""
        return self.time.value if self.time else inf

    def estimate(
        self,
        sample: Sequence[float],
        repetitions: Sequence[float] = (),
        of: Sequence[int] | None = None,
    ) -> Estimate | None:
        """Return the median of a sample of launches with its spread; None for an empty sample.

        A simulated case is deterministic and has no spread, unless its launches are replicates. A
        single launch has the range of its repetitions, if given (method "repetitions"); no verdict
        is based on it. Launches in allocations of a batch system are nested in them, so the
        interval is one over allocations.

        of: as in `by_allocation`.
        """
        found = self._estimate(sample, repetitions, of)
        return replace(found, band=self.band.factor) if found and self.band else found

    def _estimate(
        self, sample: Sequence[float], repetitions: Sequence[float], of: Sequence[int] | None
    ) -> Estimate | None:
        if not sample:
            return None
        if self.alike:
            return Estimate(median(sample), None, None, len(sample), "simulated")
        if len(sample) == 1 and len(repetitions) > 1:
            inner = median_range(repetitions)
            return Estimate(sample[0], inner.low, inner.high, 1, "repetitions")
        if self.allocations is None:
            return typical(sample)
        nested = self.by_allocation(sample, of)
        if nested is None or min(sample) <= 0:  # a logarithm is needed
            return median_range(sample)
        return typical_over(nested)

    @cached_property
    def allocations(self) -> tuple[str, ...] | None:
        """Allocation of the batch system for each launch; None without a batch system.

        A restarted job may have had other nodes. All launches outside a job form one allocation.
        """
        given = [record.allocation for record in self.launches]
        if not any(given):
            return None
        return tuple(
            f"{one['site']} {one['job']} {one['restarts']}" if one else "" for one in given
        )

    def by_allocation(
        self, sample: Sequence[float], of: Sequence[int] | None = None
    ) -> dict[str, list[float]] | None:
        """Group a sample of launches by allocation.

        of: indices of the launches; None: all. Return None if no batch system assigned the nodes,
        or if the launch of each number is unknown.
        """
        places = range(len(self.launches)) if of is None else of
        if self.allocations is None or len(sample) != len(places):
            return None
        nested: dict[str, list[float]] = {}
        for place, value in zip(places, sample, strict=True):
            nested.setdefault(self.allocations[place], []).append(value)
        return nested

    def result(self, name: str) -> Any:
        """Return a result of the kernel from the first good launch that has it, or None."""
        found = (record.result.get(name) for record in self.launches)
        return next((value for value in found if value is not None), None)


def select(cases: Iterable[MeasuredCase], where: Mapping[str, Any]) -> list[MeasuredCase]:
    """Return the cases whose settings have the values (or one of the listed values) in `where`."""

    def fits(case: MeasuredCase) -> bool:
        return all(
            case.settings.get(key) in (value if isinstance(value, list | tuple) else [value])
            for key, value in where.items()
        )

    return [case for case in cases if fits(case)]


def values(cases: Iterable[MeasuredCase], name: str) -> list[int]:
    """Return the values of an integer setting, ascending."""
    return sorted({case.number(name) for case in cases})


def label_of(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """Return a case's name among others of its kernel: the settings that vary among them."""
    names = _apart(tuple(among), case.kernel, case.settings.get(MODE))
    return describe(case.settings, names) or case.kernel


def own_settings(case: MeasuredCase, among: Sequence[MeasuredCase]) -> dict[str, Setting]:
    """Return a case's kernel, and its settings that vary among others of its kernel.

    Tasks that nodes share unevenly stand instead of processes per node.
    """
    names = with_nodes(_apart(tuple(among), case.kernel, case.settings.get(MODE)))
    if case.settings.get("tasks"):
        names = ["tasks" if name == "ppn" else name for name in names]
    return {"kernel": case.kernel, **{name: case.settings.get(name) for name in names}}


@remembered(16)  # a table calls this for each of its rows
def _apart(among: tuple[MeasuredCase, ...], kernel: str, mode: Setting) -> tuple[str, ...]:
    own = [other.settings for other in among if other.kernel == kernel]
    return tuple(apart({MODE: mode}, own))


def row_name(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """Return a case's name in a table, with its kernel only if there are several."""
    return (name_of if len({one.kernel for one in among}) > 1 else label_of)(case, among)


def name_of(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """Return a case's name among others of any kernel: its kernel, and the settings that vary."""
    label = label_of(case, among)
    return case.kernel if label == case.kernel else f"{case.kernel}: {label}"
