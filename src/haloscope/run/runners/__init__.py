# SPDX-License-Identifier: BSD-3-Clause
"""Runners: each takes launches to a place where they run, and brings back their records."""
