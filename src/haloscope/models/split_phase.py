# SPDX-License-Identifier: BSD-3-Clause
"""Split-phase communication: packing, messages, what is done meanwhile, unpacking.

Source: Zhang, Mills and Smith, ANL report on Summit, part II (2020), section 6:

    T = T(Pack) + T_sync + max(l_MPI, T(Scatter) + T(user)) + T(Unpack),

for one operation; a step here is a broadcast and the reduction that follows it, each such a sum,
with l_MPI half of the time of both one's messages. Pack, scatter (what stays in the rank) and
unpack are straight lines in the bytes they move, "memory size over bandwidth" with what starting
them takes; l_MPI = alpha + beta s. All in pieces, as caches and protocols change: see
piecewise_hockney. T(user) is 0 where nothing is computed between begin and end.

In ordinary memory a move is done when it returns, and T_sync is 0. In a device's memory the time of
a move is that of its launch and of what the device then does; T_sync is the wait for its stream;
and an operation has a part of its own, what the library does before it packs ("begin").

The formula supposes one rank that does everything, one thing after another. A device works while
its host launches the next move and begins the next operation, and of two ranks that send in turn
one copies while the other unpacks. So the parts are composed by replaying steps: each rank has a
clock of its host and one of its device, and a message arrives l_MPI after it was sent. In ordinary
memory, with ranks that all send and receive, this is the formula.

max() assumes that messages travel while the processor copies. A library that moves messages only
inside its own calls, as over shared memory, takes the sum instead of the maximum. Both are
reported, with the one that is closer to the measured time.

For several neighbours the paper names LogGP (Alexandrov et al. 1995) and leaves it open. Here, for
k messages of s bytes in all that a rank sends and as many that it receives,

    l_MPI = alpha + (k - 1) g + s G,

with alpha = L + 2 o: one gap for each further message, all sharing the rank's way into the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from haloscope.models import piecewise_hockney
from haloscope.models.intervals import RESOLUTION, Intervals, bootstrapped
from haloscope.models.model import Residuals
from haloscope.models.sweep import ONE_WAY, Array, sweep
from haloscope.stats.estimates import Estimate

MESSAGES = "messages"
MOVES = ("pack", "scatter", "unpack")
OPERATIONS = ("bcast", "reduce")
PARTS = (MESSAGES, *(f"{operation} {move}" for operation in OPERATIONS for move in MOVES))
BEGIN, SYNCHRONISE, CONCLUDE = "begin", "synchronise", "synchronise at the end"
LAUNCHES = tuple(f"{part} launch" for part in PARTS[1:])
"""Time for the host to launch each of these moves, which is part of the move's time."""
DEVICE_PARTS = (BEGIN, SYNCHRONISE, CONCLUDE, *LAUNCHES)
"""Start of both operations, their waits for the stream before messages and at the end, and
launches.
"""
STARTING = "launches"
"""Launches of moves and waits for the stream, as one of the parts that may be the longest."""
FEWEST_POINTS = 4
FARTHEST = 0.25
"""Largest deviation of composed parts: messages and a scatter seldom overlap more of a step."""
_SETTLED, _REPLAYED = 4, 4
"""Steps replayed before the time per step is steady, and steps then counted."""


@dataclass(frozen=True, eq=False)
class PartTimes:
    """Steps and their parts, over sizes.

    remote_bytes: (points,), increasing: bytes that a rank sends per operation. local_bytes:
    (points,), bytes that it scatters. whole_s: (launches, points), a step. parts_s: for each of
    PARTS a separate (launches, points) array, zeros for a part without work; in a device's memory
    also for each of DEVICE_PARTS. one_sided: a broadcast goes from one rank, which alone scatters,
    to another, and the reduction back; otherwise every rank does everything.

    Raise ValueError for invalid shapes or names.
    """

    remote_bytes: Array
    local_bytes: Array
    whole_s: Array
    parts_s: Mapping[str, Array]
    one_sided: bool = False

    def __post_init__(self) -> None:
        """Validate shapes and names."""
        if self.remote_bytes.size < FEWEST_POINTS or np.any(np.diff(self.remote_bytes) <= 0):
            raise ValueError(f"the model needs {FEWEST_POINTS} increasing sizes or more")
        if set(self.parts_s) not in ({*PARTS}, {*PARTS, *DEVICE_PARTS}):
            more = f"on a device {', '.join(DEVICE_PARTS)}"
            raise ValueError(f"the parts of a step are {', '.join(PARTS)}; {more}")
        shape = (self.whole_s.shape[0], self.remote_bytes.size)
        for times in (self.whole_s, *self.parts_s.values()):
            if times.shape != shape or not np.all(np.isfinite(times)) or np.any(times < 0):
                raise ValueError("times must have one value >= 0 per launch and size")

    def bytes_of(self, part: str) -> Array:
        """Return (points,): the bytes that the time of a part depends on."""
        return self.local_bytes if part.endswith("scatter") else self.remote_bytes


