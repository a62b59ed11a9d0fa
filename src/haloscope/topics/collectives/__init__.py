# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: how fast, and whether they keep performance guidelines."""
