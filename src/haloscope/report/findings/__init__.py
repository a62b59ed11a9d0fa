"""Headlines: what the cases of a report say, in sentences, each with its numbers.

findings(cases, context)      all there is to say at the top of a report

Every module of this package is a topic: it has an ORDER, and a function `find(cases, context)` that
yields its findings. They are said by rising ORDER, what spoils the others first; orders go in tens,
so that a new topic finds room between two others.
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


def topics() -> list[ModuleType]:
    """The modules of this package, in the order in which their findings are said."""
    names = [module.name for module in iter_modules(__path__)]
    return sorted(map(_topic, names), key=lambda topic: int(topic.ORDER))


def findings(cases: Sequence[MeasuredCase], context: Context) -> list[Finding]:
    """All there is to say at the top of a report, by topic."""
    return [finding for topic in topics() for finding in topic.find(cases, context)]


def _topic(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name}")
