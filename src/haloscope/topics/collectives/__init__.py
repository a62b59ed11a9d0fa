# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: their times, and performance guidelines."""
