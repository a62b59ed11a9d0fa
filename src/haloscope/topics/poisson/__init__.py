# SPDX-License-Identifier: BSD-3-Clause
"""The Poisson solver: convergence, wall times, variants, and clusters through the years."""
