# SPDX-License-Identifier: BSD-3-Clause
"""The method of a report: measurement, machine, and provenance, from records, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import Dossier
from haloscope.analysis.sweeps import sweep
from haloscope.findings.sentences import sentence
from haloscope.layout import Layout
from haloscope.quantities import count, listed, number, percent, seconds, size
from haloscope.records.record import Record
from haloscope.stats.sequential import Warmup, warmup_if_any
from haloscope.toolchains.launching.tuning import in_words
from haloscope.topics.quality import validity

Facts = tuple[tuple[str, str], ...]


def machine_facts(machine: Mapping[str, Any] | None) -> Facts:
    """Return the known facts about the machine."""
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
    simulated = "source" in machine  # of a cluster file
    found = (
        ("simulated cluster" if simulated else "host", machine.get("host")),
        ("source of the description", machine.get("source")),
        ("processor", machine.get("cpu")),
        ("sockets", machine.get("sockets")),
        ("cores", f"{cores} ({count(threads, 'thread')} per core)" if cores and threads else cores),
        ("caches", ", ".join(caches)),
        ("memory", size(machine["memory_bytes"]) if machine.get("memory_bytes") else None),
        ("frequency governor", None if simulated else machine.get("governor") or "not known"),
        ("operating system", machine.get("os")),
        ("processors busy with other programs", None if busy is None else f"{busy:.2f}"),
    )
    return tuple((name, str(value)) for name, value in found if value not in (None, ""))


def toolchain_facts(records: Iterable[Record]) -> Facts:
    """Return every toolchain of the records, once, with the requested transports."""
    known: dict[tuple[str, str], dict[str, None]] = {}
    # one of the records that share these objects is enough
    objects = {(id(one.toolchain), id(one.tuning), one.transport): one for one in records}
    for record in objects.values():
        own = record.toolchain
        parts = [
            str(own[key]).splitlines()[0] for key in ("mpi", "compiler", "flags") if own.get(key)
        ]
        parts += [f"started by {own['launcher']}"] if parts and own.get("launcher") else []
        if parts and record.tuning and record.tuning["given"]:
            parts.append(in_words(record.tuning))
        if parts:
            asked = known.setdefault((str(own.get("name")), "; ".join(parts)), {})
            asked.update({record.transport: None} if record.transport else {})
    return tuple(
        (f"{name}, transport{'s' if len(asked) > 1 else ''} {listed(sorted(asked))}", text)
        if asked
        else (name, text)
        for (name, text), asked in known.items()
    )


def method(
    records: Sequence[Record], cases: Sequence[MeasuredCase], plan: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return how times were measured or simulated, and how they were analysed."""
    good = [record for record in records if record.outcome == "ok"]
    if good and all(_simulation(record) for record in good):
        return tuple(line for line in simulated(good, cases) if line)
    return tuple(
        line
        for line in (
            "The time of a step is the maximum over processes. Each launch is a separate "
            "mpirun. The time of a launch is the median of its steady repetitions. Unless stated "
            "otherwise, tables show the median over launches.",
            _timer(good),
            _counts(good, cases),
            _stopped(plan),
            _warmed_up(cases),
            _layout(good),
            "The result of every timed configuration is verified outside the timed section. "
            "Launches are excluded and listed by name if they failed, computed a wrong result, or "
            "did not run with the requested ranks and cores.",
            _programs(good),
            "With 6 or more launches, medians have rank-based confidence intervals, and ratios "
            "have bootstrap intervals. With fewer launches, the range over launches is shown. "
            "Comparisons use two-sided Mann-Whitney tests over launches, with Holm's correction "
            "for several comparisons.",
            "The launches ran in allocations of a batch system. With several allocations, "
            "intervals and comparisons use Student's t over allocations. Settings that were "
            "measured in different allocations are compared by the Mann-Whitney test."
            if any(case.allocations for case in cases)
            else "",
        )
        if line
    )


def _simulation(record: Record) -> Mapping[str, Any]:
    return record.simulation or {}


