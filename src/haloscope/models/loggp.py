# SPDX-License-Identifier: BSD-3-Clause
"""LogGP: what a message costs the sender, the receiver, the network, and the next message.

Source: Alexandrov, Ionescu, Schauser and Scheiman, LogGP (SPAA '95); measured as in Hoefler, Lichei
and Rehm, Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks (IPDPS 2007),
with the receiver's overhead apart as in Kielmann, Bal and Verstoep, Fast Measurement of LogP
Parameters for Message Passing Platforms (IPDPS 2000 workshops).

A message of s bytes takes o_s + L + (s - 1) G + o_r, and the next may follow after g + (s - 1) G.

Five measurements, of every size s, in one and the same launch, between two ranks: a client, whose
clock times the first four, and a server. Each is repeated and the launch's median kept; buffers are
warm; sends and receives are blocking, and the server posts its receives one after another.

round_trip_s: PRTT(1, 0, s).
    Client: t0; send; receive; t1. Server: receive; send. All of s bytes. The value is t1 - t0.
burst_s: PRTT(n, 0, s).
    Client: t0; n sends; receive; t1. Server: n receives; send. n is `burst`, 16 say.
delayed_s: PRTT(n, d, s).
    As burst_s, but before each send except the first the client reads its clock until d seconds
    have passed since the last send returned, with no MPI call meanwhile. d must exceed the gap; a
    round trip does: d = round_trip_s of this size.
delay_s: d as it came out.
    The mean over the n - 1 waits of one delayed_s, from the return of a send to the next call.
receive_s: receiving a message that is there already.
    Client: send. Server: wait as above, longer than a round trip; t0; receive; t1 (its own clock).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from haloscope.models.intervals import Intervals, bootstrapped
from haloscope.models.model import FittedParameter, Residuals
from haloscope.models.sweep import ONE_WAY, Array, fit_lines
from haloscope.quantities import seconds, size
from haloscope.stats.estimates import Estimate

NAMES = ("latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "gap_s_per_byte")
"""The parameters L, o_s, o_r, g, and G."""
SMALL_BYTES = 64
"""Overheads and latency are determined from sizes up to this, at which copying is negligible."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Input of the LogGP fit; the module docstring describes each measurement.

    sizes_bytes: (points,), increasing, at least 1. burst: messages per burst, n >= 2. All others:
    (launches, points), in seconds. Raise ValueError for invalid shapes or values.
    """

    sizes_bytes: Array
    burst: int
    round_trip_s: Array
    burst_s: Array
    delayed_s: Array
    delay_s: Array
    receive_s: Array

    def __post_init__(self) -> None:
        """Validate shapes and values."""
        if self.burst < 2:
            raise ValueError("a burst needs two messages or more")
        if self.sizes_bytes.ndim != 1 or self.sizes_bytes.size < 2 or self.sizes_bytes[0] < 1:
            raise ValueError("LogGP needs two sizes or more, from 1 byte up")
        if np.any(np.diff(self.sizes_bytes) <= 0):
            raise ValueError("sizes must increase")
        for what in ("round_trip_s", "burst_s", "delayed_s", "delay_s", "receive_s"):
            times = getattr(self, what)
            if times.ndim != 2 or times.shape != (self.launches, self.sizes_bytes.size):
                raise ValueError(f"{what} must have one value per launch and size")
            if not np.all(np.isfinite(times)) or np.any(times <= 0):
                raise ValueError(f"{what} must be finite and positive")

    @property
    def launches(self) -> int:
        """Number of launches."""
        return int(self.round_trip_s.shape[0])

    @property
    def derived_s(self) -> Array:
        """Return (4, launches, points): half round trip, gap, send overhead, receive overhead."""
        later = self.burst - 1
        gap = (self.burst_s - self.round_trip_s) / later
        sending = (self.delayed_s - self.round_trip_s) / later - self.delay_s
        return np.stack([ONE_WAY * self.round_trip_s, gap, sending, self.receive_s])


@dataclass(frozen=True, eq=False)
class LogGP:
    """A fitted LogGP model.

    latency_s: L, in the network. send_overhead_s, receive_overhead_s: o_s and o_r, processor time.
    gap_s: g, minimum time between two messages. gap_s_per_byte: G, the same per byte of a long
    message. residuals: of half the round trip, predicted as o_s + L + (s - 1) G + o_r.
    """

    latency_s: Estimate
    send_overhead_s: Estimate
    receive_overhead_s: Estimate
    gap_s: Estimate
    gap_s_per_byte: Estimate
    valid: tuple[float, float]
    residuals: Residuals
    warnings: tuple[str, ...]

    name = "LogGP"
    source = "Alexandrov et al. 1995; Hoefler, Lichei and Rehm 2007; Kielmann et al. 2000 (oᵣ)"

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """latency_s, send_overhead_s, receive_overhead_s, gap_s, gap_s_per_byte."""
        return tuple(FittedParameter(name, getattr(self, name)) for name in NAMES)

    def predict(self, x: npt.ArrayLike) -> Array:
        """Return one-way seconds of messages of x bytes, in the shape of x. 0 bytes cost as much as
        1.
        """
        fixed = self.send_overhead_s.value + self.latency_s.value + self.receive_overhead_s.value
        return fixed + _beyond_first(np.asarray(x, dtype=np.float64)) * self.gap_s_per_byte.value


def fit(data: Measurements, intervals: Intervals | None = None) -> LogGP:
    """Fit L, o_s, o_r, g, and G.

    g and G: line through the gaps by size, least squares of relative errors. o_s, o_r: mean over
    sizes up to SMALL_BYTES (or the smallest size). L: what remains of half the round trip at these
    sizes. One set of parameters describes one protocol: pass the sizes of one, as determined by
    piecewise_hockney. Launches enter by their median.

    intervals: bootstrap over launches by default. Raise ValueError if a delay was shorter than the
    gap, which then hides the overhead.
    """
    how = intervals or Intervals()
    derived = data.derived_s
    centre = np.median(derived, axis=1)
    small = max(1, int(np.sum(data.sizes_bytes <= SMALL_BYTES)))
    _check_delays(data, centre[1], small)
    values = _solve(data.sizes_bytes, centre[:, None, :], small)[:, 0]
    generator = np.random.default_rng(how.seed)
    resamples = how.resamples if how.method == "bootstrap" else 0
    drawn = generator.integers(0, data.launches, size=(resamples, data.launches))
    draws = _solve(data.sizes_bytes, np.median(derived[:, drawn], axis=2), small)
    estimates = [
        bootstrapped(float(value), draw, data.launches)
        for value, draw in zip(values, draws, strict=True)
    ]
    return _fitted(data, centre, estimates)


def _beyond_first(sizes: Array) -> Array:
    return np.maximum(sizes - 1.0, 0.0)


def _solve(sizes: Array, centre: Array, small: int) -> Array:
    """Return (5, rows): L, o_s, o_r, g, G from (4, rows, points) centres of the derived times."""
    half, gap, sending, receiving = centre
    beyond = _beyond_first(sizes)
    line = fit_lines(beyond, gap, 1.0 / gap**2, falling=False)
    send = np.mean(sending[:, :small], axis=1)
    receive = np.mean(receiving[:, :small], axis=1)
    flight = np.mean(half[:, :small] - line.slope[:, None] * beyond[:small], axis=1)
    return np.stack([flight - send - receive, send, receive, line.intercept, line.slope])


def _check_delays(data: Measurements, gap: Array, small: int) -> None:
    delay = np.median(data.delay_s, axis=0)
    for i in range(small):
        if delay[i] < gap[i]:
            raise ValueError(
                f"at {size(data.sizes_bytes[i])} the delay, {seconds(delay[i])}, is shorter than "
                f"the gap, {seconds(gap[i])}: measure with a delay of a round trip"
            )


def _fitted(data: Measurements, centre: Array, estimates: list[Estimate]) -> LogGP:
    latency, send, receive, gap, per_byte = estimates
    beyond = _beyond_first(data.sizes_bytes)
    one_way = send.value + latency.value + receive.value + beyond * per_byte.value
    return LogGP(
        latency,
        send,
        receive,
        gap,
        per_byte,
        (float(data.sizes_bytes[0]), float(data.sizes_bytes[-1])),
        Residuals(data.sizes_bytes, centre[0], one_way),
        tuple(_sense(latency, send, receive, gap)),
    )


def _sense(latency: Estimate, send: Estimate, receive: Estimate, gap: Estimate) -> Iterator[str]:
    if latency.value < 0:
        yield (
            f"L is negative ({seconds(latency.value)}): the separately measured overheads, "
            f"{seconds(send.value)} and {seconds(receive.value)}, exceed half a round trip. "
            "In a ping-pong they partly overlap with the transfer."
        )
    if send.value < 0:
        yield (
            f"oₛ is negative ({seconds(send.value)}): the cost of the sends is smaller than the "
            "scatter of the delays."
        )
    if gap.value <= max(send.value, receive.value) * 1.1:
        yield (
            f"g ({seconds(gap.value)}) is not distinguishable from the overheads: the "
            "processors, not the network, limit the rate of a burst. g is at most this "
            "value."
        )
