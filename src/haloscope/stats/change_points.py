# SPDX-License-Identifier: BSD-3-Clause
"""Change points in a series of times: PELT, with the library ruptures.

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
"""FEWEST is the minimum number of values per level, because one may be an outlier."""
_PENALTY = 5.0
"""_PENALTY is the penalty of a change, in units of the noise variance times the logarithm of the
number of values. With normal noise a false change is found in 9 % of series of 4 values, in 6 % of
those of 6 or 8, and in at most 4 % from 12 on. A step of five standard deviations in the middle is
found in 73 % of series of 6 and in 93 % of those of 12.
"""
_LEAST_NOISE = 1e-3
"""_LEAST_NOISE is the smallest relative noise of times: smaller changes are not useful."""


def lacking() -> Problem | None:
    """Return why change points cannot be searched for, or None."""
    if find_spec("ruptures"):
        return None
    what = "this Python package is not installed"
    return Problem("ruptures", what, "run pip install ruptures (requires Python 3.13 or earlier)")


def change_points(values: Sequence[float]) -> list[int]:
    """Return the index of the first value of each new level; [] without a change or with few
    values.

    The noise is estimated from neighbours, which a few changes of level hardly affect. A running
    median over three values removes single outliers first. Raise UserError if ruptures is not
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
