# SPDX-License-Identifier: BSD-3-Clause
"""Expand a study into a plan: its cases in one place, checked before any launch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Protocol

from haloscope.errors import Problem, UserError, dotted, nearest, no_such
from haloscope.host.machine import OTHER_SOCKET, PLACEMENTS
from haloscope.quantities import count, listed
from haloscope.study import file
from haloscope.study.capacity import Site
from haloscope.study.case import (
    Case,
    Launch,
    Layout,
    Value,
    gpus_lacking,
    ranks_sharing_a_gpu,
    thread_bind_of,
)
from haloscope.study.layouts import layouts, placed
from haloscope.study.schema import ALL, DEFAULT, LayoutAxes, Run, Study, stopping_rule
from haloscope.study.settings import lacking
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import parted


@dataclass(frozen=True)
class Forecast:
    """halobench's answer about a case that is not launched (--plan).

    params:       all parameters, including defaults.
    memory_bytes: the large arrays of all ranks together.
    problems:     why the case is invalid, each with key and value.
    absent:       why a valid case cannot run on this machine, or None if it can.
    device_bytes: the part of the memory that is on GPUs.
    unchecked: the program that is not built. Only the declared ranges of parameters were checked;
        memory and limits that depend on the number of ranks are unknown.
    """

    params: Mapping[str, Any]
    memory_bytes: int
    problems: Sequence[Problem]
    absent: str | None = None
    device_bytes: int = 0
    unchecked: KernelProgram | None = None


class Program(Protocol):
    """halobench, as far as planning needs it."""

    def kernels(self) -> Sequence[str]:
        """The names of all kernels."""

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        """A kernel's parameters by name, each with its default."""

    def numbers(self, kernel: str) -> Sequence[str]:
        """The names of those that are numbers."""

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        """Prepare the files that parameters name; return parameters and the folder of the files.

        The folder is None if no parameter names a file. Raise UserError for invalid files.
        """

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """Return one case's resolved parameters, memory, and problems."""

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        """Why a kernel cannot run with an MPI library, or be simulated; None if it can."""


@dataclass(frozen=True)
class Plan:
    """Cases in the order of the study, notes on skipped cases, and problems.

    unchecked: the programs that are not built, so that their cases are only partly checked.
    """

    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
    unchecked: tuple[KernelProgram, ...] = ()


@dataclass
class _GrowingPlan:
    """A plan under construction; equal problems and notes are kept once."""

    cases: dict[str, Case] = field(default_factory=dict)
    notes: dict[str, dict[str, None]] = field(default_factory=dict)
    problems: dict[Problem, None] = field(default_factory=dict)
    unchecked: dict[KernelProgram, None] = field(default_factory=dict)
    merged: int = 0

    def add(self, case: Case) -> None:
        known = self.cases.setdefault(case.id, case)
        if known is not case:
            self.merged += 1
            launches, execute = max(known.launches, case.launches), known.execute or case.execute
            self.cases[case.id] = replace(known, launches=launches, execute=execute)

    def leave_out(self, why: str, what: str) -> None:
        self.note(f"skipped ({why})", what)

    def note(self, why: str, what: str) -> None:
        self.notes.setdefault(why, {})[what] = None

    def finished(self) -> Plan:
        notes = [f"{why}: {'; '.join(what)}" for why, what in self.notes.items()]
        if self.merged:
            notes.append(f"{count(self.merged, 'duplicate case')} merged")
        cases, problems = tuple(self.cases.values()), tuple(self.problems)
        return Plan(cases, tuple(notes), problems, tuple(self.unchecked))


def expand(
    study: Study,
    site: Site,
    program: Program,
    where: Callable[[int, str], str] | None = None,
    *,
    words: bool = False,
) -> Plan:
    """Expand a study into cases: the product of its axes, each checked against the site.

    where(run, key): the location of a run (key "") or of one of its keys, for messages.
    words: parameters are from a command line, where numbers are strings.
    Problems are returned, not raised, so that they are printed with those of the file.
    """
    plan = _GrowingPlan()
    for index, run in enumerate(study.runs):
        of_run = _RunExpansion(study, index, run, site, program, where or _in_file, plan, words)
        if run.only_simulated and not site.facts.simulated:
            of_run.check()
        elif run.several_sockets and OTHER_SOCKET not in site.placements:
            plan.leave_out(_no_second_socket(site), run.name or run.kernel)
            of_run.check()
        else:
            of_run.expand()
    for problem in _devices_of_two_kinds([*plan.cases.values()]):
        plan.problems[problem] = None
    return plan.finished()


