# SPDX-License-Identifier: BSD-3-Clause
"""Runners: each runs launches in a place and returns their records."""
