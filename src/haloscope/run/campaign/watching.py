# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a measurement from its records: rounds, intervals, time left, hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from haloscope.records.folder import ResultFolder
from haloscope.records.log import whole
from haloscope.run.time_left import TimeLeft
from haloscope.stats.estimates import Estimate, typical
from haloscope.study.case import Case
from haloscope.study.plan import SavedPlan

_Launches = Mapping[int, Mapping[str, Any]]
"""The last record of each launch of a case, by its number, with the values needed here."""


@dataclass(frozen=True)
class CaseProgress:
    """One case. name: for people; "" without a plan. planned: None without a plan.

    now: median over its launches. before: the same over the first half of them.
    """

    id: str
    name: str
    kernel: str
    done: int
    planned: int | None
    now: Estimate | None
    before: Estimate | None


@dataclass(frozen=True)
class HostPace:
    """A host. excess: median over launches of their time relative to their case's
    median, minus 1.
    """

    host: str
    launches: int
    excess: float


@dataclass(frozen=True)
class Watched:
    """The state of a result folder.

    planned: number of launches; None without a plan. rounds: finished and planned rounds, in each
    of which every case is launched once. left_s: None if unknown. last: end of the last launch,
    UTC.
    """

    name: str
    done: int
    planned: int | None
    rounds: tuple[int, int | None]
    left_s: float | None
    not_good: Mapping[str, int]
    cases: tuple[CaseProgress, ...]
    hosts: tuple[HostPace, ...]
    last: datetime | None

    @property
    def complete(self) -> bool:
        """Whether no launch is left."""
        return self.planned is not None and self.done >= self.planned


def watched(folder: ResultFolder) -> Watched:
    """Return the state of a folder. Raise UserError if its plan is unreadable."""
    plan = folder.load() if folder.plan.exists() else None
    launches: dict[str, dict[int, Mapping[str, Any]]] = {}
    for raw in whole(folder.records, tell=False):
        launches.setdefault(raw["case"], {})[raw["launch"]] = _needed(raw)
    cases = [case for case in plan.cases if not case.absent] if plan else []
    every = [record for own in launches.values() for record in own.values()]
    ends = [datetime.fromisoformat(one["ended"]) for one in every if one["ended"]]
    outcomes = [one["outcome"] for one in every if one["outcome"] not in ("ok", "absent")]
    counts = {case.id: len(_good(launches.get(case.id, {}))) for case in cases}
    most = max((case.launches for case in cases), default=None)
    unfinished = [counts[case.id] for case in cases if counts[case.id] < case.launches]
    return Watched(
        name=plan.name if plan else folder.path.resolve().name,
        done=sum(one["outcome"] == "ok" for one in every),
        planned=sum(case.launches for case in cases) if plan else None,
        rounds=(min(unfinished, default=most or 0), most),
        left_s=_left_s(plan, launches) if plan else None,
        not_good={name: outcomes.count(name) for name in dict.fromkeys(outcomes)},
        cases=tuple(_cases(cases, launches)),
        hosts=tuple(_hosts(launches.values())),
        last=max(ends, default=None),
    )


def _needed(raw: Mapping[str, Any]) -> dict[str, Any]:
    seen = {rank["host"] for rank in raw["layout"].get("seen") or ()}
    machine = (raw.get("machine") or {}).get("host")
    return {
        **{key: raw.get(key) for key in ("kernel", "outcome", "wall_s", "ended")},
        "time_s": median(raw["times_s"]) if raw["times_s"] else None,
        "hosts": sorted(seen or ({machine} if machine else set())),
    }


def _good(launches: _Launches) -> list[Mapping[str, Any]]:
    return [launches[number] for number in sorted(launches) if launches[number]["outcome"] == "ok"]


def _cases(planned: Sequence[Case], launches: Mapping[str, _Launches]) -> Iterator[CaseProgress]:
    known = {case.id: case for case in planned}
    for case_id in dict.fromkeys([*known, *launches]):
        own = launches.get(case_id, {})
        case = known.get(case_id)
        if case is None and planned:
            continue  # of an earlier plan, or imported
        times = [one["time_s"] for one in _good(own) if one["time_s"]]
        half = times[: len(times) // 2]
        yield CaseProgress(
            case_id,
            case.label if case else "",
            case.kernel if case else next(iter(own.values()))["kernel"],
            len(times),
            case.launches if case else None,
            typical(times) if times else None,
            typical(half) if half else None,
        )


def _left_s(plan: SavedPlan, launches: Mapping[str, _Launches]) -> float | None:
    walls = {
        case: [one["wall_s"] for one in _good(own) if one["wall_s"]]
        for case, own in launches.items()
    }
    left = [
        launch
        for launch in plan.launches()
        if not launch.case.absent
        and launches.get(launch.case.id, {}).get(launch.number, {}).get("outcome") != "ok"
    ]
    earlier = {case: own for case, own in walls.items() if own}
    most_s = plan.rule.most_s if plan.rule else None
    return TimeLeft(left, earlier, most_s).seconds() if left else 0.0


def _hosts(cases: Iterable[_Launches]) -> Iterator[HostPace]:
    """Yield every host by its excess time, the slowest first; none if there is only one."""
    excesses: dict[str, list[float]] = {}
    for own in cases:
        good = [one for one in _good(own) if one["time_s"]]
        if len(good) < 2:
            continue
        usual = median(one["time_s"] for one in good)
        for one in good:
            for host in one["hosts"]:
                excesses.setdefault(host, []).append(one["time_s"] / usual - 1)
    paces = [HostPace(host, len(own), median(own)) for host, own in excesses.items()]
    if len(paces) > 1:
        yield from sorted(paces, key=lambda pace: -pace.excess)
