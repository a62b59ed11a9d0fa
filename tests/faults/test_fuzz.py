# SPDX-License-Identifier: BSD-3-Clause
"""The short form of the fuzzers: `python tests/faults/fuzz.py --tries 1000` is the long one."""

from __future__ import annotations

import pytest
from fuzz import TARGETS, fuzz

TRIES = 40


@pytest.mark.parametrize("name", TARGETS)
def test_malformed_input_is_refused_with_a_message(name: str) -> None:
    assert fuzz(name, TRIES, 1) >= TRIES // 2
