# SPDX-License-Identifier: BSD-3-Clause
"""Download and build what cases need, and plan them with what is available."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from haloscope.quantities import listed
from haloscope.run.places import Place
from haloscope.run.prepare.workbench import Programs, Requested, Workbench
from haloscope.run.progress import Teller
from haloscope.study.case import Case
from haloscope.study.plan import Plan
from haloscope.toolchains import library
from haloscope.toolchains.build import KernelProgram

if TYPE_CHECKING:
    from haloscope.programs.file import ExternalProgram


@dataclass(frozen=True)
class Prepared:
    """A plan and its workbench.

    first: a line for all that must be downloaded and built first, and for what is not checked
    without it; empty if cases can run.
    """

    bench: Workbench
    plan: Plan
    first: tuple[str, ...] = ()


def prepared(
    place: Place,
    requested: Requested,
    programs: Mapping[str, ExternalProgram],
    planned: Callable[[Workbench], Plan],
    tell: Teller | None,
) -> Prepared:
    """Plan with what is available, download and build what the plan needs, and plan again.

    planned: raises UserError with all problems. tell: None: download and build nothing.
    """
    there, first = place.preview(requested)
    if {*there.names} & {*library.PYPI}:  # of runs that name none
        library.refuse_unusable()
    bench = replace(there, programs=programs)
    plan = planned(bench)
    if tell is None:
        return Prepared(bench, plan, (*first, *to_do(place, bench, plan.cases, plan.unchecked)))
    if first:
        bench = replace(place.workbench(requested, tell), programs=programs)
        plan = planned(bench)
    while lacking := _lacking(place, bench, plan):
        bench.build(lacking, tell)
        plan = planned(bench)
    return Prepared(bench, plan)


def _lacking(place: Place, bench: Workbench, plan: Plan) -> Programs:
    needed = bench.needed(plan.cases)
    every = {program for name in bench.built for program in needed.get(name, ())}
    alone = [program for program in plan.unchecked if program not in every]
    to_ask = {name: alone for name in [*bench.built][:1]}
    return bench.lacking(needed, place.probes(plan.cases, bench), to_ask)


def to_do(
    place: Place, bench: Workbench, cases: Iterable[Case], unchecked: Iterable[KernelProgram] = ()
) -> tuple[str, ...]:
    """Return a line for all that must be built before cases run, and for what was not checked."""
    cases = list(cases)
    lacking = bench.lacking(bench.needed(cases), place.probes(cases, bench))
    lines = bench.to_build(lacking)
    unchecked = [*unchecked]
    if kernels := [*dict.fromkeys(program.kernel for program in unchecked)]:
        are = "they are not built" if len(kernels) > 1 else "it is not built"
        name = next(iter(bench.built), "")
        programs = [*unchecked, *lacking.get(name, ())]  # including those that probe messages
        names = ",".join(dict.fromkeys(program.kernel for program in programs))
        device = " --device" if any(program.device for program in programs) else ""
        command = " ".join(filter(None, ("haloscope toolchain build", name)))
        lines.append(
            f"memory and rank limits of {listed(kernels)} were not checked, because {are}; "
            f"to build all required programs: {command} --kernels {names}{device}"
        )
    return tuple(lines)
