# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as text: units and digits are determined here. A missing value is a dash, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import floor, isinf, log10

MISSING = "–"
MINUS = "−"

Scale = Sequence[tuple[float, str]]
SECONDS: Scale = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
NODE_SECONDS: Scale = (
    (3600.0, "node-h"), (1.0, "node-s"), (1e-3, "node-ms"), (1e-6, "node-µs"), (1e-9, "node-ns"),
)  # fmt: skip
PER_BYTE: Scale = ((1e-6, "µs/B"), (1e-9, "ns/B"), (1e-12, "ps/B"))
BYTES: Scale = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
FLOPS: Scale = ((1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1e3, "kFLOP/s"), (1.0, "FLOP/s"))
BYTES_PER_SECOND: Scale = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
PER_SECOND: Scale = ((1e6, "M/s"), (1e3, "k/s"), (1.0, "/s"))
PERCENT: Scale = ((0.01, "%"),)
PLAIN: Scale = ((1.0, ""),)
SCALES: Mapping[str, Scale] = {
    **{"s": SECONDS, "B": BYTES, "B/s": BYTES_PER_SECOND, "FLOP/s": FLOPS, "1/s": PER_SECOND},
    "": PLAIN,
}

PARAMETERS = {
    "alpha_s": "latency α",
    "latency_s": "latency L",
    "send_overhead_s": "overhead of sending oₛ",
    "receive_overhead_s": "overhead of receiving oᵣ",
    "gap_s": "gap between messages g",
    "gap_s_per_byte": "gap between bytes G",
    "bandwidth_bytes_per_s": "bandwidth B",
    "peak_bytes_per_s": "peak bandwidth",
    "peak_bytes": "size of the peak",
    "asymptotic_bytes_per_s": "asymptotic bandwidth",
    "half_bandwidth_bytes": "half-bandwidth size n½",
    "hump_ratio": "in-cache hump, peak over asymptote",
    "hump_fall_bytes": "size where the hump falls",
}


def number(value: float, digits: int = 3) -> str:
    """Format a number with `digits` significant digits and thousands separators, without an
    exponent.
    """
    if value == 0:
        return "0"
    if isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    decimals = max(0, digits - 1 - floor(log10(abs(value))))
    rounded = round(value, decimals)
    decimals = max(0, digits - 1 - floor(log10(abs(rounded)))) if rounded else decimals
    return signed(f"{rounded:,.{decimals}f}")


def signed(text: str) -> str:
    """Replace hyphens by minus signs in a number, also in its exponent."""
    return text.replace("-", MINUS)


def unit_of(value: float, scale: Scale) -> tuple[float, str]:
    """Return the largest unit of a scale that does not exceed a value, or else the
    smallest unit.
    """
    for factor, unit in scale:
        if abs(value) >= factor:
            return factor, unit
    return scale[-1]


def quantity(value: float | None, scale: Scale = PLAIN, digits: int = 3) -> str:
    """Format a value with a suitable unit: 0.00231 s is "2.31 ms"."""
    if value is None:
        return MISSING
    if scale is PERCENT and 0 < abs(value) < 1e-4:
        return "<0.01 %"
    factor, unit = unit_of(value, scale)
    return f"{number(value / factor, digits)} {unit}".rstrip()


def ends(value: float, low: float, high: float, scale: Scale = PLAIN) -> tuple[str, str]:
    """Format the ends of an interval in the unit of its value, with enough digits to distinguish
    them.
    """
    factor, _ = unit_of(value, scale)
    for digits in (3, 4, 5, 6):
        below, above = number(low / factor, digits), number(high / factor, digits)
        if below != above:
            return below, above
    return number(low / factor), number(high / factor)


def seconds(value: float | None, digits: int = 3) -> str:
    """Format a duration: "2.31 s", "44.0 µs", "764 s"."""
    return quantity(value, SECONDS, digits)


def node_time(value: float | None) -> str:
    """Format nodes times a duration: "88.0 node-s", "1.20 node-h"."""
    return quantity(value, NODE_SECONDS)


