# SPDX-License-Identifier: BSD-3-Clause
"""The answer at the top of a report hides no verdict; the extent of each is in the report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.findings.answers import answering
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Ratio, Verdict
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings

RATIO = Ratio.of(Estimate(1.5, None, None, 0, "none"))
FEW, MANY = {"exchange": "persistent"}, {"exchange": "nonblocking"}


def claim(verdict: Verdict | None, count: int | None = None, *at: int) -> Claim:
    """A claim about a number of settings, or about points."""
    return Claim(FEW, MANY, count=count, at=at, ratio=RATIO, verdict=verdict)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            [(Verdict.EQUAL, 12), (Verdict.FASTER, 2), (Verdict.NO_DIFFERENCE, 10)],
            [(Verdict.NO_DIFFERENCE, 22, False), (Verdict.FASTER, 2, True)],
        ),
        (
            [(Verdict.FASTER, 1), (Verdict.SLOWER, 4)],
            [(Verdict.SLOWER, 4, True), (Verdict.FASTER, 1, True)],
        ),
        (
            [(Verdict.NO_DIFFERENCE, 2), (Verdict.EQUAL, 1)],
            [(Verdict.NO_DIFFERENCE, 2, True), (Verdict.EQUAL, 1, True)],
        ),
        (
            [(Verdict.EQUAL, 1), (Verdict.UNDECIDED, 3)],
            [(Verdict.UNDECIDED, 3, False), (Verdict.EQUAL, 1, False)],
        ),
        ([(None, 5), (Verdict.UNDECIDED, 3)], [(Verdict.UNDECIDED, 3, True)]),
        ([(None, 3)], [(None, 3, True)]),
        (
            [(None, 9), (Verdict.NO_DIFFERENCE, 5), (Verdict.EQUAL, 2)],
            [(Verdict.NO_DIFFERENCE, 5, True), (Verdict.EQUAL, 2, True)],
        ),
    ],
)
def test_a_comparison_answers_with_its_most_common_verdict_and_counts_the_others(
    parts: list[tuple[Verdict | None, int]], expected: list[tuple[Verdict | None, int, bool]]
) -> None:
    every = tuple(claim(verdict, count) for verdict, count in parts)

    found = answering(Finding("Asked", FindingShape.COMPARISON, every, of=24)).parts

    assert [(one.verdict, one.count, one.ratio is not None) for one in found] == expected


def test_a_comparison_of_several_answers_about_one_of_them() -> None:
    other = Claim({"exchange": "sendrecv"}, MANY, count=3, ratio=RATIO, verdict=Verdict.SLOWER)
    finding = Finding("Asked", FindingShape.COMPARISON, (claim(Verdict.FASTER, 1), other), of=3)

    assert answering(finding).parts == (other,)


def test_many_layouts_that_may_be_as_fast_are_counted_only_in_the_answer() -> None:
    tied: tuple[Settings, ...] = tuple({"ppn": 2, "bind": bind} for bind in "abcde")
    part = Claim({"ppn": 4, "bind": "a"}, also=tied, verdict=Verdict.NO_DIFFERENCE)
    numbers = Claim({"per node": 1}, also=tuple({"per node": n} for n in range(2, 7)))

    found = answering(Finding("Asked", FindingShape.BEST, (part, numbers))).parts

    (counted,) = (one for one in found if one.subject == part.subject)
    (kept,) = (one for one in found if one.subject == numbers.subject)
    assert (counted.also, kept.also) == (({"others": 5},), numbers.also)


def test_the_winner_of_the_most_points_comes_first_and_the_others_are_named() -> None:
    none = claim(Verdict.NO_DIFFERENCE, None, 1, 2, 4)
    one, two = claim(Verdict.FASTER, None, 8), claim(Verdict.FASTER, None, 16, 32)

    found = answering(Finding("Asked", FindingShape.BEST, (none, one, two))).parts

    assert [(part.at, part.ratio is not None) for part in found] == [
        ((16, 32), True),
        ((1, 2, 4), False),
        ((8,), False),
    ]


def test_alternatives_with_the_same_reference_are_in_one_answer() -> None:
    def compared(name: str, verdict: Verdict, ratio: float) -> Finding:
        over = Ratio.of(Estimate(ratio, 1.0, 2.0, 0, "none"))
        part = Claim({"exchange": name}, MANY, count=2, ratio=over, verdict=verdict)
        return Finding("Asked", FindingShape.COMPARISON, (part,), of=2, id=name)

    first = compared("persistent", Verdict.UNDECIDED, 1.5)
    alike = [first, compared("sendrecv", Verdict.UNDECIDED, 0.5)]
    (one,) = answering(first, alike).parts
    other = compared("neighbor", Verdict.SLOWER, 0.8)
    few = replace(alike[1], caveats=(Caveat.TOO_FEW,))
    assert answering(first, [first, few]).caveats == (Caveat.TOO_FEW,)

    assert one.subject == {"exchange": "persistent and sendrecv"}
    assert one.ratio
    assert (one.ratio.least, one.ratio.most) == (0.5, 1.5)
    assert answering(first, [first, other]).parts == (*first.parts, *other.parts)


@pytest.mark.parametrize(("last", "shown"), [(2.0, 1), (0.5, 4)])
def test_a_trend_is_shortened_only_without_opposite_ratios(last: float, shown: int) -> None:
    parts = [claim(Verdict.FASTER, None, at) for at in (1, 2, 4)]
    ratio = Ratio.of(Estimate(last, None, None, 0, "none"))
    parts.append(Claim(FEW, MANY, at=(8,), ratio=ratio, verdict=Verdict.FASTER))

    assert len(answering(Finding("Asked", FindingShape.TREND, tuple(parts))).parts) == shown


def test_a_trend_in_several_settings_has_its_largest_and_smallest_ratio() -> None:
    def trend(name: str, ratio: float) -> Finding:
        over = Ratio.of(Estimate(ratio, None, None, 0, "none"))
        part = Claim({"cores": 2}, {"cores": 1}, ratio=over, verdict=Verdict.FASTER)
        common = {"kernel": "spmv", "matrix": name}
        return Finding("Asked", FindingShape.TREND, (part,), common=common, id=name)

    every = [trend("2d5", 1.5), trend("3d7", 0.5), trend("3d27", 1.0)]
    every[1] = replace(every[1], caveats=(Caveat.ONE_LAUNCH,))
    found = answering(every[0], every)

    assert found.caveats == (Caveat.ONE_LAUNCH,), "one of its ratios is from one launch"
    same = [trend("2d5", 1.5), trend("3d7", 1.5)]
    assert answering(same[0], same) == same[0]

    assert found.common == {"kernel": "spmv"}
    assert [part.subject for part in found.parts] == [
        {"matrix": "2d5", "cores": 2},
        {"matrix": "3d7", "cores": 2},
    ]


def test_the_parts_at_the_most_points_of_an_axis_are_the_answer() -> None:
    sizes = {"a": (1,), "b": (2, 8), "c": (4,), "d": (16, 32, 64), "e": (128, 256)}
    parts = [Claim({"part": name}, at=at) for name, at in sizes.items()]
    finding = Finding(
        "Asked", FindingShape.BREAKDOWN, (*parts, Claim({"part": "f"}, share=0.5)), axis="size"
    )

    assert [one.subject["part"] for one in answering(finding).parts] == ["b", "d", "e", "others"]


def test_values_are_the_answer_as_they_are() -> None:
    finding = Finding("Asked", FindingShape.VALUE, (claim(None), claim(None)))

    assert answering(finding) == finding
