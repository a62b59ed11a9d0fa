# SPDX-License-Identifier: BSD-3-Clause
"""A plan: the cases of a study as they can run in one place, checked before any is launched."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Protocol

from haloscope.errors import Problem, UserError, dotted, nearest, no_such
from haloscope.host.machine import OTHER_SOCKET, PLACEMENTS
from haloscope.quantities import count, listed
from haloscope.study.capacity import Site
from haloscope.study.case import Case, Launch, Layout, Value, gpus_lacking, ranks_sharing_a_gpu
from haloscope.study.layouts import layouts, placed
from haloscope.study.schema import ALL, DEFAULT, LayoutAxes, Run, Study, stopping_rule
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import parted


@dataclass(frozen=True)
class Forecast:
    """What halobench says of a case without launching it (its program's --plan).

    params:       every parameter, defaults filled in.
    memory_bytes: the large arrays that all ranks together will allocate.
    problems:     why it can't run, each naming key and value; empty when it can.
    absent:       why it can't run on this machine though nothing is wrong with it; None if it can.
    device_bytes: of the memory, what lies in that of GPUs.
    unchecked: the program that was not there to be asked: only what the kernel declares of its
        parameters was checked, and neither memory nor what depends on the number of ranks is known.
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

    def parameters(self, kernel: str) -> Sequence[str]:
        """The names of a kernel's parameters."""

    def numbers(self, kernel: str) -> Sequence[str]:
        """The names of those that are numbers."""

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        """Parameters with files made ready for ranks to read, and the folder where these are.

        None where no parameter names one; UserError for files that won't do.
        """

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """One case's resolved parameters, memory and problems."""

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        """Why a kernel can't run with an MPI library, or be simulated; None if it can."""


@dataclass(frozen=True)
class Plan:
    """Cases in the order of the study, what was left out and why, and what must be mended.

    unchecked: the programs that were not there to be asked, so that some case is not checked whole.
    """

    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
    unchecked: tuple[KernelProgram, ...] = ()


@dataclass
class _GrowingPlan:
    """A plan that is still being made; the same problem or note counts once."""

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
        self.note(f"left out, {why}", what)

    def note(self, why: str, what: str) -> None:
        self.notes.setdefault(why, {})[what] = None

    def finished(self) -> Plan:
        notes = [f"{why}: {'; '.join(what)}" for why, what in self.notes.items()]
        if self.merged:
            notes.append(f"{count(self.merged, 'case')} asked for more than once, run once")
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
    """All cases of a study: the product of its axes, each case checked against the site.

    `where(run, key)` says to a user where a run (key "") or a key of it stands.
    words: its parameters are words of a command line, on which numbers are texts, too.
    Problems are returned, not raised, so that they can be shown with those of the file.
    """
    plan = _GrowingPlan()
    for index, run in enumerate(study.runs):
        of_run = _RunExpansion(study, index, run, site, program, where or _in_file, plan, words)
        if run.only_simulated and not site.facts.simulated:
            of_run.check()
        elif run.several_sockets and OTHER_SOCKET not in site.placements:
            plan.leave_out(f"as {_no_second_socket(site)}", run.name or run.kernel)
            of_run.check()
        else:
            of_run.expand()
    for problem in _devices_of_two_kinds([*plan.cases.values()]):
        plan.problems[problem] = None
    return plan.finished()


def _devices_of_two_kinds(cases: Sequence[Case]) -> Iterator[Problem]:
    """What is wrong with a study that would have an emulated device's times beside a real one's."""
    names = {case.toolchain for case in cases if case.params.get("memory") == "device"}
    emulated = sorted(name for name in names if parted(name)[1] is None)
    real = sorted(names - {*emulated})
    if emulated and real:
        what = f"{listed(emulated)} would have an emulated device, {listed(real)} a GPU"
        mend = "times of the one say nothing of the other's: give each a study of its own"
        yield Problem("memory = device", what, mend)


def _no_second_socket(site: Site) -> str:
    """Why nothing is asked of a node's second socket."""
    if site.facts.simulated:
        return f"the file of {site.name} says what there is between sockets"
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
        layouts = list(self._layouts_that_fit())
        if not layouts or not self._is_known():
            self.check()
            return
        for given in assignments(self._known_params()):
            refused = [(layout, self._check_and_add(given, layout)) for layout in layouts]
            self._tell_refused(refused)

    def check(self) -> None:
        """Only tell what is wrong with a run that is left out, whatever its layouts."""
        if not self._is_known():
            return
        try:
            axes = self.run.layout
            asked = layouts(axes, axes.nodes, self.site.cores) if axes.placement is None else []
        except ValueError:  # words and shares of other nodes than those here
            asked = []
        before = len(self.plan.problems)
        for given in assignments(self._known_params()):
            self._tell_refused_by_all(given, asked or [Layout()])
        if len(self.plan.problems) > before:  # nobody is told then what is left out
            self._refuse_nodes()

    def _is_known(self) -> bool:
        """Whether there is such a kernel; told if there is not."""
        kernel, kernels = self.run.kernel, self.program.kernels()
        if kernel not in kernels:
            self.plan.problems[no_kernel(self.where(self.index, "kernel"), kernel, kernels)] = None
        return kernel in kernels

    def _tell_refused_by_all(self, given: dict[str, Value], asked: Sequence[Layout]) -> None:
        """Settings that the kernel refuses on every layout: what only some refuse may be as meant.

        Of those with files, only what is wrong with these: they are made for the layouts that run.
        """
        try:
            if self.program.prepared(self.run.kernel, given, ranks=1)[1] is not None:
                return
        except UserError as error:
            self._tell_files(error)
            return
        refused: list[Problem] = []
        for layout in asked:
            ranks, threads = layout.ranks, layout.threads
            found = self.program.forecast(self.run.kernel, given, ranks, threads).problems
            if not found:
                return
            refused = refused or [*found]
        for one in refused:
            self._problem("", f"{one.where}: {one.what}", one.mend)

    def _tell_refused(self, refused: Sequence[tuple[Layout, Sequence[Problem]]]) -> None:
        """Settings that the kernel refuses; on some layouts alone, these may be left out."""
        on_some = not all(problems for _, problems in refused)
        instead = self._or_leave_out if on_some else ""
        for layout, problem in ((layout, one) for layout, problems in refused for one in problems):
            if on_some and self._leaves_out:
                what = f"{problem.where} on {count(layout.ranks, 'rank')}"
                self.plan.leave_out(f"{problem.what} ({problem.mend})", what)
            else:
                mend = f"{problem.mend}{instead}"
                self._problem("", f"{problem.where}: {problem.what}", mend)

    def _problem(self, key: str, what: str, mend: str) -> None:
        self.plan.problems[Problem(self.where(self.index, key), what, mend)] = None

    def _known_params(self) -> dict[str, list[Value]]:
        known = self.program.parameters(self.run.kernel)
        for key in [key for key in self.run.params if key not in known]:
            what = f"{self.run.kernel} has no parameter '{key}'"
            self._problem(f"params.{key}", what, _of_the_layout(key) or nearest(key, known))
        if not self.words:
            self._refuse_texts()
        return {key: values for key, values in self.run.params.items() if key in known}

    def _refuse_texts(self) -> None:
        """Texts that stand for numbers: on a command line alone they are all texts."""
        for key in self.program.numbers(self.run.kernel):
            for text in (one for one in self.run.params.get(key, ()) if isinstance(one, str)):
                mend = "write it without quotes"
                self._problem(f"params.{key}", f"'{text}' is a text, not a number", mend)

    def _layouts_that_fit(self) -> Iterator[Layout]:
        left_out: dict[tuple[str, int], dict[str, None]] = {}  # reason, threads: processes a node
        for layout in self._layouts():
            if not self._crowded(layout) or self.site.oversubscribe:
                yield layout
            elif self._leaves_out:
                why = f"as {self.site.node} has {self.site.slots_of(layout)}"
                left_out.setdefault((why, layout.threads), {})[str(layout.ppn)] = None
            else:
                self._refuse_crowded(layout)
                yield layout  # its other problems are to be found too
        for (why, threads), ppn in left_out.items():
            what = f"{self._name} with ppn {listed([*ppn])} x threads {threads}"
            self.plan.leave_out(why, what)

    def _layouts(self) -> list[Layout]:
        axes = self.run.layout
        if axes.placement is not None:
            if axes.model_fields_set != {"placement"}:
                mend = "leave all else of the layout out: it is two ranks of one thread each"
                self._problem("layout.placement", "stands beside other keys", mend)
            names = PLACEMENTS if ALL in axes.placement else axes.placement
            return [placed(name) for name in names]
        there = {*self._nodes()}
        try:  # what is wrong with other keys is to be found, too, where so many nodes are not there
            every = layouts(axes, axes.nodes, self.site.cores)
            return [one for one in every if one.nodes in there]
        except ValueError as error:
            for said in error.args:
                what, _, mend = said.partition("; ")
                mend = mend or "whole numbers, or one of the words it may have"
                self._problem("layout", what, mend)
            return []

    def _nodes(self) -> list[int]:
        """The numbers of nodes that there are; the others are noted, or refused if asked to be."""
        if self.run.skip_too_large is False:
            self._refuse_nodes()
        elif more := self._too_many_nodes():
            what = f"{self._name} on {listed(more)} nodes"
            self.plan.leave_out(f"as {self.site.extent}", what)
        return [nodes for nodes in self.run.layout.nodes if nodes <= self.site.nodes]

    def _refuse_nodes(self) -> None:
        """Refuse numbers of nodes that there are not."""
        if more := self._too_many_nodes():
            elsewhere = "--on SITE (haloscope site detect) or --on CLUSTER (simulated)"
            mend = f"give at most {self.site.nodes:,}, or run it where more are: {elsewhere}"
            self._problem("layout.nodes", f"{listed(more)}: {self.site.extent}", mend)

    def _too_many_nodes(self) -> list[str]:
        return [str(nodes) for nodes in self.run.layout.nodes if nodes > self.site.nodes]

    @property
    def _leaves_out(self) -> bool:
        """Whether a case that is too large is left out, and no reason to refuse the study.

        At a remote place it is left out unless the study says otherwise, because it
        is another machine than the study was written for.
        """
        said = self.run.skip_too_large
        return self.site.facts.remote if said is None else said

    @property
    def _or_leave_out(self) -> str:
        """What else a study may do where something is too large, if it does not say no."""
        no = self.run.skip_too_large is False
        return "" if no else "; with skip_too_large = true, a study leaves such cases out"

    @property
    def _name(self) -> str:
        return self.run.name or self.run.kernel

    def _crowded(self, layout: Layout) -> bool:
        slots = self.site.slots(layout)
        return layout.placement is None and layout.ppn * layout.threads > slots

    def _refuse_crowded(self, layout: Layout) -> None:
        ranks, threads = count(layout.ppn, "rank"), count(layout.threads, "thread")
        what = f"{ranks} a node, {threads} each, are too many: "
        what += f"{self.site.node} has {self.site.slots_of(layout)}"
        self._problem("layout", what, f"ask for fewer, or {self.site.instead}{self._or_leave_out}")

    def _check_and_add(self, given: dict[str, Value], layout: Layout) -> Sequence[Problem]:
        """Add the case, or say what its kernel refuses."""
        try:
            ready, files = self.program.prepared(self.run.kernel, given, layout.ranks)
        except UserError as error:
            self._tell_files(error)
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

    def _tell_files(self, error: UserError) -> None:
        """What is wrong with files that parameters name."""
        for problem in error.problems:
            self._problem("params", f"{problem.where}: {problem.what}", problem.mend)

    def _launches(self) -> int:
        """Of a case: as many as the run or the study says, or the most that precision may take."""
        rule = stopping_rule(self.study)
        return self.run.launches or (rule.most if rule else self.study.launches)

    def _libraries(self) -> list[tuple[str, str | None]]:
        """MPI libraries, each with every transport that is asked of it; None is its own choice."""
        names = list(self.run.toolchains or self.site.toolchains)
        there = self.site.transports
        for transport in self.run.transports:
            named = transport not in (ALL, DEFAULT)
            asked = [name for name in names if name in there]
            if named and asked and not any(transport in there[name] for name in asked):
                has = "; ".join(f"{name} has {', '.join(there[name])}" for name in asked)
                what = f"none of the MPI libraries has a transport '{transport}'"
                self._problem("transports", what, f"{has}; or say default, all")
        return [
            (name, None if one == DEFAULT else one)
            for name in names
            for asked in self.run.transports
            for one in (there.get(name, [DEFAULT]) if asked == ALL else [asked])
        ]

    def _unable(self, toolchain: str) -> str | None:
        """Why the kernel can't run with an MPI library, or be simulated."""
        simulated = self.site.facts.simulated
        return self.program.unable(self.run.kernel, toolchain, simulated=simulated)

    def _absent(self, layout: Layout, toolchain: str, transport: str | None) -> str | None:
        """Why a case can't run here though nothing is wrong with it; None if it can."""
        if self.site.facts.simulated and transport:
            what = f"no transport '{transport}' can be simulated: messages take what the cluster"
            return f"{what} file says; leave it out, or write a file with that one's numbers"
        if self.site.facts.simulated and toolchain not in self.site.toolchains:
            what = f"no MPI library '{toolchain}' can be simulated"
            return f"{what}: the cluster file says which one there is; leave it out"
        if layout.allocation not in self.site.allocations:
            if self.site.facts.simulated:
                return (
                    f"nodes can't be allocated {layout.allocation} {self.site.where}: it is no tree"
                )
            return (
                "which nodes a job gets is the scheduler's choice: it can be simulated (--on NAME)"
            )
        if toolchain in self.site.missing:
            return self.site.missing[toolchain]
        there = () if transport is None else self.site.transports.get(toolchain, ())
        if transport is not None and transport not in there:
            return f"{toolchain} has no transport '{transport}' (it has {', '.join(there)})"
        if layout.placement is not None and layout.placement not in self.site.placements:
            if self.site.facts.simulated:
                return self._not_simulated
            return f"no two ranks can be placed {layout.placement} {self.site.where}"
        return None

    @property
    def _not_simulated(self) -> str:
        """Why two ranks can't be placed inside a simulated node, and what to ask for instead."""
        inside = "distances inside a simulated node make no difference"
        if self.site.sockets_differ:
            inside = (
                f"inside a node of {self.site.name} sockets alone are told apart, by ppn = 2 with "
                "bind = close (ranks of one) or spread (of two)"
            )
        return f"{inside}; other-node can be simulated, where there are several nodes"

    def _unknown(self, params: Mapping[str, Any]) -> str | None:
        """Why nothing is known here of a kernel with these parameters; None if it is."""
        if self.site.facts.simulated and params.get("cache") == "off":
            return "simulated messages are in no cache: cache=off is as cache=warm"
        known, variant = self.site.variants.get(self.run.kernel), params.get("variant")
        if known is None or variant in known:
            return None
        only = f"{listed(list(known))} alone"
        return f"what {variant} reaches is not known here: {self.run.kernel}'s rate is of {only}"

    def _without_gpus(self, params: Mapping[str, Any], layout: Layout) -> str | None:
        """Why a simulated node's GPUs can't have these ranks; None if they can, or need not."""
        if not self.site.facts.simulated or params.get("memory") != "device":
            return None
        return gpus_lacking(self.site.gpus, layout, ranks_sharing_a_gpu(params), self.site.name)

    def _fits(self, case: Case) -> bool:
        """Whether its arrays fit: on its nodes and, where a simulation fills them, here."""
        rooms = [r for r in self.site.rooms(case) if r.total_bytes < r.taken(case)]
        if self.run.beyond_memory and self.site.facts.simulated:
            for room in (room for room in rooms if not room.here):
                why = f"simulated beyond memory, as {room.free}"
                self.plan.note(why, f"{case.label} ({room.share(case)})")
            rooms = [room for room in rooms if room.here]
        if not rooms:
            return True
        full = rooms[0]
        asked_to = full.here and self.run.execute and not self.run.skip_too_large
        if self._leaves_out and not asked_to:
            ranks = count(case.layout.ranks, "rank")  # on however many nodes where it is here
            name = f"{case.setting}, {ranks}" if full.here else case.label
            self.plan.leave_out(f"as {full.free}", f"{name} ({full.share(case)})")
        else:
            what, mend = full.refusal(case, lambda given: self._forecast(given, case.layout))
            self._problem("params", what, f"{mend}{self._or_leave_out}")
        return False

    def _forecast(self, given: Mapping[str, Value], layout: Layout) -> Forecast:
        """Of all ranks."""
        return self.program.forecast(self.run.kernel, given, layout.ranks, layout.threads)


def _of_the_layout(key: str) -> str | None:
    """What to do with a parameter that is a key of the layout; None for any other."""
    if key != "ranks" and key not in LayoutAxes.model_fields:
        return None
    place = "tasks" if key == "ranks" else key
    return f"it is no parameter but of the layout: in a study layout.{place}, with once --{key}"


def no_kernel(where: str, kernel: str, known: Sequence[str]) -> Problem:
    """That there is no such kernel, and how to have a program of one's own as one."""
    one = no_such(where, "kernel", kernel, known)
    own = "a program of your own: --program FOLDER (docs/programs.md)"
    return replace(one, mend=f"{one.mend}; {own}")


def nothing_runs(plan: Plan, site: Site, where: str) -> list[Problem]:
    """The problem that no case of a plan can run; absent ones of this machine are records."""
    absent = dict.fromkeys(case.absent for case in plan.cases if site.facts.simulated)
    if plan.cases and (not absent or None in absent):
        return []
    why = "\n    ".join([*plan.notes, *map(str, absent)])
    return [Problem(where, f"nothing can run {site.where}", why)]


def assignments(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Every choice of one value an axis, the last axis fastest."""
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def schedule(cases: Sequence[Case], seed: int) -> list[Launch]:
    """Every launch of every case: round after round, each a shuffled pass over all cases.

    A slow drift of the machine so spreads over all cases alike. The first rounds are the same for
    the same cases and seed, however many rounds follow.
    """
    chance = random.Random(seed)
    launches = []
    for number in range(max((case.launches for case in cases), default=0)):
        shuffled = chance.sample(cases, len(cases))
        launches += [Launch(case, number) for case in shuffled if number < case.launches]
    return launches
