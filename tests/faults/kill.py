# SPDX-License-Identifier: BSD-3-Clause
"""Kills campaigns at random moments, continues them, and checks for lost, double, or left files.

python tests/faults/kill.py --tries 100 --seed 1

The moments are spread over the whole life of a command: planning, between launches and in the
middle of one, while the report is written. As root it runs in a mount namespace with a /dev/shm of
its own, so that what MPI's shared memory leaves there is seen too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import psutil
from campaigns import (
    KINDS,
    LIMIT_S,
    OURS,
    SHARED,
    Disturbed,
    Ground,
    Kind,
    enclose,
    ground,
    must,
    shared_memory,
)
from figures import Slice, keep

from haloscope.paths import cache_path

SIGNALS = ("KILL", "KILL", "KILL", "KILL", "INT", "INT", "TERM", "HUP", "USR1")
"""What is sent, kill -9 most often: it is what nobody can get ready for."""
MOMENTS = {"planning": 3, "after a record": 2, "in a launch": 5}
"""When it is sent while a campaign has launches left, and how often of ten."""
LAST = "in the report"
"""When it is sent at last, some times: once everything is measured."""
FEW = (8, 14)
"""How many signals a campaign gets before it is let alone: as many as its launches, about."""
SOON_S = 0.03
"""Within it after a record lie its sync to the disk, the plan that is saved, the next start."""


@dataclass(frozen=True)
class Lasts:
    """How long the parts of a campaign of one kind take when it is left alone, in seconds."""

    planning: float
    launch: float
    report: float


def lasts(place: Ground, kind: Kind) -> Lasts:
    """Measured: one campaign of the kind from its beginning to its end."""
    one = Disturbed(place, kind)
    process, begin = one.ground.start(*one.words), time.monotonic()
    came: list[float] = []
    while process.poll() is None:
        came += [time.monotonic()] * (one.records() - len(came))
        time.sleep(0.002)
    end = time.monotonic()
    ended = one.ground.ended(process)
    must(ended.code == 0 and bool(came), ended.output)
    one.remove()
    between = [later - earlier for earlier, later in pairwise(came)]
    return Lasts(came[0] - begin, median(between), end - came[-1])


@dataclass(frozen=True)
class Shot:
    """A signal and its moment: so many seconds after so many more records, or after all of them.

    inner: it kills a process below, not the command: which, as a part of them all. again_s: it is
    sent again after so long.
    """

    moment: str
    records: int
    delay_s: float
    name: str
    inner: float | None
    again_s: float | None


def aimed(chance: random.Random, moment: str, typical: Lasts) -> Shot:
    """One at random for a moment of the command's life."""
    records, within_s = {
        "planning": (0, typical.planning),
        "after a record": (chance.randint(1, 2), SOON_S),
        "in a launch": (chance.choice((0, 0, 1)), typical.launch),
        LAST: (0, typical.report),
    }[moment]
    delay_s = chance.uniform(0, within_s)
    if moment == "in a launch" and records == 0:
        delay_s += typical.planning
    return Shot(
        moment,
        records,
        delay_s,
        name=chance.choice(SIGNALS),
        inner=chance.random() if chance.random() < 0.15 else None,
        again_s=chance.uniform(0, 0.3) if chance.random() < 0.2 else None,
    )


def disturb(one: Disturbed, shot: Shot) -> str | None:
    """Start or continue a campaign, and send a signal; return it, or None if it had ended."""
    before = one.records()
    process = one.ground.start(*one.words)
    enough: Callable[[], bool] = lambda: one.records() - before >= shot.records  # noqa: E731
    if shot.moment == LAST:
        enough = one.measured
    sent = None
    if _waited(process, enough, shot.delay_s):
        target = process.pid if shot.inner is None else _below(process.pid, shot.inner)
        if target is not None and process.poll() is None:
            sent = shot.name if shot.inner is None else "KILL of a process below the command"
            _send(target, sent.split()[0])
            if shot.again_s is not None and shot.inner is None:  # an impatient one
                time.sleep(shot.again_s)
                _send(process.pid, shot.name)
    one.ground.ended(process)
    one.ground.wait_until_gone()
    one.look()
    return sent


