"""A plan: the cases of a study as they can run in one place, checked before any is launched."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Protocol

from haloscope.case import Case, Job, Layout, Value
from haloscope.errors import Problem, nearest
from haloscope.study import LayoutAxes, Run, Study


class Forecast(Protocol):
    """What halobench says of a case without launching it (halobench --plan)."""

    @property
    def params(self) -> Mapping[str, Any]:
        """All parameters, resolved."""

    @property
    def memory_bytes(self) -> int:
        """The large arrays, summed over ranks."""

    @property
    def problems(self) -> Sequence[Any]:
        """What is wrong: each with key, value, message."""


class Program(Protocol):
    """halobench, as far as planning needs it."""

    def kernels(self) -> Sequence[str]:
        """The names of all kernels."""

    def parameters(self, kernel: str) -> Sequence[str]:
        """The names of a kernel's parameters."""

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """One case's resolved parameters, memory and problems."""


@dataclass(frozen=True)
class Site:
    """The place that cases are to run in.

    cores: physical cores of a node; memory_bytes: what is free on a node;
    toolchains: those of a run that names none.
    """

    nodes: int
    cores: int
    memory_bytes: int
    oversubscribe: bool = False
    toolchains: tuple[str, ...] = ("system",)


@dataclass(frozen=True)
class Plan:
    """Cases in the order of the study, what was left out and why, and what must be mended."""

    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


@dataclass
class _Findings:
    """Cases, notes and problems as they are found; the same problem or note counts once."""

    cases: dict[str, Case] = field(default_factory=dict)
    notes: dict[str, dict[str, None]] = field(default_factory=dict)
    problems: dict[Problem, None] = field(default_factory=dict)
    merged: int = 0

    def add(self, case: Case) -> None:
        known = self.cases.setdefault(case.id, case)
        if known is not case:
            self.merged += 1
            if known.launches < case.launches:
                self.cases[case.id] = replace(known, launches=case.launches)

    def leave_out(self, why: str, what: str) -> None:
        self.notes.setdefault(why, {})[what] = None

    def plan(self) -> Plan:
        notes = [f"left out, {why}: {'; '.join(what)}" for why, what in self.notes.items()]
        if self.merged:
            notes.append(f"{self.merged} settings appear more than once and are measured once")
        return Plan(tuple(self.cases.values()), tuple(notes), tuple(self.problems))


def expand(
    study: Study, site: Site, program: Program, where: Callable[[int, str], str] | None = None
) -> Plan:
    """All cases of a study: the product of its axes, each case checked against the site.

    `where(run, key)` says to a user where a run's key stands; by default `runs[run].key`.
    Problems are returned, not raised, so that they can be shown with those of the file.
    """
    findings = _Findings()
    for index, run in enumerate(study.runs):
        _RunExpansion(study, index, run, site, program, where or _in_file, findings).expand()
    return findings.plan()


def _in_file(run: int, key: str) -> str:
    return f"runs[{run}].{key}"


