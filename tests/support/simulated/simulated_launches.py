# SPDX-License-Identifier: BSD-3-Clause
"""Launches of settings that do not differ, with the noise that real machines have. For A/A studies.

A machine's speed wanders from launch to launch (other people's load: an autoregressive process),
drifts over the session (warmth, filling file systems), is the same for all repetitions of a launch
but for short-lived noise that is itself correlated, and now and then a whole launch is slow. Every
launch sweeps points (message sizes) that share its fate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from haloscope.stats.two_samples import compare, holm

Array = npt.NDArray[np.float64]

ALPHA = 0.05


@dataclass(frozen=True)
class Machine:
    """Noise of a machine, as standard deviations of log time unless said otherwise.

    drift: change of log time over a whole session.
    wander, memory: of the launch-to-launch process, and its correlation from one launch to the
    next.
    launch: of each launch by itself (where its memory came to lie).
    slow_share, slow: share of launches that are slower, and by how much in log time at most.
    point: of each point of a launch.
    repetition, carry: of a repetition, and its correlation with the next.
    """

    drift: float = 0.05
    wander: float = 0.03
    memory: float = 0.8
    launch: float = 0.02
    slow_share: float = 0.05
    slow: float = 0.4
    point: float = 0.01
    repetition: float = 0.03
    carry: float = 0.5


@dataclass(frozen=True)
class Study:
    """An A/A study: cases, each run as two settings that are the same.

    order: "random", as haloscope runs launches, or "blocks": all of A, then all of its twin.
    unit: what the samples hold: a launch's median, or (wrongly) every repetition.
    effect: how much longer the twin takes, as a share: 0 in an A/A study.
    """

    cases: int = 8
    points: int = 25
    launches: int = 10
    repetitions: int = 20
    order: Literal["random", "blocks"] = "random"
    unit: Literal["launch", "repetition"] = "launch"
    effect: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What one study calls different at the 5 % level.

    comparisons: made. raw: with p <= 0.05. called: still so after Holm's correction.
    """

    comparisons: int
    raw: int
    called: int


def run(study: Study, machine: Machine, seed: int) -> Outcome:
    """Simulate a study and compare every case with its twin, point by point."""
    generator = np.random.default_rng(seed)
    settings = np.repeat(np.arange(2 * study.cases), study.launches)
    if study.order == "random":
        settings = generator.permutation(settings)
    speed = _session(machine, settings.size, generator)
    p_values = []
    for case in range(study.cases):
        first, twin = (
            _samples(study, machine, speed[settings == 2 * case + which], generator)
            for which in range(2)
        )
        twin = twin * (1 + study.effect)
        p_values += [compare(list(a), list(b)).p_value for a, b in zip(first, twin, strict=True)]
    adjusted = holm(p_values)
    return Outcome(
        len(p_values),
        sum(p <= ALPHA for p in p_values),
        sum(p is not None and p <= ALPHA for p in adjusted),
    )


def _session(machine: Machine, launches: int, generator: np.random.Generator) -> Array:
    """(launches,) log time of each launch in the order they run."""
    wander = _correlated((launches,), machine.memory, generator) * machine.wander
    drift = machine.drift * np.linspace(0, 1, launches)
    own = machine.launch * generator.standard_normal(launches)
    slow = generator.random(launches) < machine.slow_share
    return np.asarray(wander + drift + own + slow * machine.slow * generator.random(launches))


def _samples(study: Study, machine: Machine, speed: Array, generator: np.random.Generator) -> Array:
    """(points, launches), or (points, launches x repetitions): times of one setting."""
    shape = (study.points, speed.size, study.repetitions)
    noise = machine.repetition * _correlated(shape, machine.carry, generator)
    own = machine.point * generator.standard_normal((study.points, speed.size, 1))
    times = np.exp(speed[None, :, None] + own + noise)
    if study.unit == "repetition":
        return np.asarray(times.reshape(study.points, -1))
    return np.asarray(np.median(times, axis=2))


def _correlated(shape: tuple[int, ...], memory: float, generator: np.random.Generator) -> Array:
    """Standard normal series along the last axis, each value correlated with the one before."""
    values = generator.standard_normal(shape)
    for i in range(1, shape[-1]):
        fresh = np.sqrt(1 - memory**2) * values[..., i]
        values[..., i] = memory * values[..., i - 1] + fresh
    return np.asarray(values)