def _devices_of_two_kinds(cases: Sequence[Case]) -> Iterator[Problem]:
    """Yield a problem if a study mixes times of an emulated device with those of a GPU."""
    names = {case.toolchain for case in cases if case.params.get("memory") == "device"}
    emulated = sorted(name for name in names if parted(name)[1] is None)
    real = sorted(names - {*emulated})
    if emulated and real:
        what = f"the device is emulated with {listed(emulated)}, and a GPU with {listed(real)}; "
        what += "their times are not comparable"
        remedy = "use a separate study for each"
        yield Problem("memory = device", what, remedy)


def _no_second_socket(site: Site) -> str:
    """Return why a run on several sockets is skipped."""
    if site.facts.simulated:
        return f"the cluster file of {site.name} already contains the values between sockets"
    return f"{site.node} has no second socket"


def _in_file(run: int, key: str) -> str:
    return f"{dotted(('runs', run))}.{key}".rstrip(".")


@dataclass(frozen=True)
class _RunExpansion:
    study: Study
    index: int
    run: Run
    site: Site
    program: Program
    where: Callable[[int, str], str]
    plan: _GrowingPlan
    words: bool

    def expand(self) -> None:
        before = len(self.plan.problems)
        self._check_transports()
        layouts = list(self._layouts_that_fit())
        if not layouts or not self._is_known():
            self.check()
        else:
            for given in self._effective(self._known_params()):
                refused = [(layout, self._check_and_add(given, layout)) for layout in layouts]
                self._report_refused(refused)
        if len(self.plan.problems) > before and self._all_too_many_nodes:
            self._refuse_nodes()  # notes on skipped cases are not printed beside problems

    def check(self) -> None:
        """Report problems of a run that is skipped, whatever its layouts."""
        if not self._is_known():
            return
        try:
            axes = self.run.layout
            asked = layouts(axes, axes.nodes, self.site.cores) if axes.placement is None else []
        except ValueError:  # words and shares of other nodes than those here
            asked = []
        for given in self._effective(self._known_params()):
            self._report_refused_by_all(given, asked or [Layout()])

    def _is_known(self) -> bool:
        """Whether the kernel exists; a problem is added if it does not."""
        kernel, kernels = self.run.kernel, self.program.kernels()
        if kernel not in kernels:
            self.plan.problems[no_kernel(self.where(self.index, "kernel"), kernel, kernels)] = None
        return kernel in kernels

    def _report_refused_by_all(self, given: dict[str, Value], asked: Sequence[Layout]) -> None:
        """Report settings that the kernel refuses on every layout; some layouts alone may be meant.

        If settings name files, report problems of the files only: they are made for the layouts
        that run.
        """
        try:
            if self.program.prepared(self.run.kernel, given, ranks=1)[1] is not None:
                return
        except UserError as error:
            self._report_files(error)
            return
        refused: list[Problem] = []
        for layout in asked:
            ranks, threads = layout.ranks, layout.threads
            found = self.program.forecast(self.run.kernel, given, ranks, threads).problems
            if not found:
                return
            refused = refused or [*found]
        for one in refused:
            self._problem("", f"{one.where}: {one.what}", one.remedy)

    def _report_refused(self, refused: Sequence[tuple[Layout, Sequence[Problem]]]) -> None:
        """Report settings that the kernel refuses, or skip them if only some layouts do."""
        on_some = not all(problems for _, problems in refused)
        instead = self._or_leave_out if on_some else ""
        for layout, problem in ((layout, one) for layout, problems in refused for one in problems):
            if on_some and self._leaves_out:
                what = f"{problem.where} on {count(layout.ranks, 'rank')}"
                self.plan.leave_out(f"{problem.what}; {problem.remedy}", what)
            else:
                remedy = f"{problem.remedy}{instead}"
                self._problem("", f"{problem.where}: {problem.what}", remedy)

    def _problem(self, key: str, what: str, remedy: str) -> None:
        self.plan.problems[Problem(self.where(self.index, key), what, remedy)] = None

    def _known_params(self) -> dict[str, list[Value]]:
        known = self.program.parameters(self.run.kernel)
        for key in [key for key in self.run.params if key not in known]:
            what = f"{self.run.kernel} has no parameter '{key}'"
            remedy = _of_the_layout(key, words=self.words) or nearest(key, [*known])
            self._problem(f"params.{key}", what, remedy)
        if not self.words:
            self._refuse_texts()
        return {key: values for key, values in self.run.params.items() if key in known}

    def _effective(self, axes: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
        """Return every choice of one value per axis, without parameters that have no effect there.

        A parameter that has no effect in any of them is a problem.
        """
        kernel = self.run.kernel
        defaults = self.program.parameters(kernel)
        found: list[dict[str, Value]] = []
        used: set[str] = set()
        idle: dict[str, tuple[str, str]] = {}
        for given in assignments(axes):
            params = {**defaults, **given}
            needs = {key: one for key in given if (one := lacking(key, kernel, params))}
            kept = {key: value for key, value in given.items() if key not in needs}
            used |= kept.keys()
            idle |= needs
            if not needs or kept not in found:
                found.append(kept)
        for key, (other, value) in idle.items():
            if key not in used:
                what = f"{kernel} uses {key} only with {other} = {value}"
                written = f"{other}={value}" if self.words else f'{other} = "{value}"'
                self._problem(f"params.{key}", what, f"set {written}, or remove {key}")
        return found

    def _refuse_texts(self) -> None:
        """Refuse numbers in quotes, which only a command line may have."""
        for key in self.program.numbers(self.run.kernel):
            for text in (one for one in self.run.params.get(key, ()) if isinstance(one, str)):
                what = f'must be a number, got the string "{text}"'
                self._problem(f"params.{key}", what, "write numbers without quotes")

    def _layouts_that_fit(self) -> Iterator[Layout]:
        left_out: dict[tuple[str, int], dict[str, None]] = {}  # reason, threads: processes a node
        for layout in self._layouts():
            there = layout.placement is not None or layout.nodes <= self.site.nodes
            crowded = self._crowded(layout) and not self.site.oversubscribe
            if crowded and not self._leaves_out:
                self._refuse_crowded(layout)  # its other problems are to be found too
            elif crowded and there:
                why = f"{self.site.node} has {self.site.slots_of(layout)}"
                left_out.setdefault((why, layout.threads), {})[str(layout.ppn)] = None
                continue
            if there:
                yield layout
        for (why, threads), ppn in left_out.items():
            what = f"{self._name} with ppn = {listed([*ppn])}, threads = {threads}"
            self.plan.leave_out(why, what)

    def _layouts(self) -> list[Layout]:
        """Return all layouts, also of numbers of nodes that are not available."""
        axes = self.run.layout
        if axes.placement is not None:
            if axes.model_fields_set != {"placement"}:
                what = "placement excludes all other keys of the layout"
                remedy = "remove them: a placement always has two ranks with one thread each"
                self._problem("layout.placement", what, remedy)
            names = PLACEMENTS if ALL in axes.placement else axes.placement
            return [placed(name) for name in names]
        self._report_nodes()
        try:
            return layouts(axes, axes.nodes, self.site.cores)
        except ValueError as error:
            for message in error.args:
                what, _, remedy = message.partition("; ")
                self._problem("layout", what, remedy or "correct one of them")
            return []

    def _report_nodes(self) -> None:
        """Note the numbers of nodes that are not available, or refuse them if asked to."""
        if self.run.skip_too_large is False:
            self._refuse_nodes()
        elif more := self._too_many_nodes():
            what = f"{self._name} on {listed(more)} nodes"
            self.plan.leave_out(self.site.extent, what)

    def _refuse_nodes(self) -> None:
        """Refuse numbers of nodes above those of the place."""
        if more := self._too_many_nodes():
            elsewhere = "--on SITE (see haloscope site detect) or --on CLUSTER (simulated)"
            remedy = f"use at most {self.site.nodes:,}, or a larger place: {elsewhere}"
            what = f"{listed(more)} nodes requested, but {self.site.extent}"
            self._problem("layout.nodes", what, remedy)

    def _too_many_nodes(self) -> list[str]:
        return [str(nodes) for nodes in self.run.layout.nodes if nodes > self.site.nodes]

    @property
    def _all_too_many_nodes(self) -> bool:
        """Whether no number of nodes is available, so that the run would be skipped as a whole."""
        axes = self.run.layout
        return axes.placement is None and len(self._too_many_nodes()) == len(axes.nodes)

    @property
    def _leaves_out(self) -> bool:
        """Whether cases that are too large are skipped; otherwise the study is refused.

        By default they are skipped at a remote place, which is not the machine that the study was
        written for.
        """
        asked = self.run.skip_too_large
        return self.site.facts.remote if asked is None else asked

    @property
    def _or_leave_out(self) -> str:
        """The remedy of skipping what is too large, unless the study excludes it."""
        no = self.run.skip_too_large is False
        return "" if no else "; or set skip_too_large = true in the study to skip such cases"

    @property
    def _name(self) -> str:
        return self.run.name or self.run.kernel

    def _crowded(self, layout: Layout) -> bool:
        slots = self.site.slots(layout)
        return layout.placement is None and layout.ppn * layout.threads > slots

    def _refuse_crowded(self, layout: Layout) -> None:
        ranks, threads = count(layout.ppn, "rank"), count(layout.threads, "thread")
        what = f"{ranks} per node with {threads} each, but "
        what += f"{self.site.node} has {self.site.slots_of(layout)}"
        most = self.site.slots(layout) // layout.threads
        fewer = f"use at most {count(most, 'rank')} per node"
        if most == 0:
            fewer = f"use at most {count(self.site.slots(layout), 'thread')} per rank"
        if not self.site.facts.remote:
            fewer += ", or use --oversubscribe"
        elif most:
            fewer += "; for more ranks, use more nodes"
        self._problem("layout", what, f"{fewer}{self._or_leave_out}")

    def _check_and_add(self, given: dict[str, Value], layout: Layout) -> Sequence[Problem]:
        """Add the case, or return the problems that its kernel reports."""
        try:
            ready, files = self.program.prepared(self.run.kernel, given, layout.ranks)
        except UserError as error:
            self._report_files(error)
            return ()
        forecast = self.program.forecast(self.run.kernel, ready, layout.ranks, layout.threads)
        if forecast.problems:
            return forecast.problems
        if forecast.unchecked is not None:
            self.plan.unchecked[forecast.unchecked] = None
        simulated = self.site.facts.simulated
        for toolchain, transport in self._libraries():
            absent = (
                forecast.absent
                or (simulated and self._unable(toolchain))  # whatever library was asked for
                or self._absent(layout, toolchain, transport)
                or self._unable(toolchain)
                or self._unknown(forecast.params)
                or self._without_gpus(forecast.params, layout)
            )
            case = Case(
                kernel=self.run.kernel,
                given=ready,
                params=forecast.params,
                layout=layout,
                toolchain=toolchain,
                run=self.index,
                launches=1 if absent else self._launches(),
                timeout_s=self.study.timeout_s,
                memory_bytes=forecast.memory_bytes,
                oversubscribed=self._crowded(layout) or self.site.shares(layout),
                transport=transport,
                files=files,
                execute=self.run.execute,
                absent=absent,
                device_bytes=forecast.device_bytes,
            )
            if absent or self._fits(case):
                self.plan.add(case)
        return ()

    def _report_files(self, error: UserError) -> None:
        """Report what is wrong with files that parameters name."""
        for problem in error.problems:
            self._problem("params", f"{problem.where}: {problem.what}", problem.remedy)

    def _launches(self) -> int:
        """Return the launches of a case: the run's, the study's, or the maximum with precision."""
        rule = stopping_rule(self.study)
        return self.run.launches or (rule.most if rule else self.study.launches)

    def _check_transports(self) -> None:
        """Refuse transports that none of the available MPI libraries has."""
        names, there = self._names(), self.site.transports
        for transport in self.run.transports:
            named = transport not in (ALL, DEFAULT)
            asked = [name for name in names if name in there]
            if named and asked and not any(transport in there[name] for name in asked):
                has = "; ".join(f"{name} has {', '.join(there[name])}" for name in asked)
                what = f"unknown transport '{transport}' for {listed(asked)}"
                others = "omit it" if self.words else "use 'default' or 'all'"
                self._problem("transports", what, f"{has}; or {others}")

    def _names(self) -> list[str]:
        return list(self.run.toolchains or self.site.toolchains)

    def _libraries(self) -> list[tuple[str, str | None]]:
        """Return MPI libraries, each with every requested transport; None is its default."""
        there = self.site.transports
        return [
            (name, None if one == DEFAULT else one)
            for name in self._names()
            for asked in self.run.transports
            for one in (there.get(name, [DEFAULT]) if asked == ALL else [asked])
        ]

    def _unable(self, toolchain: str) -> str | None:
        """Why the kernel cannot run with an MPI library, or be simulated."""
        simulated = self.site.facts.simulated
        return self.program.unable(self.run.kernel, toolchain, simulated=simulated)

    def _absent(self, layout: Layout, toolchain: str, transport: str | None) -> str | None:
        """Why a valid case cannot run in this place, or None if it can."""
        if self.site.facts.simulated and transport:
            what = f"transport '{transport}' is not simulated: message costs are from the cluster"
            return f"{what} file; remove it, or write a cluster file for that transport"
        if self.site.facts.simulated and toolchain not in self.site.toolchains:
            what = f"MPI library '{toolchain}' is not simulated"
            return f"{what}: the cluster file determines the library; remove it"
        if layout.allocation not in self.site.allocations:
            if self.site.facts.simulated:
                return (
                    f"allocation '{layout.allocation}' needs a tree network, which "
                    f"{self.site.name} does not have"
                )
            return (
                f"allocation '{layout.allocation}' can only be simulated (--on CLUSTER), because a "
                "batch system chooses the nodes itself"
            )
        if self.site.facts.simulated and self._partly_packed(layout):
            what = "the simulation does not distinguish threads close to each other on "
            what += "some sockets only" if layout.ppn < self.site.sockets else "shared cores"
            return f"{what}; use thread_bind = spread, or bind = close"
        if toolchain in self.site.missing:
            return self.site.missing[toolchain]
        there = () if transport is None else self.site.transports.get(toolchain, ())
        if transport is not None and transport not in there:
            return f"{toolchain} has no transport '{transport}', only {', '.join(there)}"
        if layout.placement is not None and layout.placement not in self.site.placements:
            if self.site.facts.simulated:
                return self._not_simulated
            return f"placement '{layout.placement}' does not exist {self.site.where}"
        return None

    def _partly_packed(self, layout: Layout) -> bool:
        """Whether spread ranks have close threads that share more than an even share would."""
        if layout.bind != "spread" or layout.ppn == 1 or thread_bind_of(vars(layout)) != "close":
            return False
        several = layout.places == "threads" and self.site.hardware_threads > self.site.cores
        return several or layout.ppn < self.site.sockets

    @property
    def _not_simulated(self) -> str:
        """Why placements inside a simulated node are not available, and what to use instead."""
        inside = "the simulation does not distinguish placements inside a node"
        if self.site.sockets_differ:
            inside = (
                f"inside a node of {self.site.name} the simulation distinguishes only sockets; use "
                "ppn = 2 with bind = close (one socket) or bind = spread (two sockets)"
            )
        return f"{inside}; placement 'other-node' can be simulated if there are several nodes"

    def _unknown(self, params: Mapping[str, Any]) -> str | None:
        """Why the place has no rate for a kernel with these parameters, or None if it has."""
        if self.site.facts.simulated and params.get("cache") == "off":
            return "simulated messages do not depend on caches: cache=off equals cache=warm"
        known, variant = self.site.variants.get(self.run.kernel), params.get("variant")
        if known is None or variant in known:
            return None
        return (
            f"the cluster file has no {self.run.kernel} rate for {variant}, only for "
            f"{listed(list(known))}"
        )

    def _without_gpus(self, params: Mapping[str, Any], layout: Layout) -> str | None:
        """Why a simulated node's GPUs are too few for these ranks, or None if they are enough."""
        if not self.site.facts.simulated or params.get("memory") != "device":
            return None
        return gpus_lacking(self.site.gpus, layout, ranks_sharing_a_gpu(params), self.site.name)

    def _fits(self, case: Case) -> bool:
        """Whether its arrays fit in its nodes and, with simulated arithmetic, in this machine."""
        rooms = [r for r in self.site.rooms(case) if r.total_bytes < r.taken(case)]
        if self.run.beyond_memory and self.site.facts.simulated:
            for room in (room for room in rooms if not room.here):
                why = f"simulated although they exceed the memory: {room.free}"
                self.plan.note(why, f"{case.label} ({room.share(case)})")
            rooms = [room for room in rooms if room.here]
        if not rooms:
            return True
        full = rooms[0]
        asked_to = full.here and self.run.execute and not self.run.skip_too_large
        if self._leaves_out and not asked_to:
            ranks = count(case.layout.ranks, "rank")  # on however many nodes where it is here
            name = f"{case.setting}, {ranks}" if full.here else case.label
            self.plan.leave_out(full.free, f"{name} (needs {full.share(case)})")
        else:
            what, remedy = full.refusal(case, lambda given: self._forecast(given, case.layout))
            self._problem("params", what, f"{remedy}{self._or_leave_out}")
        return False

    def _forecast(self, given: Mapping[str, Value], layout: Layout) -> Forecast:
        """Return the forecast of a case with all its ranks."""
        return self.program.forecast(self.run.kernel, given, layout.ranks, layout.threads)


def _of_the_layout(key: str, *, words: bool) -> str | None:
    """Return the remedy for a parameter that is a key of the layout, or None for others.

    words: as of `expand`, for a command line, which has options for some keys only.
    """
    if key not in (*_OPTIONS, *LayoutAxes.model_fields):
        return None
    place = "tasks" if key == "ranks" else key
    if not words:
        return f"it is a key of the layout: use layout.{place}"
    if key in _OPTIONS:
        return f"it is an option: --{_OPTIONS[key]}"
    return f"only a study has it, as layout.{place}: haloscope run"


_OPTIONS = {
    **{key: key for key in ("ranks", "nodes", "ppn", "threads", "placement")},
    "tasks": "ranks",
}
"""_OPTIONS has the keys of a layout that are options of one case on a command line."""


def no_kernel(where: str, kernel: str, known: Sequence[str]) -> Problem:
    """Return the problem of an unknown kernel; the remedy also names external programs.

    A study's name has the command that runs it as the remedy.
    """
    one = no_such(where, "kernel", kernel, known)
    if kernel in {path.stem for path in file.ready()}:
        return replace(one, remedy=f"'{kernel}' is a study; to run it: haloscope run {kernel}")
    own = "for a program of your own: --program FOLDER (docs/programs.md)"
    return replace(one, remedy=f"{one.remedy}; {own}")


def nothing_runs(plan: Plan, site: Site, where: str) -> list[Problem]:
    """Return a problem if no case of a plan can run; absent ones of this machine are records."""
    absent = dict.fromkeys(case.absent for case in plan.cases if site.facts.simulated)
    if plan.cases and (not absent or None in absent):
        return []
    why = "\n    ".join([*plan.notes, *map(str, absent)])
    return [Problem(where, f"no case can run {site.where}", why)]


def assignments(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Yield every choice of one value per axis; the last axis varies fastest."""
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def schedule(cases: Sequence[Case], seed: int) -> list[Launch]:
    """Return every launch of every case, in rounds: each round is a shuffled pass over all cases.

    A slow drift of the machine then affects all cases alike. The first rounds depend only on the
    cases and the seed, not on the number of rounds.
    """
    chance = random.Random(seed)
    launches = []
    for number in range(max((case.launches for case in cases), default=0)):
        shuffled = chance.sample(cases, len(cases))
        launches += [Launch(case, number) for case in shuffled if number < case.launches]
    return launches
