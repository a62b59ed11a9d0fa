# SPDX-License-Identifier: BSD-3-Clause
"""Which finding answers the question of a report."""

from dataclasses import replace

from found import every, found
from recorded import quick

from haloscope.analysis.validation.predictions import KeptError, KeptPredictions
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Prominence
from haloscope.stats.estimates import Estimate
from haloscope.study import kinds
from haloscope.topics import TOPICS, arranged, predicted
from haloscope.topics.common.making import warning

FUSED = Finding(
    *("Fastest", FindingShape.VALUE, (Claim({"variant": "fused"}),)),
    topic="walltime",
    caveats=(Caveat.NOT_VALIDATED,),
    cases=("a",),
)
TEXTBOOK = replace(FUSED, parts=(Claim({"variant": "textbook"}),), caveats=(), cases=("b",))
PRINTED = replace(TEXTBOOK, parts=(Claim({"variant": "printed"}),), cases=())
ERRORS = (
    KeptError("stream", "2 ranks", 0.1),
    KeptError("pingpong", "8 B", -0.3),
    KeptError("pingpong", "1 KiB", 0.2),
)
KEPT = KeptPredictions("", ERRORS, (), ())


def answered(*given: Finding, asked: int) -> object:
    (answer,) = (one for one in arranged(given, asked) if one.severity is Prominence.ANSWER)
    return answer.parts[0].subject["variant"]


def test_the_answer_prefers_validated_findings() -> None:
    assert answered(FUSED, TEXTBOOK, asked=2) == "textbook"
    assert answered(FUSED, TEXTBOOK, asked=0) == "textbook"


def test_without_validated_findings_the_first_one_is_the_answer() -> None:
    assert answered(FUSED, replace(FUSED, parts=TEXTBOOK.parts), asked=2) == "fused"
    assert answered(FUSED, TEXTBOOK, asked=1) == "fused"  # the other is of another question


def test_published_values_alone_are_not_an_answer() -> None:
    assert answered(FUSED, PRINTED, asked=2) == "fused"


def test_two_findings_on_one_time_are_one_key_figure() -> None:
    time_s = Estimate(0.382, None, None, 1, "none")
    one, same, other = (
        replace(TEXTBOOK, topic=topic, parts=(Claim(estimate=estimate),))
        for topic, estimate in (("mapping", time_s), ("heat", time_s), ("fft", time_s.times(2)))
    )
    keys = [
        found.topic
        for found in arranged([TEXTBOOK, one, same, other], 1)
        if found.severity is Prominence.KEY_FIGURE
    ]

    assert keys == ["mapping", "fft"]


def ids(*found: Finding) -> list[str]:
    return sorted(one.id for one in arranged(found))


def test_ids_are_made_of_topic_kind_and_settings() -> None:
    small, large = (replace(FUSED, kind="speedup", common={"n": n}) for n in (512, 1024))
    renamed = replace(small, question="Another title (N = 512)")

    assert ids(small) == ids(renamed) == ["walltime.speedup"]
    assert ids(large, small) == ["walltime.speedup.n_1024", "walltime.speedup.n_512"]
    assert ids(small, replace(FUSED, kind="layouts")) == ["walltime.layouts", "walltime.speedup"]


def test_the_id_of_a_comparison_has_its_subject_but_no_path() -> None:
    exchange = replace(FUSED, shape=FindingShape.COMPARISON, kind="variant")
    folders = replace(exchange, kind="comparison", parts=(Claim({"folder": "/tmp/after"}),))

    assert ids(exchange, folders) == ["walltime.comparison", "walltime.variant.fused"]
    warned = [warning(Caveat.IMPORTED, common={"folder": name}) for name in ("/tmp/a", "/tmp/b")]
    assert ids(*warned) == ["quality.imported.1", "quality.imported.2"]


def test_equal_findings_are_numbered() -> None:
    assert ids(replace(FUSED, kind="a"), replace(FUSED, kind="a")) == [
        "walltime.a.1",
        "walltime.a.2",
    ]


def test_settings_that_differ_only_in_signs_do_not_make_equal_ids() -> None:
    plus, minus = (replace(FUSED, kind="a", common={"flag": flag}) for flag in ("+O", "-O"))

    assert len({*ids(plus, minus)}) == 2


def test_every_finding_of_a_topic_has_a_kind() -> None:
    assert all(one.kind for one in every(quick(3)))


def answer_of(answer: str, question: str = "scaling") -> str:
    """The topic of the answer to a study of solves, messages, and triads."""
    made = every(quick(2), question=question, answer=answer)
    return next(one.topic for one in made if one.severity is Prominence.ANSWER)


def test_a_study_names_the_findings_of_its_answer() -> None:
    assert answer_of("") == "scaling"
    assert answer_of("pingpong") == "pingpong"
    assert answer_of("memory_bandwidth") == "memory"


def test_without_the_named_findings_those_of_the_first_table_answer_it() -> None:
    assert answer_of("ring") == "scaling"
    assert answer_of("ring", question="exchange") == "exchange"


def test_finding_names_belong_to_topics() -> None:
    assert {topic.name for topic in TOPICS if topic.name} == {*kinds.FINDINGS}


def test_the_answer_is_the_error_of_all_predictions() -> None:
    made = every(quick(2), answer=predicted.NAME, predictions=KEPT)
    (answer,) = (one for one in made if one.severity is Prominence.ANSWER)

    assert [part.share for part in answer.parts] == [0.2, 0.3]
    assert answer.parts[0].subject == {"statistic": "median", "predictions": 3}
    assert "8 B" in str(answer.parts[1].subject["case"])


def test_each_kernel_has_its_own_error() -> None:
    own = found(predicted.predicted, quick(2), predictions=KEPT)
    assert [[part.share for part in one.parts] for one in own] == [[0.2, 0.3], [0.1], [0.25, 0.3]]
    kernels = [one.common.get("kernel") for one in own]
    assert kernels[0] is None
    assert {one.id for one in arranged(own)} == {
        "predicted.error",
        *(f"predicted.error.kernel_{kernel}" for kernel in kernels[1:]),
    }


def test_a_disturbed_calibration_and_missing_predictions_are_stated() -> None:
    kept = replace(KEPT, failures=("no",) * 4, disturbed=("Others computed.",))
    first, *_, last = found(predicted.predicted, quick(2), predictions=kept)

    assert first.caveats == (Caveat.DISTURBED_CALIBRATION,)
    assert first.parts[0].subject == {"disturbance": "Others computed"}
    assert last.parts[0].subject == {"unsimulated cases": 4}


def test_predictions_of_earlier_records_are_ignored() -> None:
    (one,) = found(predicted.predicted, quick(2), outdated=True)

    assert one.parts[0].share is None
    assert (one.parts[0].subject, one.caveats) == ({"outcome": "outdated"}, (Caveat.OUTDATED,))


def test_without_predictions_only_a_study_about_them_names_the_command() -> None:
    assert found(predicted.predicted, quick(2)) == []
    (asked,) = found(predicted.predicted, quick(2), answer=predicted.NAME)
    assert [part.share for part in asked.parts] == [None]
    assert asked.caveats == (Caveat.NOT_PREDICTED,)
