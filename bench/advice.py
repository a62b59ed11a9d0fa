# SPDX-License-Identifier: BSD-3-Clause
"""How good advice is: the advised layout against the best of an exhaustive search, simulated.

usage: .venv/bin/python bench/advice.py [--cases 60] [--seed 1]

Cases are drawn at random: kernel, size, tasks, cluster. Advice is made first. Then every number of
nodes, every power of two and fullest number of threads, and block, round robin, three random
mappings and bricks are simulated. Regret is the advised layout's time over the best one's, less 1.
As both are simulated by the same model, it says how much of the best layout the candidates and the
preference for fewer nodes lose, and nothing of the model's own errors.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from turns import ROOT, write_page

from haloscope.advice import candidates
from haloscope.advice.candidates import Candidate
from haloscope.analysis.dossier import open_folder
from haloscope.study.case import Value
from haloscope.study.settings import Settings

CLUSTERS = {"stampede2": 48, "eagle": 28, "helios": 16, "tara": 8, "zenith-ethernet": 40}
"""The cores of a node."""
KERNELS: dict[str, list[dict[str, Value]]] = {
    "poisson_cg": [{"n": n, "variant": "textbook"} for n in (256, 512, 1024, 2048)],
    "jacobi3d": [{"size": f"{n}x{n}x{n}"} for n in (64, 128, 256)],
    "fft_pencil": [{"size": f"{n}x{n}x{n}"} for n in (64, 128)],
    "fe_heat": [{"size": f"{n}x{n}x{n}", "iterations": 20} for n in (32, 64)],
}
TASKS = (8, 16, 24, 32, 48)
MAPPINGS: tuple[tuple[str, int | None], ...] = (
    ("block", None),
    ("round_robin", None),
    *(("random", seed) for seed in (1, 2, 3)),
)


@dataclass(frozen=True)
class Result:
    """Of a case: the advised, the default and the best layout, with their times."""

    what: str
    verdict: str
    advised: dict[str, Value]
    advised_s: float
    default_s: float
    best: Settings
    best_s: float
    tried: int

    @property
    def regret(self) -> float:
        """How much longer the advised layout takes than the best."""
        return self.advised_s / self.best_s - 1


def exhaustive(tasks: int, cluster: str, most: int, grid: list[int]) -> Iterator[Candidate]:
    """Every layout on at most so many nodes."""
    cores = CLUSTERS[cluster]
    for nodes in range(-(-tasks // cores), min(most, tasks) + 1):
        free = cores // -(-tasks // nodes)
        for threads in sorted({1, free, *(2**k for k in range(1, free.bit_length()))} - {0}):
            if threads > free:
                continue
            full = -(-tasks // nodes) * threads == cores
            one = Candidate(tasks, nodes, threads, "close" if full else "spread")
            for mapping, seed in MAPPINGS if nodes > 1 else MAPPINGS[:1]:
                yield replace(one, mapping=mapping, mapping_seed=seed)
            bricks = candidates.bricks(grid, tasks, nodes) if nodes > 1 else None
            if bricks is not None:
                yield replace(one, mapping=",".join(map(str, bricks)))


def measured(kernel: str, params: dict[str, Value], tasks: int, cluster: str, out: Path) -> Result:
    """Advice, and then the search."""
    words = [f"{key}={value}" for key, value in params.items()]
    common = ["--on", cluster, "--out"]
    asked = ["advise", kernel, *words, "--tasks", str(tasks), "--json", *common, str(out / "a")]
    done = subprocess.run(
        [str(ROOT / "haloscope"), "-q", *asked], check=True, capture_output=True, text=True
    )
    advice = json.loads(done.stdout)
    fewest = -(-tasks // CLUSTERS[cluster])
    cases = open_folder(out / "a" / "layouts").cases
    grid = candidates.grid_of(cases[0].settings.get("topology"))
    tried = [*exhaustive(tasks, cluster, candidates.MOST_SPREAD * fewest, grid)]
    study = out / "every.toml"
    study.write_text(candidates.study("Every layout", kernel, params, tried, 1))
    subprocess.run(
        [str(ROOT / "haloscope"), "-q", "run", str(study), "--no-report", *common, str(out / "e")],
        check=True,
        capture_output=True,
    )
    times = {
        json.dumps(dict(case.settings), default=str): (case.time.value, case)
        for case in open_folder(out / "e").cases
        if case.time is not None
    }
    best_s, best = min(times.values(), key=lambda one: one[0])
    named = " ".join([kernel, *words])
    return Result(
        f"{named}, {tasks} tasks, {cluster}",
        advice["verdict"],
        advice["advised"]["layout"],
        advice["advised"]["time_s"],
        advice["default"]["time_s"],
        best.settings,
        min(best_s, advice["advised"]["time_s"]),
        len(times),
    )


def layout(one: Settings) -> str:
    """Nodes x threads and mapping."""
    mapping = "bricks" if "," in str(one["mapping"]) else str(one["mapping"]).replace("_", " ")
    return f"{one['nodes']} x {one['threads']}, {mapping}"


def body(results: list[Result]) -> list[str]:
    """The table, worst first, and what it comes to."""
    regrets = sorted(one.regret for one in results)
    slower = sum(one.advised_s > one.default_s for one in results)
    tried = sum(one.tried for one in results)
    lines = [
        "| cases | layouts tried | median regret | worst tenth | worst | slower than the default |",
        "|--:|--:|--:|--:|--:|--:|",
        f"| {len(results)} | {tried} | {median(regrets):.1%} | "
        f"{regrets[-(-9 * len(regrets) // 10) - 1]:.1%} | {regrets[-1]:.1%} | {slower} |",
        "",
        "| case | advised (nodes x threads) | best | regret | default over advised | verdict |",
        "|---|---|---|--:|--:|---|",
    ]
    for one in sorted(results, key=lambda one: -one.regret):
        gain = one.default_s / one.advised_s
        lines.append(
            f"| {one.what} | {layout(one.advised)} | {layout(one.best)} | {one.regret:.1%} | "
            f"{gain:.2f} | {one.verdict} |"
        )
    return lines


def main() -> None:
    """Run everything, write docs/bench/advice.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    results: list[Result] = []
    for number in range(arguments.cases):
        kernel = draw.choice([*KERNELS])
        params, tasks = draw.choice(KERNELS[kernel]), draw.choice(TASKS)
        cluster = draw.choice([*CLUSTERS])
        with tempfile.TemporaryDirectory() as folder:
            one = measured(kernel, params, tasks, cluster, Path(folder))
        results.append(one)
        print(f"{number + 1}: {one.what}: regret {one.regret:.1%} of {one.tried}", flush=True)
    title = "Advice against an exhaustive search, simulated"
    write_page("advice", title, body(results), __doc__.split("\n\n", 2)[2].replace("\n", " "))


if __name__ == "__main__":
    main()