def _waited(process: subprocess.Popen[bytes], enough: Callable[[], bool], delay_s: float) -> bool:
    """Whether a process lives until something holds, and a while longer."""
    end = time.monotonic() + LIMIT_S
    while not enough():
        if process.poll() is not None:
            return False
        must(time.monotonic() < end, f"nothing came within {LIMIT_S} s")
        time.sleep(0.002)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(delay_s)
    return process.returncode is None


def _send(pid: int, name: str) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, getattr(signal, f"SIG{name}"))


def _below(root: int, part: float) -> int | None:
    """A process that came of this one: supervisor, launcher, rank; None while there is none."""
    with contextlib.suppress(psutil.NoSuchProcess):
        if below := psutil.Process(root).children(recursive=True):
            return below[int(part * len(below))].pid
    return None


def campaign(one: Disturbed, most: int, typical: Lasts, chance: random.Random) -> Counter[str]:
    """Shoot some times at one campaign, let it end, and look; what was sent, and when."""
    sent: Counter[str] = Counter()
    shots = chance.randint(*FEW)
    for number in range(shots):
        late = number >= shots * 3 // 4
        moment = LAST if late else chance.choices([*MOMENTS], [*MOMENTS.values()])[0]
        if sent.total() < most and (what := disturb(one, aimed(chance, moment, typical))):
            sent[f"{what}, {moment}"] += 1
    one.finish()
    must(not (left := shared_memory()), f"left in {SHARED}: {left}")
    return sent


def slice_of(tries: int, seed: int, kinds: Sequence[str], place: Ground) -> Slice:
    """So many kills and signals, over campaigns of these kinds in turn."""
    chance, begin = random.Random(seed), time.monotonic()
    for kind in kinds:  # builds its programs, which is not part of a typical campaign's time
        lasts(place, KINDS[kind])
    typical = {kind: lasts(place, KINDS[kind]) for kind in kinds}
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    number = 0
    while counted.total() < tries:
        number += 1
        one = Disturbed(place, KINDS[kinds[number % len(kinds)]], number)
        left = tries - counted.total()
        try:
            counted += campaign(one, left, typical[one.kind.name], chance)
        except AssertionError as error:
            wrong.append(f"{one.kind.name}, seed {seed}, campaign {number}: {error}")
            print(wrong[-1], file=sys.stderr, flush=True)
            counted["that failed"] += 1
            _tidy(place)
        one.remove()
        print(f"{counted.total()} of {tries}, {len(wrong)} wrong", flush=True)
    seen = {"campaigns": number, "shared memory seen": OURS in os.environ}
    took_s = time.monotonic() - begin
    return Slice("kills", seed, counted.total(), tuple(wrong), took_s, {**counted, **seen})


def _tidy(place: Ground) -> None:
    """Exclude a known problem, so that it is reported once."""
    for pid, _ in place.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(place.scratch, ignore_errors=True)
    place.scratch.mkdir()
    for name in shared_memory():
        (SHARED / name).unlink(missing_ok=True)


def main(words: Sequence[str] | None = None) -> int:
    """Kill, and tell; 1 if something was lost, doubled or left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=100, help="kills and signals (100)")
    parser.add_argument("--seed", type=int, default=1, help="of their kinds and moments (1)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--builds", type=Path, default=cache_path() / "builds")
    parser.add_argument("--keep", type=Path, help="a file to which the figures are added")
    asked = parser.parse_args(words)
    place = ground(asked.builds)
    try:
        found = slice_of(asked.tries, asked.seed, asked.kinds, place)
    finally:
        shutil.rmtree(place.path, ignore_errors=True)
    keep(asked.keep, found)
    return 1 if found.wrong else 0


if __name__ == "__main__":
    enclose()
    sys.exit(main())
