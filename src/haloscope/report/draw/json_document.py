# SPDX-License-Identifier: BSD-3-Clause
"""The report as JSON for programs: findings, tables, titles of figures, cases. See
docs/findings.md.

The models below are the format: `haloscope schema report` prints their JSON Schema. `text` is for
people and may change; every other field is stable within one number of SCHEMA.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from haloscope.findings import finding as values
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.report.document import Document

SCHEMA: Literal["haloscope.report/1"] = "haloscope.report/1"
JsonScalar = str | int | float | bool | None


class _Model(BaseModel):
    model_config = ConfigDict(from_attributes=True, extra="ignore", defer_build=True)


class MetricJson(_Model):
    """What is measured: its unit ("s", "B/s", "1/s", "B" or ""), and which way is better."""

    name: str
    unit: str
    better: Literal["lower", "higher", ""]


class EstimateJson(_Model):
    """A number in the unit of its metric, with the ends of its interval or range."""

    value: float
    low: float | None
    high: float | None
    method: str
    confidence: float | None
    launches: int = Field(validation_alias=AliasChoices("launches", "n"))
    allocations: int | None
    band: float | None = Field(description="Error of simulated times, as a factor.")


class RatioJson(_Model):
    """Subject over reference: above 1 if the subject is better, whatever the metric."""

    estimate: EstimateJson
    least: float
    most: float
    median: float
    where: dict[str, JsonScalar]


class PublishedJson(_Model):
    """A published value, as printed, and its source."""

    value: float
    text: str
    low: float
    high: float
    source: str
    variant: str


class PartJson(_Model):
    """One part of a finding: a statement about a subject, at points of the finding's axis."""

    subject: dict[str, JsonScalar]
    reference: dict[str, JsonScalar]
    also: list[dict[str, JsonScalar]]
    at: list[JsonScalar]
    count: int | None
    estimate: EstimateJson | None
    ratio: RatioJson | None
    share: float | None
    verdict: values.Verdict | None
    p_value: float | None
    published: list[PublishedJson]
    node_s: float | None
    node_hours: RatioJson | None
    needed: int | None
    band: float | None = Field(
        description=(
            "Error of the ratio of simulated times; only for comparisons without a difference."
        )
    )


class FindingJson(_Model):
    """A statement of the report, its parts, and the cases behind it."""

    id: str
    topic: str
    kind: str
    question: str
    shape: values.FindingShape
    severity: values.Prominence
    metric: MetricJson
    common: dict[str, JsonScalar]
    axis: str
    points: list[JsonScalar]
    of: int | None
    bound: str
    parts: list[PartJson]
    caveats: list[Caveat]
    cases: list[str]
    text: str = Field(description="The finding as a sentence, for people.")


class ColumnJson(_Model):
    """A column of a table: key with its unit, title, and the common title of several columns."""

    key: str
    title: str
    group: str


class CellJson(_Model):
    """A cell: exact value, ends of its spread, published value, and the displayed text."""

    value: str | int | float | None
    text: str
    low: float | None
    high: float | None
    published: float | None = Field(validation_alias="published_value")
    marks: str
    case: str


class TableJson(_Model):
    """A table: its columns, rows of cells, and notes."""

    id: str
    kind: str
    topic: str
    title: str
    columns: list[ColumnJson]
    rows: list[list[CellJson]]
    notes: list[str]


class FigureJson(_Model):
    """A figure that the report draws: figures/ID*.svg and .pdf."""

    id: str
    kind: str
    topic: str
    title: str


class BandJson(_Model):
    """The error of simulated times, as a factor up and down, and its origin."""

    factor: float
    cells: int = Field(
        description="Number of published values, or pairs of them, that the band is from."
    )
    basis: Literal["report", "validated", "other variant", "nearest", "widest"]
    of: str = Field(
        description=(
            "Kernel, variant, and cluster of the published values; empty if the same as the case's."
        )
    )


class KindOfTimeJson(_Model):
    """Times on one node or on several, and the error of these times."""

    kind: Literal["time on one node", "time on several nodes"]
    band: BandJson


class GradeJson(_Model):
    """Simulated cases of one kernel, variant, and cluster, and their widest error."""

    cluster: str
    name: str
    cases: int
    band: BandJson
    beyond: list[Literal["nodes", "ppn", "n", "L", "bind"]] = Field(
        description="Properties in which some case is outside the range of the published values."
    )
    contradicted: bool = Field(
        description="Whether the cases were compared with published times and are far off."
    )
    other: KindOfTimeJson | None = Field(
        description="The kind of time whose error is smaller than that of the other kind."
    )


class TrustJson(_Model):
    """Trust in the simulated times of the report."""

    validated: Literal["yes", "partly", "no"]
    grades: list[GradeJson]
    copied: str = Field(description="Built-in cluster file that this cluster file is a copy of.")
    verified: int = Field(description="Number of cases whose result was computed and verified.")
    text: str = Field(description="These facts as a sentence.")


class CaveatJson(_Model):
    """The meaning of a caveat, and its remedy."""

    text: str
    remedy: str


class ReportJson(_Model):
    """A report, or a comparison of two result folders."""

    schema_: Literal["haloscope.report/1"] = Field(SCHEMA, alias="schema")
    title: str
    summary: str
    question: str = Field(description="Kind of table that the study names first.")
    trust: TrustJson | None = Field(
        description="Error of simulated times; null if all were measured."
    )
    answer: str | None = Field(description="Id of the finding that answers the study's question.")
    key_figures: list[str] = Field(description="Ids of at most four findings.")
    findings: list[FindingJson]
    caveats: dict[str, CaveatJson]
    tables: list[TableJson]
    figures: list[FigureJson]
    cases: dict[str, dict[str, JsonScalar]] = Field(description="Settings of each case, by id.")
    left_out: list[str]


_OF_TRUST = ("validated", "grades", "copied", "verified")


def text(document: Document) -> str:
    """Return a report as JSON with line breaks."""
    return model(document).model_dump_json(by_alias=True, indent=1)


def model(document: Document) -> ReportJson:
    """Return a report in the model of the format."""
    used = [one for one in Caveat if any(one in each.caveats for each in document.findings)]
    return ReportJson.model_validate(
        {
            "schema": SCHEMA,
            "title": document.title,
            "summary": document.summary,
            "question": document.question,
            "trust": None
            if document.trust is None
            else {name: getattr(document.trust, name) for name in _OF_TRUST}
            | {"text": document.badge},
            "answer": document.answer.id if document.answer else None,
            "key_figures": [
                one.id for one in document.findings if one.severity is values.Prominence.KEY_FIGURE
            ],
            "findings": [{**vars(one), "text": document.said(one)} for one in document.findings],
            "caveats": {one.value: document.explained.get(one, EXPLAINED[one]) for one in used},
            "tables": [
                {**vars(table), "topic": section.id}
                for section in document.sections
                for table in section.tables
            ],
            "figures": [
                {**vars(one), "topic": section.id}
                for section in document.sections
                for one in section.figures
            ],
            "cases": {case: dict(own) for case, own in document.settings.items()},
            "left_out": document.left_out,
        }
    )
