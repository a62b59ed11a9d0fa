# SPDX-License-Identifier: BSD-3-Clause
"""How good advice is: the advised layout against the best of an exhaustive search.

usage: .venv/bin/python bench/advice.py simulated --keep FILE [--cases 60] [--minutes M]
       .venv/bin/python bench/advice.py lab --keep FILE --node FILE [--long] [--cases 60]
                                            [--minutes M]
       .venv/bin/python bench/advice.py warm

Cases that the kept file has are not compared again; the page has all of it.
lab, as root: on nodes that share this machine's cores, with the cluster file of such a node.
warm: how long advice for 1,024 tasks takes the second time, when its simulations are cached.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import advice_on_lab
from turns import ROOT, Target, command, commit, kept, taken, write_lines

from haloscope.advice import candidates
from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import TIE
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.dossier import open_folder
from haloscope.clusters import file as cluster_file
from haloscope.quantities import listed
from haloscope.study.case import Value
from haloscope.study.settings import Settings

CLUSTERS = ("cab", "eagle", "helios", "maya-2013", "stampede", "tara", "zenith-ethernet")
KERNELS: dict[str, list[dict[str, Value]]] = {
    "poisson_cg": [
        {"n": n, "variant": "textbook", "iterations": 20} for n in (256, 512, 1024, 2048)
    ],
    "jacobi3d": [{"size": f"{n}x{n}x{n}", "sweeps": 4} for n in (64, 128, 256)],
    "fft_pencil": [{"size": f"{n}x{n}x{n}"} for n in (64, 128)],
    "fe_heat": [{"size": f"{n}x{n}x{n}", "iterations": 20} for n in (32, 64)],
}
TASKS = (8, 12, 16, 24)
MAPPINGS: tuple[tuple[str, int | None], ...] = (
    ("round_robin", None),
    *(("random", seed) for seed in (1, 2, 3)),
)
KEPT = (
    "Two earlier cases had a larger regret: 23.8 % for fft_pencil with size=64x64x64, and 15.3 % "
    "for jacobi3d with size=256x256x256 sweeps=4, both with 24 tasks on maya-2013. Their best "
    "layout uses 16 nodes, 8 times the smallest possible number. Halving the 16 tasks per node "
    "yields 12 and 24 nodes as candidates, but not 16. Since the fix, the largest number of "
    "nodes is also a candidate."
)
"""KEPT are cases in which advice was wrong before it was mended, with the reason."""
KEPT_ON_LAB = (
    "In earlier searches on a busy machine, the advice was wrong in two cases:",
    "",
    "- jacobi3d size=64x192x24 topology=2x2x1 sweeps=8, 4 tasks, 2 nodes, 50mbit, load 12.5: "
    "haloscope advised the default layout because the intervals of 6 launches overlapped. Round "
    "robin was faster, so the regret was 54.2% (7.2% to 236.4%). In the later measurement (load "
    "1.8, compared round by round), round robin is both the advised and the best layout.",
    "- poisson_cg n=1024 variant=textbook iterations=20, 2 tasks, 2 nodes, 20mbit, on another "
    "machine (Intel Xeon, 2 cores, load 5 to 14, commit 9f517182): haloscope advised one node "
    "because the intervals of 6 launches overlapped. Two nodes were faster, so the regret was "
    "139.1% (67.0% to 280.9%). The suspected cause, that waiting ranks do not yield their core to "
    "other programs, was ruled out by a test with 6 launches per setting, so the cause is "
    "unknown. A "
    "step took "
    "24.7 ms (17.1 to 44.7) on one node and 132 ms (102 to 161) on two. With ranks that yield "
    "while waiting, it took 20.7 and 107 ms. While 2 compute-bound programs ran, it took 24.9 and "
    "159 ms without yielding, and 28.4 and 115 ms with yielding. While 6 compute-bound programs "
    "ran, it took 14.9 and 98.7 ms.",
    "",
    "In the lab case with a regret of 13%, the advised layout and the best layout are mirror "
    "images on a grid of 2 x 3 ranks, so both send the same number of bytes over the same links. "
    "It is not known why the advised layout is slower. In another case on the same grid, the "
    "advised layout was slower by 9.7% (-1.8% to 15.4%).",
)
LAB, SIMULATED, WARM = "## On a lab", "## Simulated", "## 1,024 tasks from a warm cache"
HOW = {
    LAB: (
        "The lab's nodes are network namespaces managed by Slurm. They communicate by TCP "
        "over rate-limited links. Each node has 2 cores, but all nodes share the cores of "
        "this machine, so 3 or more tasks oversubscribe them.\n\n"
        "The cases are drawn at random from all kernels, with cubic or square domains. With "
        "`--long`, they are drawn from `jacobi3d` meshes with three different edge lengths, for "
        "which block mapping is often not the best.\n\n"
        "For each case, `haloscope advise KERNEL --on lab` first recommends a layout. The "
        "lab's site file refers to a cluster file that contains the rate of these links and "
        "the node parameters given by `--node`. Then every number of nodes and threads, and "
        "every distinct placement of ranks on identical nodes, is measured in 3 rounds. The "
        "fastest, the advised, and the default layout are measured in 6 further rounds, "
        "alternating within one job. Up to five cases share a job.\n\n"
        "The regret is the ratio of the advised layout's time to the best layout's time, "
        "minus 1. It is computed for each round, and the table lists its median with a 97 % "
        "interval. The regret counts as 0 if both layouts are the same, or if the interval "
        "contains 0 (no difference seen)."
    ),
    SIMULATED: (
        "The kernel, problem size, number of tasks, and cluster of each case are drawn at random. "
        "First, the advice is computed without the search. Then each number of nodes is "
        "simulated with every thread count that is a power of two, and with the largest thread "
        "count that the cores allow. For each number of nodes, round robin, three random "
        "mappings, and bricks are also simulated with the fastest thread count.\n\nThe regret is "
        "the ratio of the advised "
        "layout's time to the best layout's time, minus 1. Both times are from the same model, so "
        "the regret includes losses from the choice of candidates and from the "
        "preference for fewer nodes, but not the errors of the model."
    ),
    WARM: "The table lists the wall time of the command when all of its simulations are in the "
    "cache.",
}
WARM_ASKED = ("poisson_cg", "n=16384", "iterations=20", "--tasks", "1024", "--on", "stampede2")
WARM_S = 60.0
WRONG = 0.02
"""WRONG is the regret from which a case is listed with its reason."""


@dataclass(frozen=True)
class Result:
    """Of a case: the advised, the default and the best layout, with their times."""

    what: str
    verdict: str
    advised: dict[str, Value]
    advised_s: float
    default_s: float
    best: Mapping[str, Value]
    best_s: float
    tried: int
    reason: str
    commit: str

    @property
    def regret(self) -> float:
        """How much longer the advised layout takes than the best."""
        return self.advised_s / self.best_s - 1

    @property
    def cost(self) -> float:
        """The node-hours of the best layout over those of the advised one."""
        nodes = int(self.best["nodes"]) / int(self.advised["nodes"])
        return nodes * self.best_s / self.advised_s


def cores_of(cluster: str) -> int:
    """The cores of a node."""
    return cluster_file.find(cluster).node.cores


def every_shape(tasks: int, cluster: str, most: int) -> Iterator[Candidate]:
    """Every number of nodes and threads, on at most so many nodes, ranks placed block by block."""
    cores = cores_of(cluster)
    for nodes in range(-(-tasks // cores), min(most, tasks) + 1):
        free = cores // -(-tasks // nodes)
        for threads in sorted({1, free, *(2**k for k in range(free.bit_length()))}):
            if threads <= free:
                full = -(-tasks // nodes) * threads == cores
                yield Candidate.of(
                    tasks, nodes, threads=threads, bind="close" if full else "spread"
                )


def every_mapping(one: Candidate, grid: list[int]) -> Iterator[Candidate]:
    """A shape with all other mappings."""
    if one.nodes > 1:
        for mapping, seed in MAPPINGS:
            yield replace(one, mapping=mapping, mapping_seed=seed)
        if (bricks := candidates.bricks(grid, one.ranks, one.nodes)) is not None:
            yield replace(one, mapping=",".join(map(str, bricks)))


@dataclass(frozen=True)
class Case:
    """A question, and where its files go."""

    kernel: str
    params: dict[str, Value]
    tasks: int
    cluster: str
    out: Path

    def simulated(self, name: str, tried: Sequence[Candidate]) -> dict[Candidate, MeasuredCase]:
        """The layouts that have a time."""
        if not tried:
            return {}
        study = self.out / f"{name}.toml"
        study.write_text(candidates.study("Every layout", self.kernel, self.params, tried, 1))
        words = ["run", str(study), "--no-report", "--on", self.cluster]
        haloscope(*words, "--out", str(self.out / name))
        cases = [case for case in open_folder(self.out / name).cases if case.time is not None]
        return {one: case for one in tried for case in cases if is_of(case.settings, one.keys())}

    @property
    def what(self) -> str:
        """For people."""
        words = [f"{key}={value}" for key, value in self.params.items()]
        return f"{' '.join([self.kernel, *words])}, {self.tasks} tasks, {self.cluster}"

    def measured(self) -> Result:
        """Advice, and then the search."""
        words = [f"{key}={value}" for key, value in self.params.items()]
        asked = ["advise", self.kernel, *words, "--tasks", str(self.tasks), "--json"]
        advice = json.loads(haloscope(*asked, "--on", self.cluster, "--out", str(self.out / "a")))
        most = candidates.MOST_SPREAD * -(-self.tasks // cores_of(self.cluster))
        found = self.simulated("shapes", [*every_shape(self.tasks, self.cluster, most)])
        grid = candidates.grid_of(next(iter(found.values())).settings.get("topology"))
        fastest: dict[int, Candidate] = {}
        for one in sorted(found, key=lambda one: found[one].time_s):
            fastest.setdefault(one.nodes, one)
        others = [other for one in fastest.values() for other in every_mapping(one, grid)]
        found |= self.simulated("mappings", others)
        advised, usual = (advice[key] for key in ("advised", "default"))
        best = min(found, key=lambda one: found[one].time_s)
        times = {one: case.time_s for one, case in found.items()}
        return Result(
            self.what,
            advice["verdict"],
            advised["layout"],
            advised["time_s"],
            usual["time_s"],
            best.keys(),
            min(times[best], advised["time_s"]),
            len(found),
            reason(best, times[best], advice),
            commit(),
        )


def haloscope(*words: str) -> str:
    """What a command of it prints."""
    command = [str(ROOT / "haloscope"), "-q", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_of(settings: Settings, keys: Mapping[str, Value]) -> bool:
    """Whether a case has the layout of a candidate."""
    return all(settings.get(key) == value for key, value in keys.items())


def reason(best: Candidate, best_s: float, advice: dict[str, Any]) -> str:
    """Why the best layout was not advised."""
    layouts = [one["layout"] for one in advice["options"]]
    shapes = {(one["nodes"], one["threads"]) for one in layouts}
    if any(is_of(one, best.keys()) for one in layouts):
        alike = advice["advised"]["time_s"] <= (1 + TIE) * best_s
        return (
            "best layout counts as equally fast, but costs more"
            if alike
            else "within the error of the simulation"
        )
    if best.nodes not in {nodes for nodes, _ in shapes}:
        return f"{best.nodes} nodes are not among the candidates"
    if (best.nodes, best.threads) not in shapes:
        return f"{best.threads} threads are not among the candidates"
    return "this mapping was not tried on this number of nodes"


def layout(one: Mapping[str, Value]) -> str:
    """Nodes x threads and mapping."""
    mapping = "bricks" if "," in str(one["mapping"]) else str(one["mapping"]).replace("_", " ")
    return f"{one['nodes']} x {one['threads']}, {mapping}"


def layout_of(one: Mapping[str, Value]) -> str:
    """Nodes x threads, and the mapping as a study has it."""
    return f"{one['nodes']} x {one['threads']}, {str(one['mapping']).replace('_', ' ')}"


def body(results: list[Result]) -> list[str]:
    """The table, worst first, and what it comes to."""
    regrets = sorted(one.regret for one in results)
    slower = sum(one.advised_s > one.default_s for one in results)
    tried = sum(one.tried for one in results)
    wrong = [one for one in results if one.regret > WRONG]
    lines = [
        "| cases | layouts simulated | median regret | 90th percentile | largest regret "
        "| advised slower than default |",
        "|--:|--:|--:|--:|--:|--:|",
        f"| {len(results)} | {tried} | {median(regrets):.1%} | "
        f"{regrets[-(-9 * len(regrets) // 10) - 1]:.1%} | {regrets[-1]:.1%} | {slower} |",
        "",
        "The simulated cases were run at commits "
        f"{listed([*dict.fromkeys(one.commit for one in results)])}.",
        "",
        f"### Simulated cases with a regret above {WRONG:.0%}",
        "",
        "The column 'node-hours' lists the node-hours of the best layout divided by those of the "
        "advised layout.",
        "",
        "| case | advised (nodes x threads) | best | regret | node-hours | why |",
        "|---|---|---|--:|--:|---|",
        *(
            f"| {one.what} | {layout(one.advised)} | {layout(one.best)} | {one.regret:.1%} | "
            f"{one.cost:.2f} | {one.reason} |"
            for one in sorted(wrong, key=lambda one: -one.regret)
        ),
        "",
        "### Cases with wrong advice before a fix",
        "",
        KEPT,
        "",
        "### All simulated cases",
        "",
        "| case | advised | regret | default / advised | verdict |",
        "|---|---|--:|--:|---|",
    ]
    lines += [
        f"| {one.what} | {layout(one.advised)} | {one.regret:.1%} | "
        f"{one.default_s / one.advised_s:.2f} | {one.verdict} |"
        for one in sorted(results, key=lambda one: -one.regret)
    ]
    return lines


def lab_body(results: Sequence[advice_on_lab.Result]) -> list[str]:
    """The table of cases on a lab, worst first, and what it comes to."""
    regrets = sorted(one.counted for one in results)
    slower = sum(one.over_default[1] > 1 for one in results)
    loads = [one.load for one in results]
    same = sum(one.regret[1] == one.regret[2] for one in results)
    alike = sum(one.counted == 0 for one in results) - same
    beaten = sum(one.gain[1] > 1 for one in results)
    lines = [
        "| cases | layouts measured | best layout beats default | best layout advised "
        "| no difference seen | median regret | 90th percentile | largest regret "
        "| advised slower than default |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        f"| {len(results)} | {sum(one.tried for one in results)} | {beaten} | {same} | {alike} | "
        f"{median(regrets):.1%} | {regrets[-(-9 * len(regrets) // 10) - 1]:.1%} | "
        f"{regrets[-1]:.1%} | {slower} |",
        "",
        f"During the lab cases, the load average of the machine was {min(loads):.1f} to "
        f"{max(loads):.1f} (2 processors). "
        f"The cases were run at commit {', '.join(dict.fromkeys(one.commit for one in results))}.",
        "",
        "The best layout beats the default if the whole interval of the ratio 'default / best' "
        "is above 1. The advised layout is slower than the default if the whole interval of "
        "'advised / default' is above 1. A list of numbers specifies the node of each rank.",
        "",
        "| case | lab | advised (nodes x threads) | best | regret | default / best "
        "| advised / default | verdict |",
        "|---|---|---|---|--:|--:|--:|---|",
    ]
    wrong = ["", "### Cases with wrong advice on a lab", "", *KEPT_ON_LAB]
    for one in sorted(results, key=lambda one: (-one.counted, -one.regret[0])):
        regret = [f"{value - 1:.1%}" for value in one.regret]
        lines.append(
            f"| {one.what} | {one.lab} | {layout_of(one.advised)} | {layout_of(one.best)} | "
            f"{interval(regret)} | {interval([f'{v:.2f}' for v in one.gain])} | "
            f"{interval([f'{v:.2f}' for v in one.over_default])} | {one.verdict} |"
        )
        if one.counted:
            wrong += [
                "",
                f"{one.what}, {one.lab}: time per step in ms, in the order of the rounds:",
                "",
            ]
            wrong += [
                f"- {name}: {', '.join(f'{1e3 * time:.1f}' for time in own)}"
                for name, own in one.rounds_s.items()
            ]
    return [*lines, *wrong]


def interval(texts: Sequence[str]) -> str:
    """A value with its interval, if it has one."""
    value, low, high = texts
    return value if low == high else f"{value} ({low} to {high})"


def warm_body() -> list[str]:
    """The wall time of advice whose simulations are cached."""
    with tempfile.TemporaryDirectory() as folder:
        walls = []
        for number in range(2):
            begun = time.monotonic()
            out = ["--out", f"{folder}/{number}"]
            answer = json.loads(haloscope("advise", *WARM_ASKED, "--json", *out))
            walls.append(time.monotonic() - begun)
    tried = len(answer["options"])
    what = f"haloscope advise {' '.join(WARM_ASKED)}: {tried} layouts"
    return [
        "| what | wall time | range | target | |",
        "|---|---|---|---|---|",
        Target(what, walls[1:], WARM_S, at_most=True, unit="s").row(),
        "",
        f"The first call took {walls[0]:.3g} s, with whatever the cache already contained.",
    ]


def write(title: str, lines: Sequence[str]) -> None:
    """One section of docs/bench/advice.md; the others stay."""
    sections = kept("advice")
    head = [title, "", f"This section was written by `{command()}`. {taken()}", "", HOW[title], ""]
    sections[title] = [*head, *lines, ""]
    page = ["# Advice against an exhaustive search", ""]
    for one in HOW:
        page += sections.get(one, [])
    write_lines("advice", page[:-1])


def drawn(cases: int, seed: int) -> Iterator[tuple[str, dict[str, Value], int, str]]:
    """So many different cases."""
    draw, asked = random.Random(seed), set[str]()
    while len(asked) < cases:
        kernel = draw.choice([*KERNELS])
        params, tasks = draw.choice(KERNELS[kernel]), draw.choice(TASKS)
        cluster = draw.choice([*CLUSTERS])
        if (key := f"{kernel} {params} {tasks} {cluster}") not in asked:
            asked.add(key)
            yield kernel, params, tasks, cluster


def main() -> None:
    """Run one mode, write its section of docs/bench/advice.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=["simulated", "lab", "warm"])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="begin no case after so many")
    parser.add_argument("--node", type=Path, help="lab: cluster file of haloscope calibrate")
    parser.add_argument("--long", action="store_true", help="lab: long meshes, not cubes")
    parser.add_argument("--keep", type=Path, help="file of results, to go on with")
    given = parser.parse_args()
    minutes = float("inf") if given.minutes is None else given.minutes
    until = time.monotonic() + 60 * minutes
    if given.mode == "warm":
        write(WARM, warm_body())
        return
    if given.keep is None:
        parser.error(f"{given.mode} needs --keep FILE")
    if given.mode == "lab":
        if given.node is None:
            parser.error("lab needs --node FILE")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no lab is left over
        every = advice_on_lab.long_meshes() if given.long else advice_on_lab.cubes()
        cases = advice_on_lab.drawn(every, given.cases, given.seed)
        for found in advice_on_lab.run(given.node, cases, until, given.keep):
            print(f"{found.what}, {found.lab}: regret {found.counted:.1%}", flush=True)
        write(LAB, lab_body(advice_on_lab.read(given.keep)))
        return
    results = [Result(**one) for one in advice_on_lab.lines_of(given.keep)]
    known = {one.what for one in results}
    for kernel, params, tasks, cluster in drawn(given.cases, given.seed):
        if time.monotonic() > until:
            break
        with tempfile.TemporaryDirectory() as folder:
            case = Case(kernel, params, tasks, cluster, Path(folder))
            if case.what in known:
                continue
            one = case.measured()
        results.append(one)
        with given.keep.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(one)) + "\n")
        print(f"{len(results)}: {one.what}: regret {one.regret:.1%} of {one.tried}", flush=True)
    write(SIMULATED, body(results))


if __name__ == "__main__":
    main()
