# SPDX-License-Identifier: BSD-3-Clause
"""Time over processes or sizes as powers and logarithms: Extra-P's performance model normal form.

    T(p) = c + a p^i log2(p)^j, or with two terms, one that falls with p and one that does not

and the same of a size n, whose work grows: there no power is negative, and all are up to 3.

Source: Calotoiu, Hoefler, Poke and Wolf, Using automated performance modeling to find scalability
bugs in complex codes (SC'13), equation (1). Unlike there, powers may be negative, as work that is
shared out is, and no coefficient may be: a sum of costs has none below 0.

All hypotheses of POWERS and LOGARITHMS are fitted by least squares of relative errors; the one that
predicts each point best from all others (leave-one-out cross-validation) is taken, and one with
more terms only where it halves the error of simpler ones and that is worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from haloscope.models.intervals import Intervals
from haloscope.models.model import Residuals
from haloscope.models.sweep import Array
from haloscope.stats import FEWEST_FOR_INTERVAL

FEWEST = 5
"""Extra-P's rule: several laws pass through fewer points."""
CONFIDENCE = 0.95
"""CONFIDENCE is the confidence of the band around a law."""
FEWEST_FOR_TWO = 7
"""Two points more than the parameters of a law with two terms."""
BETTER = 0.5
"""A further term must reduce the error to this fraction: some of hundreds of laws fit noise."""
PRECISE = 0.01
"""PRECISE is the error of a law below which no further term is tried; launches vary as much."""
WORST = 0.3
"""A law with a larger error at omitted points does not predict other numbers of processes."""
_RISING = ("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1", "5/4", "4/3", "3/2", "2")
POWERS = tuple(Fraction(text) for text in (*(f"-{one}" for one in _RISING[1:7]), *_RISING))
LOGARITHMS = (0, 1, 2)


@dataclass(frozen=True)
class Term:
    """p^power log2(p)^logarithm."""

    power: Fraction
    logarithm: int

    def at(self, p: npt.ArrayLike) -> Array:
        """Return its value at numbers of processes p."""
        x = np.asarray(p, dtype=np.float64)
        found: Array = x ** float(self.power) * np.log2(x) ** self.logarithm
        return found

    def text(self, x: str = "p") -> str:
        """Format the term: "p^(1/2) log2(p)"; x: name of the variable."""
        power = x if self.power == 1 else f"{x}^({self.power})" if self.power else ""
        logarithm = ("", f"log2({x})", f"log2({x})^2")[self.logarithm]
        return " ".join(text for text in (power, logarithm) if text)


def _terms(powers: Sequence[Fraction]) -> tuple[Term, ...]:
    every = product(powers, LOGARITHMS)
    return tuple(Term(power, logarithm) for power, logarithm in every if power or logarithm)


TERMS = _terms(POWERS)
TERMS_OF_SIZE = _terms([Fraction(text) for text in (*_RISING, "9/4", "7/3", "5/2", "8/3", "3")])
"""TERMS_OF_SIZE are the terms for sizes: the work of a solve grows with the cube of an edge."""


@dataclass(frozen=True, eq=False)
class ScalingLaw:
    """A fitted law.

    terms, coefficients_s: of each term. constant_s: c. None is negative. cross_validation: root
    mean square of the relative errors at omitted points. draws: (resamples, 1 + terms), c and
    coefficients of fits to resampled launches; empty with fewer than 6 launches at some p.
    """

    terms: tuple[Term, ...]
    constant_s: float
    coefficients_s: tuple[float, ...]
    cross_validation: float
    valid: tuple[float, float]
    residuals: Residuals
    draws: Array

    source = "performance model normal form: Calotoiu and others 2013 (Extra-P)"

    def predict(self, p: npt.ArrayLike) -> Array:
        """Return seconds on p processes."""
        found: Array = _columns(self.terms, p) @ np.array([self.constant_s, *self.coefficients_s])
        return found

    def band(self, p: npt.ArrayLike, confidence: float = CONFIDENCE) -> tuple[Array, Array] | None:
        """Return the confidence band at p, from resampled launches; None without enough
        launches.
        """
        if not self.draws.size:
            return None
        predicted = _columns(self.terms, p) @ self.draws.T
        tail = (1.0 - confidence) / 2
        low, high = np.quantile(predicted, [tail, 1.0 - tail], axis=1)
        return low, high


