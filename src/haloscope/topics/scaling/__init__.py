# SPDX-License-Identifier: BSD-3-Clause
"""Speedup and efficiency, and laws fitted to them."""
