# SPDX-License-Identifier: BSD-3-Clause
"""Models of communication time, one a file: fit() -> a frozen fit with predict() and residuals.

    hockney            T = alpha + n/B by size
    piecewise_hockney  the same in pieces, whose boundaries and number are found
    loggp              L, o_s, o_r, g, G from five measurements
    ring               straight pieces in the number of ranks, latency per message of each
    round_trip         the share that one way has of a time there and back
    curve              what a bandwidth curve shows by itself: n_1/2, asymptote, peak, hump

All take samples over launches (sweep.Sweep; LogGP its own measurements), and those that predict
keep to model.Model. Pure functions of numbers: no files, no processes, and their draws come from a
seed.
"""