@dataclass(frozen=True)
class _RunExpansion:
    study: Study
    index: int
    run: Run
    site: Site
    program: Program
    where: Callable[[int, str], str]
    findings: _Findings

    def expand(self) -> None:
        layouts = list(self._layouts_that_fit())
        if not self._names_are_known():
            return
        for given, layout in product(assignments(self.run.params), layouts):
            self._check_and_add(given, layout)

    def _problem(self, key: str, what: str, mend: str) -> None:
        self.findings.problems[Problem(self.where(self.index, key), what, mend)] = None

    def _names_are_known(self) -> bool:
        kernel, kernels = self.run.kernel, self.program.kernels()
        if kernel not in kernels:
            self._problem("kernel", f"there is no kernel '{kernel}'", nearest(kernel, kernels))
            return False
        known = self.program.parameters(kernel)
        unknown = [key for key in self.run.params if key not in known]
        for key in unknown:
            self._problem(
                f"params.{key}", f"{kernel} has no parameter '{key}'", nearest(key, known)
            )
        return not unknown

    def _layouts_that_fit(self) -> Iterator[Layout]:
        for layout in self._layouts():
            if layout.nodes > self.site.nodes:
                one = "one node" if self.site.nodes == 1 else f"{self.site.nodes} nodes"
                why = f"as this machine is {one}"
                self.findings.leave_out(why, self._named(f"{layout.nodes} nodes"))
            elif self._crowded(layout) and not self.site.oversubscribe:
                self._refuse_crowded(layout)
            else:
                yield layout

    def _layouts(self) -> list[Layout]:
        axes = self.run.layout
        try:
            shapes = shared_cores(axes, self.site.cores) if axes.cores else free(axes, self.site)
        except ValueError as error:
            self._problem("layout", str(error), "whole numbers, or one of the words it may have")
            return []
        return [
            Layout(nodes, ppn, threads, places, bind)
            for nodes, (ppn, threads), places, bind in product(
                axes.nodes, shapes, axes.places, axes.bind
            )
        ]

    def _crowded(self, layout: Layout) -> bool:
        return layout.ppn * layout.threads > self.site.cores

    def _refuse_crowded(self, layout: Layout) -> None:
        need = layout.ppn * layout.threads
        shape = f"ppn {layout.ppn} x threads {layout.threads}"
        if self.run.skip_too_large:
            why = f"as a node here has {_cores(self.site.cores)}"
            self.findings.leave_out(why, self._named(shape))
            return
        self._problem(
            "layout",
            f"{shape} need {_cores(need)}, a node here has {self.site.cores}",
            "ask for fewer, set skip_too_large = true, or share cores with --oversubscribe",
        )

    def _named(self, what: str) -> str:
        return f"{self.run.name or self.run.kernel} with {what}"

    def _check_and_add(self, given: dict[str, Value], layout: Layout) -> None:
        forecast = self.program.forecast(self.run.kernel, given, layout.ranks, layout.threads)
        for problem in forecast.problems:
            place = "layout" if problem.key in ("ranks", "threads") else f"params.{problem.key}"
            self._problem(place, f"{problem.key} = {problem.value}", problem.message)
        if forecast.problems:
            return
        for toolchain in self.run.toolchains or self.site.toolchains:
            case = Case(
                kernel=self.run.kernel,
                given=given,
                params=forecast.params,
                layout=layout,
                toolchain=toolchain,
                run=self.index,
                launches=self.run.launches or self.study.launches,
                timeout_s=self.study.timeout_s,
                memory_bytes=forecast.memory_bytes,
                oversubscribed=self._crowded(layout),
            )
            if self._fits(case):
                self.findings.add(case)

    def _fits(self, case: Case) -> bool:
        need = (case.memory_bytes or 0) / case.layout.nodes
        if need <= self.site.memory_bytes:
            return True
        there = gibibytes(self.site.memory_bytes)
        if self.run.skip_too_large:
            why = f"as {there} of memory are free"
            self.findings.leave_out(why, f"{case.label} ({gibibytes(need)})")
        else:
            self._problem(
                "params",
                f"{case.label} needs {gibibytes(need)} of memory a node, {there} are free",
                "make it smaller, use more nodes, or set skip_too_large = true",
            )
        return False


def assignments(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Every choice of one value an axis, the last axis fastest."""
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def free(axes: LayoutAxes, site: Site) -> list[tuple[int, int]]:
    """(ppn, threads) of a layout whose axes are independent of each other."""
    ppn = _numbers("ppn", axes.ppn or [1], site.cores)
    threads = _numbers("threads", axes.threads or [1], site.cores)
    return list(product(ppn, threads))


def shared_cores(axes: LayoutAxes, cores_there: int) -> list[tuple[int, int]]:
    """(ppn, threads) of a layout that shares out a constant number of cores."""
    if axes.threads is not None:
        raise ValueError("threads follow from cores / ppn where cores is given: leave them out")
    shapes = []
    for cores in _numbers("cores", axes.cores or ["cores"], cores_there):
        for ppn in _numbers("ppn", axes.ppn or ["divisors"], cores, divisors=True):
            if cores % ppn:
                raise ValueError(f"ppn {ppn} does not divide {_cores(cores)}")
            shapes.append((ppn, cores // ppn))
    return list(dict.fromkeys(shapes))


def _numbers(
    key: str, counts: Iterable[int | str], cores: int, *, divisors: bool = False
) -> list[int]:
    """Counts with their words resolved, ascending where words were, each once."""
    found: list[int] = []
    for count in counts:
        if count == "divisors" and not divisors:
            raise ValueError(f"{key} = 'divisors' needs layout.cores: the cores to be shared out")
        if isinstance(count, int):
            found.append(count)
        elif count == "cores":
            found.append(cores)
        elif count == "powers":
            found += [2**k for k in range(cores.bit_length()) if 2**k < cores] + [cores]
        else:
            found += [part for part in range(1, cores + 1) if cores % part == 0]
    return list(dict.fromkeys(found))


def _cores(count: int) -> str:
    return f"{count} core{'s' if count > 1 else ''}"


def gibibytes(size_bytes: float) -> str:
    """A size for people, in GiB."""
    return f"{size_bytes / 2**30:.2f} GiB"


def schedule(cases: Sequence[Case], seed: int) -> list[Job]:
    """Every launch of every case: round after round, each a shuffled pass over all cases.

    A slow drift of the machine so spreads over all cases alike. The first rounds are the same for
    the same cases and seed, however many rounds follow.
    """
    chance = random.Random(seed)
    jobs = []
    for launch in range(max((case.launches for case in cases), default=0)):
        shuffled = chance.sample(cases, len(cases))
        jobs += [Job(case, launch) for case in shuffled if launch < case.launches]
    return jobs
