# SPDX-License-Identifier: BSD-3-Clause
"""The order of steps: side by side on the cores, each after those whose work it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from checking.step import Ended, Step


def side_by_side(
    steps: Sequence[Step],
    run: Callable[[Step], Ended],
    cores: int,
    stopped: Sequence[int] = (),
) -> list[Ended]:
    """How each ended, in their order; none begins once `stopped` has a signal.

    A step that is not among `steps` keeps none waiting.
    """
    left, ended = list(steps), {}
    running: dict[Future[Ended], Step] = {}
    with ThreadPoolExecutor(max(1, len(steps))) as pool:
        while left or running:
            unfinished = {step.name for step in (*left, *running.values())}
            if stopped:
                left = []
            for step in [one for one in left if unfinished.isdisjoint(one.after)]:
                if step.fits(running.values(), cores):
                    left.remove(step)
                    running[pool.submit(run, step)] = step
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                ended[running.pop(future).name] = future.result()
    return [ended[step.name] for step in steps if step.name in ended]
