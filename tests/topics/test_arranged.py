# SPDX-License-Identifier: BSD-3-Clause
"""Which finding answers the question of a report."""

from dataclasses import replace

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Prominence
from haloscope.topics import arranged

FUSED = Finding(
    *("Fastest", FindingShape.VALUE, (Claim({"variant": "fused"}),)),
    topic="walltime",
    caveats=(Caveat.NOT_VALIDATED,),
    cases=("a",),
)
TEXTBOOK = replace(FUSED, parts=(Claim({"variant": "textbook"}),), caveats=(), cases=("b",))
PRINTED = replace(TEXTBOOK, parts=(Claim({"variant": "printed"}),), cases=())


def answered(*found: Finding, asked: int) -> object:
    (answer,) = (one for one in arranged(found, asked) if one.severity is Prominence.ANSWER)
    return answer.parts[0].subject["variant"]


def test_the_answer_is_of_what_is_validated_where_anything_is() -> None:
    assert answered(FUSED, TEXTBOOK, asked=2) == "textbook"
    assert answered(FUSED, TEXTBOOK, asked=0) == "textbook"


def test_of_what_is_not_validated_the_first_is_the_answer() -> None:
    assert answered(FUSED, replace(FUSED, parts=TEXTBOOK.parts), asked=2) == "fused"
    assert answered(FUSED, TEXTBOOK, asked=1) == "fused"  # the other is of another question


def test_no_published_values_alone_are_the_answer() -> None:
    assert answered(FUSED, PRINTED, asked=2) == "fused"