def fit(
    p: Sequence[int],
    times_s: Sequence[Sequence[float]],
    intervals: Intervals | None = None,
    tried: Sequence[Term] = TERMS,
) -> ScalingLaw:
    """Fit a law to times on p processes, or of sizes p. times_s: one number per launch, for each p.

    tried: terms that it may have. Raise ValueError for fewer than FEWEST different p, for times
    that are not positive, and if no law predicts omitted points within WORST.
    """
    if len(set(p)) < FEWEST:
        counted = "numbers of processes" if tried is TERMS else "sizes"
        raise ValueError(f"measured with {len(set(p))} {counted}; a law needs at least {FEWEST}")
    if not all(times and min(times) > 0 for times in times_s):
        raise ValueError("times must be positive, one launch or more for each number of processes")
    x = np.array(p, dtype=np.float64)
    centre = np.array([np.median(times) for times in times_s])
    terms, error = _best(x, centre, tried)
    if error > WORST:
        raise ValueError(
            f"the best law has an error of {100 * error:.0f} % at points left out of the fit"
        )
    solution = _solve(_columns(terms, x), centre)
    how = intervals or Intervals()
    draws = np.empty((0, 1 + len(terms)))
    if how.method != "none" and min(map(len, times_s)) >= FEWEST_FOR_INTERVAL:
        draws = _draws(_columns(terms, x), times_s, how)
    residuals = Residuals(x, centre, _columns(terms, x) @ solution)
    return ScalingLaw(
        terms,
        float(solution[0]),
        tuple(float(one) for one in solution[1:]),
        error,
        (float(x.min()), float(x.max())),
        residuals,
        draws,
    )


def _best(x: Array, times: Array, tried: Sequence[Term]) -> tuple[tuple[Term, ...], float]:
    hypotheses: list[list[tuple[Term, ...]]] = [[()], [(term,) for term in tried]]
    falling = [term for term in tried if term.power < 0]
    if falling and x.size >= FEWEST_FOR_TWO:
        others = [term for term in tried if term.power >= 0]
        hypotheses.append(list(product(falling, others)))
    best: tuple[tuple[Term, ...], float] | None = None
    for alike in hypotheses:
        errors = [_cross_validation(_columns(terms, x), times) for terms in alike]
        least = int(np.argmin(errors))
        if best is None or (best[1] > PRECISE and errors[least] < BETTER * best[1]):
            best = alike[least], errors[least]
    assert best is not None
    return best


def _cross_validation(columns: Array, times: Array) -> float:
    """Return the root mean square of relative errors, each point predicted from all others."""
    errors = []
    for left_out in range(times.size):
        rest = np.arange(times.size) != left_out
        predicted = columns[left_out] @ _solve(columns[rest], times[rest])
        errors.append(predicted / times[left_out] - 1.0)
    return float(np.sqrt(np.mean(np.square(errors))))


def _columns(terms: Sequence[Term], p: npt.ArrayLike) -> Array:
    """Return (..., 1 + terms): ones, and each term at p."""
    x = np.asarray(p, dtype=np.float64)
    return np.stack([np.ones(x.shape), *(term.at(x) for term in terms)], axis=-1)


def _solve(columns: Array, times: Array) -> Array:
    """Solve least squares of relative errors with non-negative coefficients, on scaled columns."""
    from scipy.optimize import nnls  # imported here: reports without a fit start faster

    relative = columns / times[:, None]
    scale = np.linalg.norm(relative, axis=0)
    scale[scale == 0] = 1.0
    solution, _ = nnls(relative / scale, np.ones(times.size))
    return np.asarray(solution / scale)


def _draws(columns: Array, times_s: Sequence[Sequence[float]], how: Intervals) -> Array:
    """Return fits of the same terms to launches drawn with replacement, for each p."""
    generator = np.random.default_rng(how.seed)
    samples = [np.asarray(times) for times in times_s]
    fits = []
    for _ in range(how.resamples):
        again = [np.median(one[generator.integers(0, one.size, one.size)]) for one in samples]
        fits.append(_solve(columns, np.array(again)))
    return np.array(fits)
