# SPDX-License-Identifier: BSD-3-Clause
"""The registry of kinds: every name once, every topic known."""

from __future__ import annotations

from haloscope.study import kinds


def test_every_kind_exists_once_and_is_a_table_or_a_figure() -> None:
    names = [kind.name for kind in kinds.KINDS]

    assert len(set(names)) == len(names)
    assert all(kind.table or kind.figure for kind in kinds.KINDS)


def test_every_topic_has_a_title_and_a_kind() -> None:
    assert {kind.topic for kind in kinds.KINDS} == set(kinds.TOPICS)


def test_the_kinds_of_a_topic_are_those_declared_for_it() -> None:
    assert kinds.of_topic("jacobi") == ("jacobi", "roofline")
    assert "roofline" in kinds.figures() and "roofline" not in kinds.tables()