def simulated(records: Sequence[Record], cases: Sequence[MeasuredCase]) -> Iterator[str]:
    """Yield how simulated times were computed."""
    clusters = listed(sorted({str(_simulation(record)["cluster"]) for record in records}))
    yield (
        f"No program ran on {clusters}. Instead, halobench ran under SimGrid's SMPI, which "
        "simulated the machine described by the cluster file. To list the numbers in the cluster "
        f"file and their sources, run haloscope cluster show {clusters}. Message times are "
        "computed from the simulated network, and computation times from the node model. The time "
        "of a step is the maximum over processes. Within a node, messages and computation share "
        "the memory bandwidth."
    )
    yield _cut_short(records)
    checked = sum(bool(_simulation(record)["verified"]) for record in records)
    yield (
        f"Numerical results were computed and verified in {checked} of "
        f"{count(len(records), 'case')}."
        f"{' The other cases simulate time only.' if checked < len(records) else ''}"
        if checked
        else "All cases simulate time only. Numerical results were not computed."
    )
    yield _replicates(cases)
    yield _others(records)
    yield from map(sentence, validity(cases))
    asked = _bindings(records)
    several = "these placements" if len(asked) > 1 else "this placement"
    yield f"The node model assumes {several} of ranks and threads: {listed(asked)}."
    yield _messages(records)


def _replicates(cases: Sequence[MeasuredCase]) -> str:
    if not any(case.replicated for case in cases):
        return (
            "Each case was launched once. Simulated times are deterministic, so neither confidence "
            "intervals nor tests are needed."
        )
    return (
        "Launches are simulated replicates. For each launch, node speeds (node.spread in the "
        "cluster file) and jobs on other nodes (others) are drawn at random, with a seed derived "
        "from the case and the launch. Medians, intervals, and tests describe the variation "
        "between the nodes that a job may get, not the simulation error."
    )


def _others(records: Sequence[Record]) -> str:
    drawn = [one for record in records if (one := _simulation(record).get("others"))]
    found = sorted({(one["occupancy"], one["traffic"]) for one in drawn})
    return " ".join(
        "The simulated cluster also runs other jobs (others in the cluster file, assumed). On "
        f"average, {percent(occupancy)} of its nodes are in use, and these send at "
        f"{percent(traffic)} of their maximum rate. Jobs and nodes are drawn at random."
        for occupancy, traffic in found
    )


def _cut_short(records: Sequence[Record]) -> str:
    short = [one for record in records if (one := _simulation(record)).get("of_iterations")]
    if not short:
        return ""
    steps = listed(sorted({str(one["iterations"]) for one in short}))
    known = sorted({(one["of_iterations"], str(one["iterations_from"])) for one in short})
    whole = "; ".join(f"{number_of} ({source})" for number_of, source in known)
    return (
        f"{count(len(short), 'solve')}: {steps} iterations were simulated. The remaining "
        "iterations are assumed to take as long as the last simulated ones. The total number of "
        f"iterations is known: {whole}."
    )


def _messages(records: Sequence[Record]) -> str:
    """Return the simulation rate: messages counted by kernels, without those inside collectives."""
    sent = wall_s = 0.0
    for record in records:
        messages, one = (record.work or {}).get("messages"), _simulation(record)
        if messages and record.wall_s:
            sent += messages * (one.get("iterations") or 1) / (one.get("of_iterations") or 1)
            wall_s += record.wall_s
    if not sent:
        return ""
    return (
        f"Simulating {sent:,.0f} point-to-point messages took {seconds(wall_s)} "
        f"({number(sent / wall_s)} per second). Messages inside collective operations are not "
        "counted."
    )


def _stopped(plan: Mapping[str, Any]) -> str:
    rule = plan.get("rule")
    asked = [case for case in plan.get("cases", ()) if not case.get("absent")]
    why = Counter(case.get("stopped") or "not yet" for case in asked)
    if plan.get("parting"):
        end = "no two of their intervals overlapped"
        if not why["parted"]:
            end = "the limit of launches or time was reached, with some intervals still overlapping"
        return f"Cases were launched in turn until {end}."
    if not rule:
        return ""
    words = {
        "narrow": "{} narrow enough",
        "count": f"{{}} at the limit of {count(rule['most'], 'launch', 'launches')}",
        "time": f"{{}} at the limit of {rule.get('most_s') or 0:g} s",
        "not yet": "{} unfinished",
    }
    reasons = listed([words[key].format(count(why[key], "case")) for key in words if why[key]])
    return (
        "Cases were launched until the intervals of their medians were within "
        f"± {percent(rule['half_width'])}, both with and without the last launch, or until a "
        f"limit was reached: {reasons}."
    )


