"""When a study that asks for a precision has launched a case often enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from haloscope.stats.sequential import Why, decide
from haloscope.stats.stopping_rule import Rule
from haloscope.study.case import Launch


class Stopping:
    """Follows the records of a campaign and says which cases need no more launches.

    A case is done when every one of its times (of each size, for a kernel that sweeps) is known as
    narrowly as the rule asks. Launches that did not end well tell nothing, but their time counts: a
    case that never ends is done at the cap on time, too.
    """

    def __init__(self, rule: Rule, records: Iterable[Mapping[str, Any]]) -> None:
        """`records`: those that are there already, of a campaign that goes on.

        Launches among them that did not end well are tried again, so their time counts no more.
        """
        self._rule = rule
        self._samples: dict[str, list[list[float]]] = {}
        self._spent_s: dict[str, float] = {}
        self._launches: dict[str, int] = {}
        self.done: dict[str, Why] = {}
        for record in records:
            if record["outcome"] == "ok":
                self.add(record)

    def add(self, record: Mapping[str, Any]) -> bool:
        """Whether the case of a record is done, once that is taken in."""
        case = str(record["case"])
        if case in self.done:
            return False
        self._launches[case] = max(self._launches.get(case, 0), record["launch"] + 1)
        spent_s = self._spent_s.get(case, 0.0) + float(record["wall_s"] or 0.0)
        self._spent_s[case] = spent_s
        if record["outcome"] != "ok":
            if self._rule.most_s is not None and spent_s >= self._rule.most_s:
                self.done[case] = "time"
            return case in self.done
        times = _times(record)
        if (known := self._samples.setdefault(case, [])) and len(times) != len(known[0]):
            return False  # of other points than the launches before: it tells nothing of these
        known.append(times)
        by_size = [list(sample) for sample in zip(*known, strict=True)]
        decision = decide(by_size, self._spent_s[case], self._rule)
        if decision.stop:
            self.done[case] = decision.why
        return decision.stop

    def launches(self, case: str) -> int:
        """Launches of a case so far, also those that did not end well."""
        return self._launches.get(case, 0)

    def needed(self, launches: Iterable[Launch]) -> Iterator[Launch]:
        """The launches in their order, but those after which their case was done.

        One before that did not end well, and is tried again.
        """
        return (
            launch
            for launch in launches
            if launch.case.id not in self.done or launch.number < self.launches(launch.case.id)
        )


def _times(record: Mapping[str, Any]) -> list[float]:
    """The median of each point's repetitions, or of the step's."""
    series = [point["times_s"] for point in record["points"]] or [record["times_s"]]
    return [median(times) for times in series if times]
