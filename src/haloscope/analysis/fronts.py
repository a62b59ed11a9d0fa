# SPDX-License-Identifier: BSD-3-Clause
"""Which of several choices no other one beats in both time and node-hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

One = TypeVar("One")


def front(
    choices: Sequence[One], time: Callable[[One], float], cost: Callable[[One], float]
) -> list[One]:
    """The Pareto front, from the fastest to the cheapest; of equal ones the first."""
    found: list[One] = []
    for one in sorted(choices, key=lambda choice: (time(choice), cost(choice))):
        if not found or cost(one) < cost(found[-1]):
            found.append(one)
    return found
