# SPDX-License-Identifier: BSD-3-Clause
"""How many launches are enough: for an interval, and for a case with a precision to reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEWEST_FOR_INTERVAL = 6
"""With five, not even [minimum, maximum] covers the median with 95 % confidence."""


@dataclass(frozen=True)
class Rule:
    """When a setting has been launched often enough.

    half_width: the half width of the median's interval, as a share of the median, that will do.
    fewest, most: launches to make at least (7 or more), and at most (the cap on count).
    most_s: seconds to spend on the setting at most (the cap on time); None for no such cap.
    """

    half_width: float = 0.02
    fewest: int = 10
    most: int = 30
    most_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a rule that could never stop well."""
        if not 0 < self.half_width < 1:
            raise ValueError("the half width is a share of the median, between 0 and 1")
        if not FEWEST_FOR_INTERVAL < self.fewest <= self.most:
            raise ValueError(
                f"at least {FEWEST_FOR_INTERVAL + 1} launches, and no more at least than at most"
            )

    def cap(self, launches: int, spent_s: float) -> Literal["count", "time"] | None:
        """Which cap ends so many launches, at least one, that took so long: another would pass it.

        None where another may be made.
        """
        if launches >= self.most:
            return "count"
        if self.most_s is not None and spent_s + spent_s / launches > self.most_s:
            return "time"
        return None
