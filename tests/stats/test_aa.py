# SPDX-License-Identifier: BSD-3-Clause
"""A/A studies: the same thing twice is called different no more often than promised."""

from __future__ import annotations

from simulated_launches import Machine, Outcome, Study, run

from haloscope.stats.two_samples import compare, holm


def total(study: Study, machine: Machine, studies: int) -> Outcome:
    """Several studies, added up."""
    outcomes = [run(study, machine, seed) for seed in range(studies)]
    return Outcome(
        sum(one.comparisons for one in outcomes),
        sum(one.raw for one in outcomes),
        sum(one.called for one in outcomes),
    )


def test_identical_samples_are_rarely_called_different() -> None:
    """With drift, launches that follow one another alike, and slow ones, in random order."""
    found = total(Study(), Machine(), 2)
    assert found.comparisons == 400
    assert found.called <= 0.05 * found.comparisons
    assert found.raw <= 0.10 * found.comparisons


def test_identical_samples_on_a_noisy_machine_are_rarely_called_different() -> None:
    loud = Machine(drift=0.3, wander=0.2, memory=0.95, launch=0.1, slow_share=0.3, slow=2.0)
    found = total(Study(cases=10, points=20), loud, 1)
    assert found.comparisons == 200
    assert found.called <= 0.05 * found.comparisons


def test_a_real_difference_is_detected() -> None:
    found = total(Study(cases=4, effect=0.2), Machine(), 1)
    assert found.called > 0.8 * found.comparisons


def test_repetitions_treated_as_launches_would_give_false_positives() -> None:
    """Why the launch is the unit of replication."""
    found = total(Study(cases=1, points=8, repetitions=10, unit="repetition"), Machine(), 3)
    assert found.called > 0.2 * found.comparisons


def test_launches_in_blocks_would_turn_drift_into_a_difference() -> None:
    """Why launches run in random order."""
    drifting = Machine(drift=0.6)
    blocks = total(Study(cases=1, order="blocks"), drifting, 2)
    mixed = total(Study(cases=1), drifting, 2)
    assert blocks.called > 0.5 * blocks.comparisons
    assert mixed.called <= 0.05 * mixed.comparisons


def test_with_too_few_launches_no_difference_is_reported() -> None:
    """5 and 5 launches give p = 2/252 at best: too large for 200 comparisons, however different."""
    comparison = compare([1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.1, 2.2, 2.3, 2.4])
    assert comparison.p_value == comparison.attainable
    adjusted = holm([comparison.p_value] + [1.0] * 199)[0]
    assert adjusted is not None
    assert adjusted > 0.05
