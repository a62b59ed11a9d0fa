# SPDX-License-Identifier: BSD-3-Clause
"""What tables, figures, and findings are made from, in addition to their cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.validation.predictions import KeptPredictions
from haloscope.analysis.validation.published import Library
from haloscope.papers.tables import Paper
from haloscope.study.kinds import Options
from haloscope.study.settings import describe, varying


@dataclass(frozen=True)
class Context:
    """What a table, a figure, or a finding is made from, in addition to its cases.

    options: the study's options for this table or figure. paper: the paper named by the study,
    whose values are shown beside ours. shelf: all papers, for the table of clusters through the
    years. machine: the machine of the records, as in a record; None if unknown. all_cases: every
    case of the result folder, including those that the options exclude. seed: for bootstrap
    intervals. question: kind of the study's first table, which its first finding answers; "" for
    none. answer: name of the findings that answer the study instead, or "". predictions: those kept
    in the result folder; None without any for its present records. outdated: whether there are some
    for earlier ones.
    """

    options: Options = field(default_factory=Options)
    paper: Paper | None = None
    shelf: Sequence[Paper] = ()
    machine: Mapping[str, Any] | None = None
    all_cases: Sequence[MeasuredCase] = ()
    seed: int = 0
    question: str = ""
    answer: str = ""
    predictions: KeptPredictions | None = None
    outdated: bool = False

    @property
    def host(self) -> str:
        """The name of the machine or of the simulated cluster; "None" if unknown."""
        return str((self.machine or {}).get("host"))

    @property
    def library(self) -> Library:
        """The published tables to show beside our values."""
        return Library([self.paper] if self.paper else [], self.options.published)

    @property
    def every_library(self) -> Library:
        """The study's paper, then all others; a single table if the options name it."""
        if self.options.published:
            return self.library
        first = [self.paper] if self.paper else []
        return Library([*first, *(one for one in self.shelf if one not in first)])

    def title(self, given: str, *parts: str) -> str:
        """Return the study's own title, or the kind's; the selection by `where`, unless the title
        is the study's own, and `parts` follow in parentheses.
        """
        chosen = "" if self.options.title else self._chosen(given, parts)
        settings = ", ".join(part for part in (chosen, *parts) if part)
        title = self.options.title or given
        return f"{title} ({settings})" if settings else title

    def _chosen(self, given: str, parts: Sequence[str]) -> str:
        """Return the settings that `where` fixes and that differ in other cases, without a kernel
        that the title or its parts name.
        """
        differ = varying([case.settings for case in self.all_cases])
        selected: dict[str, Sequence[Any]] = {
            name: value if isinstance(value, list | tuple) else [value]
            for name, value in self.options.where.items()
        }
        fixed = {name: selected[name][0] for name in differ if len(selected.get(name, ())) == 1}
        kernel = fixed.get("kernel", "")
        if kernel in given or kernel in parts:
            fixed.pop("kernel", None)
        return describe(fixed, list(fixed))