@dataclass(frozen=True, eq=False)
class SplitPhase:
    """A fitted split-phase model, with the composition of its measured parts at each point.

    lines: fitted parts by name; None for a part without time. whole_s, parts_s: (points,) medians
    over launches. residuals: of the whole step against the fitted parts with max().
    """

    data: PartTimes
    lines: Mapping[str, piecewise_hockney.PiecewiseHockney | None]
    whole_s: Array
    parts_s: Mapping[str, Array]
    valid: tuple[float, float]
    residuals: Residuals
    warnings: tuple[str, ...]

    name = "split phase"
    source = "Zhang, Mills and Smith 2020 (ANL, Summit, part II), section 6"

    def composed_s(self, *, overlap: bool) -> Array:
        """Return (points,): seconds of a step from its measured parts, with max() or the sum."""
        return compose(self.parts_s, overlap=overlap, one_sided=self.data.one_sided)

    @property
    def on_device(self) -> bool:
        """Whether its data are in device memory, with launches and waits."""
        return BEGIN in self.parts_s

    @property
    def scatters(self) -> bool:
        """Whether a rank scatters; otherwise nothing could overlap."""
        return bool(np.any(both(self.parts_s, "scatter") > 0))

    @property
    def nearer(self) -> str:
        """Whether the whole, over all sizes, is closer to "max" or to "sum" of its parts."""
        return "max" if self._off(overlap=True) <= self._off(overlap=False) else "sum"

    @property
    def off_at_the_median(self) -> float:
        """Relative deviation of the closer of the two from the whole, at the median size."""
        return float(np.expm1(min(self._off(overlap=True), self._off(overlap=False))))

    @property
    def farthest(self) -> tuple[int, float]:
        """Return the point with the largest deviation of the closer of the two, and that share.

        The share is positive; points are counted from 0.
        """
        logs = np.abs(np.log(self.composed_s(overlap=self.nearer == "max") / self.whole_s))
        return int(logs.argmax()), float(np.expm1(logs.max()))

    def _off(self, *, overlap: bool) -> float:
        logs = np.log(self.composed_s(overlap=overlap) / self.whole_s)
        return float(np.median(np.abs(logs)))

    def longest(self, point: int) -> str:
        """Return the longest part at a point, over both operations."""
        times = {part: done(self.parts_s, part)[point] for part in (MESSAGES, *MOVES)}
        times[STARTING] = starting(self.parts_s)[point]
        return max(times, key=lambda part: times[part])

    @property
    def crossings_bytes(self) -> list[float]:
        """Return the sizes at which scatter and messages take equally long."""
        ratio = done(self.parts_s, "scatter") / both(self.parts_s, MESSAGES)
        places = list(zip(self.data.remote_bytes, ratio, strict=True))
        found = []
        for (below, before), (above, after) in pairwise(places):
            if (before < 1) != (after < 1):
                both_move = before > 0 and after > 0
                share = np.log(1 / before) / np.log(after / before) if both_move else 1.0
                found.append(float(below * (above / below) ** share))
        return found


def compose(parts_s: Mapping[str, Array], *, overlap: bool, one_sided: bool = False) -> Array:
    """Return seconds of a step from its parts, by replaying successive steps."""
    message = ONE_WAY * parts_s[MESSAGES]
    ranks = [_Rank(parts_s) for _ in range(2 if one_sided else 1)]
    ends = []
    for _ in range(_SETTLED + _REPLAYED):
        for operation, (sender, receiver) in zip(
            OPERATIONS, ((ranks[0], ranks[-1]), (ranks[-1], ranks[0])), strict=True
        ):
            for rank in ranks:
                rank.spend(BEGIN)
            sender.move(f"{operation} pack")
            for rank in ranks:
                rank.wait(SYNCHRONISE)
            sent = sender.host
            ranks[0].move(f"{operation} scatter")
            arrives = sent + message if overlap else np.maximum(sent, receiver.host) + message
            receiver.host = np.maximum(receiver.host, arrives)
            receiver.move(f"{operation} unpack")
            for rank in ranks:
                rank.wait(CONCLUDE)
        ends.append(np.maximum(ranks[0].host, ranks[-1].host))
    replayed: Array = (ends[-1] - ends[_SETTLED - 1]) / _REPLAYED
    return replayed


class _Rank:
    """The clocks of a rank's host and device; without a device, the host does everything."""

    def __init__(self, parts_s: Mapping[str, Array]) -> None:
        self._parts_s = parts_s
        self.host = 0 * parts_s[MESSAGES]
        self._device = self.host

    def spend(self, part: str) -> None:
        """Add the host's time of a part of one of two operations."""
        self.host = self.host + self._parts_s.get(part, 0) / len(OPERATIONS)

    def move(self, part: str) -> None:
        """Launch a move, which the device starts after the previous one."""
        time = self._parts_s[part]
        launch = self._parts_s.get(f"{part} launch", time)
        self.host = self.host + launch
        self._device = np.maximum(self._device, self.host) + np.maximum(time - launch, 0)

    def wait(self, part: str) -> None:
        """Wait for the device, as operations do."""
        waits = self._parts_s.get(part, 0 * self.host)
        self.host = np.where(waits > 0, np.maximum(self.host, self._device), self.host)
        self.spend(part)


