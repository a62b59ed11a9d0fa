# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside published and measured values: tables, and the report of a validation."""
