# SPDX-License-Identifier: BSD-3-Clause
"""Models of communication time, one per file: fit() returns a frozen fit with predict().

hockney: T = alpha + n/B by size. piecewise_hockney: the same in pieces, whose boundaries and number
are determined. loggp: L, o_s, o_r, g, G from five measurements. ring: linear pieces in the number
of ranks, each with its message latency. curve: properties of a bandwidth curve: n_1/2, asymptote,
peak, hump. split_phase, jacobi, scaling_law: steps made of parts, sweeps, and times by processes.

All take samples over launches (sweep.Sweep; LogGP its own measurements), and those that predict
implement model.Model. They are pure functions of numbers: no files, no processes, and random draws
from a seed.
"""
