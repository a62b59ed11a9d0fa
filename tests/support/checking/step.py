# SPDX-License-Identifier: BSD-3-Clause
"""One step of a check, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

LEVELS = ("fast", "usual", "all")
"""What runs with --fast, without an option, and with --all; each includes those before it."""
WELL, FAILED, SKIPPED = "ok", "FAILED", "skipped"


def never() -> str:
    """No reason to skip."""
    return ""


@dataclass(frozen=True)
class Step:
    """One thing that must be true. commands: run in order; the first that fails fails the step.

    after: steps that have ended before it begins, well or not: it uses what they build.
    level: the first of LEVELS that runs it.
    reached_from: folders and files a change of which affects it, for --since; empty: any.
    when_reached: --fast runs it only for such a change.
    remedy: the command that mends what it finds, where one does.
    tests: arguments of pytest, where it is that; --since takes those a change can reach.
    waits: it mostly waits: it runs beside all others, which let it through where they want a core.
    gives_way: it only computes: what launches ranks gets the cores before it, as ranks of which one
    is held back make the others turn in vain.
    alone: its ranks share cores and hand over to each other: beside another program it takes ten
    times as long, so only steps that wait run beside it.
    """

    name: str
    commands: Callable[[], Sequence[Sequence[str]]]
    skip: Callable[[], str] = never
    after: tuple[str, ...] = ()
    level: str = "fast"
    waits: bool = False
    gives_way: bool = False
    alone: bool = False
    reached_from: tuple[str, ...] = ()
    when_reached: bool = False
    tests: tuple[str, ...] = ()
    remedy: str = ""

    def is_reached(self, changed: Collection[str]) -> bool:
        """Whether a change of one of these files affects it."""
        return not self.reached_from or any(
            one == place or one.startswith(f"{place}/")
            for one in changed
            for place in self.reached_from
        )

    def fits(self, running: Collection[Step], cores: int) -> bool:
        """Whether it may begin beside those that run."""
        others = [one for one in running if not one.waits]
        if self.waits or not others:
            return True
        return len(others) < cores and not (self.alone or others[0].alone)

    @property
    def niceness(self) -> int:
        """How far it lets others through: 0 to 19."""
        return 0 if self.waits else 19 if self.gives_way else 5


@dataclass(frozen=True)
class Ended:
    """How a step ended, and why; what it skipped, tests by reason; tests that passed when repeated.

    seconds: from its begin to its end. processor: the time of its programs on all cores.
    """

    step: Step
    outcome: str
    why: str = ""
    seconds: float = 0
    processor: float = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    second_tries: tuple[str, ...] = ()
