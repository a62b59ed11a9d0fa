# SPDX-License-Identifier: BSD-3-Clause
"""The simulating runner: cases on a described cluster, under SimGrid's smpirun.

Simulated times are deterministic. One launch of a case is therefore enough, results are cached
under everything they depend on, and cases run side by side on this machine's cores. Several
launches of a case are replicates: each draws its nodes from the spread in the cluster file, with a
seed from the case and the launch's number.

Arithmetic is omitted: computation takes the time given by the node model, and the result is not
verified. An iterative solve has its known number of iterations (known_iterations.py), and halobench
skips all except the first few, which take as long as the others. If the number is unknown, or if a
case requests it, the arithmetic is also executed and the result verified; the arrays of all ranks
are then in this machine's memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from typing import Any

from haloscope.host import process
from haloscope.run.runners.simulation import SimulatedLaunch, Simulator
from haloscope.run.runners.simulation_costs import SimulationForecast, arrays_bytes
from haloscope.study.case import Case, Launch
from haloscope.toolchains.simgrid import Pairs


class SimgridRunner(Simulator):
    """Simulates launches side by side, each in a separate process."""

    def forecast(self, case: Case) -> SimulationForecast | None:
        """Return the expected cost of simulating a case; None if unknown."""
        with suppress(ValueError):  # refused when it is run
            if SimulatedLaunch(self, Launch(case, 0)).cached:
                return SimulationForecast(0, 0, kept=True)
        return self.costs.forecast(case)

    def run(self, launches: Iterable[Launch]) -> Iterator[dict[str, Any]]:
        """Yield the records of the launches, each as soon as it has ended, in no
        particular order.
        """
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
        """Return the bytes between ranks in a simulation; None if it fails."""
        return SimulatedLaunch(self, Launch(case, 0)).sent()

    def _has_room(self, case: Case, going: Collection[SimulatedLaunch]) -> bool:
        """Return whether its arrays fit beside the running ones."""
        taken = sum(arrays_bytes(one.case) for one in going)
        return not taken or taken + arrays_bytes(case) <= self.memory_bytes
