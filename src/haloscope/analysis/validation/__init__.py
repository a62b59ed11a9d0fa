# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of predictions with known values: errors, bands, published tables, statements."""
