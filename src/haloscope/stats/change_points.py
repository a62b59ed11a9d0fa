# SPDX-License-Identifier: BSD-3-Clause
"""Where the level of a series of times changes: PELT, by ruptures.

Source: Killick, Fearnhead, and Eckley, Optimal detection of changepoints with a linear
computational cost (JASA 107, 2012); the library: Truong, Oudre, and Vayatis, Selective review of
offline change point detection methods (Signal Processing 167, 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from haloscope.errors import Problem, UserError

FEWEST = 2
"""FEWEST is the fewest values of a level, because one may be an outlier."""
_PENALTY = 5.0
"""_PENALTY is that of a change, in units of the noise's variance times the logarithm of the number
of values. With normal noise a change is found where there is none in 9 % of series of 4 values, in
6 % of those of 6 or 8, and in 4 % and less from 12 on. A step of five standard deviations in the
middle is found in 73 % of series of 6 and in 93 % of those of 12."""
_LEAST_NOISE = 1e-3
"""_LEAST_NOISE is the smallest relative noise of times: smaller changes are of no use."""


def lacking() -> Problem | None:
    """Why change points can't be looked for; None where they can."""
    if find_spec("ruptures"):
        return None
    return Problem("ruptures", "is not installed", "install it (Python before 3.14)")


def change_points(values: Sequence[float]) -> list[int]:
    """The index of the first value of each new level; [] for values of one level, or too few.

    The noise is estimated from neighbours, which a few changes of level hardly touch. A running
    median over three values takes out single outliers first. UserError where ruptures is not
    installed.
    """
    if len(values) < 2 * FEWEST:
        return []
    if problem := lacking():
        raise UserError(problem)
    import ruptures

    logs = np.log(np.asarray(values, dtype=float))
    steps = np.abs(np.diff(logs))
    noise = max(float(np.median(steps)) / (0.6745 * 2**0.5), _LEAST_NOISE)
    logs[1:-1] = np.median(np.stack([logs[:-2], logs[1:-1], logs[2:]]), axis=0)
    search = ruptures.Pelt(model="l2", min_size=FEWEST, jump=1).fit((logs / noise).reshape(-1, 1))
    *found, _ = search.predict(pen=_PENALTY * float(np.log(len(values))))
    return [int(index) for index in found]
