# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi in three dimensions: rates, the model of the paper, and what bounds them."""
