# SPDX-License-Identifier: BSD-3-Clause
"""Measure or simulate candidates: all shapes, other mappings of the best, then the best in turn."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from haloscope.advice import candidates
from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import Advice, Goal, Option, advice, cheapest
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import open_folder
from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import count
from haloscope.run.campaign import campaign
from haloscope.run.campaign.request import Request, start
from haloscope.run.campaign.resuming import resume
from haloscope.run.jobs import following, submission
from haloscope.run.places import Place, places
from haloscope.run.places.batched import BatchPlace
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.progress import Teller
from haloscope.study.case import Value
from haloscope.study.plan import Via
from haloscope.study.values import LAUNCHES_LIMIT
from haloscope.toolchains.simgrid import Pairs

_REMAPPED = 2
_FINALISTS = 2
_MOST_ROUNDS = 5
"""_MOST_ROUNDS limits the launches per layout, as a multiple of the requested ones."""


@dataclass(frozen=True)
class Question:
    """The layouts to compare, and where.

    place: where layouts are compared. final: where the best are measured in turn, or None. until:
    when to stop starting launches, by time.monotonic(). minutes: time limit of a site's job.
    """

    kernel: str
    params: Mapping[str, Value]
    place: Place
    final: Place | None
    out: Path
    launches: int
    programs: tuple[Path, ...]
    until: float | None
    minutes: int | None

    @property
    def on(self) -> Place:
        """The requested place."""
        return self.final or self.place

    @property
    def sockets(self) -> int | None:
        """Sockets per node, if a cluster file describes them."""
        place = self.place
        return place.cluster.node.sockets if isinstance(place, SimulatedCluster) else None

    @property
    def over(self) -> bool:
        """Whether the time limit has passed."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def cluster(self) -> str | None:
        """Name of the simulated cluster; None for a measured machine."""
        return self.place.cluster.name if isinstance(self.place, SimulatedCluster) else None


@dataclass(frozen=True)
class ComparedLayouts:
    """The advice, the layouts of a site that were simulated before, and why others have no time."""

    advice: Advice
    simulated: Sequence[Option]
    failed: Sequence[str]


def asked(
    kernel: str,
    params: Mapping[str, Value],
    on: Place,
    *,
    out: Path,
    launches: int,
    programs: tuple[Path, ...],
    within_minutes: float | None,
) -> Question:
    """Return the question for a place. Raise UserError if a site's file names no cluster file."""
    place = _simulated(on) if isinstance(on, BatchPlace) else on
    by_jobs = on.jobs_at is not None
    over = None if within_minutes is None or by_jobs else time.monotonic() + 60 * within_minutes
    return Question(
        kernel,
        params,
        place,
        None if place is on and on.facts.simulated else on,
        out,
        launches,
        programs,
        over,
        None if within_minutes is None else math.ceil(within_minutes),
    )


def compare(
    question: Question, tasks: int, most_nodes: int | None, goal: Goal, tell: Teller
) -> ComparedLayouts:
    """Compare all layouts of `tasks` tasks. Raise UserError if the default has no time."""
    at_site = isinstance(question.on, BatchPlace)
    bench, _ = question.on.preview({"--on": None})
    site = question.on.site(bench, oversubscribe=False)
    tried = candidates.shapes(tasks, site, most_nodes)
    usual = candidates.default(tasks, site)
    if tried == [usual] and usual.nodes == 1 and not at_site:  # nothing to compare
        question = replace(question, launches=1)
    found, failed = _compared(question, "layouts", tried, tell)
    if usual not in found:
        raise UserError(_nothing_to_compare_with(question, "layouts"))
    if not all(option.seconds for option, _ in found.values()):
        what, remedy = (
            "a step takes no time, so layouts cannot be compared",
            "choose another kernel",
        )
        raise UserError(Problem(f"advise {question.kernel}", what, remedy))
    best = [one.candidate for one in cheapest([one for one, _ in found.values()], goal, _REMAPPED)]
    apart = [one for one in best if one.nodes > 1]
    sent = _sent(question, found[apart[0]][1], tell) if apart else ()
    more = [
        other
        for one in apart
        for other in (
            *candidates.remapped(one, candidates.grid_of(found[one][1].settings.get("topology"))),
            *_made_for(sent, one, question),
        )
    ]
    if more:
        remapped, further = _compared(question, "mappings", [*dict.fromkeys(more)], tell)
        found, failed = found | remapped, [*failed, *further]
    simulated = sorted(_loaded(found, sent, question), key=lambda one: one.seconds)
    if question.final is not None:
        measured, further = _in_turn(question, found, usual, goal, tell)
        failed = [*failed, *further]
        found = measured if at_site else found | measured
    result = advice(_loaded(found, sent, question), usual, goal)
    return ComparedLayouts(result, simulated if at_site else [], failed)


