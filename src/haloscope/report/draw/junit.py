# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts as JUnit XML, for continuous integration services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from haloscope.errors import printable
from haloscope.paths import write_asked

Outcome = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True)
class TestedCase:
    """One tested comparison of a group, with its result.

    message: its description, for every result.
    """

    group: str
    name: str
    outcome: Outcome
    message: str


def write(suite: str, verdicts: Sequence[TestedCase], path: Path) -> None:
    """Write one suite. Raise UserError if the file is not writable."""
    outcomes = {
        name: sum(one.outcome == outcome for one in verdicts)
        for name, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    counts = {
        "tests": str(len(verdicts)),
        **{name: str(number) for name, number in outcomes.items()},
    }
    root = ElementTree.Element("testsuites", counts)
    own = ElementTree.SubElement(root, "testsuite", {"name": printable(suite), **counts})
    for one in verdicts:
        names = {"classname": printable(one.group), "name": printable(one.name)}
        case = ElementTree.SubElement(own, "testcase", names)
        if one.outcome == "passed":
            ElementTree.SubElement(case, "system-out").text = printable(one.message)
        else:
            ElementTree.SubElement(case, one.outcome, {"message": printable(one.message)})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
    write_asked(path, f"{text}\n")