def both(parts_s: Mapping[str, Array], part: str) -> Array:
    """Return a part's time over both operations of a step."""
    if part == MESSAGES:
        return parts_s[part]
    first, second = (parts_s[f"{operation} {part}"] for operation in OPERATIONS)
    return first + second


def launching(parts_s: Mapping[str, Array], move: str) -> Array:
    """Return the time to launch a move in both operations of a step: 0 in host memory."""
    names = (f"{operation} {move} launch" for operation in OPERATIONS)
    return sum((parts_s[name] for name in names if name in parts_s), 0 * parts_s[MESSAGES])


def waiting(parts_s: Mapping[str, Array]) -> Array:
    """Return the wait of both operations for a device's stream: 0 in host memory."""
    names = (SYNCHRONISE, CONCLUDE)
    return sum((parts_s[name] for name in names if name in parts_s), 0 * parts_s[MESSAGES])


def starting(parts_s: Mapping[str, Array]) -> Array:
    """Return the time to launch moves and wait for the stream in both operations."""
    return sum((launching(parts_s, move) for move in MOVES), waiting(parts_s))


def done(parts_s: Mapping[str, Array], part: str) -> Array:
    """Return a part's time over both operations of a step, without launches."""
    return both(parts_s, part) - launching(parts_s, part)


def fit(data: PartTimes, intervals: Intervals | None = None) -> SplitPhase:
    """Fit a piecewise line to every part separately; nothing is fitted to the whole.

    Raise ValueError if a part has too few sizes for a line.
    """
    lines = {part: _line(data, part, intervals) for part in PARTS}
    whole = np.median(data.whole_s, axis=0)
    parts = {part: np.median(times, axis=0) for part, times in data.parts_s.items()}
    at_points = {
        part: np.zeros_like(whole) if line is None else line.predict(data.bytes_of(part))
        for part, line in lines.items()
    }
    at_points |= {part: parts[part] for part in DEVICE_PARTS if part in parts}
    predicted = compose(at_points, overlap=True, one_sided=data.one_sided)
    x = data.remote_bytes
    warnings = tuple(
        f"{part}: {warning}"
        for part, line in lines.items()
        if line is not None
        for warning in line.warnings
    )
    residuals = Residuals(x, whole, predicted)
    return SplitPhase(data, lines, whole, parts, (float(x[0]), float(x[-1])), residuals, warnings)


def _line(
    data: PartTimes, part: str, intervals: Intervals | None
) -> piecewise_hockney.PiecewiseHockney | None:
    times, at = data.parts_s[part], data.bytes_of(part)
    if np.all(times == 0) or np.all(at == at[0]):
        return None
    return piecewise_hockney.fit(
        sweep(list(at), [list(one) for one in times.T]), intervals=intervals
    )


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Fitted messages to several neighbours. alpha_s, gap_s, gap_s_per_byte: none is negative."""

    alpha_s: Estimate
    gap_s: Estimate
    gap_s_per_byte: Estimate
    relative_rms: float

    source = "after LogGP, Alexandrov et al. 1995: alpha + (k - 1) g + s G"


def fit_neighbours(neighbours: Array, remote_bytes: Array, times_s: Array) -> Neighbours:
    """Fit by least squares of relative errors over points with different numbers of neighbours.

    neighbours, remote_bytes: (points,), messages that a rank sends per operation, and their total
    bytes. times_s: (launches, points), seconds of an operation's messages. Raise ValueError without
    two numbers of neighbours and three points.
    """
    from scipy.optimize import nnls  # imported here: reports without a fit start faster

    if len(set(neighbours)) < 2 or neighbours.size < 3:
        raise ValueError("gaps need two numbers of neighbours and three points or more")
    k, s = np.broadcast_arrays(neighbours, remote_bytes)
    terms = np.stack([np.ones(k.shape), k - 1.0, s.astype(np.float64)], axis=-1)

    def solve(times: Array) -> Array:
        return np.asarray(nnls(terms / times[:, None], np.ones(times.size))[0])

    centre = np.median(times_s, axis=0)
    values = solve(centre)
    if values[2] * np.ptp(remote_bytes) < RESOLUTION * centre.min():  # a G from rounding errors
        values[2] = 0.0
    launches, how = times_s.shape[0], Intervals()
    generator = np.random.default_rng(how.seed)
    drawn = np.array([
        solve(np.median(times_s[generator.integers(0, launches, launches)], axis=0))
        for _ in range(how.resamples if launches > 1 else 0)
    ])  # fmt: skip
    estimates = [
        bootstrapped(float(value), drawn[:, i] if drawn.size else drawn, launches)
        for i, value in enumerate(values)
    ]
    misfit = float(np.sqrt(np.mean((1 - terms @ values / centre) ** 2)))
    return Neighbours(estimates[0], estimates[1], estimates[2], misfit)
