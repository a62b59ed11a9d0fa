# SPDX-License-Identifier: BSD-3-Clause
"""Memory bandwidth: what streams reach, and how much of it a solver moves."""