def _sent(question: Question, case: MeasuredCase, tell: Teller) -> Pairs:
    """Return the traffic between ranks of a layout that was simulated here; otherwise ()."""
    if question.cluster is None or question.over:
        return ()
    folder = question.out / "layouts"
    campaign = resume(folder, None, None, tell, programs=question.programs)
    sent = campaign.sent(next(one for one in campaign.plan.cases if one.id == case.id))
    if sent is None:
        why = "the bytes between ranks, which they require, could not be counted"
        tell.warn(f"graph mappings are not compared: {why}")
    return sent or ()


def _made_for(sent: Pairs, one: Candidate, question: Question) -> Iterator[Candidate]:
    """Yield mappings optimised for the traffic, if they reduce the load of a link or of the
    network.
    """
    if not sent or not isinstance(question.place, SimulatedCluster):
        return
    # imported only with traffic, because it loads graph libraries
    from haloscope.advice import counted_bytes

    cluster = question.place.cluster
    traffic = counted_bytes.of_pairs(sent, one.ranks)
    usual = counted_bytes.load(traffic, one.nodes_of_ranks, cluster)
    for name, nodes in counted_bytes.made_for(traffic, one.nodes, cluster).items():
        load = counted_bytes.load(traffic, nodes, cluster)
        if load.busiest_link < usual.busiest_link or load.byte_hops < usual.byte_hops:
            yield candidates.listed(one, name, nodes)


def _loaded(found: Timed, sent: Pairs, question: Question) -> list[Option]:
    """Return the options with their network loads."""
    options = [option for option, _ in found.values()]
    if not sent or not isinstance(question.place, SimulatedCluster):
        return options
    from haloscope.advice import counted_bytes

    cluster = question.place.cluster
    traffic = counted_bytes.of_pairs(sent, options[0].candidate.ranks)
    return [
        replace(one, load=counted_bytes.load(traffic, one.candidate.nodes_of_ranks, cluster))
        for one in options
    ]


def _simulated(site: BatchPlace) -> Place:
    """Return the simulated cluster of a site's nodes. Raise UserError if its file names none."""
    if site.described.cluster is None:
        what = "the site file does not name a cluster file, which is needed to simulate candidates"
        remedy = 'add cluster = "NAME" to the site file (see haloscope cluster list)'
        raise UserError(Problem(f"--on {site.name}", what, remedy))
    return places.place(site.described.cluster)


def _in_turn(
    question: Question, found: Timed, usual: Candidate, goal: Goal, tell: Teller
) -> tuple[Timed, list[str]]:
    """Measure the best layouts and the default in turn until their intervals separate.

    On a site this is one job. Raise UserError if the default has no time there.
    """
    assert question.final is not None
    best = cheapest(_unlike([option for option, _ in found.values()]), goal, _FINALISTS)
    tried = [*dict.fromkeys([*(one.candidate for one in best), usual])]
    here = question.final.jobs_at is None
    if here and (len(tried) == 1 or question.over):
        return {}, []
    final = replace(question, place=question.final)
    measured, failed = _compared(final, "finals", tried, tell, until_parted=True)
    if not here and usual not in measured:
        raise UserError(_nothing_to_compare_with(question, "finals"))
    return measured, failed


