# SPDX-License-Identifier: BSD-3-Clause
"""Measuring: a campaign of launches in one place, and what these need."""
