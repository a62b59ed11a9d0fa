# SPDX-License-Identifier: BSD-3-Clause
"""The simulating runner: cases on a cluster that is described in a file, under SimGrid's smpirun.

Simulated times are the same whenever a case is run, so one launch of a case is enough, results are
kept in a cache under all that they depend on, and cases run side by side on this machine's cores.
Several launches of a case are replicates: each draws its nodes from the spread that the cluster
file gives, by a seed that follows from the case and the launch's number.

Arithmetic is left out: computation takes the time that the node model says, and the answer is not
verified. An iterative solve has as many iterations as it is known to need (known_iterations.py),
and halobench passes over all but the first few, which take as long as these. Where the number is
not known, or a case asks for it, the arithmetic is done too, and the answer verified: the arrays of
all ranks are then in this machine's memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from typing import Any

from haloscope.host import process
from haloscope.run.runners.simulation import SimulatedLaunch, Simulator
from haloscope.run.runners.trace import Pairs
from haloscope.run.simulation_costs import SimulationForecast, arrays_bytes
from haloscope.study.case import Case, Launch


class SimgridRunner(Simulator):
    """Simulates launches side by side, each in a process of its own."""

    def forecast(self, case: Case) -> SimulationForecast | None:
        """What it takes to simulate a case; None where that is unknown."""
        with suppress(ValueError):  # what the cluster file can't say is refused when it is run
            if SimulatedLaunch(self, Launch(case, 0)).cached:
                return SimulationForecast(0, 0, kept=True)
        return self.costs.forecast(case)

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """The records of the launches, each as soon as it has ended, in no particular order."""
        coming = iter(launches)
        launch: Launch | None = None
        going: dict[process.Running, SimulatedLaunch] = {}
        try:
            while True:
                while len(going) < self.at_once and (launch := launch or next(coming, None)):
                    if not self._has_room(launch.case, going.values()):
                        break
                    simulation, launch = SimulatedLaunch(self, launch), None
                    if (record := simulation.without_running()) is not None:
                        yield record
                    else:
                        going[simulation.start()] = simulation
                if not going:
                    return
                for running in process.wait(list(going)):
                    with closing(going.pop(running)) as simulation:
                        record = simulation.ended(running.end())
                    yield record
        finally:
            for running, simulation in going.items():
                with closing(simulation):
                    running.end()

    def sent(self, case: Case) -> Pairs | None:
        """What ranks send each other in a simulation; None where it fails."""
        return SimulatedLaunch(self, Launch(case, 0)).sent()

    def _has_room(self, case: Case, going: Collection[SimulatedLaunch]) -> bool:
        """Whether its arrays fit beside those that are there."""
        taken = sum(arrays_bytes(one.case) for one in going)
        return not taken or taken + arrays_bytes(case) <= self.memory_bytes
