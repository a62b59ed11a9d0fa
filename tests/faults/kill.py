"""Kills campaigns at random moments, goes on with them, and looks for what is lost, doubled, left.

python tests/faults/kill.py --tries 300 --seed 1

As root it runs in a mount namespace with a /dev/shm of its own, so that what MPI's shared memory
leaves there is seen too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from campaigns import KINDS, OURS, SHARED, Disturbed, Ground, enclose, ground, must, shared_memory

from haloscope.paths import cache_path

SIGNALS = ("KILL", "KILL", "KILL", "KILL", "INT", "INT", "TERM", "HUP", "USR1")
"""What is sent, kill -9 most often: it is what nobody can get ready for."""


@dataclass
class Tally:
    """What was tried, and what was found wrong."""

    sent: Counter[str] = field(default_factory=Counter)
    too_late: int = 0
    finished: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def tries(self) -> int:
        """How many kills and signals reached a campaign."""
        return self.sent.total()


def disturb(one: Disturbed, within_s: float, chance: random.Random, tally: Tally) -> None:
    """Start or go on with a campaign, and end it, or a process of it, at a random moment."""
    process = one.ground.start(*one.words)
    time.sleep(chance.uniform(0, within_s))
    name = chance.choice(SIGNALS)
    number = getattr(signal, f"SIG{name}")
    inner = chance.random() < 0.15
    target = _below(process.pid, chance) if inner else process.pid
    if process.poll() is not None or target is None:
        tally.too_late += 1
    else:
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL if inner else number)
        tally.sent["KILL of a process below" if inner else name] += 1
        if not inner and chance.random() < 0.2:  # an impatient one
            time.sleep(chance.uniform(0, 0.3))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)
    one.ground.ended(process)
    one.ground.wait_until_gone()
    one.look()


def _below(root: int, chance: random.Random) -> int | None:
    """A process that came of this one: supervisor, launcher, rank; None while there is none."""
    with contextlib.suppress(psutil.NoSuchProcess):
        if below := psutil.Process(root).children(recursive=True):
            return chance.choice(below).pid
    return None


def campaign(tries: int, seed: int, kinds: Sequence[str], place: Ground) -> Tally:
    """So many kills and signals, over campaigns of these kinds in turn."""
    chance, tally = random.Random(seed), Tally()
    lasts = {kind: _lasts(place, kind) for kind in kinds}
    number = 0
    while tally.tries < tries and tally.too_late < 10 * tries:
        number += 1
        one = Disturbed(place, KINDS[kinds[number % len(kinds)]], number)
        try:
            for _ in range(min(chance.randint(1, 5), tries - tally.tries)):
                disturb(one, lasts[one.kind.name], chance, tally)
            one.finish()
            must(not (left := shared_memory()), f"left in {SHARED}: {left}")
        except AssertionError as error:
            what = f"{one.kind.name}, campaign {number}: {error}"
            print(what, file=sys.stderr, flush=True)
            tally.wrong.append(what)
            _tidy(place)
        tally.finished[one.kind.name] += 1
        one.remove()
        print(f"\r{tally.tries} of {tries}, {len(tally.wrong)} wrong ", end="", flush=True)
    print()
    return tally


def _lasts(place: Ground, kind: str) -> float:
    """Seconds that a campaign of a kind takes when it is left alone."""
    one = Disturbed(place, KINDS[kind])
    begin = time.monotonic()
    ended = place.run(*one.words)
    took = time.monotonic() - begin
    must(ended.code == 0, ended.output)
    one.remove()
    return took


def _tidy(place: Ground) -> None:
    """After something wrong, so that it is told once."""
    for pid, _ in place.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(place.scratch, ignore_errors=True)
    place.scratch.mkdir()
    for name in shared_memory():
        (SHARED / name).unlink(missing_ok=True)


def main(words: Sequence[str] | None = None) -> int:
    """Kill, and tell; 1 if something was lost, doubled or left."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=100, help="kills and signals (100)")
    parser.add_argument("--seed", type=int, default=1, help="of their kinds and moments (1)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--builds", type=Path, default=cache_path() / "builds")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    asked = parser.parse_args(words)
    place = ground(asked.builds)
    try:
        tally = campaign(asked.tries, asked.seed, asked.kinds, place)
    finally:
        shutil.rmtree(place.path, ignore_errors=True)
    told = {
        "tries": tally.tries,
        "sent": dict(tally.sent),
        "campaigns": dict(tally.finished),
        "wrong": tally.wrong,
        "shared_memory_seen": OURS in os.environ,
    }
    print(json.dumps(told, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    enclose()
    sys.exit(main())
