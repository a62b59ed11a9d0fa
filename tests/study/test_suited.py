# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures without a suitable case are reported before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from haloscope.layout import Layout
from haloscope.run.prepare import halobench
from haloscope.study import kinds
from haloscope.study.case import Case
from haloscope.study.checks.suited import empty, unsuited
from haloscope.study.schema import Study

ROOT = Path(__file__).parents[2]


def case(kernel: str = "poisson_cg", **given: Any) -> Case:
    layout = Layout(ppn=given.pop("ppn", 2), tasks=given.pop("tasks", None))
    params = {"n": 64, "exchange": "blocking", "timeline": 0, **given}
    return Case(kernel, params, params, layout, "system", 0, 1, 60.0, 0)


def study(kind: str, *, figure: bool = False, **more: Any) -> Study:
    element = {"kind": kind, **more}
    asked = {"figures": [element]} if figure else {"tables": [element]}
    return Study.model_validate(
        {"title": "t", "runs": [{"kernel": "poisson_cg"}, {"kernel": "spmv"}], **asked}
    )


def test_a_kind_for_other_kernels_is_reported_at_its_key() -> None:
    (problem,) = unsuited(study("stream", figure=True), "mine.toml")

    assert problem.where == "mine.toml: figures#1.kind"
    assert "stream" in problem.what
    assert not [*unsuited(study("spmv"), "mine.toml"), *unsuited(study("phases"), "mine.toml")]


@pytest.mark.parametrize(
    ("asked", "cases", "why"),
    [
        (study("exchange"), [case()], "exchange"),
        (study("exchange"), [case(), case(exchange="sendrecv")], None),
        (study("scaling"), [case(), case("spmv", ppn=1)], "nodes, ppn, and threads"),
        (study("scaling"), [case(), case(ppn=1)], None),
        (study("scaling"), [case(n=0), case(n=0, ppn=1)], "no case has n"),
        (study("timeline", figure=True), [case()], "timeline"),
        (study("timeline", figure=True), [case(timeline=40)], None),
        (study("mapping"), [case()], "tasks"),
        (study("spmv"), [case()], "spmv"),
        (study("phases", where={"n": [32, 99]}), [case()], "n = 32 or 99"),
        (study("phases", where={"n": 64, "clock": "wall"}), [case()], None),
        (study("scaling", where={"ppn": 2}), [case(), case(ppn=1)], "nodes, ppn, and threads"),
    ],
)
def test_an_empty_table_or_figure_is_reported_with_the_reason(
    asked: Study, cases: list[Case], why: str | None
) -> None:
    lines = list(empty(asked, cases))

    assert bool(lines) == bool(why)
    assert why is None or why in lines[0]


def test_kinds_refer_to_existing_kernels_and_settings() -> None:
    named = {kernel for kind in kinds.KINDS for kernel in kind.kernels}
    programs = {folder.name for folder in (ROOT / "programs").iterdir()}
    assert named <= {*halobench.names()} | programs
    assert {*kinds.named("fits").kernels} == {"pingpong", "loggp"}
