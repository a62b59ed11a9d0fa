# SPDX-License-Identifier: BSD-3-Clause
"""How good advice is on a lab: real TCP over shaped links, against measuring every layout.

Called by bench/advice.py lab, as root. A user's way comes first: a site file that names a cluster
file of a node and the links, and `haloscope advise --on lab`. Then every layout is measured.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import on_lab
from rich.console import Console
from turns import commit, ratios

from haloscope import cli
from haloscope.advice import candidates
from haloscope.advice.candidates import Candidate
from haloscope.analysis.dossier import open_folder
from haloscope.lab import rate_of
from haloscope.layout import shares
from haloscope.run.campaign.request import Request, start
from haloscope.run.jobs import following, submission
from haloscope.run.progress import Teller
from haloscope.stats.estimates import typical
from haloscope.study.case import Value

SHORT: dict[str, Value] = {"sweeps": 8, "repetitions": 1, "warmup": 0}
KERNELS: dict[str, list[dict[str, Value]]] = {
    "poisson_cg": [{"n": 1024, "decomposition": d, "iterations": 20} for d in ("rows", "blocks")],
    "jacobi3d": [{"size": f"{n}x{n}x{n}", **SHORT} for n in (64, 80)],
    "fft_pencil": [
        {"size": f"{n}x{n}x{n}", "topology": "even", "repetitions": 1, "warmup": 0, "steps": 1}
        for n in (32, 48)
    ],
    "fe_heat": [{"size": f"{n}x{n}x{n}", "iterations": 20} for n in (48, 64)],
}
"""KERNELS have sizes whose messages take some 0.1 s on slow links: ranks wait for one of this
machine's cores as long as a time slice."""
LONG_LABS = ((2, "20mbit"), (3, "20mbit"), (2, "50mbit"))
GRIDS = {4: ("2x2x1", "2x1x2", "1x2x2"), 6: ("3x2x1", "2x3x1", "1x3x2")}
"""GRIDS are those of a long mesh's ranks, by the number of ranks. Which of them should share a node
depends on the mesh, because faces across one direction have up to eight times as many points."""
CORES = 2
"""CORES are those of a node of the lab; all nodes share this machine's."""
LABS = ((2, "10mbit"), (2, "20mbit"), (4, "20mbit"), (4, "50mbit"))
"""LABS are nodes and the rate of each link."""
TASKS = (2, 4, 6)
LAYOUTS_LIMIT = 20
"""LAYOUTS_LIMIT is the most layouts of a case: with six tasks on four nodes there are 45 more."""
AT_ONCE = 5
"""AT_ONCE is how many cases are searched in one job."""
SEARCH, CHECK = 3, 6
"""SEARCH and CHECK are rounds: of all layouts, and of the best, the advised, and the default."""
INTERRUPTED = 130
"""INTERRUPTED is the exit code of a command that a signal ended."""
LAUNCHES = 3
"""LAUNCHES of each layout between two comparisons of intervals, for advice."""
HEADERS = 0.94
"""HEADERS is the share of a link's rate that TCP passes on as data."""
NETWORK = """
[network]
name = "shaped links"
topology = "flat"
source = "haloscope lab up --rate"
link_bandwidth_bytes_per_s = {{ value = {bandwidth:.6g}, source = "the rate, less headers of TCP" }}
link_latency_s = {{ value = 15e-6, source = "assumed: half of 30 us between namespaces" }}
"""


@dataclass(frozen=True)
class Result:
    """Of a case: the advised and the best layout, and ratios of paired rounds with intervals.

    regret: the advised layout's time over the best one's; over_default: the same over that of the
    default. Each has the median over rounds, its lower and its upper end; 1 of the same layout.
    rounds_s: the times of the advised, the best, and the default layout in these rounds, where they
    are not the same layout.
    """

    what: str
    lab: str
    verdict: str
    advised: Mapping[str, Value]
    best: Mapping[str, Value]
    regret: Sequence[float]
    over_default: Sequence[float]
    gain: Sequence[float]
    tried: int
    load: float
    commit: str
    rounds_s: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def counted(self) -> float:
        """The regret less 1; 0 if its interval has 1, because no difference was seen."""
        value, low, high = self.regret
        return 0.0 if low <= 1 <= high else value - 1


Asked = tuple[str, Mapping[str, Value], int]
"""A kernel, its parameters, and its tasks."""


class NotMeasuredError(Exception):
    """A layout of a case has no time."""


def grouping(one: Candidate) -> tuple[Any, ...]:
    """What tells layouts of equal nodes apart: nodes of equal size have no names."""
    nodes = one.nodes_of_ranks
    together: dict[int, list[int]] = {}
    for rank, node in enumerate(nodes):
        together.setdefault(node, []).append(rank)
    return one.nodes, one.threads, tuple(sorted(map(tuple, together.values())))


