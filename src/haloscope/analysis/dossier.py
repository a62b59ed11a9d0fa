# SPDX-License-Identifier: BSD-3-Clause
"""Read a result folder: everything that a report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.grouping import Planned, group
from haloscope.errors import Problem, UserError
from haloscope.papers import tables as papers
from haloscope.papers.tables import Paper
from haloscope.paths import in_a_shell
from haloscope.records.folder import ResultFolder, require_enclosed
from haloscope.records.log import latest, reading
from haloscope.records.record import Record
from haloscope.study.file import read as read_study
from haloscope.study.kinds import Options, Wish
from haloscope.study.schema import Element
from haloscope.study.settings import settings_of


@dataclass(frozen=True)
class Dossier:
    """Contents of a result folder.

    title: title of the study, or the folder's name without a study file. question: the question
    that the study asks, or "". answer: name of the findings that answer it, or "". records: the
    last record of each case and launch. cases: the same by settings, with those of the plan.
    tables, figures: requested by the study; None if the report chooses. paper: the study's. shelf:
    all papers. plan: content of plan.json, or {}. no_records: one sentence per invalid line of
    records.jsonl.
    """

    path: Path
    title: str
    records: tuple[Record, ...]
    cases: tuple[MeasuredCase, ...]
    tables: tuple[Wish, ...] | None
    figures: tuple[Wish, ...] | None
    paper: Paper | None
    shelf: tuple[Paper, ...]
    plan: Mapping[str, Any]
    no_records: tuple[str, ...] = ()
    question: str = ""
    answer: str = ""

    @property
    def machine(self) -> Mapping[str, Any] | None:
        """The machine in the latest record that contains it."""
        return next((r.machine for r in reversed(self.records) if r.machine), None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the plan excluded before the first launch, and why."""
        return tuple(self.plan.get("notes", ()))

    @property
    def seed(self) -> int:
        """The study's seed, for reproducible bootstrap intervals."""
        return int(self.plan.get("seed") or 0)


def open_folder(directory: Path) -> Dossier:
    """Read a result folder. Raise UserError if it is not one, or has no record to report."""
    folder = ResultFolder(directory)
    if not directory.is_dir():
        what = "is a file, not a folder" if directory.exists() else "folder not found"
        raise UserError(Problem(str(directory), what, _REMEDY))
    require_enclosed(directory)
    if not folder.records.exists() and folder.plan.exists():
        remedy = f"continue with haloscope run --resume {in_a_shell(directory)}"
        raise UserError(Problem(str(directory), "contains no records yet", remedy))
    if not folder.records.exists():
        raise UserError(Problem(str(directory), "contains no records.jsonl", _REMEDY))
    found = reading(folder.records)
    records = tuple(latest(found.records))
    if not records:
        what = "contains no readable record"
        raise UserError(
            Problem(str(folder.records), what, "restore this file from a copy, or measure again")
        )
    plan = folder.load().as_dict() if folder.plan.exists() else {}
    planned = [
        Planned(case["case"], case["kernel"], settings_of(case), case["launches"])
        for case in plan.get("cases", [])
    ]
    study = read_study(folder.study).study if folder.study.exists() else None
    return Dossier(
        path=directory,
        title=study.title if study else directory.resolve().name,
        records=records,
        cases=tuple(group(records, planned)),
        tables=tuple(map(_wish, study.tables)) if study and study.tables else None,
        figures=tuple(map(_wish, study.figures)) if study and study.figures else None,
        paper=papers.load(study.paper) if study and study.paper else None,
        shelf=tuple(papers.list_papers()),
        plan=plan,
        no_records=found.left_out,
        question=(study.question or "") if study else "",
        answer=(study.answer or "") if study else "",
    )


_REMEDY = "give a folder written by haloscope run"


def _wish(element: Element) -> Wish:
    options = Options(where=element.where, title=element.title, published=element.published)
    return Wish(element.kind, options)
