# SPDX-License-Identifier: BSD-3-Clause
"""Checks of this machine: what disturbs measurements, and what would prevent runs."""
