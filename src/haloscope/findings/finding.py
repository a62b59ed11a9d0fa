# SPDX-License-Identifier: BSD-3-Clause
"""What was found, as values: no English but names of metrics and questions, and no order.

A Finding has one Claim or several: one for each verdict, size or phase. A ratio is above 1
where its subject is better than its reference, whatever the metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from haloscope.analysis.validation.published import Reference
from haloscope.findings.caveats import Caveat
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Setting, Settings


class FindingShape(StrEnum):
    """What kind of statement a finding is: each has one form of sentence."""

    VALUE = "value"
    COMPARISON = "comparison"
    BEST = "best"
    TREND = "trend"
    BREAKDOWN = "breakdown"
    BOUND = "bound"
    PUBLISHED = "published"
    WARNING = "warning"


class Verdict(StrEnum):
    """What came of a comparison, or of a rule."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUAL = "equal"
    NO_DIFFERENCE = "no difference"
    UNDECIDED = "undecided"
    AGREES = "agrees"
    DISAGREES = "disagrees"
    HOLDS = "holds"
    VIOLATED = "violated"


class Prominence(StrEnum):
    """Where a finding is shown: first, beside it, as a warning, or with its topic."""

    ANSWER = "answer"
    KEY_FIGURE = "key figure"
    WARNING = "warning"
    DETAIL = "detail"


@dataclass(frozen=True)
class Metric:
    """What is measured. unit: "s", "B/s", "1/s", "B" or "" for a plain number."""

    name: str
    unit: str = "s"
    better: str = "lower"


TIME = Metric("time")
LATENCY = Metric("latency")
BANDWIDTH = Metric("bandwidth", "B/s", "higher")


@dataclass(frozen=True)
class Ratio:
    """How many times as good a subject is as its reference, over one setting or several.

    estimate: of the most extreme one, which is at `where`. least, most, median: over all.
    """

    estimate: Estimate
    least: float
    most: float
    median: float
    where: Settings = field(default_factory=dict)

    @classmethod
    def of(cls, estimate: Estimate) -> Ratio:
        """The ratio of one setting."""
        return cls(estimate, estimate.value, estimate.value, estimate.value)


@dataclass(frozen=True)
class Claim:
    """One part of a finding: a subject, and what holds of it.

    also:      others that are as good, or not shown to be worse, where the finding is of the best.
    at:        points of the finding's axis at which the part holds; () for all of them.
    count:     number of settings in which it holds, or of whatever a warning counts.
    ratio:     subject over reference, see above. share: of a whole, or of a bound.
    published: values of papers beside the estimate.
    node_s:    nodes times the time that is estimated, in node-seconds.
    node_hours: those of the reference over those of the subject, where they have other nodes.
    needed:    of what is undecided, how many launches of each side would decide it.
    band:      of simulated times that show no difference: the error of their ratio, as a factor.
    """

    subject: Settings = field(default_factory=dict)
    reference: Settings = field(default_factory=dict)
    also: tuple[Settings, ...] = ()
    at: tuple[Setting, ...] = ()
    count: int | None = None
    estimate: Estimate | None = None
    ratio: Ratio | None = None
    share: float | None = None
    verdict: Verdict | None = None
    p_value: float | None = None
    published: tuple[Reference, ...] = ()
    needed: int | None = None
    node_s: float | None = None
    node_hours: Ratio | None = None
    band: float | None = None


@dataclass(frozen=True)
class Finding:
    """A statement, with all that it rests on.

    question:  what was asked, as a noun: "Halo exchange".
    topic:     the section of a report that it belongs to; one of study.kinds.TOPICS, or "".
    common:    settings that all its cases share.
    axis:      the setting that its parts differ in ("size"), and points: all of its values.
    of:        number of settings, or of cases, that its parts count from.
    bound:     the name of what shares are of.
    caveat:    of a warning, what it warns of.
    cases:     ids of the cases behind it.
    """

    question: str
    shape: FindingShape
    parts: tuple[Claim, ...] = ()
    metric: Metric = TIME
    topic: str = ""
    common: Mapping[str, Setting] = field(default_factory=dict)
    axis: str = ""
    points: tuple[Setting, ...] = ()
    of: int | None = None
    bound: str = ""
    caveats: tuple[Caveat, ...] = ()
    severity: Prominence = Prominence.DETAIL
    cases: tuple[str, ...] = ()
    id: str = ""
