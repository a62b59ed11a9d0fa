# SPDX-License-Identifier: BSD-3-Clause
"""Headlines: what the cases of a report say, in sentences, each with its numbers.

findings(cases, context)      all there is to say at the top of a report

Every module of this package is a topic: it has an ORDER, and a function `find(cases, context)` that
yields its findings. They are said by rising ORDER, what spoils the others first; orders go in tens,
so that a new topic finds room between two others. Before all others, but what spoils them, come the
topics that answer what a study asks: its first table is of a kind that they name in ANSWERS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from haloscope.analysis.cases import MeasuredCase
from haloscope.report.context import Context
from haloscope.report.tables.model import Tone


@dataclass(frozen=True)
class Finding:
    """One sentence. tone: "warning" where it says what spoils the others."""

    text: str
    tone: Tone = ""


SPOILING = 60
"""SPOILING is the ORDER below which topics say what others are worth."""


def topics(question: str = "") -> list[ModuleType]:
    """The modules of this package, in the order in which their findings are said.

    question: the kind of a study's first table; "" where there is none.
    """
    names = [module.name for module in iter_modules(__path__)]

    def place(topic: ModuleType) -> tuple[bool, bool, int]:
        spoils = topic.ORDER < SPOILING
        return not spoils, not spoils and question not in getattr(topic, "ANSWERS", ()), topic.ORDER

    return sorted(map(_topic, names), key=place)


def findings(cases: Sequence[MeasuredCase], context: Context) -> list[Finding]:
    """All there is to say at the top of a report, by topic."""
    own = topics(context.question)
    return [finding for topic in own for finding in topic.find(cases, context)]


def _topic(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name}")
