# SPDX-License-Identifier: BSD-3-Clause
"""Speedup and efficiency, and fitted scaling laws."""
