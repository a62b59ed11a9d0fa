# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of alternatives: exchanges, overlaps, operators, bindings."""
