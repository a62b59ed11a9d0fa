# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of recorded cases: samples, sweeps, fits, comparisons, as data for reports."""