def _unlike(options: Sequence[Option]) -> list[Option]:
    """Return the first option of each group with equal node sets and equal simulated times."""
    found: dict[object, Option] = {}
    for one in options:
        numbers: dict[int, int] = {}  # of nodes, in the order in which ranks refer to them
        where = one.candidate.nodes_of_ranks
        together = tuple(numbers.setdefault(node, len(numbers)) for node in where)
        shape = one.candidate.nodes, one.candidate.threads, one.candidate.bind
        found.setdefault((shape, together, one.seconds), one)
    return [*found.values()]


def _nothing_to_compare_with(question: Question, name: str) -> Problem:
    what = "the default layout, the baseline, was not timed"
    if question.over:
        what = "the time limit was reached before the default layout, the baseline, was timed"
        remedy = "allow more time with --within"
        return Problem(f"advise {question.kernel}", what, remedy)
    remedy = f"see the reason: haloscope show {in_a_shell(question.out / name)}"
    return Problem(f"advise {question.kernel}", what, remedy)


Timed = dict[Candidate, tuple[Option, MeasuredCase]]


def _compared(
    question: Question,
    name: str,
    tried: Sequence[Candidate],
    tell: Teller,
    *,
    until_parted: bool = False,
) -> tuple[Timed, list[str]]:
    """Return each candidate with its time and case, and the reasons why others have none.

    until_parted: add launches, up to _MOST_ROUNDS times as many, until intervals separate.
    """
    question.out.mkdir(parents=True, exist_ok=True)
    title = f"Advice: {name} of {question.kernel}, {count(tried[0].ranks, 'task')}"
    by_jobs = question.place.jobs_at is not None
    timeout_s = None
    if by_jobs and question.minutes:
        timeout_s = 60 * question.minutes // (1 + len(tried) if until_parted else 1)
    rounds = _MOST_ROUNDS if until_parted else 1
    launches = min(LAUNCHES_LIMIT, rounds * question.launches)
    asked = (question.kernel, question.params, tried, launches)
    text = candidates.study(title, *asked, timeout_s)
    file = question.out / f"{name}.toml"
    write_whole(file, text)
    folder = question.out / name
    place = question.place
    by = place.via if isinstance(place, SimulatedCluster) else None
    request = Request(
        str(file),
        out=folder,
        on=place.name,
        via=Via(by.name, 1) if by else None,
        programs=question.programs,
        together=True,
        parting=question.launches if until_parted else None,
    )
    try:
        started = start(request, tell)
        started = started if by_jobs else started.probed()
    except UserError as error:
        raise UserError(_of_no_run(question, error.problems, f"{file}: ")) from error
    if not by_jobs:
        campaign.measure(started, tell, question.until)
    else:
        jobs = submission.of(started, question.minutes)
        submission.begin(started, os.environ, tell)
        following.follow(jobs, tell, again=not until_parted)
    return _read(folder, tried)


def _read(folder: Path, tried: Sequence[Candidate]) -> tuple[Timed, list[str]]:
    """Read each candidate's time and case from a folder, and the reasons why others have none."""
    none = not (folder / "records.jsonl").exists()  # the time limit passed before the first launch
    cases = () if none else open_folder(folder).cases
    found, failed = {}, []
    for one in tried:
        case = next((case for case in cases if one.keys().items() <= case.settings.items()), None)
        if case is not None and case.time is not None:
            rounds_s = {} if case.subject else case.times_by_round
            found[one] = (Option(one, case.time, case.subject, rounds_s=rounds_s), case)
        else:
            failed.append(f"{one}: {_why(case)}")
    return found, failed


def _of_no_run(question: Question, problems: Sequence[Problem], file: str) -> list[Problem]:
    """Return the problems of a generated study, each once and without its place in the file."""
    usual = f"advise {question.kernel}"
    named = [
        replace(one, where=re.sub(r"^runs#\d+[.:]? *", "", one.where.removeprefix(file)) or usual)
        for one in problems
    ]
    return [*dict.fromkeys(named)]


def _why(case: MeasuredCase | None) -> str:
    if case is None:
        return "does not fit, or the kernel does not allow it"
    reasons = [record.reason for record in case.excluded if record.reason]
    return reasons[-1] if reasons else "not run"
