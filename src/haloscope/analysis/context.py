# SPDX-License-Identifier: BSD-3-Clause
"""What tables, figures and findings are made from besides their cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.validation.published import Library
from haloscope.study.kinds import Options
from haloscope.study.settings import describe, varying

if TYPE_CHECKING:
    from haloscope.papers.tables import Paper


@dataclass(frozen=True)
class Context:
    """What a table, a figure or a finding is made from besides the cases it shows.

    options: what the study asks of this table or figure.
    paper:   the paper the study names, whose values stand beside ours.
    shelf:   every paper there is, for the table of clusters through the years.
    machine: where the records were made, as in a record; None if none says.
    all_cases: every case of the result folder, also those that the options leave out.
    seed:    for bootstrap intervals.
    question: the kind of the study's first table, which its first headline is of; "" for none.
    """

    options: Options = field(default_factory=Options)
    paper: Paper | None = None
    shelf: Sequence[Paper] = ()
    machine: Mapping[str, Any] | None = None
    all_cases: Sequence[MeasuredCase] = ()
    seed: int = 0
    question: str = ""

    @property
    def library(self) -> Library:
        """The published tables to set beside ours."""
        return Library([self.paper] if self.paper else [], self.options.published)

    @property
    def every_library(self) -> Library:
        """The study's paper, then all others; one table alone where the options name it."""
        if self.options.published:
            return self.library
        first = [self.paper] if self.paper else []
        return Library([*first, *(one for one in self.shelf if one not in first)])

    def title(self, given: str, *parts: str) -> str:
        """The study's own title, or the kind's and what `where` chose; then what sets it apart."""
        words = [self.options.title] if self.options.title else [given, self._chosen(given)]
        return ", ".join(part for part in [*words, *parts] if part)

    def _chosen(self, given: str) -> str:
        """The settings that `where` holds fixed and that other cases have otherwise."""
        differ = varying([case.settings for case in self.all_cases])
        selected: dict[str, Sequence[Any]] = {
            name: value if isinstance(value, list | tuple) else [value]
            for name, value in self.options.where.items()
        }
        fixed = {name: selected[name][0] for name in differ if len(selected.get(name, ())) == 1}
        return describe(
            fixed, [name for name in fixed if name != "kernel" or fixed[name] not in given]
        )