def _warmed_up(cases: Sequence[MeasuredCase]) -> str:
    """Return the detected warm-up; "" with too few repetitions."""
    found = [one for case in cases if not case.simulated for one in _warmups(case)]
    if not found:
        return ""
    steady = [one for one in found if one.settled]
    warm = sorted(one.repetitions for one in steady if one.repetitions)
    out = f" The first {_span(warm)} repetitions of these were excluded." if warm else ""
    rest = len(found) - len(steady)
    drifts = (
        f" Times of {count(rest, 'series', 'series')} drift until their end; all were included."
        if rest
        else ""
    )
    return (
        f"Warm-up was detected in {len(warm)} of {count(len(found), 'series', 'series')} of "
        f"repetitions (one per case and size).{out}{drifts}"
    )


def _warmups(case: MeasuredCase) -> list[Warmup]:
    points = sweep(case)
    whole = warmup_if_any([record.times_s for record in case.launches])
    found = [point.warmup for point in points] if points else [whole]
    return [one for one in found if one is not None]


_STARTS = {"barrier": "after a barrier", "round_time": "together by round time"}


def _timer(records: Sequence[Record]) -> str:
    timers = [record.timer for record in records if record.timer]
    ways = sorted({record.synchronisation for record in records if record.synchronisation})
    if not timers:
        return ""
    worst = max(timers, key=lambda timer: timer.get("resolution_s") or 0)
    starts = [_STARTS.get(way, f"by {way}") for way in ways]
    synchronised = f" In each repetition, the processes start {listed(starts)}." if ways else ""
    return (
        f"Times were measured with {worst.get('function')}, which has a resolution of "
        f"{seconds(worst.get('resolution_s'))} and takes {seconds(worst.get('cost_s'))} per call."
        f"{synchronised}"
    )


def _counts(records: Sequence[Record], cases: Sequence[MeasuredCase]) -> str:
    launches = sorted({len(case.launches) for case in cases if case.launches})
    repetitions = sorted({len(record.times_s) for record in records})
    warmup = sorted({record.warmup for record in records if record.warmup is not None})
    if not launches:
        return ""
    return (
        f"Each case has {_number_of(launches, 'launch', 'launches')}, in random order. Each launch "
        f"has {_number_of(repetitions, 'timed repetition', 'timed repetitions')}, after "
        f"{_number_of(warmup, 'warm-up step', 'warm-up steps')}."
    )


def _number_of(numbers: Sequence[int], one: str, several: str) -> str:
    """Return for example "1 to 4 launches"."""
    return f"{_span(numbers) or 'an unknown number of'} {one if [*numbers] == [1] else several}"


def _layout(records: Sequence[Record]) -> str:
    asked = _bindings(records)
    return (
        f"The requested binding is {listed(asked)}. Each process reports its host and the "
        "processors on which it may run, and haloscope compares these with the request."
        if asked
        else ""
    )


def _bindings(records: Sequence[Record]) -> list[str]:
    """Return each requested binding: "places=cores bind=spread thread_bind=close"."""
    found = set()
    for layout in (record.layout for record in records):
        threads = Layout.recorded(layout).threads_bound
        apart = f" thread_bind={threads}" if threads not in (None, layout.get("bind")) else ""
        found.add(f"places={layout.get('places')} bind={layout.get('bind')}{apart}")
    return sorted(found)


def _programs(records: Sequence[Record]) -> str:
    names = sorted({record.kernel for record in records if record.program})
    if not names:
        return ""
    return (
        f"External programs ({listed(names)}) measure and print their own times. Their results "
        "are verified as specified in program.toml. The host and processors of each process were "
        "recorded when it started. The placement of its threads is unknown."
    )


def _program_builds(records: Sequence[Record]) -> str:
    builds = {
        f"{record.kernel}{', ' if program['version'] else ''}{program['version'] or ''} "
        f"(program.toml {program['hash']})"
        for record in records
        if (program := record.program)
    }
    return listed(sorted(builds)) if builds else ""


def _span(numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    low, high = numbers[0], numbers[-1]
    return str(low) if low == high else f"{low} to {high}"


def provenance(dossier: Dossier) -> Facts:
    """Return what is needed to reproduce this report."""
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
        ("external programs", _program_builds(records)),
        ("first launch", min((r.started for r in records if r.started), default=None)),
        ("last launch ended", max((r.ended for r in records if r.ended), default=None)),
        ("records", len(records)),
        ("one command", " ".join(last.command or [])),
        ("paper", f"{dossier.paper.title} ({dossier.paper.report})" if dossier.paper else None),
    )
    return tuple((name, str(value)) for name, value in found if value not in (None, ""))
