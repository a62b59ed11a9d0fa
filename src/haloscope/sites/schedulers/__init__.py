# SPDX-License-Identifier: BSD-3-Clause
"""Batch systems: their common interface, and a module for each."""
