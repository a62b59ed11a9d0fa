# SPDX-License-Identifier: BSD-3-Clause
"""Findings as values: names of metrics and questions, but no sentences and no order.

A Finding has one or more Claims, such as one per verdict, size, or phase. A ratio is above 1 if its
subject is better than its reference, whatever the metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import log
from statistics import median

from haloscope.analysis.validation.published import Reference
from haloscope.findings.caveats import Caveat
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Setting, Settings


class FindingShape(StrEnum):
    """Shape of a finding; each has one form of sentence."""

    VALUE = "value"
    COMPARISON = "comparison"
    BEST = "best"
    REQUEST = "request"
    TREND = "trend"
    BREAKDOWN = "breakdown"
    BOUND = "bound"
    PUBLISHED = "published"
    WARNING = "warning"


class Verdict(StrEnum):
    """Result of a comparison, or of a rule."""

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
    """Where a finding is shown: as the answer, beside it, as a warning, or in its topic."""

    ANSWER = "answer"
    KEY_FIGURE = "key figure"
    WARNING = "warning"
    DETAIL = "detail"


@dataclass(frozen=True)
class Metric:
    """What is measured. unit: "s", "B/s", "1/s", "B", or "" for a plain number."""

    name: str
    unit: str = "s"
    better: str = "lower"


TIME = Metric("time")
LATENCY = Metric("latency")
BANDWIDTH = Metric("bandwidth", "B/s", "higher")


@dataclass(frozen=True)
class Ratio:
    """Ratio of a subject to its reference, over one or more settings.

    estimate: the most extreme one, which is at `where`. least, most, median: over all.
    """

    estimate: Estimate
    least: float
    most: float
    median: float
    where: Settings = field(default_factory=dict)

    @classmethod
    def of(cls, estimate: Estimate) -> Ratio:
        """Return the ratio of one setting."""
        return cls(estimate, estimate.value, estimate.value, estimate.value)

    @classmethod
    def over(cls, ratios: Sequence[Estimate], where: Settings | None = None) -> Ratio:
        """Return the ratios of several settings. where: the settings of the most extreme one."""
        values = [one.value for one in ratios]
        most = max(ratios, key=lambda one: abs(log(one.value)))
        return cls(most, min(values), max(values), median(values), where or {})


@dataclass(frozen=True)
class Claim:
    """One part of a finding: a subject and a statement about it.

    also: others that are equal or not shown to be worse, if the finding names the best. at: points
    of the finding's axis to which the part applies; (): all. count: number of settings to which it
    applies, or of whatever a warning counts. ratio: subject over reference, see above. share: of a
    whole or of a bound. published: values from papers beside the estimate. node_s: nodes times the
    estimated time, in node-seconds. node_hours: those of the reference over those of the subject,
    if their numbers of nodes differ. needed: launches per side that would decide an undecided
    comparison. band: error of the ratio, as a factor, for simulated times that show no difference.
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
    """A statement with everything it is based on.

    question: what was asked, as a noun phrase: "Halo exchange". topic: section of a report; one of
    study.kinds.TOPICS, or "". common: settings that all its cases share. axis: setting in which its
    parts differ ("size"). points: all of its values. of: number of settings or cases that its parts
    count from. bound: name of what shares refer to. caveat: of a warning, the problem. cases: ids
    of the cases behind it. kind: name of the question within its topic, which never changes.
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
    kind: str = ""
    id: str = ""
