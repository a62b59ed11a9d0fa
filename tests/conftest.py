# SPDX-License-Identifier: BSD-3-Clause
"""For every test: Ctrl-C interrupts, as in a terminal, and what is printed is as wide as anywhere.

Background jobs start with Ctrl-C ignored, and a shell may tell how wide and colourful its own
terminal is.
"""

import os
import signal
from dataclasses import replace

import pytest

from haloscope.analysis.validation import bands
from haloscope.analysis.validation.bands import Bands
from haloscope.papers.file import Scalar
from haloscope.papers.validated import ValidatedCell

pytest_plugins = ["costs", "disks", "laboratory", "lab_up", "second_tries", "simulated_build"]

signal.signal(signal.SIGINT, signal.default_int_handler)
for of_a_terminal in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):
    os.environ.pop(of_a_terminal, None)


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations without an error, for tests of reports on differing times."""
    settings: dict[str, Scalar] = {"nodes": 2, "variant": "textbook"}
    cell = ValidatedCell("any", "any", "any", "any", "1", settings, {}, 1.0, 1.0, False)
    other = replace(cell, over={"nodes": 1})
    ways = [replace(cell, settings={**settings, "way": way}) for way in ("this", "that")]
    layouts = [replace(cell, settings={**settings, "ppn": ppn}) for ppn in (1, 2)]
    every = Bands([cell, other, *ways, *layouts])
    monkeypatch.setattr(bands, "known", lambda: every)
