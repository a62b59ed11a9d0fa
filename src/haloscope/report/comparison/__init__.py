# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two result folders: which cases, their tables, and the report."""
