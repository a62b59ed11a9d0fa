# SPDX-License-Identifier: BSD-3-Clause
"""The number of launches needed for an interval, or for a required precision of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEWEST_FOR_INTERVAL = 6
"""With five, even [minimum, maximum] does not cover the median with 95 % confidence."""


@dataclass(frozen=True)
class Rule:
    """The stopping rule of a setting.

    half_width: required half width of the median's interval, relative to the median. fewest, most:
    minimum (at least 7) and maximum number of launches. most_s: maximum time in seconds; None: no
    limit.
    """

    half_width: float = 0.02
    fewest: int = 10
    most: int = 30
    most_s: float | None = None

    def __post_init__(self) -> None:
        """Reject a rule that could never stop properly."""
        if not 0 < self.half_width < 1:
            raise ValueError("the half width is a share of the median, between 0 and 1")
        if not FEWEST_FOR_INTERVAL < self.fewest <= self.most:
            raise ValueError(
                f"at least {FEWEST_FOR_INTERVAL + 1} launches, and no more at least than at most"
            )

    def cap(self, launches: int, spent_s: float) -> Literal["count", "time"] | None:
        """Return the limit that ends a series of at least one launch with this
        duration, or None.
        """
        if launches >= self.most:
            return "count"
        if self.most_s is not None and spent_s + spent_s / launches > self.most_s:
            return "time"
        return None