def printed_seconds(value: float, resolution_s: float | None) -> str:
    """Format a duration printed with a resolution, without more digits than that.

    0.03 s with a resolution of 0.01 s is "0.03 s", not "30.0 ms"; 18.88 s is "18.9 s" as usual.
    """
    if not resolution_s or value >= 100 * resolution_s:
        return seconds(value)
    fit = [(factor, unit) for factor, unit in SECONDS if factor >= resolution_s]
    factor, unit = fit[-1] if fit else SECONDS[0]
    decimals = max(0, round(log10(factor / resolution_s)))
    return f"{value / factor:.{decimals}f} {unit}"


def size(value: float | None) -> str:
    """Format a size in binary units: an integer if exact ("32 KiB"), otherwise three digits."""
    if value is None:
        return MISSING
    factor, unit = unit_of(value, BYTES)
    scaled = value / factor
    return f"{scaled:.0f} {unit}" if scaled == int(scaled) else f"{number(scaled)} {unit}"


def rate(value: float | None) -> str:
    """Format bytes per second in decimal units: "13.1 GB/s"."""
    return quantity(value, BYTES_PER_SECOND)


def flops(value: float | None) -> str:
    """Format floating-point operations per second: "4.59 GFLOP/s"."""
    return quantity(value, FLOPS)


def percent(share: float | None) -> str:
    """Format a share: 0.9234 is "92 %", 0.0123 is "1.2 %"."""
    if share is None:
        return MISSING
    value = 100 * share
    return signed(f"{value:,.0f} %" if abs(value) >= 10 or value == 0 else f"{value:.1f} %")


def error(share: float, sign: str = "+") -> str:
    """Format a relative error: 0.0412 is "+4.1 %"; without its sign if `sign` is ""."""
    return signed(f"{100 * share:{sign},.{int(abs(share) < 1)}f} %")


def scientific(value: float | None, digits: int = 5) -> str:
    """Format a small number with an exponent, like errors in the papers: "3.1266e−06"."""
    return MISSING if value is None else signed(f"{value:.{digits - 1}e}")


def count(number_of: float, singular: str, plural: str = "") -> str:
    """Format a number with its noun: "1 launch", "5 launches"."""
    noun = singular if number_of == 1 else plural or f"{singular}s"
    return f"{number_of:,} {noun}"


def probability(p: float | None) -> str:
    """Format a p-value: "0.032", "<0.001"."""
    if p is None:
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def capitalised(sentence: str, values: Sequence[str] = ()) -> str:
    """Capitalise the first word, unless it is a name, such as poisson_cg, a symbol: "n = 8", or one
    of these values.
    """
    first, _, rest = sentence.partition(" ")
    if first.rstrip(",:") in values:
        return sentence
    named = not first.isalpha() or rest.startswith("=") or (len(first) == 1 and first != "a")
    return sentence if named else sentence[:1].upper() + sentence[1:]


def listed(items: Sequence[str]) -> str:
    """Join items: "a", "a and b", "a, b, and c"."""
    return _series(items, "and")


def either(items: Sequence[str]) -> str:
    """Join alternatives: "a", "a or b", "a, b, or c"."""
    return _series(items, "or")


def _series(items: Sequence[str], word: str) -> str:
    if len(items) < 3:
        return f" {word} ".join(items)
    return f"{', '.join(items[:-1])}, {word} {items[-1]}"


def within(factor: float) -> str:
    """Format an error that is a factor up and down: "± 17 %", "a factor of 2.4"."""
    if factor >= DOUBLE:
        return f"a factor of {number(factor, 2)}"
    return f"± {percent(factor - 1)}"


DOUBLE = 2.0
"""DOUBLE is the factor from which an error is written as a factor."""


def parse_cpu_list(text: str) -> list[int]:
    """Parse the kernel's list format: "0-2,8" is [0, 1, 2, 8]."""
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def cpu_list(cpus: Iterable[int]) -> str:
    """Format processor numbers in the kernel's list format: 0-3,8."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
