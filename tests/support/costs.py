# SPDX-License-Identifier: BSD-3-Clause
"""Costs of the tests on this machine; with --cheap, leave out the expensive ones.

Each test is recorded in pytest's cache as it passes: its processor seconds, or that it started a
program. `./check --fast` selects by these records: no list of slow tests is kept by hand. A test
without a record runs.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

CHEAP_S = 0.2
"""CHEAP_S is the most processor time of a cheap test."""
RECORD = "haloscope/costs"
"""RECORD is the key in pytest's cache: by test, its processor seconds, or null: it starts a
program, which can be a launch, a simulation, or a build."""
COST = "cost"
"""COST is the key of a report's property, which is how workers of pytest-xdist pass a cost on."""
STARTS = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec"}
PROGRAM = "start a program"
LONG = f"take more than {CHEAP_S:g} s of a processor"

Cost = float | None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `./check --fast`."""
    group = parser.getgroup("costs")
    group.addoption("--cheap", action="store_true", help="leave out expensive tests")
    words = "with --cheap: run all tests of this file"
    group.addoption("--reached", action="append", default=[], metavar="FILE", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Record costs, in each worker of pytest-xdist too."""
    config.pluginmanager.register(Costs(config))


class Costs:
    """The costs of a session's tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.cache: pytest.Cache | None = getattr(config, "cache", None)  # not there without one
        self.known: dict[str, Cost] = dict(self.cache.get(RECORD, {})) if self.cache else {}
        self.found: dict[str, Cost] = {}
        self.failed: set[str] = set()
        self.left_out: Counter[str] = Counter()
        self.programs = 0
        self.shared: dict[tuple[str, str], Cost] = {}  # by name and place of a fixture
        self.shared_now = 0.0
        self.begin = (0.0, 0)
        sys.addaudithook(self.audit)

    def audit(self, event: str, _: object) -> None:
        """Count started programs."""
        if event in STARTS:
            self.programs += 1

    def spent(self) -> tuple[float, int]:
        """Processor seconds of this process, and how many programs it has started."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime, self.programs

    def since(self, begin: tuple[float, int]) -> Cost:
        """Return the cost since `begin`."""
        seconds, programs = self.spent()
        return None if programs > begin[1] else seconds - begin[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """Give the cost of a shared fixture to each test that uses it, not to the first alone."""
        begin = self.spent()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                cost = self.since(begin)
                self.shared[fixturedef.argname, fixturedef.baseid] = cost
                self.shared_now += cost or 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[Any]:
        """Note what was spent before a test."""
        self.begin, self.shared_now = self.spent(), 0.0
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Function, call: pytest.CallInfo[object]
    ) -> None:
        """Add a test's cost to its report."""
        if call.when == "call":
            own = self.since(self.begin)
            costs = [
                cost
                for (name, place), cost in self.shared.items()
                if name in item.fixturenames and item.nodeid.startswith(place)
            ]
            if own is None or None in costs:
                item.user_properties.append((COST, None))
            else:
                cost = own - self.shared_now + sum(one or 0.0 for one in costs)
                item.user_properties.append((COST, round(cost, 3)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the cost from a report, of a worker of pytest-xdist too."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.found[report.nodeid] = dict(report.user_properties).get(COST)  # type: ignore[assignment]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out expensive tests, but none of a file that a change reaches."""
        if not self.config.getoption("cheap"):
            return
        reached = {*self.config.getoption("reached")}
        kept, left = [], []
        for item in items:
            cost = self.known.get(item.nodeid, 0.0)
            cheap = cost is not None and cost <= CHEAP_S
            if cheap or item.nodeid.split("::")[0] in reached:
                kept.append(item)
            else:
                self.left_out[PROGRAM if cost is None else LONG] += 1
                left.append(item)
        items[:] = kept
        self.config.hook.pytest_deselected(items=left)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker left out: each collects all tests."""
        self.left_out = Counter(getattr(node, "workeroutput", {}).get(COST, {}))

    def pytest_sessionfinish(self) -> None:
        """Keep the costs. With --cheap, only of tests without one: what they share is not whole."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[COST] = dict(self.left_out)
        elif self.cache:
            cheap = self.config.getoption("cheap")
            costs = {**self.found, **self.known} if cheap else {**self.known, **self.found}
            kept = {test: cost for test, cost in costs.items() if test not in self.failed}
            if kept != self.known:
                self.cache.set(RECORD, kept)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print how many tests were left out, and why."""
        for reason, number in self.left_out.items():
            terminalreporter.write_line(f"LEFT OUT [{number}] {reason}")
