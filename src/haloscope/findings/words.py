# SPDX-License-Identifier: BSD-3-Clause
"""Settings, intervals, and spans in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from types import MappingProxyType

from haloscope.findings.finding import Claim, Finding, Metric, Ratio
from haloscope.quantities import (
    DOUBLE,
    PLAIN,
    SCALES,
    Scale,
    capitalised,
    count,
    ends,
    listed,
    number,
    quantity,
    size,
    unit_of,
    within,
)
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes, Settings, describe

COUNTED = MappingProxyType(
    {
        "cores": ("core", "cores"),
        "hardware threads": ("hardware thread", "hardware threads"),
        "ranks": ("process", "processes"),
        "threads": ("thread", "threads"),
        "tasks": ("task", "tasks"),
        "nodes": ("node", "nodes"),
        "others": ("other", "others"),
        "predictions": ("prediction", "predictions"),
        "cases": ("case", "cases"),
        "simulated cases": ("simulated case", "simulated cases"),
        "unsimulated cases": ("case not simulated", "cases not simulated"),
        "launches": ("launch", "launches"),
        "lines": ("line", "lines"),
        "tables": ("table", "tables"),
        "per node": ("process per node", "processes per node"),
        "settings": ("setting", "settings"),
    }
)
"""Settings that count something, with the noun in singular and plural."""


_BARE = (
    *("operation", "phase", "pattern", "program", "point", "level", "grid", "pace"),
    *("folder", "function", "wait", "part", "statistic", "quantity", "outcome", "change"),
    *("library", "law", "setting", "line", "tool", "disturbance", "case"),
)
"""Settings of findings, not of cases, whose values need no name."""


_LEADING = ("choice", "part")
"""Settings of findings that stand before all others."""


_FORMS = MappingProxyType(
    {
        "guidelines": "{guidelines} of {of} guidelines",
        "fastest_of": "fastest of {fastest_of} cases",
        "predicted": "predicted {predicted}",
        "relative_to": "relative to {relative_to}",
        "known": "known: {known}",
        "nearest": "did you mean '{nearest}'?",
        "most_at": "most at {most_at}",
        "working_set": "working set of {working_set}",
    }
)
"""_FORMS are settings of findings whose values stand in a text; sizes have units."""


AT = MappingProxyType({"size": "at ", "nodes": "on ", "cores": "on ", "n": "with n = "})


MANY = 3
"""With more parts than this, a sentence has only winners or values; a table has the rest."""
_SPANS = 3


def words(settings: Settings) -> str:
    """Describe settings: "n = 1024, nonblocking, 2 processes", "the default, 2 nodes"."""
    bare = {*COUNTED, *_FORMS, *_BARE, "size"}
    own = [name for name in settings if name in bare and name not in _LEADING]
    known = [name for name in settings if name not in (*own, *_LEADING, "of")]
    if "nodes" in settings and "ppn" in settings:
        known.append("nodes")
        own.remove("nodes")
        if settings["nodes"] == 1:
            known.remove("nodes")
    elif (
        settings.get("nodes") == 1
        and not {"tasks", "ranks", "cores", "processes"} & settings.keys()
    ):
        own.remove("nodes")
    if settings.get("threads") == 1 and len(settings) > 1 and "ppn" in settings:
        own.remove("threads")
    texts = [describe(settings, known)]
    for name in own:
        value = settings[name]
        if name in COUNTED and isinstance(value, int):
            texts.append(count(value, *COUNTED[name]))
        elif name in _FORMS:
            texts.append(_formed(name, settings))
        elif name == "size" and isinstance(value, int):
            texts.append(size(value))
        elif value not in (None, "") and not (name == "level" and "working_set" in settings):
            texts.append(str(value))
    every = ", ".join(text for text in texts if text)
    choice, part = (str(settings.get(name) or "") for name in _LEADING)
    return ", ".join(filter(None, (choice, " with ".join(filter(None, (part, every))))))


def _formed(name: str, settings: Settings) -> str:
    """Return a setting of _FORMS in words; a working set with its level."""
    value, level = settings[name], settings.get("level")
    shown = {**settings, **({name: size(value)} if isinstance(value, Bytes) else {})}
    text = _FORMS[name].format_map(shown)
    return f"{text} in {level}" if name == "working_set" and level else text


def interval(estimate: Estimate, scale: Scale = PLAIN) -> str:
    """Return "95 % CI 1.21 to 1.33 s, 7 launches", "range 1.2 to 4.0 s, 3 launches", or ""."""
    if estimate.low is None or estimate.high is None or estimate.method == "repetitions":
        return ""
    low, high = ends(estimate.value, estimate.low, estimate.high, scale)
    span = f"{low} to {high} {unit_of(estimate.value, scale)[1]}".rstrip()
    kind = "range" if estimate.method == "range" else "95 % CI"
    return f"{kind} {span}, {count(estimate.n, 'launch', 'launches')}"


def spans(
    chosen: Sequence[float], among: Sequence[float], show: Callable[[float], str], what: str = ""
) -> str:
    """Describe some of several ordered values: "8 B to 2 KiB and 16 KiB"; neighbours
    form a range.
    """
    order = sorted({*among, *chosen})
    places = sorted({order.index(value) for value in chosen})
    runs = [
        [place for _, place in run]
        for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])
    ]
    if len(runs) > _SPANS:
        first, last = show(order[runs[0][0]]), show(order[runs[-1][-1]])
        counted = f"{len(places)} of {len(order)} {what}".rstrip()
        return f"{counted} from {first} to {last}"
    return listed([
        show(order[run[0]])
        if len(run) == 1
        else f"{show(order[run[0]])} to {show(order[run[-1]])}"
        for run in runs
    ])  # fmt: skip


def place_of(finding: Finding, part: Claim) -> str:
    """Return where a part applies: "for 8 B to 64 B", "with 16 to 512 tasks", "in 6 of
    9 settings".
    """
    if part.count is not None and finding.of is not None and finding.of > 1:
        return f"in {part.count} of {finding.of} settings"
    numbers = [at for at in part.at if isinstance(at, int | float)]
    among = [at for at in finding.points if isinstance(at, int | float)]
    if not numbers:
        return ""
    if len({*numbers}) == len({*among}) > 1 and finding.axis == "size":
        return "at every size"
    if finding.axis == "size":
        values = spans(numbers, among, size, "sizes")
        return f"for {values}" if " to " in values else f"at {values}"
    values = spans(numbers, among, lambda value: f"{value:,.0f}")
    noun = COUNTED.get(finding.axis)
    if noun is None:
        return f"{AT.get(finding.axis, f'with {finding.axis} = ')}{values}"
    return f"{AT.get(finding.axis, 'with ')}{values} {noun[0] if values == '1' else noun[1]}"


def point_of(finding: Finding, part: Claim) -> Settings:
    """Return the single point to which a part applies, as settings; {} for several or none."""
    return {finding.axis: part.at[0]} if finding.axis and len(part.at) == 1 else {}


def bracketed(*texts: str) -> str:
    """Return texts in brackets after a blank; "" without any."""
    content = "; ".join(text for text in texts if text)
    return f" ({content})" if content else ""


def value_of(part: Claim, metric: Metric) -> str:
    """Return the estimate of a part with its unit."""
    value = part.estimate.value if part.estimate else None
    return size(value) if metric.unit == "B" else quantity(value, SCALES[metric.unit])


def spread_of(part: Claim, metric: Metric) -> str:
    """Return the interval of the estimate."""
    return interval(part.estimate, SCALES[metric.unit]) if part.estimate else ""


def factor(ratio: Ratio, *, inverse: bool = False) -> str:
    """Format the range of a ratio, with enough digits that only 1 is printed as 1.00."""
    near = [1 / one if inverse else one for one in (ratio.least, ratio.most)]
    digits = next(
        (
            digits
            for digits in range(3, 8)
            if all(number(one, digits) != number(1.0, digits) for one in near if one != 1)
        ),
        8,
    )
    return factors(min(near), max(near), digits)


def factors(least: float, most: float, digits: int = 3) -> str:
    """Format the two ends of a ratio: "1.20x to 1.40x"."""
    low, high = number(least, digits), number(most, digits)
    return f"{low}x" if low == high else f"{low}x to {high}x"


def pace(least: float, most: float) -> str:
    """Format a range of speed ratios, those below 1 inverted: "1.03x to 1.06x as fast", "1.20x as
    long", "from 1.52x as long to 1.07x as fast".
    """
    if least >= 1:
        return f"{factors(least, most)} as fast"
    if most <= 1:
        return f"{factors(1 / most, 1 / least)} as long"
    return f"from {number(1 / least)}x as long to {number(most)}x as fast"


def apart(ratio: Ratio) -> str:
    """Return "1.10x to 1.20x apart"; for a range across 1, the pace of both ends."""
    if ratio.least < 1 < ratio.most:
        return pace(ratio.least, ratio.most)
    return f"{factor(ratio, inverse=ratio.most <= 1)} apart"


def how_sure(ratio: Ratio, *, inverse: bool = False) -> str:
    """Return the interval of a ratio or of its inverse; for a simulated one, its error."""
    band = ratio.estimate.band
    return interval_of(ratio, inverse=inverse) or (within(band) if band else "")


def interval_of(ratio: Ratio, *, inverse: bool = False) -> str:
    """Return the interval of a ratio or of its inverse."""
    return interval(ratio.estimate.rate(1.0) if inverse else ratio.estimate)


def error_of(estimate: Estimate) -> str:
    """Return the error of a simulated number, to append to it: " ± 18 %", " (within a factor of
    2.4)".
    """
    if not estimate.band:
        return ""
    error = within(estimate.band)
    return f" {error}" if estimate.band < DOUBLE else f" (within {error})"


def joined(clauses: Sequence[str], values: Sequence[str] = ()) -> str:
    """Join clauses into sentences of at most two: "a is fastest; b takes 2x as long. C is
    undecided".

    values: of parameters, which are never capitalised.
    """
    pairs = ["; ".join(clauses[k : k + 2]) for k in range(0, len(clauses), 2)]
    return ". ".join(capitalised(one, values) if k else one for k, one in enumerate(pairs))


def values_of(finding: Finding) -> list[str]:
    """Return the values of parameters in the subjects and references of a finding."""
    return [
        value
        for part in finding.parts
        for settings in (part.subject, part.reference, *part.also)
        for name, value in settings.items()
        if isinstance(value, str) and name not in _BARE
    ]


def is_plural(settings: Settings) -> bool:
    """Return whether these settings are a plural noun: "2 nodes", not "block, 2 nodes"."""
    (first, value), *_ = settings.items() if settings else [("", 1)]
    return len(settings) == 1 and first in COUNTED and value != 1