def every_layout(tasks: int, nodes_there: int) -> list[Candidate]:
    """Every number of nodes, of threads that fit, and every way to put ranks on equal nodes."""
    found: dict[tuple[Any, ...], Candidate] = {}
    for nodes in range(-(-tasks // CORES), min(nodes_there, tasks) + 1):
        sizes = shares(tasks, nodes)
        for threads in range(1, CORES // sizes[0] + 1):
            bind = "spread" if sizes[0] * threads < CORES else "close"
            usual = Candidate.of(tasks, nodes, threads=threads, bind=bind)
            for placed in _placements(sizes):
                for mapping in ("block", "round_robin", ",".join(map(str, placed))):
                    one = replace(usual, mapping=mapping)
                    if one.nodes_of_ranks == placed:
                        found.setdefault(grouping(one), one)
                        break
    return [*found.values()]


def _placements(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Every node of every rank, so many on each node."""
    nodes = [node for node, size in enumerate(sizes) for _ in range(size)]
    yield from map(list, sorted(set(itertools.permutations(nodes))))


@dataclass(frozen=True)
class Case:
    """A question to the lab, and the folder that its commands are called in."""

    kernel: str
    params: Mapping[str, Value]
    tasks: int
    nodes: int
    lab: str
    folder: Path

    @property
    def what(self) -> str:
        """For people."""
        given = " ".join(f"{key}={value}" for key, value in self.params.items())
        return f"{self.kernel} {given}, {self.tasks} tasks"

    def advised(self, out: str) -> dict[str, Any]:
        """What advise says. NotMeasuredError if it says nothing."""
        words = [f"{key}={value}" for key, value in self.params.items()]
        words += ["--tasks", str(self.tasks), "--on", "lab", "--most-nodes", str(self.nodes)]
        words += ["--launches", str(LAUNCHES)]
        with chdir(self.folder), redirect_stdout(io.StringIO()) as said:
            ended = cli.main(["-q", "advise", self.kernel, *words, "--json", "--out", out])
        if ended == INTERRUPTED:
            raise KeyboardInterrupt
        if ended:
            raise NotMeasuredError(f"no advice: {said.getvalue()}")
        advice: dict[str, Any] = json.loads(said.getvalue())
        return advice

    def study(self, tried: Sequence[Candidate], rounds: int) -> tuple[str, str]:
        """The head and the runs of a study of these layouts."""
        text = candidates.study("Every layout", self.kernel, self.params, tried, rounds)
        head, mark, runs = text.partition("\n[[runs]]")
        return head, mark + runs


Times = Mapping[Candidate, Sequence[float]]
"""The times of each layout of a case, one a round."""


def measured(
    name: str, asked: Sequence[tuple[Case, Sequence[Candidate]]], rounds: int
) -> list[Times | None]:
    """So many rounds of the layouts of cases of one folder, in one job; None for a case of which
    a layout has no time.
    """
    if not asked:
        return []
    folder = asked[0][0].folder
    texts = [case.study(tried, rounds) for case, tried in asked]
    study, out = folder / f"{name}.toml", folder / name
    study.write_text(texts[0][0] + "".join(runs for _, runs in texts))
    tell = Teller(Console(quiet=True))
    with chdir(folder):
        started = start(Request(str(study), out=out, on="lab", together=True), tell)
        submission.begin(started, os.environ, tell)
        following.follow(submission.of(started, None), tell)
    good = {case.id: case.times_s for case in open_folder(out).cases}
    by_run = {case.run: good.get(case.id, ()) for case in started.plan.cases}
    numbers, found = itertools.count(), list[Times | None]()
    for _, tried in asked:
        times = {one: by_run.get(next(numbers), ()) for one in tried}
        whole = all(len(one) == rounds for one in times.values())
        found.append(times if whole else None)
    return found


def compared(cases: Sequence[Case]) -> Iterator[Result]:
    """Advice on cases of one folder, then the search, then the best ones in turn with the default.

    Of a case that can't be measured, the reason is printed.
    """
    advised = []
    for number, case in enumerate(cases):
        try:
            advised.append((case, case.advised(f"advice-{number}")))
        except NotMeasuredError as error:
            print(f"not measured: {case.what}, {case.lab}: {error}", flush=True)
    every = [every_layout(case.tasks, case.nodes) for case, _ in advised]
    search = measured("search", [(c, e) for (c, _), e in zip(advised, every, strict=True)], SEARCH)
    finals = [
        (case, advice, min(times, key=lambda one: median(times[one])), times)
        for (case, advice), times in zip(advised, search, strict=True)
        if times is not None
    ]
    apart = [(case, _different(advice, best)) for case, advice, best, _ in finals]
    checked = iter(measured("check", [one for one in apart if len(one[1]) > 1], CHECK))
    for (case, advice, best, times), (_, tried) in zip(finals, apart, strict=True):
        again = next(checked) if len(tried) > 1 else {tried[0]: [1.0]}
        if again is None:
            print(f"not measured: {case.what}, {case.lab}: its best layouts", flush=True)
            continue
        mine, usual = (Candidate(**advice[key]["layout"]) for key in ("advised", "default"))
        by_group = {grouping(one): own for one, own in again.items()}
        ours, theirs, default = (by_group[grouping(one)] for one in (mine, best, usual))
        yield Result(
            case.what,
            case.lab,
            advice["verdict"],
            mine.keys(),
            best.keys(),
            _over(ours, theirs),
            _over(ours, default),
            _over(default, theirs),
            len(times),
            os.getloadavg()[0],
            commit(),
            {} if len(tried) == 1 else {"advised": ours, "best": theirs, "default": default},
        )


def _different(advice: Mapping[str, Any], best: Candidate) -> Sequence[Candidate]:
    """The best, the default, and the advised layout, those alike once."""
    mine, usual = (Candidate(**advice[key]["layout"]) for key in ("advised", "default"))
    return [*{grouping(one): one for one in (best, usual, mine)}.values()]


def _over(one: Sequence[float], other: Sequence[float]) -> Sequence[float]:
    """The ratio round by round: its median, and the ends of its interval."""
    if one is other:
        return 1.0, 1.0, 1.0
    found = typical(ratios(one, other))
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high


def described(node: Path, nodes: int, rate: str) -> str:
    """The lab's cluster file: that of a node, and the links."""
    text = re.sub(r"^nodes = .*", f"nodes = {nodes}", node.read_text(), count=1, flags=re.M)
    return text + NETWORK.format(bandwidth=HEADERS * rate_of(rate) / 8)


def cubes() -> list[tuple[tuple[int, str], Asked]]:
    """Every lab with every case of KERNELS that fits."""
    return [
        (lab, (kernel, params, tasks))
        for lab in LABS
        for kernel, given in KERNELS.items()
        for params in given
        for tasks in TASKS
        if tasks <= CORES * lab[0] and len(every_layout(tasks, lab[0])) <= LAYOUTS_LIMIT
    ]


def long_meshes() -> list[tuple[tuple[int, str], Asked]]:
    """Every lab with meshes of three different lengths, in every direction."""
    return [
        (lab, ("jacobi3d", {"size": "x".join(map(str, lengths)), "topology": grid, **SHORT}, tasks))
        for lab in LONG_LABS
        for tasks, grids in GRIDS.items()
        if tasks <= CORES * lab[0]
        for grid in grids
        for lengths in itertools.permutations((24, 64, 192))
    ]


def drawn(
    every: Sequence[tuple[tuple[int, str], Asked]], cases: int, seed: int
) -> Iterator[tuple[tuple[int, str], list[Asked]]]:
    """Labs, each with some of so many different cases; all of them twice, so that a run that is
    out of time has cases of each.
    """
    chosen = random.Random(seed).sample(every, cases)
    half = -(-cases // 2)
    for part in (chosen[:half], chosen[half:]):
        for lab in dict.fromkeys(there for there, _ in every):
            yield lab, [asked for there, asked in part if there == lab]


def run(
    node: Path,
    drawn: Iterable[tuple[tuple[int, str], list[Asked]]],
    until: float,
    file: Path,
) -> Iterator[Result]:
    """Drawn cases that the file does not have, none begun after a time. Each is a line of the file
    when it is yielded.
    """
    assert following.follow.__kwdefaults__
    following.follow.__kwdefaults__["poll_s"] = following.LAST_POLL_S = 1.0  # its Slurm is our own
    done = {(one.what, one.lab) for one in read(file)}
    for (nodes, rate), asked in drawn:
        name = f"{nodes} nodes, {rate}"
        left = [one for one in asked if (Case(*one, nodes, name, Path()).what, name) not in done]
        if not left or time.monotonic() > until:
            continue
        with on_lab.lab("--nodes", str(nodes), "--cores", str(CORES), "--rate", rate):
            for first in range(0, len(left), AT_ONCE):
                if time.monotonic() > until:
                    break
                with tempfile.TemporaryDirectory() as scratch:
                    folder = Path(scratch)
                    _prepare(folder, described(node, nodes, rate))
                    group = left[first : first + AT_ONCE]
                    for found in compared([Case(*one, nodes, name, folder) for one in group]):
                        with file.open("a", encoding="utf-8") as lines:
                            lines.write(json.dumps(asdict(found)) + "\n")
                        yield found


def _prepare(folder: Path, cluster: str) -> None:
    """Write the lab's site file there, and the cluster file that it names."""
    (folder / "clusters").mkdir()
    (folder / "clusters" / "labmodel.toml").write_text(cluster)
    (folder / "sites").mkdir()
    site = on_lab.SITE.read_text()
    (folder / "sites" / "lab.toml").write_text(f'cluster = "labmodel"\n{site}')


def read(file: Path) -> list[Result]:
    """Results so far."""
    return [Result(**one) for one in lines_of(file)]


def lines_of(file: Path) -> list[dict[str, Any]]:
    """What a file of JSON has line by line; nothing where there is none."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]
