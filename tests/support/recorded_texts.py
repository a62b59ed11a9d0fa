# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest: keep the errors and the doctor's results that the tests provoke.

usage: pytest -p recorded_texts --texts FILE, with tests/support in PYTHONPATH

FILE is JSON: one text per place in the source, as a user sees it.
"""

from __future__ import annotations

import json
import re
import sys
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from haloscope.errors import Problem
from haloscope.run.doctor import CheckResult

TEMPORARY = re.compile(r"/tmp/pytest-\S*/test_\w+?\d+(?=\b)/?|\btest_\w+\d\b")
"""TEMPORARY is the folder of a test."""
FOUND: dict[str, dict[str, str]] = {"errors": {}, "doctor": {}}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with the name of the file."""
    parser.addoption("--texts", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    """Keep each object's text when it is made."""
    if config.getoption("--texts"):
        keep(Problem, "errors", str)
        keep(CheckResult, "doctor", shown)


def shown(result: Any) -> str:
    """A result as the doctor prints it."""
    return f"{result.level} {result.check}: {result.what}\n    {result.remedy or ''}".rstrip()


def shown_folder(found: re.Match[str]) -> str:
    """What a user sees in place of the folder of a test."""
    return "" if found[0].endswith("/") else "results/quick"


def keep(kind: type, pool: str, text: Any) -> None:
    """Make a class keep the text of the first object from each place of src."""
    made: Any = vars(kind)["__init__"]

    @wraps(made)
    def init(self: Any, *args: Any, **named: Any) -> None:
        made(self, *args, **named)
        frame = sys._getframe(1)
        if "/src/haloscope/" in frame.f_code.co_filename:
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            FOUND[pool].setdefault(place, TEMPORARY.sub(shown_folder, text(self)))

    type.__setattr__(kind, "__init__", init)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the file."""
    if path := session.config.getoption("--texts"):
        kept = {pool: list(texts.values()) for pool, texts in FOUND.items()}
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
