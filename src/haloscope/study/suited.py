# SPDX-License-Identifier: BSD-3-Clause
"""Which tables and figures of a study no case of its plan can suit, told before any is measured."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from haloscope.errors import Problem, dotted
from haloscope.quantities import listed
from haloscope.study import kinds
from haloscope.study.case import Case
from haloscope.study.kinds import Kind
from haloscope.study.schema import Element, Study
from haloscope.study.settings import Settings, settings_of

_OF_THE_PLACE = ("clock", "runner")
"""Settings that a case gets when it is run."""


def unsuited(study: Study, path: str, programs: Container[str] = ()) -> Iterator[Problem]:
    """A problem for every table and figure whose kind shows no kernel of the study.

    path: the study's file, to say where they stand. programs: the kernels that are external
    programs.
    """
    ours = {run.kernel for run in study.runs}
    for what, place, element in _elements(study):
        kind = kinds.named(element.kind)
        if not any(kind.shows(kernel, programs) for kernel in ours):
            known = f"a {what} '{element.kind}' is of {listed(kind.shown)}, and no run is"
            mend = f"add such a run, or leave the {what} out"
            yield Problem(f"{path}: {place}", known, mend)


def empty(study: Study, cases: Sequence[Case], programs: Container[str] = ()) -> Iterator[str]:
    """A line for every table and figure that will have nothing to show of these cases, and why."""
    elements = [*_elements(study)]
    every = [settings_of({**vars(case), "layout": vars(case.layout)}) for case in cases if elements]
    for what, _, element in elements:
        if why := _why_empty(kinds.named(element.kind), element, every, programs):
            yield f"no {what} '{element.kind}': {why}"


def _elements(study: Study) -> Iterator[tuple[str, str, Element]]:
    """What each is, where it stands, and what it says."""
    for what, those in (("table", study.tables), ("figure", study.figures)):
        for index, element in enumerate(those):
            yield what, dotted((f"{what}s", index, "kind")), element


def _why_empty(
    kind: Kind, element: Element, cases: Sequence[Settings], programs: Container[str]
) -> str | None:
    own = [case for case in cases if kind.shows(str(case["kernel"]), programs)]
    if not own:
        return f"no case is of {listed(kind.shown)}"
    for name, values in element.where.items():
        if name not in _OF_THE_PLACE:
            own = [case for case in own if case.get(name) in values]
            if not own:
                return f"no case of it has {name} = {listed([str(value) for value in values])}"
    if kind.having is not None and not any(case.get(kind.having) for case in own):
        return f"no case of it has {kind.having}"
    if kind.over and not _differ(own, kind.over):
        return f"its cases do not differ in any of {listed(list(kind.over))}"
    return None


def _differ(cases: Sequence[Settings], names: Sequence[str]) -> bool:
    """Whether cases of one kernel have several values of one of the settings."""
    return any(
        len({case.get(name) for case in cases if case["kernel"] == kernel}) > 1
        for kernel in {case["kernel"] for case in cases}
        for name in names
    )
