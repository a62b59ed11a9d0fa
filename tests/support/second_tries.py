# SPDX-License-Identifier: BSD-3-Clause
"""Print why the first try of a test failed that passed, or failed, when it was run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """A section of each, with its traceback and what it printed."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first try of {report.nodeid}", "-")
        terminalreporter.line(report.longreprtext)
        for title, text in report.sections:
            terminalreporter.line(f"{title}\n{text}")
