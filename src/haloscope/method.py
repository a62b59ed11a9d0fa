"""How it was measured, on what, and where it comes from: facts read off the records, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from haloscope.evidence import MeasuredCase
from haloscope.points import sweep
from haloscope.quantities import count, listed, number, percent, seconds, size
from haloscope.sequential import Warmup, warmup_if_any

if TYPE_CHECKING:
    from haloscope.dossier import Dossier
    from haloscope.records import Record

Facts = tuple[tuple[str, str], ...]
"""Pairs of a name and a text."""


def machine_facts(machine: Mapping[str, Any] | None) -> Facts:
    """The machine, as far as it is known."""
    if not machine:
        return ()
    caches = [
        f"L{c['level']} {size(c['size_bytes'])}"
        + (f" for {count(c['shared_by'], 'core')}" if (c.get("shared_by") or 1) > 1 else " a core")
        for c in machine.get("caches") or []
    ]
    cores = machine.get("cores")
    threads = machine.get("threads_per_core")
    busy = machine.get("busy_processors")
    found = (
        ("host", machine.get("host")),
        ("processor", machine.get("cpu")),
        ("sockets", machine.get("sockets")),
        ("cores", f"{cores} ({count(threads, 'thread')} a core)" if cores and threads else cores),
        ("caches", ", ".join(caches)),
        ("memory", size(machine["memory_bytes"]) if machine.get("memory_bytes") else None),
        ("frequency governor", machine.get("governor") or "not known"),
        ("operating system", machine.get("os")),
        ("processors kept busy by others", None if busy is None else f"{busy:.2f}"),
    )
    return tuple((name, str(value)) for name, value in found if value not in (None, ""))


def toolchain_facts(records: Iterable[Record]) -> Facts:
    """Every toolchain and transport the records name."""
    known: dict[str, str] = {}
    for record in records:
        own = record.toolchain
        name = str(own.get("name"))
        if record.transport:
            name += f", transport {record.transport}"
        parts = [
            str(own[key]).splitlines()[0] for key in ("mpi", "compiler", "flags") if own.get(key)
        ]
        if parts:
            known.setdefault(name, "; ".join(parts))
    return tuple(known.items())


def method(
    records: Sequence[Record], cases: Sequence[MeasuredCase], plan: Mapping[str, Any]
) -> tuple[str, ...]:
    """How times were taken and what was made of them."""
    good = [record for record in records if record.outcome == "ok"]
    return tuple(
        line
        for line in (
            "The time of a step is the maximum over processes. Every launch is a whole job; its "
            "time is the median of its steady repetitions. What tables show is the median over "
            "launches, where they name nothing else.",
            _timer(good),
            _counts(good, cases),
            _stopped(plan),
            _warmed_up(cases),
            _layout(good),
            "The answer of every timed configuration is checked, outside the timed part. A launch "
            "that failed, gave a wrong answer or ran on other cores than asked is left out, by "
            "name.",
            "Intervals are rank-based (median) or from the bootstrap (ratios), from 6 launches on; "
            "below that the smallest and largest launch are shown. Comparisons are two-sided "
            "Mann-Whitney tests over launches, with Holm's correction.",
        )
        if line
    )


def _stopped(plan: Mapping[str, Any]) -> str:
    """Why cases were launched as often as they were, where the study asked for a precision."""
    rule = plan.get("rule")
    if not rule:
        return ""
    why = Counter(case.get("stopped") or "not yet" for case in plan["cases"])
    words = {
        "narrow": "{} narrow enough",
        "count": f"{{}} at the cap of {count(rule['most'], 'launch', 'launches')}",
        "time": f"{{}} at the cap of {number(rule.get('most_s') or 0)} s",
        "not yet": "{} not done",
    }
    told = listed([words[key].format(count(why[key], "case")) for key in words if why[key]])
    return (
        f"Every case was launched until the intervals of its medians were within "
        f"± {percent(rule['half_width'])}, with all launches and without the last: {told}."
    )


def _warmed_up(cases: Sequence[MeasuredCase]) -> str:
    """The warm-up that the repetitions show; "" where there are too few to tell."""
    found = [one for case in cases if not case.simulated for one in _warmups(case)]
    if not found:
        return ""
    steady = [one for one in found if one.settled]
    warm = sorted(one.repetitions for one in steady if one.repetitions)
    out = f"; left out at their beginning: {_span(warm)}" if warm else ""
    rest = len(found) - len(steady)
    drifts = f" Drifting to the end, and counted whole: {rest}." if rest else ""
    return (
        f"Warm-up was found in {len(warm)} of {count(len(found), 'series', 'series')} of "
        f"repetitions, one for each size of a case{out}.{drifts}"
    )


def _warmups(case: MeasuredCase) -> list[Warmup]:
    """Of every size of a case, or of the case."""
    points = sweep(case)
    whole = warmup_if_any([record.times_s for record in case.launches])
    found = [point.warmup for point in points] if points else [whole]
    return [one for one in found if one is not None]


def _timer(records: Sequence[Record]) -> str:
    timers = [record.timer for record in records if record.timer]
    ways = sorted({record.synchronisation for record in records if record.synchronisation})
    if not timers:
        return ""
    worst = max(timers, key=lambda timer: timer.get("resolution_s") or 0)
    synchronised = f" Processes start after a {listed(ways)}." if ways else ""
    return (
        f"Clock: {worst.get('function')}, resolution {seconds(worst.get('resolution_s'))}, "
        f"cost of a call {seconds(worst.get('cost_s'))}.{synchronised}"
    )


def _counts(records: Sequence[Record], cases: Sequence[MeasuredCase]) -> str:
    launches = sorted({len(case.launches) for case in cases if case.launches})
    repetitions = sorted({len(record.times_s) for record in records})
    warmup = sorted({record.warmup for record in records if record.warmup is not None})
    if not launches:
        return ""
    return (
        f"Launches a case: {_span(launches)}, in random order. Repetitions a launch: "
        f"{_span(repetitions)}. Warm-up steps: {_span(warmup) or 'not known'}."
    )


def _layout(records: Sequence[Record]) -> str:
    asked = sorted({f"{r.layout.get('places')} {r.layout.get('bind')}" for r in records})
    return (
        f"Binding asked for: {listed(asked)}. Every process reports its host and the processors it "
        "may use, which are compared with what was asked."
        if asked
        else ""
    )


def _span(numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    low, high = numbers[0], numbers[-1]
    return str(low) if low == high else f"{low} to {high}"


def provenance(dossier: Dossier) -> Facts:
    """What it takes to make this report again."""
    records = dossier.records
    last = records[-1]
    git = last.git or {}
    state = " with changes" if git.get("dirty") else ""
    sources = sorted({str(r.toolchain["source"]) for r in records if r.toolchain.get("source")})
    found = (
        ("study", last.study),
        ("result folder", dossier.path.resolve().name),
        ("seed", last.seed),
        ("haloscope", last.haloscope),
        ("git commit", f"{git['commit']}{state}" if git.get("commit") else None),
        ("halobench sources", ", ".join(sources)),
        ("first launch", min((r.started for r in records if r.started), default=None)),
        ("last launch ended", max((r.ended for r in records if r.ended), default=None)),
        ("records", len(records)),
        ("one command", " ".join(last.command or [])),
        ("paper", f"{dossier.paper.title} ({dossier.paper.report})" if dossier.paper else None),
    )
    return tuple((name, str(value)) for name, value in found if value not in (None, ""))
