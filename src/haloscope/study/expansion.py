# SPDX-License-Identifier: BSD-3-Clause
"""Expand a study into a plan: its cases in one place, checked before any launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from haloscope.errors import Problem, UserError, dotted, nearest
from haloscope.host.machine import OTHER_SOCKET, PLACEMENTS
from haloscope.layout import Layout
from haloscope.quantities import count, listed
from haloscope.study.case import Case, Value
from haloscope.study.checks import unavailable
from haloscope.study.checks.capacity import Site
from haloscope.study.checks.unavailable import devices_of_two_kinds, second_socket
from haloscope.study.layouts import layouts, placed, remedy_for_a_key
from haloscope.study.plan import GrowingPlan, Plan, assignments, no_kernel
from haloscope.study.program import Program
from haloscope.study.schema import Run, Study, stopping_rule
from haloscope.study.settings import lacking
from haloscope.study.values import ALL, DEFAULT


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
    plan = GrowingPlan()
    for index, run in enumerate(study.runs):
        of_run = _RunExpansion(study, index, run, site, program, where or _in_file, plan, words)
        if run.only_simulated and not site.facts.simulated:
            of_run.check()
        elif run.several_sockets and OTHER_SOCKET not in site.placements:
            plan.leave_out(second_socket(site), run.name or run.kernel)
            of_run.check()
        else:
            of_run.expand()
    for problem in devices_of_two_kinds([*plan.cases.values()]):
        plan.problems[problem] = None
    return plan.finished()


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
    plan: GrowingPlan
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
        except ValueError:  # words, or shares that do not fit this place's nodes
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
            remedy = remedy_for_a_key(key, words=self.words) or nearest(key, [*known])
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
                what = f"{kernel} uses '{key}' only with {other} = {value}"
                written = f"{other}={value}" if self.words else f'{other} = "{value}"'
                self._problem(f"params.{key}", what, f"set {written}, or remove '{key}'")
        return found

    def _refuse_texts(self) -> None:
        """Refuse numbers in quotes, which only a command line may have."""
        for key in self.program.numbers(self.run.kernel):
            for text in (one for one in self.run.params.get(key, ()) if isinstance(one, str)):
                what = f'must be a number, got the string "{text}"'
                self._problem(f"params.{key}", what, "write numbers without quotes")

    def _layouts_that_fit(self) -> Iterator[Layout]:
        left_out: dict[tuple[str, int], dict[str, None]] = {}  # reason, threads: ppn
        for layout in self._layouts():
            there = layout.placement is not None or layout.nodes <= self.site.nodes
            crowded = self._crowded(layout) and not self.site.oversubscribe
            if crowded and not self._leaves_out:
                self._refuse_crowded(layout)  # its other problems are reported, too
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
                what = "'placement' cannot be combined with other keys of the layout"
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
        if self.run.skip_too_large is False:
            self._refuse_nodes()
        elif more := self._too_many_nodes():
            what = f"{self._name} on {listed(more)} nodes"
            self.plan.leave_out(self.site.extent, what)

    def _refuse_nodes(self) -> None:
        if more := self._too_many_nodes():
            elsewhere = "--on SITE (see haloscope site detect) or --on CLUSTER (simulated)"
            remedy = f"use at most {count(self.site.nodes, 'node')}, or run elsewhere: {elsewhere}"
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
        """Whether cases that are too large are skipped; otherwise the study is refused."""
        asked = self.run.skip_too_large
        return self.site.facts.remote if asked is None else asked

    @property
    def _or_leave_out(self) -> str:
        no = self.run.skip_too_large is False
        return "" if no else "; or set skip_too_large = true in the study to skip such cases"

    @property
    def _name(self) -> str:
        return self.run.name or self.run.kernel

    def _crowded(self, layout: Layout) -> bool:
        slots = self.site.slots(layout)
        return layout.placement is None and layout.cores_of_a_node > slots

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
                or (simulated and self._unable(toolchain))  # whatever library was requested
                or unavailable.message_layer(self.site, layout, toolchain, transport)
                or self._unable(toolchain)
                or unavailable.rate(self.site, self.run.kernel, forecast.params)
                or unavailable.gpus(self.site, layout, forecast.params)
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
        for problem in error.problems:
            self._problem("params", f"{problem.where}: {problem.what}", problem.remedy)

    def _launches(self) -> int:
        """Return the launches of a case: the run's, the study's, or the maximum with precision."""
        rule = stopping_rule(self.study)
        return self.run.launches or (rule.most if rule else self.study.launches)

    def _check_transports(self) -> None:
        names, there = self._names(), self.site.transports
        for transport in self.run.transports:
            named = transport not in (ALL, DEFAULT)
            asked = [name for name in names if name in there]
            if named and asked and not any(transport in there[name] for name in asked):
                has = "; ".join(f"{name} has {', '.join(there[name])}" for name in asked)
                what = f"unknown transport '{transport}' for {listed(asked)}"
                others = "omit it" if self.words else "use 'default' or 'all'"
                self._problem("transports", what, f"{has}; use one of these, or {others}")

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
        simulated = self.site.facts.simulated
        return self.program.unable(self.run.kernel, toolchain, simulated=simulated)

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
            ranks = count(case.layout.ranks, "rank")  # for any number of nodes on this machine
            name = f"{case.setting}, {ranks}" if full.here else case.label
            self.plan.leave_out(full.free, f"{name} (needs {full.share(case)})")
        else:
            shape = case.layout.ranks, case.layout.threads
            what, remedy = full.refusal(
                case, lambda given: self.program.forecast(case.kernel, given, *shape)
            )
            self._problem("params", what, f"{remedy}{self._or_leave_out}")
        return False
