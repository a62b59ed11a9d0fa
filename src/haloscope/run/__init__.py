# SPDX-License-Identifier: BSD-3-Clause
"""Measurement: campaigns of launches in one place, and their preparation."""
