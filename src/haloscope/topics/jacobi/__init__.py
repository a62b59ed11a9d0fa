# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi in three dimensions: rates, the paper's model, and limits."""
