# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether a study's cases can run in a place, and whether its tables will be empty."""
