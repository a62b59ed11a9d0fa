# SPDX-License-Identifier: BSD-3-Clause
"""Find tables and figures of a study that will be empty, before anything is measured."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from haloscope.errors import Problem, dotted
from haloscope.quantities import either, listed
from haloscope.study import kinds
from haloscope.study.case import Case
from haloscope.study.kinds import Kind
from haloscope.study.schema import Element, Study
from haloscope.study.settings import Settings, settings_of

_OF_THE_PLACE = ("clock", "runner")


def unsuited(study: Study, path: str, programs: Container[str] = ()) -> Iterator[Problem]:
    """Yield a problem for every table and figure whose kind shows no kernel of the study."""
    ours = {run.kernel for run in study.runs}
    for what, place, element in _elements(study):
        kind = kinds.named(element.kind)
        if not any(kind.shows(kernel, programs) for kernel in ours):
            why = f"the {what} '{element.kind}' requires a run of {either(kind.shown)}"
            remedy = f"add such a run, or remove the {what}"
            yield Problem(f"{path}: {place}", why, remedy)


def empty(study: Study, cases: Sequence[Case], programs: Container[str] = ()) -> Iterator[str]:
    """Yield a line for every table and figure that will be empty with these cases, and why."""
    elements = [*_elements(study)]
    every = [settings_of({**vars(case), "layout": vars(case.layout)}) for case in cases if elements]
    for what, _, element in elements:
        if why := _why_empty(kinds.named(element.kind), element, every, programs):
            yield f"the {what} '{element.kind}' will be empty: {why}"


def _elements(study: Study) -> Iterator[tuple[str, str, Element]]:
    for what, those in (("table", study.tables), ("figure", study.figures)):
        for index, element in enumerate(those):
            yield what, dotted((f"{what}s", index, "kind")), element


def _why_empty(
    kind: Kind, element: Element, cases: Sequence[Settings], programs: Container[str]
) -> str | None:
    own = [case for case in cases if kind.shows(str(case["kernel"]), programs)]
    if not own:
        return f"no case runs {either(kind.shown)}"
    for name, values in element.where.items():
        if name not in _OF_THE_PLACE:
            own = [case for case in own if case.get(name) in values]
            if not own:
                return f"no case has {name} = {either([str(value) for value in values])}"
    if kind.having is not None and not any(case.get(kind.having) for case in own):
        return f"no case has {kind.having}"
    if kind.over and not _differ(own, kind.over):
        return f"all cases have the same {listed(list(kind.over))}"
    return None


def _differ(cases: Sequence[Settings], names: Sequence[str]) -> bool:
    return any(
        len({case.get(name) for case in cases if case["kernel"] == kernel}) > 1
        for kernel in {case["kernel"] for case in cases}
        for name in names
    )
