# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside what is known: errors, bands, published tables, statements."""
